"""Warnings, the most important first, each with its way to mend it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from grasp_core.remarks.ranks import ranked
from grasp_core.remarks.remark import Remark
from grasp_core.report.words.text import escape_markdown, without_options
from grasp_core.wording import number

FIRST = 3
"""Warnings that stand in the open."""


def no_way(warning: Remark, place: int) -> None:
    """Nothing, for who can change nothing."""


def show_warned(warnings: Sequence[Remark], way: Callable[[Remark, int], None] = no_way) -> None:
    """Draw the first three, and the others behind one expander.

    Parameters
    ----------
    warnings : sequence of Remark
    way : callable
        Draws the way to mend a warning, if there is one; its place makes a key.
    """
    in_order = ranked(warnings)
    for place, warning in enumerate(in_order[:FIRST]):
        show_one(warning, way, place)
    if len(in_order) > FIRST:
        with st.expander(number(len(in_order) - FIRST, "more warning"), icon=":material/warning:"):
            for place, warning in enumerate(in_order[FIRST:], start=FIRST):
                show_one(warning, way, place)


def show_one(warning: Remark, way: Callable[[Remark, int], None] = no_way, place: int = 0) -> None:
    """Draw one warning with its way to mend it."""
    st.warning(escape_markdown(without_options(str(warning))), icon=":material/warning:")
    way(warning, place)
