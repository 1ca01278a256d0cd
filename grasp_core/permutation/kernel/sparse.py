"""Sparse data: what an item adds to a group's sums is worked out once for each count of labels that turns up.

An item's totals T_k do not change under permutation, so where everybody's values are known the group's
counts c_k say everything. They are held as one number, sum_k c_k prod_(l<k) (T_l + 1), so that counting an
annotation is one addition to each of its rater's groups, whatever the number of categories. With items
outside and permutations inside, few different numbers turn up at an item: what it then adds is computed at
the first and remembered for the others. Where some values are unknown, those who gave the labels that are
then left out are counted as a row of their own, and their counts are the number's higher digits.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from grasp_core.annotations import Annotations, BoolArray, Int64Array
from grasp_core.permutation.kernel import sums as at
from grasp_core.permutation.kernel.arguments import borrowing
from grasp_core.permutation.kernel.disagreement import disagree_across, disagree_inside, set_apart
from grasp_core.permutation.kernel.item_terms import (
    APART,
    Columns,
    of_category,
    repeat_item,
    room_for_counts,
    room_for_terms,
    work_out,
)
from grasp_core.permutation.kernel.lookup import QUAD, look_up, padded
from grasp_core.permutation.kernel.profiles import Profiled, batch_of

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
# A row of a table has the real sums; where somebody's values are not known, how often the item's labels are
# expected of the group, by category; and then whole numbers: first whether the group rated the item, whether
# both sides' pluralities agree and whether several of the group shared the item, then by category what `sums`
# holds of each.


class Sparse(NamedTuple):
    """Arrays of sparse data, beside the rest of a design.

    Parameters
    ----------
    profile, row_ptr, row_of, union, part, belongs, unknown_of
        See :class:`~grasp_core.permutation.kernel.profiles.Profiled`.
    unknown : bool
        Whether somebody's values are not known.
    batch : int64 (1,)
        Permutations for which an item is visited once: their profiles take at most 8 bytes an annotation,
        :data:`~grasp_core.permutation.kernel.profiles.SMALL` or
        :data:`~grasp_core.permutation.kernel.profiles.FEWEST_BATCH` permutations.
    """

    profile: npt.NDArray[np.unsignedinteger[Any]]
    row_ptr: Int64Array
    row_of: Int64Array
    union: Int64Array
    part: Int64Array
    belongs: BoolArray
    unknown_of: Int64Array
    unknown: bool
    batch: Int64Array


def lay_out(annotations: Annotations, profiled: Profiled) -> Sparse | None:
    """Build once what every permutation reads; None where counts of an item do not fit into one number."""
    if annotations.n_annotations == 0 or profiled.profile.dtype != np.uint16:
        return None
    unknown = profiled.unknown
    bits, most = _widest(annotations.indptr, annotations.category, annotations.n_categories)
    if (2 * bits if unknown else bits) >= 63 or QUAD * most >> _FIELD_BITS:
        return None
    batch = np.array([batch_of(annotations.n_annotations, profiled.profile.size)], dtype=np.int64)
    return Sparse(*profiled, unknown, batch)


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
def add_up(profiles, counting, how, sparse, out):  # type: ignore[no-untyped-def]
    """Fill `out`, shape (permutations, G, sums), for these profiles, shape (J, permutations)."""
    ties, labels, indptr = counting.ties, counting.labels, counting.labels.indptr
    batch, n_groups = out.shape[0], out.shape[1]
    n_categories, n_items = ties.shape[2], ties.shape[0] * ties.shape[3]
    n_columns = how.distances.n_columns
    width = padded(_packed(n_columns, n_categories, sparse.unknown) + 1 + n_categories)
    n_unknown = 0
    for g in range(n_groups):
        n_unknown = max(n_unknown, sparse.unknown_of[g] + 1)
    index = np.zeros((QUAD, n_unknown + n_groups, _PER_PASS), dtype=np.uint64)
    found = np.zeros((n_groups, batch, width))
    keys = np.zeros((QUAD, (1 << _REMEMBERED) + 1), dtype=np.uint64)
    table = np.zeros((QUAD, (1 << _REMEMBERED) + APART, width))
    new = np.empty((_GROUPS * _PER_PASS, 2), dtype=np.uint64)
    counts = room_for_counts(n_categories, new.shape[0], how.distances, ties)
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
            _unpack(found, n_columns, n_categories, sparse.unknown, out)
            held = more
        index[items:] = 0
        table[items:, 0] = 0.0
        for q in range(items):
            _start(item + q, labels, sparse.unknown, totals[q], stride[q], keys[q])
        for from_b in range(0, batch, _PER_PASS):
            passed = min(_PER_PASS, batch - from_b)
            for q in range(items):
                _count(item + q, labels, stride[q], profiles, from_b, passed, sparse, index[q])
                if sparse.unknown:
                    _join(sparse.unknown_of, n_unknown, totals[q], stride[q], passed, index[q])
            for from_g in range(0, n_groups, _GROUPS):
                to_g = min(from_g + _GROUPS, n_groups)
                for q in range(items):
                    groups = index[q, n_unknown + from_g : n_unknown + to_g, :passed]
                    made = _find(groups, keys[q], new)
                    here = ties[(item + q) // ties.shape[3], :, :, (item + q) % ties.shape[3]]
                    _enter(new[:made], sparse.unknown, table[q], totals[q], here, how, counts, terms)
                for g in range(from_g, to_g):
                    rows = index[:, n_unknown + g, :passed]
                    look_up(rows, table, found[g, from_b : from_b + passed])
    _unpack(found, n_columns, n_categories, sparse.unknown, out)


@borrowing
def _packed(n_columns, n_categories, unknown):  # type: ignore[no-untyped-def]
    """Place of the first whole numbers in a table's row."""
    return at.PER_COLUMN * n_columns + at.N_REAL + (n_categories if unknown else 0)


