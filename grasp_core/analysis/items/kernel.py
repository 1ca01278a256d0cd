"""The compiled kernel: counts of one group on every item under many permutations.

Permutations are computed in batches, and each batch item by item: the counts of an item under all
permutations of the batch are side by side in memory, so nothing larger than a batch is ever kept.
"""

from typing import NamedTuple

import numpy as np

from grasp_core.model.annotations import FloatArray, Int32Array
from grasp_core.permutation.jit import borrowing, compiled, making
from grasp_core.statistics.items import ROUNDING


class _Room(NamedTuple):
    """One item under the permutations of a batch: counts of both sides, and terms."""

    c: Int32Array
    d: Int32Array
    n: Int32Array
    m: Int32Array
    use: FloatArray
    apart: FloatArray
    inside: FloatArray
    outside: FloatArray


@compiled()
def terms(sides, cells, use, apart):  # type: ignore[no-untyped-def]  # compiled: types are numba's
    """Fill `use`, shape (L, b), and `apart`, (I, b), with the terms of all items; for few permutations."""
    room = _room(cells, sides.shape[1])
    for i in range(cells.indptr.size - 1):
        of_item = _work_out(i, sides, cells, room)
        for b in range(sides.shape[1]):
            apart[i, b] = room.apart[b]
        for k in range(of_item):
            for b in range(sides.shape[1]):
                use[cells.labels_ptr[i] + k, b] = room.use[k, b]


@compiled()
def add_moments(sides, cells, least, into):  # type: ignore[no-untyped-def]
    """Add a batch of permutations; `sides`: shape (J, b); `least`, (I,): distances from which on to count."""
    room = _room(cells, sides.shape[1])
    into.counted[:] = 0
    for i in range(cells.indptr.size - 1):
        of_item = _work_out(i, sides, cells, room)
        _size_up(i, of_item, room, into)
        _sum_apart(i, room.apart, least[i], into)
        for k in range(of_item):
            _sum_use(cells.labels_ptr[i] + k, room.use[k], into.use_sums)


@compiled()
def add_reached(sides, cells, by, least, into):  # type: ignore[no-untyped-def]
    """Add a batch of permutations; `least`, shape (I,): deviations from which on to count."""
    room = _room(cells, sides.shape[1])
    furthest = np.empty(sides.shape[1])
    into.largest[:] = -np.inf
    for i in range(cells.indptr.size - 1):
        of_item = _work_out(i, sides, cells, room)
        furthest[:] = -1.0
        for k in range(of_item):
            _widen(
                room.use[k], by.use[0, cells.labels_ptr[i] + k], by.use[1, cells.labels_ptr[i] + k], furthest
            )
        reached = 0
        for b in range(furthest.size):
            reached += furthest[b] >= least[i]
            into.largest[0, b] = max(into.largest[0, b], furthest[b])
        into.use[i] += reached
        _raise_largest(room.apart, by.apart[0, i], by.apart[1, i], into.largest[1])


@making
def _room(cells, width):  # type: ignore[no-untyped-def]
    most = 1
    for i in range(cells.labels_ptr.size - 1):
        most = max(most, cells.labels_ptr[i + 1] - cells.labels_ptr[i])
    whole, real = np.empty((2 * most + 2, width), np.int32), np.empty((most + 3, width))
    return _Room(
        whole[:most],
        whole[most : 2 * most],
        whole[2 * most],
        whole[2 * most + 1],
        real[:most],
        real[most],
        real[most + 1],
        real[most + 2],
    )


@borrowing
def _work_out(i, sides, cells, room):  # type: ignore[no-untyped-def]
    """Fill the room for an item; return its number of labels."""
    first = cells.labels_ptr[i]
    of_item = cells.labels_ptr[i + 1] - first
    room.c[:of_item] = 0
    room.d[:of_item] = 0
    for a in range(cells.indptr[i], cells.indptr[i + 1]):
        _count(sides[cells.rater[a]], room.c[cells.place[a]], room.d[cells.place[a]])
    room.n[:] = 0
    room.m[:] = 0
    for k in range(of_item):
        for b in range(room.n.size):
            room.n[b] += room.c[k, b]
            room.m[b] += room.d[k, b]
    for k in range(of_item):
        _fill_use(room.c[k], room.d[k], room.n, room.m, room.use[k])
    _fill_apart(of_item, cells.label[first : first + of_item], cells, room)
    return of_item


@borrowing
def _count(sides, c, d):  # type: ignore[no-untyped-def]
    """Count a label for its rater's side in each permutation."""
    for b in range(sides.size):
        c[b] += sides[b] >> 1
        d[b] += sides[b] & 1


