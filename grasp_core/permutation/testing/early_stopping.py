"""Which marks further permutations cannot be expected to change: runs that stop when all are settled.

At each look, a fixed number of permutations, every p-value has an interval that holds the p-value of endless
permutations. A mark is settled where both ends of the interval, or of the intervals of all tests that are
corrected together, agree on it (Gandy 2009; Gandy and Hahn 2014).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from grasp_core.model.annotations import BoolArray, FloatArray
from grasp_core.model.spec import LEVEL
from grasp_core.permutation.testing.corrections import Interval, p_interval, share_interval, step_up
from grasp_core.permutation.testing.deviations import Null
from grasp_core.permutation.testing.tests import Tests

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
