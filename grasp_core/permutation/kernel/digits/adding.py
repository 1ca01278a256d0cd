"""Many labels of a nominal level: counts of an item's labels are digits of numbers, which are looked up.

Items are outside and permutations inside. The labels of an item are parted among numbers that tell about a
hundred counts apart; counting an annotation is one addition to a number of each of its rater's groups. What
counts add that is a sum over labels, or the largest of them, is looked up number by number
(:mod:`~grasp_core.permutation.kernel.digits.tables`), and what it comes to is worked out for many groups and
permutations at once. Where some values are unknown, the labels then left out are digits too.

Which labels a group gave is added up rater by rater; rare exceptions are subtracted: items with one label of
the group, and those that one side did not rate.
"""

from __future__ import annotations

import numba
import numpy as np

from grasp_core.permutation.kernel.arguments import borrowing, inlined
from grasp_core.permutation.kernel.digits import tables
from grasp_core.permutation.kernel.digits.totals import APART_FROM, LONELY, UNSHARED, Totals, add, unpack
from grasp_core.permutation.kernel.disagreement import disagree_across, disagree_inside, set_apart
from grasp_core.permutation.kernel.item_terms import APART, Columns, conclude, room_for_terms

_AT_ONCE = 256
"""Groups and permutations that are worked out at once."""


@numba.njit(cache=True, nogil=True)
def add_up(profiles, how, local, digits, out):  # type: ignore[no-untyped-def]  # compiled: types are numba's
    """Fill `out`, shape (permutations, G, sums), for these profiles, shape (J, permutations).

    Where `out` holds what a group shared of a category, it is to hold all that the group gave.
    """
    batch, n_groups = out.shape[0], out.shape[1]
    n_rows, k = local.belongs.shape[1], local.category_total.size
    most_numbers, most_labels = np.int64(0), np.int64(0)
    for item in range(local.indptr.size - 1):
        most_numbers = max(most_numbers, digits.number_ptr[item + 1] - digits.number_ptr[item])
        most_labels = max(most_labels, local.label_ptr[item + 1] - local.label_ptr[item])
    n_unknown = n_rows - n_groups if digits.unknown else 0
    totals = Totals(
        np.zeros((8, n_groups * batch)),
        np.zeros((3, n_groups * batch), dtype=np.int32),
        np.zeros(n_groups * (k + 1) * batch, dtype=np.int32),
        np.zeros((3, n_groups, k, batch), dtype=np.int32),
        np.zeros((n_unknown, k, batch), dtype=np.int32),
        np.zeros((n_groups, k if local.by_item else 0, batch)),
    )
    index = np.empty((most_numbers, n_rows, batch), dtype=np.uint16)
    left_out = np.zeros((most_labels, n_unknown, batch), dtype=np.int32)
    known = np.empty((2, n_rows - n_groups, batch), dtype=local.ties.dtype)
    n_profiles = local.row_ptr.size - 1 if digits.by_profile else 0
    cells = np.empty((most_numbers, n_profiles, batch), dtype=np.uint16)
    entries = tables.room_for_entries()
    terms = room_for_terms(max(_AT_ONCE, batch) + APART, local.ties)
    chosen = np.empty(batch + 1, dtype=np.int32)
    nothing = np.empty((2, 0, 0), dtype=local.ties.dtype)
    _go_through(profiles, how, local, digits, totals, index, cells, left_out, known, entries, terms, chosen, nothing)
    unpack(local, digits, totals, out)


