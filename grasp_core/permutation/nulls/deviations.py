"""How far values lie from the centre of their null distributions, in its standard deviations."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from grasp_core.annotations import FloatArray, Int64Array
from grasp_core.permutation.nulls.tails import FEWEST, TIE_TOLERANCE


class Maximum(NamedTuple):
    """Columns whose largest deviation in a permutation is what that of each is held against.

    Parameters
    ----------
    columns : tuple of int
    upper : bool
        Deviations upwards alone, as of an axis's GAI for its DSI; else either way, as for max-T, and then of
        columns that have an observed value.
    within : int, optional
        A column that has no value in the permutations that do not count; by default all count.
    """

    columns: tuple[int, ...]
    upper: bool = False
    within: int | None = None

    def among(self, values: FloatArray) -> FloatArray:
        """Of values (b, C) those of these columns, shape (up to b, T), in the permutations that count."""
        if self.within is not None:
            values = values[~np.isnan(values[:, self.within])]
        return values[:, list(self.columns)]


class Standard(NamedTuple):
    """Mean and standard deviation of columns, float64 arrays of shape (T,)."""

    centre: FloatArray
    scale: FloatArray


def reached(observed: FloatArray, null: FloatArray, by: Standard, *, upper: bool = False) -> Int64Array:
    """Permutations whose largest deviation reaches that of each column.

    Parameters
    ----------
    observed : float array, shape (T,)
    null : float array, shape (B, T)
        NaN where not estimable.
    by : Standard
        Where deviations start, and their unit.
    upper : bool
        As in :class:`Maximum`.

    Returns
    -------
    int64 array, shape (T,)
        All of them for a column without an observed value.
    """
    deviation, deviations = ((values - by.centre) / by.scale for values in (observed, null))
    if not upper:
        deviation, deviations = np.abs(deviation), np.abs(deviations)[:, ~np.isnan(observed)]
    deviation = np.where(np.isnan(deviation), -np.inf, deviation)
    largest = np.nanmax(deviations, axis=1, initial=-np.inf if upper else 0.0)
    return np.asarray((largest[:, None] >= deviation - TIE_TOLERANCE).sum(axis=0), np.int64)


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
