"""The map of raters as reports have it: with texts that can be seen, and by which axes it is drawn."""

from __future__ import annotations

from dataclasses import replace

from grasp_core.groups import AxisSet
from grasp_core.rater_map.values import MapAxis, MapPoint, RaterMap
from grasp_core.rater_map.words import clearest
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
