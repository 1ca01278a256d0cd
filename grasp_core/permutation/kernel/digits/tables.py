"""Tables of what counts of an item's labels add, by the numbers that hold them as digits."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from grasp_core.model.annotations import FloatArray, Int32Array, Int64Array
from grasp_core.permutation.jit import inlined, making
from grasp_core.permutation.kernel.digits.layout import MOST_ANNOTATIONS, MOST_ENTRIES

WIDTH = 4
"""Words of a row, half a line of a cache: whole numbers packed, both pluralities, and two logarithms."""
_PACKED, _PLURALITIES, _OWN, _CROSS = range(WIDTH)
_FIRST, _SECOND = 2 * _PLURALITIES, 2 * _PLURALITIES + 1
"""Where these stand among half words."""
# What is packed, from the lowest bit on: labels of the group, sum_k c_k^2, and sum_k c_k d_k.
_COUNT_BITS = MOST_ANNOTATIONS.bit_length()
_SQUARE_BITS = 2 * _COUNT_BITS


class Entries(NamedTuple):
    """The tables of an item, one behind the other: one memory, seen as real and as whole numbers.

    Parameters
    ----------
    real, whole, half : float64, int64 (N, 4), int32 (N, 8)
    """

    real: FloatArray
    whole: Int64Array
    half: Int32Array


@making
def room_for_entries():  # type: ignore[no-untyped-def]  # compiled: types are numba's
    """Room for the tables of any item."""
    real = np.empty((MOST_ENTRIES, WIDTH))
    return Entries(real, real.view(np.int64), real.view(np.int32))


@inlined
def fill(item, local, digits, how, tables):  # type: ignore[no-untyped-def]
    """Fill the tables of an item."""
    lacks = local.label_ptr[item + 1] - local.label_ptr[item] < local.category_total.size
    begun = -np.inf if how.paper and lacks else 0.0
    for j in range(digits.number_ptr[item], digits.number_ptr[item + 1]):
        start, size = digits.start[j], np.int64(1)
        tables.whole[start, _PACKED] = tables.whole[start, _PLURALITIES] = 0
        tables.real[start, _OWN], tables.real[start, _CROSS] = 0.0, begun
        for label in range(digits.first_label[j], digits.first_label[j + 1]):
            total = np.int64(local.total[label])
            for left_out in range(total if digits.unknown else 0, -1, -1):
                for c in range(total - left_out, -1, -1):  # none last, since the others are made from it
                    place = start + (c + left_out * (total + 1)) * size
                    _enter(place, start, size, c, left_out, label, local, how, tables)
            size *= total * (total + 1) + 1 if digits.unknown else total + 1


@inlined
def _enter(place, start, size, c, left_out, label, local, how, tables):  # type: ignore[no-untyped-def]
    """Add one label, which the group gave `c` times, to the rows of the labels before."""
    others = local.total[label] - left_out - c
    first = np.int32(c << (2 * how.shift) | local.ties[0, label] if c > 0 else 0)
    second = np.int32(others << (2 * how.shift) | local.ties[1, label] if others > 0 else 0)
    own, cross = how.tables.xlogx[c], c * how.tables.log_q[others]
    if how.paper and others == 0:
        cross = -np.inf
    packed = c + (c * c << _COUNT_BITS) + (c * others << (_COUNT_BITS + _SQUARE_BITS))
    whole, half, real = tables.whole, tables.half, tables.real
    for e in range(size):
        of, into = start + e, place + e
        counts, one, two = whole[of, _PACKED], half[of, _FIRST], half[of, _SECOND]
        of_own, of_cross = real[of, _OWN], real[of, _CROSS]
        whole[into, _PACKED] = counts + packed
        half[into, _FIRST], half[into, _SECOND] = max(one, first), max(two, second)
        real[into, _OWN], real[into, _CROSS] = of_own + own, of_cross + cross


@inlined
def look_up(index, size, tables, terms):  # type: ignore[no-untyped-def]
    """Fill the terms that are summed, or the largest, over labels, but for two that are all others'.

    `index` has shape (numbers, `size` or more).
    """
    whole, half, real = tables.whole, tables.half, tables.real
    for i in range(size):
        packed, first, second = np.int64(0), np.int32(0), np.int32(0)
        own, cross = 0.0, 0.0
        for j in range(index.shape[0]):
            e = np.uint64(index[j, i])
            packed += whole[e, _PACKED]
            first, second = max(first, half[e, _FIRST]), max(second, half[e, _SECOND])
            own += real[e, _OWN]
            cross += real[e, _CROSS]
        terms.n[i] = packed & MOST_ANNOTATIONS
        terms.squares[i] = packed >> _COUNT_BITS & ((1 << _SQUARE_BITS) - 1)
        terms.products[i] = packed >> (_COUNT_BITS + _SQUARE_BITS)
        terms.first[i], terms.second[i] = first, second
        terms.own[i], terms.cross[i] = own, cross


@inlined
def leave(given, squares, first, terms):  # type: ignore[no-untyped-def]
    """Fill the others' labels and sum_k d_k^2 from `first` on: what the group leaves of all that are known.

    `given` and `squares` are those of all, sum_k (c_k + d_k) and sum_k (c_k + d_k)^2, by permutation.
    """
    for b in range(given.size):
        terms.m[first + b] = given[b] - terms.n[first + b]
    for b in range(given.size):
        i = first + b
        terms.others_squares[i] = squares[b] - 2 * terms.products[i] - terms.squares[i]
