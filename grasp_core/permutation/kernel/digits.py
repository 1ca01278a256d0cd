"""The way for many nominal labels: counts of an item's labels are digits of numbers, which are looked up.

The outer loop is over items, the inner one over permutations. An item's labels are distributed among numbers,
each of which distinguishes about a hundred counts. To count an annotation, one addition to a number is made
for each group of its rater. Terms that are sums or maxima over labels are looked up number by number
(:mod:`~grasp_core.permutation.kernel.digits_layout`); the other terms are computed for many groups and
permutations at once. If some values are unknown, the labels left out by that are digits too.

The labels that a group gave are added up over raters; rare exceptions are then subtracted: items with one
label of the group, and items that one side did not rate.
"""

from typing import NamedTuple

import numpy as np

from grasp_core.model.annotations import FloatArray, Int32Array
from grasp_core.permutation.jit import borrowing, compiled, inlined
from grasp_core.permutation.kernel import digits_layout as tables
from grasp_core.permutation.kernel import sums as at
from grasp_core.permutation.kernel.digits_layout import count_item, room_for_counts
from grasp_core.permutation.kernel.disagreement import disagree_nominally
from grasp_core.permutation.kernel.item_terms import APART, Columns, conclude, room_for_terms

# Positions of a group's real and whole sums, in the order of `sums`, and of the exceptions: see `Totals`.
INSIDE, ACROSS, DISTANT, PLURALITY, OWN, CROSS, WEIGHT, PAIRED_WEIGHT = range(8)
RATED, AGREED, PAIRED = range(3)
LONELY, UNSHARED, APART_FROM = range(3)


class Totals(NamedTuple):
    """Sums over items under a batch of permutations, which are adjacent in memory.

    `votes`, `others_votes`: votes of both sides' pluralities, and for kappa the others' votes, by group and
        category; the last category is for items without votes.
    `rare`: labels on items with one label of the group; on items that the others did not rate; and labels of
        all raters with known values on items that one side did not rate.
    `unknown`: labels of raters with unknown values.
    `expected`: expected numbers of the group's labels; without categories if label use is summed over raters'
        terms.
    """

    reals: FloatArray
    whole: Int32Array
    votes: Int32Array
    others_votes: Int32Array
    rare: Int32Array
    unknown: Int32Array
    expected: FloatArray


@inlined
def add(size, first, terms, totals):  # type: ignore[no-untyped-def]
    """Add the computed terms to the sums of groups and permutations."""
    reals, whole = totals.reals, totals.whole
    _plus(terms.inside, reals[INSIDE, first : first + size])
    _plus(terms.across, reals[ACROSS, first : first + size])
    _plus(terms.apart, reals[DISTANT, first : first + size])
    _plus(terms.plurality, reals[PLURALITY, first : first + size])
    _plus(terms.own, reals[OWN, first : first + size])
    _plus(terms.cross, reals[CROSS, first : first + size])
    _plus(terms.weight, reals[WEIGHT, first : first + size])
    n, m, one, other, weight = terms.n, terms.m, terms.first, terms.second, terms.weight
    paired_weight = reals[PAIRED_WEIGHT, first : first + size]
    for i in range(size):
        paired_weight[i] += weight[i] if (n[i] > 1) & (m[i] > 1) else 0.0
    rated, agreed = whole[RATED, first : first + size], whole[AGREED, first : first + size]
    paired = whole[PAIRED, first : first + size]
    for i in range(size):
        rated[i] += 1 if n[i] > 0 else 0
    for i in range(size):
        agreed[i] += 1 if (one[i] >= 0) & (one[i] == other[i]) else 0
    for i in range(size):
        paired[i] += 1 if (n[i] > 1) & (m[i] > 1) else 0


@inlined
def _plus(values, into):  # type: ignore[no-untyped-def]
    for i in range(into.size):
        into[i] += values[i]


@borrowing
def unpack(local, digits, totals, out):  # type: ignore[no-untyped-def]
    """Turn the totals into the groups' sums."""
    batch, k = out.shape[0], local.category_total.size
    for g in range(out.shape[1]):
        votes = totals.votes[g * (k + 1) * batch : (g + 1) * (k + 1) * batch].reshape(k + 1, batch)
        for b in range(batch):
            for s in range(at.PER_COLUMN + at.N_REAL):
                out[b, g, s] = totals.reals[s, g * batch + b]
            for s in range(at.N_SINGLE - at.N_REAL):
                out[b, g, at.PER_COLUMN + at.N_REAL + s] = totals.whole[s, g * batch + b]
        for c in range(k):
            of, rare = at.PER_COLUMN + at.N_SINGLE + at.PER_CATEGORY * c, totals.rare[:, g, c]
            for b in range(batch):
                into = out[b, g, of : of + at.PER_CATEGORY]
                labels, both = into[at.IN_GROUP], local.category_total[c] - rare[APART_FROM, b]
                if digits.unknown:
                    both -= totals.unknown[local.unknown_of[g], c, b]
                into[at.IN_PAIRS] = labels - rare[LONELY, b]
                into[at.IN_GROUP] = labels - rare[UNSHARED, b]
                into[at.IN_OTHERS] = both - into[at.IN_GROUP]
                into[at.VOTES] = votes[c, b]
                if local.by_item:
                    into[at.MORE] = labels - totals.expected[g, c, b]
        for c in range(k if totals.others_votes.size > 0 else 0):
            for b in range(batch):
                out[b, g, out.shape[2] - k + c] = totals.others_votes[(g * (k + 1) + c) * batch + b]