@borrowing
def _start(item, labels, unknown, totals, stride, keys):  # type: ignore[no-untyped-def]
    """Count an item's labels; `stride` is what one of each category adds to a group's number."""
    totals[:] = 0
    for a in range(labels.indptr[item], labels.indptr[item + 1]):
        totals[labels.category[a]] += 1
    size = np.uint64(1)
    for k in range(stride.size):
        stride[k] = size
        size *= np.uint64(totals[k] + 1)
    used = np.uint64(keys.size - 1) if unknown else min(size, np.uint64(keys.size - 1))
    keys[:used] = 0
    keys[-1] = 0  # counts the others


@borrowing
def _count(item, labels, stride, profiles, from_b, passed, sparse, index):  # type: ignore[no-untyped-def]
    """Every row's counts on one item as one number, for each permutation of a pass."""
    row_ptr, row_of = sparse.row_ptr, sparse.row_of
    index[:] = 0
    for a in range(labels.indptr[item], labels.indptr[item + 1]):
        shuffled, step = profiles[labels.rater[a]], stride[labels.category[a]]
        for b in range(passed):
            profile = shuffled[from_b + b]
            for r in range(row_ptr[profile], row_ptr[profile + 1]):
                index[row_of[r], b] += step
    for u in range(sparse.union.size):
        into, counted = index[sparse.union[u]], index[sparse.part[u]]
        for b in range(passed):
            into[b] += counted[b]


