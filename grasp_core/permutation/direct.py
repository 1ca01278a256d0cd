"""Any data: counts of all groups first, then every statistic from them, item after item.

A permutation moves profiles between raters, so a row (a group, or the raters whose values are known) becomes
another set of raters; the annotations stay where they are. For a block of items c[k, i] is counted for every
row; the others' counts are d = c of the known raters - c of the group. Loops run over items, the contiguous
axis, and touch few arrays each, so that the compiler vectorises them; floating sums are folded in a fixed
order, so that the same data give the same bits in any block of permutations and any process.
"""

from __future__ import annotations

import numba
import numpy as np

from grasp_core.permutation import sums as at
from grasp_core.permutation.counting import count_dense, count_sparse, fill_masks, permute

# Scratch by item: an item's divisor 1 / n_i, disagreements inside and across, sums of logarithms.
_SHARE, _INSIDE, _ACROSS, _SIZE, _OWN, _OTHER = range(6)


@numba.njit(cache=True, nogil=True)
def add_up(seed, start, order, bounds, design, out):  # type: ignore[no-untyped-def]  # compiled: types are numba's
    """Fill `out`, shape (permutations, G, sums), for the permutations from `start` on."""
    words = np.empty(order.size + 3, dtype=np.uint64)
    shuffled_order = np.empty_like(order)
    source = np.empty_like(order)
    for b in range(out.shape[0]):
        permute(seed, np.uint64(start + b), order, bounds, words, shuffled_order, source)
        evaluate(source, design, out[b])


@numba.njit(cache=True, nogil=True)
def evaluate(source, design, out):  # type: ignore[no-untyped-def]
    """Fill `out`, shape (G, sums), for one assignment of profiles."""
    rows, dense, bits, labels_of, ties, shift, tables, paper, pairs, nominal = design
    n_blocks, _, n_categories, width = ties.shape
    _, _, n_known, known_of = rows
    n_rows = n_known + known_of.size
    counts = np.empty((n_rows, n_categories, width), dtype=ties.dtype)
    whole = np.empty((6, width), dtype=ties.dtype)
    parts = np.empty((6, width))
    masks = np.zeros((n_rows, bits.shape[2]), dtype=np.uint64)
    out[:] = 0.0
    if dense:
        fill_masks(source, rows, masks)
    for block in range(n_blocks):
        if dense:
            count_dense(masks, bits[block], counts)
        else:
            count_sparse(source, rows, labels_of, block * width, counts)
        for g in range(known_of.size):
            c, known = counts[n_known + g], counts[known_of[g]]
            _add_block(c, known, ties[block], shift, tables, paper, pairs, nominal, whole, parts, out[g])


@numba.njit(cache=True, nogil=True)
def _add_block(c, known, ties, shift, tables, paper, pairs, nominal, whole, parts, sums):  # type: ignore[no-untyped-def]
    """Add a block of items to a group's sums (METHODS sections 2 and 3)."""
    n, m, squares, products, best_x, best_y = whole[0], whole[1], whole[2], whole[3], whole[4], whole[5]
    columns = (sums.size - at.N_SINGLE - at.PER_CATEGORY * c.shape[0]) // 2
    single, of = sums[2 * columns : 2 * columns + at.N_SINGLE], sums[2 * columns + at.N_SINGLE :]
    _count_items(c, known, n, m, squares, products)
    _vote(c, known, ties, 2 * shift, best_x, best_y)
    _sum_logs(c, known, tables, parts[_OWN], parts[_OTHER])
    _weigh(n, m, best_x, 2 * shift, tables, parts)
    if paper:
        _drop_undefined(c, known, parts[_OTHER])
    for column in range(columns):
        if nominal:
            _disagree(n, m, squares, products, parts)
        else:
            _disagree_by(column, c, known, n, m, pairs, parts)
        sums[column] += _fold(parts[_INSIDE])
        sums[columns + column] += _fold(parts[_ACROSS])
    single[at.PLURALITY] += _fold(parts[_SIZE])
    single[at.NEGENTROPY] += _fold(parts[_OWN])
    single[at.CROSS] += _fold(parts[_OTHER])
    _add_totals(n, m, best_x, best_y, (1 << shift) - 1, single)
    _add_marginals(c, known, n, m, best_x, best_y, (1 << shift) - 1, of.reshape(c.shape[0], at.PER_CATEGORY))


@numba.njit(cache=True, nogil=True)
def _count_items(c, known, n, m, squares, products):  # type: ignore[no-untyped-def]
    """n_i, m_i, sum_k c_ik^2 and sum_k c_ik d_ik."""
    n[:] = 0
    m[:] = 0
    squares[:] = 0
    products[:] = 0
    for k in range(c.shape[0]):
        x, both = c[k], known[k]
        for i in range(n.size):
            n[i] += x[i]
            m[i] += both[i] - x[i]
        for i in range(n.size):
            squares[i] += x[i] * x[i]
            products[i] += x[i] * (both[i] - x[i])


@numba.njit(cache=True, nogil=True)
def _vote(c, known, ties, shift, best_x, best_y):  # type: ignore[no-untyped-def]
    """Each side's plurality as (count, rank among ties, category) packed into one integer."""
    best_x[:] = 0
    best_y[:] = 0
    for k in range(c.shape[0]):
        x, both, tie_x, tie_y = c[k], known[k], ties[0, k], ties[1, k]
        for i in range(best_x.size):
            best_x[i] = max(best_x[i], tie_x.dtype.type((x[i] << shift) | tie_x[i]))
        for i in range(best_x.size):
            best_y[i] = max(best_y[i], tie_y.dtype.type(((both[i] - x[i]) << shift) | tie_y[i]))


