"""Boosted trees on word counts of few texts: scikit-learn's AdaBoost, for far more columns than rows.

Most of the many n-grams of few texts occur in the same texts equally often. Columns that are equal in all
rows split them alike, so each pattern is looked at once.

Many splits are equally good. Scikit-learn takes the first in a random order of the columns, so a pattern is
taken the more often the more columns it has. Here it is always the pattern of most columns, and of its
columns the first: no chance, so that no figure depends on a seed.

Letters in docstrings: n rows, F columns, S splits, K classes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from grasp_core.annotations import FloatArray
from grasp_core.errors import DataError

Codes: TypeAlias = NDArray[np.intp]

TIE = 1e-9
"""Splits whose purity differs by less than this share are equally good: rounding must not choose."""
MOST = 50_000_000
"""Rows times splits that are held in memory, in 8 bytes each."""


@dataclass(frozen=True, slots=True, eq=False)
class Splits:
    """Every way of parting the rows by one column's count.

    Parameters
    ----------
    above : array of 0 and 1, shape (n, S)
        Whether the row's count is above the split's value.
    pattern : int array, shape (S,)
        Number of the split's pattern; a pattern's splits follow one another by rising value.
    column, size : int arrays, shape (patterns,)
        The first of the columns that are equal in all rows, and how many they are.
    counts : int array, shape (n, patterns)
    """

    above: FloatArray
    pattern: Codes
    column: Codes
    size: Codes
    counts: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Node:
    """A question about one column, or a leaf.

    Parameters
    ----------
    label : int
        The class of most weight.
    column, pattern : int
        The column, and the pattern that it has in the rows learnt from; -1 in a leaf.
    threshold : float
        Counts up to this go left.
    children : tuple of Node
        Left and right; empty in a leaf.
    """

    label: int
    column: int = -1
    pattern: int = -1
    threshold: float = 0.0
    children: tuple[Node, ...] = ()


def find_splits(counts: Any) -> Splits:
    """Distinct splits of a sparse matrix of counts, shape (n, F).

    Raises
    ------
    DataError
        If there are so many rows and words that they would not fit in memory.
    """
    table = csc_array(counts)
    table.sort_indices()
    first: dict[bytes, int] = {}
    size: Counter[bytes] = Counter()
    for column in range(table.shape[1]):
        part = slice(table.indptr[column], table.indptr[column + 1])
        key = table.indices[part].tobytes() + table.data[part].tobytes()
        first.setdefault(key, column)
        size[key] += 1
    columns = np.array(list(first.values()), dtype=np.intp)
    dense = table[:, columns].toarray().astype(np.int64)
    values = [np.unique(pattern)[:-1] for pattern in dense.T]
    pattern = np.repeat(np.arange(len(values)), [len(one) for one in values])
    if len(dense) * len(pattern) > MOST:
        raise DataError(
            f"AdaBoost on {len(dense):,} rows with these texts needs too much memory; it is meant for few "
            "rows: take fewer, or another baseline, e.g. tfidf"
        )
    value = np.concatenate([np.empty(0, np.int64), *values])
    above = (dense[:, pattern] > value).astype(np.float64)
    return Splits(above, pattern, columns, np.array([size[key] for key in first], dtype=np.intp), dense)


def grow(splits: Splits, weights: FloatArray, depth: int, rows: Codes | None = None) -> Node:
    """A tree by the best splits in Gini impurity.

    Parameters
    ----------
    splits : Splits
    weights : array, shape (K, n)
        Weight of each row, in the row of its class; elsewhere 0.
    depth : int
        Questions on the way to a leaf, at most.
    rows : int array, optional
        Rows that reach this node; all by default.
    """
    rows = np.arange(weights.shape[1]) if rows is None else rows
    total = weights[:, rows].sum(axis=1)
    label = int(np.argmax(total))
    if depth == 0 or np.count_nonzero(total) < 2:
        return Node(label)
    best = _best(splits, weights, rows, total)
    if not best.size:
        return Node(label)
    split = int(best[np.argmax(splits.size[splits.pattern[best]])])
    pattern = int(splits.pattern[split])
    right = splits.above[rows, split] > 0
    sides = (rows[~right], rows[right])
    counts = splits.counts[:, pattern]
    threshold = (counts[sides[0]].max() + counts[sides[1]].min()) / 2
    children = tuple(grow(splits, weights, depth - 1, side) for side in sides)
    return Node(label, int(splits.column[pattern]), pattern, float(threshold), children)


def _best(splits: Splits, weights: FloatArray, rows: Codes, total: FloatArray) -> Codes:
    """Splits of the highest purity among those that part the rows, in their order.

    Notes
    -----
    The impurity of both sides together is least where ``sum_k L[k]^2 / L + sum_k R[k]^2 / R`` is largest,
    with weights L[k] and R[k] of class k on either side (Breiman et al., 1984, chapter 4).
    """
    classes = total > 0
    # One product for the weights of the classes, and in the last row the number of rows, on the right.
    on_right = np.vstack([weights[np.ix_(classes, rows)], np.ones(len(rows))]) @ splits.above[rows]
    parting = np.flatnonzero((on_right[-1] > 0) & (on_right[-1] < len(rows)))
    if not parting.size:
        return parting
    right = on_right[:-1, parting]
    left = total[classes, None] - right
    with np.errstate(divide="ignore", invalid="ignore"):
        purity = (left**2).sum(axis=0) / left.sum(axis=0) + (right**2).sum(axis=0) / right.sum(axis=0)
    purity = np.nan_to_num(purity, nan=0.0)
    best: Codes = parting[purity >= purity.max() * (1 - TIE)]
    return best


def follow(node: Node, counts: NDArray[np.int64], place: Mapping[int, int] | None = None) -> Codes:
    """Class of each row, by its counts.

    Parameters
    ----------
    node : Node
    counts : int array, shape (n, m)
    place : mapping of int to int, optional
        Where in `counts` a column is; by default they hold a column per pattern.
    """
    if not node.children:
        return np.full(len(counts), node.label)
    at = node.pattern if place is None else place[node.column]
    left, right = (follow(child, counts, place) for child in node.children)
    return np.where(counts[:, at] > node.threshold, right, left)


def columns_of(node: Node) -> set[int]:
    """Columns that a tree asks about."""
    return set().union({node.column} if node.children else (), *map(columns_of, node.children))
