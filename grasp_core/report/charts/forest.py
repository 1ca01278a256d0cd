"""Values with intervals, a row a group."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from grasp_core.model.groups import axis_label, group_labels, one_line
from grasp_core.model.outcome import Outcome
from grasp_core.model.result import GroupResult, RunResult
from grasp_core.model.text import number
from grasp_core.report.charts.histograms import on_page, shared_domain, within
from grasp_core.report.charts.theme import (
    LEFT,
    RIGHT,
    Theme,
    by_mark,
    clickable,
    colour,
    down,
    finish,
    from_edge_to_edge,
    headed,
    interval,
    measured,
    message,
    palette,
    rows,
    shape,
    title,
    tooltip,
    valid,
    written,
)
from grasp_core.report.tables import RowOrder, ends, ordered_groups
from grasp_core.report.words.label_use import format_points, label_outcome
from grasp_core.report.words.names import (
    MAY_CHANGE,
    NOT_ESTIMABLE,
    SIGNIFICANCE_NAMES,
    WORDS,
    format_value,
    may_change,
    outcome_of,
    p_in_figure,
    q_in_figure,
    signs,
    verdict,
)

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


def _layers(
    drawn: list[dict[str, Any]],
    headings: list[dict[str, Any]],
    measure: Measure,
    domain: tuple[float, float],
    height: int,
    theme: Theme,
) -> list[alt.Chart]:
    """Lines between rows, the line of no difference, marks, texts, and the places that tell more."""
    colours, mark_y, text_y = palette(theme), down("mark_y"), down("text_y")
    x, low, chance = (
        measured(field, domain, measure.axis, grid=True, titleLimit=340) for field in ("x", "low", "chance")
    )
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
    at = measure.nothing
    nothing = [] if at is None or not domain[0] <= at <= domain[1] else [{"x": at}]
    return [
        from_edge_to_edge(alt.Chart(rows(drawn, "forest")), down("bottom", height), theme),
        *(
            alt.Chart(rows([line], "nothing"))
            .mark_rule(color=colours.muted, strokeDash=[4, 3], aria=False)
            .encode(x=x)
            for line in nothing
        ),
        interval(base, low, mark_y, strokeWidth=3, strokeCap="round", opacity=0.75).encode(
            color=colour(theme)
        ),
        valid(base, "chance")
        .mark_tick(orient="vertical", size=12, thickness=2, color=colours.muted, aria=False)
        .encode(x=chance, y=mark_y),
        valid(base, "x")
        .mark_point(filled=True, size=85, opacity=1, stroke=colours.background, strokeWidth=0.7)
        .encode(x=x, y=mark_y, color=colour(theme), shape=shape()),
        written(base, "named", LEFT, text_y, limit=alt.expr(f"width - {_FIGURES}")),
        *by_mark(base, "figures", RIGHT, text_y, theme, align="right"),
        headed(headings, down("y")),
        clickable(base, "top", "bottom"),
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
    theme: Theme = "light",
    order: RowOrder = "axis",
    by: str | None = None,
    *,
    page: int | None = None,
    of: str = EACH_GROUP,
) -> alt.LayerChart:
    """Value and 95 % interval of a statistic for each group, beside the middle of its random groupings."""
    if statistic not in WORDS:
        raise ValueError(f"`statistic` must be one of {', '.join(WORDS)}; found {statistic!r}")
    words = WORDS[statistic]
    measure = Measure(
        words.name,
        words.axis,
        "Tick: the middle of random groupings.",
        _NOTHING.get(statistic),
        lambda row: outcome_of(row, statistic),
        format_value,
    )
    groups = ordered_groups(result, order, by)
    return _plot(result, measure, groups, theme, headed=order == "axis", page=page, of=of)


def label_forest_plot(
    result: RunResult,
    label: str,
    theme: Theme = "light",
    order: RowOrder = "axis",
    *,
    page: int | None = None,
    of: str = EACH_GROUP,
) -> alt.LayerChart:
    """How much more often each group gives a label than the others do to the same items, with intervals."""
    groups = [row for row in ordered_groups(result, order) if row.label_use is not None]
    shown = one_line(label)
    measure = Measure(
        f"“{shown}”",
        f"“{shown}”: points more often than the others on the same items",
        "Right of 0: more often than by the others.",
        0.0,
        lambda row: label_outcome(row, label),
        lambda points: NOT_ESTIMABLE if points is None else format_points(points / 100),
    )
    return _plot(result, measure, groups, theme, headed=order == "axis", page=page, of=of)


def _plot(
    result: RunResult,
    measure: Measure,
    groups: Sequence[GroupResult],
    theme: Theme,
    *,
    headed: bool,
    page: int | None,
    of: str,
) -> alt.LayerChart:
    heading = title(
        f"{measure.name} of {of}", ["In brackets: raters. Bar: 95 % interval.", measure.explanation]
    )
    if not groups:
        return message(theme, heading=heading, text="There is no group to show.")
    domain = shared_domain([measure.of(row) for row in groups])
    drawn, headings, height = _rows(result, measure, groups[on_page(page)], domain, headed=headed)
    told = [
        f"{row['group']} {row['value']} {row['interval'] if row['low'] is not None else ''}".rstrip()
        + (f", {row['significance']}" if row["significance"] != SIGNIFICANCE_NAMES["none"] else "")
        for row in drawn
        if row["x"] is not None
    ]
    missing = "; ".join(row["group"] for row in drawn if row["x"] is None)
    whose = number(len(drawn), "group") if of == EACH_GROUP else of
    alt_text = f"{measure.name} with its 95 % interval for {whose}: {'; '.join(told)}."
    alt_text += f" Not estimable: {missing}." if missing else ""
    plotted = _layers(drawn, headings, measure, domain, height, theme)
    return finish(plotted, theme, heading=heading, alt_text=alt_text, height=height)


def _rows(
    result: RunResult,
    measure: Measure,
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
    names = group_labels([row.group for row in groups])
    for name, row in zip(names, groups, strict=True):
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
    result: RunResult, measure: Measure, row: GroupResult, domain: tuple[float, float]
) -> dict[str, Any]:
    outcome = measure.of(row)
    low, high = ends(outcome)
    interval = "" if low is None else f"[{measure.write(low)}, {measure.write(high)}]"
    beside = f"{signs(outcome)}{MAY_CHANGE if may_change(outcome) else ''}"
    return {
        "axis": axis_label(row.group.axes),
        "raters": row.n_raters,
        "x": within(domain, outcome.value),
        "low": within(domain, low),
        "high": within(domain, high),
        "chance": within(domain, outcome.null_median),
        "value": measure.write(outcome.value),
        "interval": interval or str(outcome.no_interval or ""),
        "figures": " ".join(part for part in (measure.write(outcome.value), interval, beside) if part),
        "p": p_in_figure(outcome, result),
        "q": "" if outcome.q is None else q_in_figure(outcome, result),
        "significance": SIGNIFICANCE_NAMES[outcome.significance],
        "verdict": verdict(outcome),
    }
