"""An item's contribution to a group's sums, for all kernels (docs/methods.md, "The kernel in short").

It is computed for many *columns* of counts at once. c[k, i] is the number of labels k that the group gave in
column i, and known[k, i] the number that all raters with known values gave. A column may be an item, or one
possible vector of the group's counts on an item. Loops run over columns, the contiguous axis, and each loop
uses few arrays, so that the compiler vectorises them.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from grasp_core.model.annotations import FloatArray
from grasp_core.permutation.jit import borrowing, inlined, making
from grasp_core.permutation.kernel.arguments import NOMINAL, Distances

CountArray = npt.NDArray[np.signedinteger[Any]]
APART = 40
"""Unused entries between adjacent rows, so that rows do not compete for the same lines of a cache."""


class Columns(NamedTuple):
    """Counts of labels.

    `c`, `known`: labels of the group, and of all raters with known values; the others' are d = known - c.
    `ties`: for the group's and the others' side: ``rank << shift | k``, the rank deciding ties.
    `values`: the labels' numbers, if distances are computed from them.
    `size`: N, the number of columns.
    """

    c: CountArray
    known: CountArray
    ties: CountArray
    values: FloatArray
    size: int


class Terms(NamedTuple):
    """Contributions of each column, except those by category; :func:`room_for_terms` makes the arrays.

    `n`, `m`: number of the group's and of the others' labels.
    `largest`: max_k c_k.
    `first`, `second`: the group's and the others' plurality; below 0 unless both have a label.
    `squares`, `products`, `others_squares`: sum_k c_k^2, sum_k c_k d_k and sum_k d_k^2.
    `share`: 1 / n. If a side has no label, this field and all after it are finite, and add nothing undefined.
    `ratio`, `weight`: n / (n + m), the group's expected share of a label, and n m / (n + m), the item's
        weight.
    `plurality`, `own`, `cross`: max_k c_k / n, sum_k c_k ln c_k / n - ln n, and the same with ln q_k.
    `inside`, `across`: (n - 1)^-1 sum_(k,l) c_k c_l w_kl, and (n + m) / (n m) sum_(k,l) c_k d_l w_kl, for one
        column of disagreement.
    `apart`: n m / (n + m) times twice the mean distance across minus the mean distances inside both sides,
        for the same column; 0 if a side has fewer than two labels.
    `mean`, `spread`, `others_mean`, `others_spread`: mean of each side's numbers, and sum of squared
        differences from it.
    """

    n: CountArray
    m: CountArray
    largest: CountArray
    first: CountArray
    second: CountArray
    squares: CountArray
    products: CountArray
    others_squares: CountArray
    share: FloatArray
    ratio: FloatArray
    weight: FloatArray
    plurality: FloatArray
    own: FloatArray
    cross: FloatArray
    inside: FloatArray
    across: FloatArray
    apart: FloatArray
    mean: FloatArray
    spread: FloatArray
    others_mean: FloatArray
    others_spread: FloatArray


class OfCategory(NamedTuple):
    """A category's whole numbers, in the order of :mod:`~grasp_core.permutation.kernel.sums`."""

    in_pairs: int
    in_group: int
    in_others: int
    votes: int


@making
def room_for_terms(width, like):  # type: ignore[no-untyped-def]  # compiled: types are numba's
    """Make arrays for the terms of `width` columns; whole numbers have the type of `like`, of one axis."""
    whole, real = np.empty((8, width), dtype=like.dtype), np.empty((13, width))
    return Terms(
        *(whole[0], whole[1], whole[2], whole[3], whole[4], whole[5], whole[6], whole[7]),
        *(real[0], real[1], real[2], real[3], real[4], real[5], real[6]),
        *(real[7], real[8], real[9], real[10], real[11], real[12]),
    )


@making
def room_for_counts(n_categories, width, distances, like):  # type: ignore[no-untyped-def]
    """Make arrays for `width` columns of counts on one item, with labels' numbers; see :func:`repeat_item`.

    Whole numbers have the type of `like`, which has one axis.
    """
    width += APART  # so that rows do not compete for lines of a cache
    shape = (n_categories, width)
    c, known = np.empty(shape, dtype=like.dtype), np.empty(shape, dtype=like.dtype)
    return Columns(c, known, np.empty((2, *shape), dtype=like.dtype), repeat_values(distances, width), width)


@making
def repeat_values(distances, width):  # type: ignore[no-untyped-def]
    """Make an array with the labels' numbers in each of `width` columns; empty if they are not used."""
    read = distances.level != NOMINAL and distances.first.size == 0
    values = np.empty((distances.values.size if read else 0, width))
    for k in range(values.shape[0]):
        values[k] = distances.values[k]
    return values


def values_in_columns(distances: Distances, width: int) -> FloatArray:
    """Do as :func:`repeat_values`, for calls from Python."""
    read = distances.level != NOMINAL and distances.first.size == 0
    return np.repeat(distances.values[: distances.values.size if read else 0, None], width, axis=1)


@inlined
def repeat_item(columns, totals, ties):  # type: ignore[no-untyped-def]
    """Fill columns of counts on one item, except `c`, from the item's totals and ties, shape (2, K)."""
    for k in range(totals.size):
        known, tie, tie_other = columns.known[k], columns.ties[0, k], columns.ties[1, k]
        for i in range(columns.size):
            known[i] = totals[k]
        for i in range(columns.size):
            tie[i] = ties[0, k]
        for i in range(columns.size):
            tie_other[i] = ties[1, k]


