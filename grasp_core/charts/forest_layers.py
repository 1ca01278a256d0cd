"""Layers of a forest plot: rows of marks, texts and lines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import altair as alt

from grasp_core.charts.theme import (
    LEFT,
    RIGHT,
    UP_TO_RIGHT,
    Theme,
    colour,
    palette,
    rows,
    shape,
    ticks,
    tooltip,
)
from grasp_core.outcome import Outcome
from grasp_core.report.words.names import SIGNIFICANCE_NAMES
from grasp_core.result import GroupResult

_FIGURES = 150
"""Pixels that the figures take at the right end of a group's text."""


@dataclass(frozen=True, slots=True)
class Measure:
    """What a plot shows: of each group an outcome, and how its values are written."""

    name: str
    axis: str
    explanation: str
    nothing: float | None
    of: Callable[[GroupResult], Outcome]
    write: Callable[[float | None], str]


def layers(
    drawn: list[dict[str, Any]],
    headings: list[dict[str, Any]],
    measure: Measure,
    domain: tuple[float, float],
    height: int,
    theme: Theme,
) -> list[alt.Chart]:
    """Lines between rows, the line of no difference, marks, texts, and the places that tell more.

    Parameters
    ----------
    drawn : list of dict
        Rows of groups, with their figures and their places in pixels from the top.
    headings : list of dict
        Texts of axes, and their places.
    measure : Measure
    domain : (float, float)
    height : int
        Pixels of all rows.
    theme : {"light", "dark"}
    """
    base = alt.Chart(alt.NamedData("forest")).encode(
        tooltip=tooltip(
            group="Group",
            axis="Axis",
            raters="Raters",
            value=measure.name,
            interval="95 % interval",
            p="p",
            q="q",
            verdict="Result",
        )
    )
    scale = alt.Scale(domain=[0, height], reverse=True, nice=False)
    return [
        alt.Chart(rows(drawn, "forest"))
        .mark_rule(color=palette(theme).grid)
        .encode(y=alt.Y("bottom:Q", scale=scale, axis=None), x=LEFT, x2=UP_TO_RIGHT),
        *_nothing(measure, domain, theme),
        *_marks(base, measure, domain, theme),
        *_texts(base, headings, theme),
        base.mark_rect(opacity=0).encode(
            x=LEFT, x2=UP_TO_RIGHT, y=alt.Y("top:Q", axis=None), y2=alt.Y2("bottom:Q")
        ),
    ]


def _across(field: str, measure: Measure, domain: tuple[float, float]) -> alt.X:
    scale = alt.Scale(domain=list(domain), nice=False, zero=False)
    axis = alt.Axis(title=measure.axis, tickCount=ticks(), grid=True, titleLimit=340)
    return alt.X(f"{field}:Q", scale=scale, axis=axis)


def _nothing(measure: Measure, domain: tuple[float, float], theme: Theme) -> list[alt.Chart]:
    """The line of "no difference", where it lies in the plot."""
    if measure.nothing is None or not domain[0] <= measure.nothing <= domain[1]:
        return []
    line = alt.Chart(rows([{"x": measure.nothing}], "nothing"))
    return [
        line.mark_rule(color=palette(theme).muted, strokeDash=[4, 3]).encode(x=_across("x", measure, domain))
    ]


def _marks(base: alt.Chart, measure: Measure, domain: tuple[float, float], theme: Theme) -> list[alt.Chart]:
    """Each group's interval, the middle of its random groupings, and its value on top."""
    colours = palette(theme)
    y = alt.Y("mark_y:Q", axis=None)
    return [
        base.transform_filter("isValid(datum.low)")
        .mark_rule(strokeWidth=3, strokeCap="round", opacity=0.75, aria=False)
        .encode(x=_across("low", measure, domain), x2=alt.X2("high:Q"), y=y, color=colour(theme)),
        base.transform_filter("isValid(datum.chance)")
        .mark_tick(orient="vertical", size=12, thickness=2, color=colours.muted, aria=False)
        .encode(x=_across("chance", measure, domain), y=y),
        base.transform_filter("isValid(datum.x)")
        .mark_point(filled=True, size=85, opacity=1, stroke=colours.background, strokeWidth=0.7)
        .encode(x=_across("x", measure, domain), y=y, color=colour(theme), shape=shape()),
    ]


def _texts(base: alt.Chart, headings: list[dict[str, Any]], theme: Theme) -> list[alt.Chart]:
    """Above each mark the group's name and its figures; axis headings."""
    y = alt.Y("text_y:Q", axis=None)
    return [
        base.mark_text(align="left", baseline="middle", limit=alt.expr(f"width - {_FIGURES}")).encode(
            x=LEFT, y=y, text=alt.Text("named:N")
        ),
        *(
            base.transform_filter(alt.datum.significance == called)
            .mark_text(align="right", baseline="middle", color=palette(theme).text[key])
            .encode(x=RIGHT, y=y, text=alt.Text("figures:N"))
            for key, called in SIGNIFICANCE_NAMES.items()
        ),
        alt.Chart(rows(headings, "headings"))
        .mark_text(align="left", baseline="middle", fontWeight=600, limit=alt.expr("width"))
        .encode(x=LEFT, y=alt.Y("y:Q", axis=None), text=alt.Text("text:N")),
    ]
