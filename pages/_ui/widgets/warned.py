"""Warnings, the most important first, each with its way to mend it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from grasp_core.remarks.ranks import ranked
from grasp_core.remarks.remark import Remark
from grasp_core.report.words.text import escape_markdown
from grasp_core.wording import number

FIRST = 3
"""Warnings that stand in the open."""


def no_way(warning: Remark, place: int) -> None:
    """Nothing, for who can change nothing."""


def show_warned(
    warnings: Sequence[Remark], way: Callable[[Remark, int], None] = no_way, *, first_place: int = 0
) -> None:
    """Draw the first three, those drawn before included, and the others behind one expander.

    Parameters
    ----------
    warnings : sequence of Remark
    way : callable
        Draws the way to mend a warning, if there is one; its place makes a key.
    first_place : int
        The place of the first, where others were drawn before.
    """
    in_order, in_open = ranked(warnings), max(FIRST - first_place, 0)
    for place, warning in enumerate(in_order[:in_open], start=first_place):
        _show(warning, place, way)
    if len(in_order) > in_open:
        with st.expander(number(len(in_order) - in_open, "more warning"), icon=":material/warning:"):
            for place, warning in enumerate(in_order[in_open:], start=first_place + in_open):
                _show(warning, place, way)


def _show(warning: Remark, place: int, way: Callable[[Remark, int], None]) -> None:
    st.warning(escape_markdown(str(warning)), icon=":material/warning:")
    way(warning, place)
