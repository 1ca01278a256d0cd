"""Where labels go on a scatter plot so that none lies on another or on a point."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

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

    Parameters
    ----------
    points : sequence of Point
        Every mark, labelled or not: labels keep clear of all.
    ranked : sequence of int
        Indices of the points to label, the most important first.
    height : float
        Plot height in pixels.
    avoid : sequence of (x, y)
        Places that labels leave free if they can, such as points along a line.

    Returns
    -------
    dict
        From a point's index to its label's place, free at every width of :data:`WIDTHS`.
    """
    marks = {width: [mark_box(point, width) for point in points] for width in WIDTHS}
    avoided = {width: [Box(x * width, y, x * width, y) for x, y in avoid] for width in WIDTHS}
    taken: dict[int, list[Box]] = {width: [] for width in WIDTHS}
    placed: dict[int, Spot] = {}
    for index in ranked:
        candidates = []
        for spot in _spots(points[index]):
            boxes = {width: label_box(points[index], spot, width) for width in WIDTHS}
            if all(
                _inside(box, width, height) and not _hits(box, marks[width], taken[width], index)
                for width, box in boxes.items()
            ):
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


def _inside(box: Box, width: float, height: float) -> bool:
    return box.left >= 0 and box.right <= width and box.top >= 0 and box.bottom <= height


def _hits(box: Box, marks: Sequence[Box], taken: Sequence[Box], own: int) -> bool:
    return any(box.overlaps(other) for other in taken) or any(
        box.overlaps(mark) for index, mark in enumerate(marks) if index != own
    )
