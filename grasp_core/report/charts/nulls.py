"""The rows that null histograms draw: where each group lies, its figures and its bins."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from grasp_core.model.groups import axis_label, group_labels
from grasp_core.model.outcome import Histogram, Outcome
from grasp_core.model.result import RunResult
from grasp_core.report.charts.theme import badge
from grasp_core.report.tables import RowOrder, ends, ordered_groups
from grasp_core.report.words.names import (
    MAY_CHANGE,
    NOT_ESTIMABLE,
    NOT_YET,
    SIGNIFICANCE_NAMES,
    arrow,
    format_interval,
    format_p,
    format_value,
    may_change,
    not_yet,
    outcome_of,
    p_in_figure,
    q_in_figure,
    verdict,
)

PAGE = 40
"""Groups that a page shows at once."""
_TEXT, _MARK, _BASE = 0.19, 0.5, 0.95
"""Where in a row its text, the observed mark and the histogram's base lie: the text stands above them."""
_PEAK = 0.44
"""Height of the tallest bin, in rows."""
_HEADS, _HEADING = 0.5, 0.65
"""Height of the columns' heads, and of an axis's heading, in rows."""
_TAIL = 0.005
"""Share of shuffled values that the shared axis may cut off at either end."""
_REACH = 5.0
"""The axis reaches at most this many typical row widths from its centre."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A line that names the axis of the groups below it."""

    top: float
    text: str


@dataclass(frozen=True, slots=True)
class Line:
    """A line with a histogram: its upper edge in rows, what it is of, and what was found of it.

    `drawn` is the outcome as it is placed along the chart's axis, where that is another one than its own;
    `value` and `interval` are the observed value and its interval as text, where these are no plain numbers.
    """

    top: float
    name: str
    axis: str
    raters: int
    outcome: Outcome
    drawn: Outcome | None = None
    value: str | None = None
    interval: str | None = None

    @property
    def placed(self) -> Outcome:
        """The outcome along the chart's axis."""
        return self.drawn or self.outcome


def arrange(result: RunResult, statistic: str, order: RowOrder, only: slice) -> list[Heading | Line]:
    """Lines from top to bottom, below the columns' heads; in axis order each axis gets a heading."""
    groups = [row.group for row in result.groups]
    names = dict(zip(groups, group_labels(groups), strict=True))
    lines: list[Heading | Line] = []
    top = _HEADS
    axes: tuple[str, ...] | None = None
    for row in ordered_groups(result, order)[only]:
        if order == "axis" and row.group.axes != axes:
            axes = row.group.axes
            lines.append(Heading(top, axis_label(axes)))
            top += _HEADING
        axis, outcome = axis_label(row.group.axes), outcome_of(row, statistic)
        lines.append(Line(top, names[row.group], axis, row.n_raters, outcome))
        top += 1
    return lines


def on_page(page: int | None) -> slice:
    """Which rows, counted from 0, a page shows, counted from 1; all without one."""
    return slice(None) if page is None else slice((page - 1) * PAGE, page * PAGE)


def extent(lines: Sequence[Heading | Line]) -> float:
    """Rows that the lines take, column heads included."""
    return lines[-1].top + 1


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


def shared_domain(outcomes: Sequence[Outcome]) -> tuple[float, float]:
    """Range of the shared axis: all of what is drawn, unless a few wild rows would squash the rest."""
    ranges = []
    for outcome in outcomes:
        drawn = [] if outcome.value is None else [outcome.value]
        if outcome.null is not None and sum(outcome.null.counts) > 0:
            drawn += [quantile(outcome.null, _TAIL), quantile(outcome.null, 1 - _TAIL)]
        if outcome.interval is not None:
            drawn += [outcome.interval.low, outcome.interval.high]
        if drawn:
            ranges.append((min(drawn), max(drawn)))
    if not ranges:
        return 0.0, 1.0
    low, high = min(ends[0] for ends in ranges), max(ends[1] for ends in ranges)
    typical = median(ends[1] - ends[0] for ends in ranges)
    if typical > 0:
        centre = median((ends[0] + ends[1]) / 2 for ends in ranges)
        low, high = max(low, centre - _REACH * typical), min(high, centre + _REACH * typical)
    margin = 0.03 * (high - low) or 0.05 * max(abs(high), 0.1)
    return low - margin, high + margin


def rounded_outwards(domain: tuple[float, float]) -> tuple[float, float]:
    """Round numbers around a range, which stay while shuffled values that come widen it a little."""
    step = 10.0 ** math.floor(math.log10(domain[1] - domain[0])) / 4
    return math.floor(domain[0] / step) * step, math.ceil(domain[1] / step) * step


def heading_row(line: Heading) -> dict[str, Any]:
    """An axis heading."""
    return {"text": line.text, "middle": line.top + _HEADING / 2}


def outcome_row(result: RunResult, line: Line, domain: tuple[float, float]) -> dict[str, Any]:
    """A line's figures as text, its place, and its observed value and interval held within `domain`."""
    outcome, value = line.outcome, line.placed.value
    low, high = ends(line.placed)
    place = within(domain, value)
    tested = outcome.p is not None
    note = "observed value beyond the axis" if place != value else ""
    if outcome.value is None:
        note = f"{NOT_ESTIMABLE}: {outcome.reason or 'no reason given'}"
    q = "" if outcome.value is None or tested or not_yet(outcome, result) else format_p(None)
    untested = format_p(None) if outcome.reason is None else verdict(outcome)
    untested = NOT_YET if not_yet(outcome, result) else untested
    said = format_value(outcome.value) if line.value is None else line.value
    return {
        "group": line.name,
        "axis": line.axis,
        "raters": line.raters,
        "row_top": line.top,
        "top": line.top + _MARK,
        "middle": line.top + _TEXT,
        "base": line.top + _BASE,
        "x": place,
        "low": within(domain, low),
        "high": within(domain, high),
        "interval": line.interval or format_interval(outcome) or str(outcome.no_interval or ""),
        "value": "" if value is None else f"{said} {arrow(outcome)}".strip(),
        "median": format_value(outcome.null_median),
        "p": p_in_figure(outcome, result) if tested else "",
        "q": q if outcome.q is None else q_in_figure(outcome, result),
        "significance": SIGNIFICANCE_NAMES[outcome.significance],
        "badge": badge(outcome.significance) + (f" {MAY_CHANGE}" if may_change(outcome) else ""),
        "note": note,
        "verdict": SIGNIFICANCE_NAMES[outcome.significance] if tested else note or untested,
    }


def within(domain: tuple[float, float], value: float | None) -> float | None:
    """The place in a domain that is nearest to a value; None of None."""
    return None if value is None else min(max(value, domain[0]), domain[1])


def null_row(line: Line) -> dict[str, Any] | None:
    """The outline of a line's histogram: each bin's lower edge, then the last one's upper edge."""
    null = line.placed.null
    if null is None or sum(null.counts) == 0:
        return None
    base = round(line.top + _BASE, 4)
    width = (null.high - null.low) / len(null.counts)
    scale = _PEAK / max(null.counts)
    return {
        "row": round(line.top, 4),
        "x": [float(f"{null.low + width * edge:.7g}") for edge in range(len(null.counts) + 1)],
        "top": [round(base - count * scale, 4) for count in (*null.counts, 0)],
        "base": base,
        "significance": SIGNIFICANCE_NAMES[line.outcome.significance],
    }
