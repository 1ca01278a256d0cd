"""Tables of groups on wide screens and on phones."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler

from grasp_core.model.outcome import Significance
from grasp_core.model.result import RunResult
from grasp_core.report.charts import Theme
from grasp_core.report.charts.theme import palette
from grasp_core.report.tables import (
    RowOrder,
    column_label,
    dsi_table,
    label_use_by_group,
    label_use_numbers,
    results_table,
)
from grasp_core.report.words.label_use import format_points
from grasp_core.report.words.names import (
    FITTED,
    NOT_ESTIMABLE,
    SIGNIFICANCE_NAMES,
    STARS,
    WORDS,
    format_p_value,
    format_value,
)
from pages._ui.helpers.widgets import show_table

_GROUP, _VALUE = 140, 195
"""Pixels of both first columns, which 390 have room for."""
_ROWS_IN_FULL = 40


def show_phone_table(
    frame: pd.DataFrame, statistics: Sequence[str], permutations: int, *, p: bool, alt: str
) -> None:
    """Each group with a statistic's value, mark and interval in one cell."""
    values = {WORDS[name].name: _cells(frame, name) for name in statistics}
    cells: dict[str, Sequence[str]] = {}
    for name in statistics:
        cells[WORDS[name].name] = values[WORDS[name].name]
        for test in (f"{name}_p", f"{name}_q") if p else ():
            cells[column_label(test)] = [_p(one, permutations) for one in frame[test]]
    shown = pd.DataFrame({"Group": frame["group"], **cells, "Axis": frame["axis"], "Raters": frame["raters"]})
    show_table(
        shown,
        alt,
        height="content" if len(frame) <= _ROWS_IN_FULL else 640,
        column_config={
            "Group": st.column_config.Column(pinned=True, width=_GROUP),
            **{head: st.column_config.Column(width=_VALUE) for head in values},
        },
        placeholder=NOT_ESTIMABLE,
    )


def _p(value: float | str, permutations: int) -> str:
    """As a text; of a run that goes on it is one with its interval."""
    return value if isinstance(value, str) else format_p_value(_or_none(value), permutations=permutations)


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value


def _cells(frame: pd.DataFrame, name: str) -> list[str]:
    """Texts such as "1.590 ↑** [1.337, 1.843]"."""
    signs = [f"{name}_{sign}" for sign in ("arrow", "stars", "unsure", "fitted") if f"{name}_{sign}" in frame]
    marks = frame[signs].to_numpy().sum(axis=1).tolist()
    intervals = frame[f"{name}_interval"]
    return [
        " ".join(part for part in (format_value(_or_none(value)), mark, interval) if part)
        for value, mark, interval in zip(frame[name], marks, intervals, strict=True)
    ]


_TALL = 900
_WIDTHS = {"group": 200, "axis": 120}
_WORDS_WIDTH = 115
_SMALLEST_P = 0.0001
_STARS_OF = {"": "", **{SIGNIFICANCE_NAMES[mark]: stars for mark, stars in STARS.items()}}


def table_of_groups(
    result: RunResult,
    *,
    order: RowOrder,
    statistics: Sequence[str],
    axes: Sequence[str] = (),
    marked: Sequence[Significance] = (),
) -> pd.DataFrame:
    """The rows and statistics that are wanted, with every number."""
    frame = results_table(result, order=order)
    if axes:
        frame = frame[frame["axis"].isin(axes)]
    if marked:
        stars = frame[[f"{name}_stars" for name in statistics]]
        frame = frame[stars.isin([STARS[mark] for mark in marked]).any(axis=1)]
    return frame.reset_index(drop=True)


def show_groups_table(
    frame: pd.DataFrame, statistics: Sequence[str], theme: Theme, permutations: int, *, p: bool, alt: str
) -> None:
    """Numbers with their arrow and stars; with `p` intervals, and p and q with three digits, never 0.

    A screen reader gets the numbers under the styled text, so these are rounded, and the marks are
    in words of their own.
    """
    frame = frame.assign(marks=_marks(frame, statistics))
    shown = ["group", "axis", "raters"]
    for statistic in statistics:
        beside = ("interval", "p", "q") if p else ()
        shown += [statistic, *(f"{statistic}_{name}" for name in beside)]
    tests = [name for name in shown if name.endswith(("_p", "_q"))]
    rounded = frame[[*shown, "marks"]].round(3)
    so_far = f"{statistics[0]}_unsure" in frame
    if not so_far:
        rounded[tests] = frame[tests].clip(lower=_SMALLEST_P).round(4)
    signs = [
        sign for sign in ("arrow", "stars", "unsure", "fitted", "form") if f"{statistics[0]}_{sign}" in frame
    ]
    style = _with_marks(
        rounded,
        {
            statistic: frame[[f"{statistic}_{sign}" for sign in signs]].to_numpy().sum(axis=1).tolist()
            for statistic in statistics
        },
    )
    style = style.apply(_emphasis, subset=list(statistics), axis=None, frame=frame, theme=theme)
    show_table(
        style if so_far else _format_p(style, tests, permutations),
        alt,
        height="content" if len(frame) <= _ROWS_IN_FULL else _TALL,
        column_config={
            "marks": st.column_config.Column("Marked", width="medium"),
            **{name: _head(name, words=so_far or frame[name].isna().any()) for name in shown},
        },
        placeholder=NOT_ESTIMABLE,
    )


