"""The results of every group: Table 5, the null histograms in the same row order, and the cohesion map."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import streamlit as st

from grasp_core.outcome import Significance
from grasp_core.report.contents import marks_legend
from grasp_core.report.words.names import WORDS, axis_label, lead_statistic, reported_statistics
from grasp_core.report.words.text import escape_markdown
from grasp_core.result import RunResult
from pages._ui.result import cache
from pages._ui.result.figures import page_theme, show_cohesion, show_null_histograms
from pages._ui.widgets.shown import Shown

_MARKED: Mapping[str, tuple[Significance, ...]] = {
    "All groups": (),
    "Marked, even where it may be luck": ("nominal", "corrected"),
    "Marked after correction": ("corrected",),
}


def draw_groups(shown: Shown) -> None:
    """Table, histograms and cohesion map."""
    result = shown.result
    orders = {
        "axis": "Axis by axis",
        "effect": f"Largest {WORDS[lead_statistic(result)].name} effect first",
        "q": f"Smallest {WORDS[lead_statistic(result)].name} q first",
    }
    order = st.selectbox(
        "Order of the groups",
        list(orders),
        format_func=orders.__getitem__,
        key="order",
        persist_state="page",
        help="For the table and the histograms.",
    )
    _table(shown, order)
    st.header("One statistic in every group")
    show_null_histograms(shown, order)
    st.header("Agreement inside and across groups")
    show_cohesion(shown)


@st.fragment
def show_groups(shown: Shown) -> None:
    """The same as a fragment, so that a filter redraws no more than these."""
    draw_groups(shown)


class _Wanted(NamedTuple):
    """What the table shows: rows of some axes and marks, some statistics, and p and q beside them."""

    axes: list[str]
    marked: tuple[Significance, ...]
    statistics: list[str]
    p: bool


def _wanted(result: RunResult) -> _Wanted:
    reported = reported_statistics(result)
    axes = list(dict.fromkeys(axis_label(row.group.axes) for row in result.groups))
    left, middle, right = st.columns([1, 1, 2])
    chosen_axes = left.multiselect(
        "Axes", axes, placeholder="All axes", key="table-axes", persist_state="page"
    )
    marked = middle.selectbox("Significance", list(_MARKED), key="table-marked", persist_state="page")
    columns = right.multiselect(
        "Statistics in the table",
        reported,
        default=reported,
        format_func=lambda name: WORDS[name].name,
        key="table-statistics",
        persist_state="page",
    )
    statistics = [name for name in reported if name in columns]
    with_p = bool(statistics) and st.toggle("Show intervals, p and q", key="table-p", persist_state="page")
    return _Wanted(chosen_axes, _MARKED[marked], statistics, with_p)


def _table(shown: Shown, order: str) -> None:
    result = shown.result
    st.header("Table of groups")
    wanted = _wanted(result)
    if not wanted.statistics:
        st.info("Choose at least one statistic.")
        return
    missing = cache.groups_table(
        shown.key,
        result,
        wanted.statistics,
        page_theme(),
        order,
        axes=wanted.axes,
        marked=wanted.marked,
        p=wanted.p,
        alt="Every group's statistics, with arrows and stars",
        name="groups",
    )
    if missing is None:
        st.info("No group passes these filters.")
        return
    st.caption(escape_markdown(marks_legend(result.spec.analysis)))
    for line in missing:
        st.caption(escape_markdown(line))
