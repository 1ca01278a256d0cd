"""Sums over items of data whose labels are digits of numbers, and the groups' sums that they become."""

from __future__ import annotations

from typing import NamedTuple

from grasp_core.model.annotations import FloatArray, Int32Array
from grasp_core.permutation.jit import borrowing, inlined
from grasp_core.permutation.kernel import sums as at

# Real and whole sums of a group, and what is rare: see `Totals`.
INSIDE, ACROSS, DISTANT, PLURALITY, OWN, CROSS, WEIGHT, PAIRED_WEIGHT = range(8)
RATED, AGREED, PAIRED = range(3)
LONELY, UNSHARED, APART_FROM = range(3)


class Totals(NamedTuple):
    """Sums over items under a batch of permutations, which lie side by side.

    `votes`, `others_votes`: of both sides' pluralities, and for kappa of the others', by group and category;
        the last category takes what is no vote.
    `rare`: labels of items with one label of the group; of those that the others did not rate; and of all
        whose values are known on items that one side did not rate.
    `unknown`: labels of those whose values are not known.
    `expected`: how often labels are expected of the group; without categories where raters say it by
        themselves.
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
    """Add what has been worked out to the sums of groups and permutations."""
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
    """From what was added up to the groups' sums."""
    batch, k = out.shape[0], local.category_total.size
    for g in range(out.shape[1]):
        votes = totals.votes[g * (k + 1) * batch : (g + 1) * (k + 1) * batch].reshape(k + 1, batch)
        for b in range(batch):
            reals, whole, into = totals.reals[:, g * batch + b], totals.whole[:, g * batch + b], out[b, g]
            into[0], into[1], into[2] = reals[INSIDE], reals[ACROSS], reals[DISTANT]
            single = into[at.PER_COLUMN :]
            single[at.PLURALITY], single[at.NEGENTROPY] = reals[PLURALITY], reals[OWN]
            single[at.CROSS], single[at.WEIGHT] = reals[CROSS], reals[WEIGHT]
            single[at.PAIRED_WEIGHT], single[at.PAIRED] = reals[PAIRED_WEIGHT], whole[PAIRED]
            single[at.RATED], single[at.AGREED] = whole[RATED], whole[AGREED]
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
