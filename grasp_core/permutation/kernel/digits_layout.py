"""Arrays for many nominal labels: an item's counts as digits of a few numbers, and tables for look-ups."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from grasp_core.model.annotations import FloatArray, Int32Array, Int64Array
from grasp_core.permutation.jit import compiled, inlined, making
from grasp_core.permutation.kernel.item_terms import CountArray
from grasp_core.permutation.kernel.local_layout import Local

_ENTRIES = 128
"""Counts that one number distinguishes, unless one label alone has more."""
MOST_ENTRIES = 2**14
"""Most rows in all tables of an item, which have to stay in a core's own cache."""
MOST_ANNOTATIONS = 2**13 - 1
"""Most annotations of an item, so that three sums over its labels, two of squares, fit into one number."""
_BATCH_BYTES, _BATCH, _FEWEST = 2**22, 128, 32
"""Bytes that whole sums by label may take, and the most and fewest permutations of a batch."""
_IN_A_VECTOR = 16
"""Approximate number of permutations whose adjacent numbers are added at once."""


class Digits(NamedTuple):
    """Distribution of the labels of :class:`~grasp_core.permutation.kernel.local_layout.Local` among numbers.

    `number_ptr`: item i has the numbers ``number_ptr[i]`` to ``number_ptr[i + 1]`` - 1.
    `start`, `first_label`: start of a number's table among the item's tables, and its first label.
    `number`: a label's number, as a position among the item's numbers.
    `step`, `unknown_step`: steps of the number for a label by the group, and for a label by a rater with
        unknown values.
    `unknown`: true if some raters' values are unknown.
    `group_ptr`: profile p belongs to the groups from ``row_of[group_ptr[p]]`` on; before them come the sets
        for which its values are unknown.
    `by_profile`: true if annotations are first counted by profile and profiles are then added to their rows.
    `batch`: permutations of a batch.
    """

    number_ptr: Int64Array
    start: Int64Array
    first_label: Int64Array
    number: Int32Array
    step: npt.NDArray[np.uint16]
    unknown_step: npt.NDArray[np.uint16]
    unknown: bool
    group_ptr: Int64Array
    by_profile: bool
    batch: Int64Array


def lay_out(local: Local) -> Digits | None:
    """Build the arrays that all permutations read; None if some item has too many labels or annotations."""
    if local.ties.dtype != np.int32 or np.diff(local.indptr).max(initial=0) > MOST_ANNOTATIONS:
        return None
    n_groups = local.unknown_of.size
    unknown = bool(local.belongs[:, : local.belongs.shape[1] - n_groups].any())
    number, steps, start, first_label, number_ptr, most = _part(local.label_ptr, local.total, unknown)
    if most > MOST_ENTRIES:
        return None
    by_label = _BATCH_BYTES // max(20 * n_groups * local.category_total.size, 1)
    batch = np.array([max(min(_BATCH, by_label), _FEWEST)], dtype=np.int64)
    step, unknown_step = steps.astype(np.uint16)
    of_groups = np.append(0, np.cumsum(local.row_of >= local.belongs.shape[1] - n_groups))
    n_of = np.diff(of_groups[local.row_ptr])  # groups of each profile
    # Additions saved if annotations are first counted for one profile, not for each of its groups.
    one_by_one = (n_of[local.profile].mean() - 1) * local.rater.size
    by_profile = bool(number_ptr[-1] * n_of.sum() < _IN_A_VECTOR * one_by_one)
    group_ptr = local.row_ptr[1:] - n_of
    return Digits(
        number_ptr, start, first_label, number, step, unknown_step, unknown, group_ptr, by_profile, batch
    )


