"""Corrections over many tests, and combinations of tests."""

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from grasp_core.model.annotations import FloatArray, Int64Array
from grasp_core.model.groups import Group
from grasp_core.model.spec import LEVEL, AnalysisSpec, Correction
from grasp_core.permutation.testing.p_values import FEWEST, TIE_TOLERANCE, Tail, Tails, reached, standard

Interval = tuple[float, float]


def p_interval(found: Tails, tail: Tail, miss: float, final: bool) -> Interval | None:
    """Return an interval for p with endless permutations, or None; each end errs with `miss` at most."""
    if found.n < FEWEST:
        return None if final or found.n == 0 else (0.0, 1.0)
    n = found.n
    if tail == "upper":
        return share_interval(found.high, n, miss)
    if tail == "two-sided":
        lows, highs = zip(
            share_interval(found.low, n, miss), share_interval(found.high, n, miss), strict=True
        )
        return min(1.0, 2 * min(lows)), min(1.0, 2 * min(highs))
    beyond = {True: share_interval(n - found.high, n, miss), False: share_interval(n - found.low, n, miss)}
    below = share_interval(found.low, n, miss)  # share of s* <= s; half of all divides the sides
    sides = [beyond[True]] * (below[0] <= 0.5) + [beyond[False]] * (below[1] >= 0.5)
    return min(low for low, _ in sides), max(high for _, high in sides)


def share_interval(count: int, n: int, miss: float) -> Interval:
    """Return Clopper and Pearson's interval of a share; each end is wrong with probability `miss` at most."""
    from scipy.special import betaincinv  # takes a tenth of a second to load, and fixed runs do without

    low = betaincinv(count, n - count + 1, miss) if count > 0 else 0.0
    high = betaincinv(count + 1, n - count, 1 - miss) if count < n else 1.0
    return float(low), float(high)


def q_values(
    p: Sequence[float | None], observed: FloatArray, null: FloatArray, method: Correction
) -> list[float | None]:
    """Correct one family of T tests; one without p does not count. `null`, (B, T), is used by "max-t" only.

    Source: Benjamini & Hochberg (1995), JRSS B 57; Benjamini & Yekutieli (2001), Annals of Statistics 29;
    Westfall & Young (1993), Resampling-Based Multiple Testing (single-step max-T).
    """
    tested = [t for t, value in enumerate(p) if value is not None]
    return corrected(p, method, lambda: max_t(observed[tested], null[:, tested]))


def corrected(
    p: Sequence[float | None], method: Correction, of_max_t: Callable[[], FloatArray]
) -> list[float | None]:
    """Correct as :func:`q_values`; `of_max_t` gives max-T's values, shape (T,), of tests with a p-value.

    If shuffled values are skewed, max-T's value, of deviations, may be below p, of ranks, which replaces it.
    """
    if method != "max-t":
        return step_up(p, method)
    own = [value for value in p if value is not None]
    return _in_place(p, np.maximum(of_max_t(), own) if own else [])


def step_up(p: Sequence[float | None], method: Correction) -> list[float | None]:
    """Correct as :func:`q_values`, by one of the two corrections that need only the p-values."""
    tested = np.array([value for value in p if value is not None])
    if not tested.size:
        return [None] * len(p)
    order, ranks = tested.argsort(), np.arange(1, tested.size + 1)
    scaled = tested[order] * (tested.size / ranks)
    if method == "benjamini-yekutieli":
        scaled *= (1 / ranks).sum()
    q = np.empty_like(scaled)
    q[order] = np.minimum.accumulate(scaled[::-1])[::-1]
    return _in_place(p, np.minimum(q, 1.0))


def _in_place(p: Sequence[float | None], values: Iterable[float]) -> list[float | None]:
    """Put values of the tests with a p-value at their tests' positions, and None at the others."""
    left = iter(values)
    return [None if value is None else float(next(left)) for value in p]


def largest_family(groups: Sequence[Group], analysis: AnalysisSpec) -> int:
    """Return the number of tests in the largest family."""
    if analysis.family == "all":
        return len(groups) * len(analysis.statistics)
    if analysis.family == "statistic":
        return len(groups)
    return max(sum(group.axes == axes for group in groups) for axes in analysis.axes)


def fewest_permutations(tests: int, analysis: AnalysisSpec, *, one_tail: bool = False) -> int:
    """Return the fewest permutations with which a lone effect among so many tests can survive correction.

    `one_tail`: true if only large values count, whatever the convention of the analysis.

    The smallest p is t / (B + 1), with t = 2 for two-sided p-values and 1 for one tail. The paper's p may be
    0, which survives these corrections: t = 0. A lone effect's smallest q is this p times the number of tests
    (Benjamini-Hochberg), also times 1 + 1/2 + ... + 1/tests (Benjamini-Yekutieli), or 1 / (B + 1) (max-T).
    It must be below the level.
    """
    if analysis.correction == "max-t":
        return math.floor(1 / LEVEL)
    smallest = 1 if one_tail else 2 if analysis.p_value == "two-sided" else 0
    factor = float(tests * smallest)
    if analysis.correction == "benjamini-yekutieli":
        factor *= sum(1 / rank for rank in range(1, tests + 1))
    return math.floor(round(factor / LEVEL, 9))


def max_t(observed: FloatArray, null: FloatArray) -> FloatArray:
    """Return family-wise p: how often any test's largest deviation in `null`, (B, T), reaches each's."""
    return family_wise(reached(observed, null, standard(null)), len(null))


def family_wise(reached: Int64Array, permutations: int) -> FloatArray:
    """Return family-wise p from the number of permutations whose largest deviation reaches a test's."""
    return np.asarray((1 + reached) / (permutations + 1))


