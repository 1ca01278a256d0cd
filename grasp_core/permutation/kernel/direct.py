"""The way for any data: first counts of all groups, then the items' contributions to each group.

A permutation moves profiles between raters, so a row (a group, or the raters whose values are known) becomes
another set of raters; the annotations stay in place. For a block of items, c[k, i] is counted for every
row. The others' counts are d = c of the known raters - c of the group. Floating sums are added in a fixed
order, so that the same data give the same bits in any block of permutations and any process.
"""

import numpy as np

from grasp_core.permutation.jit import borrowing, compiled
from grasp_core.permutation.kernel import sums as at
from grasp_core.permutation.kernel.counting import count_block, fill_masks, permute
from grasp_core.permutation.kernel.disagreement import disagree
from grasp_core.permutation.kernel.item_terms import (
    Columns,
    of_category,
    repeat_values,
    room_for_terms,
    work_out,
)


@compiled(seconds=4, common=True)
def add_up(seed, start, order, bounds, counting, how, out):  # type: ignore[no-untyped-def]  # compiled: types are numba's
    """Fill `out`, shape (permutations, G, sums), for the permutations from `start` on.

    If there are no `bounds`, everybody keeps their own profile.
    """
    rows, ties = counting.rows, counting.ties
    n_blocks, _, n_categories, width = ties.shape
    n_rows = rows.n_known + rows.known_of.size
    words = np.empty(order.size + 3, dtype=np.uint64)
    shuffled_order, source = np.empty_like(order), np.empty_like(order)
    counts = np.empty((n_rows, n_categories, width), dtype=ties.dtype)
    terms = room_for_terms(width, ties.reshape(ties.size))
    values = repeat_values(how.distances, width)
    masks = np.zeros((n_rows, counting.bits.shape[2]), dtype=np.uint64)
    for b in range(out.shape[0]):
        permute(seed, np.uint64(start + b), order, bounds, words, shuffled_order, source)
        if counting.dense:
            fill_masks(source, rows, masks)
        out[b] = 0.0
        for block in range(n_blocks):
            count_block(source, masks, counting, block, counts)
            for g in range(rows.known_of.size):
                known = counts[rows.known_of[g]]
                columns = Columns(counts[rows.n_known + g], known, ties[block], values, width)
                _add_block(columns, how, terms, out[b, g])


@borrowing
def _add_block(columns, how, terms, sums):  # type: ignore[no-untyped-def]
    """Add a block of items to a group's sums."""
    n_columns = how.distances.n_columns
    work_out(columns, how, terms)
    for column in range(n_columns):
        disagree(column, columns, how, terms)
        sums[column] += _fold(terms.inside)
        sums[n_columns + column] += _fold(terms.across)
        sums[2 * n_columns + column] += _fold(terms.apart)
    single = sums[at.PER_COLUMN * n_columns :]
    single[at.PLURALITY] += _fold(terms.plurality)
    single[at.NEGENTROPY] += _fold(terms.own)
    single[at.CROSS] += _fold(terms.cross)
    n, m, first, second = terms.n, terms.m, terms.first, terms.second
    rated, agreed, paired = 0, 0, 0
    for i in range(n.size):
        rated += n[i] > 0
        agreed += (first[i] == second[i]) & (first[i] >= 0)
        paired += (n[i] > 1) & (m[i] > 1)
    single[at.RATED] += rated
    single[at.AGREED] += agreed
    single[at.PAIRED] += paired
    for i in range(n.size):
        terms.across[i] = terms.weight[i] if (n[i] > 1) & (m[i] > 1) else 0.0
    single[at.WEIGHT] += _fold(terms.weight)
    single[at.PAIRED_WEIGHT] += _fold(terms.across)
    n_categories = columns.c.shape[0]
    others_votes = single[at.N_SINGLE + at.PER_CATEGORY * n_categories :]
    of = single[at.N_SINGLE : single.size - others_votes.size].reshape(n_categories, at.PER_CATEGORY)
    for k in range(n_categories):
        _add_category(k, columns.c[k], columns.known[k], terms, of[k])
    for k in range(others_votes.size):
        votes = 0
        for i in range(n.size):
            votes += second[i] == k
        others_votes[k] += votes


@borrowing
def _add_category(k, c, known, terms, sums):  # type: ignore[no-untyped-def]
    """Add a block of items to the sums of a category."""
    n, first, second, ratio, more = terms.n, terms.first, terms.second, terms.ratio, terms.across
    in_pairs, in_group, in_others, votes = 0, 0, 0, 0
    for i in range(n.size):
        added = of_category(k, c[i], known[i], n[i], first[i], second[i])
        in_pairs += added.in_pairs
        in_group += added.in_group
        in_others += added.in_others
        votes += added.votes
    sums[at.IN_PAIRS] += in_pairs
    sums[at.IN_GROUP] += in_group
    sums[at.IN_OTHERS] += in_others
    sums[at.VOTES] += votes
    for i in range(n.size):
        more[i] = c[i] - ratio[i] * known[i]
    sums[at.MORE] += _fold(more)


@borrowing
def _fold(values):  # type: ignore[no-untyped-def]
    """Sum by repeated halving, a fixed order that vectorises; this overwrites `values`."""
    length = values.size
    while length > 1:
        half = (length + 1) // 2
        for i in range(length - half):
            values[i] += values[half + i]
        length = half
    return values[0]
