"""Arguments of the compiled kernel: named tuples, which Numba takes as they are."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from grasp_core.model.annotations import FloatArray, Int32Array, Int64Array

OUTSIDE, INSIDE = 1, 2
"""A rater's side; 0 is neither, where a value is unknown."""
Sides = npt.NDArray[np.uint8]
"""Shape (J, permutations)."""


class Cells(NamedTuple):
    """Annotations by item.

    Parameters
    ----------
    indptr : int64 (I + 1,)
    rater, place : int32 (A,)
        `place` is that of the label among those of the item.
    labels_ptr : int64 (I + 1,)
        Item i has the labels ``label[labels_ptr[i]:labels_ptr[i + 1]]``, rows of arrays of shape (L, ...).
    label : int32 (L,)
    apart : float64 (K, K)
        Squared distances between labels.
    nominal : bool
        Whether they are 1 between unequal ones.
    """

    indptr: Int64Array
    rater: Int32Array
    place: Int32Array
    labels_ptr: Int64Array
    label: Int32Array
    apart: FloatArray
    nominal: bool


class Moments(NamedTuple):
    """What is added up over permutations, and the sizes of a batch.

    Parameters
    ----------
    use_sums : float64 (2, L)
        Of label use: the sum of terms, and of their squares.
    apart_sums : float64 (2, I)
        The same of distance.
    n : int64 (2, I)
        Permutations in which an item has a term of label use, and of distance.
    reached : int64 (I,)
        Permutations whose term of distance is as large as the observed one.
    sizes : float64 (2, b, I)
        What items carry of either, not below 0.
    counted : int64 (2, b)
        Items that have a term of either.
    """

    use_sums: FloatArray
    apart_sums: FloatArray
    n: Int64Array
    reached: Int64Array
    sizes: FloatArray
    counted: Int64Array


class Standards(NamedTuple):
    """Means and reciprocal standard deviations of terms, shape (2, L) and (2, I); 0 where nothing varies."""

    use: FloatArray
    apart: FloatArray


class Reached(NamedTuple):
    """Counts of permutations, and the largest deviations.

    Parameters
    ----------
    use : int64 (I,)
        Permutations whose furthest label lies as far as the observed one.
    largest : float64 (2, b)
        The largest deviation of any item from its mean, in standard deviations: of label use either way, of
        distance upwards.
    """

    use: Int64Array
    largest: FloatArray


def new_moments(n_items: int, n_labels: int, width: int) -> Moments:
    """Nothing added up yet, and room for the sizes of `width` permutations."""
    return Moments(
        np.zeros((2, n_labels)),
        np.zeros((2, n_items)),
        np.zeros((2, n_items), np.int64),
        np.zeros(n_items, np.int64),
        np.zeros((2, width, n_items)),
        np.zeros((2, width), np.int64),
    )