Test = Literal["label_use", "distance", "cohesion"]
TESTS: tuple[Test, ...] = ("label_use", "distance", "cohesion")
MISS = 0.05
"""Probability that p with endless permutations is above its bound."""


class Ranks(NamedTuple):
    """Numbers of N values above each value, and at or above it; int64 arrays, shape (N,)."""

    above: Int64Array
    reached: Int64Array

    @property
    def middle(self) -> FloatArray:
        """Upper-tail p by mid-ranks, between 0 and 1."""
        return np.asarray((self.above + self.reached) / 2 / self.above.size)


class Evidence(NamedTuple):
    """The p-values of a hypothesis's tests, by mid-ranks; float64 arrays, shape (N,).

    `label_use` and `distance` are None if they cannot be estimated. `cohesion` has one test for a group, and
    two for an axis of two groups.
    """

    label_use: FloatArray | None
    distance: FloatArray | None
    cohesion: tuple[FloatArray, ...]

    def of(self, test: Test) -> tuple[FloatArray, ...]:
        """Return the p of one of the tests; empty if it cannot be estimated."""
        if test == "cohesion":
            return self.cohesion
        found = self.label_use if test == "label_use" else self.distance
        return () if found is None else (found,)

    @property
    def known(self) -> tuple[Test, ...]:
        """The tests that can be estimated."""
        return tuple(test for test in TESTS if self.of(test))


class StepDown(NamedTuple):
    """Corrected hypotheses: q, and its upper bound with endless permutations; arrays of shape (H,)."""

    q: FloatArray
    bound: FloatArray


def ranks(values: FloatArray) -> Ranks:
    """Rank values, shape (N,), without NaN; values that differ only by rounding are equal."""
    order = np.argsort(-values)  # equal values in any order, since they share a rank
    falling = values[order]
    first = np.ones(values.size, np.bool_)
    first[1:] = falling[:-1] - falling[1:] > TIE_TOLERANCE * np.maximum(1.0, np.abs(falling[:-1]))
    starts = np.flatnonzero(first)
    ends = np.append(starts[1:], values.size)
    above, reached = np.empty(values.size, np.int64), np.empty(values.size, np.int64)
    above[order], reached[order] = (np.repeat(bound, ends - starts) for bound in (starts, ends))
    return Ranks(above, reached)


def p_of(values: FloatArray, *, two_sided: bool = False) -> FloatArray:
    """Return the mid-rank p of each value (N,) among all, the largest for NaN; never 0 or 1."""
    known = ~np.isnan(values)
    upper = ranks(values[known]).middle
    p = np.full(values.size, 1.0)
    p[known] = 2 * np.minimum(upper, 1 - upper) if two_sided else upper
    return np.asarray(np.minimum(p, 1 - 1 / (2 * values.size)))


def combined(evidence: Evidence) -> Int64Array:
    """Count for each row the sums V, of N, that reach its V, shape (N,): N times its p*. Row 0 is observed.

    V joins Fisher's sum of all tests with each single test by a Cauchy sum. F = -sum of ln p over all tests,
    with p_F by its rank; V = sum of max(0, tan((1/2 - p) pi)) over p_F and every p. Fisher's sum finds weak
    effects in several tests, the Cauchy sum effects in a single test. Terms below 0 count as 0: otherwise one
    p near 1 would cancel the others.

    Source: Pesarin and Salmaso (2010), Permutation Tests for Complex Data; Liu and Xie (2020), JASA 115.
    """
    joined = ranks(_fisher(evidence, TESTS)).middle
    total = np.zeros_like(joined)
    for p in (joined, *(of_test for test in TESTS for of_test in evidence.of(test))):
        total += np.maximum(0.0, np.tan((0.5 - p) * np.pi))
    return ranks(total).reached


def step_down(reached: npt.NDArray[np.integer[Any]]) -> StepDown:
    """Correct over all hypotheses (Westfall and Young 1993, step-down minP).

    `reached`, shape (N, H): :func:`combined` of each hypothesis.

    A hypothesis's q is never below its own p*, nor below the q of a hypothesis with a smaller p*.
    """
    n, hypotheses = reached.shape
    order = np.argsort(reached[0], kind="stable")
    counts = np.empty(hypotheses, np.int64)
    smallest = np.full(n, n + 1, reached.dtype)
    for place in range(hypotheses - 1, -1, -1):
        np.minimum(smallest, reached[:, order[place]], out=smallest)
        own = reached[0, order[place]]
        counts[place] = max(np.count_nonzero(smallest <= own), own)
    counts = np.maximum.accumulate(counts)
    q, bound = np.empty(hypotheses), np.empty(hypotheses)
    q[order] = counts / n
    # The observed row always counts; only the other rows are random.
    bound[order] = [share_interval(int(count) - 1, n - 1, MISS)[1] for count in counts]
    return StepDown(q, bound)


def holding(evidence: Evidence, level: float = LEVEL) -> tuple[Test, ...]:
    """Return the tests significant with every set of the others, by Fisher's sum (closed testing).

    Source: Marcus, Peritz and Gabriel (1976).
    """
    known = evidence.known
    holds = {
        chosen: int(ranks(_fisher(evidence, chosen)).reached[0])
        < level * evidence.of(evidence.known[0])[0].size
        for size in range(1, len(known) + 1)
        for chosen in combinations(known, size)
    }
    return tuple(test for test in known if all(yes for chosen, yes in holds.items() if test in chosen))


def _fisher(evidence: Evidence, tests: Sequence[Test]) -> FloatArray:
    return np.asarray(-np.sum([np.log(p) for test in tests for p in evidence.of(test)], axis=0))
