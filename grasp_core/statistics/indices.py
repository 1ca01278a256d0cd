"""Indices made of the in-group and cross-group statistics."""

from __future__ import annotations

import numpy as np

from grasp_core.annotations import FloatArray

ROUNDING = 1e-12


def gai(in_group: FloatArray, cross_group: FloatArray) -> FloatArray:
    """Group association index: in-group over cross-group cohesion.

    Parameters
    ----------
    in_group, cross_group : float arrays of one shape
        NaN where not estimable.

    Returns
    -------
    float array
        Baseline 1; NaN where the cross-group statistic is not positive or either is NaN.

    Notes
    -----
    A cross-group statistic up to 1e-12 is 0 but for rounding, and has no ratio either.
    """
    index = np.full(np.broadcast_shapes(in_group.shape, cross_group.shape), np.nan)
    np.divide(in_group, cross_group, out=index, where=cross_group > ROUNDING)
    return index


def dsi(gais: FloatArray) -> FloatArray:
    """Diversity sensitivity index: the largest GAI of an axis's groups.

    Parameters
    ----------
    gais : float array, shape (..., G)

    Returns
    -------
    float array, shape (...)
        NaN where no group's GAI is estimable.
    """
    largest = np.max(np.where(np.isnan(gais), -np.inf, gais), axis=-1, initial=-np.inf)
    return np.where(np.isneginf(largest), np.nan, largest)
