"""Label use: of a group, and of all groups."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import altair as alt

from grasp_core.model.groups import group_label
from grasp_core.model.outcome import Shift
from grasp_core.model.result import GroupResult, RunResult
from grasp_core.model.spec import LEVEL
from grasp_core.report.charts.theme import (
    LEFT,
    RIGHT,
    UP_TO_RIGHT,
    Theme,
    down,
    finish,
    message,
    padded,
    palette,
    rows,
    ticks,
    title,
    tooltip,
    written,
)
from grasp_core.report.words.label_use import format_points, format_points_interval
from grasp_core.report.words.names import NOT_YET, format_p

_ROW = 44
_TEXT, _BAR = 0.22, 0.68
_LABELS = 40
"""Labels that are drawn, those that differ most; the table beside the chart has all."""


def label_use_chart(result: RunResult, row: GroupResult, theme: Theme = "light") -> alt.LayerChart:
    """A bar per label to the left or right of 0, in percentage points, with its interval across it."""
    name = group_label(row.group)
    heading = title(
        "Label use",
        ["How much more or less often than the others", "on the same items, in percentage points."],
    )
    use = row.label_use
    if use is None or not any(shift.value is not None for shift in use.labels.values()):
        reason = "not part of this run" if use is None or use.reason is None else str(use.reason)
        return message(theme, heading=heading, text=f"There is no label use to show: {reason}.")
    found = {label: shift for label, shift in use.labels.items() if shift.value is not None}
    most = sorted(found, key=lambda label: -abs(found[label].value or 0.0))[:_LABELS]
    shown = [label for label in found if label in most]
    drawn = [_row(result, label, found[label], float(place)) for place, label in enumerate(shown)]
    said = "; ".join(f"{one['label']} {one['value']} {one['interval']}".rstrip() for one in drawn)
    alt_text = f"Label use of {name}, beside the others on the same items: {said}."
    layers = _layers(drawn, theme)
    return finish(layers, theme, heading=heading, alt_text=alt_text, height=_ROW * len(drawn))


def _row(result: RunResult, label: str, shift: Shift, place: float) -> dict[str, Any]:
    untested = NOT_YET if result.provisional else format_p(None)
    p = untested if shift.p is None else format_p(shift.p, permutations=result.permutations)
    return {
        "label": label,
        "x": None if shift.value is None else 100 * shift.value,
        "low": None if shift.low is None else 100 * shift.low,
        "high": None if shift.high is None else 100 * shift.high,
        "value": format_points(shift.value),
        "interval": format_points_interval(shift),
        "p": p,
        "marked": shift.p is not None and shift.p < LEVEL,
        "text": place + _TEXT,
        "bar": place + _BAR,
    }


def _layers(drawn: list[dict[str, Any]], theme: Theme) -> list[alt.Chart]:
    colours = palette(theme)
    ends = [0.0, *(one[end] for one in drawn for end in ("x", "low", "high") if one[end] is not None)]
    x = alt.X(
        "x:Q",
        scale=alt.Scale(domain=list(padded(ends, 0.06, 1.0)), nice=False),
        axis=alt.Axis(title="percentage points more often than the others", tickCount=ticks(), grid=False),
    )
    bar, text = (down(at, len(drawn)) for at in ("bar", "text"))
    base = alt.Chart(rows(drawn, "labels")).encode(
        tooltip=tooltip(label="Label", value="Difference", interval="95 % interval", p="p of this label")
    )
    shade = alt.condition(
        "datum.marked", alt.value(colours.significance["nominal"]), alt.value(colours.significance["none"])
    )
    told = base.transform_calculate(told="datum.value + '  ' + datum.interval + '  ' + datum.p")
    return [
        base.mark_rule(color=colours.grid, aria=False).encode(x=LEFT, x2=UP_TO_RIGHT, y=bar),
        base.mark_bar(size=15, opacity=0.75).encode(x=x, x2=alt.X2Datum(0), y=bar, color=shade),
        base.mark_tick(orient="vertical", size=22, color=colours.muted).encode(x=alt.XDatum(0), y=bar),
        base.transform_filter("isValid(datum.low)")
        .mark_rule(color=colours.ink, strokeWidth=1.8, strokeCap="round", aria=False)
        .encode(x=alt.X("low:Q"), x2=alt.X2("high:Q"), y=bar),
        written(base, "label", LEFT, text, limit=alt.expr("width - 215")),
        written(told, "told", RIGHT, text, "right"),
    ]


WIDTHS = (400, 520, 680, 860, 1100)
"""Plot widths in pixels at which labels must be free: the page decides which one it is."""
_CHARACTER = 6.4
_LINE = 15.0
_GAP = 5.0
_CLEAR = 3.0

Align = Literal["left", "right", "center"]


@dataclass(frozen=True, slots=True)
class Point:
    """A mark to be labelled: `x` as a share of the width, `y` and `radius` in pixels."""

    x: float
    y: float
    radius: float
    text: str


@dataclass(frozen=True, slots=True)
class Spot:
    """A label's offset from its point, in pixels."""

    dx: float
    dy: float
    align: Align


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle in pixels."""

    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: Box) -> bool:
        """Whether both cover some place."""
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )


def text_width(text: str) -> float:
    """Pixels that a 12-pixel label takes, estimated on the safe side."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return _CHARACTER * (len(text) + wide)


