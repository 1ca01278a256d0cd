"""From observed and shuffled values to outcomes, and when further permutations change no mark."""

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
"""Probability, at most, that at any look a test's interval misses its p-value of endless permutations."""
FIRST_LOOK = 1000
_STEPS = (1, 2, 3, 5, 7)

Unsettled = tuple[int, bool]
"""A column, and whether its mark after correction is meant (else the nominal one)."""


def looks(most: int) -> list[int]:
    """Numbers of permutations after which a run may stop: 1,000, 2,000, 3,000, 5,000, 7,000, ... `most`."""
    found = []
    power = FIRST_LOOK
    while power < most:
        found += [step * power for step in _STEPS if step * power < most]
        power *= 10
    return [*found, most]


def unsettled(
    tests: Tests, observed: FloatArray, null: Null, most: int, *, final: bool = False
) -> list[Unsettled]:
    """Marks that further permutations may change.

    `observed`: shape (C,).
    `null`: of the same columns.
    `most`: permutations that there may be.
    `final`: whether this is the end, and a test with too few shuffled values will not get a p-value any more.

    The interval of a tail's share is Clopper and Pearson's; each end misses with probability RISK / 3, over
    the number of looks. A two-sided p is too low if its smaller tail is, and too high if either tail is:
    three ends. As the looks share the risk evenly, a test's intervals hold at all looks with probability
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
            maximum, told = tests.maximum(family), dict(zip(columns, intervals, strict=True))
            reached, total = null.reached(maximum)
            found += [
                (c, True)
                for c, count in zip(maximum.columns, reached.tolist(), strict=True)
                if told.get(c) is not None and _open(share_interval(count, total, miss))
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
    """The units, shape (U,), whose permutations have to go on; max-T, a maximum, needs all there are."""
    if any(family.correction == "max-t" for family in tests.families):
        return np.full(tests.needs.shape[1], bool(unsettled))
    return np.asarray(tests.needs[[column for column, _ in unsettled]].any(axis=0))


def _open(interval: Interval) -> bool:
    return interval[0] < LEVEL <= interval[1]


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


def withheld(value: float, reason: Remark | None) -> Outcome:
    """A value that is not tested, as groups were given other items; NaN is not estimable, with its reason."""
    if np.isnan(value):
        return Outcome(None, reason=reason)
    return Outcome(float(value), reason=NoValue.OTHER_ITEMS())


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
    """With the p-value after correction, and what both make of it."""
    return dataclasses.replace(outcome, q=q, significance=significance_of(outcome.p, q))
