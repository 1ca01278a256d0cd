"""Columns that make tables for people, programs and workbooks; tables of groups, label use and DSI."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from operator import attrgetter
from typing import Any, Literal, NamedTuple

import pandas as pd

from grasp_core.model.errors import SpecError
from grasp_core.model.groups import Group, axis_label, group_label, group_labels, named_group, one_line
from grasp_core.model.outcome import LabelUse, Outcome, Shift
from grasp_core.model.result import DsiResult, GroupResult, RunResult
from grasp_core.model.text import csv_text, safe_cell
from grasp_core.report.words import names
from grasp_core.report.words.label_use import foremost, format_points, format_points_interval

Kind = Literal["text", "count", "value", "end", "points", "p", "mark"]
Cell = str | float
FEWEST = 5
"""Fewest raters of a group that charts draw; in smaller groups a mark says little."""
IN_TABLES = "all numbers stand in the tables."
_NUMBERS: tuple[Kind, ...] = ("value", "end", "points", "p")


class Column(NamedTuple):
    """A column of a table; a view leaves the column out if its name there is empty.

    `of`: attribute of a row, or function of a row, that gives the cell.
    `head`: name for people; `write` makes the texts of their cells.
    `name`: name for programs; their cells are numbers, NaN if missing.
    `sheet`: name in a workbook, which shows the same numbers by their `kind`.
    """

    of: str | Callable[[Any], Any]
    head: str = ""
    write: Callable[[Any], Any] | None = None
    name: str = ""
    sheet: str = ""
    kind: Kind = "text"

    def cells(self, rows: Iterable[Any]) -> list[Any]:
        """The cell of each row, None if it has no number."""
        return list(map(attrgetter(self.of) if isinstance(self.of, str) else self.of, rows))

    def values(self, rows: Iterable[Any]) -> list[Any]:
        """The cells for programs, NaN if there is no number."""
        return list(map(or_nan, self.cells(rows))) if self.kind in _NUMBERS else self.cells(rows)

    def texts(self, rows: Iterable[Any]) -> list[Any]:
        """The cells for people."""
        return list(map(self.write, self.cells(rows))) if self.write else self.cells(rows)


class SheetColumn(NamedTuple):
    """A column of a workbook's sheet: its head, the kind of its cells, and the cells."""

    head: str
    kind: Kind
    cells: Sequence[Cell]


def texts(columns: Iterable[Column], rows: Sequence[Any]) -> pd.DataFrame:
    """A table for people."""
    cells = {one.head: one.texts(rows) for one in columns if one.head}
    return pd.DataFrame(cells, dtype=None if rows else "object")


def numbers(columns: Iterable[Column], rows: Sequence[Any]) -> pd.DataFrame:
    """A table for programs."""
    return pd.DataFrame({one.name: one.values(rows) for one in columns if one.name})


def sheet(columns: Iterable[Column], rows: Sequence[Any]) -> list[SheetColumn]:
    """A workbook's sheet."""
    return [SheetColumn(one.sheet, one.kind, one.values(rows)) for one in columns if one.sheet]


def csv_of(columns: Iterable[Column], rows: Sequence[Any], *, end: str = "\n") -> str:
    """A table for programs as CSV, at full precision; spreadsheets run none of its cells."""
    shown = [one for one in columns if one.name]

    def written(cell: Any, kind: Kind) -> object:
        return exact(cell) if kind in _NUMBERS else safe_cell(cell) if isinstance(cell, str) else cell

    cells = [[written(cell, one.kind) for cell in one.cells(rows)] for one in shown]
    return csv_text([safe_cell(one.name) for one in shown], zip(*cells, strict=True), end=end)


def or_nan(value: Any) -> Any:
    """Return the value, or NaN for None."""
    return float("nan") if value is None else value


def exact(value: float | None) -> str:
    """Write all digits of a value, for programs; empty for None."""
    return "" if value is None else repr(float(value))


