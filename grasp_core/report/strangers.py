"""A result as people without an account may see it."""

from __future__ import annotations

from dataclasses import replace

from grasp_core.data_spec import Filters
from grasp_core.report.cautions import is_caution
from grasp_core.result import DataSummary, GroupResult, RunResult
from grasp_core.spec import RunSpec


def for_strangers(result: RunResult) -> RunResult:
    """The same numbers without what could name a person or a file.

    Notes
    -----
    Left out are the files, values by which raters were excluded or recoded, lists of ids, columns left aside
    (in a matrix they may be called as raters are), warnings about the data (they may quote it), and, in
    results brought from elsewhere, groups below the run's own smallest size.
    """
    shown = {row.group for row in result.groups if _large_enough(row, result)}
    return replace(
        result,
        data=summary_for_strangers(result.data),
        spec=spec_for_strangers(result.spec),
        groups=tuple(row for row in result.groups if row.group in shown),
        dsi=tuple(row for row in result.dsi if row.group is None or row.group in shown),
        warnings=tuple(warning for warning in result.warnings if is_caution(warning)),
    )


def spec_for_strangers(spec: RunSpec) -> RunSpec:
    """The spec without values and columns that could name somebody."""
    data = replace(
        spec.data, ignore=(), exclude=(), recode=(), filters=Filters(), part=None, raters_part=None
    )
    return replace(spec, data=data)


def summary_for_strangers(data: DataSummary) -> DataSummary:
    """The data's description without the files."""
    return replace(data, files=())


def _large_enough(row: GroupResult, result: RunResult) -> bool:
    return row.n_raters >= result.spec.analysis.min_raters
