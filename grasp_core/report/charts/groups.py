"""Groups: their values with intervals, a row a group or a row a slice; and two by two."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import altair as alt

from grasp_core.model.groups import AxisSet, Group, axis_label, group_label, group_labels, one_line
from grasp_core.model.outcome import Outcome, PairResult
from grasp_core.model.result import GroupResult, RunResult
from grasp_core.model.text import number
from grasp_core.report.charts import theme as draw
from grasp_core.report.charts.histograms import on_axis, on_page, shared_domain, within
from grasp_core.report.pairs import Measure
from grasp_core.report.slices import by_value
from grasp_core.report.tables import (
    FEWEST,
    IN_TABLES,
    RowOrder,
    ends,
    large_groups,
    not_drawn,
    ordered_groups,
)
from grasp_core.report.words import names
from grasp_core.report.words.label_use import format_points, shift_outcome, tested_as

_FIGURES = 150
"""Pixels that the figures take at the right end of a group's text."""


@dataclass(frozen=True, slots=True)
class _Shown:
    """What a plot shows: of each group an outcome, how its values are written, and whose its tests are."""

    name: str
    axis: str
    explanation: str
    nothing: float | None
    of: Callable[[GroupResult], Outcome]
    write: Callable[[float | None], str]
    tests: str = ""


def _layers(
    drawn: list[dict[str, Any]],
    headings: list[dict[str, Any]],
    measure: _Shown,
    domain: tuple[float, float],
    height: int,
    theme: draw.Theme,
) -> list[alt.Chart]:
    """Lines between rows, the line of no difference, marks, texts, and the places that tell more."""
    colours, mark_y, text_y = draw.palette(theme), draw.down("mark_y"), draw.down("text_y")
    x, low, chance = (
        draw.measured(field, domain, measure.axis, grid=True, titleLimit=340)
        for field in ("x", "low", "chance")
    )
    base = alt.Chart(alt.NamedData("forest")).encode(
        tooltip=draw.tooltip(
            *("group", "axis", "raters", "value", "interval", "p", "q", "verdict"),
            value=measure.name,
            p=f"p{measure.tests}",
            q=f"q{measure.tests}",
        )
    )
    at = measure.nothing
    nothing = [] if at is None or not domain[0] <= at <= domain[1] else [{"x": at}]
    return [
        draw.from_edge_to_edge(alt.Chart(draw.rows(drawn, "forest")), draw.down("bottom", height), theme),
        *(
            alt.Chart(draw.rows([line], "nothing"))
            .mark_rule(color=colours.muted, strokeDash=[4, 3], aria=False)
            .encode(x=x)
            for line in nothing
        ),
        draw.interval(base, low, mark_y, strokeWidth=3, strokeCap="round", opacity=0.75).encode(
            color=draw.colour(theme)
        ),
        draw.tick(draw.valid(base, "chance"), chance, mark_y, theme, size=12, thickness=2, aria=False),
        draw.marked(
            draw.valid(base, "x"), x, mark_y, theme, size=85, stroke=colours.background, strokeWidth=0.7
        ),
        draw.written(base, "named", draw.LEFT, text_y, limit=alt.expr(f"width - {_FIGURES}")),
        *draw.by_mark(base, "figures", draw.RIGHT, text_y, theme, align="right"),
        draw.headed(headings, draw.down("y")),
        draw.clickable(base, "top", "bottom"),
    ]


EACH_GROUP = "each group"
_ROW, _HEADING = 36, 26
"""Pixels of a group's two lines, and of an axis heading."""
_TEXT, _MARK = 11, 26
"""Where in a group's row its text and its mark lie."""
_NOTHING: dict[str, float] = {"gai": 1.0, "gap": 0.0, "distance": 0.0, "irr": 0.0, "xrr": 0.0}
"""Values that say "no difference" or "as by chance", where there is such a value."""


def forest_plot(
    result: RunResult,
    statistic: str,
    theme: draw.Theme = "light",
    order: RowOrder = "axis",
    by: str | None = None,
    *,
    page: int | None = None,
    of: str = EACH_GROUP,
) -> alt.LayerChart:
    """Value and 95 % interval of a statistic for each group, beside the middle of its random groupings."""
    if statistic not in names.WORDS:
        raise ValueError(f"`statistic` must be one of {', '.join(names.WORDS)}; found {statistic!r}")
    words = names.WORDS[statistic]
    measure = _Shown(
        words.name,
        words.axis,
        "Tick: the middle of random groupings.",
        _NOTHING.get(statistic),
        lambda row: names.told_of(row, statistic),
        names.format_value,
    )
    groups = ordered_groups(result, order, by)
    return _plot(result, measure, groups, theme, headed=order == "axis", page=page, of=of)


def label_forest_plot(
    result: RunResult,
    label: str,
    theme: draw.Theme = "light",
    order: RowOrder = "axis",
    *,
    page: int | None = None,
    of: str = EACH_GROUP,
) -> alt.LayerChart:
    """How much more often each group gives a label than the others do to the same items, with intervals."""
    groups = [row for row in ordered_groups(result, order) if row.label_use is not None]
    shown = one_line(label)
    measure = _Shown(
        f"“{shown}”",
        f"“{shown}”: points more often than the others on the same items",
        "Right of 0: more often than by the others.",
        0.0,
        partial(_of_label, label),
        lambda points: names.NOT_ESTIMABLE if points is None else format_points(points / 100),
        " of all labels",
    )
    return _plot(result, measure, groups, theme, headed=order == "axis", page=page, of=of)


