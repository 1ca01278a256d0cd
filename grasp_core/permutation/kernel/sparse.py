"""Sparse data: what an item adds to a group's sums is worked out once for each count of labels that turns up.

An item's totals T_k do not change under permutation, so where everybody's values are known the group's
counts c_k say everything. They are held as one number, sum_k c_k prod_(l<k) (T_l + 1), so that counting an
annotation is one addition to each of its rater's groups, whatever the number of categories. With items
outside and permutations inside, few different numbers turn up at an item: what it then adds is computed at
the first and remembered for the others.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from grasp_core.annotations import Annotations, Int64Array
from grasp_core.groups import Grouping
from grasp_core.permutation.kernel import sums as at
from grasp_core.permutation.kernel.arguments import borrowing
from grasp_core.permutation.kernel.counting import shuffle
from grasp_core.permutation.kernel.item_terms import (
    APART,
    Columns,
    disagree_across,
    disagree_inside,
    of_category,
    repeat_item,
    room_for_counts,
    room_for_terms,
    work_out,
)
from grasp_core.permutation.kernel.lookup import QUAD, look_up, padded
from grasp_core.permutation.kernel.profiles import profiles_of, rows_by_column

MOST_BATCH, FEWEST_BATCH = 512, 16
"""Permutations for which an item is visited once."""
SMALL = 8 * 2**20
"""Bytes that the profiles of a batch may always take; else 8 for each annotation."""
_PER_PASS = 32
"""Permutations counted at a time; the counts then stay in a core's first cache."""
_FIELD_BITS = 13
"""Four whole numbers below 2^13 are exact in one float64; sums are taken over before they pass it."""
_UNITS = tuple(2.0 ** (_FIELD_BITS * place) for place in range(4))
_REMEMBERED = 12
"""Binary logarithm of how many counts of an item are remembered."""
_HASH, _HASH_BITS = np.uint64(0x9E3779B97F4A7C15), np.uint64(64 - _REMEMBERED)
_GROUPS = 64
"""Groups whose counts are looked up at a time."""
_AT_ONCE = 8
"""Permutations drawn before profiles are put down by rater, where those of a rater lie side by side."""
# A row of a table has the real sums, and then whole numbers: first whether the group rated the item and
# whether both sides' pluralities agree, then by category what `sums` holds of each.


class Sparse(NamedTuple):
    """Arrays of sparse data, beside the rest of a design.

    Parameters
    ----------
    profile : uint16 (J,)
        Each rater's profile: which groups they belong to.
    group_ptr, group_of : int64 arrays
        Profile p belongs to the groups ``group_of[group_ptr[p]:group_ptr[p + 1]]``, unions left out.
    union, part : int64 arrays of one shape
        Group ``union[u]`` holds all raters of the smaller group ``part[u]``: a gender is the union of its
        intersections with race, and its counts are their sum.
    batch : int64 (1,)
        Permutations for which an item is visited once: their profiles take at most 8 bytes an annotation,
        :data:`SMALL` or :data:`FEWEST_BATCH` permutations.
    """

    profile: npt.NDArray[np.uint16]
    group_ptr: Int64Array
    group_of: Int64Array
    union: Int64Array
    part: Int64Array
    batch: Int64Array


class Profiled(NamedTuple):
    """What of :class:`Sparse` follows from raters and groups alone."""

    profile: npt.NDArray[np.uint16]
    group_ptr: Int64Array
    group_of: Int64Array
    union: Int64Array
    part: Int64Array


def profiled(grouping: Grouping) -> Profiled | None:
    """The raters' profiles and their groups; None where they are too many or a value is unknown."""
    if not grouping.groups or not grouping.known.all():
        return None
    profile, first = profiles_of(grouping.member)
    if first.size > 1 << 16:
        return None
    union, part = _unions(grouping)
    counted = grouping.member[:, first]
    counted[union] = False
    return Profiled(profile.astype(np.uint16), *rows_by_column(counted), union, part)


def lay_out(annotations: Annotations, profiled: Profiled | None) -> Sparse | None:
    """Build once what every permutation reads; None where counts of an item do not fit into one number."""
    if profiled is None or annotations.n_annotations == 0:
        return None
    bits, most = _widest(annotations.indptr, annotations.category, annotations.n_categories)
    if bits >= 63 or QUAD * most >> _FIELD_BITS:
        return None
    batch = batch_of(annotations.n_annotations, profiled.profile.size)
    return Sparse(*profiled, np.array([batch], dtype=np.int64))


def batch_of(n_annotations: int, n_raters: int) -> int:
    """Permutations for which an item is visited once: as many as :class:`Sparse` has room for."""
    fitting = max(8 * n_annotations, SMALL) // (2 * max(n_raters, 1))
    return min(max(fitting, FEWEST_BATCH), MOST_BATCH)