OfRow = Callable[[GroupResult, str], Outcome]
"""Function from a group and a statistic to its outcome: as computed, or as people read it."""
RowOrder = Literal["axis", "effect", "q"]
"""Order of rows: as the run formed them (axis by axis), largest effect first, or smallest q first."""

OF_ROW = (
    Column(lambda row: axis_label(row.group.axes), "Axis", name="axis", sheet="Axis"),
    Column(lambda row: group_label(row.group), "Group", name="group", sheet="Group"),
    Column("n_raters", "Raters", name="raters", sheet="Raters", kind="count"),
    Column("n_annotations", "Annotations", name="annotations", sheet="Annotations", kind="count"),
)
"""Columns for the group of a row."""
_PARTS: tuple[tuple[str, str, Kind, Callable[[Outcome], Any]], ...] = (
    ("", "", "value", lambda one: one.value),
    ("_low", " from", "end", lambda one: ends(one)[0]),
    ("_high", " to", "end", lambda one: ends(one)[1]),
    ("", " ↑↓ *", "mark", lambda one: f"{names.arrow(one)}{names.signs(one)}"),
    ("_interval", " 95 % interval", "text", lambda one: names.format_interval(one.interval)),
    ("_arrow", " ↑↓", "text", names.arrow),
    ("_stars", " *", "text", lambda one: names.STARS[one.significance]),
    ("_p", " p", "p", lambda one: one.p),
    ("_q", " q", "p", lambda one: one.q),
    ("_form", " form", "text", names.form),
    ("_reason", " why", "text", lambda one: str(one.reason or "")),
    ("_unsure", "", "text", lambda one: names.MAY_CHANGE if names.may_change(one) else ""),
    ("_fitted", "", "text", lambda one: names.FITTED if one.fit is not None else ""),
)
"""Columns of a statistic: the end of a column's name and of its head, its kind, and its cell."""


def effect(outcome: Outcome) -> float | None:
    """Distance of the value from its null's median; None if either is not estimable."""
    if outcome.value is None or outcome.null_median is None:
        return None
    return abs(outcome.value - outcome.null_median)


def ordered_groups(
    result: RunResult, order: RowOrder = "axis", by: str | None = None
) -> tuple[GroupResult, ...]:
    """The groups in the row order that tables and figures share."""
    statistic = by or names.lead_statistic(result)
    if order == "axis":
        return result.groups
    if order not in ("effect", "q"):
        raise SpecError(f"`order` must be axis, effect or q; found {order!r}")

    def place(row: GroupResult) -> tuple[float, ...]:
        test = names.outcome_of(row, statistic)
        return _last(effect(test), -1) if order == "effect" else (*_last(test.q, 1), *_last(test.p, 1))

    return tuple(sorted(result.groups, key=place))


def large_groups(groups: Sequence[GroupResult]) -> Sequence[GroupResult]:
    """The groups that charts draw: groups with enough raters, or all if no group has enough."""
    return [row for row in groups if row.n_raters >= FEWEST] or groups


def not_drawn(groups: Sequence[GroupResult]) -> str:
    """Name the groups that charts do not draw, with their raters; empty if there are none."""
    named = zip(group_labels([row.group for row in groups]), groups, strict=True)
    few = [f"{name} ({row.n_raters})" for name, row in named if row.n_raters < FEWEST]
    if not few or len(few) == len(groups):
        return ""
    return f"Not drawn, of fewer than {FEWEST} raters: {'; '.join(few)}; {IN_TABLES}"


def _last(number: float | None, sign: int) -> tuple[bool, float]:
    return (True, 0.0) if number is None else (False, sign * number)


NO_VALUE = "is not estimable"


