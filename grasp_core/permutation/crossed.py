"""Fully crossed data: what an item adds to a group's sums is looked up in a table over the group's counts.

Where every rater rated every item and everybody's values are known, a group has n labels on each item under
every permutation, and the item's totals T_k never change: c_1 .. c_(K-1), the group's counts of all
categories but one, say everything. With items outside and permutations inside, the table of one item and
group is built once; each permutation then costs a population count per category and one row of that table.
What is linear in the counts needs no items at all: it is summed over the group's raters.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from grasp_core.annotations import Annotations, FloatArray, OffsetArray
from grasp_core.groups import Grouping
from grasp_core.permutation import sums as at
from grasp_core.permutation.counting import ones, shuffle
from grasp_core.permutation.lookup import APART, QUAD, look_up, padded
from grasp_core.permutation.profiles import profiles_of, rows_by_column
from grasp_core.permutation.sums import Pairs
from grasp_core.statistics.counts import count

BATCH = 8192
"""Most permutations for which one table serves."""
MOST_ENTRIES = 16384
"""Largest table; it has to stay in a core's own cache."""
FEW_ENTRIES = 1024
"""Largest mean size at which building the tables is cheap beside looking things up."""
_EXACT_BITS = 52
"""Whole numbers below 2^52 are exact in float64, so several small ones are packed into one."""
_PASS = 1024
"""Permutations for which four items are counted and at once looked up: both stay in the first cache."""
# A table's columns: sum_k c ln c, sum_k c ln q, the packed fields, and then the disagreements.
_OWN, _OTHER, _PACKED = range(3)
# Fields: size of the plurality, whether both sides' agree, then the votes for each category but the last.
_SIZE, _AGREES, _VOTES = range(3)


class Crossed(NamedTuple):
    """What crossed data need beside the rest of a design.

    Parameters
    ----------
    linear : float64 (J, K + C)
        By rater: labels of each category, and by column of disagreement sum_i sum_l T_il w_kl over the labels
        k that the rater gave.
    column, place : int64 (K + 1,)
        Where each packed field lies: the table's column, and the lowest bit there.
    profile : int64 (J,)
        Each rater's profile: which groups they belong to.
    group_ptr, group_of : int64 arrays
        Profile p belongs to the groups ``group_of[group_ptr[p]:group_ptr[p + 1]]``.
    """

    linear: FloatArray
    column: OffsetArray
    place: OffsetArray
    profile: OffsetArray
    group_ptr: OffsetArray
    group_of: OffsetArray


def lay_out(annotations: Annotations, grouping: Grouping, pairs: Pairs, width: int) -> Crossed | None:
    """Build once what every permutation reads; None unless data are crossed and tables small.

    `width` is the number of items in a block.
    """
    k = annotations.n_categories
    if k < 2 or annotations.n_items == 0 or not grouping.groups or not grouping.known.all():
        return None
    if annotations.n_annotations != annotations.n_items * annotations.n_raters:
        return None
    totals = count(annotations, np.ones(annotations.n_raters, dtype=np.bool_))
    entries = np.array([(np.minimum(totals[:, :-1], n) + 1.0).prod(axis=1) for n in grouping.n_raters])
    if entries.max() > MOST_ENTRIES or entries.mean() > FEW_ENTRIES:
        return None
    linear = np.zeros((annotations.n_raters, k + pairs.n_columns))
    np.add.at(linear, (annotations.rater, annotations.category), 1)
    for column in range(pairs.n_columns):
        weights = np.zeros((k, k))
        chosen = pairs.column == column
        weights[pairs.first[chosen], pairs.second[chosen]] = pairs.weight[chosen]
        met = (totals @ (weights + weights.T))[annotations.item, annotations.category]
        linear[:, k + column] = np.bincount(annotations.rater, weights=met, minlength=annotations.n_raters)
    most = width * int(grouping.n_raters.max())
    fields = _pack([most.bit_length(), width.bit_length(), *[(2 * width).bit_length()] * (k - 1)])
    profile, first = profiles_of(grouping.member)
    groups = rows_by_column(grouping.member[:, first])
    return Crossed(linear, *fields, profile.astype(np.int64), *groups)


def _pack(bits: list[int]) -> tuple[OffsetArray, OffsetArray]:
    """Column and lowest bit of fields that need so many bits."""
    column, place, used = [_PACKED], [0], bits[0]
    for need in bits[1:]:
        full = used + need > _EXACT_BITS
        column.append(column[-1] + full)
        place.append(0 if full else used)
        used = place[-1] + need
    return np.array(column, dtype=np.int64), np.array(place, dtype=np.int64)


