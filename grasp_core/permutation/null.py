"""From observed and shuffled statistics to outcomes: p, q, direction, significance and histogram."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from grasp_core.annotations import FloatArray
from grasp_core.groups import Group
from grasp_core.permutation.columns import column, dsi_column, families, members
from grasp_core.permutation.corrections import corrected, family_wise, step_up
from grasp_core.permutation.kept import Null
from grasp_core.permutation.pvalues import FEWEST, Tails, median, tails
from grasp_core.result import DsiResult, Outcome, Significance
from grasp_core.spec import LEVEL, STATISTICS, AnalysisSpec


def outcomes(
    groups: Sequence[Group],
    observed: FloatArray,
    null: Null,
    reasons: Sequence[Mapping[str, str]],
    spec: AnalysisSpec,
) -> list[dict[str, Outcome]]:
    """Test every chosen statistic of every group.

    Parameters
    ----------
    groups : sequence of Group, length G
    observed : float array, shape (G, 7)
        In the order of :data:`~grasp_core.spec.STATISTICS`; NaN where not estimable.
    null : Null
        Of the columns of :mod:`~grasp_core.permutation.columns`.
    reasons : sequence of mappings, length G
        Why a statistic (by name) of the group is not estimable.
    spec : AnalysisSpec

    Returns
    -------
    list of dict, length G
        Outcomes by name of statistic.
    """
    rows = [
        {
            name: _test(float(observed[g, s]), null, column(g, s), reasons[g].get(name), spec)
            for s, name in enumerate(STATISTICS)
            if name in spec.statistics
        }
        for g in range(len(groups))
    ]
    for tests in families(groups, spec):
        p = [rows[g][STATISTICS[s]].p for g, s in tests]
        columns = [column(g, s) for (g, s), value in zip(tests, p, strict=True) if value is not None]
        q = corrected(p, spec.correction, partial(_max_t, null, columns))
        for (g, s), value in zip(tests, q, strict=True):
            rows[g][STATISTICS[s]] = with_q(rows[g][STATISTICS[s]], value)
    return rows


def dsi_results(
    groups: Sequence[Group],
    observed: FloatArray,
    null: Null,
    rows: Sequence[Mapping[str, Outcome]],
    spec: AnalysisSpec,
) -> tuple[DsiResult, ...]:
    """Test each axis's largest GAI against the permutation distribution of the largest.

    Parameters
    ----------
    groups : sequence of Group, length G
    observed : float array, shape (G,)
        GAI.
    null : Null
        Of the columns of :mod:`~grasp_core.permutation.columns`.
    rows : sequence of mappings, length G
        From :func:`outcomes`; the attaining group's p is the paper's test.
    spec : AnalysisSpec

    Returns
    -------
    tuple of DsiResult, one per axis set of the spec
    """
    results: list[DsiResult] = []
    for axis, of_axis in enumerate(members(groups, spec)):
        axes = spec.axes[axis]
        if np.isnan(observed[of_axis]).all():
            missing = Outcome(None, "no group of this axis has an estimable GAI")
            results.append(DsiResult(axes, None, missing, None, "none"))
            continue
        largest = of_axis[int(np.nanargmax(observed[of_axis]))]
        found = null.summary(dsi_column(len(groups), axis))
        outcome = _held_against(float(observed[largest]), found.tails, found.median)
        p = found.tails.p_high if found.tails.n >= FEWEST else None
        outcome = dataclasses.replace(outcome, p=p, null=found.histogram)
        gai = rows[largest].get("gai", Outcome(None))
        results.append(DsiResult(axes, groups[largest], outcome, gai.p, gai.significance))
    q = step_up([row.outcome.p for row in results], "benjamini-hochberg")
    return tuple(
        dataclasses.replace(row, outcome=with_q(row.outcome, value))
        for row, value in zip(results, q, strict=True)
    )


def _max_t(null: Null, columns: Sequence[int]) -> FloatArray:
    return family_wise(*null.reached(columns))


def held_against(observed: float, null: FloatArray) -> Outcome:
    """Where a value lies among its shuffled values, all of them estimable: no histogram, p or q."""
    return _held_against(observed, tails(observed, null), median(null) if null.size else None)


def _test(observed: float, null: Null, column: int, reason: str | None, spec: AnalysisSpec) -> Outcome:
    found = null.summary(column)
    if np.isnan(observed):
        return Outcome(None, reason, null_n=found.tails.n)
    outcome = _held_against(observed, found.tails, found.median)
    return dataclasses.replace(outcome, p=found.tails.p(spec.p_value), null=found.histogram)


def _held_against(observed: float, found: Tails, middle: float | None) -> Outcome:
    if found.n == 0:
        return Outcome(observed, "no shuffled value was estimable, so there is no p-value")
    reason = None
    if found.n < FEWEST:
        reason = f"only {found.n} shuffled values were estimable, too few for a p-value"
    return Outcome(
        value=observed,
        reason=reason,
        null_n=found.n,
        null_median=middle,
        direction="down" if found.below else "up",
    )


def with_q(outcome: Outcome, q: float | None) -> Outcome:
    """With the p-value after correction, and what both make of it."""
    significance: Significance = "none"
    if q is not None and q < LEVEL:
        significance = "corrected"
    elif outcome.p is not None and outcome.p < LEVEL:
        significance = "nominal"
    return dataclasses.replace(outcome, q=q, significance=significance)