@borrowing
def work_out(columns, how, terms):  # type: ignore[no-untyped-def]
    """Fill `terms`, except the disagreements."""
    add_labels(columns, how, terms)
    conclude(columns, how, terms)


@inlined
def add_labels(columns, how, terms):  # type: ignore[no-untyped-def]
    """Fill the terms that are sums or maxima over the columns' labels."""
    _count(columns, terms.n, terms.m)
    if how.distances.level == NOMINAL:
        _multiply(columns, terms.squares, terms.products, terms.others_squares)
    _vote(columns, how.shift, terms)
    _sum_logs(columns, how.tables, terms.own, terms.cross)


@inlined
def conclude(columns, how, terms):  # type: ignore[no-untyped-def]
    """Turn these sums into each column's contributions."""
    _elect(columns.size, how.shift, terms)
    _weigh(columns.size, how.tables, terms)
    if how.paper:
        _drop_undefined(columns, terms.cross)


@inlined
def of_category(k, x, both, n, first, second):  # type: ignore[no-untyped-def]
    """Return an item's contribution to category `k`, given `x` times by the group and `both` times by all."""
    shared, votes = first >= 0, (first == k) + (second == k)
    return OfCategory(x if n > 1 else 0, x if shared else 0, both - x if shared else 0, votes)


@inlined
def _count(columns, n, m):  # type: ignore[no-untyped-def]
    size = columns.size
    for i in range(size):
        n[i] = 0
        m[i] = 0
    for k in range(columns.c.shape[0]):
        x, both = columns.c[k], columns.known[k]
        for i in range(size):
            n[i] += x[i]
            m[i] += both[i] - x[i]


@inlined
def _multiply(columns, squares, products, others_squares):  # type: ignore[no-untyped-def]
    size = columns.size
    for i in range(size):
        squares[i] = 0
        products[i] = 0
        others_squares[i] = 0
    for k in range(columns.c.shape[0]):
        x, both = columns.c[k], columns.known[k]
        for i in range(size):
            others = both[i] - x[i]
            squares[i] += x[i] * x[i]
            products[i] += x[i] * others
            others_squares[i] += others * others


@inlined
def _vote(columns, shift, terms):  # type: ignore[no-untyped-def]
    """Find pluralities: the largest (count, rank among ties, category), packed into one integer."""
    size, ties = columns.size, columns.ties
    first, second = terms.first, terms.second
    for i in range(size):
        first[i] = 0
        second[i] = 0
    for k in range(columns.c.shape[0]):
        x, both, tie, tie_other = columns.c[k], columns.known[k], ties[0, k], ties[1, k]
        for i in range(size):
            first[i] = max(first[i], tie.dtype.type((x[i] << (2 * shift)) | tie[i]))
        for i in range(size):
            second[i] = max(second[i], tie.dtype.type(((both[i] - x[i]) << (2 * shift)) | tie_other[i]))


@inlined
def _elect(size, shift, terms):  # type: ignore[no-untyped-def]
    """Unpack the size of the plurality and the winning labels."""
    n, m, largest, first, second = terms.n, terms.m, terms.largest, terms.first, terms.second
    mask = (1 << shift) - 1
    for i in range(size):
        largest[i] = first[i] >> (2 * shift)
    for i in range(size):
        shared = (n[i] > 0) & (m[i] > 0)
        first[i] = first[i] & mask if shared else -1
        second[i] = second[i] & mask if shared else -1


@inlined
def _sum_logs(columns, tables, own, cross):  # type: ignore[no-untyped-def]
    """Fill sum_k c ln c and sum_k c ln q, the latter without q's denominator."""
    size = columns.size
    for i in range(size):
        own[i] = 0.0
        cross[i] = 0.0
    for k in range(columns.c.shape[0]):
        x, both = columns.c[k], columns.known[k]
        for i in range(size):
            own[i] += tables.xlogx[np.uint64(x[i])]
        for i in range(size):
            cross[i] += x[i] * tables.log_q[np.uint64(both[i] - x[i])]


@inlined
def _weigh(size, tables, terms):  # type: ignore[no-untyped-def]
    """Turn counts and sums of logarithms into each column's contributions."""
    n, m, largest, share = terms.n, terms.m, terms.largest, terms.share
    plurality, own, cross = terms.plurality, terms.own, terms.cross
    ratio, weight = terms.ratio, terms.weight
    for i in range(size):
        share[i] = 1.0 / max(np.float64(n[i]), 1.0)
    for i in range(size):
        ratio[i] = n[i] / max(np.float64(n[i] + m[i]), 1.0)
        weight[i] = ratio[i] * m[i]
    for i in range(size):
        plurality[i] = largest[i] * share[i]
        own[i] = own[i] * share[i] - tables.log[np.uint64(n[i])]
    for i in range(size):
        shared = np.float64((n[i] > 0) & (m[i] > 0))
        cross[i] = shared * (cross[i] * share[i] - tables.log_m[np.uint64(m[i])])


@inlined
def _drop_undefined(columns, cross):  # type: ignore[no-untyped-def]
    """Apply the paper's convention: an item adds nothing if a label was given by none of the others."""
    c, known = columns.c, columns.known
    for k in range(c.shape[0]):
        for i in range(columns.size):
            if known[k, i] == c[k, i]:
                cross[i] = 0.0