@numba.njit(cache=True, nogil=True)
def add_up(seed, start, order, bounds, design, crossed, out):  # type: ignore[no-untyped-def]  # compiled: types are numba's
    """Fill `out`, shape (permutations, G, sums), for the permutations from `start` on."""
    _, _, bits, labels_of, ties, shift, tables, paper, pairs, _ = design
    linear, column = crossed.linear, crossed.column
    n_groups, columns = out.shape[1], pairs[0][-1] + 1
    n_items = labels_of[1].size // order.size
    labels = np.zeros(linear.shape[1])
    for j in range(order.size):
        labels += linear[j]
    most = min(BATCH, out.shape[0])
    masks = np.empty((n_groups, bits.shape[2], most), dtype=np.uint64)
    on_raters = np.empty((most, n_groups, linear.shape[1]))
    found = np.empty((most, padded(column[-1] + 1 + columns)))
    index = np.zeros((QUAD, _PASS), dtype=np.uint64)
    table = np.zeros((QUAD, MOST_ENTRIES + APART, found.shape[1]))
    for first in range(0, out.shape[0], most):
        batch = min(most, out.shape[0] - first)
        _draw(seed, start + first, batch, order, bounds, crossed, masks, on_raters)
        for g in range(n_groups):
            n = np.int64(0)
            for w in range(masks.shape[1]):
                n += np.int64(ones(masks[g, w, 0]))
            sums = out[first : first + batch, g]
            sums[:] = 0.0
            for block in range(ties.shape[0]):
                items = min(ties.shape[3], n_items - block * ties.shape[3])
                found[:batch] = 0.0
                for item in range(0, items, QUAD):
                    here = min(QUAD, items - item)
                    for q in range(here):
                        place = (bits[block], item + q, ties[block], shift)
                        _fill(table[q], n, place, tables, paper, pairs, crossed)
                    for q in range(here, QUAD):
                        table[q, 0] = 0.0
                        index[q] = 0
                    for b in range(0, batch, _PASS):
                        passed = min(_PASS, batch - b)
                        for q in range(here):
                            _index(masks[g], b, bits[block], item + q, n, index[q, :passed])
                        look_up(index, table, found[b : b + passed])
                _unpack(found[:batch], crossed, n, order.size - n, items, columns, sums)
            _add_linear(on_raters[:batch, g], labels, n, order.size - n, n_items, tables, columns, sums)


@numba.njit(cache=True, nogil=True)
def _draw(seed, start, batch, order, bounds, crossed, masks, on_raters):  # type: ignore[no-untyped-def]
    """Draw a batch of permutations: each group's raters as bit sets, and their linear sums."""
    linear, _, _, profile, group_ptr, group_of = crossed
    words = np.empty(order.size + 3, dtype=np.uint64)
    ordered = profile[order]
    shuffled = np.empty_like(ordered)
    held = np.empty((group_ptr.size - 1, masks.shape[1]), dtype=np.uint64)
    sums = np.empty((group_ptr.size - 1, linear.shape[1]))
    members = np.empty(masks.shape[:2], dtype=np.uint64)
    on_raters[:batch] = 0.0
    for b in range(batch):
        shuffled[:] = ordered
        shuffle(seed, np.uint64(start + b), bounds, words, shuffled)
        held[:], sums[:], members[:] = 0, 0.0, 0
        for i in range(order.size):
            j, p = order[i], shuffled[i]
            held[p, j >> 6] |= np.uint64(1) << np.uint64(j & 63)
            for s in range(linear.shape[1]):
                sums[p, s] += linear[j, s]
        for p in range(held.shape[0]):
            for a in range(group_ptr[p], group_ptr[p + 1]):
                g = group_of[a]
                for w in range(held.shape[1]):
                    members[g, w] |= held[p, w]
                for s in range(linear.shape[1]):
                    on_raters[b, g, s] += sums[p, s]
        masks[:, :, b] = members


@numba.njit(cache=True, nogil=True)
def _radix(bits, item, k, n):  # type: ignore[no-untyped-def]
    """1 + the most raters of a group of n who can have given the item category k."""
    total = np.int64(0)
    for w in range(bits.shape[1]):
        total += np.int64(ones(bits[k, w, item]))
    return min(total, n) + 1


@numba.njit(cache=True, nogil=True)
def _index(masks, from_b, bits, item, n, index):  # type: ignore[no-untyped-def]
    """The counts of all categories but the last as one number, for each permutation."""
    n_words = bits.shape[1]
    for k in range(bits.shape[0] - 1):
        for w in range(0, n_words, 2):  # two words in a pass
            scale = np.uint64(_radix(bits, item, k, n) if w == 0 else 1)
            v = min(w + 1, n_words - 1)
            raters, members = bits[k, w, item], masks[w, from_b:]
            more, others = bits[k, v, item] if v > w else np.uint64(0), masks[v, from_b:]
            if k == 0 and w == 0:
                for b in range(index.size):
                    index[b] = ones(members[b] & raters) + ones(others[b] & more)
            else:
                for b in range(index.size):
                    index[b] = index[b] * scale + ones(members[b] & raters) + ones(others[b] & more)