def lacking(result: RunResult, statistic: str) -> dict[tuple[str, str], list[str]]:
    """The groups whose statistic "is not estimable" or "has no mark", by these words and the reason."""
    groups: dict[tuple[str, str], list[str]] = {}
    titles = group_labels([row.group for row in result.groups])
    for name, row in zip(titles, result.groups, strict=True):
        outcome = names.outcome_of(row, statistic)
        if outcome.value is None or outcome.reason is not None:
            lacks = NO_VALUE if outcome.value is None else "has no mark"
            groups.setdefault((lacks, str(outcome.reason or "no reason given")), []).append(name)
    return groups


def results_table(
    result: RunResult, *, order: RowOrder = "axis", by: str | None = None, of: OfRow = names.outcome_of
) -> pd.DataFrame:
    """Table 5 with numbers: one row per group."""
    return numbers(columns_of_groups(result, of), ordered_groups(result, order, by))


def columns_of_groups(result: RunResult, of: OfRow = names.outcome_of) -> list[Column]:
    """Columns of the group, then value, interval and test of each statistic, whose outcome `of` gives."""
    hidden = {"_unsure"} if not result.provisional else set()
    hidden |= {"_fitted"} if not result.spec.analysis.tail else set()
    columns = [*OF_ROW]
    for name in names.reported_statistics(result):
        columns += [
            one for one in _of_statistic(name, result, of) if one.name.removeprefix(name) not in hidden
        ]
    return columns


def _of_statistic(
    name: str, result: RunResult | None = None, outcome_of: OfRow = names.outcome_of
) -> Iterator[Column]:
    words = names.WORDS[name].name
    so_far: dict[str, Callable[[Outcome], Any]] = {}
    if result and result.provisional:
        so_far["_p"] = lambda one: names.so_far(one.p, one.p_interval)
        so_far["_q"] = lambda one: names.so_far(one.q, one.q_interval)
    for part, head, kind, take in _PARTS:
        of, title = partial(_taken, so_far.get(part, take), outcome_of, name), f"{words}{head}"
        program, book = "" if kind == "mark" else f"{name}{part}", "" if kind == "text" else title
        yield Column(of, title, name=program, sheet=book, kind=kind)


def _taken(take: Callable[[Outcome], Any], of: OfRow, name: str, row: GroupResult) -> Any:
    return take(of(row, name))


def column_label(column: str) -> str:
    """The head of a :func:`results_table` column in words."""
    of_statistics = (one for name in names.WORDS for one in _of_statistic(name))
    return {one.name: one.head for one in (*OF_ROW, *of_statistics)}[column]


def wide_table(result: RunResult) -> pd.DataFrame:
    """Table 5 as printed in the paper: one text cell per group and statistic, such as ``0.540 ↓*``."""
    statistics = [_in_one_cell(name) for name in names.reported_statistics(result)]
    return texts([*OF_ROW, *statistics], result.groups)


def _in_one_cell(name: str) -> Column:
    return Column(partial(_taken, cell_text, names.shown_outcome, name), names.WORDS[name].name)


def explaining_groups(result: RunResult, row: GroupResult) -> tuple[Group, ...]:
    """Return the groups whose raters explain the difference of a group; empty if they are hidden.

    Clear groups are left out one after another, the strongest first. A group of another axis explains the
    difference alone. Groups of the same axis share no raters: all that were left out by then explain it.
    """
    by = None if row.verdict is None else row.verdict.by
    if by is None or by.axes != row.group.axes:
        return () if by is None else (by,)
    clear = [
        (one.p or 0.0, -(one.strength or 0.0), place)
        for place, other in enumerate(result.groups)
        if (one := other.verdict) and one.code == "clear" and other.group.axes == by.axes
    ]
    groups = [result.groups[place].group for _, _, place in sorted(clear)]
    return tuple(groups[: groups.index(by) + 1]) if by in groups else (by,)


