"""Work of the benchmark beside the page's script: a bar that moves, and what came of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from grasp_core.model.errors import FAULT, GraspError
from grasp_core.model.text import escape_markdown
from grasp_core.server.submitting import Told

_EVERY_S = 0.5
_AT_ONCE_S = 0.5
"""Work that takes no longer is shown at once."""


@dataclass(eq=False)
class Working:
    """Work under way in a thread of its own."""

    about: object
    words: str
    started: float = field(default_factory=time.monotonic)
    done: int = 0
    of: int = 0
    task: str = ""
    result: Any = None
    error: str | None = None
    ended: threading.Event = field(default_factory=threading.Event)

    def told(self, done: int, of: int, task: str) -> None:
        """How many rows are done, of how many, and the task that is under way."""
        self.done, self.of, self.task = done, of, task

    def run(self, function: Callable[[Told], Any]) -> None:
        """Do the work; what it raises becomes a sentence."""
        try:
            self.result = function(self.told)
        except GraspError as error:
            self.error = f"{error}."
        except Exception as error:  # the type alone: a message could quote labels
            self.error = f"{FAULT} ({type(error).__name__})"
        self.ended.set()


def start(key: str, about: object, words: str, function: Callable[[Told], Any]) -> None:
    """Begin work that goes on while its visitor looks at other views, once; it must not touch the page."""
    if under_way(key):
        return
    working = Working(about, words)
    st.session_state[key] = working
    threading.Thread(target=working.run, args=(function,), daemon=True).start()
    working.ended.wait(_AT_ONCE_S)


def under_way(key: str) -> bool:
    """Whether the work begun last is not done yet."""
    working = st.session_state.get(key)
    return isinstance(working, Working) and not working.ended.is_set()


def outcome(key: str, about: object) -> Any:
    """What came of the work about this; None, and its bar or what was wrong, where nothing did yet."""
    working = st.session_state.get(key)
    if not isinstance(working, Working) or working.about != about:
        return None
    if not working.ended.is_set():
        _watch(key)
        return None
    if working.error is not None:
        st.error(escape_markdown(working.error))
    return working.result


@st.fragment(run_every=_EVERY_S)
def _watch(key: str) -> None:
    working = st.session_state.get(key)
    if not isinstance(working, Working) or working.ended.is_set():
        st.rerun()
    seconds = time.monotonic() - working.started
    rows = f"{working.done:,} of {working.of:,} rows done, now {working.task}, " if working.of else ""
    share = min(working.done / working.of, 1.0) if working.of else 0.0
    st.progress(share, text=escape_markdown(f"{working.words}: {rows}{seconds:.0f} s"))
    st.caption("It goes on while you look at other views.")