def _unions(grouping: Grouping) -> tuple[Int64Array, Int64Array]:
    """Groups that are disjoint unions of shown groups of a finer axis set, and those."""
    values = [dict(zip(group.axes, group.values, strict=True)) for group in grouping.groups]
    axis_sets = dict.fromkeys(group.axes for group in grouping.groups)
    found: list[tuple[int, int]] = []
    for g, group in enumerate(grouping.groups):
        finer = next((axes for axes in axis_sets if set(group.axes) < set(axes)), None)
        parts = [
            h
            for h, other in enumerate(grouping.groups)
            if other.axes == finer and values[g].items() <= values[h].items()
        ]
        if parts and grouping.n_raters[parts].sum() == grouping.n_raters[g]:
            found += [(g, h) for h in parts]
    # A part may be a union itself: those of many axes are summed first.
    found.sort(key=lambda pair: -len(grouping.groups[pair[0]].axes))
    pairs = np.array(found, dtype=np.int64).reshape(-1, 2)
    return pairs[:, 0].copy(), pairs[:, 1].copy()


@numba.njit(cache=True, nogil=True)
def _widest(indptr, category, n_categories):  # type: ignore[no-untyped-def]
    """Bits that the number of any item takes, and the most labels of an item."""
    counts = np.empty(n_categories, dtype=np.int64)
    widest, most = 0.0, np.int64(0)
    for item in range(indptr.size - 1):
        counts[:] = 0
        for a in range(indptr[item], indptr[item + 1]):
            counts[category[a]] += 1
        widest = max(widest, np.log2(counts + 1.0).sum())
        most = max(most, indptr[item + 1] - indptr[item])
    return widest, most


@numba.njit(cache=True, nogil=True)
def draw(seed, start, order, bounds, profile, profiles):  # type: ignore[no-untyped-def]  # compiled: types are numba's
    """Fill `profiles`, shape (J, permutations): everybody's under the permutations from `start` on."""
    words = np.empty(order.size + 3, dtype=np.uint64)
    ordered = profile[order]
    shuffled = np.empty((_AT_ONCE, order.size), dtype=profile.dtype)
    for first in range(0, profiles.shape[1], _AT_ONCE):
        last = min(first + _AT_ONCE, profiles.shape[1])
        for b in range(first, last):
            shuffled[b - first] = ordered
            shuffle(seed, np.uint64(start + b), bounds, words, shuffled[b - first])
        for i in range(order.size):
            for b in range(first, last):
                profiles[order[i], b] = shuffled[b - first, i]


