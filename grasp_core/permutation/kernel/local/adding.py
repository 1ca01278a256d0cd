"""Sparse data by the labels that items have: what is done grows with those, not with the categories.

Items are outside and permutations inside. An item's annotations are counted for every group by the place
that their label has among the item's own. What many counts add is then worked out at once
(:mod:`~grasp_core.permutation.kernel.item_terms`), for the groups that gave a label.

A label that one rater gave is not counted by itself: the group has it or the others have, so all that a
group has add the same, but for who wins a tie. Which labels a group gave is counted over all items as it is
met; rare exceptions are subtracted: items with one label of the group, and those that one side did not rate.

Where distances depend on the marginals (ordinal), items are gone through a second time, with ranks.
"""

from __future__ import annotations

import numpy as np

from grasp_core.permutation.jit import borrowing, compiled, making
from grasp_core.permutation.kernel import sums as at
from grasp_core.permutation.kernel.arguments import NOMINAL, ORDINAL
from grasp_core.permutation.kernel.item_terms import APART, Columns, room_for_terms
from grasp_core.permutation.kernel.local import _items as of_item
from grasp_core.permutation.kernel.local._items import Chosen, Totals, add_known, work_out_item
from grasp_core.permutation.kernel.local.layout import Counts, count_item


@compiled(seconds=13)
def add_up(profiles, how, local, out):  # type: ignore[no-untyped-def]  # compiled: types are numba's
    """Fill `out`, shape (permutations, G, sums), for these profiles, shape (J, permutations)."""
    batch, n_groups = out.shape[0], out.shape[1]
    n_rows, n_categories = local.belongs.shape[1], local.category_total.size
    passed = min(local.passed[0], batch)
    most = np.int64(0)
    for item in range(local.repeated.size):
        most = max(most, local.repeated[item])
    counts = Counts(
        np.empty((most, n_rows * passed), dtype=local.ties.dtype),
        np.empty(n_rows * passed, dtype=local.ties.dtype),
        np.empty(n_rows * passed, dtype=local.ties.dtype),
    )
    ranked = how.distances.level == ORDINAL
    totals = Totals(
        np.zeros((n_groups, batch, of_item.REALS)),
        np.zeros((n_rows, n_categories, batch), dtype=np.int32),
        np.zeros((5 if how.kappa else 4, n_groups, n_categories, batch), dtype=np.int32),
        np.empty((2, n_groups, n_categories if ranked else 0, batch)),
        np.zeros((n_groups, n_categories if local.by_item else 0, batch)),
    )
    chosen = _room(local.columns[0], most, how, local.ties.reshape(local.ties.size))
    for turn in range(1 + ranked):
        _go_through(profiles, how, local, counts, totals, chosen, passed, turn > 0)
        if turn == 0:
            _unpack(local, totals, out)
            if ranked:
                _rank(out, totals.ranks)
    if ranked:
        for g in range(n_groups):
            for b in range(batch):
                found = totals.reals[g, b]
                out[b, g, 0], out[b, g, 1] = found[of_item.INSIDE], found[of_item.ACROSS]
                out[b, g, 2] = found[of_item.APART]


@making
def _room(size, most, how, like):  # type: ignore[no-untyped-def]
    """Room for so many counts of `most` labels."""
    places = np.empty((4, size), dtype=np.int32)
    width = size + APART
    shape = (most, width)
    c, known = np.empty(shape, dtype=like.dtype), np.empty(shape, dtype=like.dtype)
    values = np.empty((0 if how.distances.level == NOMINAL else most, width))
    columns = Columns(c, known, np.empty((2, *shape), dtype=like.dtype), values, size)
    return Chosen(places[0], places[1], places[2], places[3], columns, room_for_terms(width, like))


