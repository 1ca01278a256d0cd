"""The results' charts, each with the same numbers as a table and as files."""

from __future__ import annotations

from collections.abc import Callable

import altair as alt
import streamlit as st

from grasp_core.model.result import RunResult
from grasp_core.report import charts
from grasp_core.report.charts import Theme
from grasp_core.report.charts.nulls import PAGE
from grasp_core.report.tables import RowOrder
from grasp_core.report.words.names import DSI_EXPLANATION, WORDS, lead_statistic, reported_statistics
from pages._ui.result import cache
from pages._ui.widgets.choices import when_open
from pages._ui.widgets.outputs import figure_downloads
from pages._ui.widgets.shown import Shown


def page_theme() -> Theme:
    """Light or dark, as the browser shows the page."""
    return "dark" if st.context.theme.type == "dark" else "light"


def show_dsi(shown: Shown) -> None:
    """DSI by axis: which axis recruitment should watch."""
    result = shown.result
    st.caption(DSI_EXPLANATION)
    cache.dsi_chart(shown.key, shown.drawn, page_theme())
    when_open("DSI as a table", lambda: cache.dsi_table(shown.key, result), key="dsi-table")
    save_figure(shown, lambda: charts.dsi_chart(result, "light"), "dsi", "DSI chart")


def show_cohesion(shown: Shown) -> None:
    """XRR against IRR, a point per group."""
    result = shown.result
    cache.cohesion_map(shown.key, shown.drawn, page_theme())
    reported = reported_statistics(result)
    pair = [name for name in (*result.spec.analysis.gai, "gai") if name in reported]
    alt = "In-group and cross-group agreement by group"
    when_open(
        "Cohesion map as a table",
        lambda: cache.groups_table(shown.key, result, pair, page_theme(), alt=alt, name="cohesion"),
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
    draw, chart = (
        (cache.forest_plot, charts.forest_plot)
        if as_forest
        else (cache.null_histograms, charts.null_histograms)
    )
    draw(shown.key, shown.drawn, statistic, page_theme(), order, page)
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


def choose_page(result: RunResult, key: str) -> int:
    """Which page of the groups a chart shows, counted from 1; nothing is asked where one holds all."""
    pages = -(-len(result.groups) // PAGE)
    return int(st.pagination(pages, key=f"{key}-{pages}")) if pages > 1 else 1


def save_figure(shown: Shown, chart: Callable[[], alt.LayerChart], file_name: str, what: str) -> None:
    """A figure's files, once it is final."""
    if not shown.result.provisional:
        figure_downloads(shown, chart, file_name, what)
