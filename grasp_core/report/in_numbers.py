"""Every number of a result as long tables of texts: value, 95 % interval, p and q in cells of their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import pandas as pd

from grasp_core.model.groups import axis_label, group_label, one_line
from grasp_core.model.outcome import LabelUse, Outcome
from grasp_core.model.result import RunResult, SlicesResult
from grasp_core.report.pair_tables import pair_table
from grasp_core.report.slices import sliced
from grasp_core.report.tables import ordered_dsi, with_label_use
from grasp_core.report.words.label_use import format_points, format_points_interval, mean_outcome
from grasp_core.report.words.names import (
    DSI_EXPLANATION,
    LABEL_USE_EXPLANATION,
    MEAN_SHIFT_EXPLANATION,
    MEAN_SHIFT_NAME,
    STARS,
    WORDS,
    arrow,
    format_interval,
    format_p_value,
    format_value,
    outcome_of,
    p_text,
    reported_statistics,
)

NO_INTERVAL = "none"
INTERVAL = "95 % interval"


class Numbers(NamedTuple):
    """A table: its name in files, what it shows, an explanation, and how many first columns hold names."""

    key: str
    title: str
    explanation: str
    table: pd.DataFrame
    names: int


def in_numbers(result: RunResult) -> Iterator[Numbers]:
    """All that was found besides DSI, table by table; none is empty."""
    for one in _all_of(result):
        if not one.table.empty:
            yield one


def _all_of(result: RunResult) -> Iterator[Numbers]:
    yield Numbers("numbers", "Every statistic of every group", "", statistics_in_numbers(result), 3)
    labels = labels_in_numbers(result)
    yield Numbers("label-numbers", "Every label of every group", LABEL_USE_EXPLANATION, labels, 3)
    yield Numbers("means", MEAN_SHIFT_NAME, MEAN_SHIFT_EXPLANATION, means_in_numbers(result), 2)
    yield Numbers("pair-numbers", "Everything of every pair of groups", "", pairs_in_numbers(result), 4)
    for place, found in enumerate(result.slices, 1):
        yield from slices_in_numbers(result, found, f"slices-{place}")


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
    """One row for each statistic, or for each of those named, and group.

    Returns `Statistic`, `Axis`, `Group`, `Value` with its arrow, `95 % interval`, `p`, `q` with its stars.
    """
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
    """One row for each axis, largest DSI first.

    Returns `Axis`, `Attained by`, `DSI`, `95 % interval`, `p` and `q` against the largest of random
    groupings.
    """
    rows = []
    for row in ordered_dsi(result):
        _, *tests = _tested(row.outcome, result)
        group = "" if row.group is None else group_label(row.group)
        rows.append([axis_label(row.axes), group, format_value(row.outcome.value), *tests])
    return pd.DataFrame(rows, columns=["Axis", "Attained by", "DSI", INTERVAL, "p", "q"])


def labels_in_numbers(result: RunResult) -> pd.DataFrame:
    """One row for each group and label.

    Returns `Axis`, `Group`, `Label`, `Points`, `95 % interval`, `p`, then p and q of all labels.
    """
    rows = [
        [
            axis_label(row.group.axes),
            group_label(row.group),
            one_line(label),
            format_points(shift.value),
            format_points_interval(shift) or NO_INTERVAL,
            format_p_value(shift.p, permutations=result.permutations),
            *_p_and_q(use, result),
        ]
        for row, use in with_label_use(result)
        for label, shift in use.labels.items()
    ]
    return pd.DataFrame(
        rows,
        columns=["Axis", "Group", "Label", "Points", INTERVAL, "p", "p of all labels", "q of all labels"],
    )


def means_in_numbers(result: RunResult) -> pd.DataFrame:
    """One row for each group whose labels have a mean: ordered ones, by their ranks, and numbers.

    Returns `Axis`, `Group`, `Shift of the mean`, `95 % interval`, `p`.
    """
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
    """One row for each pair and measure.

    Returns `Axis`, `First`, `Second`, then the columns of :func:`~grasp_core.report.pair_tables.pair_table`.
    """
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
    """Value, interval, p and q."""
    value = f"{format_value(outcome.value)} {arrow(outcome)}".rstrip()
    return [value, format_interval(outcome) or NO_INTERVAL, *_p_and_q(outcome, result)]


def _p_and_q(test: Outcome | LabelUse, result: RunResult) -> list[str]:
    q = format_p_value(test.q, permutations=result.permutations)
    return [p_text(test, permutations=result.permutations), f"{q} {STARS[test.significance]}".rstrip()]
