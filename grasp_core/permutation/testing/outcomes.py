"""Outcomes from observed and shuffled values, and the marks that further permutations may change."""

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np

from grasp_core.model.annotations import BoolArray, FloatArray
from grasp_core.model.outcome import Outcome, significance_of
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
from grasp_core.permutation.testing.families import Family, Tests
from grasp_core.permutation.testing.p_values import FEWEST, Null, Summary
from grasp_core.permutation.testing.tail import with_tail

RISK = 0.001
"""Bound of the probability that a test's interval at any look misses its p with endless permutations."""
FIRST_LOOK = 1000
_STEPS = (1, 2, 3, 5, 7)

Unsettled = tuple[int, bool]
"""A column, and true for its mark after correction or false for the nominal mark."""


def looks(most: int) -> list[int]:
    """Return the numbers of permutations at which a run may stop: 1,000, 2,000, 3,000, 5,000, ... `most`."""
    found = []
    power = FIRST_LOOK
    while power < most:
        found += [step * power for step in _STEPS if step * power < most]
        power *= 10
    return [*found, most]


def unsettled(
    tests: Tests, observed: FloatArray, null: Null, most: int, *, final: bool = False
) -> list[Unsettled]:
    """Return the marks that further permutations may change.

    `observed`: shape (C,).
    `null`: null distributions of the same columns.
    `most`: most permutations of the run.
    `final`: true if no permutations follow, so that a test with too few shuffled values gets no p-value.

    The interval of a tail's share is Clopper and Pearson's; each end misses with probability RISK / 3 divided
    by the number of looks. A two-sided p is too low if its smaller tail is, and too high if either tail is:
    three ends. As the looks share the risk evenly, a test's intervals are right at all looks with probability
    1 - RISK.

    Source: Clopper & Pearson (1934), Biometrika 26; Gandy (2009), JASA 104; Gandy & Hahn (2014), Scandinavian
    Journal of Statistics 41.
    """
    miss = RISK / 3 / len(looks(most))
    found: list[Unsettled] = []
    for family in tests.families:
        columns = [c for c in family.columns if not np.isnan(observed[c])]
        intervals = [p_interval(tests.tails(null, c), family.tail_of(c), miss, final) for c in columns]
        found += [
            (c, False)
            for c, interval in zip(columns, intervals, strict=True)
            if interval is not None and _open(interval)
        ]
        if family.correction == "max-t":
            maximum, of_column = tests.maximum(family), dict(zip(columns, intervals, strict=True))
            reached, total = null.reached(maximum)
            found += [
                (c, True)
                for c, count in zip(maximum.columns, reached.tolist(), strict=True)
                if of_column.get(c) is not None and _open(share_interval(count, total, miss))
            ]
        else:
            ends = [
                step_up([None if one is None else one[end] for one in intervals], family.correction)
                for end in (0, 1)
            ]
            found += [
                (c, True)
                for c, low, high in zip(columns, *ends, strict=True)
                if low is not None and high is not None and _open((low, high))
            ]
    return found


def still_needed(tests: Tests, unsettled: Sequence[Unsettled]) -> BoolArray:
    """Return the units, shape (U,), whose permutations must continue; with max-T, all or none."""
    if any(family.correction == "max-t" for family in tests.families):
        return np.full(tests.needs.shape[1], bool(unsettled))
    return np.asarray(tests.needs[[column for column, _ in unsettled]].any(axis=0))


def _open(interval: Interval) -> bool:
    return interval[0] < LEVEL <= interval[1]


MISS = 0.05 / 3
"""Bound of the probability that an end of an interval is wrong; a two-sided p depends on three ends."""


def outcomes(
    tests: Tests,
    observed: FloatArray,
    null: Null,
    reasons: Mapping[int, Remark],
    *,
    so_far: bool = False,
) -> dict[int, Outcome]:
    """Test every column of every family; observed values, (C,), are NaN for these `reasons`, by column.

    `so_far`: true if permutations continue: p and q get intervals, and few shuffled values are no reason yet.
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


def withheld(value: float, reason: Remark | None) -> Outcome:
    """Return the untested outcome of a value whose groups were given other items; `reason` is for NaN."""
    if np.isnan(value):
        return Outcome(None, reason=reason)
    return Outcome(float(value), reason=NoValue.OTHER_ITEMS())


def tested_otherwise(families: Sequence[Family], given: Mapping[int, Outcome]) -> dict[int, Outcome]:
    """Add q and marks to outcomes whose p, if any, is not from permutations, by these families of tests.

    Bonferroni's correction replaces max-T, which needs the permutations.
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
    """Add intervals of p and q; outcomes with too few shuffled values keep only their value for now."""
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
    """Compute q from all lower and all upper ends of p: step-up q never falls if a p rises."""
    if family.correction == "max-t":
        reached, total = null.reached(tests.maximum(family))
        counts = dict(zip(family.columns, reached.tolist(), strict=True))
        of_q = {c: share_interval(counts[c], total, MISS) for c in of_p}
        return {c: (max(low, p[0]), max(high, p[1])) for c, (low, high) in of_q.items() if (p := of_p[c])}
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
    """Add the p-value after correction, and the mark."""
    return dataclasses.replace(outcome, q=q, significance=significance_of(outcome.p, q))
