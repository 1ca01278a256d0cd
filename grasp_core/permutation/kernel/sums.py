"""Sums that the kernels add up over items, and the statistics that are ratios of them.

Every statistic of docs/methods.md is a ratio of sums over items, so what disjoint sets of items give
is added before the ratios are taken. A group's sums are one row of float64; whole numbers in it are exact.

For C columns of disagreement (:class:`~grasp_core.permutation.kernel.arguments.Pairs`) the row holds

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

from grasp_core.permutation.kernel.arguments import Pairs

# Places of the sums behind the 2 C disagreements: the last real ones, then whole numbers.
PLURALITY, NEGENTROPY, CROSS, RATED, AGREED = range(5)
N_REAL, N_SINGLE = 3, 5
# Places among a category's sums.
IN_PAIRS, IN_GROUP, IN_OTHERS, VOTES = range(4)
PER_CATEGORY = 4


def n_sums(pairs: Pairs, n_categories: int) -> int:
    """Length of a row of sums."""
    return 2 * pairs.n_columns + N_SINGLE + PER_CATEGORY * n_categories


@numba.njit(cache=True, nogil=True)
def take_ratios(sums, pairs, ordinal, out):  # type: ignore[no-untyped-def]  # compiled: types are numba's
    """Fill `out`, shape (rows, 8): D_o and D_e of IRR and of XRR, then the other four statistics.

    NaN where not estimable: then D_e is 0, or the statistic NaN.
    """
    columns = pairs.n_columns
    n_categories = (sums.shape[1] - 2 * columns - N_SINGLE) // PER_CATEGORY
    log_k = np.log(n_categories)
    ranks = np.empty(n_categories)
    out[:] = np.nan
    for row in range(sums.shape[0]):
        single = sums[row, 2 * columns : 2 * columns + N_SINGLE]
        of = sums[row, 2 * columns + N_SINGLE :].reshape(n_categories, PER_CATEGORY)
        total, r, s, votes = 0.0, 0.0, 0.0, 0.0
        for k in range(n_categories):
            total += of[k, IN_PAIRS]
            r += of[k, IN_GROUP]
            s += of[k, IN_OTHERS]
            votes += of[k, VOTES]
        for side in range(2):
            if ordinal:
                below = 0.0
                for k in range(n_categories):
                    here = of[k, IN_PAIRS] if side == 0 else of[k, IN_GROUP] + of[k, IN_OTHERS]
                    ranks[k] = below + here / 2
                    below += here
            apart, expected = 0.0, 0.0
            for p in range(pairs.weight.size):
                k, other, distance = pairs.first[p], pairs.second[p], pairs.weight[p]
                if ordinal:
                    distance = (ranks[other] - ranks[k]) ** 2
                    apart += distance * sums[row, side * columns + p]
                if side == 0:
                    expected += 2 * distance * of[k, IN_PAIRS] * of[other, IN_PAIRS]
                else:
                    expected += distance * (
                        of[k, IN_GROUP] * of[other, IN_OTHERS] + of[other, IN_GROUP] * of[k, IN_OTHERS]
                    )
            if not ordinal:
                apart = sums[row, side * columns]
            if side == 0 and total > 1:
                out[row, 0] = apart / total
                out[row, 1] = expected / (total * (total - 1))
            if side == 1 and r > 0 and s > 0:
                out[row, 2] = apart / (r + s)
                out[row, 3] = expected / (r * s)
        if single[RATED] > 0:
            out[row, 4] = log_k + single[NEGENTROPY] / single[RATED]
            out[row, 6] = single[PLURALITY] / single[RATED]
        shared, unequal = votes / 2, 0.0
        if shared > 0:
            out[row, 5] = log_k + single[CROSS] / shared
        for k in range(n_categories):
            unequal += of[k, VOTES] * (votes - of[k, VOTES])
        if unequal > 0:
            out[row, 7] = 1.0 - (shared - single[AGREED]) / shared * votes * (votes - 1) / unequal
