"""Null distributions, p-values, and deviations of observed values from the null's centre."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol, Self

import numpy as np

from grasp_core.model.annotations import BoolArray, FloatArray, Int64Array
from grasp_core.model.outcome import Histogram
from grasp_core.model.spec import PValue
from grasp_core.permutation.jit import compiled

TIE_TOLERANCE = 1e-12
"""Values so close, relative to max(1, |observed|), are ties: rounding must not decide a test."""

FEWEST = 100

Tail = PValue | Literal["upper"]
"""Tail of a p-value: by a convention, or large values alone."""


@dataclass(frozen=True, slots=True)
class Tails:
    """Counts of shuffled values at or below an observed value, and at or above it: ties count in both."""

    n: int
    low: int
    high: int

    @property
    def below(self) -> bool:
        """True if the observed value is below the null's median; a tie is not.

        The median is element floor(n / 2) in ascending order. It is above the observed value exactly if
        elements 0 to floor(n / 2) are not all at or below that value: if #{s* <= s} <= floor(n / 2).
        """
        return self.low <= self.n // 2

    @property
    def p_high(self) -> float:
        """The p of the upper tail, (1 + #{s* >= s}) / (n + 1)."""
        return (1 + self.high) / (self.n + 1)

    def p(self, tail: Tail) -> float | None:
        """Return the probability of a value as extreme; None if fewer than 100 shuffled ones are estimable.

        "two-sided" is min(1, 2 min(p_low, p_high)), each tail (1 + #ties and beyond) / (n + 1), and never 0;
        "upper" is p_high. "paper" is the share of values strictly beyond the observed one on its own side of
        the median: as the data choose the side, it rejects about twice as often as its level.
        """
        if self.n < FEWEST:
            return None
        if tail == "upper":
            return self.p_high
        if tail == "two-sided":
            return min(1.0, 2 * min((1 + self.low) / (self.n + 1), self.p_high))
        strictly_beyond = self.n - (self.high if self.below else self.low)
        return strictly_beyond / self.n


def tails(observed: float, null: FloatArray) -> Tails:
    """Count the shuffled values, shape (B,), on either side of the observed one; NaN is left out."""
    margin = float(tolerance(observed))
    return Tails(
        int(np.count_nonzero(~np.isnan(null))),
        int(np.count_nonzero(null <= observed + margin)),
        int(np.count_nonzero(null >= observed - margin)),
    )


def median(null: FloatArray) -> float:
    """Return the median: element floor(B / 2) of the shuffled values in ascending order.

    `null`: shape (B,), B >= 1, without NaN.
    """
    middle = null.size // 2
    return float(np.partition(null, middle)[middle])


def tolerance(observed: FloatArray | float) -> FloatArray:
    """Return the distance up to which a shuffled value is a tie with an observed one, of any shape."""
    return np.asarray(TIE_TOLERANCE * np.maximum(1.0, np.abs(observed)))


MOST = 501
"""Values kept on either side; the last one is the threshold that the others exceed."""


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Mean, standard deviation and skewness of shuffled values; skewness is 0 if they are constant."""

    mean: float
    deviation: float
    skewness: float

    @classmethod
    def of(cls, values: FloatArray) -> Self:
        """Compute the moments of values, shape (B,), B >= 1, without NaN."""
        mean, deviation = float(values.mean()), float(values.std())
        if deviation <= TIE_TOLERANCE * max(1.0, abs(mean)):
            return cls(mean, 0.0, 0.0)
        return cls(mean, deviation, float((((values - mean) / deviation) ** 3).mean()))


@dataclass(frozen=True, slots=True, eq=False)
class Extremes:
    """One side of a null distribution of n values, mirrored if needed so that large values are extreme.

    `values`, shape (up to :data:`MOST`,): the largest, in descending order; `moments`: at least of the first.
    """

    n: int
    values: FloatArray
    moments: Moments

    @classmethod
    def of(cls, values: FloatArray, *, upper: bool) -> Self:
        """Take the extremes of values, shape (B,), without NaN."""
        turned = values if upper else -values
        return cls(turned.size, np.sort(turned)[::-1][:MOST], Moments.of(turned))


class Furthest:
    """The largest and the smallest values of counted columns, whatever the order in which they are added.

    `first`, shape (H, C): the first values, NaN where not estimable; they give moments and are added later.
    """

    def __init__(self, first: FloatArray) -> None:
        both = np.concatenate([first, -first], axis=1)
        columns = [column[~np.isnan(column)] for column in both.T]
        of_each = [Moments.of(column if column.size else np.zeros(1)) for column in columns]
        self.moments: FloatArray = np.array(
            [[one.mean, one.deviation, one.skewness] for one in of_each]
        ).reshape(-1, 3)
        self.values: FloatArray = np.full((both.shape[1], MOST), -np.inf)

    def add(self, values: FloatArray) -> None:
        """Add values, shape (b, C)."""
        _keep(np.concatenate([values, -values], axis=1), self.values)

    def extremes(self, column: int, n: int, *, upper: bool) -> Extremes:
        """Return one side of a column with n estimable values."""
        place = column if upper else column + len(self.values) // 2
        values = np.sort(self.values[place])[::-1]
        return Extremes(n, values[: min(n, MOST)], Moments(*self.moments[place].tolist()))


@compiled()
def _keep(values, largest):  # type: ignore[no-untyped-def]  # types are numba's
    for c in range(values.shape[1]):
        place = np.argmin(largest[c])
        for b in range(values.shape[0]):
            if values[b, c] > largest[c, place]:  # false for NaN
                largest[c, place] = values[b, c]
                place = np.argmin(largest[c])


class Known(NamedTuple):
    """Symmetries of T columns that are known from the regroupings.

    A centre estimated from shuffled values has noise. Suppose each regrouping has a mirror with the opposite
    value, or with the values of two groups exchanged. Then this noise alone would decide which of the two is
    more extreme, and p would be half or twice the exact p.

    `like`, length T: columns with the same number have the same null distribution; () if no two have.
    `centred`, length T: columns whose mean over all regroupings is 0; () if no column is known to be.
    """

    like: tuple[int, ...] = ()
    centred: tuple[bool, ...] = ()

    def of(self, columns: Sequence[int]) -> Known:
        """Return the symmetries of some of the columns."""
        like = tuple(self.like[c] for c in columns) if self.like else ()
        centred = tuple(self.centred[c] for c in columns) if self.centred else ()
        return Known(like, centred)


class Maximum(NamedTuple):
    """Columns whose largest deviation in a permutation is compared with each column's observed deviation.

    `upper`: columns in which only upward deviations count.
    `within`: a column; permutations in which it has no value do not count. By default all count.
    `every`: true if columns without an observed value take part too, as an axis's groups do in its DSI.
    `known`: symmetries of the columns' null distributions, known without shuffled values.
    """

    columns: tuple[int, ...]
    upper: tuple[int, ...] = ()
    within: int | None = None
    every: bool = False
    known: Known = Known()

    @property
    def upwards(self) -> BoolArray:
        """True for columns in `upper`, shape (T,)."""
        upper = set(self.upper)
        return np.array([column in upper for column in self.columns], np.bool_)

    def standard(self, null: FloatArray) -> Standard:
        """Return centre and scale for deviations of shuffled values, shape (B, T); see :func:`standard`."""
        centre, scale = standard(null)
        like = np.array(self.known.like or range(len(self.columns)))
        for kind, n in zip(*np.unique(like, return_counts=True), strict=True):
            if n > 1:
                shared = standard(null[:, like == kind].reshape(-1, 1))
                centre[like == kind], scale[like == kind] = shared.centre, shared.scale
        if self.known.centred:
            centre[list(self.known.centred)] = 0.0
        return Standard(centre, scale)

    def deviations(
        self, observed: FloatArray, null: FloatArray, by: Standard
    ) -> tuple[FloatArray, FloatArray]:
        """Return :func:`deviations_of` these columns: of observed values (C,) and shuffled ones (B, T)."""
        return deviations_of(observed[list(self.columns)], null, by, upper=self.upwards, every=self.every)

    def among(self, values: FloatArray) -> FloatArray:
        """Return these columns of values (b, C), in the permutations that count, shape (up to b, T)."""
        chosen = values[:, list(self.columns)]  # columns first: there may be a thousand
        return chosen if self.within is None else chosen[~np.isnan(values[:, self.within])]


class Standard(NamedTuple):
    """Mean and standard deviation of columns, float64 arrays of shape (T,)."""

    centre: FloatArray
    scale: FloatArray


def reached(
    observed: FloatArray,
    null: FloatArray,
    by: Standard,
    *,
    upper: BoolArray | None = None,
    every: bool = False,
) -> Int64Array:
    """Count for each column the permutations whose largest deviation reaches the column's.

    `observed`: shape (T,).
    `null`, shape (B, T): NaN where not estimable.
    `by`: centre and unit of the deviations.
    `upper`, shape (T,), optional: :attr:`Maximum.upwards`; by default deviations in both directions count.
    `every`: as in :class:`Maximum`.

    Returns shape (T,): all permutations for a column without an observed value.
    """
    return reaching(*deviations_of(observed, null, by, upper=upper, every=every))


def reaching(deviation: FloatArray, largest: FloatArray) -> Int64Array:
    """Count for each deviation, (T,), the permutations whose largest one, (B,), reaches it."""
    return np.asarray((largest[:, None] >= deviation - TIE_TOLERANCE).sum(axis=0), np.int64)


def deviations_of(
    observed: FloatArray,
    null: FloatArray,
    by: Standard,
    *,
    upper: BoolArray | None = None,
    every: bool = False,
) -> tuple[FloatArray, FloatArray]:
    """Return each column's deviation, shape (T,), and the largest deviation of each permutation, (B,).

    Parameters are as in :func:`reached`; a column without an observed value has deviation minus infinity.
    """
    deviation, deviations = ((values - by.centre) / by.scale for values in (observed, null))
    upwards = np.zeros(observed.size, np.bool_) if upper is None else upper
    deviation = np.where(upwards, deviation, np.abs(deviation))
    deviations = np.where(upwards, deviations, np.abs(deviations))
    if not every:
        deviations = deviations[:, ~np.isnan(observed)]
    deviation = np.where(np.isnan(deviation), -np.inf, deviation)
    return deviation, np.nanmax(deviations, axis=1, initial=-np.inf if upwards.all() else 0.0)


def standard(null: FloatArray) -> Standard:
    """Return mean and standard deviation of shuffled values, shape (B, T), without NaN.

    If a null is constant up to rounding, or has fewer than 100 estimable values, it cannot test anything: its
    scale is infinite, so its deviation counts as 0.
    """
    centre, scale = np.zeros(null.shape[1]), np.full(null.shape[1], np.inf)
    enough = np.count_nonzero(~np.isnan(null), axis=0) >= FEWEST
    centre[enough], scale[enough] = np.nanmean(null[:, enough], axis=0), np.nanstd(null[:, enough], axis=0)
    scale[scale <= TIE_TOLERANCE * np.maximum(1.0, np.abs(centre))] = np.inf
    return Standard(centre, scale)


BINS = 60


@dataclass(frozen=True, slots=True)
class Summary:
    """One column's null distribution: no median and no histogram if no shuffled value is estimable."""

    tails: Tails
    median: float | None = None
    histogram: Histogram | None = None


class Summaries(Protocol):
    """Summaries of columns' null distributions."""

    def summary(self, column: int) -> Summary:
        """Return the column's null distribution, with tails around its observed value."""

    def tails(self, column: int) -> Tails:
        """Return only the tails of the summary."""


class Null(Summaries, Protocol):
    """Null distributions of columns of values."""

    def reached(self, maximum: Maximum) -> tuple[Int64Array, int]:
        """Count permutations whose largest deviation reaches each column's, shape (T,), and all of them."""

    def extremes(self, column: int, *, upper: bool) -> Extremes:
        """Return the column's most extreme shuffled values, the largest or the smallest."""

    def largest(self, maximum: Maximum) -> tuple[float, Extremes]:
        """Return the largest observed deviation, and the extremes of each permutation's largest one."""


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """Null distributions that keep all shuffled values, (B, C), beside the observed ones, (C,)."""

    observed: FloatArray
    values: FloatArray

    def summary(self, column: int) -> Summary:
        """See :class:`Null`."""
        null = self.values[:, column]
        null = null[~np.isnan(null)]
        found = tails(float(self.observed[column]), null)
        return Summary(found, median(null), histogram(null)) if null.size else Summary(found)

    def tails(self, column: int) -> Tails:
        """See :class:`Null`."""
        return tails(float(self.observed[column]), self.values[:, column])

    def reached(self, maximum: Maximum) -> tuple[Int64Array, int]:
        """See :class:`Null`."""
        null = maximum.among(self.values)
        return reaching(*maximum.deviations(self.observed, null, maximum.standard(null))), len(null)

    def extremes(self, column: int, *, upper: bool) -> Extremes:
        """See :class:`Null`."""
        null = self.values[:, column]
        return Extremes.of(null[~np.isnan(null)], upper=upper)

    def largest(self, maximum: Maximum) -> tuple[float, Extremes]:
        """See :class:`Null`."""
        null = maximum.among(self.values)
        deviation, largest = maximum.deviations(self.observed, null, maximum.standard(null))
        return float(deviation.max()), Extremes.of(largest, upper=True)


def histogram(null: FloatArray) -> Histogram:
    """Count values, shape (B,), B >= 1, without NaN, in 60 equal bins from the smallest to the largest."""
    low, high = bounds(null)
    counts, _ = np.histogram(null, bins=BINS, range=(low, high))
    return Histogram(low, high, tuple(counts.tolist()))


def bounds(null: FloatArray) -> tuple[float, float]:
    """Return the smallest and largest of values (B,); a range of width 1 around them if all are equal."""
    low, high = float(null.min()), float(null.max())
    if high - low <= TIE_TOLERANCE * max(1.0, abs(low)):
        return low - 0.5, high + 0.5
    return low, high
