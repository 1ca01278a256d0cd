"""Slices of two runs side by side."""

from __future__ import annotations

import pandas as pd

from grasp_core.report.comparison.changes import changes_table, compare
from grasp_core.report.slices import as_results
from grasp_core.report.words.names import one_line
from grasp_core.result import Result, RunResult


def slices_compared(a: Result, b: Result) -> pd.DataFrame:
    """What became of every test in the slices that both runs have.

    Returns
    -------
    DataFrame
        `slice` (column and value), then the columns of
        :func:`~grasp_core.report.comparison.changes.changes_table`; empty where no slice is in both.
    """
    views_a, views_b = _views(a), _views(b)
    frames = []
    for key, view in views_a.items():
        found = compare(view, views_b[key]) if key in views_b else None
        if found is not None and found.changes:
            frame = changes_table(found.changes)
            frame.insert(0, "slice", " = ".join(map(one_line, key)))
            frames.append(frame)
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def _views(result: Result) -> dict[tuple[str, str], RunResult]:
    if not isinstance(result, RunResult):
        return {}
    return {
        (found.column, one.value): view for found in result.slices for one, view in as_results(result, found)
    }
