"""Pairs of groups as tables, and every number of a result as long tables of texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import pandas as pd

from grasp_core.model.groups import AxisSet, Group, axis_label, group_label, one_line
from grasp_core.model.outcome import Outcome, PairResult
from grasp_core.model.result import RunResult, SlicesResult
from grasp_core.report.columns import or_nan
from grasp_core.report.pairs import PAIR_NAMES, Measure, measures, of_label_use, seen_from
from grasp_core.report.slices import sliced
from grasp_core.report.tables import ends, ordered_dsi, p_and_starred_q, with_label_use
from grasp_core.report.words.label_use import format_points, format_points_interval, mean_outcome
from grasp_core.report.words.names import (
    DSI_EXPLANATION,
    LABEL_USE_EXPLANATION,
    MAY_CHANGE,
    MEAN_SHIFT_EXPLANATION,
    MEAN_SHIFT_NAME,
    NOT_YET,
    STARS,
    WORDS,
    arrow,
    format_interval,
    format_p_value,
    format_value,
    may_change,
    outcome_of,
    p_so_far,
    p_text,
    q_so_far,
    reported_statistics,
    signs,
)


def pairs_table(result: RunResult) -> pd.DataFrame:
    """One row for each pair and what was tested of it."""
    told = of_label_use(result)
    rows = [
        [
            axis_label(row.a.axes),
            group_label(row.a),
            group_label(row.b),
            row.n_raters_a,
            row.n_raters_b,
            name,
            or_nan(outcome.value),
            *map(or_nan, ends(outcome)),
            or_nan(outcome.p),
            or_nan(outcome.q),
            "" if outcome.q is None else signs(outcome),
            str(outcome.reason or ""),
            "" if row.verdict is None else row.verdict.code,
            or_nan(None if row.verdict is None else row.verdict.p),
            or_nan(None if row.verdict is None else row.verdict.q),
        ]
        for row in result.pairs
        for name, outcome in (
            *((one.name, one.of(row)) for one in told),
            *((PAIR_NAMES[name], outcome) for name, outcome in row.statistics.items()),
        )
    ]
    columns = [
        "axis",
        "first",
        "second",
        "raters_first",
        "raters_second",
        "statistic",
        "value",
        "low",
        "high",
    ]
    columns += ["p", "q", "stars", "reason", "verdict", "verdict_p", "verdict_q"]
    return pd.DataFrame(rows, columns=columns)


def measure_table(
    result: RunResult, measure: Measure, *, axes: AxisSet | None = None, group: Group | None = None
) -> pd.DataFrame:
    """One row for each pair, with texts: `First`, `Second`, the value, its interval, `p` and `q`."""
    rows = result.pairs if group is None else seen_from(result, group)
    heads = ["First", "Second"] if group is None else ["Beside"]
    found = [
        [*map(group_label, (row.a, row.b)[-len(heads) :]), *_texts(measure.of(row), measure, result)]
        for row in rows
        if axes in (None, row.a.axes)
    ]
    return pd.DataFrame(found, columns=[*heads, measure.name, "95 % interval", "p", "q"])


def pairs_in_words(result: RunResult) -> pd.DataFrame:
    """One row for each pair, with texts: both groups, then of each measure its value with its stars."""
    told = measures(result)
    found = [
        [
            axis_label(row.a.axes),
            f"{group_label(row.a)} ({row.n_raters_a:,})",
            f"{group_label(row.b)} ({row.n_raters_b:,})",
            *(f"{one.write(one.of(row).value)} {signs(one.of(row))}".rstrip() for one in told.values()),
        ]
        for row in result.pairs
    ]
    return pd.DataFrame(found, columns=["Axis", "First", "Second", *(one.name for one in told.values())])


def pair_table(result: RunResult, row: PairResult) -> pd.DataFrame:
    """One row for each measure of a pair, with texts: `Measure`, `Value`, its interval, `p` and `q`."""
    told = []
    for measure in measures(result).values():
        if measure.key != "gap_a":
            told.append(measure)
            continue
        first = replace(measure, name=f"{measure.name} of {group_label(row.a)}")
        name = f"{measure.name} of {group_label(row.b)}"
        second = replace(measure, name=name, of=lambda one: one.statistics.get("gap_b", Outcome(None)))
        told += [first, second]  # a gap for each group
    found = [[one.name, *_texts(one.of(row), one, result)] for one in told]
    return pd.DataFrame(found, columns=["Measure", "Value", "95 % interval", "p", "q"])


def _texts(outcome: Outcome, measure: Measure, result: RunResult) -> list[str]:
    low, high = ends(outcome)
    interval = "" if low is None else f"[{measure.write(low)}, {measure.write(high)}]"
    if outcome.p_interval is not None:
        p, q = p_so_far(outcome), f"{q_so_far(outcome)}{MAY_CHANGE if may_change(outcome) else ''}"
    elif result.later is not None and outcome.p is None and outcome.reason is None:
        p = q = NOT_YET
    else:
        p = p_text(outcome, permutations=result.permutations)
        if outcome.p is not None and outcome.q is None:  # its mark is that of all labels together
            return [measure.write(outcome.value), interval, p, "none"]
        q = format_p_value(outcome.q, permutations=result.permutations)
    return [measure.write(outcome.value), interval, p, f"{q} {STARS[outcome.significance]}".rstrip()]


NO_INTERVAL = "none"
INTERVAL = "95 % interval"


class Numbers(NamedTuple):
    """A table: its name in files, what it shows, an explanation, and how many first columns hold names."""

    key: str
    title: str
    explanation: str
    table: pd.DataFrame
    names: int


def in_numbers(result: RunResult) -> list[Numbers]:
    """All that was found besides DSI, table by table; none is empty."""
    labels = labels_in_numbers(result)
    found = [
        Numbers("numbers", "Every statistic of every group", "", statistics_in_numbers(result), 3),
        Numbers("label-numbers", "Every label of every group", LABEL_USE_EXPLANATION, labels, 3),
        Numbers("means", MEAN_SHIFT_NAME, MEAN_SHIFT_EXPLANATION, means_in_numbers(result), 2),
        Numbers("pair-numbers", "Everything of every pair of groups", "", pairs_in_numbers(result), 4),
    ]
    for place, column in enumerate(result.slices, 1):
        found += slices_in_numbers(result, column, f"slices-{place}")
    return [one for one in found if not one.table.empty]


def slices_in_numbers(result: RunResult, found: SlicesResult, key: str) -> Iterator[Numbers]:
    """All that was found in the slices of one column; its tables' names begin with `key`."""
    by = f"by {one_line(found.column)}"
    for name, title, explanation, make, names in (
        ("numbers", "Every statistic", "", statistics_in_numbers, 5),
        ("labels", "Label use", LABEL_USE_EXPLANATION, labels_in_numbers, 5),
        ("means", MEAN_SHIFT_NAME, MEAN_SHIFT_EXPLANATION, means_in_numbers, 4),
        ("dsi", "DSI", DSI_EXPLANATION, dsi_in_numbers, 4),
    ):
        yield Numbers(f"{key}-{name}", f"{title} {by}", explanation, sliced(result, found, make), names)


