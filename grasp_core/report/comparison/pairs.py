"""Pairs of groups of two runs side by side."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from grasp_core.pairs import PairResult
from grasp_core.report.comparison.changes import Change, changes_table, use_changed
from grasp_core.report.words.names import group_label
from grasp_core.result import Result, RunResult


def pairs_compared(a: Result, b: Result) -> pd.DataFrame:
    """What became of every test of the pairs that both runs have.

    Returns
    -------
    DataFrame
        `pair` (the first group and the second, as in a), then the columns of
        :func:`~grasp_core.report.comparison.changes.changes_table` but for `group`; empty where no pair is in
        both.

    Notes
    -----
    A pair is the same pair in either order of its groups; that of b is turned to the order of a.
    """
    found = [
        (f"{group_label(row.a)} – {group_label(row.b)}", change)
        for row, other in _in_both(a, b)
        for change in _changes(row, other)
    ]
    if not found:
        return pd.DataFrame()
    frame = changes_table(change for _, change in found).drop(columns="group")
    frame.insert(0, "pair", [pair for pair, _ in found])
    return frame


def _in_both(a: Result, b: Result) -> Iterator[tuple[PairResult, PairResult]]:
    if not isinstance(a, RunResult) or not isinstance(b, RunResult):
        return
    others = {(row.a.key, row.b.key): row for one in b.pairs for row in (one, one.turned())}
    for row in a.pairs:
        other = others.get((row.a.key, row.b.key))
        if other is not None:
            yield row, other


def _changes(a: PairResult, b: PairResult) -> Iterator[Change]:
    if a.label_use is not None and b.label_use is not None:
        yield from use_changed(a.a, a.label_use, b.label_use)
    for name, outcome in a.statistics.items():
        if name in b.statistics:
            yield Change(a.a, name, outcome, b.statistics[name])
