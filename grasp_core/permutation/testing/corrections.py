"""Corrections over many tests, and tests combined."""

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
    """Interval of the p-value of endless permutations; None where `final` and there will be no p-value.

    `miss`: probability, at most, with which each end is wrong.
    `final`: whether this is the end, and a test with too few shuffled values will not get a p-value any more.
    """
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
    below = share_interval(found.low, n, miss)  # the side it is on: #{s* <= s} against half of all
    sides = [beyond[True]] * (below[0] <= 0.5) + [beyond[False]] * (below[1] >= 0.5)
    return min(low for low, _ in sides), max(high for _, high in sides)


def share_interval(count: int, n: int, miss: float) -> Interval:
    """Clopper and Pearson's interval of a share; each end is wrong with probability `miss` at most."""
    from scipy.special import betaincinv  # takes a tenth of a second to load, and fixed runs do without

    low = betaincinv(count, n - count + 1, miss) if count > 0 else 0.0
    high = betaincinv(count + 1, n - count, 1 - miss) if count < n else 1.0
    return float(low), float(high)


def q_values(
    p: Sequence[float | None], observed: FloatArray, null: FloatArray, method: Correction
) -> list[float | None]:
    """Correct one family of tests.

    `observed`: shape (T,).
    `p`, length T: none where a test has no p-value; it is not counted in the family.
    `null`, shape (B, T): shuffled statistics from shared permutations; used by "max-t" only.

    Returns length T.

    Source: Benjamini & Hochberg (1995), JRSS B 57; Benjamini & Yekutieli (2001), Annals of Statistics 29;
    Westfall & Young (1993), Resampling-Based Multiple Testing (single-step max-T).
    """
    tested = [t for t, value in enumerate(p) if value is not None]
    return corrected(p, method, lambda: max_t(observed[tested], null[:, tested]))


def corrected(
    p: Sequence[float | None], method: Correction, of_max_t: Callable[[], FloatArray]
) -> list[float | None]:
    """As :func:`q_values`; `of_max_t` gives max-T's values, shape (T,), of the tests that have a p-value.

    Max-T goes by deviations, p by ranks: where shuffled values lean to one side its value may be below p,
    which then stands in its place.
    """
    if method != "max-t":
        return step_up(p, method)
    own = [value for value in p if value is not None]
    return _in_place(p, np.maximum(of_max_t(), own) if own else [])


def step_up(p: Sequence[float | None], method: Correction) -> list[float | None]:
    """As :func:`q_values`, by one of the two corrections that need the p-values alone."""
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
    """Values of the tests that have a p-value, each in its test's place."""
    left = iter(values)
    return [None if value is None else float(next(left)) for value in p]


def largest_family(groups: Sequence[Group], analysis: AnalysisSpec) -> int:
    """Most tests that are corrected together."""
    if analysis.family == "all":
        return len(groups) * len(analysis.statistics)
    if analysis.family == "statistic":
        return len(groups)
    return max(sum(group.axes == axes for group in groups) for axes in analysis.axes)


def fewest_permutations(tests: int, analysis: AnalysisSpec, *, one_tail: bool = False) -> int:
    """Permutations with which a lone effect among so many tests can survive correction.

    `one_tail`: large values alone count, whatever the convention of the analysis.

    The smallest p is t / (B + 1), t = 2 for two-sided p-values and 1 for one tail. The paper's may be 0,
    which survives these corrections: t = 0. A lone effect's smallest q is that times the number of tests
    (Benjamini-Hochberg), that times 1 + 1/2 + ... + 1/tests too (Benjamini-Yekutieli), or 1 / (B + 1)
    (max-T). It has to be below the level.
    """
    if analysis.correction == "max-t":
        return math.floor(1 / LEVEL)
    smallest = 1 if one_tail else 2 if analysis.p_value == "two-sided" else 0
    factor = float(tests * smallest)
    if analysis.correction == "benjamini-yekutieli":
        factor *= sum(1 / rank for rank in range(1, tests + 1))
    return math.floor(round(factor / LEVEL, 9))


def max_t(observed: FloatArray, null: FloatArray) -> FloatArray:
    """Family-wise p: how often the largest standardised deviation of any test reaches this one's.

    `observed`: shape (T,).
    `null`, shape (B, T): NaN where not estimable.
    """
    return family_wise(reached(observed, null, standard(null)), len(null))


def family_wise(reached: Int64Array, permutations: int) -> FloatArray:
    """Family-wise p from the number of permutations whose largest deviation reaches a test's."""
    return np.asarray((1 + reached) / (permutations + 1))


