"""What pages draw of finished runs, the only caches: keyed by run, viewer and small choices.

Charts, tables and sections without widgets are drawn here: Streamlit keeps what it sent and sends it again.
Making the same for every visitor is most of the work of a page. The charts' specs are validated in the tests;
doing it again takes longer than drawing. What is drawn of provisional results, which change every second,
is kept for those who look at the same one.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

import altair as alt
import pandas as pd
import streamlit as st
from altair.utils.schemapi import disable_debug_mode

from grasp_core.analysis.models.result import ModelsResult
from grasp_core.analysis.planner.values import Plan
from grasp_core.analysis.rater_map_values import RaterMap
from grasp_core.benchmark.leaderboard import Entry
from grasp_core.model.groups import AxisSet, Group
from grasp_core.model.outcome import Significance
from grasp_core.model.result import RunResult
from grasp_core.model.text import Sentence
from grasp_core.report import charts
from grasp_core.report.charts import Theme
from grasp_core.report.charts.models import models_chart as draw_models
from grasp_core.report.charts.plan import plan_chart as draw_plan_chart
from grasp_core.report.charts.rater_map import rater_map_chart
from grasp_core.report.charts.theme import spec_of
from grasp_core.report.charts.verdicts import drawn_groups
from grasp_core.report.everybody import agreement_title, how_sure_agreement
from grasp_core.report.findings.advice import advice, told
from grasp_core.report.findings.finding import Finding
from grasp_core.report.findings.findings import count_groups, named_groups, of_verdict
from grasp_core.report.findings.title import counts, how_sure, title
from grasp_core.report.pairs import measures, seen_from
from grasp_core.report.tables import RowOrder
from grasp_core.report.words.names import lead_statistic
from pages._ui.helpers.page_style import ON_PHONES, ON_SCREENS
from pages._ui.result.tables import (
    show_dsi_table,
    show_groups_table,
    show_phone_table,
    table_of_groups,
    why_not_estimable,
)

_FINAL = 512
_PROVISIONAL = 16
_TOLD = 256

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

disable_debug_mode()  # each part of a chart would be validated as it is made


@st.cache_data(max_entries=_FINAL, show_spinner=False)
def _final(key: str, _draw: Callable[[], Any]) -> Any:
    """Draw something; one text as the key of all, as Streamlit takes apart each argument by its name."""
    return _draw()


@st.cache_data(max_entries=_PROVISIONAL, show_spinner=False)
def _so_far(key: str, _draw: Callable[[], Any]) -> Any:
    """Draw something of a provisional result, whose permutations are in the key."""
    return _draw()


def _kept(draw: Callable[Concatenate[str, R, P], T]) -> Callable[Concatenate[str, R, P], T]:
    """Keep what a function of a key, something and more draws; apart, and a few, of provisional results.

    The key says what the something is; the rest are small values whose `repr` is all that they are.
    """

    @functools.wraps(draw)
    def either(key: str, shown: R, *more: P.args, **named: P.kwargs) -> T:
        seen = repr((draw.__name__, key, more, named))
        drawn = functools.partial(draw, key, shown, *more, **named)
        if isinstance(shown, RunResult | ModelsResult) and shown.provisional:
            found: T = _so_far(f"{seen} after {shown.permutations}", drawn)
        else:
            found = _final(seen, drawn)
        return found

    return either


@_kept
def null_histograms(
    key: str, _result: RunResult, statistic: str, theme: Theme, order: RowOrder, page: int
) -> None:
    """Draw a page of the null histograms of one statistic."""
    _draw_chart(charts.null_histograms(_result, statistic, theme, order, page=page), live=_result.provisional)


@_kept
def forest_plot(
    key: str, _result: RunResult, statistic: str, theme: Theme, order: RowOrder, page: int
) -> None:
    """Draw a page of the values of one statistic, with intervals."""
    _draw_chart(charts.forest_plot(_result, statistic, theme, order, page=page), live=_result.provisional)


@_kept
def label_forest(key: str, _result: RunResult, label: str, theme: Theme, page: int) -> None:
    """Draw a page of how much more often each group gives a label."""
    _draw_chart(charts.label_forest_plot(_result, label, theme, page=page), live=_result.provisional)


@_kept
def cohesion_map(key: str, _result: RunResult, theme: Theme) -> None:
    """Draw the cohesion map."""
    _draw_chart(charts.cohesion_map(_result, theme), live=_result.provisional)


@_kept
def dsi_chart(key: str, _result: RunResult, theme: Theme) -> None:
    """Draw the DSI chart."""
    _draw_chart(charts.dsi_chart(_result, theme), live=_result.provisional)


@_kept
def group_histograms(key: str, _result: RunResult, name: str, theme: Theme) -> None:
    """Draw all statistics of the group of this name."""
    row = named_groups(_result)[name]
    _draw_chart(charts.group_histograms(_result, row, theme), live=_result.provisional)


@_kept
def label_use_chart(key: str, _result: RunResult, name: str, theme: Theme) -> None:
    """Draw the label use of the group of this name."""
    row = named_groups(_result)[name]
    _draw_chart(charts.label_use_chart(_result, row, theme), live=_result.provisional)


class ToldFirst(NamedTuple):
    """What a result's first screen says."""

    title: Sentence
    counts: Sentence | None
    sure: tuple[Sentence, ...]
    to_do: tuple[Sentence, ...]
    drawn: int
    not_drawn: int
    clearest: Finding | None


