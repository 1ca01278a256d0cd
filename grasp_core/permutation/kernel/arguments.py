"""Arguments of compiled functions: named tuples, which Numba takes as they are."""

from typing import Any, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from grasp_core.model.annotations import FloatArray, Int32Array, Int64Array
from grasp_core.model.spec import Level

LEVELS = get_args(Level)
NOMINAL, ORDINAL, RATIO = (LEVELS.index(level) for level in ("nominal", "ordinal", "ratio"))


class Rows(NamedTuple):
    """Sets of raters that are counted: first the H whose values are known, then the G groups.

    `profile`: each rater's profile: raters of the same rows share one, so that there are few to look up.
    `ptr`, `of`: the rows that profile p belongs to: ``of[ptr[p]:ptr[p + 1]]``, ascending.
    `n_known`: H.
    `known_of`: for each group the row that its complement is taken from.
    """

    profile: npt.NDArray[np.unsignedinteger[Any]]
    ptr: Int64Array
    of: Int32Array
    n_known: int
    known_of: Int64Array


class Labels(NamedTuple):
    """Annotations by item: those of item i are ``indptr[i]`` to ``indptr[i + 1]`` - 1."""

    indptr: Int64Array
    rater: Int32Array
    category: Int32Array


class Counting(NamedTuple):
    """Arrays that counts are made from.

    `dense`: whether annotations are counted by `bits` (else by `labels`).
    `bits`: bit j % 64 of word j // 64: rater j gave the item category k.
    `ties`: for the group's and the others' side: ``rank << shift | k``, the rank deciding ties.
    """

    rows: Rows
    dense: bool
    bits: npt.NDArray[np.uint64]
    labels: Labels
    ties: npt.NDArray[np.signedinteger[Any]]


class Tables(NamedTuple):
    """Functions of small whole numbers, float64 (most raters per item + 1,).

    `xlogx`, `log`, `log_q`, `log_m`: x ln x, ln x, and the logarithms of cross-negentropy's numerator and
        denominator.
    """

    xlogx: FloatArray
    log: FloatArray
    log_q: FloatArray
    log_m: FloatArray


class Distances(NamedTuple):
    """How far unequal labels are apart.

    An ordinal distance depends on the marginals, which are known once all items are added up: each pair of
    categories then keeps a column of disagreement of its own, or items are gone through a second time.

    `level`: place in :data:`LEVELS`.
    `values`: the number that each category stands for; read by interval and ratio.
    `first`, `second`: the categories of each column, first < second, where pairs keep their own.
    `n_columns`: C, columns of disagreement; 1 unless pairs keep their own.
    """

    level: int
    values: FloatArray
    first: Int64Array
    second: Int64Array
    n_columns: int


class Conventions(NamedTuple):
    """Weights of what is counted on an item.

    `paper`: cross-negentropy by the paper's convention.
    `kappa`: voting agreement in the form of kappa, which takes the votes of either side.
    `shift`: bits that hold a category.
    """

    tables: Tables
    distances: Distances
    paper: bool
    kappa: bool
    shift: int


def distances_between(level: Level, values: FloatArray, *, paired: bool) -> Distances:
    """The distances of a level of measurement; `values` has shape (K,).

    `paired` keeps a column for each pair of categories where their distance is not known beforehand.
    """
    first, second = np.triu_indices(values.size if paired and level == "ordinal" else 0, 1)
    return Distances(LEVELS.index(level), values, first, second, max(first.size, 1))


def tables_of(most: int, n_categories: int, *, paper: bool) -> Tables:
    """The tables for up to `most` raters an item."""
    n = np.arange(most + 1, dtype=np.float64)
    log = np.log(np.maximum(n, 1))
    if paper:
        return Tables(n * log, log, log, log)
    return Tables(n * log, log, np.log(n + 0.5), np.log(n + n_categories / 2))
