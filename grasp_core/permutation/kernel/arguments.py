"""Arguments of compiled functions: named tuples, which Numba takes as they are."""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from grasp_core.annotations import FloatArray, Int32Array, Int64Array
from grasp_core.spec import Level
from grasp_core.statistics.distance import squared_distances

borrowing: Any = numba.njit(cache=True, nogil=True, _nrt=False)  # type: ignore[call-overload]
"""Compiles a function that makes no arrays and returns none, and counts no references to those it is given:
for named tuples of many arrays, counting them takes as long as going through some hundred items."""


class Rows(NamedTuple):
    """Sets of raters that are counted: first the H whose values are known, then the G groups.

    Parameters
    ----------
    ptr, of : int64 (J + 1,), int32
        The rows that rater j's profile belongs to: ``of[ptr[j]:ptr[j + 1]]``, ascending.
    n_known : int
        H.
    known_of : int64 (G,)
        For each group the row that its complement is taken from.
    """

    ptr: Int64Array
    of: Int32Array
    n_known: int
    known_of: Int64Array


class Labels(NamedTuple):
    """Annotations by item: those of item i are ``indptr[i]`` to ``indptr[i + 1]`` - 1.

    Parameters
    ----------
    indptr : int64 (blocks * width + 1,)
    rater, category : int32 (A,)
    """

    indptr: Int64Array
    rater: Int32Array
    category: Int32Array


class Counting(NamedTuple):
    """Arrays that counts are made from.

    Parameters
    ----------
    rows : Rows
    dense : bool
        Whether annotations are counted by `bits` (else by `labels`).
    bits : uint64 (blocks, K, W, width)
        Bit j % 64 of word j // 64: rater j gave the item category k.
    labels : Labels
    ties : int32 or int64 (blocks, 2, K, width)
        For the group's and the others' side: ``rank << shift | k``, the rank deciding ties.
    """

    rows: Rows
    dense: bool
    bits: npt.NDArray[np.uint64]
    labels: Labels
    ties: npt.NDArray[np.signedinteger[Any]]


class Tables(NamedTuple):
    """Functions of small whole numbers, float64 (most raters per item + 1,).

    Parameters
    ----------
    xlogx, log, log_q, log_m
        x ln x, ln x, and the logarithms of cross-negentropy's numerator and denominator.
    """

    xlogx: FloatArray
    log: FloatArray
    log_q: FloatArray
    log_m: FloatArray


class Pairs(NamedTuple):
    """How unequal labels count: a column of disagreement each, with weights.

    A distance known beforehand (nominal, interval, ratio) weighs all pairs into one column. An ordinal one
    depends on the marginals, which are known once all items are added up: each pair keeps its own column.

    Parameters
    ----------
    first, second : int64 (K (K - 1) / 2,)
        The categories, first < second.
    weight : float64, same shape
    n_columns : int
        C.
    """

    first: Int64Array
    second: Int64Array
    weight: FloatArray
    n_columns: int


class Conventions(NamedTuple):
    """Weights of what is counted on an item.

    Parameters
    ----------
    tables : Tables
    pairs : Pairs
    nominal : bool
        Whether all unequal labels are equally far apart.
    paper : bool
        Cross-negentropy by the paper's convention.
    shift : int
        Bits that hold a category.
    """

    tables: Tables
    pairs: Pairs
    nominal: bool
    paper: bool
    shift: int


def weigh_pairs(level: Level, values: FloatArray) -> Pairs:
    """The pairs of categories for a level of measurement; `values` has shape (K,)."""
    first, second = np.triu_indices(values.size, 1)
    if level == "ordinal":
        return Pairs(first, second, np.ones(first.size), max(first.size, 1))
    weight = squared_distances(level, values, np.zeros(values.size))[first, second]
    return Pairs(first, second, weight, 1)
