"""The map as tables and files."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pandas as pd

from grasp_core.model.groups import AxisSet, Group
from grasp_core.model.spec import Level
from grasp_core.rater_map.values import MapAxis, MapGroup, MapPoint, RaterMap
from grasp_core.rater_map.words import clearest, percent
from grasp_core.report.table_csv import exact, safe_cell
from grasp_core.report.words.names import (
    SIGNIFICANCE_NAMES,
    axis_label,
    format_p_value,
    format_value,
    group_label,
)
from grasp_core.report.words.printable import printable_group, printable_name, printable_names

_DRAWN = 4
"""Axes by which a report's maps are coloured, at most."""


def printable_map(found: RaterMap) -> RaterMap:
    """The same map with every text :func:`~grasp_core.report.words.printable.printable`."""
    return replace(
        found,
        columns=printable_names(found.columns),
        axes=tuple(_axis(axis) for axis in found.axes),
        points=tuple(_point(point) for point in found.points),
    )


def drawn_axes(found: RaterMap) -> tuple[AxisSet, ...]:
    """The axis that disagreement follows most clearly, and others that hold after correction."""
    first = clearest(found)
    others = (axis for axis in found.axes if axis is not first and axis.significance == "corrected")
    return tuple(axis.axes for axis in (first, *others))[:_DRAWN]


def _axis(axis: MapAxis) -> MapAxis:
    groups = tuple(replace(row, group=printable_group(row.group)) for row in axis.groups)
    return replace(axis, axes=printable_names(axis.axes), groups=groups)


def _point(point: MapPoint) -> MapPoint:
    return replace(
        point, values=tuple(None if value is None else printable_name(value) for value in point.values)
    )


CSV_COLUMNS = (
    *("axis", "explained", "by_chance", "p", "q", "significance", "reason"),
    *("group", "n_raters", "within", "between"),
)
_GROUP_COLUMNS = ["Axis", "Group", "Raters", "Two of the group", "One of it, one other"]


def axes_table(found: RaterMap) -> pd.DataFrame:
    """What each axis explains, what random groupings do, and the test; a row per axis."""
    return pd.DataFrame(
        [
            {
                "Axis": axis_label(axis.axes),
                "Groups": len(axis.groups),
                "Explained": percent(axis.explained),
                "By chance": percent(axis.by_chance),
                "p": _tested(axis.p, found),
                "q": _tested(axis.q, found),
                "Result": SIGNIFICANCE_NAMES[axis.significance]
                if axis.p is not None
                else str(axis.reason or ""),
            }
            for axis in found.axes
        ]
    )


def _tested(value: float | None, found: RaterMap) -> str:
    return "" if value is None else format_p_value(value, permutations=found.permutations)


def groups_table(found: RaterMap, level: Level, group: Group | None = None) -> pd.DataFrame:
    """How far two raters differ inside each group, and one inside from one outside; a row per group."""
    rows = [
        (
            axis_label(axis.axes),
            group_label(row.group),
            row.n_raters,
            _distance(row.within, level),
            _distance(row.between, level),
        )
        for axis in found.axes
        for row in axis.groups
        if group is None or row.group == group
    ]
    return pd.DataFrame(rows, columns=_GROUP_COLUMNS)


def distance_words(level: Level) -> str:
    """What the numbers of :func:`groups_table` are."""
    if level == "nominal":
        return "Share of what both answered on which two raters differ, on the average over pairs."
    return "Mean squared distance of two raters' labels; 1 is that of two labels drawn at random."


def map_csv(found: RaterMap) -> str:
    """Axes and groups at full precision, a row per group."""
    written = io.StringIO()
    table = csv.writer(written, lineterminator="\n")
    table.writerow(CSV_COLUMNS)
    for axis in found.axes:
        head = [axis_label(axis.axes), *map(exact, (axis.explained, axis.by_chance, axis.p, axis.q))]
        head += [axis.significance, str(axis.reason or "")]
        for row in axis.groups or (None,):
            table.writerow([safe_cell(cell) for cell in (*head, *_cells(row))])
    return written.getvalue()


def _cells(row: MapGroup | None) -> tuple[str, ...]:
    if row is None:
        return ("",) * 4
    return group_label(row.group), str(row.n_raters), exact(row.within), exact(row.between)


def _distance(value: float | None, level: Level) -> str:
    return percent(value) if level == "nominal" else format_value(value)