@numba.njit(cache=True, nogil=True)
def _fill(table, n, place, tables, paper, pairs, crossed):  # type: ignore[no-untyped-def]
    """What the item adds for every possible count of the group's labels."""
    bits, item, ties, shift = place
    column, lowest = crossed.column, crossed.place
    n_categories = bits.shape[0]
    last, free = n_categories - 1, n_categories - 2
    radix = np.empty(n_categories, dtype=np.int64)
    totals = np.zeros(n_categories, dtype=np.int64)
    for k in range(n_categories):
        radix[k] = _radix(bits, item, k, n)
        for w in range(bits.shape[1]):
            totals[k] += np.int64(ones(bits[k, w, item]))
    m = totals.sum() - n
    vote = np.zeros(column.size + 1)
    for f in range(column.size):
        vote[f] = np.float64(np.int64(1) << lowest[f])
    apart = np.empty((table.shape[1] - column[-1] - 1, 4))
    others_logs = np.empty((n_categories, n + 1))
    for k in range(n_categories):
        for x in range(radix[k]):
            others_logs[k, x] = x * tables.log_q[totals[k] - x]
    c = np.zeros(n_categories, dtype=np.int64)
    base, running = np.int64(0), True
    while running:
        left = n
        for k in range(free):
            left -= c[k]
        first, stop = max(left - radix[last] + 1, 0), min(radix[free], left + 1)
        rows = table[base + first : base + max(stop, first)]
        if column[-1] == _PACKED and m > 0:
            dropped = n * tables.log_m[m] if paper else np.nan
            split = (c, first, left, totals, dropped)
            _enter_few(rows, split, ties, item, shift, tables, others_logs, pairs, vote, apart)
        else:
            for x in range(first, stop):
                c[free], c[last] = x, left - x
                _enter(
                    rows[x - first], c, totals, ties, item, shift, tables, paper, pairs, n, m, column, vote
                )
        base += radix[free]
        running = False
        for k in range(free - 1, -1, -1):  # the next counts of the categories before
            c[k] += 1
            if c[k] < radix[k]:
                running = True
                break
            c[k] = 0


@numba.njit(cache=True, nogil=True)
def _enter(row, c, totals, ties, item, shift, tables, paper, pairs, n, m, column, vote):  # type: ignore[no-untyped-def]
    """One row of a table: what an item adds where the group gave it the counts c."""
    own, other, undefined = 0.0, 0.0, False
    best, best_other = np.int64(-1), np.int64(-1)
    for k in range(c.size):
        others = totals[k] - c[k]
        own += tables.xlogx[c[k]]
        other += c[k] * tables.log_q[others]
        undefined = undefined or (c[k] > 0 and others == 0)
        best = max(best, c[k] << (2 * shift) | ties[0, k, item])
        best_other = max(best_other, others << (2 * shift) | ties[1, k, item])
    if paper and undefined:
        other = n * tables.log_m[m]  # what is taken off again below: the item counts as 0
    row[_OWN] = own
    row[_OTHER] = other
    row[_PACKED:] = 0.0
    row[column[_SIZE]] += vote[_SIZE] * (best >> (2 * shift))
    if m > 0:
        first, second = best & ((1 << shift) - 1), best_other & ((1 << shift) - 1)
        row[column[_AGREES]] += vote[_AGREES] * (first == second)
        if first < c.size - 1:
            row[column[_VOTES + first]] += vote[_VOTES + first]
        if second < c.size - 1:
            row[column[_VOTES + second]] += vote[_VOTES + second]
    disagreement = row[column[-1] + 1 :]
    for p in range(pairs[0].size):
        disagreement[pairs[0][p]] += pairs[3][p] * (c[pairs[1][p]] * c[pairs[2][p]])


