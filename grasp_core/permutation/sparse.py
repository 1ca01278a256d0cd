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

from grasp_core.annotations import Annotations, OffsetArray
from grasp_core.groups import Grouping
from grasp_core.permutation import sums as at
from grasp_core.permutation.counting import shuffle
from grasp_core.permutation.lookup import APART, QUAD, look_up, padded
from grasp_core.permutation.profiles import profiles_of, rows_by_column

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
# A row's columns behind the 2 C disagreements. Then come whole numbers: first whether the group rated the
# item and whether both sides' pluralities agree, then by category what `sums` holds of each.
_SIZE, _OWN, _OTHER, _N_REAL = range(4)


class Sparse(NamedTuple):
    """What sparse data need beside the rest of a design.

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
    group_ptr: OffsetArray
    group_of: OffsetArray
    union: OffsetArray
    part: OffsetArray
    batch: OffsetArray


def lay_out(annotations: Annotations, grouping: Grouping) -> Sparse | None:
    """Build once what every permutation reads; None where counts of an item do not fit into one number."""
    if annotations.n_annotations == 0 or not grouping.groups or not grouping.known.all():
        return None
    bits, most = _widest(annotations.indptr, annotations.category, annotations.n_categories)
    profile, first = profiles_of(grouping.member)
    if bits >= 63 or QUAD * most >> _FIELD_BITS or first.size > 1 << 16:
        return None
    union, part = _unions(grouping)
    counted = grouping.member[:, first]
    counted[union] = False
    bytes_fitting = max(8 * annotations.n_annotations, SMALL)
    fitting = bytes_fitting // (2 * max(annotations.n_raters, 1))
    batch = np.array([min(max(fitting, FEWEST_BATCH), MOST_BATCH)], dtype=np.int64)
    return Sparse(profile.astype(np.uint16), *rows_by_column(counted), union, part, batch)


def _unions(grouping: Grouping) -> tuple[OffsetArray, OffsetArray]:
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
def add_up(seed, start, order, bounds, design, sparse, out):  # type: ignore[no-untyped-def]  # compiled: types are numba's
    """Fill `out`, shape (permutations, G, sums), for the permutations from `start` on."""
    _, _, _, labels_of, ties, _, _, _, pairs, _ = design
    indptr, profile = labels_of[0], sparse.profile
    n_groups, n_categories, n_items = out.shape[1], ties.shape[2], ties.shape[0] * ties.shape[3]
    columns = pairs[0][-1] + 1 if pairs[0].size else 1
    width = padded(2 * columns + _N_REAL + 1 + n_categories)
    rounds = max(-(-out.shape[0] // sparse.batch[0]), 1)
    most = max(-(-out.shape[0] // rounds), 1)  # batches of one size
    words = np.empty(order.size + 3, dtype=np.uint64)
    ordered = profile[order]
    shuffled = np.empty_like(ordered)
    profiles = np.empty((order.size, most), dtype=profile.dtype)
    index = np.zeros((QUAD, n_groups, _PER_PASS), dtype=np.uint64)
    found = np.zeros((n_groups, most, width))
    keys = np.zeros((QUAD, (1 << _REMEMBERED) + 1), dtype=np.uint64)
    table = np.zeros((QUAD, (1 << _REMEMBERED) + APART, width))
    new = np.empty((_GROUPS * _PER_PASS, 2), dtype=np.uint64)
    totals = np.empty((QUAD, n_categories), dtype=np.int64)
    stride = np.empty((QUAD, n_categories), dtype=np.uint64)
    for first in range(0, out.shape[0], most):
        batch = min(most, out.shape[0] - first)
        for b in range(batch):
            shuffled[:] = ordered
            shuffle(seed, np.uint64(start + first + b), bounds, words, shuffled)
            for i in range(order.size):
                profiles[order[i], b] = shuffled[i]
        sums = out[first : first + batch]
        sums[:] = 0.0
        held = np.int64(0)
        for item in range(0, n_items, QUAD):
            items = min(QUAD, n_items - item)
            labels = indptr[item + items] - indptr[item]
            held += labels
            if held >> _FIELD_BITS:
                _unpack(found[:, :batch], columns, n_categories, sums)
                held = labels
            index[items:] = 0
            table[items:, 0] = 0.0
            for q in range(items):
                _start(item + q, labels_of, totals[q], stride[q], keys[q])
            for from_b in range(0, batch, _PER_PASS):
                passed = min(_PER_PASS, batch - from_b)
                for q in range(items):
                    _count(item + q, labels_of, stride[q], profiles, from_b, passed, sparse, index[q])
                for from_g in range(0, n_groups, _GROUPS):
                    to_g = min(from_g + _GROUPS, n_groups)
                    for q in range(items):
                        made = _find(index[q, from_g:to_g, :passed], keys[q], new)
                        _enter(new[:made], table[q], item + q, totals[q], columns, design)
                    for g in range(from_g, to_g):
                        look_up(index[:, g, :passed], table, found[g, from_b : from_b + passed])
        _unpack(found[:, :batch], columns, n_categories, sums)


@numba.njit(cache=True, nogil=True)
def _start(item, labels_of, totals, stride, keys):  # type: ignore[no-untyped-def]
    """Count an item's labels; `stride` is what one of each category adds to a group's number."""
    indptr, _, category = labels_of
    totals[:] = 0
    for a in range(indptr[item], indptr[item + 1]):
        totals[category[a]] += 1
    size = np.uint64(1)
    for k in range(totals.size):
        stride[k] = size
        size *= np.uint64(totals[k] + 1)
    keys[: min(size, np.uint64(keys.size - 1))] = 0
    keys[-1] = 0  # counts the others


@numba.njit(cache=True, nogil=True)
def _count(item, labels_of, stride, profiles, from_b, passed, sparse, index):  # type: ignore[no-untyped-def]
    """Every group's counts on one item as one number, for each permutation of a pass."""
    indptr, rater, category = labels_of
    _, group_ptr, group_of, union, part, _ = sparse
    index[:] = 0
    for a in range(indptr[item], indptr[item + 1]):
        shuffled, step = profiles[rater[a]], stride[category[a]]
        for b in range(passed):
            profile = shuffled[from_b + b]
            for g in range(group_ptr[profile], group_ptr[profile + 1]):
                index[group_of[g], b] += step
    for u in range(union.size):
        into, counted = index[union[u]], index[part[u]]
        for b in range(passed):
            into[b] += counted[b]


