"""A matrix of pairs: each group of an axis compared with each other group."""

from typing import Any

import altair as alt

from grasp_core.model.groups import AxisSet, Group, axis_label, group_labels
from grasp_core.model.outcome import Outcome, PairResult
from grasp_core.model.result import RunResult
from grasp_core.report.charts import theme as draw
from grasp_core.report.pairs import Measure
from grasp_core.report.tables import FEWEST, IN_TABLES, ends
from grasp_core.report.words import names

_HEAD, _NAME, _CELL = 20, 18, 26
"""Pixels of the columns' numbers, of a row's name and of its cells."""
_WRITTEN = 12
"""Largest number of groups for which a cell has room for its value."""
_ABOVE, _BELOW, _MIDDLE = (179, 88, 6), (33, 102, 172), (245, 245, 245)
"""Orange, blue and grey, which nobody confuses."""
_LIGHT_ENOUGH = 0.179
"""Luminance above which dark letters are easier to read than white ones."""

Cell = dict[str, Any]


def pairs_matrix(
    result: RunResult, axes: AxisSet, measure: Measure, theme: draw.Theme = "light"
) -> alt.LayerChart:
    """A row and a column for each group of an axis; a cell compares the row's group with the column's."""
    compared = [row for row in result.pairs if row.a.axes == axes]
    pairs = [row for row in compared if _drawn(row)]
    key = "Orange: above 0. Blue: below." if measure.signed else "The darker, the larger."
    heading = draw.title(f"{measure.name}, two by two", [measure.brief_explanation, f"{key} *, **: marked."])
    if not pairs:
        text = "No two groups of this axis were compared."
        text = f"No two groups of {FEWEST} raters or more were compared; {IN_TABLES}" if compared else text
        return draw.message(theme, heading=heading, text=text)
    groups = list(dict.fromkeys(group for row in pairs for group in (row.a, row.b)))
    sizes = {group: n for row in pairs for group, n in ((row.a, row.n_raters_a), (row.b, row.n_raters_b))}
    # Each group's number and name above its row, and its number above its column.
    titles = [
        {"number": str(g + 1), "name": f"{g + 1}  {name} ({sizes[group]:,})", "x": g + 0.5, "y": _top(g) + 9}
        for g, (group, name) in enumerate(zip(groups, group_labels(groups), strict=True))
    ]
    marked = [
        f"{', '.join(row.a.values)} beside {', '.join(row.b.values)} {measure.write(outcome.value)}, "
        f"{names.SIGNIFICANCE_NAMES[outcome.significance]}"
        for row, outcome in ((row, measure.of(row)) for row in pairs)
        if outcome.significance != "none"
    ]
    told = "; ".join(marked) or "none is marked"
    return draw.finish(
        _layers_of_pairs(_cells(result, pairs, groups, measure), titles, len(groups), theme),
        theme,
        heading=heading,
        alt_text=f"{measure.name} of all pairs of groups by {axis_label(axes)}: {told}.",
        height=_HEAD + len(groups) * (_NAME + _CELL),
    )


def _drawn(row: PairResult) -> bool:
    return min(row.n_raters_a, row.n_raters_b) >= FEWEST


def _cells(result: RunResult, pairs: list[PairResult], groups: list[Group], measure: Measure) -> list[Cell]:
    place = {group: g for g, group in enumerate(groups)}
    titles = dict(zip(groups, group_labels(groups), strict=True))
    both = [one for row in pairs for one in (row, row.turned())]
    # Over all axes, so that a colour means the same for each.
    values = [measure.of(row).value for row in result.pairs if _drawn(row)]
    known = [abs(value) for value in values if value is not None]
    most = max(known, default=0.0) or 1.0
    many, found = result.permutations, []
    for row in both:
        outcome = measure.of(row)
        across, top = place[row.b], _top(place[row.a]) + _NAME
        stars, interval = names.signs(outcome), names.in_brackets(*ends(outcome), measure.write)
        found.append(
            {
                "first": titles[row.a],
                "second": titles[row.b],
                "left": across,
                "right": across + 1,
                "x": across + 0.5,
                "top": top,
                "bottom": top + _CELL,
                "y": top + _CELL / 2,
                "value": measure.write(outcome.value),
                "brief": "–" if outcome.value is None else f"{measure.brief(outcome.value)}{stars}",
                "stars": stars,
                "interval": interval or str(outcome.no_interval or ""),
                "p": "" if outcome.p is None else names.p_words(outcome, permutations=many),
                "q": "" if outcome.q is None else names.format_p(outcome.q, name="q", permutations=many),
                "verdict": names.verdict(outcome),
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


def _layers_of_pairs(cells: list[Cell], titles: list[Cell], n: int, theme: draw.Theme) -> list[alt.Chart]:
    colours, height = draw.palette(theme), _top(n)
    across = alt.Scale(domain=[0, n], nice=False, zero=False)
    x, y = alt.X("x:Q", scale=across, axis=None), draw.down("y", height)
    font = alt.ExprRef(f"max(7, min(12, width / {n} / 3.4))")  # as large as a cell has room for
    fields = ("first", "second", "value", "interval", "p", "q", "verdict")
    told = draw.tooltip(*fields, first="Row", second="Column")
    numbered = alt.Chart(draw.rows(titles, "names"))
    return [
        alt.Chart(draw.rows(cells, "pairs"))
        .mark_rect(stroke=colours.background, strokeWidth=2)
        .encode(
            x=alt.X("left:Q", scale=across, axis=None),
            x2=alt.X2("right:Q"),
            y=draw.down("top", height),
            y2=alt.Y2("bottom:Q"),
            color=draw.as_given("fill"),
            tooltip=told,
        ),
        alt.Chart(alt.NamedData("pairs"))
        .mark_text(baseline="middle", fontSize=font, aria=False)
        .encode(
            x=x,
            y=y,
            text=alt.Text("brief:N" if n <= _WRITTEN else "stars:N"),
            color=draw.as_given("ink"),
            tooltip=told,
        ),
        draw.written(numbered, "name", draw.LEFT, y, limit=alt.expr("width")),
        numbered.mark_text(baseline="middle", color=colours.muted, fontSize=font, aria=False).encode(
            x=x, y=alt.value(_HEAD / 2), text=alt.Text("number:N")
        ),
    ]
