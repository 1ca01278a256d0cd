"""One group: a finding before its null distribution, and all its statistics on one axis."""

from __future__ import annotations

from dataclasses import replace

import altair as alt

from grasp_core.charts.histograms import ROW, layers, subtitle
from grasp_core.charts.nulls import Line, extent, rounded_outwards, shared_domain
from grasp_core.charts.theme import Theme, finish, message, title
from grasp_core.outcome import Histogram, Outcome
from grasp_core.pairs import PairResult
from grasp_core.report.findings.finding import LABEL_USE, Finding, words_of
from grasp_core.report.findings.findings import evidence
from grasp_core.report.tables import ends
from grasp_core.report.words.label_use import centre, format_points, spread
from grasp_core.report.words.names import (
    SIGNIFICANCE_NAMES,
    axis_label,
    format_value,
    group_label,
)
from grasp_core.result import GroupResult, RunResult

_HEADS = 0.5
_POINTS = 100.0
_NO_COUNT = 0
"""All lines are of one group, whose raters stand above the chart."""


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
    return _histograms(result, row, group_label(row.group), "Every statistic against random groupings", theme)


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
    axis = "standard deviations from the mean of random groupings"
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