@numba.njit(cache=True, nogil=True)
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


@numba.njit(cache=True, nogil=True)
def _enter(new, table, item, totals, columns, design):  # type: ignore[no-untyped-def]
    """Make new rows: what the item adds where the group gave it the counts that a number stands for."""
    _, _, _, _, ties, shift, tables, paper, pairs, _ = design
    block, place, start = item // ties.shape[3], item % ties.shape[3], 2 * columns + _N_REAL
    mask = (np.int64(1) << shift) - 1
    c = np.empty(totals.size, dtype=np.int64)
    for one in range(new.shape[0]):
        slot, number = new[one, 0], new[one, 1]
        for s in range(table.shape[1]):
            table[slot, s] = 0.0
        n, m = np.int64(0), np.int64(0)
        own, other, undefined = 0.0, 0.0, False
        best, best_other = np.int64(0), np.int64(0)
        for k in range(c.size):
            radix = np.uint64(totals[k] + 1)
            x = np.int64(number % radix)
            number //= radix
            y = totals[k] - x
            c[k] = x
            n += x
            m += y
            own += tables.xlogx[x]
            other += x * tables.log_q[y]
            undefined = undefined or bool(x > 0 and y == 0)
            best = max(best, x << (2 * shift) | ties[block, 0, k, place])
            best_other = max(best_other, y << (2 * shift) | ties[block, 1, k, place])
        if n == 0:
            continue
        share, paired, shared = 1.0 / n, np.int64(n > 1), np.int64(m > 0)
        first, second = best & mask, best_other & mask
        table[slot, 2 * columns + _SIZE] = (best >> (2 * shift)) * share
        table[slot, 2 * columns + _OWN] = own * share - tables.log[n]
        if m > 0 and not (paper and undefined):
            table[slot, 2 * columns + _OTHER] = other * share - tables.log_m[m]
        table[slot, start] = 1.0 + _UNITS[1] * (shared * (first == second))
        for k in range(c.size):
            votes = shared * (np.int64(first == k) + np.int64(second == k))
            two = _UNITS[at.IN_PAIRS] * (paired * c[k]) + _UNITS[at.IN_GROUP] * (shared * c[k])
            others = _UNITS[at.IN_OTHERS] * (shared * (totals[k] - c[k]))
            table[slot, start + 1 + k] = two + others + _UNITS[at.VOTES] * votes
        inside = 2.0 / (n - 1.0) if n > 1 else 0.0
        across = (n + m) * share / m if m > 0 else 0.0
        for p in range(pairs[0].size):
            column, k, k_other, weight = pairs[0][p], pairs[1][p], pairs[2][p], pairs[3][p]
            x, y = c[k], c[k_other]
            table[slot, column] += weight * (x * y) * inside
            apart = x * (totals[k_other] - y) + y * (totals[k] - x)
            table[slot, columns + column] += weight * apart * across


@numba.njit(cache=True, nogil=True)
def _unpack(found, columns, n_categories, sums):  # type: ignore[no-untyped-def]
    """Take what was found so far over into the groups' sums."""
    start, single, of = 2 * columns + _N_REAL, 2 * columns, 2 * columns + at.N_SINGLE
    mask = (np.int64(1) << _FIELD_BITS) - 1
    for g in range(found.shape[0]):
        for b in range(found.shape[1]):
            for s in range(2 * columns):
                sums[b, g, s] += found[g, b, s]
            sums[b, g, single + at.PLURALITY] += found[g, b, 2 * columns + _SIZE]
            sums[b, g, single + at.NEGENTROPY] += found[g, b, 2 * columns + _OWN]
            sums[b, g, single + at.CROSS] += found[g, b, 2 * columns + _OTHER]
            packed, votes = np.int64(found[g, b, start]), np.int64(0)
            sums[b, g, single + at.RATED] += packed & mask
            sums[b, g, single + at.AGREED] += packed >> _FIELD_BITS
            for k in range(n_categories):
                packed = np.int64(found[g, b, start + 1 + k])
                for sort in range(at.PER_CATEGORY):
                    field = packed >> (_FIELD_BITS * sort) & mask
                    sums[b, g, of + at.PER_CATEGORY * k + sort] += field
                    if sort == at.IN_PAIRS:
                        sums[b, g, single + at.PAIRED] += field
                    elif sort == at.IN_GROUP:
                        sums[b, g, single + at.GROUP_SHARED] += field
                    elif sort == at.IN_OTHERS:
                        sums[b, g, single + at.OTHERS_SHARED] += field
                    else:
                        votes += field
            sums[b, g, single + at.SHARED] += votes // 2
            for s in range(found.shape[2]):
                found[g, b, s] = 0.0