@borrowing
def _go_through(profiles, how, local, counts, totals, chosen, passed, again):  # type: ignore[no-untyped-def]
    """Add up all items; `again`: only the disagreements, with ranks."""
    batch, n_known = profiles.shape[1], local.belongs.shape[1] - local.unknown_of.size
    for item in range(local.repeated.size):
        if local.indptr[item] == local.indptr[item + 1]:
            continue
        for from_b in range(0, batch, passed):
            here = min(passed, batch - from_b)
            drawn = profiles[:, from_b : from_b + here]
            count_item(item, drawn, how.shift, local, counts, totals.own, from_b, again)
            size = np.int64(0)
            for g in range(local.unknown_of.size):
                row, known = (n_known + g) * here, local.unknown_of[g] * here
                for b in range(here):
                    if counts.n[row + b] == 0:
                        if local.often_shared[g] and not again:
                            place, both = known + b, totals.whole[of_item.BOTH]
                            add_known(item, g, place, np.int64(-1), profiles, from_b + b, local, counts, both)
                        continue
                    chosen.group[size], chosen.permutation[size] = g, from_b + b
                    chosen.at[size], chosen.known_at[size] = row + b, known + b
                    size += 1
                    if size == chosen.group.size:
                        work_out_item(item, size, profiles, how, local, counts, totals, chosen, again)
                        size = np.int64(0)
            work_out_item(item, size, profiles, how, local, counts, totals, chosen, again)


@borrowing
def _rank(out, ranks):  # type: ignore[no-untyped-def]
    """Fill the middle ranks of labels from the sums of groups."""
    n_categories = ranks.shape[2]
    for b in range(out.shape[0]):
        for g in range(out.shape[1]):
            first, last = at.PER_COLUMN + at.N_SINGLE, at.PER_CATEGORY * n_categories
            of = out[b, g, first : first + last].reshape(n_categories, at.PER_CATEGORY)
            below_inside, below_across = 0.0, 0.0
            for k in range(n_categories):
                inside, across = of[k, at.IN_PAIRS], of[k, at.IN_GROUP] + of[k, at.IN_OTHERS]
                ranks[0, g, k, b], ranks[1, g, k, b] = below_inside + inside / 2, below_across + across / 2
                below_inside += inside
                below_across += across


@borrowing
def _unpack(local, totals, out):  # type: ignore[no-untyped-def]
    """From what was added up to the groups' sums."""
    own, whole = totals.own, totals.whole
    n_known = own.shape[0] - out.shape[1]
    for u in range(local.union.size):
        into, part = own[local.union[u]], own[local.part[u]]
        for k in range(own.shape[1]):
            for b in range(out.shape[0]):
                into[k, b] += part[k, b]
    for g in range(out.shape[1]):
        for b in range(out.shape[0]):
            found, into = totals.reals[g, b], out[b, g]
            into[0], into[1], into[2] = found[of_item.INSIDE], found[of_item.ACROSS], found[of_item.APART]
            single = into[at.PER_COLUMN :]
            single[at.PLURALITY], single[at.NEGENTROPY] = found[of_item.PLURALITY], found[of_item.OWN]
            single[at.CROSS], single[at.WEIGHT] = found[of_item.CROSS], found[of_item.WEIGHT]
            single[at.PAIRED_WEIGHT], single[at.PAIRED] = found[of_item.PAIRED_WEIGHT], found[of_item.PAIRED]
            single[at.RATED], single[at.AGREED] = found[of_item.RATED], found[of_item.AGREED]
        for k in range(own.shape[1]):
            of = at.PER_COLUMN + at.N_SINGLE + at.PER_CATEGORY * k
            for b in range(out.shape[0]):
                into, labels = out[b, g, of : of + at.PER_CATEGORY], own[n_known + g, k, b]
                both = whole[of_item.BOTH, g, k, b]
                if local.often_shared[g]:
                    both += local.category_total[k] - own[local.unknown_of[g], k, b]
                into[at.IN_PAIRS] = labels - whole[of_item.LONELY, g, k, b]
                into[at.IN_GROUP] = labels - whole[of_item.UNSHARED, g, k, b]
                into[at.IN_OTHERS] = both - into[at.IN_GROUP]
                into[at.VOTES] = whole[of_item.VOTES, g, k, b]
                if local.by_item:
                    into[at.MORE] = labels - totals.expected[g, k, b]
        if whole.shape[0] > of_item.OTHERS_VOTES:
            for b in range(out.shape[0]):
                others_votes = out[b, g, out.shape[2] - own.shape[1] :]
                for k in range(own.shape[1]):
                    others_votes[k] = whole[of_item.OTHERS_VOTES, g, k, b]
