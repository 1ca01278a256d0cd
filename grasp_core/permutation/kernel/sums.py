"""Sums that the kernels add up over items, and the statistics that are ratios of them.

Every statistic of docs/methods.md is a ratio of sums over items, so what disjoint sets of items give
is added before the ratios are taken. A group's sums are one row of float64; whole numbers in it are exact.

For C columns of disagreement (:class:`~grasp_core.permutation.kernel.arguments.Distances`) the row holds

- C times sum_i (n_i - 1)^-1 sum_(k,l) c_ik c_il w_kl, over items with n_i >= 2 (IRR),
- C times sum_i (n_i + m_i) / (n_i m_i) sum_(k,l) c_ik d_il w_kl, over shared items (XRR),
- sum_i max_k c_ik / n_i, sum_i (sum_k c_ik ln c_ik) / n_i - ln n_i, and the like with ln q_ik for the
  cross-negentropy,
- two whole numbers: items with a label of the group, and shared items on which both sides' pluralities agree,
- for each category four whole numbers: labels of the group on items with n_i >= 2, of the group and of the
  others on shared items, and votes of both sides' pluralities.
"""

from __future__ import annotations

import numba
import numpy as np

from grasp_core.permutation.kernel.arguments import NOMINAL, ORDINAL, RATIO, Distances, borrowing
from grasp_core.permutation.kernel.disagreement import ratio_distance

# Places of the sums behind the 2 C disagreements: the last real ones, then whole numbers.
PLURALITY, NEGENTROPY, CROSS, RATED, AGREED = range(5)
N_REAL, N_SINGLE = 3, 5
# Places among a category's sums.
IN_PAIRS, IN_GROUP, IN_OTHERS, VOTES = range(4)
PER_CATEGORY = 4


def n_sums(distances: Distances, n_categories: int) -> int:
    """Length of a row of sums."""
    return 2 * distances.n_columns + N_SINGLE + PER_CATEGORY * n_categories


@numba.njit(cache=True, nogil=True)
def take_ratios(sums, distances, out):  # type: ignore[no-untyped-def]  # compiled: types are numba's
    """Fill `out`, shape (rows, 8): D_o and D_e of IRR and of XRR, then the other four statistics.

    NaN where not estimable: then D_e is 0, or the statistic NaN.
    """
    columns = distances.n_columns
    n_categories = (sums.shape[1] - 2 * columns - N_SINGLE) // PER_CATEGORY
    of_one, of_other = np.empty(n_categories), np.empty(n_categories)
    values = distances.values.copy()
    out[:] = np.nan
    for row in range(sums.shape[0]):
        of = sums[row, 2 * columns + N_SINGLE :].reshape(n_categories, PER_CATEGORY)
        for side in range(2):
            of_one[:] = of[:, IN_PAIRS] if side == 0 else of[:, IN_GROUP]
            of_other[:] = of[:, IN_PAIRS] if side == 0 else of[:, IN_OTHERS]
            r, s = of_one.sum(), of_other.sum()
            if distances.level == ORDINAL:
                fill_ranks(of_one, of_other, side, values)
            apart = _observed(sums[row, side * columns : (side + 1) * columns], values, distances)
            expected = _expected(of_one, of_other, r, s, values, distances.level)
            if side == 0 and r > 1:
                out[row, 0] = apart / r
                out[row, 1] = expected / (r * (r - 1))
            if side == 1 and r > 0 and s > 0:
                out[row, 2] = apart / (r + s)
                out[row, 3] = expected / (r * s)
        _finish(sums[row, 2 * columns : 2 * columns + N_SINGLE], of[:, VOTES], out[row])


@borrowing
def fill_ranks(of_one, of_other, both, ranks):  # type: ignore[no-untyped-def]
    """Fill the middle ranks of categories among these labels, of one side or of `both`."""
    below = 0.0
    for k in range(ranks.size):
        here = of_one[k] + (of_other[k] if both else 0.0)
        ranks[k] = below + here / 2
        below += here


@borrowing
def _observed(columns, values, distances):  # type: ignore[no-untyped-def]
    """Disagreement of a side: its only column, or those of all pairs at the distances that are now known."""
    if distances.first.size == 0:
        return columns[0]
    apart = 0.0
    for p in range(columns.size):
        apart += (values[distances.second[p]] - values[distances.first[p]]) ** 2 * columns[p]
    return apart


@borrowing
def _expected(of_one, of_other, r, s, values, level):  # type: ignore[no-untyped-def]
    """sum_(k,l) x_k y_l w_kl for labels x of `r` in all and y of `s`; 0 where they are one same."""
    if level == NOMINAL:
        expected = 0.0
        for k in range(of_one.size):
            expected += of_one[k] * (s - of_other[k])
        return expected
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
    """The like where distances are ratios: pair by pair, of the labels there are."""
    expected = 0.0
    for k in range(values.size):
        if of_one[k] + of_other[k] > 0:
            for other in range(k + 1, values.size):
                pairs = of_one[k] * of_other[other] + of_one[other] * of_other[k]
                if pairs > 0:
                    expected += ratio_distance(values[k], values[other]) * pairs
    return expected


@borrowing
def _finish(single, votes_of, out):  # type: ignore[no-untyped-def]
    """Fill the statistics that are no disagreements."""
    log_k, votes, unequal = np.log(votes_of.size), 0.0, 0.0
    for k in range(votes_of.size):
        votes += votes_of[k]
    if single[RATED] > 0:
        out[4] = log_k + single[NEGENTROPY] / single[RATED]
        out[6] = single[PLURALITY] / single[RATED]
    shared = votes / 2
    if shared > 0:
        out[5] = log_k + single[CROSS] / shared
    for k in range(votes_of.size):
        unequal += votes_of[k] * (votes - votes_of[k])
    if unequal > 0:
        out[7] = 1.0 - (shared - single[AGREED]) / shared * votes * (votes - 1) / unequal