Test = Literal["label_use", "distance", "cohesion"]
TESTS: tuple[Test, ...] = ("label_use", "distance", "cohesion")
MISS = 0.05
"""Probability with which the p of endless permutations lies above its bound."""


class Ranks(NamedTuple):
    """How many of N values lie above each, and how many at or above it; int64 arrays, shape (N,)."""

    above: Int64Array
    reached: Int64Array

    @property
    def middle(self) -> FloatArray:
        """Upper-tail p by mid-ranks, between 0 and 1."""
        return np.asarray((self.above + self.reached) / 2 / self.above.size)


class Evidence(NamedTuple):
    """A hypothesis's p of each test, by mid-ranks; float64 arrays, shape (N,).

    `label_use` and `distance` are None where they cannot be estimated. `cohesion` has one test of a group,
    and two of an axis that two groups make up.
    """

    label_use: FloatArray | None
    distance: FloatArray | None
    cohesion: tuple[FloatArray, ...]

    def of(self, test: Test) -> tuple[FloatArray, ...]:
        """The p of one of the tests; none where it cannot be estimated."""
        if test == "cohesion":
            return self.cohesion
        found = self.label_use if test == "label_use" else self.distance
        return () if found is None else (found,)

    @property
    def known(self) -> tuple[Test, ...]:
        """The tests that can be estimated."""
        return tuple(test for test in TESTS if self.of(test))


class StepDown(NamedTuple):
    """Hypotheses after correction: q, and its upper bound for endless permutations; arrays of shape (H,)."""

    q: FloatArray
    bound: FloatArray


def ranks(values: FloatArray) -> Ranks:
    """Place values, shape (N,), without NaN; those that differ by rounding are equal."""
    order = np.argsort(-values)  # of equal values in any order: they share their place
    falling = values[order]
    first = np.ones(values.size, np.bool_)
    first[1:] = falling[:-1] - falling[1:] > TIE_TOLERANCE * np.maximum(1.0, np.abs(falling[:-1]))
    starts = np.flatnonzero(first)
    ends = np.append(starts[1:], values.size)
    above, reached = np.empty(values.size, np.int64), np.empty(values.size, np.int64)
    above[order], reached[order] = (np.repeat(bound, ends - starts) for bound in (starts, ends))
    return Ranks(above, reached)


def p_of(values: FloatArray, *, two_sided: bool = False) -> FloatArray:
    """Mid-rank p of each value among all, shape (N,); never 0 or 1, and largest where there is no value.

    `values`, shape (N,): NaN where not estimable; at least one is.
    `two_sided`: whether small values count as much as large ones.
    """
    known = ~np.isnan(values)
    upper = ranks(values[known]).middle
    p = np.full(values.size, 1.0)
    p[known] = 2 * np.minimum(upper, 1 - upper) if two_sided else upper
    return np.asarray(np.minimum(p, 1 - 1 / (2 * values.size)))


def combined(evidence: Evidence) -> Int64Array:
    """How many of the N sums V reach that of each row, shape (N,): N times p* of row 0 and of permutations.

    V is Fisher's sum of all tests, joined with each test by a Cauchy sum: F = -sum of ln p over all tests,
    p_F by its rank; V = sum of max(0, tan((1/2 - p) pi)) over p_F and every p. The one finds what several
    tests see a little of, the other what a single test sees. Terms below 0 count 0: uncut, one p near 1
    would wipe out the others.

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

    Returns where q of a hypothesis is below that of none with a smaller p*, nor below its own p*.
    """
    n, hypotheses = reached.shape
    order = np.argsort(reached[0], kind="stable")
    counts = np.empty(hypotheses, np.int64)
    smallest = np.full(n, n + 1, reached.dtype)
    for place in range(hypotheses - 1, -1, -1):
        np.minimum(smallest, reached[:, order[place]], out=smallest)
        counts[place] = np.count_nonzero(smallest <= reached[0, order[place]])
    counts = np.maximum.accumulate(counts)
    q, bound = np.empty(hypotheses), np.empty(hypotheses)
    q[order] = counts / n
    # The observed row always counts; what is drawn by chance are the others.
    bound[order] = [share_interval(int(count) - 1, n - 1, MISS)[1] for count in counts]
    return StepDown(q, bound)


def holding(evidence: Evidence, level: float = LEVEL) -> tuple[Test, ...]:
    """The tests that hold by themselves, by closed testing.

    A test holds where every subset of the tests that it belongs to does, each by the rank of Fisher's sum
    (Marcus, Peritz and Gabriel 1976).
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