def _of_label(label: str, row: GroupResult) -> Outcome:
    """A label's shift and its mark, with the one test of all labels."""
    found, use = shift_outcome(row.label_use, label), row.label_use
    if use is None or found.value is None:
        return found
    return replace(tested_as(found, use), significance=found.significance)


def _plot(
    result: RunResult,
    measure: _Shown,
    groups: Sequence[GroupResult],
    theme: draw.Theme,
    *,
    headed: bool,
    page: int | None,
    of: str,
) -> alt.LayerChart:
    heading = draw.title(
        f"{measure.name} of {of}", ["In brackets: raters. Bar: 95 % interval.", measure.explanation]
    )
    if not groups:
        return draw.message(theme, heading=heading, text="There is no group to show.")
    left_out = not_drawn(groups) if of == EACH_GROUP else ""
    groups = large_groups(groups) if of == EACH_GROUP else groups
    domain = shared_domain([on_axis(measure.of(row)) for row in groups])
    drawn, headings, height = _rows(result, measure, groups[on_page(page)], domain, headed=headed)
    told = [
        f"{row['group']} {row['value']} {row['interval'] if row['low'] is not None else ''}".rstrip()
        + (f", {row['significance']}" if row["significance"] != names.SIGNIFICANCE_NAMES["none"] else "")
        for row in drawn
        if row["x"] is not None
    ]
    missing = "; ".join(row["group"] for row in drawn if row["x"] is None)
    whose = number(len(drawn), "group") if of == EACH_GROUP else of
    alt_text = f"{measure.name} with its 95 % interval for {whose}: {'; '.join(told)}."
    alt_text += f" Not estimable: {missing}." if missing else ""
    alt_text = f"{alt_text} {left_out}".rstrip()
    plotted = _layers(drawn, headings, measure, domain, height, theme)
    return draw.finish(plotted, theme, heading=heading, alt_text=alt_text, height=height)


def _rows(
    result: RunResult,
    measure: _Shown,
    groups: Sequence[GroupResult],
    domain: tuple[float, float],
    *,
    headed: bool,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], int]:
    """Rows of groups and of axis headings, with their places in pixels from the top, and all pixels."""
    found: list[dict[str, Any]] = []
    headings: list[dict[str, Any]] = []
    top = 0
    axes: tuple[str, ...] | None = None
    titles = group_labels([row.group for row in groups])
    for name, row in zip(titles, groups, strict=True):
        if headed and row.group.axes != axes:
            axes = row.group.axes
            headings.append({"text": axis_label(axes), "y": top + _HEADING - 9})
            top += _HEADING
        found.append(
            {
                **_figures(result, measure, row, domain),
                "group": name,
                "named": f"{name} ({row.n_raters:,})",
                "top": top,
                "text_y": top + _TEXT,
                "mark_y": top + _MARK,
                "bottom": top + _ROW,
            }
        )
        top += _ROW
    return found, headings, top


def _figures(
    result: RunResult, measure: _Shown, row: GroupResult, domain: tuple[float, float]
) -> dict[str, Any]:
    outcome = measure.of(row)
    (low, high), (p, q) = ends(outcome), names.in_figure(outcome, result)
    placed = on_axis(outcome)
    interval = "" if low is None else f"[{measure.write(low)}, {measure.write(high)}]"
    beside = f"{names.signs(outcome)}{names.MAY_CHANGE if names.may_change(outcome) else ''}"
    return {
        "axis": axis_label(row.group.axes),
        "raters": row.n_raters,
        "x": within(domain, placed.value),
        "low": within(domain, ends(placed)[0]),
        "high": within(domain, ends(placed)[1]),
        "chance": within(domain, placed.null_median),
        "value": f"{measure.write(outcome.value)}{names.form(outcome)}",
        "interval": interval or str(outcome.no_interval or ""),
        "figures": " ".join(part for part in (measure.write(outcome.value), interval, beside) if part),
        "p": "" if outcome.p is None and not names.not_yet(outcome, result) else p,
        "q": "" if outcome.q is None else q,
        "significance": names.SIGNIFICANCE_NAMES[outcome.significance],
        "verdict": names.verdict(outcome),
    }


def slices_chart(
    result: RunResult, column: str, group: Group, what: tuple[str, bool], theme: draw.Theme = "light"
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
    result: RunResult, axes: AxisSet, measure: Measure, theme: draw.Theme = "light"
) -> alt.LayerChart:
    """A row and column for each group of an axis: how the row's group lies beside the column's."""
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
    # Of all axes, so that a colour means the same on each.
    values = [measure.of(row).value for row in result.pairs if _drawn(row)]
    known = [abs(value) for value in values if value is not None]
    most = max(known, default=0.0) or 1.0
    many, found = result.permutations, []
    for row in both:
        outcome = measure.of(row)
        across, top = place[row.b], _top(place[row.a]) + _NAME
        (low, high), stars = ends(outcome), names.signs(outcome)
        interval = str(outcome.no_interval or "")
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
                "interval": interval if low is None else f"[{measure.write(low)}, {measure.write(high)}]",
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
