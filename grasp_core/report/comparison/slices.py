"""Pairs and slices of two results side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pandas as pd

from grasp_core.model.groups import group_label, one_line
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
    if not isinstance(a, RunResult) or not isinstance(b, RunResult):
        return pd.DataFrame()
    others = {(row.a.key, row.b.key): row for one in b.pairs for row in (one, one.turned())}
    found: list[tuple[str, Change]] = []
    for row in a.pairs:
        other = others.get((row.a.key, row.b.key))
        if other is None:
            continue
        changes: list[Change] = []
        if row.label_use is not None and other.label_use is not None:
            changes += use_changed(row.a, row.label_use, other.label_use)
        changes += [
            Change(row.a, name, outcome, other.statistics[name])
            for name, outcome in row.statistics.items()
            if name in other.statistics
        ]
        found += [(f"{group_label(row.a)} – {group_label(row.b)}", change) for change in changes]
    if not found:
        return pd.DataFrame()
    frame = table(change for _, change in found).drop(columns="group")
    frame.insert(0, "pair", [pair for pair, _ in found])
    return frame


def slices_compared(a: Result, b: Result, table: Table = changes_table) -> pd.DataFrame:
    """What became of every test in the slices that both runs have, as texts, or as `table` has it."""
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
