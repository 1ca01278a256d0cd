"""Files to take away, made when they are asked for, and how figures are drawn."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial

import altair as alt
import streamlit as st

from grasp_core.analysis.rater_map_values import RaterMap
from grasp_core.model.result import RunResult
from grasp_core.report.charts import Theme
from grasp_core.report.charts.histograms import PAGE
from grasp_core.report.writers.registry import EXPORTS, Export, safe_name
from grasp_core.server import server
from pages._ui.helpers.widgets import Shown, as_this_session, menu_when_open

_EXPLAINED = {
    "csv": "Every number of every group and statistic at full precision.",
    "html": "The whole result as one file that opens in any browser, also offline.",
    "json": "Everything on this page, without any annotation; open it on Start, now or in years.",
    "spec": "The settings alone, for the command line.",
}
_MEDIA_TYPES = {
    "csv": "text/csv",
    "json": "application/json",
    "md": "text/markdown",
    "pdf": "application/pdf",
    "png": "image/png",
    "svg": "image/svg+xml",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
"""Of files, by how their names end."""

Made = Callable[[], bytes | str]


def export(
    shown: Shown, rater_map: Callable[[], RaterMap | None], names: Collection[str] = tuple(EXPORTS)
) -> None:
    """One button that opens the list of files; reports have the map of raters, where it was made by then."""

    def files() -> None:
        exports = server.shared().exports

        def make(kind: Export) -> bytes:
            with exports.turn():
                return exports.make(kind, shown.result, rater_map())

        for kind in (EXPORTS[name] for name in EXPORTS if name in names):
            name = f"{safe_name(shown.title)}.{kind.extension}"
            looks = {"mime": kind.media_type, "help": _EXPLAINED.get(kind.name), "width": "stretch"}
            download(shown.check, kind.label, name, partial(make, kind), **looks)
        st.caption("Each figure has a menu of its own files below it.")

    menu_when_open("Export", files, key="export", icon=":material/download:")


def save_figure(shown: Shown, chart: Callable[[], alt.LayerChart], file_name: str, what: str) -> None:
    """A menu of one figure as PNG, SVG and PDF, always on white, once it is final."""

    def files() -> None:
        for kind in ("png", "svg", "pdf"):
            label, name = f"{what} ({kind.upper()})", f"{file_name}.{kind}"
            download(shown.check, label, name, lambda kind=kind: drawn(chart(), kind), width="stretch")

    if not shown.result.provisional:
        menu_when_open(f"Save the {what}", files, key=what, icon=":material/download:", type="tertiary")


def drawn(chart: alt.LayerChart, kind: str) -> bytes:
    """A chart as a file, "png", "svg" or "pdf", drawn beside the process that serves."""
    exports = server.shared().exports
    with exports.turn():
        return exports.draw(chart, kind)


def download(check: Callable[[], None], label: str, file_name: str, make: Made, **looks: str | None) -> None:
    """A button for one file; `check` refuses whoever may not have it any more, see :class:`Shown`."""

    def content() -> bytes | str:
        check()
        return make()

    st.download_button(
        label,
        as_this_session(content),
        file_name=file_name,
        icon=":material/download:",
        on_click="ignore",
        **{"mime": _MEDIA_TYPES.get(file_name.rpartition(".")[2]), **looks},
    )


def page_theme() -> Theme:
    """Light or dark, as the browser shows the page."""
    return "dark" if st.context.theme.type == "dark" else "light"


def choose_page(result: RunResult, key: str) -> int:
    """Which page of the groups a chart shows, counted from 1; nothing is asked where one holds all."""
    pages = -(-len(result.groups) // PAGE)
    return int(st.pagination(pages, key=f"{key}-{pages}")) if pages > 1 else 1