@compiled()
def _part(item_labels, total, unknown):  # type: ignore[no-untyped-def]  # compiled: types are numba's
    """Distribute each item's labels among numbers, from the first label on.

    Returns each label's number and steps, each number's start and first label, each item's first number, and
    the most entries of an item's tables.
    """
    number, steps = np.empty(total.size, dtype=np.int32), np.zeros((2, total.size), dtype=np.int64)
    start, first_label = np.empty(total.size, dtype=np.int64), np.empty(total.size + 1, dtype=np.int64)
    number_ptr = np.zeros(item_labels.size, dtype=np.int64)
    found, most = 0, np.int64(0)
    for item in range(item_labels.size - 1):
        begun, size = np.int64(0), np.int64(_ENTRIES)
        number_ptr[item] = found
        for label in range(item_labels[item], item_labels[item + 1]):
            counts = np.int64(total[label]) + 1
            # c labels of the group and u of unknown raters, c + u <= total: c + u * counts is unique.
            entries = counts * (counts - 1) + 1 if unknown else counts
            if size * entries > _ENTRIES:
                begun += size if found > number_ptr[item] else 0
                start[found], first_label[found], size = begun, label, np.int64(1)
                found += 1
            number[label] = found - 1 - number_ptr[item]
            steps[0, label], steps[1, label] = size, size * counts
            size *= entries
        most = max(most, begun + size)
    number_ptr[-1], first_label[found] = found, total.size
    return number, steps, start[:found].copy(), first_label[: found + 1].copy(), number_ptr, most


WIDTH = 4
"""Words of a row, half a line of a cache: packed whole numbers, both pluralities, and two logarithms."""
_PACKED, _PLURALITIES, _OWN, _CROSS = range(WIDTH)
_FIRST, _SECOND = 2 * _PLURALITIES, 2 * _PLURALITIES + 1
"""Positions of both pluralities among half words."""
# Packed from the lowest bit on: labels of the group, sum_k c_k^2, and sum_k c_k d_k.
_COUNT_BITS = MOST_ANNOTATIONS.bit_length()
_SQUARE_BITS = 2 * _COUNT_BITS


class Entries(NamedTuple):
    """The tables of an item, one after the other: one memory, read as real and as whole numbers."""

    real: FloatArray
    whole: Int64Array
    half: Int32Array


@making
def room_for_entries():  # type: ignore[no-untyped-def]  # compiled: types are numba's
    """Make arrays for the tables of any item."""
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
                for c in range(total - left_out, -1, -1):  # 0 last: the other rows need it
                    place = start + (c + left_out * (total + 1)) * size
                    _enter(place, start, size, c, left_out, label, local, how, tables)
            size *= total * (total + 1) + 1 if digits.unknown else total + 1


@inlined
def _enter(place, start, size, c, left_out, label, local, how, tables):  # type: ignore[no-untyped-def]
    """Add one label, which the group gave `c` times, to the rows of the labels before it."""
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
    """Fill the terms that are sums or maxima over labels, except two of the others alone (:func:`leave`).

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
    """Fill the others' number of labels and sum_k d_k^2 from `first` on: all known labels minus the group's.

    `given` and `squares` are sum_k (c_k + d_k) and sum_k (c_k + d_k)^2, by permutation.
    """
    for b in range(given.size):
        terms.m[first + b] = given[b] - terms.n[first + b]
    for b in range(given.size):
        i = first + b
        terms.others_squares[i] = squares[b] - 2 * terms.products[i] - terms.squares[i]


class Counts(NamedTuple):
    """Counts of an item under a batch of permutations.

    `number`: for each row, its counts as the position of their row in a table.
    `cells`: the same for profiles, if these are counted first.
    `left_out`: number of raters with unknown values who gave a label; empty if all values are known.
    `given`, `squares`: labels by all raters with known values, sum_k (c_k + d_k), and sum_k (c_k + d_k)^2.
    """

    number: npt.NDArray[np.uint16]
    cells: npt.NDArray[np.uint16]
    left_out: Int32Array
    given: CountArray
    squares: CountArray


@making
def room_for_counts(batch, local, digits):  # type: ignore[no-untyped-def]  # compiled: types are numba's
    """Make arrays for the counts of any item."""
    n_rows, n_known = local.belongs.shape[1], local.belongs.shape[1] - local.unknown_of.size
    numbers, labels = np.int64(0), np.int64(0)
    for item in range(local.indptr.size - 1):
        numbers = max(numbers, digits.number_ptr[item + 1] - digits.number_ptr[item])
        labels = max(labels, local.label_ptr[item + 1] - local.label_ptr[item])
    n_profiles = local.row_ptr.size - 1 if digits.by_profile else 0
    return Counts(
        np.empty((numbers, n_rows, batch), dtype=np.uint16),
        np.empty((numbers, n_profiles, batch), dtype=np.uint16),
        np.zeros((labels, n_known if digits.unknown else 0, batch), dtype=np.int32),
        np.empty((n_known, batch), dtype=local.ties.dtype),
        np.empty((n_known, batch), dtype=local.ties.dtype),
    )


@inlined
def count_item(item, profiles, local, digits, counts, unknown):  # type: ignore[no-untyped-def]
    """Count the item's labels for every row; labels by raters with unknown values also go to `unknown`."""
    index = counts.number[: digits.number_ptr[item + 1] - digits.number_ptr[item]]
    n_known = index.shape[1] - local.unknown_of.size
    start = digits.start[digits.number_ptr[item] : digits.number_ptr[item + 1]]
    for j in range(index.shape[0]):
        index[j] = start[j]
    if digits.by_profile:
        _count_profiles(item, profiles, local, digits, counts.cells[: index.shape[0]], index)
    else:
        _count_rows(item, profiles, local, digits, index)
    if digits.unknown:
        _count_unknown(item, profiles, local, digits, index, counts.left_out, unknown)
    for j in range(index.shape[0]):
        begun = np.uint16(start[j])
        for u in range(local.union.size):
            _add_row(index[j, local.part[u]], begun, index[j, local.union[u]])
        if digits.unknown:
            for g in range(local.unknown_of.size):
                _add_row(index[j, local.unknown_of[g]], begun, index[j, n_known + g])
    _count_known(item, local, digits, counts)