def texts_at(
    marks: Sequence[Mapping[str, Any]], points: Sequence[Point], placed: Mapping[int, Spot]
) -> list[dict[str, Any]]:
    """Rows of a chart's labels, at the `x` and `y` of their marks, for :func:`place`'s spots."""
    return [
        {
            "x": marks[index]["x"],
            "y": marks[index]["y"],
            "text": points[index].text,
            "dx": spot.dx,
            "dy": spot.dy,
            "align": spot.align,
        }
        for index, spot in placed.items()
    ]


def place(
    points: Sequence[Point],
    ranked: Sequence[int],
    *,
    height: float,
    avoid: Sequence[tuple[float, float]] = (),
) -> dict[int, Spot]:
    """Greedily place labels in order of importance; one that fits nowhere is left out.

    Of `points`, `ranked` are indices of those to label, the most important first; places of `avoid`
    are left free if they can be. A label is free at every width of :data:`WIDTHS`.
    """
    marks = {width: [mark_box(point, width) for point in points] for width in WIDTHS}
    avoided = {width: [Box(x * width, y, x * width, y) for x, y in avoid] for width in WIDTHS}
    taken: dict[int, list[Box]] = {width: [] for width in WIDTHS}
    placed: dict[int, Spot] = {}
    for index in ranked:
        candidates = []
        for spot in _spots(points[index]):
            boxes = {width: label_box(points[index], spot, width) for width in WIDTHS}
            free = all(
                box.left >= 0 and box.right <= width and box.top >= 0 and box.bottom <= height
                for width, box in boxes.items()
            ) and not any(
                box.overlaps(other)
                for width, box in boxes.items()
                for other in (*taken[width], *marks[width][:index], *marks[width][index + 1 :])
            )
            if free:
                crossings = sum(box.overlaps(at) for width, box in boxes.items() for at in avoided[width])
                candidates.append((crossings, spot, boxes))
        if candidates:
            _, placed[index], boxes = min(candidates, key=lambda candidate: candidate[0])
            for width, box in boxes.items():
                taken[width].append(box)
    return placed


def _spots(point: Point) -> list[Spot]:
    near = point.radius + _GAP
    slant = 0.7 * point.radius + 3
    above = point.radius + _LINE / 2 + 1
    return [
        Spot(near, 0, "left"),
        Spot(-near, 0, "right"),
        Spot(0, -above, "center"),
        Spot(0, above, "center"),
        Spot(slant, -slant - 3, "left"),
        Spot(slant, slant + 3, "left"),
        Spot(-slant, -slant - 3, "right"),
        Spot(-slant, slant + 3, "right"),
    ]


def label_box(point: Point, spot: Spot, width: float) -> Box:
    """The place that a label covers, at a plot of this width."""
    length = text_width(point.text)
    anchor = point.x * width + spot.dx
    left = anchor - {"left": 0.0, "right": length, "center": length / 2}[spot.align]
    middle = point.y + spot.dy
    return Box(left, middle - _LINE / 2, left + length, middle + _LINE / 2)


def mark_box(point: Point, width: float) -> Box:
    """The place around a mark that labels keep clear of, at a plot of this width."""
    x = point.x * width
    reach = point.radius + _CLEAR
    return Box(x - reach, point.y - reach, x + reach, point.y + reach)
