"""All groups in numbers: table, histograms, cohesion, label use, DSI."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import streamlit as st

from grasp_core.model.groups import axis_label
from grasp_core.model.outcome import Significance
from grasp_core.model.result import RunResult
from grasp_core.model.text import escape_markdown
from grasp_core.report import charts
from grasp_core.report.contents import marks_legend
from grasp_core.report.in_numbers import means_in_numbers
from grasp_core.report.tables import RowOrder, with_label_use
from grasp_core.report.words.names import (
    DSI_EXPLANATION,
    LABEL_USE_EXPLANATION,
    MEAN_SHIFT_EXPLANATION,
    WORDS,
    lead_statistic,
    reported_statistics,
)
from pages._ui.helpers.outputs import choose_page, page_theme, save_figure
from pages._ui.helpers.widgets import Shown, show_table, when_open
from pages._ui.result import cache
from pages._ui.result.tables import show_dsi_table, show_label_table


def show_dsi(shown: Shown) -> None:
    """DSI by axis: which axis recruitment should watch."""
    result = shown.result
    st.caption(DSI_EXPLANATION)
    cache.chart(shown.key, "dsi", shown.drawn, charts.dsi_chart)
    when_open(
        "DSI as a table",
        lambda: cache.kept(shown.key, "dsi table", result, lambda: show_dsi_table(result)),
        key="dsi-table",
    )
    save_figure(shown, lambda: charts.dsi_chart(result, "light"), "dsi", "DSI chart")


def show_cohesion(shown: Shown) -> None:
    """XRR against IRR, a point per group."""
    result = shown.result
    cache.chart(shown.key, "cohesion", shown.drawn, charts.cohesion_map)
    reported = reported_statistics(result)
    pair = [name for name in (*result.spec.analysis.gai, "gai") if name in reported]
    alt = "In-group and cross-group agreement by group"
    when_open(
        "Cohesion map as a table",
        lambda: cache.groups_table(shown.key, result, pair, alt=alt, name="cohesion"),
        key="cohesion-table",
    )
    save_figure(shown, lambda: charts.cohesion_map(result, "light"), "cohesion-map", "cohesion map")


def show_null_histograms(shown: Shown, order: RowOrder) -> None:
    """One statistic of all groups, against random groupings or with its intervals."""
    result = shown.result
    reported = reported_statistics(result)
    statistic = st.selectbox(
        "Statistic",
        reported,
        index=reported.index(lead_statistic(result)),
        format_func=lambda name: WORDS[name].name,
        key="null-statistic",
        persist_state="page",
    )
    st.caption(WORDS[statistic].explanation)
    as_forest = _ways() == "Intervals"
    page = choose_page(result, "null-page")
    chart = charts.forest_plot if as_forest else charts.null_histograms
    cache.chart(
        shown.key,
        f"{chart.__name__} {statistic} {order} {page}",
        shown.drawn,
        lambda drawn, theme: chart(drawn, statistic, theme, order, page=page),
    )
    name = WORDS[statistic].name
    save_figure(
        shown,
        lambda: chart(result, statistic, "light", order),
        f"{'forest' if as_forest else 'null'}-{statistic.replace('_', '-')}",
        f"{name} {'intervals' if as_forest else 'histograms'}",
    )


def _ways() -> str:
    """How a statistic's values are drawn."""
    return str(
        st.segmented_control(
            "Drawn with",
            ["Random groupings", "Intervals"],
            default="Random groupings",
            required=True,
            key="null-way",
            persist_state="page",
        )
    )


_SIDE_BY_SIDE = 8
"""Labels from which they are chosen from a list."""


def has_label_use(result: RunResult) -> bool:
    """Whether it was part of this run: results of earlier versions lack it."""
    return bool(with_label_use(result))


def show_labels(shown: Shown) -> None:
    """Each group's difference in every label, then one label's with intervals."""
    result = shown.result
    st.header("Who says what more often")
    st.caption(LABEL_USE_EXPLANATION)
    show_label_table(result, page_theme())
    st.caption("p and q: of all labels of a group together, by the one that lies furthest from chance.")
    show_means(result)
    st.header("One label in every group")
    label = _choose_label(result)
    page = choose_page(result, "label-page")
    cache.chart(
        shown.key,
        f"label forest {label} {page}",
        shown.drawn,
        lambda drawn, theme: charts.label_forest_plot(drawn, label, theme, page=page),
    )
    save_figure(
        shown, lambda: charts.label_forest_plot(result, label, "light"), "label-use", "chart of this label"
    )


def show_means(result: RunResult) -> None:
    """How far each group's mean is shifted, where labels are ordered or numbers."""
    means = means_in_numbers(result)
    if means.empty or result.provisional:
        return
    st.header("Whose labels lie higher")
    st.caption(f"{MEAN_SHIFT_EXPLANATION} p is of this group alone, not corrected.")
    show_table(means, "Shift of the mean of every group", height="content")


def _choose_label(result: RunResult) -> str:
    """The label that most marked groups differ in, at first."""
    uses = [use for _, use in with_label_use(result)]
    labels = list(dict.fromkeys(label for use in uses for label in use.labels))
    most = [use.most for use in uses if use.significance == "corrected" and use.most is not None]
    first = max(labels, key=lambda label: (most.count(label), -labels.index(label)))
    if len(labels) <= _SIDE_BY_SIDE:
        return str(
            st.segmented_control(
                "Label",
                labels,
                default=first,
                required=True,
                format_func=escape_markdown,
                key="one-label",
                persist_state="page",
            )
        )
    return str(
        st.selectbox("Label", labels, index=labels.index(first), key="one-label", persist_state="page")
    )


_MARKED: Mapping[str, tuple[Significance, ...]] = {
    "All groups": (),
    "Marked, even where it may be luck": ("nominal", "corrected"),
    "Marked after correction": ("corrected",),
}


def draw_groups(shown: Shown) -> None:
    """The table, beside it the histograms of one statistic, and below the cohesion map."""
    lead = WORDS[lead_statistic(shown.result)].name
    orders: Mapping[RowOrder, str] = {
        "axis": "Axis by axis",
        "effect": f"Largest {lead} effect first",
        "q": f"Smallest {lead} q first",
    }
    reported = reported_statistics(shown.result)
    axes = list(dict.fromkeys(axis_label(row.group.axes) for row in shown.result.groups))
    of_order, of_axes, of_marks, of_statistics = st.columns([1, 1, 1, 2])
    order = of_order.selectbox(
        "Order of the groups", list(orders), format_func=orders.__getitem__, key="order", persist_state="page"
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
    wanted = _Wanted(order, chosen_axes, _MARKED[marked], statistics)
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
