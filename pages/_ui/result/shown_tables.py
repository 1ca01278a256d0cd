"""Tables of a result as pages draw them: groups, labels, DSI, changes between two runs."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler

from grasp_core.model.outcome import Significance
from grasp_core.model.result import RunResult
from grasp_core.report import tables
from grasp_core.report.charts.theme import Theme, palette
from grasp_core.report.document import dsi_with_groups
from grasp_core.report.words import names as terms
from grasp_core.report.words.label_use import format_points
from pages._ui.helpers.widgets import page_theme, show_table
from pages._ui.result.cache import kept

_GROUP, _VALUE = 140, 195
"""Widths in pixels of the first two columns, which fit into 390."""
_TALLEST = 640
"""Most pixels of a table's height; a taller one scrolls below its heads, which stay in view."""
_ROW, _ROW_OF_LINES = 35, 66
"""Heights in pixels of a row of one line, and of a row with wrapped texts."""
_NAMES = 200, 340
"""Widths in pixels of the narrowest and the widest column of names, if there is room."""
_LETTER, _MARGIN = 6.5, 20
"""Pixels of a name's letter, and of the space around the name."""
_SIGNS = ("arrow", "stars", "unsure", "fitted", "form")
_AXIS_WIDTH = 120
_WORDS_WIDTH = 115
_SMALLEST_P = 0.0001
_STARS_OF = {"": "", **{terms.SIGNIFICANCE_NAMES[mark]: stars for mark, stars in terms.STARS.items()}}


def groups_table(
    key: str,
    result: RunResult,
    statistics: Sequence[str],
    order: tables.RowOrder = "axis",
    *,
    axes: Sequence[str] = (),
    marked: Sequence[Significance] = (),
    p: bool = False,
    alt: str,
    name: str,
    on_row: Callable[[str], None],
) -> list[str] | None:
    """Draw the groups that pass the filters, each `name` once a page; return why values are missing."""
    lead, theme = terms.lead_statistic(result), page_theme()
    columns = sorted(statistics, key=lambda one: one != lead)  # visible without scrolling sideways

    frame = kept(
        key,
        f"table {order}",
        result,
        lambda: tables.results_table(result, order=order, of=terms.shown_outcome),
    )
    if axes:
        frame = frame[frame["axis"].isin(axes)]
    if marked:
        stars = frame[[f"{name}_stars" for name in columns]]
        frame = frame[stars.isin([terms.STARS[mark] for mark in marked]).any(axis=1)]
    frame = frame.reset_index(drop=True)
    if frame.empty:
        return None

    def rows(where: str) -> dict[str, Any]:
        table = f"rows-{name}-{where}"

        def choose() -> None:
            chosen = st.session_state[table].selection.rows
            if chosen:
                on_row(frame["group"][chosen[0]])

        return {"key": table, "on_select": choose, "selection_mode": "single-row"}

    many = result.permutations
    with st.container(key=f"on-screens-{name}"):
        show_groups_table(frame, columns, theme, many, p=p, alt=alt, **rows("screens"))
    with st.container(key=f"on-phones-{name}"):
        show_phone_table(frame, columns, many, p=p, alt=f"{alt}, in short", **rows("phones"))
    return why_not_estimable(frame, columns)


def show_phone_table(
    frame: pd.DataFrame, statistics: Sequence[str], permutations: int, *, p: bool, alt: str, **looks: Any
) -> None:
    """Draw each group with a statistic's value, mark and interval in one cell."""

    def p_text(value: float | str) -> str:
        so_far = isinstance(value, str)  # of an unfinished run it is a text with its interval
        return value if so_far else terms.format_p_value(_or_none(value), permutations=permutations)

    cells: dict[str, Sequence[str]] = {}
    for name in statistics:
        cells[terms.WORDS[name].name] = _cells(frame, name)
        for test in (f"{name}_p", f"{name}_q") if p else ():
            cells[tables.column_label(test)] = [p_text(one) for one in frame[test]]
    table = pd.DataFrame({"Group": frame["group"], **cells, "Axis": frame["axis"], "Raters": frame["raters"]})
    heads = {terms.WORDS[name].name: st.column_config.Column(width=_VALUE) for name in statistics}
    heads["Group"] = st.column_config.Column(pinned=True, width=_GROUP)
    _show(table, alt, len(table), heads, row=_row(table["Group"], _GROUP), **looks)


