"""From statistics without one unit at a time to their variance, degrees of freedom and intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from grasp_core.annotations import FloatArray
from grasp_core.spec import IntervalTarget

COVERAGE = 0.95


@dataclass(slots=True)
class Spread:
    """Statistics with one unit left out at a time, of which only the first four moments are held.

    Parameters
    ----------
    whole : float64 array, shape (T,)
        The statistics with all units.
    n : float
        Units so far.
    powers : float64 array, shape (4, T)
        Sums of the first four powers of the distances from `whole`; NaN where a statistic is not estimable
        without some unit.
    """

    whole: FloatArray
    n: float
    powers: FloatArray

    @classmethod
    def around(cls, whole: FloatArray) -> Self:
        """No unit yet."""
        return cls(whole, 0.0, np.zeros((4, *whole.shape)))

    def add(self, without: FloatArray, times: FloatArray | None = None) -> None:
        """Add statistics without each of U units, shape (U, T); each may stand for several, shape (U,)."""
        weight = np.ones(len(without)) if times is None else times
        distance = without - self.whole
        self.n += float(weight.sum())
        power = np.ones_like(distance)
        for k in range(4):
            power *= distance
            self.powers[k] += weight @ power

    @property
    def variance(self) -> FloatArray:
        """The delete-one jackknife's, shape (T,); 0 without units."""
        if self.n < 2:
            return np.zeros(self.whole.shape)
        sums, squares, *_ = self.powers
        return np.asarray((self.n - 1) / self.n * np.maximum(squares - sums**2 / self.n, 0.0))

    @property
    def freedom(self) -> FloatArray:
        """Degrees of freedom of the variance, shape (T,): 2 V^2 / Var(V), at least 1 and at most n - 1.

        Notes
        -----
        V is a sum of n squares, whose variance follows from their fourth powers: with the kurtosis k of the
        values left, 2 V^2 / Var(V) = 2 n / (k - 1). Of normal values that is n; where few units carry all
        that varies, as the few items with a rare label, hardly more than these.
        """
        most = max(self.n - 1, 1.0)
        if self.n < 2:
            return np.full(self.whole.shape, most)
        mean, squares, cubes, fourths = self.powers / self.n
        second = squares - mean**2
        fourth = fourths - 4 * mean * cubes + 6 * mean**2 * squares - 3 * mean**4
        spread = np.maximum(fourth - second**2, 0.0)
        found = np.full(self.whole.shape, most)
        np.divide(2 * self.n * second**2, spread, out=found, where=spread > 0)
        return np.asarray(np.clip(found, 1.0, most))


@dataclass(frozen=True, slots=True)
class Spreads:
    """What varies: raters of the group, raters of the others, items, and annotations one by one."""

    group: Spread
    others: Spread
    items: Spread
    annotations: Spread

    def interval(self, target: IntervalTarget) -> FloatArray:
        """The 95 % interval of each statistic, for new raters, new items or both.

        Returns
        -------
        float64 array, shape (T, 2)
            NaN where the statistic, or the statistic without some unit, has no value.

        Notes
        -----
        Raters vary in two samples, V_r = V_group + V_others. For both, V_r + V_items counts what is due to
        single annotations twice: V = max(V_r + V_items - V_annotations, V_r, V_items). The interval is
        Student's, with Satterthwaite's degrees of freedom of the terms that are the largest, each by its own
        (:attr:`Spread.freedom`).

        References
        ----------
        Cameron, Gelbach & Miller (2011), Journal of Business & Economic Statistics 29; Efron & Stein (1981),
        Annals of Statistics 9; Satterthwaite (1946), Biometrics Bulletin 2.
        """
        from scipy.special import stdtrit  # takes a tenth of a second to load, which a start can do without

        raters, items = [self.group, self.others], [self.items]
        every = {"raters": [raters], "items": [items], "both": [raters, items, raters + items]}
        terms: list[list[Spread]] = every[target]
        variances = np.stack([_sum(one) for one in terms])
        if target == "both":
            variances[2] -= self.annotations.variance
        largest = variances.argmax(axis=0)  # NaN where there is one
        freedom = np.choose(largest, [_freedom(one) for one in terms])
        reach = stdtrit(freedom, (1 + COVERAGE) / 2) * np.sqrt(variances.max(axis=0))
        whole = self.group.whole
        return np.stack([whole - reach, whole + reach], axis=-1)


def _sum(spreads: Sequence[Spread]) -> FloatArray:
    """The variances of independent sources together, shape (T,)."""
    return np.asarray(np.sum([one.variance for one in spreads], axis=0))


def _freedom(spreads: Sequence[Spread]) -> FloatArray:
    """Satterthwaite's degrees of freedom of that sum, shape (T,)."""
    shares = np.sum([one.variance**2 / one.freedom for one in spreads], axis=0)
    found = np.ones(shares.shape)
    np.divide(_sum(spreads) ** 2, shares, out=found, where=shares > 0)
    return found