@borrowing
def _join(unknown_of, n_unknown, totals, stride, passed, index):  # type: ignore[no-untyped-def]
    """Add, as higher digits of a group's number, the counts of those whose values are not known."""
    size = stride[-1] * np.uint64(totals[-1] + 1)
    for g in range(unknown_of.size):
        into, unknown = index[n_unknown + g], index[unknown_of[g]]
        for b in range(passed):
            into[b] += size * unknown[b]


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
def _enter(new, unknown, table, totals, ties, how, counts, terms):  # type: ignore[no-untyped-def]
    """Make new rows: what the item adds where the group gave it the counts that a number stands for."""
    n_columns, n_categories = how.distances.n_columns, totals.size
    single, packed = at.PER_COLUMN * n_columns, _packed(n_columns, n_categories, unknown)
    columns = Columns(counts.c, counts.known, counts.ties, counts.values, new.shape[0])
    repeat_item(columns, totals, ties)
    _decode(new, unknown, totals, columns)
    work_out(columns, how, terms)
    for i in range(new.shape[0]):
        row = table[new[i, 0]]
        row[:] = 0.0
        row[single + at.PLURALITY] = terms.plurality[i]
        row[single + at.NEGENTROPY] = terms.own[i]
        row[single + at.CROSS] = terms.cross[i]
        row[single + at.WEIGHT] = terms.weight[i]
        row[single + at.PAIRED_WEIGHT] = terms.weight[i] if (terms.n[i] > 1) & (terms.m[i] > 1) else 0.0
        if unknown:
            for k in range(n_categories):
                row[single + at.N_REAL + k] = columns.c[k, i] - terms.ratio[i] * columns.known[k, i]
    for column in range(n_columns):
        disagree_inside(column, columns, how, terms)
        disagree_across(column, columns, how, terms)
        set_apart(column, columns, how, terms)
        for i in range(new.shape[0]):
            table[new[i, 0], column] = terms.inside[i]
            table[new[i, 0], n_columns + column] = terms.across[i]
            table[new[i, 0], 2 * n_columns + column] = terms.apart[i]
    for i in range(new.shape[0]):
        row, n, first, second = table[new[i, 0]], terms.n[i], terms.first[i], terms.second[i]
        row[packed] = (n > 0) + _UNITS[1] * ((first == second) & (first >= 0))
        row[packed] += _UNITS[2] * ((first >= 0) & (n > 1))
        for k in range(n_categories):
            added = of_category(k, columns.c[k, i], columns.known[k, i], n, first, second)
            two = _UNITS[at.IN_PAIRS] * added.in_pairs + _UNITS[at.IN_GROUP] * added.in_group
            others = _UNITS[at.IN_OTHERS] * added.in_others + _UNITS[at.VOTES] * added.votes
            row[packed + 1 + k] = two + others


@borrowing
def _decode(new, unknown, totals, columns):  # type: ignore[no-untyped-def]
    """Fill `c` with the counts that numbers stand for, and take those of `unknown` raters from the totals."""
    for i in range(new.shape[0]):
        number = new[i, 1]
        for k in range(totals.size):
            radix = np.uint64(totals[k] + 1)
            columns.c[k, i] = number % radix
            number //= radix
        if unknown:
            for k in range(totals.size):
                radix = np.uint64(totals[k] + 1)
                columns.known[k, i] -= number % radix
                number //= radix


@borrowing
def _unpack(found, columns, n_categories, unknown, sums):  # type: ignore[no-untyped-def]
    """Take what was found so far over into the groups' sums."""
    single = at.PER_COLUMN * columns
    n_real, start = single + at.N_REAL, _packed(columns, n_categories, unknown)
    of = single + at.N_SINGLE
    mask = (np.int64(1) << _FIELD_BITS) - 1
    for g in range(found.shape[0]):
        for b in range(found.shape[1]):
            for s in range(n_real):
                sums[b, g, s] += found[g, b, s]
            packed = np.int64(found[g, b, start])
            sums[b, g, single + at.RATED] += packed & mask
            sums[b, g, single + at.AGREED] += packed >> _FIELD_BITS & mask
            sums[b, g, single + at.PAIRED] += packed >> (2 * _FIELD_BITS)
            for k in range(n_categories):
                if unknown:
                    sums[b, g, of + at.PER_CATEGORY * k + at.MORE] += found[g, b, n_real + k]
                packed = np.int64(found[g, b, start + 1 + k])
                for sort in range(at.N_WHOLE):
                    sums[b, g, of + at.PER_CATEGORY * k + sort] += packed >> (_FIELD_BITS * sort) & mask
            for s in range(found.shape[2]):
                found[g, b, s] = 0.0