def _show(
    rows: object, alt: str, length: int, heads: Mapping[str, object], *, row: int = _ROW, **looks: Any
) -> None:
    height = "content" if row * length + _ROW <= _TALLEST else _TALLEST
    looks = {"row_height": row, "column_config": heads, "placeholder": terms.NOT_ESTIMABLE, **looks}
    show_table(rows, alt, height=height, **looks)


def _row(names: pd.Series, width: int) -> int:
    """Return a row's height in pixels, so that no name in a column of this width is cut."""
    return _ROW if _wide(names) <= width else _ROW_OF_LINES


def _wide(names: pd.Series) -> int:
    """Return the pixels of the longest name in one line."""
    return round(_LETTER * names.str.len().max() + _MARGIN)


def _names(names: pd.Series, label: str) -> object:
    """Return the settings of a column of names, as wide as the longest, up to a limit."""
    width = min(max(_wide(names), _NAMES[0]), _NAMES[1])
    return st.column_config.Column(label, pinned=True, width=width)


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value


def _signs(frame: pd.DataFrame, name: str, *kinds: str) -> list[str]:
    there = [f"{name}_{kind}" for kind in kinds if f"{name}_{kind}" in frame]
    return frame[there].to_numpy().sum(axis=1).tolist()


def _cells(frame: pd.DataFrame, name: str) -> list[str]:
    """Return texts such as "1.590 ↑** [1.337, 1.843]"."""
    marks, intervals = _signs(frame, name, *_SIGNS), frame[f"{name}_interval"]
    return [
        " ".join(part for part in (terms.format_value(_or_none(value)), mark, interval) if part)
        for value, mark, interval in zip(frame[name], marks, intervals, strict=True)
    ]


def show_groups_table(
    frame: pd.DataFrame,
    statistics: Sequence[str],
    theme: Theme,
    permutations: int,
    *,
    p: bool,
    alt: str,
    **looks: Any,
) -> None:
    """Draw numbers with arrow and stars; with `p` also intervals, and p and q with three digits, never 0.

    A screen reader gets the numbers below the styled text, so these are rounded, and the marks have a column
    of their own in words.
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
    style = _with_marks(rounded, {name: _signs(frame, name, *_SIGNS) for name in statistics})
    style = style.apply(_emphasis, subset=list(statistics), axis=None, frame=frame, theme=theme)
    style = style if so_far else _format_p(style, tests, permutations)
    heads = {name: _head(name, words=so_far or frame[name].isna().any()) for name in shown}
    heads["group"] = _names(frame["group"], tables.column_label("group"))
    heads["marks"] = st.column_config.Column("Marked", width="medium")
    _show(style, alt, len(frame), heads, row=_row(frame["group"], _NAMES[1]), **looks)


def _with_marks(rounded: pd.DataFrame, marks: Mapping[str, Sequence[str]]) -> Styler:
    """Format each value with its mark in one step; then values whose equals in the column have another mark.

    Each step takes a millisecond of the server's time; a step for every mark was most of a page's work.
    """
    of_value: dict[str, dict[float, str]] = {}
    apart: list[tuple[int, str, str]] = []
    for name, of_rows in marks.items():
        known = of_value[name] = {}
        for row, (value, mark) in enumerate(zip(rounded[name].tolist(), of_rows, strict=True)):
            if known.setdefault(value, mark) != mark:
                apart.append((row, name, mark))

    def text(value: float, mark: str) -> str:
        return f"{terms.format_value(value)} {mark}".rstrip()

    style = rounded.style.format(
        {name: lambda v, known=known: text(v, known.get(v, "")) for name, known in of_value.items()}
    )
    for row, name, mark in apart:
        style = style.format(lambda v, mark=mark: text(v, mark), subset=pd.IndexSlice[[row], name])
    return style


def _marks(frame: pd.DataFrame, statistics: Sequence[str]) -> list[str]:
    """Return the marked statistics of each row, such as "GAI ↑**"."""
    by_statistic = [
        [
            f"{terms.WORDS[name].name} {arrow}{stars}" if stars else ""
            for arrow, stars in zip(frame[f"{name}_arrow"], frame[f"{name}_stars"], strict=True)
        ]
        for name in statistics
    ]
    return [", ".join(filter(None, of_row)) for of_row in zip(*by_statistic, strict=True)]


def show_label_table(result: RunResult, theme: Theme) -> None:
    """Draw each group's points for every label, p and q as numbers, so that a click on a head sorts them."""
    table, points = tables.label_use_numbers(result)
    style = table.style
    if result.provisional:  # p and q are not numbers yet
        style = tables.label_use_by_group(result).style
    else:
        tests = ["p", "q"]
        table[points] = table[points].round(1)
        table[tests] = table[tests].clip(lower=_SMALLEST_P).round(4)
        style = style.format(lambda value: format_points(value / 100), subset=points)
        style = _format_p(style, tests, result.permutations)
        named = table["Marked"].str.removesuffix(terms.FITTED).str.strip()
        marked = pd.DataFrame({"q_stars": named.map(_STARS_OF)})
        style = style.apply(_emphasis, subset=["q"], axis=None, frame=marked, theme=theme)
    heads, row = {"Group": _names(table["Group"], "Group")}, _row(table["Group"], _NAMES[1])
    _show(style, "Label use of every group, in percentage points", len(table), heads, row=row)


