"""Cached drawings of runs, the pages' only caches: keyed by run, viewer and small choices.

Charts, tables and sections without widgets are drawn here: Streamlit keeps the elements it sent and repeats
them. Drawing them anew for every visitor is most of the work of a page. The tests validate the charts' specs;
validating again takes longer than drawing. Drawings of provisional results, which change every second, are
kept for visitors who look at the same one.
"""

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import altair as alt
import pandas as pd
import streamlit as st
from altair.utils.schemapi import disable_debug_mode

from grasp_core.analysis.models.result import ModelsResult
from grasp_core.model.result import RunResult
from grasp_core.model.text import Sentence
from grasp_core.report import tables
from grasp_core.report.charts.rows import PAGE
from grasp_core.report.charts.theme import Theme, spec_of
from grasp_core.report.charts.verdicts import drawn_groups
from grasp_core.report.charts.verdicts import verdict_chart as of_verdicts
from grasp_core.report.everybody import agreement_title, how_sure_agreement
from grasp_core.report.findings.advice import advice, ranked_findings
from grasp_core.report.findings.answer import how_sure, line, title
from grasp_core.report.findings.finding import Finding
from grasp_core.report.findings.selection import count_groups, of_verdict
from pages._ui.helpers import widgets as ui
from pages._ui.helpers.widgets import Shown, page_theme

disable_debug_mode()  # otherwise each part of a chart is validated when it is made


@st.cache_data(max_entries=512, show_spinner=False)
def _final(key: str, _draw: Callable[[], Any]) -> Any:  # one key, because Streamlit hashes each argument
    return _draw()


@st.cache_data(max_entries=16, show_spinner=False)
def _so_far(key: str, _draw: Callable[[], Any]) -> Any:
    return _draw()


def kept(key: str, what: str, source: object, draw: Callable[[], Any]) -> Any:
    """Call `draw`, which draws no widgets, or repeat what it drew and returned for `key` and `what`."""
    seen = repr((what, key))
    if isinstance(source, RunResult | ModelsResult) and source.provisional:
        return _so_far(f"{seen} after {source.permutations}", draw)
    return _final(seen, draw)


def chart(
    key: str, what: str, source: Any, make: Callable[[Any, Theme], alt.LayerChart], *, fresh: bool = False
) -> None:
    """Draw a chart in the page's theme; a provisional one is updated in place, a `fresh` one not cached."""
    theme = page_theme()

    def draw() -> None:
        spec = _spec(make(source, theme))
        live = isinstance(source, RunResult | ModelsResult) and source.provisional
        st.vega_lite_chart(spec=with_data_apart(spec) if live else spec, theme=None)

    if fresh:
        draw()
    else:
        kept(key, f"{what} {theme}", source, draw)