def verdict_table(result: RunResult) -> pd.DataFrame:
    """A row for each group that is clear, explained or a hint; two halves of an axis share one row."""
    rows, told = [], set[Group]()
    for row in result.groups:
        verdict = row.verdict
        if verdict is None or verdict.code in ("none", "untestable") or row.group in told:
            continue
        both = [row.group] if verdict.other is None else [row.group, verdict.other]
        told |= set(both)
        rows.append(
            {
                "Axis": axis_label(row.group.axes),
                "Group": " and ".join(map(group_label, both)),
                "Verdict": verdict.code,
                "By": " and ".join(map(named_group, explaining_groups(result, row))),
                "Kinds": ", ".join(verdict.kinds),
                "p": names.format_p_value(verdict.p),
                "q": names.format_p_value(verdict.q),
            }
        )
    return pd.DataFrame(rows)


def lead_table(result: RunResult) -> pd.DataFrame:
    """A narrow table: the lead statistic with its p, or its p so far, then the others."""

    def p_cell(test: Outcome) -> str:
        return names.p_and_q_cells(test, result)[0]

    lead = names.lead_statistic(result)
    others = [_in_one_cell(name) for name in names.reported_statistics(result) if name != lead]
    columns = [
        *OF_ROW[:3],
        _in_one_cell(lead),
        Column(partial(_taken, p_cell, names.shown_outcome, lead), "p"),
        *others,
    ]
    return texts(columns, result.groups) if result.groups else pd.DataFrame()


def cell_text(outcome: Outcome) -> str:
    """Value, arrow and stars in one cell, with a question mark if these may still change."""
    unsure = names.MAY_CHANGE if names.may_change(outcome) else ""
    beside = f"{names.arrow(outcome)}{names.signs(outcome)}{unsure}".strip()
    return f"{names.format_value(outcome.value)} {beside}".rstrip()


def ordered_dsi(result: RunResult) -> tuple[DsiResult, ...]:
    """The axes, largest DSI first."""
    return tuple(sorted(result.dsi, key=lambda row: _last(row.outcome.value, -1)))


DSI = (
    Column(lambda row: axis_label(row.axes), "Axis", name="axis", sheet="Axis"),
    Column("outcome.value", "DSI", name="dsi", sheet="DSI", kind="value"),
    Column(lambda row: ends(row.outcome)[0], name="low", sheet="from", kind="end"),
    Column(lambda row: ends(row.outcome)[1], name="high", sheet="to", kind="end"),
    Column(lambda row: names.signs(row.outcome), sheet="*", kind="mark"),
    Column(
        lambda row: "" if row.group is None else group_label(row.group), name="group", sheet="Attained by"
    ),
    Column("outcome.p", name="p", sheet="p (against the largest of random groupings)", kind="p"),
    Column("outcome.q", name="q", sheet="q", kind="p"),
    Column(lambda row: names.signs(row.outcome), name="stars"),
    Column("p_group", name="p_group", sheet="p of that group", kind="p"),
    Column(
        lambda row: names.STARS[row.significance_group], *("", None, "stars_group", "* of that group", "mark")
    ),
    Column(lambda row: str(row.outcome.reason or ""), name="reason", sheet="Why not estimable"),
)
"""Columns of an axis's diversity sensitivity index."""


def shown_axes(result: RunResult) -> tuple[DsiResult, ...]:
    """:func:`ordered_dsi` as people read it, see :func:`~grasp_core.report.words.names.shown_dsi`."""
    return tuple(replace(row, outcome=names.shown_dsi(row, result.groups)) for row in ordered_dsi(result))


def ends(outcome: Outcome) -> tuple[float | None, float | None]:
    """An outcome's interval as two numbers."""
    interval = outcome.interval
    return (None, None) if interval is None else (interval.low, interval.high)


_MOST_COLUMNS = 6
"""Most labels that a table shows side by side; with more, each group shows the label that differs most."""


def with_label_use(result: RunResult) -> tuple[tuple[GroupResult, LabelUse], ...]:
    """The groups whose label use was computed."""
    return tuple((row, row.label_use) for row in result.groups if row.label_use is not None)