@numba.njit(cache=True, nogil=True)
def add_up(profiles, counting, how, sparse, out):  # type: ignore[no-untyped-def]
    """Fill `out`, shape (permutations, G, sums), for permutations that :func:`draw` has drawn."""
    ties, labels, indptr = counting.ties, counting.labels, counting.labels.indptr
    batch, n_groups = out.shape[0], out.shape[1]
    n_categories, n_items = ties.shape[2], ties.shape[0] * ties.shape[3]
    n_columns = how.pairs.n_columns
    width = padded(2 * n_columns + at.N_REAL + 1 + n_categories)
    index = np.zeros((QUAD, n_groups, _PER_PASS), dtype=np.uint64)
    found = np.zeros((n_groups, batch, width))
    keys = np.zeros((QUAD, (1 << _REMEMBERED) + 1), dtype=np.uint64)
    table = np.zeros((QUAD, (1 << _REMEMBERED) + APART, width))
    new = np.empty((_GROUPS * _PER_PASS, 2), dtype=np.uint64)
    counts = room_for_counts(n_categories, new.shape[0], ties)
    terms = room_for_terms(counts.size, ties)
    totals = np.empty((QUAD, n_categories), dtype=np.int64)
    stride = np.empty((QUAD, n_categories), dtype=np.uint64)
    out[:] = 0.0
    held = np.int64(0)
    for item in range(0, n_items, QUAD):
        items = min(QUAD, n_items - item)
        more = indptr[item + items] - indptr[item]
        held += more
        if held >> _FIELD_BITS:
            _unpack(found, n_columns, n_categories, out)
            held = more
        index[items:] = 0
        table[items:, 0] = 0.0
        for q in range(items):
            _start(item + q, labels, totals[q], stride[q], keys[q])
        for from_b in range(0, batch, _PER_PASS):
            passed = min(_PER_PASS, batch - from_b)
            for q in range(items):
                _count(item + q, labels, stride[q], profiles, from_b, passed, sparse, index[q])
            for from_g in range(0, n_groups, _GROUPS):
                to_g = min(from_g + _GROUPS, n_groups)
                for q in range(items):
                    made = _find(index[q, from_g:to_g, :passed], keys[q], new)
                    here = ties[(item + q) // ties.shape[3], :, :, (item + q) % ties.shape[3]]
                    _enter(new[:made], table[q], totals[q], here, how, counts, terms)
                for g in range(from_g, to_g):
                    look_up(index[:, g, :passed], table, found[g, from_b : from_b + passed])
    _unpack(found, n_columns, n_categories, out)


@borrowing
def _start(item, labels, totals, stride, keys):  # type: ignore[no-untyped-def]
    """Count an item's labels; `stride` is what one of each category adds to a group's number."""
    totals[:] = 0
    for a in range(labels.indptr[item], labels.indptr[item + 1]):
        totals[labels.category[a]] += 1
    size = np.uint64(1)
    for k in range(stride.size):
        stride[k] = size
        size *= np.uint64(totals[k] + 1)
    keys[: min(size, np.uint64(keys.size - 1))] = 0
    keys[-1] = 0  # counts the others


@borrowing
def _count(item, labels, stride, profiles, from_b, passed, sparse, index):  # type: ignore[no-untyped-def]
    """Every group's counts on one item as one number, for each permutation of a pass."""
    group_ptr, group_of = sparse.group_ptr, sparse.group_of
    index[:] = 0
    for a in range(labels.indptr[item], labels.indptr[item + 1]):
        shuffled, step = profiles[labels.rater[a]], stride[labels.category[a]]
        for b in range(passed):
            profile = shuffled[from_b + b]
            for g in range(group_ptr[profile], group_ptr[profile + 1]):
                index[group_of[g], b] += step
    for u in range(sparse.union.size):
        into, counted = index[sparse.union[u]], index[sparse.part[u]]
        for b in range(passed):
            into[b] += counted[b]


@borrowing
def _find(index, keys, new):  # type: ignore[no-untyped-def]
    """From numbers to the table's rows that hold what they add; returns how many are still to be made."""
    size, made = np.uint64(keys.size - 1), 0
    if keys[size] + np.uint64(index.size) > size:  # so that no row of this pass is given away
        keys[:] = 0
    for g in range(index.shape[0]):
        for b in range(index.shape[1]):
            number = index[g, b]
            slot = number if number < size else (number * _HASH) >> _HASH_BITS
            while keys[slot] != number + np.uint64(1):
                if keys[slot] == 0:  # a free row
                    keys[slot] = number + np.uint64(1)
                    keys[size] += np.uint64(1)
                    new[made, 0], new[made, 1] = slot, number
                    made += 1
                else:
                    slot = slot + np.uint64(1) if slot + np.uint64(1) < size else np.uint64(0)
            index[g, b] = slot
    return made


@borrowing
def _enter(new, table, totals, ties, how, counts, terms):  # type: ignore[no-untyped-def]
    """Make new rows: what the item adds where the group gave it the counts that a number stands for."""
    n_columns, n_real, n_categories = how.pairs.n_columns, 2 * how.pairs.n_columns + at.N_REAL, totals.size
    columns = Columns(counts.c, counts.known, counts.ties, new.shape[0])
    _decode(new, totals, columns.c)
    repeat_item(columns, totals, ties)
    work_out(columns, how, terms)
    for i in range(new.shape[0]):
        row = table[new[i, 0]]
        row[:] = 0.0
        row[2 * n_columns + at.PLURALITY] = terms.plurality[i]
        row[2 * n_columns + at.NEGENTROPY] = terms.own[i]
        row[2 * n_columns + at.CROSS] = terms.cross[i]
    for column in range(n_columns):
        disagree_inside(column, columns, how, terms)
        disagree_across(column, columns, how, terms)
        for i in range(new.shape[0]):
            table[new[i, 0], column] = terms.inside[i]
            table[new[i, 0], n_columns + column] = terms.across[i]
    for i in range(new.shape[0]):
        row, n, first, second = table[new[i, 0]], terms.n[i], terms.first[i], terms.second[i]
        row[n_real] = (n > 0) + _UNITS[1] * ((first == second) & (first >= 0))
        for k in range(n_categories):
            added = of_category(k, columns.c[k, i], columns.known[k, i], n, first, second)
            two = _UNITS[at.IN_PAIRS] * added.in_pairs + _UNITS[at.IN_GROUP] * added.in_group
            others = _UNITS[at.IN_OTHERS] * added.in_others + _UNITS[at.VOTES] * added.votes
            row[n_real + 1 + k] = two + others


@borrowing
def _decode(new, totals, c):  # type: ignore[no-untyped-def]
    """Fill `c`, shape (K, N or more), with the counts that numbers stand for."""
    for i in range(new.shape[0]):
        number = new[i, 1]
        for k in range(totals.size):
            radix = np.uint64(totals[k] + 1)
            c[k, i] = number % radix
            number //= radix


@borrowing
def _unpack(found, columns, n_categories, sums):  # type: ignore[no-untyped-def]
    """Take what was found so far over into the groups' sums."""
    n_real = 2 * columns + at.N_REAL
    start, of = n_real, 2 * columns + at.N_SINGLE
    mask = (np.int64(1) << _FIELD_BITS) - 1
    for g in range(found.shape[0]):
        for b in range(found.shape[1]):
            for s in range(n_real):
                sums[b, g, s] += found[g, b, s]
            packed = np.int64(found[g, b, start])
            sums[b, g, 2 * columns + at.RATED] += packed & mask
            sums[b, g, 2 * columns + at.AGREED] += packed >> _FIELD_BITS
            for k in range(n_categories):
                packed = np.int64(found[g, b, start + 1 + k])
                for sort in range(at.PER_CATEGORY):
                    sums[b, g, of + at.PER_CATEGORY * k + sort] += packed >> (_FIELD_BITS * sort) & mask
            for s in range(found.shape[2]):
                found[g, b, s] = 0.0
