"""One p a hypothesis from several tests under the same permutations, and one correction over hypotheses.

Row 0 of every array is what was observed, the others are permutations (docs/methods.md, "The verdict").
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from grasp_core.annotations import FloatArray, Int64Array
from grasp_core.permutation.nulls.tails import TIE_TOLERANCE
from grasp_core.permutation.testing.intervals import share_interval
from grasp_core.spec import LEVEL

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
    order = np.argsort(-values, kind="stable")
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

    Parameters
    ----------
    values : float64 array, shape (N,)
        NaN where not estimable; at least one is.
    two_sided : bool
        Whether small values count as much as large ones.
    """
    known = ~np.isnan(values)
    upper = ranks(values[known]).middle
    p = np.full(values.size, 1.0)
    p[known] = 2 * np.minimum(upper, 1 - upper) if two_sided else upper
    return np.asarray(np.minimum(p, 1 - 1 / (2 * values.size)))


def combined(evidence: Evidence) -> Int64Array:
    """How many of the N sums V reach that of each row, shape (N,): N times p* of row 0 and of permutations.

    Notes
    -----
    V is Fisher's sum of all tests, joined with each test by a Cauchy sum: F = -sum of ln p over all tests,
    p_F by its rank; V = sum of max(0, tan((1/2 - p) pi)) over p_F and every p. The one finds what several
    tests see a little of, the other what a single test sees. Terms below 0 count 0: uncut, one p near 1
    would wipe out the others.

    References
    ----------
    Pesarin and Salmaso (2010), Permutation Tests for Complex Data; Liu and Xie (2020), JASA 115.
    """
    joined = ranks(_fisher(evidence, TESTS)).middle
    total = np.zeros_like(joined)
    for p in (joined, *(of_test for test in TESTS for of_test in evidence.of(test))):
        total += np.maximum(0.0, np.tan((0.5 - p) * np.pi))
    return ranks(total).reached


def step_down(reached: npt.NDArray[np.integer[Any]]) -> StepDown:
    """Correct over all hypotheses (Westfall and Young 1993, step-down minP).

    Parameters
    ----------
    reached : int array, shape (N, H)
        :func:`combined` of each hypothesis.

    Returns
    -------
    StepDown
        Where q of a hypothesis is below that of none with a smaller p*, nor below its own p*.
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

    Notes
    -----
    A test holds where every subset of the tests that it belongs to does, each by the rank of Fisher's sum
    (Marcus, Peritz and Gabriel 1976).
    """
    known = evidence.known
    holds = {
        chosen: int(ranks(_fisher(evidence, chosen)).reached[0]) < level * _size(evidence)
        for size in range(1, len(known) + 1)
        for chosen in combinations(known, size)
    }
    return tuple(test for test in known if all(yes for chosen, yes in holds.items() if test in chosen))


def _fisher(evidence: Evidence, tests: Sequence[Test]) -> FloatArray:
    return np.asarray(-np.sum([np.log(p) for test in tests for p in evidence.of(test)], axis=0))


def _size(evidence: Evidence) -> int:
    return evidence.of(evidence.known[0])[0].size