def figure(
    shown: Shown,
    what: str,
    make: Callable[..., alt.LayerChart],
    files: tuple[str, str] | None = None,
    table: tuple[str, str, Callable[[], object]] | None = None,
    *,
    between: Callable[[], object] = ui.always,
    of: Any = None,
    page: str = "",
    fresh: bool = False,
) -> None:
    """Draw a chart, then `between`, its table and, once the result is final, a menu of its files on white.

    `make` takes the result, or `of` in its place, the theme and, as keyword `page`, the page of groups.
    `files`: the files' name and the figure's name in the menu. `table`: its label, key and drawing function.
    """
    part = {}
    if page:  # of the groups, counted from 1; no choice if one page has all
        pages = -(-len(tables.large_groups(shown.result.groups)) // PAGE)
        part["page"] = int(st.pagination(pages, key=f"{page}-{pages}")) if pages > 1 else 1
    drawn, final = (shown.drawn, shown.result) if of is None else (of, of)
    name = " ".join([what, *map(str, part.values())])
    chart(shown.key, name, drawn, lambda source, theme: make(source, theme, **part), fresh=fresh)
    between()
    if table is not None:
        label, key, draw = table
        ui.when_open(label, draw, key=key)
    if files is None or shown.result.provisional:
        return
    file, called = files

    def menu() -> None:
        for kind in ("png", "svg", "pdf"):
            made = partial(lambda kind: ui.drawn(make(final, "light"), kind), kind)
            ui.download(shown.check, f"{called} ({kind.upper()})", f"{file}.{kind}", made, width="stretch")

    ui.menu_when_open(f"Save the {called}", menu, key=called, type="tertiary")


class FirstScreen(NamedTuple):
    """Content of a result's first screen; `certain`, `doubtful`, `hints`: True if it has such findings.

    `halves`: True if a row is drawn of the two groups of an axis.
    """

    title: Sentence
    counts: Sentence | None
    sure: tuple[Sentence, ...]
    to_do: tuple[Sentence, ...]
    drawn: int
    not_drawn: int
    clearest: Finding | None
    certain: bool
    doubtful: bool
    hints: bool
    halves: bool = False


@st.cache_resource(max_entries=512, show_spinner=False)
def _once(key: str, _find: Callable[[], Any]) -> Any:
    return _find()


def _settled(what: str, key: str, result: RunResult, find: Callable[[], Any]) -> Any:
    """Cache the value once all stages are done, since pairs and tests given an axis have a part in it."""
    return find() if result.later is not None else _once(repr((what, key)), find)


def first_screen(key: str, result: RunResult) -> FirstScreen:
    """Return the content of the first screen: a third of a page's work, though nothing is drawn."""
    found: FirstScreen = _settled("told first", key, result, lambda: _find_out(result))
    return found


def _find_out(result: RunResult) -> FirstScreen:
    if result.of_everybody:
        everybody = result.everybody
        sure = None if everybody is None else how_sure_agreement(everybody)
        return FirstScreen(
            agreement_title(result), sure, (), (), 0, 0, None, certain=False, doubtful=False, hints=False
        )
    found = ranked_findings(result)
    to_do = tuple(one.for_pages for one in advice(result, found))
    shown = drawn_groups(result)
    drawn = count_groups(shown)
    said = title(result, found), line(result, found), how_sure(result, found), to_do
    return FirstScreen(
        *said,
        drawn,
        len(result.groups) - drawn,
        next(iter(of_verdict(result, "clear")), None),
        certain=any(not one.undone for one in found),
        doubtful=any(one.undone for one in found),
        hints=bool(of_verdict(result, "hint")),
        halves=any(one.other is not None for one in shown),
    )


def verdict_chart(key: str, result: RunResult, theme: Theme, *, narrow: bool) -> Mapping[str, Any]:
    """Return the chart of verdicts as a specification, because the page handles its clicks."""
    what = f"verdicts {theme} {narrow}"
    return _settled(what, key, result, lambda: _spec(of_verdicts(result, theme, narrow=narrow)))


def _spec(chart: alt.LayerChart) -> dict[str, Any]:
    """Return a chart's Vega-Lite with its data in each layer: above them, Streamlit takes it for a frame."""
    spec = spec_of(chart)
    if "data" in spec:
        shared = spec.pop("data")
        for layer in spec["layer"]:
            layer.setdefault("data", shared)
    return spec


_Rows = list[dict[str, Any]]


def with_data_apart(spec: dict[str, Any]) -> dict[str, Any]:
    """Return the spec with every layer's data as a named frame under `datasets`.

    If only the frames change, Streamlit does not redraw the chart, and it does not flicker. So lists in cells
    become rows here, not by a transform, and the description, which quotes numbers, refers to the table.
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
    if lists:
        found = [
            {**row, **dict(zip(lists, entries, strict=True))}
            for row in found
            for entries in zip(*(row[name] for name in lists), strict=True)
        ]
    rows[data["name"]] = found
    left = [one for one in transforms if "flatten" not in one]
    kept = {name: value for name, value in layer.items() if name != "transform"}
    return {**kept, **({"transform": left} if left else {}), "data": {"name": data["name"]}}
