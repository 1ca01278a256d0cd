"""How far values lie from the centre of their null distributions, in its standard deviations: for max-T."""

from __future__ import annotations

import numpy as np

from grasp_core.annotations import FloatArray, Int64Array
from grasp_core.permutation.nulls.tails import TIE_TOLERANCE


def reached(observed: FloatArray, null: FloatArray) -> Int64Array:
    """Permutations whose largest deviation reaches that of each test, shape (T,); NaN left out."""
    centre, scale = standard(null)
    largest = np.nanmax(np.abs(null - centre) / scale, axis=1, initial=0.0)
    deviation = np.abs(observed - centre) / scale
    return np.asarray((largest[:, None] >= deviation - TIE_TOLERANCE).sum(axis=0), np.int64)


def standard(null: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation, shape (T,), of shuffled values, shape (B, T), NaN left out.

    A null that is constant up to rounding says nothing: its scale is infinite, so its deviation counts as 0.
    """
    centre = np.nanmean(null, axis=0)
    scale = np.nanstd(null, axis=0)
    scale[scale <= TIE_TOLERANCE * np.maximum(1.0, np.abs(centre))] = np.inf
    return centre, scale
