"""Tables of what counts of an item's labels add, by the numbers that hold them as digits."""

from __future__ import annotations

import numpy as np

from grasp_core.permutation.kernel.arguments import inlined

WIDTH = 8
"""Columns of a table, a line of a cache; the first six hold whole numbers."""
_LABELS, _SQUARES, _PRODUCTS, _OTHERS_SQUARES, _FIRST, _SECOND, _OWN, _CROSS = range(WIDTH)
# Labels of the group, and from this bit on those of whom values are not known; then what `Terms` holds.
_UNKNOWN = 32


@inlined
def fill(item, local, digits, how, table, whole):  # type: ignore[no-untyped-def]  # compiled: types are numba's
    """Fill the tables of an item; `whole` is `table` seen as whole numbers."""
    for j in range(digits.number_ptr[item], digits.number_ptr[item + 1]):
        start, size = digits.start[j], np.int64(1)
        for s in range(_OWN):
            whole[start, s] = 0
        table[start, _OWN] = table[start, _CROSS] = 0.0
        for label in range(digits.first_label[j], digits.first_label[j + 1]):
            total = np.int64(local.total[label])
            for left_out in range(total if digits.unknown else 0, -1, -1):
                for c in range(total - left_out, -1, -1):  # none last, since the others are made from it
                    place = start + c * size + left_out * size * (total + 1)
                    _enter(place, start, size, c, left_out, label, local, how, table, whole)
            size *= (total + 1) * (total + 1) if digits.unknown else total + 1


@inlined
def _enter(place, start, size, c, left_out, label, local, how, table, whole):  # type: ignore[no-untyped-def]
    """Add one label, which the group gave `c` times, to the rows of the labels before."""
    others = local.total[label] - left_out - c
    first = np.int64(c) << (2 * how.shift) | local.ties[0, label] if c > 0 else 0
    second = np.int64(others) << (2 * how.shift) | local.ties[1, label] if others > 0 else 0
    own, cross = how.tables.xlogx[c], c * how.tables.log_q[others]
    if how.paper and c > 0 and others == 0:
        cross = -np.inf
    for e in range(size):
        of, into, rest, to = whole[start + e], whole[place + e], table[start + e], table[place + e]
        into[_LABELS] = of[_LABELS] + c + (np.int64(left_out) << _UNKNOWN)
        into[_SQUARES] = of[_SQUARES] + c * c
        into[_PRODUCTS] = of[_PRODUCTS] + c * others
        into[_OTHERS_SQUARES] = of[_OTHERS_SQUARES] + others * others
        into[_FIRST] = max(of[_FIRST], first)
        into[_SECOND] = max(of[_SECOND], second)
        to[_OWN] = rest[_OWN] + own
        to[_CROSS] = rest[_CROSS] + cross


@inlined
def look_up(index, size, n_labels, table, whole, terms):  # type: ignore[no-untyped-def]
    """Fill the terms that are summed, or the largest, over labels.

    `index` has shape (numbers, `size` or more); `n_labels` are all that the item has.
    """
    for i in range(size):
        n, squares, products = np.int64(0), np.int64(0), np.int64(0)
        others, first, second = np.int64(0), np.int64(0), np.int64(0)
        own, cross = 0.0, 0.0
        for j in range(index.shape[0]):
            e = np.uint64(index[j, i])
            n += whole[e, _LABELS]
            squares += whole[e, _SQUARES]
            products += whole[e, _PRODUCTS]
            others += whole[e, _OTHERS_SQUARES]
            first = max(first, whole[e, _FIRST])
            second = max(second, whole[e, _SECOND])
            own += table[e, _OWN]
            cross += table[e, _CROSS]
        known = n & ((1 << _UNKNOWN) - 1)
        terms.n[i], terms.m[i] = known, n_labels - known - (n >> _UNKNOWN)
        terms.squares[i], terms.products[i], terms.others_squares[i] = squares, products, others
        terms.first[i], terms.second[i] = first, second
        terms.own[i], terms.cross[i] = own, cross
