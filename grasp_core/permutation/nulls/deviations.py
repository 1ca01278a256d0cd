"""How far values lie from the centre of their null distributions, in its standard deviations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from grasp_core.annotations import BoolArray, FloatArray, Int64Array
from grasp_core.permutation.nulls.tails import FEWEST, TIE_TOLERANCE


class Known(NamedTuple):
    """What regroupings are known to make of T columns.

    A centre estimated from shuffled values has noise. Where each regrouping has a mirror with the opposite
    value, or with the values of two groups exchanged, that noise alone would decide which of the two lies
    further out, and p would be half or twice the exact one.

    Parameters
    ----------
    like : tuple of int, length T
        Columns with the same number have the same null distribution; () where no two have.
    centred : tuple of bool, length T
        Columns whose mean over all regroupings is 0; () where none is known to be.
    """

    like: tuple[int, ...] = ()
    centred: tuple[bool, ...] = ()

    def of(self, columns: Sequence[int]) -> Known:
        """What is known of some of the columns."""
        like = tuple(self.like[c] for c in columns) if self.like else ()
        centred = tuple(self.centred[c] for c in columns) if self.centred else ()
        return Known(like, centred)


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
    known : Known
        What is known of the columns' null distributions without looking at shuffled values.
    """

    columns: tuple[int, ...]
    upper: tuple[int, ...] = ()
    within: int | None = None
    every: bool = False
    known: Known = Known()

    @property
    def upwards(self) -> BoolArray:
        """Which columns are in `upper`, shape (T,)."""
        upper = set(self.upper)
        return np.array([column in upper for column in self.columns], np.bool_)

    def standard(self, null: FloatArray) -> Standard:
        """What deviations of shuffled values, shape (B, T), are measured by; see :func:`standard`."""
        centre, scale = standard(null)
        like = np.array(self.known.like or range(len(self.columns)))
        for kind, n in zip(*np.unique(like, return_counts=True), strict=True):
            if n > 1:
                together = standard(null[:, like == kind].reshape(-1, 1))
                centre[like == kind], scale[like == kind] = together.centre, together.scale
        if self.known.centred:
            centre[list(self.known.centred)] = 0.0
        return Standard(centre, scale)

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
