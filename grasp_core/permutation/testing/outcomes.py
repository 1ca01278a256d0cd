"""From observed and shuffled values to outcomes: p, q, direction, significance and histogram."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np

from grasp_core.annotations import FloatArray
from grasp_core.permutation.nulls.tails import FEWEST
from grasp_core.permutation.nulls.values import Null, Summary
from grasp_core.permutation.testing.corrections import corrected, family_wise
from grasp_core.permutation.testing.tests import Family, Tests
from grasp_core.remarks.reasons import NoValue
from grasp_core.remarks.remark import Remark
from grasp_core.result import Outcome, Significance
from grasp_core.spec import LEVEL


def outcomes(
    tests: Tests, observed: FloatArray, null: Null, reasons: Mapping[int, Remark]
) -> dict[int, Outcome]:
    """Test every column of every family.

    Parameters
    ----------
    tests : Tests
    observed : float array, shape (C,)
        NaN where not estimable.
    null : Null
        Of the same columns.
    reasons : mapping from column
        Why its observed value is not estimable.

    Returns
    -------
    dict from column to Outcome
    """
    found: dict[int, Outcome] = {}
    for family in tests.families:
        tested = {
            c: _test(float(observed[c]), null.summary(c), reasons.get(c), tests.tails(null, c).p(family.tail))
            for c in family.columns
        }
        q = _q_values(family, null, [outcome.p for outcome in tested.values()])
        for (c, outcome), value in zip(tested.items(), q, strict=True):
            found[c] = _with_q(outcome, value)
    return found


def _q_values(family: Family, null: Null, p: list[float | None]) -> list[float | None]:
    tested = [value is not None for value in p]
    return corrected(p, family.correction, lambda: family_wise(*null.reached(family.maximum))[tested])


def _test(observed: float, null: Summary, reason: Remark | None, p: float | None) -> Outcome:
    found = null.tails
    if np.isnan(observed):
        return Outcome(None, reason=reason, null_n=found.n)
    if found.n == 0:
        return Outcome(observed, reason=NoValue.NO_SHUFFLED_VALUE())
    return Outcome(
        value=observed,
        reason=NoValue.FEW_SHUFFLED_VALUES(shuffled=found.n) if found.n < FEWEST else None,
        null_n=found.n,
        null_median=null.median,
        direction="down" if found.below else "up",
        p=p,
        null=null.histogram,
    )


def _with_q(outcome: Outcome, q: float | None) -> Outcome:
    """With the p-value after correction, and what both make of it."""
    significance: Significance = "none"
    if q is not None and q < LEVEL:
        significance = "corrected"
    elif outcome.p is not None and outcome.p < LEVEL:
        significance = "nominal"
    return dataclasses.replace(outcome, q=q, significance=significance)
