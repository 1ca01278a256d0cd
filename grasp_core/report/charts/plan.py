"""A plan's surface: lines of equal chance over designs, and the cheapest design."""

from collections.abc import Mapping
from typing import Any

import altair as alt
import numpy as np

from grasp_core.analysis.planner.sample_size import cheapest, items_needed
from grasp_core.analysis.planner.values import LINES, Plan
from grasp_core.report.charts import theme as draw
from grasp_core.report.plan import TARGETS, named

_HEIGHT = 420
_POINTS = 60
"""Number of points along a line."""
_COLOURS: Mapping[draw.Theme, tuple[str, ...]] = {
    "light": ("#8A6A00", "#00795A", "#5A46B2"),
    "dark": ("#F0D442", "#6FE0BD", "#B7A8FF"),
}
_DASHES = ([2, 3], [1, 0], [7, 4])


def plan_chart(plan: Plan, theme: draw.Theme = "light") -> alt.LayerChart:
    """Lines on which designs find the difference with a chance of 50, 80 and 95 %, over raters and items."""
    colours, choice = draw.palette(theme), cheapest(plan)
    axis = alt.Axis(tickCount=6, format="~s")
    across, up = (
        alt.Scale(type="log", domain=list(ends), nice=False) for ends in (plan.spec.raters, plan.spec.items)
    )
    x = alt.X("raters:Q", scale=across, title="Raters in all", axis=axis)
    y: dict[str, Any] = {"scale": up, "title": "Items", "axis": axis}
    names = [_name(line) for line in LINES]
    scale = alt.Scale(domain=names, range=list(_COLOURS[theme]))
    legend = alt.Legend(
        title=None, orient="top", symbolType="stroke", symbolStrokeWidth=2.5, symbolOpacity=1, symbolSize=300
    )
    chance, layers = alt.Color("chance:N", scale=scale, legend=legend), []
    if bands := _bands(plan):
        layers.append(
            alt.Chart(draw.rows(bands, "bands"))
            .mark_area(opacity=0.13)
            .encode(x=x, y=alt.Y("low:Q", **y), y2=alt.Y2("high"), color=chance)
        )
    dashes = alt.Scale(domain=names, range=list(_DASHES))
    dash = alt.StrokeDash("chance:N", scale=dashes, legend=legend)
    told = draw.tooltip(chance="Chance", told="Design")
    layers.append(
        alt.Chart(draw.rows(_lines(plan), "lines"))
        .mark_line(strokeWidth=2.5)
        .encode(x=x, y=alt.Y("items:Q", **y), color=chance, strokeDash=dash, tooltip=told)
    )
    if choice is not None:
        design = f"{choice.raters:,} raters, {choice.items:,} items"
        point = [{"raters": choice.raters, "items": choice.items, "told": design}]
        layers.append(
            alt.Chart(draw.rows(point, "cheapest"))
            .mark_point(shape="diamond", filled=True, size=170, color=colours.ink, opacity=1)
            .encode(x=x, y=alt.Y("items:Q", **y), tooltip=draw.tooltip(told="Cheapest design"))
        )
    whence = "Bands: 8 of 10 pilots of this size."
    if plan.pilot is None:
        whence = "From assumed figures; the table below has every design."
    elif plan.factors is None:
        whence = "There is no range." if plan.whole else "The range follows."
    heading = draw.title(
        f"Raters and items to find a difference in {TARGETS[plan.spec.target]}",
        [f"Diamond: the cheapest design with a chance of {plan.spec.goal:.0%}.", whence],
    )
    return draw.finish(layers, theme, heading=heading, alt_text=_alt(plan), height=_HEIGHT)


def _name(line: float) -> str:
    return f"a chance of {line:.0%}"


def _along(plan: Plan) -> list[float]:
    return [float(value) for value in np.geomspace(*plan.spec.raters, _POINTS)]


def _lines(plan: Plan) -> list[dict[str, Any]]:
    low, high = plan.spec.items
    found = []
    for line in LINES:
        for raters in _along(plan):
            items = items_needed(plan.fit, plan.spec, line, raters)
            if low <= items <= high:
                told = f"{raters:,.0f} raters, {items:,.0f} items"
                found.append({"chance": _name(line), "raters": raters, "items": items, "told": told})
    return found


def _bands(plan: Plan) -> list[dict[str, Any]]:
    if plan.factors is None:
        return []
    ends, found = plan.spec.items, []
    for line in LINES:
        for raters in _along(plan):
            low, high = (
                float(np.clip(items_needed(plan.fit, plan.spec, line, raters, factor), *ends))
                for factor in reversed(plan.factors)
            )
            if low < high:
                found.append({"chance": _name(line), "raters": raters, "low": low, "high": high})
    return found


def _alt(plan: Plan) -> str:
    choice, goal = cheapest(plan), f"{plan.spec.goal:.0%}"
    ending = f"No design of the range reaches {goal}."
    if choice is not None:
        ending = f"The cheapest design with {goal} has {choice.raters:,} raters and {choice.items:,} items."
    (fewest, most), (low, high) = plan.spec.raters, plan.spec.items
    return (
        f"Lines of equal chance of finding a difference of {named(plan)}, over {fewest:,} to {most:,} raters "
        f"and {low:,} to {high:,} items; they fall as raters grow. {ending} The tables below tell the same."
    )