@inlined
def _count_rows(item, profiles, local, digits, index):  # type: ignore[no-untyped-def]
    """Count annotations for the groups of their raters."""
    first = local.label_ptr[item]
    for a in range(local.indptr[item], local.indptr[item + 1]):
        label, who = first + local.label[a], profiles[local.rater[a]]
        into, step = index[digits.number[label]], digits.step[label]
        for b in range(who.size):
            for r in range(digits.group_ptr[who[b]], local.row_ptr[who[b] + 1]):
                into[local.row_of[r], b] += step


@inlined
def _count_profiles(item, profiles, local, digits, cells, index):  # type: ignore[no-untyped-def]
    """Count annotations for profiles first, then add each profile's counts to its groups."""
    first = local.label_ptr[item]
    cells[:] = 0
    for a in range(local.indptr[item], local.indptr[item + 1]):
        label, who = first + local.label[a], profiles[local.rater[a]]
        into, step = cells[digits.number[label]], digits.step[label]
        for b in range(who.size):
            into[who[b], b] += step
    for j in range(index.shape[0]):
        for profile in range(cells.shape[1]):
            for r in range(digits.group_ptr[profile], local.row_ptr[profile + 1]):
                _add_row(cells[j, profile], np.uint16(0), index[j, local.row_of[r]])


@inlined
def _count_unknown(item, profiles, local, digits, index, left_out, unknown):  # type: ignore[no-untyped-def]
    """Count the labels of raters with unknown values."""
    first = local.label_ptr[item]
    left_out[: local.label_ptr[item + 1] - first] = 0
    for a in range(local.indptr[item], local.indptr[item + 1]):
        label, who = first + local.label[a], profiles[local.rater[a]]
        into, step, category = index[digits.number[label]], digits.unknown_step[label], local.category[label]
        for b in range(who.size):
            for r in range(local.row_ptr[who[b]], digits.group_ptr[who[b]]):
                row = local.row_of[r]
                into[row, b] += step
                left_out[label - first, row, b] += 1
                unknown[row, category, b] += 1


@inlined
def _count_known(item, local, digits, counts):  # type: ignore[no-untyped-def]
    """Count the labels of all raters with known values, and sum the squares of each label's count."""
    counts.given[:] = 0
    counts.squares[:] = 0
    for label in range(local.label_ptr[item], local.label_ptr[item + 1]):
        total = local.total[label]
        for row in range(counts.given.shape[0]):
            given, squares = counts.given[row], counts.squares[row]
            if digits.unknown:
                less = counts.left_out[label - local.label_ptr[item], row]
                for b in range(given.size):
                    given[b] += total - less[b]
                    squares[b] += (total - less[b]) * (total - less[b])
            else:
                for b in range(given.size):
                    given[b] += total
                    squares[b] += total * total


@inlined
def _add_row(row, begun, into):  # type: ignore[no-untyped-def]
    for b in range(into.size):
        into[b] += np.uint16(row[b] - begun)
