"""Maps of groups by cohesion and of raters by agreement, with labels beside marks if there is room."""

import math
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean, median
from typing import Any, Literal

import altair as alt

from grasp_core.analysis.rater_map_values import MapAxis, RaterMap
from grasp_core.model.groups import AxisSet, Group, axis_label, group_label, group_labels
from grasp_core.model.result import RunResult
from grasp_core.model.text import number
from grasp_core.report.charts import theme as draw
from grasp_core.report.tables import large_groups, not_drawn
from grasp_core.report.words import names

WIDTHS = (400, 520, 680, 860, 1100)
"""Plot widths in pixels at which no label may overlap; the page decides the actual width."""
_CHARACTER, _LINE, _GAP, _CLEAR = 6.4, 15.0, 5.0, 3.0
"""Pixels of a letter, of a line, between a mark and its label, and around marks of other labels."""

Domain = tuple[float, float]
Align = Literal["left", "right", "center"]


@dataclass(frozen=True, slots=True)
class LabelledPoint:
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

    def overlaps(self, other: "Box") -> bool:
        """Return whether two boxes overlap."""
        beside = self.left < other.right and other.left < self.right
        return beside and self.top < other.bottom and other.top < self.bottom


def place_labels(
    points: Sequence[LabelledPoint],
    ranked: Sequence[int],
    *,
    height: float,
    avoid: Sequence[tuple[float, float]] = (),
) -> dict[int, Spot]:
    """Greedily place labels in order of importance; one that fits nowhere is left out.

    `ranked` are indices of the points to label, most important first. Labels stay clear of the positions in
    `avoid` if they can. A label overlaps no mark or label at any width of :data:`WIDTHS`.
    """
    marks = {width: [mark_box(point, width) for point in points] for width in WIDTHS}
    avoided = {width: [Box(x * width, y, x * width, y) for x, y in avoid] for width in WIDTHS}
    taken: dict[int, list[Box]] = {width: [] for width in WIDTHS}
    placed: dict[int, Spot] = {}
    for index in ranked:
        candidates = []
        for spot in _spots(points[index]):
            boxes = {width: label_box(points[index], spot, width) for width in WIDTHS}
            inside = all(
                box.left >= 0 and box.right <= width and box.top >= 0 and box.bottom <= height
                for width, box in boxes.items()
            )
            free = inside and not any(
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


def _spots(point: LabelledPoint) -> list[Spot]:
    near, slant, above = point.radius + _GAP, 0.7 * point.radius + 3, point.radius + _LINE / 2 + 1
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


def label_box(point: LabelledPoint, spot: Spot, width: float) -> Box:
    """The box that a label covers in a plot of this width, estimated on the safe side."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in point.text)
    length = _CHARACTER * (len(point.text) + wide)
    left = point.x * width + spot.dx - {"left": 0.0, "right": length, "center": length / 2}[spot.align]
    middle = point.y + spot.dy
    return Box(left, middle - _LINE / 2, left + length, middle + _LINE / 2)


def mark_box(point: LabelledPoint, width: float) -> Box:
    """The box around a mark that labels avoid in a plot of this width."""
    x, reach = point.x * width, point.radius + _CLEAR
    return Box(x - reach, point.y - reach, x + reach, point.y + reach)


@dataclass(frozen=True, slots=True)
class _Plane:
    """The plane that marks lie on: its domains, and its height in pixels."""

    across: Domain
    up: Domain
    height: int

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Convert a position to a share of the width and to pixels from the top."""
        (left, right), (low, high) = self.across, self.up
        return (x - left) / (right - left), self.height * (high - y) / (high - low)

    def point(self, mark: Mapping[str, Any], radius: float, longest: int) -> LabelledPoint:
        """A group's mark, to be labelled by the group's name, cut to `longest` letters."""
        name = mark["group"]
        cut = name if len(name) <= longest else f"{name[: longest - 1].rstrip()}…"
        return LabelledPoint(*self.at(mark["x"], mark["y"]), radius, cut)


def _texts_at(
    marks: Sequence[Mapping[str, Any]], points: Sequence[LabelledPoint], placed: Mapping[int, Spot]
) -> list[dict[str, Any]]:
    return [
        {
            **{key: marks[index][key] for key in ("x", "y")},
            "text": points[index].text,
            **{key: getattr(spot, key) for key in ("dx", "dy", "align")},
        }
        for index, spot in placed.items()
    ]


_LABELLED = 12
"""Number of groups whose names are drawn if they fit: marked groups, then the most extreme."""
_AREAS = (60.0, 420.0)
"""Square pixels of the smallest and the largest group's point."""
_LABEL_UNITS = 26


def cohesion_map(result: RunResult, theme: draw.Theme = "light") -> alt.LayerChart:
    """A point per group: cross-group cohesion across, in-group cohesion up, the line where GAI is 1."""
    inside, across = (names.WORDS[name] for name in result.spec.analysis.gai)
    groups = _groups(result)
    drawn = [row for row in groups if row["x"] is not None and row["y"] is not None]
    drawn.sort(key=lambda row: (row["stands_out"], -row["raters"]))  # marked groups lie on top
    left_out = len(groups) - len(drawn)
    first = "Above the line a group agrees more with itself than with others."
    if not drawn:
        text = f"{inside.name} and {across.name} are not estimable for any group."
        return draw.message(theme, heading=draw.title("Cohesion map", first), text=text)
    second = "Larger mark: more raters."
    if left_out:
        second += f" Not estimable, so not shown: {number(left_out, 'group')}."
    if "gai" not in names.reported_statistics(result):
        second += " GAI was not part of this run, so no group is tested."
    x_domain, y_domain = (
        draw.padded(values, 0.1, 0.05 * max(abs(max(values)), 0.2))
        for values in ([row[field] for row in drawn] for field in ("x", "y"))
    )
    smallest, largest = min(row["raters"] for row in drawn), max(row["raters"] for row in drawn)
    span = max(largest - smallest, 1)
    for row in drawn:
        row["area"] = _AREAS[0] + (_AREAS[1] - _AREAS[0]) * (row["raters"] - smallest) / span
    above = sum(row["y"] > row["x"] for row in drawn)
    standing_out = "; ".join(
        f"{row['group']} (GAI {row['gai']}, {row['significance']})" for row in drawn if row["stands_out"]
    )
    told = (
        f"Scatter plot of {inside.name} against {across.name} for "
        f"{number(len(drawn), 'group')}; {above} lie above the line where GAI is 1. "
        f"Standing out: {standing_out or 'none'}."
    ) + (f" Not estimable: {number(left_out, 'group')}." if left_out else "")
    told = f"{told} {not_drawn(result.groups)}".rstrip()
    plane = _Plane(x_domain, y_domain, 420)
    layers = _of_groups(drawn, result, theme, plane)
    heading = draw.title("Cohesion map", [first, second])
    return draw.finish(layers, theme, heading=heading, alt_text=told, height=plane.height)


def _groups(result: RunResult) -> list[dict[str, Any]]:
    inside, across = result.spec.analysis.gai
    values = []
    rows = large_groups(result.groups)
    for name, row in zip(group_labels([row.group for row in rows]), rows, strict=True):
        gai, x, y = (
            names.shown_outcome(row, "gai"),
            names.outcome_of(row, across).value,
            names.outcome_of(row, inside).value,
        )
        untested = names.NOT_YET if names.not_yet(gai, result) else names.format_p(None)
        values.append(
            {
                "group": name,
                "axis": axis_label(row.group.axes),
                "raters": row.n_raters,
                "x": x,
                "y": y,
                "inside": names.format_value(y),
                "across": names.format_value(x),
                "gai": f"{names.format_value(gai.value)}{names.form(gai)}",
                **dict(zip("pq", names.in_figure(gai, result), strict=True)),
                "significance": names.SIGNIFICANCE_NAMES[gai.significance],
                "verdict": untested if gai.p is None else names.SIGNIFICANCE_NAMES[gai.significance],
                "stands_out": gai.significance != "none",
            }
        )
    return values


def _of_groups(
    drawn: list[dict[str, Any]], result: RunResult, theme: draw.Theme, plane: _Plane
) -> list[alt.Chart]:
    inside, across = (names.WORDS[name] for name in result.spec.analysis.gai)
    x = draw.measured("x", plane.across, f"{across.axis} →")
    y = alt.Y("y:Q", scale=draw.exactly(plane.up), axis=alt.Axis(title=f"{inside.axis} →", tickCount=6))
    told = draw.tooltip(
        *("group", "axis", "raters", "inside", "across", "gai", "p", "q", "verdict"),
        **{"inside": inside.name, "across": across.name, "gai": "GAI", "p": "p of GAI", "q": "q of GAI"},
    )
    marks = alt.Chart(draw.rows(drawn, "groups")).mark_point(
        filled=True, opacity=0.9, stroke=draw.palette(theme).background, strokeWidth=1
    )
    look = {"color": draw.colour(theme, legend=True), "shape": draw.shape(legend=True)}
    look["size"] = alt.Size("area:Q", scale=None, legend=None)
    labels = alt.Chart(draw.rows(_names_of_groups(drawn, plane), "labels"))
    return [
        *_diagonal(theme, x, y, plane),
        marks.encode(x=x, y=y, tooltip=told, **look),
        *draw.on_halo(labels.encode(x=x, y=y, text=alt.Text("text:N")), theme),
    ]


def _names_of_groups(drawn: list[dict[str, Any]], plane: _Plane) -> list[dict[str, Any]]:
    points = [plane.point(row, (row["area"] ** 0.5) / 2, _LABEL_UNITS) for row in drawn]
    middle_x, middle_y = median(point.x for point in points), median(point.y for point in points)
    away = [math.hypot(point.x - middle_x, (point.y - middle_y) / plane.height) for point in points]
    ranked = sorted(range(len(drawn)), key=lambda index: (not drawn[index]["stands_out"], -away[index]))
    standing_out = sum(row["stands_out"] for row in drawn)
    line = [plane.at(at, at) for at in _along_diagonal(plane)]
    placed = place_labels(points, ranked[: max(_LABELLED, standing_out)], height=plane.height, avoid=line)
    return _texts_at(drawn, points, placed)


def _along_diagonal(plane: _Plane, steps: int = 100) -> list[float]:
    low, high = max(plane.across[0], plane.up[0]), min(plane.across[1], plane.up[1])
    return [low + (high - low) * step / steps for step in range(steps + 1)] if low < high else []


def _diagonal(theme: draw.Theme, x: alt.X, y: alt.Y, plane: _Plane) -> list[alt.Chart]:
    ends = [{"x": at, "y": at} for at in _along_diagonal(plane, steps=1)]
    if not ends:
        return []
    muted = draw.palette(theme).muted
    line = alt.Chart(draw.rows(ends, "line")).mark_line(color=muted, strokeDash=[5, 4], strokeWidth=1.2)
    words = alt.Chart(draw.rows([{**ends[1], "text": "GAI = 1"}], "line_label")).mark_text(
        align="left", baseline="middle", dx=5, color=muted, fontStyle="italic"
    )
    return [line.encode(x=x, y=y), words.encode(x=x, y=y, text=alt.Text("text:N"))]


_MOST = 8
"""Number of groups with a colour and a shape of their own."""
_SHAPES = (
    *("circle", "square", "triangle-up", "diamond"),
    *("cross", "triangle-down", "triangle-right", "triangle-left"),
)
_COLOURS: Mapping[draw.Theme, tuple[str, ...]] = {
    "light": ("#0072B2", "#D55E00", "#00795A", "#A6418A", "#8A6A00", "#5A46B2", "#333333", "#B3243F"),
    "dark": ("#6CB8F0", "#FF8A3D", "#6FE0BD", "#E99AC9", "#F0D442", "#B7A8FF", "#FFFFFF", "#FF7E8E"),
}
OTHERS = "other raters"
_NAME = 24
_LEGEND_COLUMNS = "max(1, floor(width / 190))"


def rater_map_chart(
    found: RaterMap, axes: AxisSet, theme: draw.Theme = "light", group: Group | None = None
) -> alt.LayerChart:
    """A mark per rater, coloured by the groups of `axes`, or by one `group` of them and all others."""
    if found.reason is not None:
        return draw.message(theme, heading=draw.title("Map of raters", ""), text=f"{found.reason}.")
    (axis,) = (one for one in found.axes if one.axes == axes)
    marks = _marks(found, axis, group)
    times = Counter(mark["group"] for mark in marks)
    titles = [name for name, _ in times.most_common() if name != OTHERS]
    called = f"Map of raters by {axis_label(axes)}"
    heading = draw.title(called, ["Raters who answer alike stand near each other.", _explained(axis)])
    listed = ", ".join(f"{name} ({times[name]:,})" for name in (*titles, OTHERS) if times[name])
    told = (
        f"Map of {number(len(marks), 'rater')} by {axis_label(axis.axes)}: {listed}. "
        f"It shows {100 * sum(found.variance):.1f} % of the variance. {_explained(axis)}"
    )
    across, up = (draw.padded([mark[field] for mark in marks] or [0.0], 0.06, 0.05) for field in ("x", "y"))
    plane = _Plane(across, up, 440)
    layers = _of_raters(found, marks, titles, theme, plane)
    return draw.finish(layers, theme, heading=heading, alt_text=told, height=plane.height)


def _marks(found: RaterMap, axis: MapAxis, group: Group | None) -> list[dict[str, Any]]:
    """A mark per point; the other raters are left out if they are too few."""
    columns = [found.columns.index(name) for name in axis.axes]
    drawn = [(point, tuple(point.values[column] for column in columns)) for point in found.points]
    times = Counter(values for _, values in drawn)
    known: Mapping[Any, str] = {row.group.values: group_label(row.group) for row in axis.groups}
    ranked = sorted((values for values in known if times[values]), key=lambda values: -times[values])
    chosen = ranked[:_MOST] if group is None else [group.values]
    named = {values: known[values] for values in chosen if values in known}
    marks = [{"x": one.x, "y": one.y, "group": named.get(values, OTHERS)} for one, values in drawn]
    others = sum(mark["group"] == OTHERS for mark in marks)
    return [mark for mark in marks if mark["group"] != OTHERS or others >= found.least]


def _explained(axis: MapAxis) -> str:
    if axis.explained is None or axis.by_chance is None:
        return f"{axis_label(axis.axes)}: {axis.reason}."
    q = f", {names.format_p(axis.q, name='q')}" if axis.q is not None else ""
    return f"Explained {100 * axis.explained:.1f} %, by chance {100 * axis.by_chance:.1f} %{q}."


def _of_raters(
    found: RaterMap, marks: list[dict[str, Any]], titles: list[str], theme: draw.Theme, plane: _Plane
) -> list[alt.Chart]:
    colours, centres = draw.palette(theme), list[dict[str, Any]]()
    for name in titles:
        own = [mark for mark in marks if mark["group"] == name]
        middle = {field: fmean(mark[field] for mark in own) for field in ("x", "y")}
        centres.append({"group": name, **middle, "raters": f"{len(own):,}"})
    domain = [*titles, *([OTHERS] if any(mark["group"] == OTHERS for mark in marks) else [])]
    first, second = (f"{100 * share:.1f} % of the variance" for share in found.variance)
    axis = partial(alt.Axis, labels=False, tickCount=5)
    at: dict[str, Any] = {
        "x": alt.X("x:Q", scale=draw.exactly(plane.across), axis=axis(title=f"First direction: {first}")),
        "y": alt.Y("y:Q", scale=draw.exactly(plane.up), axis=axis(title=f"Second direction: {second}")),
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
    looks = {"color": (alt.Color, _COLOURS[theme], colours.muted), "shape": (alt.Shape, _SHAPES, "circle")}
    for channel, (kind, of_groups, of_others) in looks.items():
        range_ = [*of_groups[: len(titles)], of_others][: len(domain)]
        at[channel] = kind("group:N", scale=alt.Scale(domain=domain, range=range_), legend=legend)
    points = [plane.point(row, 8, _NAME) for row in centres]  # names beside middles, where they fit
    labels = _texts_at(centres, points, place_labels(points, range(len(points)), height=plane.height))
    text = alt.Chart(draw.rows(labels, "names")).encode(x=at["x"], y=at["y"], text=alt.Text("text:N"))
    others_first = sorted(marks, key=lambda mark: mark["group"] != OTHERS)
    return [
        alt.Chart(draw.rows(others_first, "raters"))
        .mark_point(filled=True, size=45, opacity=0.75)
        .encode(**at, tooltip=draw.tooltip("group")),
        alt.Chart(draw.rows(centres, "centres"))
        .mark_point(filled=True, size=260, opacity=1, stroke=colours.background, strokeWidth=2)
        .encode(**at, tooltip=draw.tooltip(group="Middle of", raters="Marks")),
        *draw.on_halo(text, theme, weight=600),
    ]
