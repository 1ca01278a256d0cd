"""Arguments of compiled functions: named tuples, which Numba accepts directly."""

from typing import Any, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from grasp_core.model.annotations import FloatArray, Int32Array, Int64Array
from grasp_core.model.spec import Level

LEVELS = get_args(Level)
NOMINAL, ORDINAL, RATIO = (LEVELS.index(level) for level in ("nominal", "ordinal", "ratio"))


class Rows(NamedTuple):
    """Rows: sets of raters whose labels are counted, first H sets of known values, then G groups.

    `profile`: each rater's profile; raters of the same rows share one, so that there are few to look up.
    `ptr`, `of`: the rows that profile p belongs to: ``of[ptr[p]:ptr[p + 1]]``, ascending.
    `n_known`: H.
    `known_of`: for each group the row from which its complement is taken.
    """

    profile: npt.NDArray[np.unsignedinteger[Any]]
    ptr: Int64Array
    of: Int32Array
    n_known: int
    known_of: Int64Array


class Labels(NamedTuple):
    """Annotations by item: item i has the annotations ``indptr[i]`` to ``indptr[i + 1]`` - 1."""

    indptr: Int64Array
    rater: Int32Array
    category: Int32Array


class Counting(NamedTuple):
    """Arrays for making counts.

    `dense`: true if annotations are counted by `bits`, false if by `labels`.
    `bits`: bit j % 64 of word j // 64 is set if rater j gave the item category k.
    `ties`: for the group's and the others' side: ``rank << shift | k``, the rank deciding ties.
    """

    rows: Rows
    dense: bool
    bits: npt.NDArray[np.uint64]
    labels: Labels
    ties: npt.NDArray[np.signedinteger[Any]]


class Tables(NamedTuple):
    """Tables of functions of small whole numbers, float64, shape (most raters per item + 1,).

    `xlogx`, `log`, `log_q`, `log_m`: x ln x, ln x, and the logarithms of cross-negentropy's numerator and
        denominator.
    """

    xlogx: FloatArray
    log: FloatArray
    log_q: FloatArray
    log_m: FloatArray


class Distances(NamedTuple):
    """Distances between labels.

    An ordinal distance depends on the marginals, which are known only when all items are added up. So either
    each pair of categories has its own column of disagreement, or there is a second pass over the items.

    `level`: position in :data:`LEVELS`.
    `values`: each category's number; used by interval and ratio.
    `first`, `second`: the categories of each column, first < second, if pairs have their own columns.
    `n_columns`: C, number of columns of disagreement; 1 unless pairs have their own.
    """

    level: int
    values: FloatArray
    first: Int64Array
    second: Int64Array
    n_columns: int


class Conventions(NamedTuple):
    """Weights and conventions for the counts on an item.

    `paper`: true if cross-negentropy follows the paper's convention.
    `kappa`: true if voting agreement has the form of kappa, which needs each side's own votes.
    `shift`: number of bits for a category.
    """

    tables: Tables
    distances: Distances
    paper: bool
    kappa: bool
    shift: int


def distances_between(level: Level, values: FloatArray, *, paired: bool) -> Distances:
    """Return the distances of a level of measurement; `values` has shape (K,).

    With `paired`, each pair of categories has its own column if distances are not known beforehand.
    """
    first, second = np.triu_indices(values.size if paired and level == "ordinal" else 0, 1)
    return Distances(LEVELS.index(level), values, first, second, max(first.size, 1))


def tables_of(most: int, n_categories: int, *, paper: bool) -> Tables:
    """Return the tables for up to `most` raters an item."""
    n = np.arange(most + 1, dtype=np.float64)
    log = np.log(np.maximum(n, 1))
    if paper:
        return Tables(n * log, log, log, log)
    return Tables(n * log, log, np.log(n + 0.5), np.log(n + n_categories / 2))