@st.cache_resource(max_entries=_TOLD, show_spinner=False)
def told_first(key: str, _result: RunResult) -> ToldFirst:
    """Find out what is told first: a third of the work of a page, though nothing is drawn."""
    if _result.of_everybody:
        everybody = _result.everybody
        sure = None if everybody is None else how_sure_agreement(everybody)
        return ToldFirst(agreement_title(_result), sure, (), (), 0, 0, None)
    found = told(_result)
    to_do = tuple(one.for_pages for one in advice(_result, found))
    drawn = count_groups(drawn_groups(_result))
    return ToldFirst(
        title(_result, found),
        counts(_result, found),
        how_sure(_result, found),
        to_do,
        drawn,
        len(_result.groups) - drawn,
        next(iter(of_verdict(_result, "clear")), None),
    )


@st.cache_resource(max_entries=_TOLD, show_spinner=False)
def verdict_chart(key: str, _result: RunResult, theme: Theme, *, narrow: bool) -> Mapping[str, Any]:
    """The groups by their verdicts as a chart's specification, for its clicks are the page's."""
    return _spec(charts.verdict_chart(_result, theme, narrow=narrow))


@_kept
def agreement_chart(key: str, _result: RunResult, theme: Theme) -> None:
    """Draw how often another rater says the same, by label."""
    _draw_chart(charts.agreement_chart(_result, theme))


def pairs_matrix(key: str, result: RunResult, axes: AxisSet, measure: str, theme: Theme) -> None:
    """Draw the matrix of an axis's pairs; of a run that still computes them, as it is now."""
    known = 0 if result.later is None else sum(one.null_n for one in result.pairs[-1].statistics.values())
    seen = key if result.later is None else f"{key} with {len(result.pairs)} pairs after {known}"
    _pairs_matrix(seen, result, axes, measure, theme)


@_kept
def pair_histograms(key: str, _result: RunResult, a: Group, b: Group, theme: Theme) -> None:
    """Draw what was tested of two groups, of which `a` may be either."""
    (row,) = (row for row in seen_from(_result, a) if row.b == b)
    _draw_chart(charts.pair_histograms(_result, row, theme))


@_kept
def _pairs_matrix(key: str, _result: RunResult, axes: AxisSet, measure: str, theme: Theme) -> None:
    _draw_chart(charts.pairs_matrix(_result, axes, measures(_result)[measure], theme))


def slices_forest(
    key: str, result: RunResult, column: str, group: Group, what: tuple[str, bool], theme: Theme
) -> None:
    """Draw one group in all slices of a column: a statistic, or a label; kept once the run is done."""
    if result.later is None:
        _slices_forest(key, result, column, group, what, theme)
    else:
        _draw_chart(charts.slices_chart(result, column, group, what, theme))


@_kept
def _slices_forest(
    key: str, _result: RunResult, column: str, group: Group, what: tuple[str, bool], theme: Theme
) -> None:
    _draw_chart(charts.slices_chart(_result, column, group, what, theme))


@_kept
def models_chart(key: str, _result: ModelsResult, theme: Theme) -> None:
    """Draw the chart of models and groups."""
    _draw_chart(draw_models(_result, theme), live=_result.provisional, wide="models")


