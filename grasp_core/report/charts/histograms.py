"""Null histograms: of groups, and of all that was tested of one group or pair."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import median
from typing import Any

import altair as alt

from grasp_core.model.groups import axis_label, group_label, group_labels, one_line
from grasp_core.model.outcome import Histogram, Outcome, PairResult, Significance
from grasp_core.model.result import GroupResult, RunResult
from grasp_core.report.charts import theme as draw
from grasp_core.report.findings.finding import LABEL_USE, Finding, words_of
from grasp_core.report.findings.selection import evidence, of_labels
from grasp_core.report.tables import RowOrder, ends, large_groups, not_drawn, ordered_groups
from grasp_core.report.words import names
from grasp_core.report.words.label_use import centre, format_points, spread

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
_POINTS = "points more often than the others, of the label that differs most"
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
    `value` and `interval` are the observed value and its interval as text, where these are no plain numbers;
    `across` says from where to where an axis of its own reaches.
    """

    top: float
    name: str
    axis: str
    raters: int
    outcome: Outcome
    drawn: Outcome | None = None
    value: str | None = None
    interval: str | None = None
    across: str = ""

    @property
    def placed(self) -> Outcome:
        """The outcome along the chart's axis."""
        return self.drawn or self.outcome

    @property
    def said(self) -> str:
        """The observed value as text."""
        return names.format_value(self.outcome.value) if self.value is None else self.value


def arrange(result: RunResult, statistic: str, order: RowOrder, only: slice) -> list[Heading | Line]:
    """Lines from top to bottom, below the columns' heads; in axis order each axis gets a heading."""
    groups = [row.group for row in result.groups]
    titles = dict(zip(groups, group_labels(groups), strict=True))
    lines: list[Heading | Line] = []
    top = _HEADS
    axes: tuple[str, ...] | None = None
    for row in large_groups(ordered_groups(result, order))[only]:
        if order == "axis" and row.group.axes != axes:
            axes = row.group.axes
            lines.append(Heading(top, axis_label(axes)))
            top += _HEADING
        lines.append(_of_group(row, titles[row.group], statistic, top))
        top += 1
    return lines


def _of_group(row: GroupResult, name: str, statistic: str, top: float = 0) -> Line:
    """A group's line; of its label use that of the label that differs most, in points."""
    line = Line(top, name, axis_label(row.group.axes), row.n_raters, Outcome(None))
    if statistic != LABEL_USE:
        outcome = names.told_of(row, statistic)
        placed = on_axis(outcome)
        return replace(line, outcome=outcome, drawn=None if placed is outcome else placed)
    found = of_labels(row, name)
    if found is None:
        reason = None if row.label_use is None else row.label_use.reason
        return replace(line, outcome=Outcome(None, reason=reason))
    outcome = _moved(found.outcome, lambda share: 100 * share)
    return _in_points(replace(line, outcome=outcome), found)


def _in_points(line: Line, found: Finding) -> Line:
    """A line of label use with its label behind the group's name, and its figures in points."""
    interval = f"[{', '.join(map(format_points, ends(found.outcome)))}]" if found.outcome.interval else None
    name = f"{line.name}: “{one_line(found.label or '')}”"
    return replace(line, name=name, value=format_points(found.value), interval=interval)


def on_axis(outcome: Outcome) -> Outcome:
    """An outcome as it lies on its statistic's axis: a gap in the place of GAI has no place on GAI's."""
    return Outcome(None) if isinstance(outcome, names.InPlaceOfGai) else outcome


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


def outcome_row(result: RunResult, line: Line, domain: tuple[float, float]) -> dict[str, Any]:
    """A line's figures as text, its place, and its observed value and interval held within `domain`."""
    outcome, value = line.outcome, line.placed.value
    low, high = ends(line.placed)
    place = within(domain, value)
    tested = outcome.p is not None
    note = "observed value beyond the axis" if place != value else ""
    if outcome.value is None:
        note = f"{names.NOT_ESTIMABLE}: {outcome.reason or 'no reason given'}"
    p, q = names.in_figure(outcome, result)
    waiting, form = names.not_yet(outcome, result), names.form(outcome)
    untested_q = "" if outcome.value is None or tested or waiting else names.format_p(None)
    untested = names.format_p(None) if outcome.reason is None else names.verdict(outcome)
    untested = names.NOT_YET if waiting else untested
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
        "interval": line.interval or names.format_interval(outcome) or str(outcome.no_interval or ""),
        "value": "" if value is None and not form else f"{line.said} {names.arrow(outcome)}{form}".strip(),
        "median": names.format_value(outcome.null_median),
        "p": p if tested else "",
        "q": untested_q if outcome.q is None else q,
        "significance": names.SIGNIFICANCE_NAMES[outcome.significance],
        "badge": draw.badge(outcome.significance)
        + (f" {names.MAY_CHANGE}" if names.may_change(outcome) else ""),
        "note": note or line.across,
        "verdict": names.SIGNIFICANCE_NAMES[outcome.significance] if tested else note or untested,
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
        "significance": names.SIGNIFICANCE_NAMES[line.outcome.significance],
    }