@numba.njit(cache=True, nogil=True)
def _enter_few(rows, split, ties, item, shift, tables, others_logs, pairs, vote, apart):  # type: ignore[no-untyped-def]
    """The same for all splits of `left` labels among the last two categories, with one packed column."""
    c, first, left, totals, dropped = split
    last, free = c.size - 1, c.size - 2
    own, other, undefined, drops = 0.0, 0.0, False, not np.isnan(dropped)
    best, best_other = np.int64(-1), np.int64(-1)
    for k in range(free):
        own += tables.xlogx[c[k]]
        other += others_logs[k, c[k]]
        best = max(best, c[k] << (2 * shift) | ties[0, k, item])
        best_other = max(best_other, (totals[k] - c[k]) << (2 * shift) | ties[1, k, item])
        undefined = undefined or (c[k] > 0 and totals[k] == c[k])
    apart[:] = 0.0  # by column: what does not depend on the split, and factors of x, y and x y
    for p in range(pairs[0].size):
        column, k, other_k, weight = pairs[0][p], pairs[1][p], pairs[2][p], pairs[3][p]
        if other_k < free:
            apart[column, 0] += weight * (c[k] * c[other_k])
        elif other_k == free:
            apart[column, 1] += weight * c[k]
        elif k < free:
            apart[column, 2] += weight * c[k]
        else:
            apart[column, 3] = weight
    tie, tie_last = ties[0, free, item], ties[0, last, item]
    tie_other, tie_other_last = ties[1, free, item], ties[1, last, item]
    mask = (np.int64(1) << shift) - 1
    for x in range(first, first + rows.shape[0]):
        y, row = left - x, x - first
        size = max(max(best, x << (2 * shift) | tie), y << (2 * shift) | tie_last)
        size_other = (totals[free] - x) << (2 * shift) | tie_other
        size_other = max(max(best_other, size_other), (totals[last] - y) << (2 * shift) | tie_other_last)
        here, there = size & mask, size_other & mask
        rows[row, _OWN] = own + tables.xlogx[x] + tables.xlogx[y]
        rows[row, _OTHER] = other + others_logs[free, x] + others_logs[last, y]
        if drops and (undefined or (x > 0 and totals[free] == x) or (y > 0 and totals[last] == y)):
            rows[row, _OTHER] = dropped
        votes = vote[_VOTES + here] + vote[_VOTES + there] + vote[_AGREES] * (here == there)
        rows[row, _PACKED] = vote[_SIZE] * (size >> (2 * shift)) + votes
        for d in range(apart.shape[0]):
            unequal = x * apart[d, 1] + y * apart[d, 2] + apart[d, 3] * (x * y)
            rows[row, _PACKED + 1 + d] = apart[d, 0] + unequal


@numba.njit(cache=True, nogil=True)
def _unpack(found, crossed, n, m, items, columns, sums):  # type: ignore[no-untyped-def]
    """Add a block of items' looked-up rows to the group's sums."""
    column, place = crossed.column, crossed.place
    n_categories = column.size - 1
    single = 2 * columns
    of = single + at.N_SINGLE
    for b in range(found.shape[0]):
        row, into = found[b], sums[b]
        into[single + at.NEGENTROPY] += row[_OWN]
        into[single + at.CROSS] += row[_OTHER]
        votes = np.int64(2 * items if m > 0 else 0)
        for f in range(column.size):
            wide = np.int64(row[column[f]]) >> place[f]
            if f + 1 < column.size and column[f + 1] == column[f]:
                wide &= (np.int64(1) << (place[f + 1] - place[f])) - 1
            if f == _SIZE:
                into[single + at.PLURALITY] += wide
            elif f == _AGREES:
                into[single + at.AGREED] += wide
            else:
                into[of + at.PER_CATEGORY * (f - _VOTES) + at.VOTES] += wide
                votes -= wide
        into[of + at.PER_CATEGORY * (n_categories - 1) + at.VOTES] += votes
        for s in range(columns):
            into[s] += row[column[-1] + 1 + s]


@numba.njit(cache=True, nogil=True)
def _add_linear(on_raters, labels, n, m, n_items, tables, columns, sums):  # type: ignore[no-untyped-def]
    """From counts to what the sums are of, now that all items are in; with what is linear in the counts."""
    n_categories = on_raters.shape[1] - columns
    single = 2 * columns
    of = single + at.N_SINGLE
    shared = n_items if m > 0 else 0
    for b in range(sums.shape[0]):
        into, line = sums[b], on_raters[b]
        for s in range(columns):
            inside = into[s]
            into[s] = 2.0 * inside / max(n - 1.0, 1.0)
            across = line[n_categories + s] - 2.0 * inside
            into[columns + s] = (n + m) * across / (np.float64(n) * m) if m > 0 else 0.0
        into[single + at.PLURALITY] /= n
        into[single + at.NEGENTROPY] = into[single + at.NEGENTROPY] / n - n_items * tables.log[n]
        into[single + at.CROSS] = into[single + at.CROSS] / n - n_items * tables.log_m[m] if m > 0 else 0.0
        into[single + at.PAIRED] = n_items * n if n > 1 else 0
        into[single + at.RATED] = n_items
        into[single + at.SHARED] = shared
        into[single + at.GROUP_SHARED] = shared * n
        into[single + at.OTHERS_SHARED] = shared * m
        for k in range(n_categories):
            place = of + at.PER_CATEGORY * k
            into[place + at.IN_PAIRS] = line[k] if n > 1 else 0.0
            into[place + at.IN_GROUP] = line[k] if m > 0 else 0.0
            into[place + at.IN_OTHERS] = labels[k] - line[k]
