"""Work beside a page's script: waited for, or gone on with while its visitor looks at other views."""

from __future__ import annotations

import contextvars
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from grasp_core.model.errors import FAULT, DataError, GraspError
from grasp_core.model.text import escape_markdown

_POLL_S = 0.1
_AT_ONCE_S = 0.5
"""Work that takes no longer is shown at once."""

Tell = Callable[..., None]
"""Called by the work to say how far it is; ends it once nobody waits any more."""


class _CancelledError(Exception):
    """The visitor wants no more of it."""


@dataclass(eq=False)
class Working:
    """Work under way in a thread of its own.

    `about` is what was asked: the outcome is shown where the same is asked. `words` say what is being done.
    """

    about: object = None
    words: str = ""
    started: float = field(default_factory=time.monotonic)
    told: tuple[Any, ...] = ()
    cancelled: bool = False
    result: Any = None
    error: Exception | None = None
    ended: threading.Event = field(default_factory=threading.Event)

    def begin(self, function: Callable[[Tell], Any]) -> None:
        """Begin; who asks is known there, too."""
        run = contextvars.copy_context().run
        threading.Thread(target=run, args=(self._run, function), name="grasp-work", daemon=True).start()

    def _run(self, function: Callable[[Tell], Any]) -> None:
        try:
            self.result = function(self._tell)
        except Exception as error:  # handed to the page's thread
            self.error = error
        self.ended.set()

    def _tell(self, *told: Any) -> None:
        self.told = told
        if self.cancelled:
            raise _CancelledError


def waited_for(function: Callable[[Tell], Any], draw: Callable[..., None]) -> Any:
    """What comes of the work; `draw` is given what it told last, and any click ends both.

    Raises GraspError as the work does, or as a sentence without data where it fails otherwise.
    """
    working = Working()
    working.begin(function)
    try:
        while not working.ended.wait(_POLL_S):
            draw(*working.told)  # where a click ends this script
    finally:
        working.cancelled = True
    if working.error is not None:
        raise working.error if isinstance(working.error, GraspError) else DataError(FAULT) from working.error
    return working.result


def start(key: str, about: object, words: str, function: Callable[[Tell], Any]) -> None:
    """Begin work that goes on while its visitor looks at other views, once; it must not touch the page."""
    if not under_way(key):
        working = st.session_state[key] = Working(about, words)
        working.begin(function)
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
    elif isinstance(working.error, GraspError):
        st.error(escape_markdown(f"{working.error}."))
    elif working.error is not None:  # its type alone: a message could quote labels
        st.error(escape_markdown(f"{FAULT} ({type(working.error).__name__})"))
    return working.result


@st.fragment(run_every=0.5)
def _watch(key: str) -> None:
    working = st.session_state.get(key)
    if not isinstance(working, Working) or working.ended.is_set():
        st.rerun()
    seconds = time.monotonic() - working.started
    done, of, task = working.told or (0, 0, "")
    rows = f"{done:,} of {of:,} rows done, now {task}, " if of else ""
    share = min(done / of, 1.0) if of else 0.0
    st.progress(share, text=escape_markdown(f"{working.words}: {rows}{seconds:.0f} s"))
    st.caption("It goes on while you look at other views.")
