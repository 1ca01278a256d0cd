"""How far values lie from the centre of their null distributions, in its standard deviations."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from grasp_core.annotations import BoolArray, FloatArray, Int64Array
from grasp_core.permutation.nulls.tails import FEWEST, TIE_TOLERANCE


class Maximum(NamedTuple):
    """Columns whose largest deviation in a permutation is what that of each is held against.

    Parameters
    ----------
    columns : tuple of int
    upper : tuple of int
        Those of which deviations upwards alone count.
    within : int, optional
        A column that has no value in the permutations that do not count; by default all count.
    every : bool
        Whether columns without an observed value take part too, as an axis's groups do in its DSI.
    """

    columns: tuple[int, ...]
    upper: tuple[int, ...] = ()
    within: int | None = None
    every: bool = False

    @property
    def upwards(self) -> BoolArray:
        """Which columns are in `upper`, shape (T,)."""
        upper = set(self.upper)
        return np.array([column in upper for column in self.columns], np.bool_)

    def of_tail(self, deviations: FloatArray) -> FloatArray:
        """Largest deviations, of any shape, as a curve through their tail takes them.

        Of values near normal those upwards are as they are; of those either way the square is gamma
        distributed, of which the curve is made.
        """
        return deviations if self.upper else deviations**2

    def among(self, values: FloatArray) -> FloatArray:
        """Of values (b, C) those of these columns, shape (up to b, T), in the permutations that count."""
        chosen = values[:, list(self.columns)]  # first: there may be a thousand columns
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
    """Permutations whose largest deviation reaches that of each column.

    Parameters
    ----------
    observed : float array, shape (T,)
    null : float array, shape (B, T)
        NaN where not estimable.
    by : Standard
        Where deviations start, and their unit.
    upper : bool array, shape (T,), optional
        :attr:`Maximum.upwards`; by default deviations either way count.
    every : bool
        As in :class:`Maximum`.

    Returns
    -------
    int64 array, shape (T,)
        All of them for a column without an observed value.
    """
    deviation, largest = deviations_of(observed, null, by, upper=upper, every=every)
    return np.asarray((largest[:, None] >= deviation - TIE_TOLERANCE).sum(axis=0), np.int64)


def deviations_of(
    observed: FloatArray,
    null: FloatArray,
    by: Standard,
    *,
    upper: BoolArray | None = None,
    every: bool = False,
) -> tuple[FloatArray, FloatArray]:
    """How far each column lies out, shape (T,), and the largest such deviation of each permutation, (B,).

    Parameters are those of :func:`reached`; a column without an observed value lies infinitely far inside.
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
    """Mean and standard deviation of shuffled values, shape (B, T), NaN left out.

    A null that is constant up to rounding, or of which fewer than 100 values are estimable, says nothing: its
    scale is infinite, so its deviation counts as 0.
    """
    centre, scale = np.zeros(null.shape[1]), np.full(null.shape[1], np.inf)
    enough = np.count_nonzero(~np.isnan(null), axis=0) >= FEWEST
    centre[enough], scale[enough] = np.nanmean(null[:, enough], axis=0), np.nanstd(null[:, enough], axis=0)
    scale[scale <= TIE_TOLERANCE * np.maximum(1.0, np.abs(centre))] = np.inf
    return Standard(centre, scale)
