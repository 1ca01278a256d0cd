"""Null histograms: the paper's Figures 1-8 as one chart per statistic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import altair as alt

from grasp_core.charts.theme import Theme, badge, colour, finish, message, palette, rows, shape, title
from grasp_core.report.tables import RowOrder, ordered_groups
from grasp_core.report.words import (
    NOT_ESTIMABLE,
    SIGNIFICANCE_NAMES,
    WORDS,
    arrow,
    axis_label,
    format_p,
    format_p_value,
    format_value,
    group_labels,
    outcome_of,
)
from grasp_core.result import GroupResult, Histogram, Outcome, RunResult, Significance

_ROW = 28
_ROW_DENSE = 22
_DENSE_FROM = 40
_PEAK = 0.84
"""Height of the tallest bin, in rows."""
_TAIL = 0.005
"""Share of shuffled values that the shared axis may cut off at either end."""
_REACH = 5.0
"""The axis reaches at most this many typical row widths from its centre."""
_NAME_LIMIT = 190
_SEPARATION = 8
_RATERS_AT = -_SEPARATION
_NAMES_AT = -46
_COLUMNS = {"value": 60, "p": 114, "q": 168}
_BADGE_AT = 186


@dataclass(frozen=True, slots=True)
class _Row:
    """A line of the chart: an axis heading, or one group."""

    top: float
    heading: str | None = None
    group: GroupResult | None = None
    name: str = ""


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
        As wide as its container; named data sets `nulls`, `outcomes`, `headings`, `columns`.

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
    lines = _lines(result, order, by)
    domain = _domain([outcome_of(row, statistic) for row in result.groups])
    layers = _layers(result, statistic, theme, lines, domain)
    height = _ROW_DENSE if len(result.groups) >= _DENSE_FROM else _ROW
    return finish(
        layers,
        theme,
        heading=heading,
        alt_text=chart_alt(result, statistic),
        height=height * _extent(lines),
    )


def chart_alt(result: RunResult, statistic: str) -> str:
    """What the null histograms show, for those who do not see them."""
    name = WORDS[statistic].name
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
            f"{format_p(outcome.p)}, {format_p(outcome.q, name='q')})"
            for label, outcome in zip(labels, outcomes, strict=True)
            if outcome.significance == significance
        ]
        parts.append(f"{words}: {'; '.join(found) or 'none'}.")
    missing = [label for label, outcome in zip(labels, outcomes, strict=True) if outcome.value is None]
    if missing:
        parts.append(f"Not estimable: {'; '.join(missing)}.")
    return " ".join(parts)


def _subtitle(result: RunResult, statistic: str) -> str:
    return (
        f"Histogram: {result.spec.analysis.permutations:,} shuffles of the raters’ profiles, each scaled "
        f"to its own height. Line: observed {WORDS[statistic].name}."
    )


def _lines(result: RunResult, order: RowOrder, by: str | None) -> list[_Row]:
    names = dict(
        zip(
            (row.group for row in result.groups),
            group_labels([row.group for row in result.groups]),
            strict=True,
        )
    )
    lines: list[_Row] = []
    top = 1.0
    axes: tuple[str, ...] | None = None
    for row in ordered_groups(result, order, by):
        if order == "axis" and row.group.axes != axes:
            axes = row.group.axes
            lines.append(_Row(top, heading=axis_label(axes)))
            top += 1
        lines.append(_Row(top, group=row, name=names[row.group]))
        top += 1
    return lines


def _extent(lines: Sequence[_Row]) -> int:
    return int(lines[-1].top) + 1


def quantile(null: Histogram, share: float) -> float:
    """Value below which `share` of the histogram lies, linear within its bin."""
    total = sum(null.counts)
    width = (null.high - null.low) / len(null.counts)
    below = 0
    for position, count in enumerate(null.counts):
        if count and below + count >= share * total:
            return null.low + width * (position + (share * total - below) / count)
        below += count
    return null.high


def _domain(outcomes: Sequence[Outcome]) -> tuple[float, float]:
    ranges = []
    for outcome in outcomes:
        ends = [] if outcome.value is None else [outcome.value]
        if outcome.null is not None and sum(outcome.null.counts) > 0:
            ends += [quantile(outcome.null, _TAIL), quantile(outcome.null, 1 - _TAIL)]
        if ends:
            ranges.append((min(ends), max(ends)))
    if not ranges:
        return 0.0, 1.0
    low, high = min(ends[0] for ends in ranges), max(ends[1] for ends in ranges)
    typical = median(ends[1] - ends[0] for ends in ranges)
    if typical > 0:
        centre = median((ends[0] + ends[1]) / 2 for ends in ranges)
        low, high = max(low, centre - _REACH * typical), min(high, centre + _REACH * typical)
    margin = 0.03 * (high - low) or 0.05 * max(abs(high), 0.1)
    return low - margin, high + margin


def _layers(
    result: RunResult, statistic: str, theme: Theme, lines: list[_Row], domain: tuple[float, float]
) -> list[alt.Chart]:
    colours = palette(theme)
    groups = [line for line in lines if line.group is not None]
    outcomes = rows([_outcome_row(result, statistic, line, domain) for line in groups], "outcomes")
    nulls = rows([point for line in groups for point in _null_points(statistic, line)], "nulls")
    x = alt.X(
        "x:Q",
        scale=alt.Scale(domain=list(domain), nice=False, zero=False),
        axis=alt.Axis(title=WORDS[statistic].axis, tickCount=5, grid=True),
    )
    y = alt.Y("top:Q", scale=alt.Scale(domain=[0, _extent(lines)], reverse=True, nice=False), axis=None)
    base = alt.Chart(outcomes)
    return [
        alt.Chart(nulls)
        .mark_area(interpolate="step-after", opacity=0.55, clip=True, strokeWidth=0)
        .encode(x=x, y=y, y2="base:Q", detail="row:N", color=colour(theme)),
        base.mark_rule(color=colours.grid).encode(
            y=alt.Y("base:Q", axis=None), x=alt.value(0), x2=alt.value("width")
        ),
        base.transform_filter("isValid(datum.x)")
        .mark_rule(color=colours.ink, strokeWidth=1.6)
        .encode(x=x, y=y, y2="base:Q"),
        base.transform_filter("isValid(datum.x)")
        .mark_point(filled=True, size=62, opacity=1, stroke=colours.background, strokeWidth=0.7)
        .encode(x=x, y=y, color=colour(theme), shape=shape()),
        *_text_layers(base, lines, theme),
        base.mark_rect(opacity=0).encode(
            x=alt.value(-_NAME_LIMIT),
            x2=alt.value("width"),
            y=alt.Y("row_top:Q", axis=None),
            y2="base:Q",
            tooltip=[
                alt.Tooltip(f"{field}:N", title=words)
                for field, words in (
                    ("group", "Group"),
                    ("axis", "Axis"),
                    ("raters", "Raters"),
                    ("value", WORDS[statistic].name),
                    ("median", "Median of chance groupings"),
                    ("p", "p"),
                    ("q", "q"),
                    ("verdict", "Result"),
                )
            ],
        ),
    ]


def _text_layers(base: alt.Chart, lines: list[_Row], theme: Theme) -> list[alt.Chart]:
    colours = palette(theme)
    middle = alt.Y("middle:Q", axis=None)
    right = alt.value("width")
    heads = {
        "left": [("Group", _NAMES_AT), ("n", _RATERS_AT)],
        "right": [("observed" if field == "value" else field, dx) for field, dx in _COLUMNS.items()],
    }
    headings = rows(
        [
            {"text": line.heading, "middle": line.top + 0.62, "base": line.top + 0.94}
            for line in lines
            if line.heading is not None
        ],
        "headings",
    )
    return [
        base.mark_text(align="right", baseline="middle", dx=_NAMES_AT, limit=_NAME_LIMIT).encode(
            x=alt.value(0), y=middle, text="group:N"
        ),
        base.mark_text(align="right", baseline="middle", dx=_RATERS_AT, color=colours.muted).encode(
            x=alt.value(0), y=middle, text="raters:Q"
        ),
        *(
            base.mark_text(align="right", baseline="middle", dx=dx).encode(
                x=right, y=middle, text=f"{field}:N"
            )
            for field, dx in _COLUMNS.items()
        ),
        base.transform_filter("datum.badge != ''")
        .mark_point(filled=True, size=62, opacity=1, xOffset=_BADGE_AT)
        .encode(x=right, y=middle, color=colour(theme), shape=shape()),
        *(
            base.transform_filter(alt.datum.significance == SIGNIFICANCE_NAMES[key])
            .mark_text(
                align="left", baseline="middle", dx=_BADGE_AT + 9, color=colours.text[key], fontWeight=600
            )
            .encode(x=right, y=middle, text="badge:N")
            for key in ("corrected", "nominal")
        ),
        base.mark_text(
            align="left", baseline="middle", dx=_SEPARATION, fontStyle="italic", color=colours.muted
        ).encode(x=alt.value(0), y=middle, text="note:N"),
        alt.Chart(headings)
        .mark_text(align="right", baseline="middle", dx=_NAMES_AT, fontWeight=600, limit=_NAME_LIMIT)
        .encode(x=alt.value(0), y=middle, text="text:N"),
        *(
            alt.Chart(
                rows([{"text": text, "dx": dx, "middle": 0.5} for text, dx in heads[side]], f"heads_{side}")
            )
            .mark_text(align="right", baseline="middle", dx=alt.expr("datum.dx"), color=colours.muted)
            .encode(x=at, y=middle, text="text:N")
            for side, at in (("left", alt.value(0)), ("right", right))
        ),
    ]


def _outcome_row(
    result: RunResult, statistic: str, line: _Row, domain: tuple[float, float]
) -> dict[str, Any]:
    assert line.group is not None  # noqa: S101
    outcome = outcome_of(line.group, statistic)
    permutations = result.spec.analysis.permutations
    value = outcome.value
    place = None if value is None else min(max(value, domain[0]), domain[1])
    untested = value is not None and outcome.p is None
    return {
        "group": line.name,
        "axis": axis_label(line.group.group.axes),
        "raters": line.group.n_raters,
        "row_top": line.top,
        "top": line.top + 0.12,
        "middle": line.top + 0.6,
        "base": line.top + 0.94,
        "x": place,
        "value": "" if value is None else f"{format_value(value)} {arrow(outcome)}".strip(),
        "median": format_value(outcome.null_median),
        "p": "" if outcome.p is None else format_p_value(outcome.p, permutations=permutations),
        "q": "" if outcome.q is None else format_p_value(outcome.q, permutations=permutations),
        "significance": SIGNIFICANCE_NAMES[outcome.significance],
        "badge": badge(outcome.significance),
        "note": _note(outcome),
        "verdict": _note(outcome) if value is None or untested else SIGNIFICANCE_NAMES[outcome.significance],
    }


def _note(outcome: Outcome) -> str:
    if outcome.value is None:
        return f"{NOT_ESTIMABLE}: {outcome.reason or 'no reason given'}"
    return f"p {NOT_ESTIMABLE}" if outcome.p is None else ""


def _null_points(statistic: str, line: _Row) -> list[dict[str, Any]]:
    assert line.group is not None  # noqa: S101
    outcome = outcome_of(line.group, statistic)
    null = outcome.null
    if null is None or sum(null.counts) == 0:
        return []
    base = line.top + 0.94
    width = (null.high - null.low) / len(null.counts)
    scale = _PEAK / max(null.counts)
    heights = [*(count * scale for count in null.counts), 0.0]
    significance = SIGNIFICANCE_NAMES[outcome.significance]
    return [
        {
            "row": line.name,
            "x": null.low + width * position,
            "top": base - height,
            "base": base,
            "significance": significance,
        }
        for position, height in enumerate(heights)
    ]