def show_dsi_table(result: RunResult) -> None:
    """Draw the DSI of every axis with both tests."""
    told = {
        "p": "Against the largest that the groups of random groupings reach.",
        "q": "p after correction over the axes.",
        "p of that group": "The attaining group's own, as in the paper.",
    }
    heads = {name: st.column_config.Column(help=more) for name, more in told.items()}
    show_table(dsi_with_groups(result), "DSI by axis", column_config=heads)


def show_changes(table: pd.DataFrame, alt: str, a: str = "A", b: str = "B") -> None:
    """Draw the changes from run `a` to run `b`; `table` comes from :func:`changes_table`."""
    numbers = ["moved", "q_a", "q_b", "q_moved"]
    table[numbers] = table[numbers].round(4)
    style = table.style.format(
        lambda value: f"{value:+.3f}".replace("-", terms.MINUS),
        subset=["moved", "q_moved"],
        na_rep=terms.NOT_ESTIMABLE,
    )
    style = style.format(terms.format_p_value, subset=["q_a", "q_b"])
    column = st.column_config.Column
    heads: dict[str, Any] = {"axis": "Axis", "model": "Model", "statistic": "Statistic", "a": a, "b": b}
    heads |= {"moved": f"{b} − {a}", "moved_interval": f"95 % interval of {b} − {a}"}
    heads |= {"q_a": f"q of {a}", "q_b": f"q of {b}", "q_moved": f"q of {b} − q of {a}"}
    heads |= {name: column(name.capitalize(), pinned=True) for name in ("pair", "slice", "group")}
    heads["significance"] = column("Significance", width="medium")
    _show(style, alt, len(table), heads)


def why_not_estimable(frame: pd.DataFrame, statistics: Sequence[str]) -> list[str]:
    """Return one line for each statistic and reason, with the groups it concerns."""
    lines = []
    for statistic in (name for name in statistics if frame[name].hasnans):
        missing = frame[frame[statistic].isna()]
        for reason, rows in missing.groupby(f"{statistic}_reason", sort=False):
            groups = "; ".join(rows["group"])
            lines.append(f"{terms.WORDS[statistic].name} is not estimable for {groups}: {reason}.")
    return lines


def _head(column: str, *, words: bool) -> object:
    return st.column_config.Column(
        tables.column_label(column),
        help=terms.WORDS[column].explanation if column in terms.WORDS else None,
        width=_AXIS_WIDTH if column == "axis" else _WORDS_WIDTH if words else None,
    )


def _format_p(style: Styler, columns: Sequence[str], permutations: int) -> Styler:
    return style.format(
        lambda value: terms.format_p_value(value, permutations=permutations), subset=list(columns)
    )


def _emphasis(cells: pd.DataFrame, frame: pd.DataFrame, theme: Theme) -> pd.DataFrame:
    colours = palette(theme).text
    css = {mark: f"color: {colours[name]}; font-weight: 600" for name, mark in terms.STARS.items() if mark}
    return pd.DataFrame({name: [css.get(mark, "") for mark in frame[f"{name}_stars"]] for name in cells})