@_kept
def leaderboard_chart(key: str, _entries: Sequence[Entry], column: str, theme: Theme) -> None:
    """Draw the leaderboard of one task; the key is what the entries say."""
    _draw_chart(charts.leaderboard_chart(_entries, column, theme), wide="leaderboard")


@_kept
def rater_map(key: str, _found: RaterMap, axes: AxisSet, group: Group | None, theme: Theme) -> None:
    """Draw the map of raters by an axis, or of one group of it alone."""
    _draw_chart(rater_map_chart(_found, axes, theme, group))


@_kept
def plan_chart(key: str, _plan: Plan, theme: Theme) -> None:
    """Draw a plan's surface; the key says how far it was made."""
    _draw_chart(draw_plan_chart(_plan, theme))


@_kept
def groups_table(
    key: str,
    _result: RunResult,
    statistics: Sequence[str],
    theme: Theme,
    order: RowOrder = "axis",
    *,
    axes: Sequence[str] = (),
    marked: Sequence[Significance] = (),
    p: bool = False,
    alt: str,
    name: str,
) -> list[str] | None:
    """Draw the rows and statistics wanted; returns why values are missing, or None if no row is left.

    No two tables of a page have one `name`.
    """
    lead = lead_statistic(_result)
    statistics = sorted(statistics, key=lambda one: one != lead)  # seen without scrolling sideways
    frame = table_of_groups(_result, order=order, axes=axes, marked=marked, statistics=statistics)
    if frame.empty:
        return None
    with st.container(key=f"{ON_SCREENS}-{name}"):
        show_groups_table(frame, statistics, theme, _result.permutations, p=p, alt=alt)
    with st.container(key=f"{ON_PHONES}-{name}"):
        show_phone_table(frame, statistics, _result.permutations, p=p, alt=f"{alt}, in short")
    return why_not_estimable(frame, statistics)


@_kept
def dsi_table(key: str, _result: RunResult) -> None:
    """Draw the DSI of every axis with both tests."""
    show_dsi_table(_result)


def section(key: str, name: str, draw: Callable[[], None]) -> None:
    """Draw a section that has no widgets and says the same to all who see the result under this key."""
    _final(repr((name, key)), draw)


def _draw_chart(chart: alt.LayerChart, *, live: bool = False, wide: str = "") -> None:
    """Draw a chart; its `description` is what a screen reader gets.

    One that is `live` fills in; one that is `wide`, under this name, scrolls where the page is narrow.
    """
    spec = _spec(chart)
    with st.container(key=f"wide-{wide}" if wide else None):
        st.vega_lite_chart(spec=with_data_apart(spec) if live else spec, theme=None)


def _spec(chart: alt.LayerChart) -> dict[str, Any]:
    """A chart's Vega-Lite, with shared data in each layer: Streamlit takes it for a frame above them."""
    spec = spec_of(chart)
    if "data" in spec:
        shared = spec.pop("data")
        for layer in spec["layer"]:
            layer.setdefault("data", shared)
    return spec


_Rows = list[dict[str, Any]]


def with_data_apart(spec: dict[str, Any]) -> dict[str, Any]:
    """The spec with every layer's data as a named frame under `datasets`.

    A spec that stays the same while its frames change is not drawn anew, which would flicker. So lists in
    cells are laid out as rows here, not by a transform, and the description, which quotes numbers, is left to
    the table beside the chart.
    """
    rows: dict[str, _Rows] = {}
    layers = [_apart(layer, rows) for layer in spec["layer"]]
    frames = {name: pd.DataFrame(found) for name, found in rows.items()}
    return {**spec, "layer": layers, "datasets": frames, "description": "So far; the table has the numbers."}


def _apart(layer: dict[str, Any], rows: dict[str, _Rows]) -> dict[str, Any]:
    data = layer["data"]
    if "values" not in data:
        return layer
    found = json.loads(data["values"])
    transforms = layer.get("transform", [])
    lists = [name for one in transforms for name in one.get("flatten", ())]
    rows[data["name"]] = (
        [
            {**row, **dict(zip(lists, entries, strict=True))}
            for row in found
            for entries in zip(*(row[name] for name in lists), strict=True)
        ]
        if lists
        else found
    )
    left = [one for one in transforms if "flatten" not in one]
    kept = {name: value for name, value in layer.items() if name != "transform"}
    return {**kept, **({"transform": left} if left else {}), "data": {"name": data["name"]}}