ROW = 44
"""Pixels of a line: its text, and below it its histogram."""
_NARROW = "width < 480"
"""Where there is no room for p, which the table and the tooltip have, nor for a mark's words."""
_BADGE_AT = (-8, -118)
_COLUMNS = {"value": (-80, -252), "p": (None, -194), "q": (-22, -138)}
"""Right edges of figures, from the right: where it is narrow, and elsewhere."""


def null_histograms(
    result: RunResult,
    statistic: str,
    theme: draw.Theme = "light",
    order: RowOrder = "axis",
    *,
    page: int | None = None,
    own: bool = False,
) -> alt.LayerChart:
    """Per group the histogram of shuffled values, the observed one as a rule across it.

    All share one axis, unless each has its `own`.
    """
    if statistic not in (*names.WORDS, LABEL_USE):
        raise ValueError(f"`statistic` must be one of {', '.join(names.WORDS)}; found {statistic!r}")
    outcomes = [_of_group(row, "", statistic).placed for row in large_groups(result.groups)]
    some = any(one.interval for one in outcomes)
    name = names.statistic_name(statistic)
    told = [*subtitle(result, intervals=some), *([names.OF_ALL_LABELS] if statistic == LABEL_USE else [])]
    heading = draw.title(f"{name} against random groupings", told)
    if not result.groups:
        return draw.message(theme, heading=heading, text="There is no group to show.")
    lines = arrange(result, statistic, order, on_page(page))
    domain = shared_domain(outcomes)
    if result.provisional:
        domain = rounded_outwards(domain)
    axis = _POINTS if statistic == LABEL_USE else names.WORDS[statistic].axis
    if own:
        lines = [_on_its_own(line) if isinstance(line, Line) else line for line in lines]
        axis, domain = "each group on an axis of its own", (-0.35, 1.0)  # with room for its ends at the left
    return draw.finish(
        layers(result, axis, theme, lines, domain, own=own),
        theme,
        heading=heading,
        alt_text=chart_alt(result, statistic),
        height=round(ROW * extent(lines)),
    )


def _on_its_own(line: Line) -> Line:
    low, high = shared_domain([line.outcome])
    write = names.format_value if line.value is None else lambda points: format_points(points / 100)
    drawn = _moved(line.outcome, lambda value: (value - low) / (high - low))
    return replace(line, drawn=drawn, across=f"{write(low)} to {write(high)}")


def chart_alt(result: RunResult, statistic: str) -> str:
    """The null histograms in words, for those who do not see them."""
    name = names.statistic_name(statistic)
    groups = large_groups(result.groups)
    labels = group_labels([row.group for row in groups])
    lines = [_of_group(row, label, statistic) for label, row in zip(labels, groups, strict=True)]
    parts = [
        f"Histograms of {name} for {len(labels)} group{'' if len(labels) == 1 else 's'} under shuffled "
        "rater profiles, with the observed value across each."
    ]
    wanted: tuple[tuple[Significance, str], ...] = (
        ("corrected", "Standing out after correction"),
        ("nominal", "Standing out, which may be luck"),
    )
    for significance, words in wanted:
        found = [
            f"{line.name} ({line.said}, {line.outcome.direction or 'no direction'}, "
            f"{names.p_and_q_words(line.outcome, permutations=result.permutations)})"
            for line in lines
            if line.outcome.significance == significance
        ]
        parts.append(f"{words}: {'; '.join(found) or 'none'}.")
    missing = [line.name for line in lines if line.outcome.value is None]
    if missing:
        parts.append(f"Not estimable: {'; '.join(missing)}.")
    return " ".join([*parts, not_drawn(result.groups)]).rstrip()


