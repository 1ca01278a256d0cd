"""How much single items add to a group's label use and distance (docs/methods.md, "Which items")."""

from __future__ import annotations

import math

import numpy as np

from grasp_core.model.annotations import FloatArray, Int64Array

ENOUGH_PAIRS = 30
"""Items with two labels of both sides from which distance is taken over such items, however many others are
shared; of fewer, half of the shared ones are enough."""
ROUNDING = 1e-12
"""Terms this small are 0 but for rounding."""


def label_use_terms(c: Int64Array, d: Int64Array) -> FloatArray:
    """By how many labels the group gives more of each label than if it labelled as everybody does.

    Parameters
    ----------
    c, d : int arrays, shape (I, K)
        Labels of the group and of the others.

    Returns
    -------
    float64 array, shape (I, K)
        c_ik - n_i (c_ik + d_ik) / (n_i + m_i), which is the item's part of the numerator of D_k; NaN where
        one side has no label.
    """
    n, m = c.sum(axis=1, keepdims=True), d.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where((n > 0) & (m > 0), c - n * (c + d) / (n + m), np.nan))


def distance_terms(c: Int64Array, d: Int64Array, apart: FloatArray) -> FloatArray:
    """The items' parts of the numerator of the distance E.

    Parameters
    ----------
    c, d : int arrays, shape (I, K)
    apart : float array, shape (K, K)
        Squared distances between labels.

    Returns
    -------
    float64 array, shape (I,)
        n m / (n + m) (2 Dx - Din - Dout) of each item; NaN where a side has fewer than two labels.
    """
    n, m = c.sum(axis=1).astype(float), d.sum(axis=1).astype(float)
    with np.errstate(invalid="ignore", divide="ignore"):
        across = np.einsum("ik,kl,il->i", c, apart, d) / (n * m)
        inside = np.einsum("ik,kl,il->i", c, apart, c) / (n * (n - 1))
        outside = np.einsum("ik,kl,il->i", d, apart, d) / (m * (m - 1))
        terms = n * m / (n + m) * (2 * across - inside - outside)
    return np.asarray(np.where((n > 1) & (m > 1), terms, np.nan))


def weights(c: Int64Array, d: Int64Array) -> FloatArray:
    """The items' weights n m / (n + m), shape (I,); 0 where one side has no label."""
    n, m = c.sum(axis=1).astype(float), d.sum(axis=1).astype(float)
    return np.asarray(n * m / np.maximum(n + m, 1))


def tenth(items: int) -> int:
    """How many items a tenth of them is, rounded up."""
    return math.ceil(items / 10)


def top_share(sizes: FloatArray) -> float:
    """The share that the top tenth of items has in the sum of all sizes.

    Parameters
    ----------
    sizes : float array, shape (I,)
        Not below 0; what is :data:`ROUNDING` or less counts as 0.

    Returns
    -------
    float
        NaN where all sizes are 0.
    """
    sizes = np.where(sizes > ROUNDING, sizes, 0.0)
    total = sizes.sum()
    if not total > 0:
        return math.nan
    return float(np.sort(sizes)[::-1][: tenth(sizes.size)].sum() / total)
