"""Null histograms: the paper's Figures 1-8 as one chart per statistic."""

from __future__ import annotations

import altair as alt

from grasp_core.charts.nulls import (
    GroupLine,
    Heading,
    arrange,
    extent,
    heading_row,
    null_row,
    outcome_row,
    rounded_outwards,
    shared_domain,
)
from grasp_core.charts.theme import (
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
from grasp_core.outcome import Significance
from grasp_core.report.tables import RowOrder
from grasp_core.report.words import (
    SIGNIFICANCE_NAMES,
    WORDS,
    format_p,
    format_value,
    group_labels,
    outcome_of,
)
from grasp_core.result import RunResult

_ROW = 28
_ROW_DENSE = 22
_DENSE_FROM = 40
_NAME_LIMIT = 190
_SEPARATION = 8
_RATERS_AT = -_SEPARATION
_NAMES_AT = -46
_COLUMNS = {"value": 60, "p": 114, "q": 168}
_BADGE_AT = 186


def null_histograms(
    result: RunResult,
    statistic: str,
    theme: Theme = "light",
    order: RowOrder = "axis",
    by: str | None = None,
) -> alt.LayerChart:
    """Per group the histogram of shuffled values, the observed one as a rule across it.

    Parameters
    ----------
    result : RunResult
    statistic : str
        One of :data:`grasp_core.spec.STATISTICS`.
    theme : {"light", "dark"}
    order : {"axis", "effect", "q"}
    by : str, optional
        Statistic that decides the order, see :func:`grasp_core.report.tables.ordered_groups`.

    Returns
    -------
    LayerChart
        As wide as its container; named data sets `nulls` and `outcomes`.

    Raises
    ------
    ValueError
        If the statistic is unknown.
    """
    if statistic not in WORDS:
        raise ValueError(f"`statistic` must be one of {', '.join(WORDS)}; found {statistic!r}")
    heading = title(f"{WORDS[statistic].name} against chance groupings", _subtitle(result, statistic))
    if not result.groups:
        return message(theme, heading=heading, text="There is no group to show.")
    lines = arrange(result, order, by)
    domain = shared_domain([outcome_of(row, statistic) for row in result.groups])
    if result.provisional:
        domain = rounded_outwards(domain)
    layers = _layers(result, statistic, theme, lines, domain)
    height = _ROW_DENSE if len(result.groups) >= _DENSE_FROM else _ROW
    return finish(
        layers,
        theme,
        heading=heading,
        alt_text=chart_alt(result, statistic),
        height=height * extent(lines),
    )


def chart_alt(result: RunResult, statistic: str) -> str:
    """The null histograms in words, for those who do not see them."""
    name = WORDS[statistic].name
    permutations = result.permutations
    labels = group_labels([row.group for row in result.groups])
    outcomes = [outcome_of(row, statistic) for row in result.groups]
    parts = [
        f"Histograms of {name} for {len(labels)} group{'' if len(labels) == 1 else 's'} under shuffled "
        "rater profiles, with the observed value across each."
    ]
    wanted: tuple[tuple[Significance, str], ...] = (
        ("corrected", "Standing out after correction"),
        ("nominal", "Standing out nominally only"),
    )
    for significance, words in wanted:
        found = [
            f"{label} ({format_value(outcome.value)}, {outcome.direction or 'no direction'}, "
            f"{format_p(outcome.p, permutations=permutations)}, "
            f"{format_p(outcome.q, name='q', permutations=permutations)})"
            for label, outcome in zip(labels, outcomes, strict=True)
            if outcome.significance == significance
        ]
        parts.append(f"{words}: {'; '.join(found) or 'none'}.")
    missing = [label for label, outcome in zip(labels, outcomes, strict=True) if outcome.value is None]
    if missing:
        parts.append(f"Not estimable: {'; '.join(missing)}.")
    return " ".join(parts)


def _subtitle(result: RunResult, statistic: str) -> list[str]:
    some = any(outcome_of(row, statistic).interval for row in result.groups)
    bar = " Bar: its 95 % interval." if some else ""
    shuffles = "the shuffles so far" if result.provisional else f"{result.permutations:,} shuffles"
    return [
        f"Histogram: {shuffles} of the raters’ profiles, each scaled to its own height.",
        f"Line: observed {WORDS[statistic].name}; ↑ ↓: above or below the shuffles’ median.{bar}",
    ]


def _layers(
    result: RunResult,
    statistic: str,
    theme: Theme,
    lines: list[Heading | GroupLine],
    domain: tuple[float, float],
) -> list[alt.Chart]:
    x, low = (
        alt.X(
            f"{field}:Q",
            scale=alt.Scale(domain=list(domain), nice=False, zero=False),
            axis=alt.Axis(title=WORDS[statistic].axis, tickCount=ticks(), grid=True),
        )
        for field in ("x", "low")
    )
    y = alt.Y("top:Q", scale=alt.Scale(domain=[0, extent(lines)], reverse=True, nice=False), axis=None)
    groups = [line for line in lines if isinstance(line, GroupLine)]
    outcomes = rows([outcome_row(result, statistic, line, domain) for line in groups], "outcomes")
    drawn = [null_row(statistic, line) for line in groups]
    nulls = rows([row for row in drawn if row is not None], "nulls")
    base = alt.Chart(alt.NamedData("outcomes")).encode(
        tooltip=tooltip(
            group="Group",
            axis="Axis",
            raters="Raters",
            value=WORDS[statistic].name,
            interval="95 % interval",
            median="Median of chance groupings",
            p="p",
            q="q",
            verdict="Result",
        )
    )
    return [
        alt.Chart(outcomes)
        .mark_rule(color=palette(theme).grid)
        .encode(y=alt.Y("base:Q", axis=None), x=LEFT, x2=UP_TO_RIGHT),
        *_values(base, alt.Chart(nulls), theme, (x, low), y),
        *_texts(base, theme),
        *_heads(lines, theme),
        base.mark_rect(opacity=0).encode(
            x=LEFT, x2=UP_TO_RIGHT, y=alt.Y("row_top:Q", axis=None), y2=alt.Y2("base:Q")
        ),
    ]


def _values(
    base: alt.Chart, nulls: alt.Chart, theme: Theme, across: tuple[alt.X, alt.X], y: alt.Y
) -> list[alt.Chart]:
    """Each group's histogram, and across it its observed value with its interval."""
    colours, (x, low) = palette(theme), across
    observed = base.transform_filter("isValid(datum.x)")
    return [
        nulls.transform_flatten(["x", "top"])
        .mark_area(interpolate="step-after", opacity=0.55, clip=True, strokeWidth=0)
        .encode(x=x, y=y, y2=alt.Y2("base:Q"), detail=alt.Detail("row:N"), color=colour(theme)),
        observed.mark_rule(color=colours.ink, strokeWidth=1.6).encode(x=x, y=y, y2=alt.Y2("base:Q")),
        base.transform_filter("isValid(datum.low)")
        .mark_rule(color=colours.ink, strokeWidth=1.8, strokeCap="round", aria=False)
        .encode(x=low, x2=alt.X2("high:Q"), y=y),
        observed.mark_point(
            filled=True, size=62, opacity=1, stroke=colours.background, strokeWidth=0.7
        ).encode(x=x, y=y, color=colour(theme), shape=shape()),
    ]


def _texts(base: alt.Chart, theme: Theme) -> list[alt.Chart]:
    """Each group's name and raters, its figures, and its badge."""
    colours = palette(theme)
    middle = alt.Y("middle:Q", axis=None)
    return [
        base.mark_text(align="right", baseline="middle", dx=_NAMES_AT, limit=_NAME_LIMIT).encode(
            x=LEFT, y=middle, text=alt.Text("group:N")
        ),
        base.mark_text(align="right", baseline="middle", dx=_RATERS_AT, color=colours.muted).encode(
            x=LEFT, y=middle, text=alt.Text("raters:Q")
        ),
        *(
            base.mark_text(align="right", baseline="middle", dx=dx).encode(
                x=RIGHT, y=middle, text=alt.Text(f"{field}:N")
            )
            for field, dx in _COLUMNS.items()
        ),
        base.transform_filter("datum.badge != ''")
        .mark_point(filled=True, size=62, opacity=1, xOffset=_BADGE_AT)
        .encode(x=RIGHT, y=middle, color=colour(theme), shape=shape()),
        *(
            base.transform_filter(alt.datum.significance == SIGNIFICANCE_NAMES[key])
            .mark_text(
                align="left", baseline="middle", dx=_BADGE_AT + 9, color=colours.text[key], fontWeight=600
            )
            .encode(x=RIGHT, y=middle, text=alt.Text("badge:N"))
            for key in ("corrected", "nominal")
        ),
        base.mark_text(
            align="left",
            baseline="middle",
            dx=_SEPARATION,
            fontStyle="italic",
            color=colours.muted,
            limit=alt.expr("width + 160"),
        ).encode(x=LEFT, y=middle, text=alt.Text("note:N")),
    ]


def _heads(lines: list[Heading | GroupLine], theme: Theme) -> list[alt.Chart]:
    """Headings of axes, and the heads of the columns."""
    middle = alt.Y("middle:Q", axis=None)
    heads = {
        "left": [("Group", _NAMES_AT), ("n", _RATERS_AT)],
        "right": [("observed" if field == "value" else field, dx) for field, dx in _COLUMNS.items()],
    }
    headings = rows([heading_row(line) for line in lines if isinstance(line, Heading)], "headings")
    return [
        alt.Chart(headings)
        .mark_text(align="right", baseline="middle", dx=_NAMES_AT, fontWeight=600, limit=_NAME_LIMIT)
        .encode(x=LEFT, y=middle, text=alt.Text("text:N")),
        *(
            alt.Chart(
                rows([{"text": text, "dx": dx, "middle": 0.5} for text, dx in heads[side]], f"heads_{side}")
            )
            .mark_text(align="right", baseline="middle", dx=alt.expr("datum.dx"), color=palette(theme).muted)
            .encode(x=at, y=middle, text=alt.Text("text:N"))
            for side, at in (("left", LEFT), ("right", RIGHT))
        ),
    ]