@numba.njit(cache=True, nogil=True)
def _sum_logs(c, known, tables, own, cross):  # type: ignore[no-untyped-def]
    """sum_k c ln c and sum_k c ln q, the latter without q's denominator."""
    own[:] = 0.0
    cross[:] = 0.0
    for k in range(c.shape[0]):
        x, both = c[k], known[k]
        for i in range(own.size):
            own[i] += tables.xlogx[np.uint64(x[i])]
        for i in range(own.size):
            cross[i] += x[i] * tables.log_q[np.uint64(both[i] - x[i])]


@numba.njit(cache=True, nogil=True)
def _weigh(n, m, best_x, shift, tables, parts):  # type: ignore[no-untyped-def]
    """From counts and sums of logarithms to what each item contributes; 0 where a side has no label."""
    share, size, own, cross = parts[_SHARE], parts[_SIZE], parts[_OWN], parts[_OTHER]
    for i in range(n.size):
        share[i] = 1.0 / max(np.float64(n[i]), 1.0)
    for i in range(n.size):
        size[i] = (best_x[i] >> shift) * share[i]
        own[i] = own[i] * share[i] - tables.log[np.uint64(n[i])]
    for i in range(n.size):
        shared = np.float64((n[i] > 0) & (m[i] > 0))
        cross[i] = shared * (cross[i] * share[i] - tables.log_m[np.uint64(m[i])])


@numba.njit(cache=True, nogil=True)
def _disagree(n, m, squares, products, parts):  # type: ignore[no-untyped-def]
    """Disagreement inside the group and across, where all unequal labels are equally far apart."""
    share, inside, across = parts[_SHARE], parts[_INSIDE], parts[_ACROSS]
    for i in range(n.size):
        x = np.float64(n[i])
        inside[i] = (x * x - squares[i]) / max(x - 1.0, 1.0)
    for i in range(n.size):
        x, y = np.float64(n[i]), np.float64(m[i])
        across[i] = (x + y) * (x * y - products[i]) * share[i] / max(y, 1.0)


@numba.njit(cache=True, nogil=True)
def _disagree_by(column, c, known, n, m, pairs, parts):  # type: ignore[no-untyped-def]
    """The same with a weight for each pair of categories."""
    share, inside, across = parts[_SHARE], parts[_INSIDE], parts[_ACROSS]
    inside[:] = 0.0
    across[:] = 0.0
    for p in range(pairs[0].size):
        if pairs[0][p] == column:
            weight = pairs[3][p]
            x, y, all_x, all_y = c[pairs[1][p]], c[pairs[2][p]], known[pairs[1][p]], known[pairs[2][p]]
            for i in range(n.size):
                inside[i] += weight * (x[i] * y[i])
                across[i] += weight * (x[i] * (all_y[i] - y[i]) + y[i] * (all_x[i] - x[i]))
    for i in range(n.size):
        inside[i] *= 2.0 / max(np.float64(n[i]) - 1.0, 1.0)
        across[i] *= np.float64(n[i] + m[i]) * share[i] / max(np.float64(m[i]), 1.0)


@numba.njit(cache=True, nogil=True)
def _drop_undefined(c, known, cross):  # type: ignore[no-untyped-def]
    """The paper's convention: an item adds nothing where the group gave a label that no other rater gave."""
    for k in range(c.shape[0]):
        for i in range(cross.size):
            if c[k, i] > 0 and known[k, i] == c[k, i]:
                cross[i] = 0.0


@numba.njit(cache=True, nogil=True)
def _fold(values):  # type: ignore[no-untyped-def]
    """Sum by repeated halving: a fixed order that vectorises. Overwrites `values`."""
    length = values.size
    while length > 1:
        half = (length + 1) // 2
        for i in range(length - half):
            values[i] += values[half + i]
        length = half
    return values[0]


@numba.njit(cache=True, nogil=True)
def _add_totals(n, m, best_x, best_y, category, single):  # type: ignore[no-untyped-def]
    """Whole numbers of the group; `category` masks the category in what :func:`_vote` packed."""
    paired, rated, shared, group_shared, others_shared, agreed = 0, 0, 0, 0, 0, 0
    for i in range(n.size):
        paired += n[i] * (n[i] > 1)
        rated += n[i] > 0
    for i in range(n.size):
        both = (n[i] > 0) & (m[i] > 0)
        shared += both
        group_shared += n[i] * both
        others_shared += m[i] * both
        agreed += both & (((best_x[i] ^ best_y[i]) & category) == 0)
    single[at.PAIRED] += paired
    single[at.RATED] += rated
    single[at.SHARED] += shared
    single[at.GROUP_SHARED] += group_shared
    single[at.OTHERS_SHARED] += others_shared
    single[at.AGREED] += agreed


@numba.njit(cache=True, nogil=True)
def _add_marginals(c, known, n, m, best_x, best_y, category, of):  # type: ignore[no-untyped-def]
    """Whole numbers of each category."""
    for k in range(c.shape[0]):
        x, whole = c[k], known[k]
        paired, group_shared, others_shared, votes = 0, 0, 0, 0
        for i in range(n.size):
            both = (n[i] > 0) & (m[i] > 0)
            paired += x[i] * (n[i] > 1)
            group_shared += x[i] * both
            others_shared += (whole[i] - x[i]) * both
        for i in range(n.size):
            both = (n[i] > 0) & (m[i] > 0)
            votes += both & ((best_x[i] & category) == k)
            votes += both & ((best_y[i] & category) == k)
        of[k, at.IN_PAIRS] += paired
        of[k, at.IN_GROUP] += group_shared
        of[k, at.IN_OTHERS] += others_shared
        of[k, at.VOTES] += votes
