"""One group: histograms of its statistics."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import altair as alt

from grasp_core.model.groups import axis_label, group_label, group_labels
from grasp_core.model.outcome import Histogram, Outcome, PairResult, Significance
from grasp_core.model.result import GroupResult, RunResult
from grasp_core.report.charts.nulls import (
    Heading,
    Line,
    arrange,
    extent,
    heading_row,
    null_row,
    on_page,
    outcome_row,
    rounded_outwards,
    shared_domain,
)
from grasp_core.report.charts.theme import (
    LEFT,
    RIGHT,
    UP_TO_RIGHT,
    Theme,
    colour,
    down,
    exactly,
    finish,
    message,
    palette,
    rows,
    shape,
    ticks,
    title,
    tooltip,
    written,
)
from grasp_core.report.findings.finding import LABEL_USE, Finding, words_of
from grasp_core.report.findings.findings import evidence
from grasp_core.report.tables import RowOrder, ends
from grasp_core.report.words.label_use import centre, format_points, spread
from grasp_core.report.words.names import (
    SIGNIFICANCE_NAMES,
    WORDS,
    format_p,
    format_value,
    outcome_of,
    p_words,
)

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
    theme: Theme = "light",
    order: RowOrder = "axis",
    *,
    page: int | None = None,
) -> alt.LayerChart:
    """Per group the histogram of shuffled values, the observed one as a rule across it.

    `page`: only the groups of this page, from 1; by default all.

    Raises ValueError if the statistic is unknown.
    """
    if statistic not in WORDS:
        raise ValueError(f"`statistic` must be one of {', '.join(WORDS)}; found {statistic!r}")
    some = any(outcome_of(row, statistic).interval for row in result.groups)
    heading = title(f"{WORDS[statistic].name} against random groupings", subtitle(result, intervals=some))
    if not result.groups:
        return message(theme, heading=heading, text="There is no group to show.")
    lines = arrange(result, statistic, order, on_page(page))
    domain = shared_domain([outcome_of(row, statistic) for row in result.groups])
    if result.provisional:
        domain = rounded_outwards(domain)
    return finish(
        layers(result, WORDS[statistic].axis, theme, lines, domain),
        theme,
        heading=heading,
        alt_text=chart_alt(result, statistic),
        height=round(ROW * extent(lines)),
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
        ("nominal", "Standing out, which may be luck"),
    )
    for significance, words in wanted:
        found = [
            f"{label} ({format_value(outcome.value)}, {outcome.direction or 'no direction'}, "
            f"{p_words(outcome, permutations=permutations)}, "
            f"{format_p(outcome.q, name='q', permutations=permutations)})"
            for label, outcome in zip(labels, outcomes, strict=True)
            if outcome.significance == significance
        ]
        parts.append(f"{words}: {'; '.join(found) or 'none'}.")
    missing = [label for label, outcome in zip(labels, outcomes, strict=True) if outcome.value is None]
    if missing:
        parts.append(f"Not estimable: {'; '.join(missing)}.")
    return " ".join(parts)


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
    theme: Theme,
    lines: list[Heading | Line],
    domain: tuple[float, float],
    head: str = "Group · raters",
) -> list[alt.Chart]:
    """Lines of histograms along one axis of this title; above each its name, value, p, q and mark."""
    colours, middle = palette(theme), down("middle")
    x, low = (
        alt.X(
            f"{field}:Q",
            scale=exactly(domain),
            axis=alt.Axis(title=title, tickCount=ticks(), grid=True),
        )
        for field in ("x", "low")
    )
    y = down("top", extent(lines))
    shown = [line for line in lines if isinstance(line, Line)]
    outcomes = rows([outcome_row(result, line, domain) for line in shown], "outcomes")
    nulls = alt.Chart(rows([row for line in shown if (row := null_row(line)) is not None], "nulls"))
    base = alt.Chart(alt.NamedData("outcomes")).encode(
        tooltip=tooltip(
            group="Of",
            axis="Axis",
            raters="Raters",
            value="Observed",
            interval="95 % interval",
            median="Median of random groupings",
            p="p",
            q="q",
            verdict="Result",
        )
    )
    observed = base.transform_filter("isValid(datum.x)")
    named = base.transform_calculate(name="datum.raters ? datum.group + ' · ' + datum.raters : datum.group")
    look: dict[str, Any] = {"color": colours.muted, "limit": alt.expr("width")}
    return [
        alt.Chart(outcomes)
        .mark_rule(color=colours.grid, aria=False)
        .encode(y=down("base"), x=LEFT, x2=UP_TO_RIGHT),
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
        written(named, "name", LEFT, middle, limit=alt.expr(f"width - ({_NARROW} ? 132 : 310)")),
        *(written(base, field, RIGHT, middle, "right", **_place(*at)) for field, at in _COLUMNS.items()),
        base.transform_filter("datum.badge != ''")
        .mark_point(filled=True, size=62, opacity=1, xOffset=_by_width(*_BADGE_AT), aria=False)
        .encode(x=RIGHT, y=middle, color=colour(theme), shape=shape()),
        *(
            written(
                base.transform_filter(alt.datum.significance == SIGNIFICANCE_NAMES[key]),
                "badge",
                RIGHT,
                middle,
                dx=_BADGE_AT[1] + 9,
                opacity=_by_width(0, 1),
                color=colours.text[key],
                fontWeight=600,
            )
            for key in ("corrected", "nominal")
        ),
        written(base, "note", LEFT, middle, dy=18, fontStyle="italic", **look),
        *_heads(lines, head, theme),
        base.mark_rect(opacity=0).encode(x=LEFT, x2=UP_TO_RIGHT, y=down("row_top"), y2=alt.Y2("base:Q")),
    ]


def _by_width(narrow: float, wide: float) -> alt.ExprRef:
    return alt.expr(f"{_NARROW} ? {narrow} : {wide}")


def _place(narrow: float | None, wide: float) -> dict[str, Any]:
    """Where a figure stands, and that it is not there where it is narrow."""
    if narrow is None:
        return {"dx": wide, "opacity": _by_width(0, 1)}
    return {"dx": _by_width(narrow, wide)}


def _heads(lines: list[Heading | Line], name: str, theme: Theme) -> list[alt.Chart]:
    """Headings of axes, and the heads of the columns."""
    middle = down("middle")
    headings = rows([heading_row(line) for line in lines if isinstance(line, Heading)], "headings")
    head = alt.Chart(rows([{"middle": 0.25}], "heads")).encode(y=middle)
    text = partial(head.mark_text, baseline="middle", color=palette(theme).muted)
    return [
        written(alt.Chart(headings), "text", LEFT, middle, fontWeight=600, limit=alt.expr("width")),
        text(align="left").encode(x=LEFT, text=alt.TextValue(name)),
        *(
            text(align="right", **_place(*at)).encode(
                x=RIGHT, text=alt.TextValue("observed" if field == "value" else field)
            )
            for field, at in _COLUMNS.items()
        ),
    ]


_HEADS = 0.5
_POINTS = 100.0
_NO_COUNT = 0
"""All lines are of one group, whose raters stand above the chart."""


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
        heading_text, subtitle(result, intervals=any(one.interval for one in row.statistics.values()))
    )
    shown = [_line(finding, _HEADS + place) for place, finding in enumerate(evidence(row, name))]
    if not shown:
        return message(theme, heading=heading, text="No statistic of this group has a value.")
    domain = shared_domain([line.placed for line in shown])
    domain = rounded_outwards(domain) if result.provisional else domain
    axis = "standard deviations from the mean of random groupings"
    told = "; ".join(
        f"{line.name} {line.value or format_value(line.outcome.value)} "
        f"({SIGNIFICANCE_NAMES[line.outcome.significance]})"
        for line in shown
    )
    return finish(
        layers(result, axis, theme, list(shown), domain, head="Statistic"),
        theme,
        heading=heading,
        alt_text=f"Histograms of the statistics of {name} under shuffled rater profiles: {told}.",
        height=round(ROW * extent(shown)),
    )


def _line(finding: Finding, top: float) -> Line:
    outcome, axis = finding.outcome, axis_label(finding.row.group.axes)
    placed = _in_deviations(outcome)
    if finding.what != LABEL_USE:
        return Line(top, words_of(finding.what).name, axis, _NO_COUNT, outcome, placed)
    value = f"{format_points(finding.value)} points"
    interval = f"[{', '.join(format_points(end) for end in ends(outcome))}]" if outcome.interval else None
    name = f"Label use: “{finding.label}”"
    return Line(top, name, axis, _NO_COUNT, outcome, placed, value=value, interval=interval)


def _in_deviations(outcome: Outcome) -> Outcome:
    """Value, interval and null distribution beyond the mean of the latter, in its standard deviations."""
    null, interval = outcome.null, outcome.interval
    deviation = 0.0 if null is None else spread(null)
    if null is None or not deviation:
        return Outcome(None)
    middle, factor = centre(null), 1 / deviation

    def place(value: float) -> float:
        return (value - middle) * factor

    return replace(
        outcome,
        value=None if outcome.value is None else place(outcome.value),
        null=Histogram(place(null.low), place(null.high), null.counts),
        interval=interval and replace(interval, low=place(interval.low), high=place(interval.high)),
    )
