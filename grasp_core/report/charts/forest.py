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
from grasp_core.report.charts.nulls import on_page, shared_domain, within
from grasp_core.report.charts.theme import (
    LEFT,
    RIGHT,
    UP_TO_RIGHT,
    Theme,
    colour,
    finish,
    message,
    palette,
    rows,
    shape,
    ticks,
    title,
    tooltip,
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


def layers(
    drawn: list[dict[str, Any]],
    headings: list[dict[str, Any]],
    measure: Measure,
    domain: tuple[float, float],
    height: int,
    theme: Theme,
) -> list[alt.Chart]:
    """Lines between rows, the line of no difference, marks, texts, and the places that tell more.

    `drawn`: rows of groups, with their figures and their places in pixels from the top.
    `headings`: texts of axes, and their places.
    `height`: pixels of all rows.
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
        .mark_rule(color=palette(theme).grid, aria=False)
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
        line.mark_rule(color=palette(theme).muted, strokeDash=[4, 3], aria=False).encode(
            x=_across("x", measure, domain)
        )
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
    """Value and 95 % interval of a statistic for each group, beside the middle of its random groupings.

    `statistic`: one of :data:`grasp_core.model.spec.STATISTICS`.
    `by`: see :func:`grasp_core.report.tables.ordered_groups`.
    `page`: see :func:`grasp_core.report.charts.of_group.null_histograms`.
    `of`: what its rows are of, for the title.

    Returns as wide as its container, readable from 320 pixels on; named data set `forest`.
    Raises ValueError if the statistic is unknown.
    """
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
    """How much more often each group gives a label than the others do to the same items, with intervals.

    `label` is a key of :class:`~grasp_core.model.outcome.LabelUse`; groups without it are left out. The
    rest is as in :func:`forest_plot`.
    """
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
    return finish(
        layers(drawn, headings, measure, domain, height, theme),
        theme,
        heading=heading,
        alt_text=_alt(measure, drawn, number(len(drawn), "group") if of == EACH_GROUP else of),
        height=height,
    )


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
                **_places(top),
            }
        )
        top += _ROW
    return found, headings, top


def _places(top: int) -> dict[str, int]:
    return {"top": top, "text_y": top + _TEXT, "mark_y": top + _MARK, "bottom": top + _ROW}


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


def _alt(measure: Measure, drawn: list[dict[str, Any]], of: str) -> str:
    groups = [
        f"{row['group']} {row['value']} {row['interval'] if row['low'] is not None else ''}".rstrip()
        + (f", {row['significance']}" if row["significance"] != SIGNIFICANCE_NAMES["none"] else "")
        for row in drawn
        if row["x"] is not None
    ]
    missing = [row["group"] for row in drawn if row["x"] is None]
    parts = [f"{measure.name} with its 95 % interval for {of}: {'; '.join(groups)}."]
    if missing:
        parts.append(f"Not estimable: {'; '.join(missing)}.")
    return " ".join(parts)
