"""The map of raters in sentences, tables and files."""

import pandas as pd

from grasp_core.analysis.rater_map import LEAST_COMMON
from grasp_core.analysis.rater_map_values import MapAxis, MapGroup, RaterMap
from grasp_core.model.groups import AxisSet, Group, axis_label, group_label
from grasp_core.model.spec import Level
from grasp_core.model.text import Sentence, agree, csv_text, number, safe_cell, strong
from grasp_core.report.tables import Column, exact, texts
from grasp_core.report.words.names import SIGNIFICANCE_NAMES, TEXTS, format_p, format_p_value, format_value

EXPLANATION: str = TEXTS["explained"]["map"]
_LITTLE = 0.3
"""Share of the variance below which a sentence warns that distances on the map say little."""


def sentences(found: RaterMap, level: Level) -> list[Sentence]:
    """Sentences on the axes that disagreement follows, how far raters differ, and what the map shows."""
    if found.reason is not None:
        return [Sentence.of(strong("There is no map of raters"), f": {found.reason}.")]
    two = f"are on average {format_value(found.between)} times as far apart as two labels drawn at random"
    if level == "nominal":
        two = f"differ on average on {percent(found.between)} of what both answered"
    across, up = found.variance
    shown = (
        f"The map shows {percent(across + up)} of the differences between raters, {percent(across)} across "
        f"and {percent(up)} up"
    )
    if across + up < _LITTLE:
        shown += ": so little that raters who stand near each other need not agree"
    said = [f"Two raters {two}.", f"{shown}.", *_not_drawn(found)]
    return [*_of_axes(found), *(Sentence.of(one) for one in said)]


def _of_axes(found: RaterMap) -> list[Sentence]:
    tested = [axis for axis in found.axes if axis.explained is not None]
    tested.sort(key=_excess, reverse=True)
    holding = [axis for axis in tested if axis.significance == "corrected"]
    said = [
        Sentence.of(strong(f"{axis_label(axis.axes)} explains"), f" {_shares(axis, found.permutations)}.")
        for axis in holding
    ]
    if holding:
        least = percent(1 - max(axis.explained or 0 for axis in holding))
        inside = f"At least {least} of the disagreement is between raters of the same group."
        said.append(Sentence.of(f"{inside} The verdicts say which groups differ."))
    elif tested:
        most = f"; most of all {axis_label(tested[0].axes)}: {_shares(tested[0], found.permutations)}."
        none = strong("No axis explains more of the disagreement between raters than luck would")
        said.append(Sentence.of(none, most))
    untested = [axis for axis in found.axes if axis.explained is None]
    return [*said, *(Sentence.of(f"{axis_label(axis.axes)}: {axis.reason}.") for axis in untested)]


def _excess(axis: MapAxis) -> float:
    return (axis.explained or 0) - (axis.by_chance or 0)


def _shares(axis: MapAxis, permutations: int) -> str:
    more = 100 * _excess(axis)
    beyond = f"{abs(more):.1f} points {'more' if more >= 0 else 'less'} than random groupings do"
    tested = [
        format_p(value, name=name, permutations=permutations)
        for name, value in (("p", axis.p), ("q", axis.q))
        if value is not None
    ]
    share = f"{percent(axis.explained)} of the disagreement between raters, {beyond}"
    return share + (f" ({', '.join(tested)})" if tested else "")


def _not_drawn(found: RaterMap) -> list[str]:
    said = []
    if found.n_drawn < found.n_raters:
        said.append(f"Of {number(found.n_raters, 'rater')}, {found.n_drawn:,} were drawn at random.")
    gone = found.n_drawn - found.n_placed
    if gone:
        said.append(
            f"{number(gone, 'rater')} {agree(gone, 'shares', 'share')} {LEAST_COMMON} answers with fewer "
            f"than half of the others and {agree(gone, 'is', 'are')} left out."
        )
    if found.neutral:
        said.append(
            f"{found.neutral:,} of {number(found.pairs, 'pair')} share fewer than {LEAST_COMMON} answers and "
            "count as neither near nor far."
        )
    if found.n_reduced:
        said.append(
            f"{number(found.n_reduced, 'rater')} {agree(found.n_reduced, 'is', 'are')} shown with some "
            f"values only, since fewer than {found.least} raters have all of them."
        )
    hidden = found.n_placed - len(found.points)
    if hidden:
        said.append(f"{number(hidden, 'rater')} {agree(hidden, 'is', 'are')} not shown for the same reason.")
    return said


