"""Map of raters: a mark per rater, coloured by the groups of one axis."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import partial
from statistics import fmean
from typing import Any

import altair as alt

from grasp_core.analysis.rater_map_values import MapAxis, RaterMap
from grasp_core.model.groups import AxisSet, Group, axis_label, group_label
from grasp_core.model.text import number
from grasp_core.report.charts.labels import Point, place, texts_at
from grasp_core.report.charts.theme import (
    Theme,
    exactly,
    finish,
    message,
    on_halo,
    padded,
    palette,
    rows,
    title,
    tooltip,
)
from grasp_core.report.words.names import format_p

_HEIGHT = 440
_MOST = 8
"""Groups with a colour and a shape of their own."""
_SHAPES = (
    *("circle", "square", "triangle-up", "diamond"),
    *("cross", "triangle-down", "triangle-right", "triangle-left"),
)
_COLOURS: Mapping[Theme, tuple[str, ...]] = {
    "light": ("#0072B2", "#D55E00", "#00795A", "#A6418A", "#8A6A00", "#5A46B2", "#333333", "#B3243F"),
    "dark": ("#6CB8F0", "#FF8A3D", "#6FE0BD", "#E99AC9", "#F0D442", "#B7A8FF", "#FFFFFF", "#FF7E8E"),
}
OTHERS = "other raters"
_NAME = 24
_LEGEND_COLUMNS = "max(1, floor(width / 190))"


def rater_map_chart(
    found: RaterMap, axes: AxisSet, theme: Theme = "light", group: Group | None = None
) -> alt.LayerChart:
    """The map, coloured by the groups of `axes`, or by one `group` of theirs and all others.

    Raters of further groups, and those whose group is not told, are drawn as others.
    """
    called = "Map of raters" if found.reason is not None else f"Map of raters by {axis_label(axes)}"
    if found.reason is not None:
        return message(theme, heading=title(called, ""), text=f"{found.reason}.")
    (axis,) = (one for one in found.axes if one.axes == axes)
    marks = _marks(found, axis, group)
    names = [name for name, _ in Counter(mark["group"] for mark in marks).most_common() if name != OTHERS]
    heading = title(called, ["Raters who answer alike stand near each other.", _told(axis)])
    times = Counter(mark["group"] for mark in marks)
    listed = ", ".join(f"{name} ({times[name]:,})" for name in (*names, OTHERS) if times[name])
    told = (
        f"Map of {number(len(marks), 'rater')} by {axis_label(axis.axes)}: {listed}. "
        f"It shows {100 * sum(found.variance):.1f} % of the variance. {_told(axis)}"
    )
    return finish(_layers(found, marks, names, theme), theme, heading=heading, alt_text=told, height=_HEIGHT)


def _marks(found: RaterMap, axis: MapAxis, group: Group | None) -> list[dict[str, Any]]:
    """A mark per point; too few others are left out."""
    columns = [found.columns.index(name) for name in axis.axes]
    drawn = [(point, tuple(point.values[column] for column in columns)) for point in found.points]
    times = Counter(values for _, values in drawn)
    known: dict[tuple[str | None, ...], str] = {
        row.group.values: group_label(row.group) for row in axis.groups
    }
    ranked = sorted((values for values in known if times[values]), key=lambda values: -times[values])
    chosen = ranked[:_MOST] if group is None else [group.values]
    named = {values: known[values] for values in chosen if values in known}
    marks = [{"x": one.x, "y": one.y, "group": named.get(values, OTHERS)} for one, values in drawn]
    others = sum(mark["group"] == OTHERS for mark in marks)
    return [mark for mark in marks if mark["group"] != OTHERS or others >= found.least]


def _told(axis: MapAxis) -> str:
    if axis.explained is None or axis.by_chance is None:
        return f"{axis_label(axis.axes)}: {axis.reason}."
    q = f", {format_p(axis.q, name='q')}" if axis.q is not None else ""
    return f"Explained {100 * axis.explained:.1f} %, by chance {100 * axis.by_chance:.1f} %{q}."


def _layers(found: RaterMap, marks: list[dict[str, Any]], names: list[str], theme: Theme) -> list[alt.Chart]:
    colours = palette(theme)
    own = {name: [mark for mark in marks if mark["group"] == name] for name in names}
    centres: list[dict[str, Any]] = [
        {
            "group": name,
            "x": fmean(mark["x"] for mark in of_group),
            "y": fmean(mark["y"] for mark in of_group),
            "raters": f"{len(of_group):,}",
        }
        for name, of_group in own.items()
    ]
    domain = [*names, *([OTHERS] if any(mark["group"] == OTHERS for mark in marks) else [])]
    across, up = (padded([mark[field] for mark in marks] or [0.0], 0.06, 0.05) for field in ("x", "y"))
    first, second = (f"{100 * share:.1f} % of the variance" for share in found.variance)
    axis = partial(alt.Axis, labels=False, tickCount=5)
    at: dict[str, Any] = {
        "x": alt.X("x:Q", scale=exactly(across), axis=axis(title=f"First direction: {first}")),
        "y": alt.Y("y:Q", scale=exactly(up), axis=axis(title=f"Second direction: {second}")),
    }
    legend = alt.Legend(
        title=None,
        orient="top",
        columns=alt.ExprRef(_LEGEND_COLUMNS),
        symbolSize=90,
        symbolOpacity=1,
        labelLimit=alt.ExprRef(f"width / {_LEGEND_COLUMNS} - 30"),
        offset=4,
    )
    colour, shape = (
        kind(
            "group:N",
            scale=alt.Scale(domain=domain, range=[*looks[: len(names)], other][: len(domain)]),
            legend=legend,
        )
        for kind, looks, other in (
            (alt.Color, _COLOURS[theme], colours.muted),
            (alt.Shape, _SHAPES, "circle"),
        )
    )
    points = [  # names beside the groups' middles, where they fit
        Point(
            (row["x"] - across[0]) / (across[1] - across[0]),
            _HEIGHT * (up[1] - row["y"]) / (up[1] - up[0]),
            8,
            row["group"] if len(row["group"]) <= _NAME else f"{row['group'][: _NAME - 1].rstrip()}…",
        )
        for row in centres
    ]
    labels = texts_at(centres, points, place(points, range(len(points)), height=_HEIGHT))
    text = alt.Chart(rows(labels, "names")).encode(**at, text=alt.Text("text:N"))
    others_first = sorted(marks, key=lambda mark: mark["group"] != OTHERS)
    middle = alt.Chart(rows(centres, "centres"))
    return [
        alt.Chart(rows(others_first, "raters"))
        .mark_point(filled=True, size=45, opacity=0.75)
        .encode(**at, color=colour, shape=shape, tooltip=tooltip(group="Group")),
        middle.mark_point(filled=True, size=260, opacity=1, stroke=colours.background, strokeWidth=2).encode(
            **at, color=colour, shape=shape, tooltip=tooltip(group="Middle of", raters="Marks")
        ),
        *on_halo(text, theme, weight=600),
    ]
