"""Groups two by two, and one group in each slice."""

from __future__ import annotations

from typing import Any

import altair as alt

from grasp_core.model.groups import AxisSet, Group, axis_label, group_label, group_labels, one_line
from grasp_core.model.outcome import Outcome, PairResult
from grasp_core.model.result import RunResult
from grasp_core.report.charts.forest import forest_plot, label_forest_plot
from grasp_core.report.charts.theme import (
    LEFT,
    Theme,
    as_given,
    down,
    finish,
    message,
    palette,
    rows,
    title,
    tooltip,
    written,
)
from grasp_core.report.pairs import Measure
from grasp_core.report.slices import by_value
from grasp_core.report.tables import ends
from grasp_core.report.words.names import SIGNIFICANCE_NAMES, format_p, p_words, signs, verdict


def slices_chart(
    result: RunResult, column: str, group: Group, what: tuple[str, bool], theme: Theme = "light"
) -> alt.LayerChart:
    """Values and intervals of one group, a row for all items and one for each value.

    `what` is a statistic, or a label, and whether it is a label.
    """
    found = next(one for one in result.slices if one.column == column)
    view, of = by_value(result, found, group), f"{group_label(group)} by {one_line(column)}"
    name, is_label = what
    if is_label:
        return label_forest_plot(view, name, theme, of=of)
    return forest_plot(view, name, theme, of=of)


_HEAD, _NAME, _CELL = 20, 18, 26
"""Pixels of the columns' numbers, of a row's name and of its cells."""
_WRITTEN = 12
"""Groups up to which a cell has room for its value."""
_ABOVE, _BELOW, _MIDDLE = (179, 88, 6), (33, 102, 172), (245, 245, 245)
"""Orange, blue and grey, which nobody takes for each other."""
_LIGHT_ENOUGH = 0.179
"""Luminance from which on dark letters are read better than white ones."""

Cell = dict[str, Any]


def pairs_matrix(
    result: RunResult, axes: AxisSet, measure: Measure, theme: Theme = "light"
) -> alt.LayerChart:
    """A row and column for each group of an axis: how the row's group lies beside the column's."""
    pairs = [row for row in result.pairs if row.a.axes == axes]
    key = "Orange: above 0. Blue: below." if measure.signed else "The darker, the larger."
    heading = title(f"{measure.name}, two by two", [measure.brief_explanation, f"{key} *, **: marked."])
    if not pairs:
        return message(theme, heading=heading, text="No two groups of this axis were compared.")
    groups = list(dict.fromkeys(group for row in pairs for group in (row.a, row.b)))
    sizes = {group: n for row in pairs for group, n in ((row.a, row.n_raters_a), (row.b, row.n_raters_b))}
    # Each group's number and name above its row, and its number above its column.
    names = [
        {"number": str(g + 1), "name": f"{g + 1}  {name} ({sizes[group]:,})", "x": g + 0.5, "y": _top(g) + 9}
        for g, (group, name) in enumerate(zip(groups, group_labels(groups), strict=True))
    ]
    marked = [
        f"{', '.join(row.a.values)} beside {', '.join(row.b.values)} {measure.write(outcome.value)}, "
        f"{SIGNIFICANCE_NAMES[outcome.significance]}"
        for row, outcome in ((row, measure.of(row)) for row in pairs)
        if outcome.significance != "none"
    ]
    told = "; ".join(marked) or "none is marked"
    return finish(
        _layers(_cells(result, pairs, groups, measure), names, len(groups), theme),
        theme,
        heading=heading,
        alt_text=f"{measure.name} of all pairs of groups by {axis_label(axes)}: {told}.",
        height=_HEAD + len(groups) * (_NAME + _CELL),
    )


def _cells(result: RunResult, pairs: list[PairResult], groups: list[Group], measure: Measure) -> list[Cell]:
    place = {group: g for g, group in enumerate(groups)}
    names = dict(zip(groups, group_labels(groups), strict=True))
    both = [one for row in pairs for one in (row, row.turned())]
    # Of all axes, so that a colour means the same on each.
    known = [abs(value) for value in (measure.of(row).value for row in result.pairs) if value is not None]
    most = max(known, default=0.0) or 1.0
    many, found = result.permutations, []
    for row in both:
        outcome = measure.of(row)
        across, top = place[row.b], _top(place[row.a]) + _NAME
        (low, high), stars = ends(outcome), signs(outcome)
        interval = str(outcome.no_interval or "")
        found.append(
            {
                "first": names[row.a],
                "second": names[row.b],
                "left": across,
                "right": across + 1,
                "x": across + 0.5,
                "top": top,
                "bottom": top + _CELL,
                "y": top + _CELL / 2,
                "value": measure.write(outcome.value),
                "brief": "–" if outcome.value is None else f"{measure.brief(outcome.value)}{stars}",
                "stars": stars,
                "interval": interval if low is None else f"[{measure.write(low)}, {measure.write(high)}]",
                "p": p_words(outcome, permutations=many),
                "q": format_p(outcome.q, name="q", permutations=many),
                "verdict": verdict(outcome),
                **_colours(outcome, most, signed=measure.signed),
            }
        )
    return found


def _top(row: int) -> int:
    return _HEAD + row * (_NAME + _CELL)


def _colours(outcome: Outcome, most: float, *, signed: bool) -> Cell:
    value = outcome.value or 0.0
    share = min(abs(value) / most, 1.0) if signed else min(max(value / most, 0.0), 1.0)
    end = _ABOVE if value > 0 and signed else _BELOW
    mixed = [round(middle + share * (to - middle)) for middle, to in zip(_MIDDLE, end, strict=True)]
    # Relative luminance as WCAG 2 defines it.
    parts = (part / 255 for part in mixed)
    linear = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    luminance = sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
    ink = "#000000" if luminance > _LIGHT_ENOUGH else "#FFFFFF"
    return {"fill": "#" + "".join(f"{part:02X}" for part in mixed), "ink": ink}


def _layers(cells: list[Cell], names: list[Cell], n: int, theme: Theme) -> list[alt.Chart]:
    colours, height = palette(theme), _top(n)
    across = alt.Scale(domain=[0, n], nice=False, zero=False)
    x, y = alt.X("x:Q", scale=across, axis=None), down("y", height)
    font = alt.ExprRef(f"max(7, min(12, width / {n} / 3.4))")  # as large as a cell has room for
    told = tooltip(
        first="Row", second="Column", value="Value", interval="95 % interval", p="p", q="q", verdict="Result"
    )
    numbered = alt.Chart(rows(names, "names"))
    return [
        alt.Chart(rows(cells, "pairs"))
        .mark_rect(stroke=colours.background, strokeWidth=2)
        .encode(
            x=alt.X("left:Q", scale=across, axis=None),
            x2=alt.X2("right:Q"),
            y=down("top", height),
            y2=alt.Y2("bottom:Q"),
            color=as_given("fill"),
            tooltip=told,
        ),
        alt.Chart(alt.NamedData("pairs"))
        .mark_text(baseline="middle", fontSize=font, aria=False)
        .encode(
            x=x,
            y=y,
            text=alt.Text("brief:N" if n <= _WRITTEN else "stars:N"),
            color=as_given("ink"),
            tooltip=told,
        ),
        written(numbered, "name", LEFT, y, limit=alt.expr("width")),
        numbered.mark_text(baseline="middle", color=colours.muted, fontSize=font, aria=False).encode(
            x=x, y=alt.value(_HEAD / 2), text=alt.Text("number:N")
        ),
    ]
