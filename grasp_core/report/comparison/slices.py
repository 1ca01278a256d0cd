"""Pairs and slices of two results side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import pandas as pd

from grasp_core.model.groups import group_label, one_line
from grasp_core.model.outcome import PairResult
from grasp_core.model.result import Result, RunResult
from grasp_core.report.comparison.changes import Change, changes_table, compare, use_changed
from grasp_core.report.slices import as_results

Table = Callable[[Iterable[Change]], pd.DataFrame]


def pairs_compared(a: Result, b: Result, table: Table = changes_table) -> pd.DataFrame:
    """What became of every test of the pairs that both runs have, as texts, or as `table` has it.

    Returns `pair` (the first group and the second, as in a), then the columns of
    :func:`~grasp_core.report.comparison.changes.changes_table` but for `group`; empty where no pair is in
    both.

    A pair is the same pair in either order of its groups; that of b is turned to the order of a.
    """
    found = [
        (f"{group_label(row.a)} – {group_label(row.b)}", change)
        for row, other in _in_both(a, b)
        for change in _changes(row, other)
    ]
    if not found:
        return pd.DataFrame()
    frame = table(change for _, change in found).drop(columns="group")
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


def slices_compared(a: Result, b: Result, table: Table = changes_table) -> pd.DataFrame:
    """What became of every test in the slices that both runs have, as texts, or as `table` has it.

    Returns `slice` (column and value), then the columns of
    :func:`~grasp_core.report.comparison.changes.changes_table`; empty where no slice is in both.
    """
    views_a, views_b = _views(a), _views(b)
    frames = []
    for key, view in views_a.items():
        found = compare(view, views_b[key]) if key in views_b else None
        if found is not None and found.changes:
            frame = table(found.changes)
            frame.insert(0, "slice", " = ".join(map(one_line, key)))
            frames.append(frame)
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def _views(result: Result) -> dict[tuple[str, str], RunResult]:
    if not isinstance(result, RunResult):
        return {}
    return {
        (found.column, one.value): view for found in result.slices for one, view in as_results(result, found)
    }
