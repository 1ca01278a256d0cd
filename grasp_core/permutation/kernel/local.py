"""The way for sparse data with many categories: the work grows with an item's labels, not with categories.

The outer loop is over items, the inner one over permutations. An item's annotations are counted for every
group by the position of their label among the item's labels. Terms of many counts are then computed at once
(:mod:`~grasp_core.permutation.kernel.item_terms`), for the groups that gave a label.

Labels that only one rater gave are not counted label by label. Either the group or the others have such a
label, so all those of a group add the same, except in ties. The labels that a group gave are counted over all
items; rare exceptions are then subtracted: items with one label of the group, and items that one side did not
rate. If distances depend on the marginals (ordinal), there is a second pass over the items, with ranks.
"""

from typing import NamedTuple

import numpy as np

from grasp_core.model.annotations import FloatArray, Int32Array
from grasp_core.permutation.jit import borrowing, compiled, making
from grasp_core.permutation.kernel import sums as at
from grasp_core.permutation.kernel.arguments import NOMINAL, ORDINAL
from grasp_core.permutation.kernel.disagreement import disagree, disagree_inside
from grasp_core.permutation.kernel.item_terms import (
    APART,
    Columns,
    Terms,
    add_labels,
    conclude,
    room_for_terms,
)
from grasp_core.permutation.kernel.local_layout import Counts, count_item

# Positions of a group's real sums under one permutation, in the order of `sums`.
INSIDE, ACROSS, DISTANT, PLURALITY, OWN, CROSS, WEIGHT, PAIRED_WEIGHT, RATED, AGREED, PAIRED = range(11)
REALS = 12
# Whole sums of a group by label: labels on items with one label of the group; on items that the others did
# not rate; labels of all raters with known values on shared items (or, if most are shared, minus those on the
# other items); votes; and for kappa the others' votes.
LONELY, UNSHARED, BOTH, VOTES, OTHERS_VOTES = range(5)


class Totals(NamedTuple):
    """Sums over items under a batch of permutations.

    `own`: labels of each row.
    `ranks`: middle ranks of labels inside and across; without categories if they are not needed.
    `expected`: expected numbers of the group's labels; without categories if label use is summed over raters'
        terms.
    """

    reals: FloatArray
    own: Int32Array
    whole: Int32Array
    ranks: FloatArray
    expected: FloatArray


class Chosen(NamedTuple):
    """Counts whose terms are computed at once, with the group and the permutation of each.

    `at`, `known_at`: positions in :class:`~grasp_core.permutation.kernel.local_layout.Counts` of the group's
        counts, and of the counts of raters with unknown values.
    """

    group: Int32Array
    permutation: Int32Array
    at: Int32Array
    known_at: Int32Array
    columns: Columns
    terms: Terms


@borrowing
def add_known(item, g, place, sign, profiles, b, local, counts, whole):  # type: ignore[no-untyped-def]
    """Add (or subtract) the item's labels by all raters with known values, for a group and permutation."""
    first, into = local.label_ptr[item], whole[g]
    unknown = counts.n[place] > 0
    for label in range(local.repeated[item]):
        less = counts.c[label, place] if unknown else 0
        into[local.category[first + label], b] += sign * (local.total[first + label] - less)
    for label in range(first + local.repeated[item], local.label_ptr[item + 1]):
        if not (unknown and local.belongs[profiles[local.giver[label], b], local.unknown_of[g]]):
            into[local.category[label], b] += sign


@borrowing
def work_out_item(item, size, profiles, how, local, counts, totals, chosen, again):  # type: ignore[no-untyped-def]
    """Compute the terms of the chosen counts, and add them."""
    if size == 0:
        return
    repeated, first, room = local.repeated[item], local.label_ptr[item], chosen.columns
    columns = Columns(
        room.c[:repeated], room.known[:repeated], room.ties[:, :repeated], room.values[:repeated], size
    )
    terms = chosen.terms
    for label in range(repeated):
        counted, total = counts.c[label], local.total[first + label]
        c, known = columns.c[label], columns.known[label]
        for i in range(size):
            c[i] = counted[chosen.at[i]]
        for i in range(size):
            known[i] = total - counted[chosen.known_at[i]]
        for side in range(2):
            tie, here = columns.ties[side, label], local.ties[side, first + label]
            for i in range(size):
                tie[i] = here
        if columns.values.shape[0] > 0 and not again:
            value = how.distances.values[local.category[first + label]]
            for i in range(size):
                columns.values[label, i] = value
    add_labels(columns, how, terms)
    if repeated < local.label_ptr[item + 1] - first:
        _add_once(item, size, profiles, how, local, counts, chosen)
    if not again:
        _note(item, size, profiles, how.shift, local, counts, totals, chosen)
    conclude(columns, how, terms)
    if again:
        _add_ranked(first, columns, how, local, totals, chosen)
        return
    if how.paper:
        lacks = local.label_ptr[item + 1] - first < local.category_total.size
        for i in range(size):
            if lacks or counts.once[chosen.at[i]] > 0 or counts.once[chosen.known_at[i]] > 0:
                terms.cross[i] = 0.0
    if how.distances.level != ORDINAL:
        disagree(0, columns, how, terms)
    else:
        for i in range(size):
            terms.inside[i], terms.across[i], terms.apart[i] = 0.0, 0.0, 0.0
    _add(first, size, local.category, terms, chosen, totals)
    if totals.expected.shape[1] > 0:
        _expect(item, size, profiles, local, columns, counts, totals.expected, chosen)


