"""The results of every group: Table 5, the null histograms in the same row order, and the cohesion map."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import streamlit as st

from grasp_core.outcome import Significance
from grasp_core.report.contents import marks_legend
from grasp_core.report.tables.groups import RowOrder
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
    """The table, beside it the histograms of one statistic, and below the cohesion map."""
    wanted = _wanted(shown.result)
    table, histograms = st.columns([3, 2], gap="medium")
    with table:
        _table(shown, wanted)
    with histograms:
        st.header("One statistic in every group")
        show_null_histograms(shown, wanted.order)
    st.header("Agreement inside and across groups")
    show_cohesion(shown)


@st.fragment
def show_groups(shown: Shown) -> None:
    """The same as a fragment, so that a filter redraws no more than these."""
    draw_groups(shown)


class _Wanted(NamedTuple):
    """What is shown of the groups: their order, rows of some axes and marks, and some statistics."""

    order: RowOrder
    axes: list[str]
    marked: tuple[Significance, ...]
    statistics: list[str]


def _wanted(result: RunResult) -> _Wanted:
    lead = WORDS[lead_statistic(result)].name
    orders: Mapping[RowOrder, str] = {
        "axis": "Axis by axis",
        "effect": f"Largest {lead} effect first",
        "q": f"Smallest {lead} q first",
    }
    reported = reported_statistics(result)
    axes = list(dict.fromkeys(axis_label(row.group.axes) for row in result.groups))
    of_order, of_axes, of_marks, of_statistics = st.columns([1, 1, 1, 2])
    order = of_order.selectbox(
        "Order of the groups",
        list(orders),
        format_func=orders.__getitem__,
        key="order",
        persist_state="page",
    )
    chosen_axes = of_axes.multiselect(
        "Axes", axes, placeholder="All axes", key="table-axes", persist_state="page"
    )
    marked = of_marks.selectbox("Significance", list(_MARKED), key="table-marked", persist_state="page")
    columns = of_statistics.multiselect(
        "Statistics in the table",
        reported,
        default=reported,
        format_func=lambda name: WORDS[name].name,
        key="table-statistics",
        persist_state="page",
    )
    statistics = [name for name in reported if name in columns]
    return _Wanted(order, chosen_axes, _MARKED[marked], statistics)


def _table(shown: Shown, wanted: _Wanted) -> None:
    result = shown.result
    st.header("Table of groups")
    if not wanted.statistics:
        st.info("Choose at least one statistic.")
        return
    with_p = st.toggle("Show intervals, p and q", key="table-p", persist_state="page")
    missing = cache.groups_table(
        shown.key,
        result,
        wanted.statistics,
        page_theme(),
        wanted.order,
        axes=wanted.axes,
        marked=wanted.marked,
        p=with_p,
        alt="Every group's statistics, with arrows and stars",
        name="groups",
    )
    if missing is None:
        st.info("No group passes these filters.")
        return
    st.caption(escape_markdown(marks_legend(result.spec.analysis)))
    for line in missing:
        st.caption(escape_markdown(line))
