"""Rows of the tables of sparse data: what an item adds, made for many counts at once, and taken out again."""

from __future__ import annotations

import numpy as np

from grasp_core.permutation.jit import inlined
from grasp_core.permutation.kernel import sums as at
from grasp_core.permutation.kernel.disagreement import disagree_at_once
from grasp_core.permutation.kernel.item_terms import Columns, add_labels, conclude, repeat_item

FIELD_BITS = 13
"""Four whole numbers below 2^13 are exact in one float64; sums are taken over before they pass it."""
_UNITS = tuple(2.0 ** (FIELD_BITS * place) for place in range(4))
# A row of a table has the real sums; where somebody's values are not known, how often the item's labels are
# expected of the group, by category; and then whole numbers: first whether the group rated the item, whether
# both sides' pluralities agree and whether several of the group shared the item, then by category what `sums`
# holds of each. For kappa the others' votes follow, by category.


@inlined
def bits_for(total):  # type: ignore[no-untyped-def]
    """Bits that hold counts up to `total`."""
    bits = np.int64(0)
    while total >> bits:
        bits += 1
    return bits


@inlined
def packed_at(n_columns, n_categories, unknown):  # type: ignore[no-untyped-def]
    """Place of the first whole numbers in a table's row."""
    return at.PER_COLUMN * n_columns + at.N_REAL + (n_categories if unknown else 0)


@inlined
def enter(new, unknown, table, totals, ties, how, counts, terms, made):  # type: ignore[no-untyped-def]
    """Make new rows: what the item adds where the group gave it the counts that a number stands for."""
    n_columns, n_categories = how.distances.n_columns, totals.size
    single, packed = at.PER_COLUMN * n_columns, packed_at(n_columns, n_categories, unknown)
    columns = Columns(counts.c, counts.known, counts.ties, counts.values, new.size)
    repeat_item(columns, totals, ties)
    _decode(new, unknown, totals, columns)
    add_labels(columns, how, terms)
    conclude(columns, how, terms)
    for column in range(n_columns):
        disagree_at_once(column, columns, how, terms)
        _copy(terms.inside, made[column], columns.size)
        _copy(terms.across, made[n_columns + column], columns.size)
        _copy(terms.apart, made[2 * n_columns + column], columns.size)
    _copy(terms.plurality, made[single + at.PLURALITY], columns.size)
    _copy(terms.own, made[single + at.NEGENTROPY], columns.size)
    _copy(terms.cross, made[single + at.CROSS], columns.size)
    _copy(terms.weight, made[single + at.WEIGHT], columns.size)
    paired = made[single + at.PAIRED_WEIGHT]
    for i in range(columns.size):
        paired[i] = terms.weight[i] if (terms.n[i] > 1) & (terms.m[i] > 1) else 0.0
    if unknown:
        for k in range(n_categories):
            more = made[single + at.N_REAL + k]
            for i in range(columns.size):
                more[i] = columns.c[k, i] - terms.ratio[i] * columns.known[k, i]
    _pack(columns, terms, made[packed : packed + 1 + n_categories])
    for i in range(columns.size):
        row = table[i]
        for s in range(packed + 1 + n_categories):
            row[s] = made[s, i]
        if terms.first[i] >= 0:
            row[packed + 1 + terms.first[i]] += _UNITS[at.VOTES]
            row[packed + 1 + terms.second[i]] += _UNITS[at.VOTES]
        if how.kappa:
            others_votes = row[packed + 1 + n_categories :]
            for k in range(n_categories):
                others_votes[k] = terms.second[i] == k


@inlined
def _copy(values, into, size):  # type: ignore[no-untyped-def]
    for i in range(size):
        into[i] = values[i]


@inlined
def _pack(columns, terms, packed):  # type: ignore[no-untyped-def]
    """Fill whole numbers, but for votes."""
    n, m, first, second, once = terms.n, terms.m, terms.first, terms.second, packed[0]
    for k in range(columns.c.shape[0]):
        c, known, into = columns.c[k], columns.known[k], packed[1 + k]
        for i in range(columns.size):
            others = _UNITS[at.IN_OTHERS] * (first[i] >= 0)
            own = _UNITS[at.IN_PAIRS] * (n[i] > 1) + _UNITS[at.IN_GROUP] * (first[i] >= 0) - others
            into[i] = own * c[i] + others * known[i]
    for i in range(columns.size):
        once[i] = (n[i] > 0) + _UNITS[1] * ((first[i] == second[i]) & (first[i] >= 0))
    for i in range(columns.size):
        once[i] += _UNITS[2] * ((n[i] > 1) & (m[i] > 1))


@inlined
def _decode(new, unknown, totals, columns):  # type: ignore[no-untyped-def]
    """Fill `c` with the counts that numbers stand for, and take those of `unknown` raters from the totals."""
    place = np.uint64(0)
    for k in range(totals.size):
        bits = np.uint64(bits_for(totals[k]))
        mask, c = (np.uint64(1) << bits) - np.uint64(1), columns.c[k]
        for i in range(new.size):
            c[i] = (new[i] >> place) & mask
        place += bits
    if unknown:
        for k in range(totals.size):
            bits = np.uint64(bits_for(totals[k]))
            mask, known = (np.uint64(1) << bits) - np.uint64(1), columns.known[k]
            for i in range(new.size):
                known[i] -= (new[i] >> place) & mask
            place += bits


@inlined
def unpack(found, columns, n_categories, sparse, out):  # type: ignore[no-untyped-def]
    """Take what was found so far over into the groups' sums."""
    unknown = sparse.unknown
    single = at.PER_COLUMN * columns
    n_real, start = single + at.N_REAL, packed_at(columns, n_categories, unknown)
    of = single + at.N_SINGLE
    mask = (np.int64(1) << FIELD_BITS) - 1
    for g in range(found.shape[0]):
        for b in range(found.shape[1]):
            row, sums = found[g, b], out[b, sparse.order[g]]
            for s in range(n_real):
                sums[s] += row[s]
            packed = np.int64(row[start])
            sums[single + at.RATED] += packed & mask
            sums[single + at.AGREED] += packed >> FIELD_BITS & mask
            sums[single + at.PAIRED] += packed >> (2 * FIELD_BITS)
            for k in range(n_categories):
                if unknown:
                    sums[of + at.PER_CATEGORY * k + at.MORE] += row[n_real + k]
                packed = np.int64(row[start + 1 + k])
                for sort in range(at.N_WHOLE):
                    sums[of + at.PER_CATEGORY * k + sort] += packed >> (FIELD_BITS * sort) & mask
            others_votes = sums[of + at.PER_CATEGORY * n_categories :]
            for k in range(others_votes.size):
                others_votes[k] += row[start + 1 + n_categories + k]
            for s in range(row.size):
                row[s] = 0.0
