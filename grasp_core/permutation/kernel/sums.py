"""Sums that the kernels add up over items, and the statistics that are ratios of them.

Every statistic of docs/methods.md is a ratio of sums over items, so sums of disjoint sets of items are added
before the ratios are taken. A group's sums are one row of float64; whole numbers in it are exact.

For C columns of disagreement (:class:`~grasp_core.permutation.kernel.arguments.Distances`) the row contains

- C times sum_i (n_i - 1)^-1 sum_(k,l) c_ik c_il w_kl, over items with n_i >= 2 (IRR),
- C times sum_i (n_i + m_i) / (n_i m_i) sum_(k,l) c_ik d_il w_kl, over shared items (XRR),
- C times sum_i n_i m_i / (n_i + m_i) (2 Dx_i - Din_i - Dout_i), over items with n_i, m_i >= 2 (distance),
- sum_i max_k c_ik / n_i, sum_i (sum_k c_ik ln c_ik) / n_i - ln n_i, and the same sum with ln q_ik for the
  cross-negentropy,
- sum_i n_i m_i / (n_i + m_i), over all items, and over items with n_i, m_i >= 2,
- three whole numbers: items with a label of the group, shared items on which both sides' pluralities agree,
  and items with n_i, m_i >= 2,
- for each category four whole numbers: labels of the group on items with n_i >= 2, of the group and of the
  others on shared items, and votes of both sides' pluralities,
- for each category also sum_i c_ik - n_i (c_ik + d_ik) / (n_i + m_i): the group's labels of the category
  beyond the number expected if it used the category as all raters do on these items,
- after all categories, only if voting agreement has the form of kappa, for each category a whole number:
  votes of the others' pluralities.
"""

import numpy as np

from grasp_core.permutation.jit import borrowing, compiled, whole_sums
from grasp_core.permutation.kernel.arguments import NOMINAL, ORDINAL, RATIO, Distances
from grasp_core.permutation.kernel.disagreement import ratio_distance
from grasp_core.statistics.items import ENOUGH_PAIRS

# Positions of the sums after the 3 C disagreements: the other real sums, then whole numbers.
PLURALITY, NEGENTROPY, CROSS, WEIGHT, PAIRED_WEIGHT, RATED, AGREED, PAIRED = range(8)
N_REAL, N_SINGLE = 5, 8
PER_COLUMN = 3
"""Sums per column of disagreement: inside, across, and the distance between both sides."""
# Positions among a category's sums: whole numbers, then a real one.
IN_PAIRS, IN_GROUP, IN_OTHERS, VOTES, MORE = range(5)
N_WHOLE, PER_CATEGORY = 4, 5
# Positions of the components made from a row of sums; after them come the categories.
DISTANCE, SHARES_DISTANCE, ENOUGH_PAIRED, MEAN = range(8, 12)
N_TAKEN = 12


def n_sums(distances: Distances, n_categories: int, *, kappa: bool) -> int:
    """Return the length of a row of sums."""
    per_category = PER_CATEGORY + (1 if kappa else 0)
    return PER_COLUMN * distances.n_columns + N_SINGLE + per_category * n_categories


@compiled(seconds=2, common=True)
def take_ratios(sums, distances, out):  # type: ignore[no-untyped-def]  # compiled: types are numba's
    """Fill `out`, shape (rows, 12 + K or 12), with the components of the statistics.

    These are D_o and D_e of IRR and of XRR, the four statistics that are no disagreements, the distance, the
    distance of the shares of labels, 1 if enough items have pairs (otherwise 0), the shift of the mean, and
    how much more often the group gives each category. Not estimable is a component of NaN, or a D_e of 0.
    """
    columns, n_categories = distances.n_columns, distances.values.size
    of_one, of_other = np.empty(n_categories), np.empty(n_categories)
    votes, more = np.empty(n_categories), np.empty(n_categories)
    values = distances.values.copy()
    for row in range(sums.shape[0]):
        of, single = sums[row, PER_COLUMN * columns + N_SINGLE :], sums[row, PER_COLUMN * columns :]
        for place in range(out.shape[1]):
            out[row, place] = np.nan
        for side in range(2):
            one, other = (IN_PAIRS, IN_PAIRS) if side == 0 else (IN_GROUP, IN_OTHERS)
            for k in range(n_categories):
                of_one[k], of_other[k] = of[PER_CATEGORY * k + one], of[PER_CATEGORY * k + other]
            r, s = _total(of_one), _total(of_other)
            if distances.level == ORDINAL:
                _fill_ranks(of_one, of_other, side > 0, values)
            apart = _observed(sums[row, side * columns :], columns, values, distances)
            expected = _expected(of_one, of_other, r, s, values, distances.level)
            if side == 0 and r > 1:
                out[row, 0] = apart / r
                out[row, 1] = expected / (r * (r - 1))
            if side == 1 and r > 0 and s > 0:
                out[row, 2] = apart / (r + s)
                out[row, 3] = expected / (r * s)
        for k in range(n_categories):
            votes[k] = of[PER_CATEGORY * k + VOTES]
        _finish(single, votes, of[PER_CATEGORY * n_categories :], out[row])
        total = max(r + s, 1.0) if distances.level == ORDINAL else 1.0
        if distances.level == ORDINAL:  # middle ranks from 0 to 1
            for k in range(n_categories):
                values[k] /= total
        if single[WEIGHT] > 0:
            for k in range(n_categories):
                more[k] = of[PER_CATEGORY * k + MORE] / single[WEIGHT]
            for k in range(out.shape[1] - N_TAKEN):
                out[row, N_TAKEN + k] = more[k]
            _compare(more, values, distances.level, out[row])
            enough = single[PAIRED] >= ENOUGH_PAIRS or 4 * single[PAIRED] >= _total(votes)
            out[row, ENOUGH_PAIRED] = 1.0 if enough else 0.0
        if single[PAIRED_WEIGHT] > 0:
            apart = _observed(sums[row, 2 * columns :], columns, values, distances)
            if distances.first.size == 0:  # these sums used ranks that are not scaled
                apart /= total * total
            out[row, DISTANCE] = apart / single[PAIRED_WEIGHT]


