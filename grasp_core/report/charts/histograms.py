"""Null histograms: of one statistic by group, and of all statistics of one group or pair."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import altair as alt

from grasp_core.model.groups import group_label, one_line
from grasp_core.model.outcome import Outcome, PairResult
from grasp_core.model.result import GroupResult, RunResult
from grasp_core.report.charts import theme as draw
from grasp_core.report.charts.rows import (
    ChartAxis,
    ChartRow,
    in_rows,
    in_words,
    moved,
    of_groups,
    on_page,
    rounded_outwards,
    shared_domain,
)
from grasp_core.report.findings.finding import LABEL_USE, Finding, words_of
from grasp_core.report.findings.selection import evidence, of_labels
from grasp_core.report.tables import RowOrder, large_groups, not_drawn, ordered_groups
from grasp_core.report.words import names
from grasp_core.report.words.label_use import centre, spread, write_points

_CALLED: Mapping[str, str] = {
    **{"group": "Of", "axis": "Axis", "raters": "Raters", "value": "Observed", "interval": "95 % interval"},
    **{"median": "Median of random groupings", "p": "p", "q": "q", "verdict": "Result"},
}
_OF_ONE = {name: called for name, called in _CALLED.items() if name not in ("axis", "raters")}
_POINTS = "points more often than the others, of the label that differs most"


def null_histograms(
    result: RunResult,
    statistic: str,
    theme: draw.Theme = "light",
    order: RowOrder = "axis",
    *,
    page: int | None = None,
    own: bool = False,
) -> alt.LayerChart:
    """Shuffled values per group, with a line at the observed value, on one axis or each on its `own`."""
    if statistic not in (*names.WORDS, LABEL_USE):
        raise ValueError(f"`statistic` must be one of {', '.join(names.WORDS)}; found {statistic!r}")
    found = [(row, _of_group(row, statistic)) for row in ordered_groups(result, order)]
    some = any(one.on_axis.interval for _, one in found)
    name = names.statistic_name(statistic)
    told = [*_subtitle(result, intervals=some), *([names.OF_ALL_LABELS] if statistic == LABEL_USE else [])]
    heading = draw.title(f"{name} against random groupings", told)
    if not found:
        return draw.message(theme, heading=heading, text="There is no group to show.")
    title = _POINTS if statistic == LABEL_USE else names.WORDS[statistic].axis
    rows = of_groups(found, large_groups(result.groups), headed=order == "axis")
    axis = ChartAxis(title, _CALLED)
    if own:
        rows = [_on_its_own(row) for row in rows]
        look = {"labels": False, "ticks": False, "grid": False}
        axis = ChartAxis("each group on an axis of its own", _CALLED, domain=(-0.02, 1.02), look=look)
    alt_text = (
        f"Histograms of {name} for {len(rows)} group{'' if len(rows) == 1 else 's'} under shuffled rater "
        f"profiles, with the observed value across each. {in_words(rows)} {not_drawn(result.groups)}"
    ).rstrip()
    return in_rows(result, rows, axis, theme, heading, alt_text, on_page(page), histograms=True)


def _of_group(row: GroupResult, statistic: str) -> ChartRow:
    """A group's row; for label use, of the label that differs most, in points."""
    if statistic != LABEL_USE:
        return ChartRow("", names.shown_outcome(row, statistic))
    found = of_labels(row, "")
    if found is None:
        return ChartRow("", Outcome(None, reason=None if row.label_use is None else row.label_use.reason))
    return _in_points(": ", found)


def _in_points(before: str, found: Finding) -> ChartRow:
    name = f"{before}“{one_line(found.label or '')}”"
    return ChartRow(name, moved(found.outcome, lambda share: 100 * share), write=write_points)


def _on_its_own(row: ChartRow) -> ChartRow:
    """Put a row on an axis of its own; the ends of the axis follow the row's name."""
    low, high = shared_domain([row.on_axis])
    placed = moved(row.on_axis, lambda value: (value - low) / (high - low))
    return replace(row, placed=placed, behind=f"{row.behind}: {row.write(low)} to {row.write(high)}")


