"""From observed and shuffled values to outcomes: p, q, direction, significance and histogram."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np

from grasp_core.model.annotations import FloatArray
from grasp_core.model.outcome import Outcome, Significance
from grasp_core.model.remarks.reasons import NoValue
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.spec import LEVEL
from grasp_core.permutation.testing.corrections import (
    Interval,
    corrected,
    family_wise,
    p_interval,
    share_interval,
    step_up,
)
from grasp_core.permutation.testing.deviations import FEWEST, Null, Summary
from grasp_core.permutation.testing.tail import with_tail
from grasp_core.permutation.testing.tests import Family, Tests

MISS = 0.05 / 3
"""Probability, at most, with which each end of an interval is wrong: three ends matter to a two-sided p."""


def outcomes(
    tests: Tests,
    observed: FloatArray,
    null: Null,
    reasons: Mapping[int, Remark],
    *,
    so_far: bool = False,
) -> dict[int, Outcome]:
    """Test every column of every family.

    `observed`, shape (C,): NaN where not estimable.
    `null`: of the same columns.
    `reasons`: why its observed value is not estimable.
    `so_far`: whether permutations go on: p and q then get intervals, and few shuffled values are no reason
        yet.
    """
    found: dict[int, Outcome] = {}
    for family in tests.families:
        p = {c: tests.tails(null, c).p(family.tail_of(c)) for c in family.columns}
        tested = {c: _test(float(observed[c]), null.summary(c), reasons.get(c), p[c]) for c in family.columns}
        if tests.regroupings is not None and not so_far:
            tested = {c: with_tail(one, tests, null, c, family.tail_of(c)) for c, one in tested.items()}
        q = _q_values(family, tests, null, [outcome.p for outcome in tested.values()])
        for (c, outcome), value in zip(tested.items(), q, strict=True):
            found[c] = _with_q(outcome, value)
        if so_far:
            found |= _so_far(family, {c: found[c] for c in family.columns}, tests, null)
    return found


def tested_otherwise(families: Sequence[Family], given: Mapping[int, Outcome]) -> dict[int, Outcome]:
    """Outcomes whose p, if they have one, is not of permutations: corrected among themselves, with marks.

    `families`: as if all had been tested by permutations.

    In place of max-T, which needs the permutations, stands Bonferroni.
    """
    found = dict(given)
    for family in families:
        of_family = {c: given[c].p for c in family.columns if c in given}
        if family.correction == "max-t":
            tests = sum(p is not None for p in of_family.values())
            q = [None if p is None else min(1.0, p * tests) for p in of_family.values()]
        else:
            q = step_up(list(of_family.values()), family.correction)
        found |= {c: _with_q(given[c], value) for c, value in zip(of_family, q, strict=True)}
    return found


def _q_values(family: Family, tests: Tests, null: Null, p: list[float | None]) -> list[float | None]:
    tested = [value is not None for value in p]
    return corrected(p, family.correction, lambda: family_wise(*null.reached(tests.maximum(family)))[tested])


def _so_far(family: Family, found: Mapping[int, Outcome], tests: Tests, null: Null) -> dict[int, Outcome]:
    """With intervals of p and q; of too few shuffled values nothing is said yet."""
    of_p = {
        c: p_interval(tests.tails(null, c), family.tail_of(c), MISS, final=True)
        for c, outcome in found.items()
        if outcome.p is not None
    }
    of_q = _q_intervals(family, tests, of_p, null)
    return {
        c: dataclasses.replace(outcome, p_interval=of_p[c], q_interval=of_q[c])
        if c in of_p
        else outcome
        if outcome.value is None
        else Outcome(outcome.value, null_n=outcome.null_n)
        for c, outcome in found.items()
    }


def _q_intervals(
    family: Family, tests: Tests, of_p: Mapping[int, Interval | None], null: Null
) -> dict[int, tuple[float, float]]:
    """From all lower and from all upper ends: step-up q-values never fall where a p-value rises."""
    if family.correction == "max-t":
        reached, total = null.reached(tests.maximum(family))
        counts = dict(zip(family.columns, reached.tolist(), strict=True))
        return {c: share_interval(counts[c], total, MISS) for c in of_p}
    ends = [step_up([one and one[end] for one in of_p.values()], family.correction) for end in (0, 1)]
    return {c: (low or 0.0, high or 0.0) for c, low, high in zip(of_p, *ends, strict=True)}


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