@borrowing
def _go_through(profiles, how, local, digits, totals, index, cells, left_out, known, entries, terms, chosen, nothing):  # type: ignore[no-untyped-def]
    """Add up all items."""
    batch, n_groups = profiles.shape[1], local.unknown_of.size
    n_known = index.shape[1] - n_groups
    step = max(_AT_ONCE // batch, 1)
    for item in range(local.indptr.size - 1):
        numbers = digits.number_ptr[item + 1] - digits.number_ptr[item]
        if numbers == 0:
            continue
        tables.fill(item, local, digits, how, entries)
        _count(item, profiles, local, digits, index[:numbers], cells[:numbers], left_out, totals.unknown)
        here = index[:numbers].reshape(numbers, index.shape[1] * batch)
        _all_known(item, local, digits, left_out, known)
        for g in range(0, n_groups, step):
            to = min(g + step, n_groups)
            size = (to - g) * batch
            columns = Columns(nothing[0], nothing[0], nothing, totals.reals[:0], size)
            index_of = here[:, (n_known + g) * batch :]
            tables.look_up(index_of, size, entries, terms)
            for one in range(g, to):
                of = local.unknown_of[one]
                tables.leave(known[0, of], known[1, of], (one - g) * batch, terms)
            for one in range(g, to):
                _note(
                    item,
                    one,
                    (one - g) * batch,
                    batch,
                    how.shift,
                    local,
                    digits,
                    terms,
                    left_out,
                    totals,
                    chosen,
                )
            conclude(columns, how, terms)
            if how.paper:
                for i in range(size):
                    terms.cross[i] = terms.cross[i] if terms.cross[i] > -np.inf else 0.0
            disagree_inside(0, columns, how, terms)
            disagree_across(0, columns, how, terms)
            set_apart(0, columns, how, terms)
            add(size, g * batch, terms, totals)
            if totals.expected.shape[1] > 0:
                for one in range(g, to):
                    _expect(
                        item, one, terms.ratio[(one - g) * batch :], local, digits, left_out, totals.expected
                    )


@inlined
def _count(item, profiles, local, digits, index, cells, left_out, unknown):  # type: ignore[no-untyped-def]
    """Count the item's labels for every row, as digits of its numbers."""
    n_known = index.shape[1] - local.unknown_of.size
    start = digits.start[digits.number_ptr[item] : digits.number_ptr[item + 1]]
    for j in range(index.shape[0]):
        index[j] = start[j]
    if digits.by_profile:
        _count_profiles(item, profiles, local, digits, cells, index)
    else:
        _count_rows(item, profiles, local, digits, index)
    if digits.unknown:
        _count_unknown(item, profiles, local, digits, index, left_out, unknown)
    for j in range(index.shape[0]):
        begun = np.uint16(start[j])
        for u in range(local.union.size):
            _add_row(index[j, local.part[u]], begun, index[j, local.union[u]])
        if digits.unknown:
            for g in range(local.unknown_of.size):
                _add_row(index[j, local.unknown_of[g]], begun, index[j, n_known + g])


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
    """The like, first for profiles, and what each has then for its groups."""
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
    """Count the labels of those whose values are not known."""
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
def _all_known(item, local, digits, left_out, known):  # type: ignore[no-untyped-def]
    """Fill `known` with the item's labels of all whose values are known, and with sum_k (c_k + d_k)^2."""
    known[:] = 0
    for label in range(local.label_ptr[item], local.label_ptr[item + 1]):
        total = local.total[label]
        for row in range(known.shape[1]):
            given, squares = known[0, row], known[1, row]
            if digits.unknown:
                less = left_out[label - local.label_ptr[item], row]
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


@inlined
def _note(item, g, first, batch, shift, local, digits, terms, left_out, totals, chosen):  # type: ignore[no-untyped-def]
    """Note a group's votes, and what differs from all of its labels: see :class:`Totals`."""
    mask, label, nothing = (1 << shift) - 1, local.label_ptr[item], local.category_total.size
    votes = totals.votes[g * (nothing + 1) * batch : (g + 1) * (nothing + 1) * batch]
    n, m = terms.n[first : first + batch], terms.m[first : first + batch]
    one, other = terms.first[first : first + batch], terms.second[first : first + batch]
    alone, unshared, by_itself = 0, 0, 0
    for b in range(batch):
        shared = (n[b] > 0) & (m[b] > 0)
        vote = local.category[np.uint64(label + (one[b] & mask))] if shared else nothing
        others = local.category[np.uint64(label + (other[b] & mask))] if shared else nothing
        votes[np.uint64(vote * batch + b)] += 1
        votes[np.uint64(others * batch + b)] += 1
        chosen[np.uint64(alone)] = b
        alone += n[b] == 1
        unshared += not shared
        by_itself += (m[b] == 0) & (n[b] > 0)
    for a in range(alone):
        b = chosen[a]
        totals.rare[LONELY, g, local.category[label + (one[b] & mask)], b] += 1
    if unshared > 0:
        for b in range(batch):
            chosen[b] = (n[b] == 0) | (m[b] == 0)
        _add_known(item, g, chosen, local, digits, left_out, totals.rare[APART_FROM, g])
    if by_itself > 0:
        for b in range(batch):
            chosen[b] = (n[b] > 0) & (m[b] == 0)
        _add_known(item, g, chosen, local, digits, left_out, totals.rare[UNSHARED, g])


@borrowing
def _add_known(item, g, chosen, local, digits, left_out, into):  # type: ignore[no-untyped-def]
    """Add the item's labels, of all whose values are known, for a group where permutations are chosen."""
    first = local.label_ptr[item]
    for label in range(first, local.label_ptr[item + 1]):
        row, total = into[local.category[label]], local.total[label]
        if digits.unknown:
            less = left_out[label - first, local.unknown_of[g]]
            for b in range(row.size):
                row[b] += (total - less[b]) * chosen[b]
        else:
            for b in range(row.size):
                row[b] += total * chosen[b]


@borrowing
def _expect(item, g, ratio, local, digits, left_out, expected):  # type: ignore[no-untyped-def]
    """Add how often the item's labels are expected of a group: as of all whose values are known."""
    first = local.label_ptr[item]
    for label in range(first, local.label_ptr[item + 1]):
        row, total = expected[g, local.category[label]], local.total[label]
        if digits.unknown:
            less = left_out[label - first, local.unknown_of[g]]
            for b in range(row.size):
                row[b] += ratio[b] * (total - less[b])
        else:
            for b in range(row.size):
                row[b] += ratio[b] * total
