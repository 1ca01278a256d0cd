"""One group: a finding before its null distribution, and all its statistics on one axis."""

from __future__ import annotations

from dataclasses import replace

import altair as alt

from grasp_core.charts.histograms import ROW, layers, subtitle
from grasp_core.charts.nulls import Line, extent, rounded_outwards, shared_domain
from grasp_core.charts.theme import Theme, colour, finish, message, palette, rows, shape, ticks, title
from grasp_core.outcome import Histogram, Outcome, Significance
from grasp_core.pairs import PairResult
from grasp_core.report.findings.finding import LABEL_USE, Finding, words_of
from grasp_core.report.findings.findings import evidence
from grasp_core.report.tables.groups import ends
from grasp_core.report.words.label_use import format_points
from grasp_core.report.words.names import (
    SIGNIFICANCE_NAMES,
    axis_label,
    format_value,
    group_label,
    one_line,
)
from grasp_core.report.words.spread import centre, spread
from grasp_core.result import GroupResult, RunResult

_SMALL = 76
_HEADS = 0.5
_POINTS = 100.0
_NO_COUNT = 0
"""All lines are of one group, whose raters stand above the chart."""


def finding_chart(finding: Finding, theme: Theme = "light") -> alt.LayerChart:
    """A finding's null histogram, small, with the observed value and its interval across it."""
    labels = finding.what == LABEL_USE
    than = "the others" if finding.other is None else one_line(finding.other.name)
    axis = f"points more often than {than}" if labels else words_of(finding.what).name
    outcome = _scaled(finding.outcome, 0.0, _POINTS if labels else 1.0)
    if outcome.null is None:
        return message(theme, heading=None, text="There is no null distribution to draw.")
    mark = SIGNIFICANCE_NAMES[outcome.significance]
    tested = f"Against chance groupings: {mark}." if finding.verdict is None else f"{finding.tested}."
    x = alt.X(
        "x:Q",
        scale=alt.Scale(domain=list(shared_domain([outcome])), nice=False, zero=False),
        axis=alt.Axis(title=axis, tickCount=ticks(), grid=False),
    )
    words = f"{finding.sentence.plain} {tested}"
    drawn = [_outline(outcome.null, outcome.significance, theme, x), *_observed(outcome, theme, x)]
    return finish(drawn, theme, heading=None, alt_text=words, height=_SMALL)


def _outline(null: Histogram, significance: Significance, theme: Theme, x: alt.X) -> alt.Chart:
    width, tallest = (null.high - null.low) / len(null.counts), max(null.counts)
    corners = [
        {
            "x": null.low + width * edge,
            "top": count / tallest,
            "significance": SIGNIFICANCE_NAMES[significance],
        }
        for edge, count in enumerate((*null.counts, 0))
    ]
    y = alt.Y("top:Q", scale=alt.Scale(domain=[0, 1.3], nice=False), axis=None)
    area = alt.Chart(rows(corners, "null")).mark_area(
        interpolate="step-after", opacity=0.55, clip=True, strokeWidth=0
    )
    drawn: alt.Chart = area.encode(x=x, y=y, color=colour(theme))
    return drawn


def _observed(outcome: Outcome, theme: Theme, x: alt.X) -> list[alt.Chart]:
    colours = palette(theme)
    low, high = ends(outcome)
    found = {
        "x": outcome.value,
        "low": low,
        "high": high,
        "middle": 1.15,
        "significance": SIGNIFICANCE_NAMES[outcome.significance],
    }
    across = alt.Y("middle:Q", axis=None)
    base = alt.Chart(rows([found], "observed"))
    return [
        base.mark_rule(color=colours.ink, strokeWidth=1.6).encode(x=x, y=across, y2=alt.Y2Datum(0)),
        base.transform_filter("isValid(datum.low)")
        .mark_rule(color=colours.ink, strokeWidth=1.8, strokeCap="round", clip=True, aria=False)
        .encode(x=alt.X("low:Q"), x2=alt.X2("high:Q"), y=across),
        base.mark_point(filled=True, size=80, opacity=1, stroke=colours.background, strokeWidth=0.7).encode(
            x=x, y=across, color=colour(theme), shape=shape()
        ),
    ]