@borrowing
def _add_once(item, size, profiles, how, local, counts, chosen):  # type: ignore[no-untyped-def]
    """Add labels that one rater gave to the group's and the others' sums, and to both sides' votes."""
    first, repeated, shift = local.label_ptr[item], local.repeated[item], how.shift
    alone = local.label_ptr[item + 1] - first - repeated
    mask, one = (1 << shift) - 1, 1 << (2 * shift)
    terms, alike = chosen.terms, how.tables.log_q[0]
    rows = local.belongs.shape[1] - local.unknown_of.size
    for i in range(size):
        packed = counts.once[chosen.at[i]]
        x = packed >> shift
        others = alone - (counts.once[chosen.known_at[i]] >> shift) - x
        if x > 0:
            terms.n[i] += x
            terms.squares[i] += x
            terms.cross[i] += x * alike
            vote = one | local.ties[0, first + (packed & mask)]
            if vote > terms.first[i]:
                terms.first[i] = vote
        terms.m[i] += others
        terms.others_squares[i] += others
        if others > 0 and terms.second[i] >> (2 * shift) < 2:
            group, b = rows + chosen.group[i], chosen.permutation[i]
            known = local.unknown_of[chosen.group[i]]
            for a in range(first, first + alone):
                label = first + local.order[a]
                belongs = local.belongs[profiles[local.giver[label], b]]
                if not belongs[group] and not belongs[known]:
                    vote = one | local.ties[1, label]
                    if vote > terms.second[i]:
                        terms.second[i] = vote
                    break


@borrowing
def _note(item, size, profiles, shift, local, counts, totals, chosen):  # type: ignore[no-untyped-def]
    """Count the exceptions among a group's labels: see `LONELY`, `UNSHARED` and `BOTH`."""
    first, terms, whole = local.label_ptr[item], chosen.terms, totals.whole
    mask = (1 << shift) - 1
    for i in range(size):
        g, b = np.int64(chosen.group[i]), np.int64(chosen.permutation[i])
        known_at = np.int64(chosen.known_at[i])
        if terms.n[i] == 1:
            whole[LONELY, g, local.category[first + (terms.first[i] & mask)], b] += 1
        if terms.m[i] == 0:
            # All labels of known raters are the group's.
            add_known(item, g, known_at, np.int64(1), profiles, b, local, counts, whole[UNSHARED])
        if (terms.m[i] == 0) == local.often_shared[g]:
            sign = np.int64(-1 if local.often_shared[g] else 1)
            add_known(item, g, known_at, sign, profiles, b, local, counts, whole[BOTH])


@borrowing
def _add(first, size, category, terms, chosen, totals):  # type: ignore[no-untyped-def]
    """Add the computed terms to the sums of groups and permutations."""
    reals, votes = totals.reals, totals.whole[VOTES]
    for i in range(size):
        g, b = chosen.group[i], chosen.permutation[i]
        into, one, other = reals[g, b], terms.first[i], terms.second[i]
        into[INSIDE] += terms.inside[i]
        into[ACROSS] += terms.across[i]
        into[DISTANT] += terms.apart[i]
        into[PLURALITY] += terms.plurality[i]
        into[OWN] += terms.own[i]
        into[CROSS] += terms.cross[i]
        into[WEIGHT] += terms.weight[i]
        into[RATED] += 1.0
        if terms.n[i] > 1 and terms.m[i] > 1:
            into[PAIRED_WEIGHT] += terms.weight[i]
            into[PAIRED] += 1.0
        if one >= 0:
            into[AGREED] += one == other
            votes[g, category[first + one], b] += 1
            votes[g, category[first + other], b] += 1
            if totals.whole.shape[0] > OTHERS_VOTES:
                totals.whole[OTHERS_VOTES, g, category[first + other], b] += 1


