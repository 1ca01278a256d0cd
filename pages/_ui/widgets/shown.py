"""A result as a page shows it, its warnings and what was just made."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import streamlit as st

from grasp_core.model.remarks.benchmark import ranked
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.result import RunResult
from grasp_core.model.text import escape_markdown, without_options
from grasp_core.model.wording import number
from grasp_core.store.runs import RunRecord

FIRST = 3
"""Warnings that stand in the open."""


def no_way(warning: Remark, place: int) -> None:
    """Nothing, for who can change nothing."""


def show_warned(warnings: Sequence[Remark], way: Callable[[Remark, int], None] = no_way) -> None:
    """Draw the first three, and the others behind one expander."""
    in_order = ranked(warnings)
    for place, warning in enumerate(in_order[:FIRST]):
        show_one(warning, way, place)
    if len(in_order) > FIRST:
        with st.expander(number(len(in_order) - FIRST, "more warning"), icon=":material/warning:"):
            for place, warning in enumerate(in_order[FIRST:], start=FIRST):
                show_one(warning, way, place)


def show_one(
    warning: Remark, way: Callable[[Remark, int], None] = no_way, place: int = 0, *, brief: bool = False
) -> None:
    """Draw one warning with its way to mend it; in brief only its first sentence."""
    text = warning.in_brief if brief else str(warning)
    st.warning(escape_markdown(without_options(text)), icon=":material/warning:")
    way(warning, place)


def always() -> None:
    """Whoever sees the page may have what is on it."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A result and who looks at it."""

    key: str
    result: RunResult
    title: str
    check: Callable[[], None] = always
    charted: RunResult | None = None
    run: RunRecord | None = None
    way: Callable[[Remark, int], None] = no_way
    stranger: bool = False
    small_groups: bool = True

    @property
    def drawn(self) -> RunResult:
        """The result that charts are drawn of."""
        return self.charted or self.result


_DOUBLE_CLICK_S = 1.0


def just_made(key: str) -> bool:
    """Whether one was made this very moment: the second click of a double one makes no other."""
    made_at, _ = st.session_state.get(key, (-_DOUBLE_CLICK_S, ""))
    return time.monotonic() - made_at < _DOUBLE_CLICK_S


def keep_made(key: str, text: str) -> None:
    """Keep what was just made until it is forgotten, or another one takes its place."""
    st.session_state[key] = time.monotonic(), text


def show_made(key: str, what: str) -> None:
    """Show what was made, if there is some, to be copied; `what` it is, in a word."""
    if key in st.session_state:
        st.success(f"Copy the {what} now: nobody can see it again.", icon=":material/check_circle:")
        st.code(st.session_state[key][1], language=None, wrap_lines=True)
