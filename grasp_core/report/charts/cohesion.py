"""Agreement: inside and across groups, and of all raters."""

from __future__ import annotations

import math
from statistics import median
from typing import Any

import altair as alt

from grasp_core.model.groups import axis_label, group_labels, one_line
from grasp_core.model.result import RunResult
from grasp_core.model.text import number
from grasp_core.report.charts.labels import Point, place, texts_at
from grasp_core.report.charts.theme import (
    LEFT,
    Theme,
    colour,
    down,
    exactly,
    finish,
    message,
    on_halo,
    padded,
    palette,
    rows,
    shape,
    ticks,
    title,
    tooltip,
    written,
)
from grasp_core.report.everybody import least_agreed
from grasp_core.report.words.names import (
    NOT_YET,
    SIGNIFICANCE_NAMES,
    WORDS,
    format_p,
    format_value,
    not_yet,
    outcome_of,
    p_in_figure,
    q_in_figure,
    reported_statistics,
)

SHOWN = 12
"""Labels that are drawn, those given most often."""
_ROW, _HEAD = 54, 26
_LEFT, _WIDE = 0.3, 0.62
"""Shares of the width that names, and a bar of 100, have."""
_HEADING = "When one rater says it, another says so too (of 100). Mark: by chance."


def agreement_chart(result: RunResult, theme: Theme = "light") -> alt.LayerChart:
    """A bar per label: of 100 answers of other raters to the same item how many are this label too."""
    found = result.everybody
    known = [one for one in found.labels if one.again is not None] if found is not None else []
    if found is None or not known:
        return message(theme, heading=None, text="There is no label to be drawn.")
    shown = sorted(known, key=lambda one: -one.annotations)[:SHOWN]
    weakest, colours = least_agreed(found), palette(theme)
    data = [
        {
            "label": one_line(one.label),
            "answers": f"{one.annotations:,} answers",
            "from": _across(0.0),
            "to": _across(one.again or 0.0),
            "chance": _across(one.by_chance or 0.0),
            "said": f"{100 * (one.again or 0.0):.0f}",
            "by_chance": f"{100 * (one.by_chance or 0.0):.0f}",
            "colour": colours.muted if one is weakest else colours.significance["corrected"],
            "y": _HEAD + _ROW * (place + 0.5),
        }
        for place, one in enumerate(shown)
    ]
    height = _HEAD + _ROW * len(data)
    y = down("y", height)
    whole = alt.Scale(domain=[0, 1], nice=False)
    base = alt.Chart(rows(data, "labels"))
    head = alt.Chart(rows([{"y": 8, "words": _HEADING}], "heading"))
    told = tooltip(label="Label", answers="Answers", said="Another says so too", by_chance="By chance")
    small: dict[str, Any] = {"fontSize": 11, "color": colours.muted}
    layers = [
        base.mark_bar(height=20).encode(
            x=alt.X("from:Q", scale=whole, axis=None),
            x2="to:Q",
            y=y,
            color=alt.Color("colour:N", scale=None),
            tooltip=told,
        ),
        base.mark_tick(orient="vertical", size=34, thickness=2, color=colours.ink).encode(
            x=alt.X("chance:Q", scale=whole, axis=None), y=y
        ),
        written(base, "said", alt.X("to:Q", scale=whole, axis=None), y, dx=8, color=colours.ink),
        written(base, "label", LEFT, y, dy=-8, color=colours.ink, limit=alt.expr(f"{_LEFT} * width - 12")),
        written(base, "answers", LEFT, y, dy=9, **small),
        written(head, "words", LEFT, y, **small),
    ]
    parts = [f"{row['label']}: {row['said']} of 100, by chance {row['by_chance']}" for row in data]
    alt_text = f"How often another rater says the same, by label. {'; '.join(parts)}."
    return finish(layers, theme, heading=None, alt_text=alt_text, height=height)


def _across(share: float) -> float:
    """Where a share lies across the chart, of whose width names have the first part."""
    return _LEFT + _WIDE * share


_HEIGHT = 420
_LABELLED = 12
"""Groups whose name is tried on the map: those that stand out, then the most extreme."""
_AREAS = (60.0, 420.0)
"""Square pixels of the smallest and the largest group's point."""
_LABEL_UNITS = 26

Domain = tuple[float, float]


def cohesion_map(result: RunResult, theme: Theme = "light") -> alt.LayerChart:
    """A point per group: cross-group cohesion across, in-group cohesion up, the line where GAI is 1."""
    inside, across = result.spec.analysis.gai
    groups = _groups(result)
    drawn = [row for row in groups if row["x"] is not None and row["y"] is not None]
    drawn.sort(key=lambda row: (row["stands_out"], -row["raters"]))  # what matters lies on top
    left_out = len(groups) - len(drawn)
    subtitle = [
        "Above the line a group agrees more with itself than with others.",
        "Larger mark: more raters.",
    ]
    if not drawn:
        text = f"{WORDS[inside].name} and {WORDS[across].name} are not estimable for any group."
        return message(theme, heading=title("Cohesion map", subtitle[0]), text=text)
    if left_out:
        subtitle[1] += f" Not estimable, so not shown: {number(left_out, 'group')}."
    if "gai" not in reported_statistics(result):
        subtitle[1] += " GAI was not part of this run, so no group is tested."
    x_domain, y_domain = (
        padded(values, 0.1, 0.05 * max(abs(max(values)), 0.2))
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
        f"Scatter plot of {WORDS[inside].name} against {WORDS[across].name} for "
        f"{number(len(drawn), 'group')}; {above} lie above the line where GAI is 1. "
        f"Standing out: {standing_out or 'none'}."
    ) + (f" Not estimable: {number(left_out, 'group')}." if left_out else "")
    layers = _layers(drawn, (inside, across), theme, x_domain, y_domain)
    return finish(layers, theme, heading=title("Cohesion map", subtitle), alt_text=told, height=_HEIGHT)