def _with_marks(rounded: pd.DataFrame, marks: Mapping[str, Sequence[str]]) -> Styler:
    """Each value with its mark, at once; then those apart whose equals in their column have another mark.

    Each step takes a millisecond of the server's time, and a step for every mark was most of a page.
    """
    of_value: dict[str, dict[float, str]] = {}
    apart: list[tuple[int, str, str]] = []
    for name, of_rows in marks.items():
        known = of_value[name] = {}
        for row, (value, mark) in enumerate(zip(rounded[name].tolist(), of_rows, strict=True)):
            if known.setdefault(value, mark) != mark:
                apart.append((row, name, mark))

    def text(value: float, mark: str) -> str:
        return f"{format_value(value)} {mark}".rstrip()

    style = rounded.style.format(
        {name: lambda v, known=known: text(v, known.get(v, "")) for name, known in of_value.items()}
    )
    for row, name, mark in apart:
        style = style.format(lambda v, mark=mark: text(v, mark), subset=pd.IndexSlice[[row], name])
    return style


def _marks(frame: pd.DataFrame, statistics: Sequence[str]) -> list[str]:
    """Per row the statistics that are marked, such as "GAI ↑**"."""
    by_statistic = [
        [
            f"{WORDS[name].name} {arrow}{stars}" if stars else ""
            for arrow, stars in zip(frame[f"{name}_arrow"], frame[f"{name}_stars"], strict=True)
        ]
        for name in statistics
    ]
    return [", ".join(filter(None, of_row)) for of_row in zip(*by_statistic, strict=True)]


def show_label_table(result: RunResult, theme: Theme) -> None:
    """Each group's points for every label, p and q: numbers, so that a click on a head sorts by them."""
    table, points = label_use_numbers(result)
    style = table.style
    if result.provisional:  # p and q are not numbers yet
        style = label_use_by_group(result).style
    else:
        tests = ["p", "q"]
        table[points] = table[points].round(1)
        table[tests] = table[tests].clip(lower=_SMALLEST_P).round(4)
        style = style.format(lambda value: format_points(value / 100), subset=points)
        style = _format_p(style, tests, result.permutations)
        words = table["Marked"].str.removesuffix(FITTED).str.strip()
        marked = pd.DataFrame({"q_stars": words.map(_STARS_OF)})
        style = style.apply(_emphasis, subset=["q"], axis=None, frame=marked, theme=theme)
    show_table(
        style,
        "Label use of every group, in percentage points",
        height="content" if len(table) <= _ROWS_IN_FULL else _TALL,
        column_config={"Group": st.column_config.Column(pinned=True, width=_WIDTHS["group"])},
        placeholder=NOT_ESTIMABLE,
    )


def show_dsi_table(result: RunResult) -> None:
    """The DSI of every axis with both tests."""
    fitted = ["stars"] if result.spec.analysis.tail else []
    shown = ["axis", "dsi", "group", "p", "q", *fitted, "p_group"]
    style = dsi_table(result)[shown].style.format(format_value, subset=["dsi"])
    column = st.column_config.Column
    show_table(
        _format_p(style, ["p_group"] if result.provisional else ["p", "q", "p_group"], result.permutations),
        "DSI by axis",
        column_config={
            "axis": "Axis",
            "dsi": "DSI",
            "group": "Attained by",
            "p": column("p", help="Against the largest that the groups of random groupings reach."),
            "q": column("q", help="p after correction over the axes."),
            "stars": "Marked",
            "p_group": column("p of that group", help="The attaining group's own, as in the paper."),
        },
        placeholder=NOT_ESTIMABLE,
    )


def why_not_estimable(frame: pd.DataFrame, statistics: Sequence[str]) -> list[str]:
    """One line per statistic and reason, with the groups it concerns."""
    lines = []
    for statistic in (name for name in statistics if frame[name].hasnans):
        missing = frame[frame[statistic].isna()]
        for reason, rows in missing.groupby(f"{statistic}_reason", sort=False):
            groups = "; ".join(rows["group"])
            lines.append(f"{WORDS[statistic].name} is not estimable for {groups}: {reason}.")
    return lines


def _head(column: str, *, words: bool) -> object:
    return st.column_config.Column(
        column_label(column),
        help=WORDS[column].explanation if column in WORDS else None,
        pinned=column == "group",
        width=_WIDTHS.get(column, _WORDS_WIDTH if words else None),
    )


def _format_p(style: Styler, columns: Sequence[str], permutations: int) -> Styler:
    return style.format(lambda value: format_p_value(value, permutations=permutations), subset=list(columns))


def _emphasis(cells: pd.DataFrame, frame: pd.DataFrame, theme: Theme) -> pd.DataFrame:
    colours = palette(theme).text
    css = {mark: f"color: {colours[name]}; font-weight: 600" for name, mark in STARS.items() if mark}
    return pd.DataFrame({name: [css.get(mark, "") for mark in frame[f"{name}_stars"]] for name in cells})
