"""What pages draw of finished runs, the only caches: keyed by run, viewer and small choices.

Charts, tables and sections without widgets are drawn here: Streamlit keeps what it sent and sends it again.
Making the same for every visitor is most of the work of a page. The charts' specs are validated in the tests;
doing it again takes longer than drawing. What is drawn of provisional results, which change every second,
is kept for those who look at the same one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import altair as alt
import pandas as pd
import streamlit as st
from altair.utils.schemapi import disable_debug_mode

from grasp_core.analysis.models.result import ModelsResult
from grasp_core.model.outcome import Significance
from grasp_core.model.result import RunResult
from grasp_core.model.text import Sentence
from grasp_core.report import charts
from grasp_core.report.charts import Theme
from grasp_core.report.charts.theme import spec_of
from grasp_core.report.charts.verdicts import drawn_groups
from grasp_core.report.everybody import agreement_title, how_sure_agreement
from grasp_core.report.findings.advice import advice, told
from grasp_core.report.findings.finding import Finding
from grasp_core.report.findings.findings import count_groups, of_verdict
from grasp_core.report.findings.sentences import counts, how_sure, title
from grasp_core.report.tables import RowOrder
from grasp_core.report.words.names import lead_statistic
from pages._ui.helpers.outputs import page_theme
from pages._ui.helpers.page_style import ON_PHONES, ON_SCREENS
from pages._ui.result.tables import show_groups_table, show_phone_table, table_of_groups, why_not_estimable

_TOLD = 256

disable_debug_mode()  # each part of a chart would be validated as it is made


@st.cache_data(max_entries=512, show_spinner=False)
def _final(key: str, _draw: Callable[[], Any]) -> Any:
    """Draw something; one text as the key of all, as Streamlit takes apart each argument by its name."""
    return _draw()


@st.cache_data(max_entries=16, show_spinner=False)
def _so_far(key: str, _draw: Callable[[], Any]) -> Any:
    """Draw something of a provisional result, whose permutations are in the key."""
    return _draw()


def kept(key: str, what: str, source: object, draw: Callable[[], Any]) -> Any:
    """What is drawn without widgets, kept for all who see the same: apart, and a few, of provisional results.

    `key` says of which source, and `what` with which choices.
    """
    seen = repr((what, key))
    if isinstance(source, RunResult | ModelsResult) and source.provisional:
        return _so_far(f"{seen} after {source.permutations}", draw)
    return _final(seen, draw)


def chart(
    key: str,
    what: str,
    source: Any,
    make: Callable[[Any, Theme], alt.LayerChart],
    *,
    wide: str = "",
    fresh: bool = False,
) -> None:
    """Draw a chart of the source in the page's theme; its `description` is what a screen reader gets.

    One of a provisional result fills in; one that is `wide`, under this name, scrolls where the page is
    narrow; a `fresh` one is not kept.
    """
    theme = page_theme()

    def draw() -> None:
        spec = _spec(make(source, theme))
        live = isinstance(source, RunResult | ModelsResult) and source.provisional
        with st.container(key=f"wide-{wide}" if wide else None):
            st.vega_lite_chart(spec=with_data_apart(spec) if live else spec, theme=None)

    if fresh:
        draw()
    else:
        kept(key, f"{what} {theme}", source, draw)


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


def groups_table(
    key: str,
    result: RunResult,
    statistics: Sequence[str],
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
    lead, theme = lead_statistic(result), page_theme()
    columns = sorted(statistics, key=lambda one: one != lead)  # seen without scrolling sideways

    def draw() -> list[str] | None:
        frame = table_of_groups(result, order=order, axes=axes, marked=marked, statistics=columns)
        if frame.empty:
            return None
        with st.container(key=f"{ON_SCREENS}-{name}"):
            show_groups_table(frame, columns, theme, result.permutations, p=p, alt=alt)
        with st.container(key=f"{ON_PHONES}-{name}"):
            show_phone_table(frame, columns, result.permutations, p=p, alt=f"{alt}, in short")
        return why_not_estimable(frame, columns)

    what = f"table {name} {columns} {theme} {order} {axes} {marked} {p} {alt}"
    missing: list[str] | None = kept(key, what, result, draw)
    return missing


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