def subtitle(result: RunResult, *, intervals: bool) -> list[str]:
    """What is drawn, in lines that a phone has room for."""
    shuffles = "the shuffles so far" if result.provisional else f"{result.permutations:,} shuffles"
    line = "Line: observed value;"
    side = "↑ ↓: above or below the median."
    return [
        f"Histogram: {shuffles} of the raters’ profiles,",
        "each scaled to its own height.",
        *([f"{line} bar: its 95 % interval;", side] if intervals else [f"{line} {side}"]),
    ]


def layers(
    result: RunResult,
    title: str,
    theme: draw.Theme,
    lines: list[Heading | Line],
    domain: tuple[float, float],
    head: str = "Group · raters",
    *,
    own: bool = False,
) -> list[alt.Chart]:
    """Lines of histograms along one axis of this title; above each its name, value, p, q and mark."""
    colours, middle = draw.palette(theme), draw.down("middle")
    look = {"labels": False, "ticks": False, "grid": False} if own else {"grid": True}
    x, low = (draw.measured(field, domain, title, **look) for field in ("x", "low"))
    y = draw.down("top", extent(lines))
    shown = [line for line in lines if isinstance(line, Line)]
    outcomes = draw.rows([outcome_row(result, line, domain) for line in shown], "outcomes")
    nulls = alt.Chart(draw.rows([row for line in shown if (row := null_row(line)) is not None], "nulls"))
    base = alt.Chart(alt.NamedData("outcomes")).encode(
        tooltip=draw.tooltip(
            *("group", "axis", "raters", "value", "interval", "median", "p", "q", "verdict"),
            **{"group": "Of", "value": "Observed", "median": "Median of random groupings"},
        )
    )
    observed = draw.valid(base, "x")
    named = base.transform_calculate(name="datum.raters ? datum.group + ' · ' + datum.raters : datum.group")
    badged = base.transform_filter("datum.badge != ''")
    noted: dict[str, Any] = {"color": colours.muted, "limit": alt.expr("width")}
    marked = {"dx": _BADGE_AT[1] + 9, "opacity": _by_width(0, 1), "fontWeight": 600}
    return [
        draw.from_edge_to_edge(alt.Chart(outcomes), draw.down("base"), theme),
        nulls.transform_flatten(["x", "top"])
        .mark_area(interpolate="step-after", opacity=0.55, clip=True, strokeWidth=0)
        .encode(x=x, y=y, y2=alt.Y2("base:Q"), detail=alt.Detail("row:N"), color=draw.colour(theme)),
        observed.mark_rule(color=colours.ink, strokeWidth=1.6).encode(x=x, y=y, y2=alt.Y2("base:Q")),
        draw.interval(base, low, y, color=colours.ink, strokeWidth=1.8, strokeCap="round"),
        draw.marked(observed, x, y, theme, size=62, stroke=colours.background, strokeWidth=0.7),
        draw.written(named, "name", draw.LEFT, middle, limit=alt.expr(f"width - ({_NARROW} ? 132 : 310)")),
        *(
            draw.written(base, field, draw.RIGHT, middle, "right", **_place(*at))
            for field, at in _COLUMNS.items()
        ),
        draw.marked(badged, draw.RIGHT, middle, theme, size=62, xOffset=_by_width(*_BADGE_AT), aria=False),
        *draw.by_mark(base, "badge", draw.RIGHT, middle, theme, keys=("corrected", "nominal"), **marked),
        draw.written(base, "note", draw.LEFT, middle, dy=18, fontStyle="italic", **noted),
        *_heads(lines, head, theme),
        draw.clickable(base, "row_top", "base"),
    ]


def _by_width(narrow: float, wide: float) -> alt.ExprRef:
    return alt.expr(f"{_NARROW} ? {narrow} : {wide}")


def _place(narrow: float | None, wide: float) -> dict[str, Any]:
    """Where a figure stands, and that it is not there where it is narrow."""
    if narrow is None:
        return {"dx": wide, "opacity": _by_width(0, 1)}
    return {"dx": _by_width(narrow, wide)}