def _scaled(outcome: Outcome, middle: float, factor: float) -> Outcome:
    """The outcome with value, interval and null distribution as multiples of `factor` beyond `middle`."""

    def place(value: float) -> float:
        return (value - middle) * factor

    null, interval = outcome.null, outcome.interval
    return replace(
        outcome,
        value=None if outcome.value is None else place(outcome.value),
        null=null and Histogram(place(null.low), place(null.high), null.counts),
        interval=interval and replace(interval, low=place(interval.low), high=place(interval.high)),
    )


def group_histograms(result: RunResult, row: GroupResult, theme: Theme = "light") -> alt.LayerChart:
    """All statistics of a group, each with its histogram, in standard deviations of its chance values."""
    return _histograms(result, row, group_label(row.group), "Every statistic against chance groupings", theme)


def pair_histograms(result: RunResult, row: PairResult, theme: Theme = "light") -> alt.LayerChart:
    """What was tested of a pair of groups, seen from the first, in the same way."""
    names = {"distance": "distance", "gap": "gap_a", "xrr": "xrr"}
    statistics = {name: row.statistics[of] for name, of in names.items() if of in row.statistics}
    seen = GroupResult(row.a, row.n_raters_a, 0, statistics, row.label_use)
    name = f"{group_label(row.a)} beside {group_label(row.b)}"
    return _histograms(result, seen, name, "The first group beside the second, against chance", theme)


def _histograms(
    result: RunResult, row: GroupResult, name: str, heading_text: str, theme: Theme
) -> alt.LayerChart:
    heading = title(
        heading_text,
        subtitle(result, intervals=any(one.interval for one in row.statistics.values())),
    )
    shown = [_line(finding, _HEADS + place) for place, finding in enumerate(evidence(row, name))]
    if not shown:
        return message(theme, heading=heading, text="No statistic of this group has a value.")
    domain = shared_domain([line.placed for line in shown])
    domain = rounded_outwards(domain) if result.provisional else domain
    axis = "standard deviations from the mean of chance groupings"
    return finish(
        layers(result, axis, theme, list(shown), domain, head="Statistic"),
        theme,
        heading=heading,
        alt_text=_alt(name, shown),
        height=round(ROW * extent(shown)),
    )


def _line(finding: Finding, top: float) -> Line:
    outcome, axis = finding.outcome, axis_label(finding.row.group.axes)
    placed = _in_deviations(outcome)
    if finding.what != LABEL_USE:
        return Line(top, words_of(finding.what).name, axis, _NO_COUNT, outcome, placed)
    return Line(
        top,
        f"Label use: “{finding.label}”",
        axis,
        _NO_COUNT,
        outcome,
        placed,
        value=f"{format_points(finding.value)} points",
        interval=f"[{', '.join(format_points(end) for end in ends(outcome))}]" if outcome.interval else None,
    )


def _in_deviations(outcome: Outcome) -> Outcome:
    """Beyond the mean of the null distribution, in its standard deviations; nowhere without one."""
    deviation = 0.0 if outcome.null is None else spread(outcome.null)
    if outcome.null is None or not deviation:
        return Outcome(None)
    return _scaled(outcome, centre(outcome.null), 1 / deviation)


def _alt(name: str, lines: list[Line]) -> str:
    said = [
        f"{line.name} {line.value or format_value(line.outcome.value)} "
        f"({SIGNIFICANCE_NAMES[line.outcome.significance]})"
        for line in lines
    ]
    return f"Histograms of the statistics of {name} under shuffled rater profiles: {'; '.join(said)}."