@borrowing
def _fill_use(c, d, n, m, use):  # type: ignore[no-untyped-def]
    """Fill in (c m - d n) / (n + m): c - n (c + d) / (n + m), but exactly 0 if all labels are the same."""
    for b in range(use.size):
        both = (n[b] > 0) & (m[b] > 0)
        more = np.float64(c[b]) * np.float64(m[b]) - np.float64(d[b]) * np.float64(n[b])
        use[b] = more / max(np.float64(n[b] + m[b]), 1.0) if both else np.nan


@borrowing
def _fill_apart(of_item, labels, cells, room):  # type: ignore[no-untyped-def]
    """Fill in (2 X - m A / (n - 1) - n B / (m - 1)) / (n + m); X, A and B are sums of distances of pairs.

    X pairs the two sides, A the group with itself and B the others with themselves, each pair in both orders.
    """
    n, m, across, inside, outside = room.n, room.m, room.apart, room.inside, room.outside
    across[:] = 0.0
    inside[:] = 0.0
    outside[:] = 0.0
    if cells.nominal:
        _equal(of_item, room.c, room.d, across, inside, outside)
        for b in range(n.size):
            x, y = np.float64(n[b]), np.float64(m[b])
            across[b], inside[b], outside[b] = x * y - across[b], x * x - inside[b], y * y - outside[b]
    else:
        for k in range(of_item):
            for other in range(k + 1, of_item):
                weight = cells.apart[labels[k], labels[other]]
                _pair(weight, room.c[k], room.c[other], room.d[k], room.d[other], across, inside, outside)
    for b in range(n.size):
        x, y = np.float64(n[b]), np.float64(m[b])
        own = y * inside[b] / max(x - 1.0, 1.0) + x * outside[b] / max(y - 1.0, 1.0)
        paired = (n[b] > 1) & (m[b] > 1)
        room.apart[b] = (2.0 * across[b] - own) / max(x + y, 1.0) if paired else np.nan


@borrowing
def _equal(of_item, c, d, across, inside, outside):  # type: ignore[no-untyped-def]
    """Add pairs of equal labels."""
    for k in range(of_item):
        for b in range(across.size):
            x, y = np.float64(c[k, b]), np.float64(d[k, b])
            across[b] += x * y
            inside[b] += x * x
            outside[b] += y * y


@borrowing
def _pair(weight, c, other_c, d, other_d, across, inside, outside):  # type: ignore[no-untyped-def]
    """Add the distances of pairs of two labels."""
    for b in range(across.size):
        x, other_x = np.float64(c[b]), np.float64(other_c[b])
        y, other_y = np.float64(d[b]), np.float64(other_d[b])
        across[b] += weight * (x * other_y + other_x * y)
        inside[b] += 2.0 * weight * (x * other_x)
        outside[b] += 2.0 * weight * (y * other_y)


@borrowing
def _size_up(i, of_item, room, into):  # type: ignore[no-untyped-def]
    """Set the item's sizes: half the labels that the sides use differently, and its distance above 0."""
    for b in range(room.n.size):
        size = 0.0
        for k in range(of_item):
            size += abs(room.use[k, b])
        shared, paired = (room.n[b] > 0) & (room.m[b] > 0), (room.n[b] > 1) & (room.m[b] > 1)
        into.sizes[0, b, i] = size / 2.0 if shared and size > 2.0 * ROUNDING else 0.0
        into.sizes[1, b, i] = room.apart[b] if paired and room.apart[b] > ROUNDING else 0.0
        into.counted[0, b] += shared
        into.counted[1, b] += paired
        into.n[0, i] += shared
        into.n[1, i] += paired


@borrowing
def _sum_use(at, use, sums):  # type: ignore[no-untyped-def]
    total, squares = 0.0, 0.0
    for b in range(use.size):
        value = 0.0 if np.isnan(use[b]) else use[b]
        total += value
        squares += value * value
    sums[0, at] += total
    sums[1, at] += squares


@borrowing
def _sum_apart(i, apart, least, into):  # type: ignore[no-untyped-def]
    total, squares, reached = 0.0, 0.0, 0
    for b in range(apart.size):
        value = 0.0 if np.isnan(apart[b]) else apart[b]
        total += value
        squares += value * value
        reached += apart[b] >= least
    into.apart_sums[0, i] += total
    into.apart_sums[1, i] += squares
    into.reached[i] += reached


@borrowing
def _widen(use, centre, scale, furthest):  # type: ignore[no-untyped-def]
    """Raise the furthest deviation of any label, in each permutation in which there is a term."""
    for b in range(use.size):
        away = abs(use[b] - centre) * scale
        furthest[b] = furthest[b] if np.isnan(away) else max(furthest[b], away)


@borrowing
def _raise_largest(apart, centre, scale, largest):  # type: ignore[no-untyped-def]
    for b in range(apart.size):
        above = (apart[b] - centre) * scale
        largest[b] = largest[b] if np.isnan(above) else max(largest[b], above)