def _heads(lines: list[Heading | Line], name: str, theme: draw.Theme) -> list[alt.Chart]:
    middle = draw.down("middle")
    headings = [
        {"text": line.text, "middle": line.top + _HEADING / 2} for line in lines if isinstance(line, Heading)
    ]
    head = alt.Chart(draw.rows([{"middle": 0.25}], "heads")).encode(y=middle)
    text = partial(head.mark_text, baseline="middle", color=draw.palette(theme).muted)
    return [
        draw.headed(headings, middle),
        text(align="left").encode(x=draw.LEFT, text=alt.TextValue(name)),
        *(
            text(align="right", **_place(*at)).encode(
                x=draw.RIGHT, text=alt.TextValue("observed" if field == "value" else field)
            )
            for field, at in _COLUMNS.items()
        ),
    ]


def group_histograms(result: RunResult, row: GroupResult, theme: draw.Theme = "light") -> alt.LayerChart:
    """All statistics of a group, each with its histogram, in standard deviations of its chance values."""
    return _histograms(result, row, group_label(row.group), "Every statistic against random groupings", theme)


def pair_histograms(result: RunResult, row: PairResult, theme: draw.Theme = "light") -> alt.LayerChart:
    """What was tested of a pair of groups, seen from the first, in the same way."""
    titles = {"distance": "distance", "gap": "gap_a", "xrr": "xrr"}
    statistics = {name: row.statistics[of] for name, of in titles.items() if of in row.statistics}
    seen = GroupResult(row.a, row.n_raters_a, 0, statistics, row.label_use)
    name = f"{group_label(row.a)} beside {group_label(row.b)}"
    return _histograms(result, seen, name, "The first group beside the second, against chance", theme)


def _histograms(
    result: RunResult, row: GroupResult, name: str, heading_text: str, theme: draw.Theme
) -> alt.LayerChart:
    told = subtitle(result, intervals=any(one.interval for one in row.statistics.values()))
    told += [] if row.label_use is None else [f"Label use, {names.OF_ALL_LABELS}"]
    heading = draw.title(heading_text, told)
    shown = [_line(finding, _HEADS + place) for place, finding in enumerate(evidence(row, name))]
    if not shown:
        return draw.message(theme, heading=heading, text="No statistic of this group has a value.")
    if not result.provisional and not any(null_row(line) for line in shown):
        text = "Nothing of this group is tested by random groupings; the table has its values."
        return draw.message(theme, heading=heading, text=text)
    # Intervals may be many times as wide as what chance gives: cut at the ends, they leave the shapes seen.
    low, high = shared_domain([replace(line.placed, interval=None) for line in shown])
    room = (high - low) / 2
    whole = shared_domain([line.placed for line in shown])
    domain = max(whole[0], low - room), min(whole[1], high + room)
    domain = rounded_outwards(domain) if result.provisional else domain
    axis = "standard deviations from the mean of random groupings"
    said = "; ".join(
        f"{line.name} {line.said} ({names.SIGNIFICANCE_NAMES[line.outcome.significance]})" for line in shown
    )
    return draw.finish(
        layers(result, axis, theme, list(shown), domain, head="Statistic"),
        theme,
        heading=heading,
        alt_text=f"Histograms of the statistics of {name} under shuffled rater profiles: {said}.",
        height=round(ROW * extent(shown)),
    )


def _line(finding: Finding, top: float) -> Line:
    outcome = finding.outcome
    # All lines are of one group, whose raters stand above the chart.
    line = Line(top, "", axis_label(finding.row.group.axes), 0, outcome, _in_deviations(outcome))
    if finding.what != LABEL_USE:
        return replace(line, name=words_of(finding.what).name)
    line = _in_points(replace(line, name="Label use"), finding)
    return replace(line, value=f"{line.value} points")


def _in_deviations(outcome: Outcome) -> Outcome:
    """Value, interval and null distribution beyond the mean of the latter, in its standard deviations."""
    null = outcome.null
    deviation = 0.0 if null is None else spread(null)
    if null is None or not deviation:
        return Outcome(None)
    middle = centre(null)
    return _moved(outcome, lambda value: (value - middle) / deviation)


def _moved(outcome: Outcome, place: Callable[[float], float]) -> Outcome:
    """The outcome along another axis."""
    null, interval, median_ = outcome.null, outcome.interval, outcome.null_median
    return replace(
        outcome,
        value=None if outcome.value is None else place(outcome.value),
        null=null and Histogram(place(null.low), place(null.high), null.counts),
        null_median=None if median_ is None else place(median_),
        interval=interval and replace(interval, low=place(interval.low), high=place(interval.high)),
    )