def _subtitle(result: RunResult, *, intervals: bool) -> list[str]:
    """Explain the histograms, in lines that fit on a phone."""
    shuffles = "the shuffles so far" if result.provisional else f"{result.permutations:,} shuffles"
    line = "Line: observed value;"
    side = "↑ ↓: above or below the median."
    return [
        f"Histogram: {shuffles} of the raters’ profiles,",
        "each scaled to its own height.",
        *([f"{line} bar: its 95 % interval;", side] if intervals else [f"{line} {side}"]),
    ]


def group_histograms(result: RunResult, row: GroupResult, theme: draw.Theme = "light") -> alt.LayerChart:
    """A histogram for each statistic of a group, in standard deviations of its shuffled values."""
    return _histograms(result, row, group_label(row.group), "Every statistic against random groupings", theme)


def pair_histograms(result: RunResult, row: PairResult, theme: draw.Theme = "light") -> alt.LayerChart:
    """A histogram for each statistic of a pair, seen from its first group."""
    titles = {"distance": "distance", "gap": "gap_a", "xrr": "xrr"}
    statistics = {name: row.statistics[of] for name, of in titles.items() if of in row.statistics}
    note = []
    if "xrr" in statistics:
        # Other items move an agreement many times as far as shuffled raters do.
        statistics["xrr"] = replace(statistics["xrr"], interval=None)
        note = ["XRR has no bar here: its interval, in the table, is mostly of other items."]
    seen = GroupResult(row.a, row.n_raters_a, 0, statistics, row.label_use)
    name = f"{group_label(row.a)} beside {group_label(row.b)}"
    return _histograms(result, seen, name, "The first group beside the second, against chance", theme, note)


def _histograms(
    result: RunResult,
    row: GroupResult,
    name: str,
    heading_text: str,
    theme: draw.Theme,
    note: Sequence[str] = (),
) -> alt.LayerChart:
    told = _subtitle(result, intervals=any(one.interval for one in row.statistics.values()))
    told += [] if row.label_use is None else [f"Label use, {names.OF_ALL_LABELS}"]
    told += note
    heading = draw.title(heading_text, told)
    rows = [_of_statistic(finding) for finding in evidence(row, name)]
    if not rows:
        return draw.message(theme, heading=heading, text="No statistic of this group has a value.")
    if not result.provisional and all(one.on_axis.null is None for one in rows):
        text = "Nothing of this group is tested by random groupings; the table has its values."
        return draw.message(theme, heading=heading, text=text)
    # Intervals may be many times as wide as the histograms: they are cut, so that shapes stay visible.
    low, high = shared_domain([replace(one.on_axis, interval=None) for one in rows])
    room = (high - low) / 2
    whole = shared_domain([one.on_axis for one in rows])
    domain = max(whole[0], low - room), min(whole[1], high + room)
    domain = rounded_outwards(domain) if result.provisional else domain
    axis = ChartAxis("standard deviations from the mean of random groupings", _OF_ONE, domain=domain)
    alt_text = f"Histograms of the statistics of {name} under shuffled rater profiles: {in_words(rows)}"
    return in_rows(result, rows, axis, theme, heading, alt_text, histograms=True)


def _of_statistic(finding: Finding) -> ChartRow:
    placed = _in_deviations(finding.outcome)
    if finding.what == LABEL_USE:
        return replace(_in_points("Label use: ", finding), placed=placed)
    return ChartRow(words_of(finding.what).name, finding.outcome, placed=placed)


def _in_deviations(outcome: Outcome) -> Outcome:
    """Value, interval and null distribution, as distances from the null's mean in its standard deviations."""
    null = outcome.null
    deviation = 0.0 if null is None else spread(null)
    if null is None or not deviation:
        return Outcome(None)
    middle = centre(null)
    return moved(outcome, lambda value: (value - middle) / deviation)