def _groups(result: RunResult) -> list[dict[str, Any]]:
    inside, across = result.spec.analysis.gai
    names = group_labels([row.group for row in result.groups])
    values = []
    for name, row in zip(names, result.groups, strict=True):
        gai = outcome_of(row, "gai")
        x, y = outcome_of(row, across).value, outcome_of(row, inside).value
        untested = NOT_YET if not_yet(gai, result) else format_p(None)
        told = untested if gai.p is None else SIGNIFICANCE_NAMES[gai.significance]
        values.append(
            {
                "group": name,
                "axis": axis_label(row.group.axes),
                "raters": row.n_raters,
                "x": x,
                "y": y,
                "inside": format_value(y),
                "across": format_value(x),
                "gai": format_value(gai.value),
                "p": p_in_figure(gai, result),
                "q": q_in_figure(gai, result),
                "significance": SIGNIFICANCE_NAMES[gai.significance],
                "verdict": told,
                "stands_out": gai.significance != "none",
            }
        )
    return values


def _labels(drawn: list[dict[str, Any]], x_domain: Domain, y_domain: Domain) -> list[dict[str, Any]]:
    points = [
        Point(
            x=(row["x"] - x_domain[0]) / (x_domain[1] - x_domain[0]),
            y=_HEIGHT * (y_domain[1] - row["y"]) / (y_domain[1] - y_domain[0]),
            radius=(row["area"] ** 0.5) / 2,
            text=name if len(name) <= _LABEL_UNITS else f"{name[: _LABEL_UNITS - 1].rstrip()}…",
        )
        for row, name in ((row, row["group"]) for row in drawn)
    ]
    middle_x, middle_y = median(point.x for point in points), median(point.y for point in points)
    away = [math.hypot(point.x - middle_x, (point.y - middle_y) / _HEIGHT) for point in points]
    ranked = sorted(range(len(drawn)), key=lambda index: (not drawn[index]["stands_out"], -away[index]))
    standing_out = sum(row["stands_out"] for row in drawn)
    line = [
        (
            (at - x_domain[0]) / (x_domain[1] - x_domain[0]),
            _HEIGHT * (y_domain[1] - at) / (y_domain[1] - y_domain[0]),
        )
        for at in _along_diagonal(x_domain, y_domain)
    ]
    placed = place(points, ranked[: max(_LABELLED, standing_out)], height=_HEIGHT, avoid=line)
    return texts_at(drawn, points, placed)


def _along_diagonal(x_domain: Domain, y_domain: Domain, steps: int = 100) -> list[float]:
    low, high = max(x_domain[0], y_domain[0]), min(x_domain[1], y_domain[1])
    return [low + (high - low) * step / steps for step in range(steps + 1)] if low < high else []


def _layers(
    drawn: list[dict[str, Any]],
    pair: tuple[str, str],
    theme: Theme,
    x_domain: Domain,
    y_domain: Domain,
) -> list[alt.Chart]:
    colours = palette(theme)
    inside, across = (WORDS[name] for name in pair)
    x = alt.X("x:Q", scale=exactly(x_domain), axis=alt.Axis(title=f"{across.axis} →", tickCount=ticks()))
    y = alt.Y("y:Q", scale=exactly(y_domain), axis=alt.Axis(title=f"{inside.axis} →", tickCount=6))
    told = tooltip(
        group="Group",
        axis="Axis",
        raters="Raters",
        inside=inside.name,
        across=across.name,
        gai="GAI",
        p="p of GAI",
        q="q of GAI",
        verdict="Result",
    )
    labels = alt.Chart(rows(_labels(drawn, x_domain, y_domain), "labels"))
    return [
        *_diagonal(theme, x, y, x_domain, y_domain),
        alt.Chart(rows(drawn, "groups"))
        .mark_point(filled=True, opacity=0.9, stroke=colours.background, strokeWidth=1)
        .encode(
            x=x,
            y=y,
            size=alt.Size("area:Q", scale=None, legend=None),
            color=colour(theme, legend=True),
            shape=shape(legend=True),
            tooltip=told,
        ),
        *on_halo(labels.encode(x=x, y=y, text=alt.Text("text:N")), theme),
    ]


def _diagonal(theme: Theme, x: alt.X, y: alt.Y, x_domain: Domain, y_domain: Domain) -> list[alt.Chart]:
    along = _along_diagonal(x_domain, y_domain, steps=1)
    if not along:
        return []
    colours = palette(theme)
    ends = [{"x": at, "y": at} for at in along]
    line = alt.Chart(rows(ends, "line")).mark_line(color=colours.muted, strokeDash=[5, 4], strokeWidth=1.2)
    words = alt.Chart(rows([{**ends[1], "text": "GAI = 1"}], "line_label")).mark_text(
        align="left", baseline="middle", dx=5, color=colours.muted, fontStyle="italic"
    )
    return [line.encode(x=x, y=y), words.encode(x=x, y=y, text=alt.Text("text:N"))]