def percent(share: float | None) -> str:
    """A share in percent, with one decimal."""
    return format_value(None) if share is None else f"{100 * share:.1f} %"


def clearest(found: RaterMap) -> MapAxis:
    """The axis that disagreement follows most clearly: the one with the smallest q."""
    return min(found.axes, key=lambda axis: 1.0 if axis.q is None else axis.q)


_DRAWN = 4
"""Largest number of axes for which a report has a coloured map."""


def drawn_axes(found: RaterMap) -> tuple[AxisSet, ...]:
    """The axis that disagreement follows most clearly, and others significant after correction."""
    first = clearest(found)
    others = (axis for axis in found.axes if axis is not first and axis.significance == "corrected")
    return tuple(axis.axes for axis in (first, *others))[:_DRAWN]


CSV_COLUMNS = (
    *("axis", "explained", "by_chance", "p", "q", "significance", "reason"),
    *("group", "n_raters", "within", "between"),
)


def axis_columns(found: RaterMap) -> tuple[Column, ...]:
    """Columns of each axis: the share that it explains, the share by chance, and the test."""

    def tested(value: float | None) -> str:
        return "" if value is None else format_p_value(value, permutations=found.permutations)

    def outcome(axis: MapAxis) -> str:
        return str(axis.reason or "") if axis.p is None else SIGNIFICANCE_NAMES[axis.significance]

    return (
        Column(lambda axis: axis_label(axis.axes), "Axis", name="axis", sheet="Axis"),
        Column(lambda axis: len(axis.groups), "Groups", name="groups", sheet="Groups", kind="count"),
        Column("others", sheet="Other raters", kind="count"),
        Column("explained", "Explained", percent, "explained", "Share explained", "value"),
        Column("by_chance", "By chance", percent, "by_chance", "by chance", "value"),
        Column("p", "p", tested, "p", "p", "p"),
        Column("q", "q", tested, "q", "q", "p"),
        Column("significance", name="mark"),
        Column(lambda axis: None if axis.reason is None else str(axis.reason), name="reason"),
        Column(lambda axis: str(axis.reason or ""), sheet="Why not tested"),
        Column(outcome, "Result"),
    )


def group_columns(level: Level = "nominal") -> tuple[Column, ...]:
    """Columns of each group: how far two of its raters differ, and one of them from a rater outside."""
    write = percent if level == "nominal" else format_value
    return (
        Column(lambda row: axis_label(row.group.axes), "Axis", name="axis", sheet="Axis"),
        Column(lambda row: group_label(row.group), "Group", name="group", sheet="Group"),
        Column("n_raters", "Raters", name="raters", sheet="Raters on the map", kind="count"),
        Column("within", "Two of the group", write, "within", "Two of the group", "value"),
        Column("between", "One of it, one other", write, "between", "One of it, one other", "value"),
    )


def groups_of(found: RaterMap) -> list[MapGroup]:
    """The groups of all axes."""
    return [row for axis in found.axes for row in axis.groups]


def axes_table(found: RaterMap) -> pd.DataFrame:
    """A row per axis, for people."""
    return texts(axis_columns(found), found.axes)


def groups_table(found: RaterMap, level: Level, group: Group | None = None) -> pd.DataFrame:
    """A row per group, or only the row of one group, for people."""
    return texts(group_columns(level), [row for row in groups_of(found) if group in (None, row.group)])


def distance_words(level: Level) -> str:
    """Explain the numbers of :func:`groups_table`."""
    if level == "nominal":
        return "Share of what both answered on which two raters differ, on the average over pairs."
    return "Mean squared distance of two raters' labels; 1 is that of two labels drawn at random."


def map_csv(found: RaterMap) -> str:
    """Axes and groups at full precision, a row per group."""
    rows = []
    for axis in found.axes:
        head = [axis_label(axis.axes), *map(exact, (axis.explained, axis.by_chance, axis.p, axis.q))]
        head += [axis.significance, str(axis.reason or "")]
        for row in axis.groups or (None,):
            cells = [""] * 4
            if row is not None:
                cells = [group_label(row.group), str(row.n_raters), exact(row.within), exact(row.between)]
            rows.append([safe_cell(cell) for cell in (*head, *cells)])
    return csv_text(CSV_COLUMNS, rows)
