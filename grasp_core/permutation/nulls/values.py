"""Null distributions whose shuffled values are all kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from grasp_core.model.annotations import FloatArray, Int64Array
from grasp_core.model.outcome import Histogram
from grasp_core.permutation.nulls.deviations import (
    TIE_TOLERANCE,
    Extremes,
    Maximum,
    Tails,
    deviations_of,
    median,
    reached,
    tails,
)

BINS = 60


@dataclass(frozen=True, slots=True)
class Summary:
    """One column's null distribution: no median and no histogram where no shuffled value is estimable."""

    tails: Tails
    median: float | None = None
    histogram: Histogram | None = None


class Null(Protocol):
    """Null distributions of columns of values."""

    def summary(self, column: int) -> Summary:
        """Held against the column's observed value."""

    def tails(self, column: int) -> Tails:
        """The summary's tails alone."""

    def reached(self, maximum: Maximum) -> tuple[Int64Array, int]:
        """Permutations whose largest deviation reaches each column's, shape (T,), and all that count."""

    def extremes(self, column: int, *, upper: bool) -> Extremes:
        """The column's most extreme shuffled values, the largest or the smallest."""

    def largest(self, maximum: Maximum) -> tuple[float, Extremes]:
        """The largest deviation as observed, and the extremes of the largest in each permutation."""


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """Shuffled values as they are.

    Parameters
    ----------
    observed : float64 array, shape (C,)
    values : float64 array, shape (B, C)
        NaN where not estimable.
    """

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
        observed = self.observed[list(maximum.columns)]
        return reached(
            observed, null, maximum.standard(null), upper=maximum.upwards, every=maximum.every
        ), len(null)

    def extremes(self, column: int, *, upper: bool) -> Extremes:
        """See :class:`Null`."""
        null = self.values[:, column]
        return Extremes.of(null[~np.isnan(null)], upper=upper)

    def largest(self, maximum: Maximum) -> tuple[float, Extremes]:
        """See :class:`Null`."""
        null, observed = maximum.among(self.values), self.observed[list(maximum.columns)]
        deviation, largest = deviations_of(
            observed, null, maximum.standard(null), upper=maximum.upwards, every=maximum.every
        )
        return float(deviation.max()), Extremes.of(largest, upper=True)


def histogram(null: FloatArray) -> Histogram:
    """Counts in 60 equal bins from the smallest to the largest value, shape (B,), B >= 1, without NaN."""
    low, high = bounds(null)
    counts, _ = np.histogram(null, bins=BINS, range=(low, high))
    return Histogram(low, high, tuple(counts.tolist()))


def bounds(null: FloatArray) -> tuple[float, float]:
    """Smallest and largest of values (B,), or one bin's worth of room where all are the same."""
    low, high = float(null.min()), float(null.max())
    if high - low <= TIE_TOLERANCE * max(1.0, abs(low)):
        return low - 0.5, high + 0.5
    return low, high