@whole_sums
def _total(whole):  # type: ignore[no-untyped-def]
    total = 0.0
    for k in range(whole.size):
        total += whole[k]
    return total


@whole_sums
def _products(whole, other):  # type: ignore[no-untyped-def]
    total = 0.0
    for k in range(whole.size):
        total += whole[k] * other[k]
    return total


@borrowing
def _compare(more, values, level, out):  # type: ignore[no-untyped-def]
    """Fill the shift of the mean and the distance of the shares of labels, -sum_(k,l) D_k D_l w_kl."""
    if level == NOMINAL:
        squares = 0.0
        for k in range(more.size):
            squares += more[k] * more[k]
        out[SHARES_DISTANCE] = squares
        return
    mean = 0.0
    for k in range(more.size):
        mean += more[k] * values[k]
    out[MEAN] = mean
    if level != RATIO:
        out[SHARES_DISTANCE] = 2.0 * mean * mean
        return
    apart = 0.0
    for k in range(more.size):
        for other in range(k + 1, more.size):
            apart -= 2.0 * more[k] * more[other] * ratio_distance(values[k], values[other])
    out[SHARES_DISTANCE] = apart


@borrowing
def _fill_ranks(of_one, of_other, both, ranks):  # type: ignore[no-untyped-def]
    """Fill the middle ranks of categories among these labels, from one side or from `both`."""
    below = 0.0
    for k in range(ranks.size):
        here = of_one[k] + (of_other[k] if both else 0.0)
        ranks[k] = below + here / 2
        below += here


@borrowing
def _observed(of_side, columns, values, distances):  # type: ignore[no-untyped-def]
    """Return a side's disagreement: its only column, or all pairs' columns with the distances now known."""
    if distances.first.size == 0:
        return of_side[0]
    apart = 0.0
    for p in range(columns):
        apart += (values[distances.second[p]] - values[distances.first[p]]) ** 2 * of_side[p]
    return apart


@borrowing
def _expected(of_one, of_other, r, s, values, level):  # type: ignore[no-untyped-def]
    """Return sum_(k,l) x_k y_l w_kl for labels x, `r` in all, and y, `s` in all; 0 if all are equal."""
    if level == NOMINAL:
        return r * s - _products(of_one, of_other)
    if level == RATIO:
        return _expected_ratio(of_one, of_other, values)
    labels, mean, mean_other = 0, 0.0, 0.0
    for k in range(of_one.size):
        labels += of_one[k] + of_other[k] > 0
        mean += of_one[k] * values[k]
        mean_other += of_other[k] * values[k]
    if labels < 2 or r == 0 or s == 0:
        return 0.0
    mean, mean_other, spread, spread_other = mean / r, mean_other / s, 0.0, 0.0
    for k in range(of_one.size):
        spread += of_one[k] * (values[k] - mean) ** 2
        spread_other += of_other[k] * (values[k] - mean_other) ** 2
    return s * spread + r * spread_other + r * s * (mean - mean_other) ** 2


@borrowing
def _expected_ratio(of_one, of_other, values):  # type: ignore[no-untyped-def]
    """Return the same sum for ratio distances, pair by pair of the labels that occur."""
    expected = 0.0
    for k in range(values.size):
        if of_one[k] + of_other[k] > 0:
            for other in range(k + 1, values.size):
                pairs = of_one[k] * of_other[other] + of_one[other] * of_other[k]
                if pairs > 0:
                    expected += ratio_distance(values[k], values[other]) * pairs
    return expected


@borrowing
def _finish(single, votes_of, others_of, out):  # type: ignore[no-untyped-def]
    """Fill the statistics that are no disagreements; `others_of`, votes of the others, may be empty."""
    log_k, votes = np.log(votes_of.size), _total(votes_of)
    if single[RATED] > 0:
        out[4] = log_k + single[NEGENTROPY] / single[RATED]
        out[6] = single[PLURALITY] / single[RATED]
    shared = votes / 2
    if shared > 0:
        out[5] = log_k + single[CROSS] / shared
    if others_of.size > 0:
        unequal = shared * shared - _products(votes_of, others_of) + _products(others_of, others_of)
        if unequal > 0:
            out[7] = 1.0 - (shared - single[AGREED]) * shared / unequal
        return
    unequal = votes * votes - _products(votes_of, votes_of)
    if unequal > 0:
        out[7] = 1.0 - (shared - single[AGREED]) / shared * votes * (votes - 1) / unequal
