"""The most extreme shuffled values, and the moments of all: what a curve is fitted to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from grasp_core.annotations import FloatArray
from grasp_core.permutation.jit import compiled
from grasp_core.permutation.nulls.tails import TIE_TOLERANCE

MOST = 501
"""Values that are kept on either side; the last is the threshold that the others exceed."""


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Mean, standard deviation and skewness of shuffled values; a null that is constant has no skewness."""

    mean: float
    deviation: float
    skewness: float

    @classmethod
    def of(cls, values: FloatArray) -> Self:
        """Those of values, shape (B,), B >= 1, without NaN."""
        mean, deviation = float(values.mean()), float(values.std())
        if deviation <= TIE_TOLERANCE * max(1.0, abs(mean)):
            return cls(mean, 0.0, 0.0)
        return cls(mean, deviation, float((((values - mean) / deviation) ** 3).mean()))


@dataclass(frozen=True, slots=True, eq=False)
class Extremes:
    """One side of a null distribution, turned so that large values are extreme.

    Parameters
    ----------
    n : int
        Estimable shuffled values.
    values : float64 array, shape (up to :data:`MOST`,)
        The largest ones, in descending order.
    moments : Moments
        Of all values, or of the first where further ones are counted.
    """

    n: int
    values: FloatArray
    moments: Moments

    @classmethod
    def of(cls, values: FloatArray, *, upper: bool) -> Self:
        """Those of values, shape (B,), without NaN."""
        turned = values if upper else -values
        return cls(turned.size, np.sort(turned)[::-1][:MOST], Moments.of(turned))


class Furthest:
    """The largest and the smallest values of counted columns, whatever the order in which they come.

    Parameters
    ----------
    first : float64 array, shape (H, C)
        The first values, NaN where not estimable; they are not added yet.
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
        """Take values, shape (b, C)."""
        _keep(np.concatenate([values, -values], axis=1), self.values)

    def extremes(self, column: int, n: int, *, upper: bool) -> Extremes:
        """One side of a column of which n values were estimable."""
        place = column if upper else column + len(self.values) // 2
        values = np.sort(self.values[place])[::-1]
        return Extremes(n, values[: min(n, MOST)], Moments(*self.moments[place].tolist()))


@compiled()
def _keep(values, largest):  # type: ignore[no-untyped-def]  # types are numba's
    for c in range(values.shape[1]):
        place = np.argmin(largest[c])
        for b in range(values.shape[0]):
            if values[b, c] > largest[c, place]:  # NaN is not
                largest[c, place] = values[b, c]
                place = np.argmin(largest[c])