_AT_ONCE = 256
"""Groups and permutations whose terms are computed at once."""


@compiled(seconds=10)
def add_up(profiles, how, local, digits, out):  # type: ignore[no-untyped-def]  # compiled: types are numba's
    """Fill `out`, shape (permutations, G, sums), for these profiles, shape (J, permutations).

    Before the call, `out` must contain all labels of each category that a group gave, at `sums.IN_GROUP`.
    """
    batch, n_groups = out.shape[0], out.shape[1]
    n_unknown, k = local.belongs.shape[1] - n_groups if digits.unknown else 0, local.category_total.size
    totals = Totals(
        np.zeros((8, n_groups * batch)),
        np.zeros((3, n_groups * batch), dtype=np.int32),
        np.zeros(n_groups * (k + 1) * batch, dtype=np.int32),
        np.zeros(n_groups * (k + 1) * batch if how.kappa else 0, dtype=np.int32),
        np.zeros((3, n_groups, k, batch), dtype=np.int32),
        np.zeros((n_unknown, k, batch), dtype=np.int32),
        np.zeros((n_groups, k if local.by_item else 0, batch)),
    )
    counts, entries = room_for_counts(batch, local, digits), tables.room_for_entries()
    terms = room_for_terms(max(_AT_ONCE, batch) + APART, local.ties.reshape(local.ties.size))
    chosen = np.empty(batch + 1, dtype=np.int32)
    nothing = np.empty((2, 0, 0), dtype=local.ties.dtype)
    columns = Columns(nothing[0], nothing[0], nothing, totals.reals[:0], 0)
    _go_through(profiles, how, local, digits, totals, counts, entries, terms, columns, chosen)
    unpack(local, digits, totals, out)


@borrowing
def _go_through(profiles, how, local, digits, totals, counts, entries, terms, none, chosen):  # type: ignore[no-untyped-def]
    """Add up all items; `none` are columns without counts, which are not used here."""
    batch, n_groups = profiles.shape[1], local.unknown_of.size
    n_known = local.belongs.shape[1] - n_groups
    step = max(_AT_ONCE // batch, 1)
    for item in range(local.indptr.size - 1):
        numbers = digits.number_ptr[item + 1] - digits.number_ptr[item]
        if numbers == 0:
            continue
        tables.fill(item, local, digits, how, entries)
        count_item(item, profiles, local, digits, counts, totals.unknown)
        index = counts.number[:numbers].reshape(numbers, counts.number.shape[1] * batch)
        for g in range(0, n_groups, step):
            to = min(g + step, n_groups)
            size = (to - g) * batch
            columns = Columns(none.c, none.known, none.ties, none.values, size)
            tables.look_up(index[:, (n_known + g) * batch :], size, entries, terms)
            for one in range(g, to):
                of, first = local.unknown_of[one], (one - g) * batch
                tables.leave(counts.given[of], counts.squares[of], first, terms)
                _note(item, one, first, batch, how.shift, local, digits, terms, counts, totals, chosen)
            conclude(columns, how, terms)
            if how.paper:
                for i in range(size):
                    terms.cross[i] = terms.cross[i] if terms.cross[i] > -np.inf else 0.0
            disagree_nominally(size, terms)
            add(size, g * batch, terms, totals)
            for one in range(g, to if totals.expected.shape[1] > 0 else g):
                ratio = terms.ratio[(one - g) * batch :]
                _expect(item, one, ratio, local, digits, counts.left_out, totals.expected)


@inlined
def _note(item, g, first, batch, shift, local, digits, terms, counts, totals, chosen):  # type: ignore[no-untyped-def]
    """Count a group's votes, and the exceptions among its labels; see :class:`Totals`."""
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
    if totals.others_votes.size > 0:
        votes = totals.others_votes[g * (nothing + 1) * batch : (g + 1) * (nothing + 1) * batch]
        for b in range(batch):
            shared = (n[b] > 0) & (m[b] > 0)
            others = local.category[np.uint64(label + (other[b] & mask))] if shared else nothing
            votes[np.uint64(others * batch + b)] += 1
    for a in range(alone):
        b = chosen[a]
        totals.rare[LONELY, g, local.category[label + (one[b] & mask)], b] += 1
    if unshared > 0:
        for b in range(batch):
            chosen[b] = (n[b] == 0) | (m[b] == 0)
        _add_known(item, g, chosen, local, digits, counts.left_out, totals.rare[APART_FROM, g])
    if by_itself > 0:
        for b in range(batch):
            chosen[b] = (n[b] > 0) & (m[b] == 0)
        _add_known(item, g, chosen, local, digits, counts.left_out, totals.rare[UNSHARED, g])


@borrowing
def _add_known(item, g, chosen, local, digits, left_out, into):  # type: ignore[no-untyped-def]
    """Add the item's labels by all raters with known values, for a group, in the chosen permutations."""
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
    """Add a group's expected numbers of the item's labels: its share of all labels by known raters."""
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