def drawn_labels(result: RunResult) -> tuple[str, ...]:
    """Labels with a figure each: all if they are few, else the labels that differ most for marked groups."""
    found = with_label_use(result)
    labels = dict.fromkeys(label for _, use in found for label in use.labels)
    if len(labels) == 2:  # one gains what the other loses
        return tuple(labels)[1:]
    if len(labels) <= _MOST_COLUMNS:
        return tuple(labels)
    foremost_of = {use.most for _, use in found if use.significance != "none"}
    return tuple(label for label in labels if label in foremost_of)[:_MOST_COLUMNS]


def label_use_by_group(result: RunResult, *, intervals: bool = False) -> pd.DataFrame:
    """One row for each group, with texts: points for each label, or for the label that differs most."""
    found, labels = with_label_use(result), _labels(result)
    few = len(labels) <= _MOST_COLUMNS
    heads = _apart([one_line(label) for label in labels]) if few else ["Label", "Points", "95 % interval"]
    rows = []
    for row, use in found:
        foremost_of = foremost(use)
        if few:
            shifts = [use.labels.get(label, Shift(None)) for label in labels]
            within = [f" {format_points_interval(shift)}" if intervals else "" for shift in shifts]
            cells = [
                f"{format_points(one.value)}{more}".rstrip() for one, more in zip(shifts, within, strict=True)
            ]
        elif foremost_of is None:
            cells = ["", names.NOT_ESTIMABLE, ""]
        else:
            label, shift = foremost_of
            cells = [one_line(label), format_points(shift.value), format_points_interval(shift)]
        named = (one.cells([row])[0] for one in OF_ROW[:3])
        rows.append([*named, *cells, *p_and_starred_q(use, result)])
    return pd.DataFrame(rows, columns=[*(one.head for one in OF_ROW[:3]), *heads, "p", "q"])


def label_use_numbers(result: RunResult) -> tuple[pd.DataFrame, list[str]]:
    """The table of :func:`label_use_by_group` with numbers in place of texts, and the heads of its points."""
    table, labels = label_use_by_group(result), _labels(result)
    uses = [use for _, use in with_label_use(result)]
    few = len(labels) <= _MOST_COLUMNS
    heads = list(table.columns[3:-2]) if few else ["Points"]
    shifts = [
        [use.labels.get(label) for label in labels] if few else [(foremost(use) or ("", None))[1]]
        for use in uses
    ]
    for head, of_groups in zip(heads, zip(*shifts, strict=True), strict=True):
        table[head] = [100 * or_nan(None if shift is None else shift.value) for shift in of_groups]
    table["p"] = [or_nan(use.p) for use in uses]
    table["q"] = [or_nan(use.q) for use in uses]
    marks = {**names.SIGNIFICANCE_NAMES, "none": ""}
    table["Marked"] = [f"{marks[use.significance]} {names.FITTED if use.fit else ''}".strip() for use in uses]
    return table, heads


def _labels(result: RunResult) -> list[str]:
    return list(dict.fromkeys(label for _, use in with_label_use(result) for label in use.labels))


def _apart(labels: Sequence[str]) -> list[str]:
    """Heads that differ from each other and from the table's own; numbered and quoted if they would not."""
    own = {"Axis", "Group", "Raters", "p", "q", "Marked"}
    plain = own.isdisjoint(labels) and len(set(labels)) == len(labels)
    return list(labels) if plain else [f"{place} “{label}”" for place, label in enumerate(labels, start=1)]


def p_and_starred_q(test: Outcome | LabelUse, result: RunResult) -> list[str]:
    """Cells of a test: p, and q with its stars and a question mark if these may still change."""
    p, q = names.p_and_q_cells(test, result)
    unsure = names.MAY_CHANGE if names.may_change(test) else ""
    return [p, f"{q}{unsure} {names.STARS[test.significance]}".rstrip()]