@borrowing
def _add_ranked(first, columns, how, local, totals, chosen):  # type: ignore[no-untyped-def]
    """Add disagreements with distances of ranks."""
    terms = chosen.terms
    for side in range(2):
        for label in range(columns.c.shape[0]):
            values, ranks = columns.values[label], totals.ranks[side]
            category = local.category[first + label]
            for i in range(columns.size):
                values[i] = ranks[chosen.group[i], category, chosen.permutation[i]]
        if side == 0:
            disagree_inside(0, columns, how, terms)
        else:
            disagree(0, columns, how, terms)
        for i in range(columns.size):
            into = totals.reals[chosen.group[i], chosen.permutation[i]]
            if side == 0:
                into[INSIDE] += terms.inside[i]
            else:
                into[ACROSS] += terms.across[i]
                into[DISTANT] += terms.apart[i]


@borrowing
def _expect(item, size, profiles, local, columns, counts, expected, chosen):  # type: ignore[no-untyped-def]
    """Add groups' expected numbers of the item's labels: their share of all labels by known raters."""
    first, repeated, ratio = local.label_ptr[item], columns.c.shape[0], chosen.terms.ratio
    for label in range(repeated):
        category, known = local.category[first + label], columns.known[label]
        for i in range(size):
            expected[chosen.group[i], category, chosen.permutation[i]] += ratio[i] * known[i]
    for label in range(first + repeated, local.label_ptr[item + 1]):
        category, giver = local.category[label], profiles[local.giver[label]]
        for i in range(size):
            g, b = chosen.group[i], chosen.permutation[i]
            unknown = counts.n[chosen.known_at[i]] > 0
            if not (unknown and local.belongs[giver[b], local.unknown_of[g]]):
                expected[g, category, b] += ratio[i]


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
        np.zeros((n_groups, batch, REALS)),
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
                out[b, g, 0], out[b, g, 1] = found[INSIDE], found[ACROSS]
                out[b, g, 2] = found[DISTANT]


@making
def _room(size, most, how, like):  # type: ignore[no-untyped-def]
    """Make arrays for `size` counts of `most` labels."""
    places = np.empty((4, size), dtype=np.int32)
    width = size + APART
    shape = (most, width)
    c, known = np.empty(shape, dtype=like.dtype), np.empty(shape, dtype=like.dtype)
    values = np.empty((0 if how.distances.level == NOMINAL else most, width))
    columns = Columns(c, known, np.empty((2, *shape), dtype=like.dtype), values, size)
    return Chosen(places[0], places[1], places[2], places[3], columns, room_for_terms(width, like))


@borrowing
def _go_through(profiles, how, local, counts, totals, chosen, passed, again):  # type: ignore[no-untyped-def]
    """Add up all items; with `again`, only the disagreements, with ranks."""
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
                            place, both = known + b, totals.whole[BOTH]
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
    """Fill the middle ranks of labels from the groups' sums."""
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
    """Turn the totals into the groups' sums."""
    own, whole = totals.own, totals.whole
    n_known = own.shape[0] - out.shape[1]
    for u in range(local.union.size):
        into, part = own[local.union[u]], own[local.part[u]]
        for k in range(own.shape[1]):
            for b in range(out.shape[0]):
                into[k, b] += part[k, b]
    for g in range(out.shape[1]):
        for b in range(out.shape[0]):
            for s in range(at.PER_COLUMN + at.N_SINGLE):
                out[b, g, s] = totals.reals[g, b, s]
        for k in range(own.shape[1]):
            of = at.PER_COLUMN + at.N_SINGLE + at.PER_CATEGORY * k
            for b in range(out.shape[0]):
                into, labels = out[b, g, of : of + at.PER_CATEGORY], own[n_known + g, k, b]
                both = whole[BOTH, g, k, b]
                if local.often_shared[g]:
                    both += local.category_total[k] - own[local.unknown_of[g], k, b]
                into[at.IN_PAIRS] = labels - whole[LONELY, g, k, b]
                into[at.IN_GROUP] = labels - whole[UNSHARED, g, k, b]
                into[at.IN_OTHERS] = both - into[at.IN_GROUP]
                into[at.VOTES] = whole[VOTES, g, k, b]
                if local.by_item:
                    into[at.MORE] = labels - totals.expected[g, k, b]
        if whole.shape[0] > OTHERS_VOTES:
            for b in range(out.shape[0]):
                others_votes = out[b, g, out.shape[2] - own.shape[1] :]
                for k in range(own.shape[1]):
                    others_votes[k] = whole[OTHERS_VOTES, g, k, b]
