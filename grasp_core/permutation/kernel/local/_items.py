"""What one item adds, by the labels it has, worked out for many counts at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from grasp_core.model.annotations import FloatArray, Int32Array
from grasp_core.permutation.jit import borrowing
from grasp_core.permutation.kernel.arguments import ORDINAL
from grasp_core.permutation.kernel.disagreement import disagree, disagree_inside
from grasp_core.permutation.kernel.item_terms import Columns, Terms, add_labels, conclude

# A group's real sums under one permutation, side by side.
INSIDE, ACROSS, APART, PLURALITY, OWN, CROSS, WEIGHT, PAIRED_WEIGHT, RATED, AGREED, PAIRED = range(11)
REALS = 12
# Whole sums of a group by label: of items with one label of the group, of those that the others did not rate,
# of all whose values are known on shared items (or, where most are shared, less on the others), votes, and
# for kappa those of the others.
LONELY, UNSHARED, BOTH, VOTES, OTHERS_VOTES = range(5)


class Totals(NamedTuple):
    """Sums over items under a batch of permutations.

    `own`: labels of each row.
    `ranks`: middle ranks of labels inside and across; without categories where they are not needed.
    `expected`: how often labels are expected of the group; without categories where raters say it by
        themselves.
    """

    reals: FloatArray
    own: Int32Array
    whole: Int32Array
    ranks: FloatArray
    expected: FloatArray


class Chosen(NamedTuple):
    """Counts that are worked out at once: which group and permutation they belong to, and what they are.

    `at`, `known_at`: places in :class:`~grasp_core.permutation.kernel.local.layout.Counts` of the group, and
        of those whose values are not known.
    """

    group: Int32Array
    permutation: Int32Array
    at: Int32Array
    known_at: Int32Array
    columns: Columns
    terms: Terms


@borrowing
def add_known(item, g, place, sign, profiles, b, local, counts, whole):  # type: ignore[no-untyped-def]
    """Add (or subtract) the item's labels, of all whose values are known, for a group and permutation."""
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
    """Work out what these counts add, and add it."""
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
    """Add the labels that one rater gave: those of the group to its sums, and to both sides' votes."""
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
    """Note what differs from all labels of a group: see :class:`Totals`."""
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
    """Add what has been worked out to the sums of groups and permutations."""
    reals, votes = totals.reals, totals.whole[VOTES]
    for i in range(size):
        g, b = chosen.group[i], chosen.permutation[i]
        into, one, other = reals[g, b], terms.first[i], terms.second[i]
        into[INSIDE] += terms.inside[i]
        into[ACROSS] += terms.across[i]
        into[APART] += terms.apart[i]
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
    """Add disagreements whose distances are those of ranks."""
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
                into[APART] += terms.apart[i]


@borrowing
def _expect(item, size, profiles, local, columns, counts, expected, chosen):  # type: ignore[no-untyped-def]
    """Add how often the item's labels are expected of the groups: as of all whose values are known."""
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