def statistics_in_numbers(result: RunResult, statistics: Sequence[str] | None = None) -> pd.DataFrame:
    """One row for each statistic, or for each of those named, and group."""
    wanted = reported_statistics(result) if statistics is None else statistics
    rows = [
        [
            WORDS[name].name,
            axis_label(row.group.axes),
            group_label(row.group),
            *_tested(outcome_of(row, name), result),
        ]
        for name in wanted
        for row in result.groups
    ]
    return pd.DataFrame(rows, columns=["Statistic", "Axis", "Group", "Value", INTERVAL, "p", "q"])


def dsi_in_numbers(result: RunResult) -> pd.DataFrame:
    """One row for each axis, largest DSI first."""
    rows = []
    for row in ordered_dsi(result):
        _, *tests = _tested(row.outcome, result)
        group = "" if row.group is None else group_label(row.group)
        rows.append([axis_label(row.axes), group, format_value(row.outcome.value), *tests])
    return pd.DataFrame(rows, columns=["Axis", "Attained by", "DSI", INTERVAL, "p", "q"])


def labels_in_numbers(result: RunResult) -> pd.DataFrame:
    """One row for each group and label."""
    rows = [
        [
            axis_label(row.group.axes),
            group_label(row.group),
            one_line(label),
            format_points(shift.value),
            format_points_interval(shift) or NO_INTERVAL,
            format_p_value(shift.p, permutations=result.permutations),
            *p_and_starred_q(use, result),
        ]
        for row, use in with_label_use(result)
        for label, shift in use.labels.items()
    ]
    return pd.DataFrame(
        rows,
        columns=["Axis", "Group", "Label", "Points", INTERVAL, "p", "p of all labels", "q of all labels"],
    )


def means_in_numbers(result: RunResult) -> pd.DataFrame:
    """One row for each group whose labels have a mean: ordered ones, by their ranks, and numbers."""
    rows = [
        [
            axis_label(row.group.axes),
            group_label(row.group),
            format_value(mean.value),
            format_interval(mean) or NO_INTERVAL,
            format_p_value(mean.p, permutations=result.permutations),
        ]
        for row, use in with_label_use(result)
        if (mean := mean_outcome(use)) is not None
    ]
    return pd.DataFrame(rows, columns=["Axis", "Group", MEAN_SHIFT_NAME, INTERVAL, "p"])


def pairs_in_numbers(result: RunResult) -> pd.DataFrame:
    """One row for each pair and measure."""
    frames = []
    for row in result.pairs:
        frame = pair_table(result, row)
        for head, cell in (
            ("Second", group_label(row.b)),
            ("First", group_label(row.a)),
            ("Axis", axis_label(row.a.axes)),
        ):
            frame.insert(0, head, cell)
        frames.append(frame)
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def _tested(outcome: Outcome, result: RunResult) -> list[str]:
    value = f"{format_value(outcome.value)} {arrow(outcome)}".rstrip()
    return [value, format_interval(outcome) or NO_INTERVAL, *p_and_starred_q(outcome, result)]
