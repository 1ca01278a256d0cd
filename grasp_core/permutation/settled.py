"""Which marks further permutations cannot be expected to change: runs that stop when all are settled.

At each look, a fixed number of permutations, every p-value has an interval that holds the p-value of endless
permutations. A mark is settled where both ends of the interval, or of the intervals of all tests that are
corrected together, agree on it (Gandy 2009; Gandy and Hahn 2014).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import betaincinv

from grasp_core.annotations import BoolArray, FloatArray
from grasp_core.groups import Group
from grasp_core.permutation.columns import GAI, column, dsi_column, families, members
from grasp_core.permutation.corrections import step_up
from grasp_core.permutation.kept import Null
from grasp_core.permutation.pvalues import FEWEST, Tails
from grasp_core.spec import LEVEL, STATISTICS, AnalysisSpec, Correction, PValue

RISK = 0.001
"""Probability, at most, that at any look a test's interval misses its p-value of endless permutations."""
FIRST_LOOK = 1000
_STEPS = (1, 2, 3, 5, 7)

Unsettled = tuple[int, bool]
"""A column, and whether its mark after correction is meant (else the nominal one)."""
Interval = tuple[float, float]


def looks(most: int) -> list[int]:
    """Numbers of permutations after which a run may stop: 1,000, 2,000, 3,000, 5,000, 7,000, ... `most`."""
    found = []
    power = FIRST_LOOK
    while power < most:
        found += [step * power for step in _STEPS if step * power < most]
        power *= 10
    return [*found, most]


def unsettled(
    groups: Sequence[Group], observed: FloatArray, null: Null, spec: AnalysisSpec, *, final: bool = False
) -> list[Unsettled]:
    """Marks that further permutations may change.

    Parameters
    ----------
    groups : sequence of Group, length G
    observed : float array, shape (G, 7)
    null : Null
        Of the columns of :mod:`~grasp_core.permutation.columns`.
    spec : AnalysisSpec
    final : bool
        Whether this is the end, and a test with too few shuffled values will not get a p-value any more.

    Returns
    -------
    list of (column, whether its mark after correction is meant)

    Notes
    -----
    The interval of a tail's share is Clopper and Pearson's; each end misses with probability RISK / 3, over
    the number of looks. A two-sided p is too low if its smaller tail is, and too high if either tail is:
    three ends. As the looks share the risk evenly, a test's intervals hold at all looks with probability
    1 - RISK.

    References
    ----------
    Clopper & Pearson (1934), Biometrika 26; Gandy (2009), JASA 104; Gandy & Hahn (2014), Scandinavian
    Journal of Statistics 41.
    """
    miss = RISK / 3 / len(looks(spec.permutations))
    found: list[Unsettled] = []
    for tests in families(groups, spec):
        columns = [column(g, s) for g, s in tests if not np.isnan(observed[g, s])]
        intervals = [_p_interval(null.tails(c), spec.p_value, miss, final) for c in columns]
        found += _of_family(columns, intervals, spec, null, miss)
    axes = [
        dsi_column(len(groups), axis)
        for axis, of_axis in enumerate(members(groups, spec))
        if not np.isnan(observed[of_axis, GAI]).all()
    ]
    intervals = [_upper_interval(null.tails(c), miss, final) for c in axes]
    return found + _stepped(axes, intervals, "benjamini-hochberg") + _nominal(axes, intervals)


def still_needed(groups: Sequence[Group], unsettled: Sequence[Unsettled], spec: AnalysisSpec) -> BoolArray:
    """The groups, shape (G,), whose permutations have to go on.

    The maximum over an axis needs all its groups; max-T, a maximum over the family, all there are.
    """
    needed = np.zeros(len(groups), np.bool_)
    if spec.correction == "max-t":
        needed[:] = bool(unsettled)
        return needed
    of_axis = members(groups, spec)
    for position, _ in unsettled:
        axis = position - dsi_column(len(groups), 0)
        needed[of_axis[axis] if axis >= 0 else position // len(STATISTICS)] = True
    return needed


def _of_family(
    columns: Sequence[int],
    intervals: Sequence[Interval | None],
    spec: AnalysisSpec,
    null: Null,
    miss: float,
) -> list[Unsettled]:
    """Both marks of tests that are corrected together."""
    found = _nominal(columns, intervals)
    if spec.correction != "max-t":
        return found + _stepped(columns, intervals, spec.correction)
    tested = [c for c, interval in zip(columns, intervals, strict=True) if interval is not None]
    reached, total = null.reached(tested)
    return found + [
        (c, True)
        for c, count in zip(tested, reached.tolist(), strict=True)
        if _open(_share(count, total, miss))
    ]


def _nominal(columns: Sequence[int], intervals: Sequence[Interval | None]) -> list[Unsettled]:
    return [
        (c, False)
        for c, interval in zip(columns, intervals, strict=True)
        if interval is not None and _open(interval)
    ]


def _stepped(
    columns: Sequence[int], intervals: Sequence[Interval | None], correction: Correction
) -> list[Unsettled]:
    """Step-up q-values never fall where a p-value rises: they lie between those of the intervals' ends."""
    ends = [step_up([None if one is None else one[end] for one in intervals], correction) for end in (0, 1)]
    return [
        (c, True)
        for c, low, high in zip(columns, *ends, strict=True)
        if low is not None and high is not None and _open((low, high))
    ]


def _p_interval(found: Tails, convention: PValue, miss: float, final: bool) -> Interval | None:
    if found.n < FEWEST:
        return None if final or found.n == 0 else (0.0, 1.0)
    n = found.n
    if convention == "two-sided":
        lows, highs = zip(_share(found.low, n, miss), _share(found.high, n, miss), strict=True)
        return min(1.0, 2 * min(lows)), min(1.0, 2 * min(highs))
    beyond = {True: _share(n - found.high, n, miss), False: _share(n - found.low, n, miss)}
    below = _share(found.low, n, miss)  # the side it is on: #{s* <= s} against half of all
    sides = [beyond[True]] * (below[0] <= 0.5) + [beyond[False]] * (below[1] >= 0.5)
    return min(low for low, _ in sides), max(high for _, high in sides)


def _upper_interval(found: Tails, miss: float, final: bool) -> Interval | None:
    if found.n < FEWEST:
        return None if final or found.n == 0 else (0.0, 1.0)
    return _share(found.high, found.n, miss)


def _share(count: int, n: int, miss: float) -> Interval:
    """Clopper and Pearson's interval of a share; each end is wrong with probability `miss` at most."""
    low = betaincinv(count, n - count + 1, miss) if count > 0 else 0.0
    high = betaincinv(count + 1, n - count, 1 - miss) if count < n else 1.0
    return float(low), float(high)


def _open(interval: Interval) -> bool:
    return interval[0] < LEVEL <= interval[1]
