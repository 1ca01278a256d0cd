"""An item's disagreement within a group and across, at each level of measurement.

Columns are those of :mod:`~grasp_core.permutation.kernel.item_terms`. Where all unequal labels are equally
far apart, and where distances are squared differences of numbers, pairs of labels need not be gone through:
the latter add up to spreads around means, sum_(k,l) c_k c_l (v_k - v_l)^2 = 2 n sum_k c_k (v_k - mean)^2,
in which no large numbers cancel.
"""

from __future__ import annotations

import numpy as np

from grasp_core.permutation.kernel.arguments import NOMINAL, RATIO, inlined


@inlined
def disagree_inside(column, columns, how, terms):  # type: ignore[no-untyped-def]  # compiled: types are numba's
    """Fill ``terms.inside`` for a column of disagreement; the terms' other fields are filled."""
    distances = how.distances
    if distances.level == NOMINAL:
        _differ_inside(columns.size, terms.n, terms.squares, terms.inside)
        return
    if distances.level != RATIO and distances.first.size == 0:
        _spread(columns, False, terms.n, terms.mean, terms.spread)
        _spread_inside(columns.size, terms.n, terms.spread, terms.inside)
        return
    terms.inside[: columns.size] = 0.0
    if distances.level == RATIO:
        for k in range(columns.c.shape[0]):
            for other in range(k + 1, columns.c.shape[0]):
                weight = ratio_distance(columns.values[k, 0], columns.values[other, 0])
                _weigh_inside(k, other, weight, columns, terms.inside)
    else:
        _weigh_inside(distances.first[column], distances.second[column], 1.0, columns, terms.inside)
    for i in range(columns.size):
        terms.inside[i] *= 2.0 / max(np.float64(terms.n[i]) - 1.0, 1.0)


@inlined
def disagree_across(column, columns, how, terms):  # type: ignore[no-untyped-def]
    """Fill ``terms.across`` for a column of disagreement, after :func:`disagree_inside`."""
    distances, across = how.distances, terms.across
    if distances.level == NOMINAL:
        _differ_across(columns.size, terms)
        return
    if distances.level != RATIO and distances.first.size == 0:
        _spread(columns, True, terms.m, terms.others_mean, terms.others_spread)
        _spread_across(columns.size, terms)
        return
    across[: columns.size] = 0.0
    if distances.level == RATIO:
        for k in range(columns.c.shape[0]):
            for other in range(k + 1, columns.c.shape[0]):
                weight = ratio_distance(columns.values[k, 0], columns.values[other, 0])
                _weigh_across(k, other, weight, columns, across)
    else:
        _weigh_across(distances.first[column], distances.second[column], 1.0, columns, across)
    for i in range(columns.size):
        both = np.float64(terms.n[i] + terms.m[i])
        across[i] *= both * terms.share[i] / max(np.float64(terms.m[i]), 1.0)


@inlined
def set_apart(column, columns, how, terms):  # type: ignore[no-untyped-def]
    """Fill ``terms.apart`` for a column of disagreement, after :func:`disagree_across`.

    With A, B and C the sums of distances over pairs of the group's labels, of one of each side, and of the
    others' labels, it is (2 B - m A / (n - 1) - n C / (m - 1)) / (n + m).
    """
    distances, apart = how.distances, terms.apart
    if distances.level == NOMINAL:
        _differ_inside(columns.size, terms.m, terms.others_squares, apart)
    elif distances.level != RATIO and distances.first.size == 0:
        _spread_inside(columns.size, terms.m, terms.others_spread, apart)
    else:
        apart[: columns.size] = 0.0
        if distances.level == RATIO:
            for k in range(columns.c.shape[0]):
                for other in range(k + 1, columns.c.shape[0]):
                    weight = ratio_distance(columns.values[k, 0], columns.values[other, 0])
                    _weigh_others(k, other, weight, columns, apart)
        else:
            _weigh_others(distances.first[column], distances.second[column], 1.0, columns, apart)
        for i in range(columns.size):
            apart[i] *= 2.0 / max(np.float64(terms.m[i]) - 1.0, 1.0)
    n, m, inside, across, ratio, weight = (
        terms.n,
        terms.m,
        terms.inside,
        terms.across,
        terms.ratio,
        terms.weight,
    )
    for i in range(columns.size):
        both = 2.0 * weight[i] * across[i] / max(np.float64(n[i] + m[i]), 1.0)
        paired = (n[i] > 1) & (m[i] > 1)
        apart[i] = both - (1.0 - ratio[i]) * inside[i] - ratio[i] * apart[i] if paired else 0.0


@inlined
def ratio_distance(one, other):  # type: ignore[no-untyped-def]
    """Squared distance of two numbers, neither below 0, on a ratio scale."""
    together = one + other
    if together == 0:
        return 0.0
    apart = (one - other) / together
    return apart * apart


@inlined
def _differ_inside(size, n, squares, inside):  # type: ignore[no-untyped-def]
    """Disagreement inside a side where all unequal labels are equally far apart."""
    for i in range(size):
        x = np.float64(n[i])
        inside[i] = (x * x - squares[i]) / max(x - 1.0, 1.0)


@inlined
def _differ_across(size, terms):  # type: ignore[no-untyped-def]
    """The like across."""
    n, m, products, share, across = terms.n, terms.m, terms.products, terms.share, terms.across
    for i in range(size):
        x, y = np.float64(n[i]), np.float64(m[i])
        across[i] = (x + y) * (x * y - products[i]) * share[i] / max(y, 1.0)


@inlined
def _spread(columns, others, n, mean, spread):  # type: ignore[no-untyped-def]
    """Fill the mean of a side's `n` numbers, and their sum of squared differences from it."""
    size = columns.size
    mean[:size] = 0.0
    spread[:size] = 0.0
    for k in range(columns.c.shape[0]):
        x, both, v = columns.c[k], columns.known[k], columns.values[k]
        for i in range(size):
            mean[i] += (both[i] - x[i] if others else x[i]) * v[i]
    for i in range(size):
        mean[i] /= max(np.float64(n[i]), 1.0)
    for k in range(columns.c.shape[0]):
        x, both, v = columns.c[k], columns.known[k], columns.values[k]
        for i in range(size):
            apart = v[i] - mean[i]
            spread[i] += (both[i] - x[i] if others else x[i]) * (apart * apart)


@inlined
def _spread_inside(size, n, spread, inside):  # type: ignore[no-untyped-def]
    """Disagreement inside a side where distances are squared differences."""
    for i in range(size):
        x = np.float64(n[i])
        inside[i] = 2.0 * x * spread[i] / max(x - 1.0, 1.0)


@inlined
def _spread_across(size, terms):  # type: ignore[no-untyped-def]
    """The like across."""
    n, m, share, across = terms.n, terms.m, terms.share, terms.across
    mean, spread, others_mean, others_spread = (
        terms.mean,
        terms.spread,
        terms.others_mean,
        terms.others_spread,
    )
    for i in range(size):
        x, y = np.float64(n[i]), np.float64(m[i])
        apart = mean[i] - others_mean[i]
        each = spread[i] * share[i] + others_spread[i] / max(y, 1.0) + apart * apart
        across[i] = (x + y) * each if (n[i] > 0) & (m[i] > 0) else 0.0


@inlined
def _weigh_inside(k, other, weight, columns, inside):  # type: ignore[no-untyped-def]
    """Disagreement inside the group between two categories."""
    x, y = columns.c[k], columns.c[other]
    for i in range(columns.size):
        inside[i] += weight * (x[i] * y[i])


@inlined
def _weigh_others(k, other, weight, columns, inside):  # type: ignore[no-untyped-def]
    """The like among the others."""
    x, y, all_x, all_y = columns.c[k], columns.c[other], columns.known[k], columns.known[other]
    for i in range(columns.size):
        inside[i] += weight * ((all_x[i] - x[i]) * (all_y[i] - y[i]))


@inlined
def _weigh_across(k, other, weight, columns, across):  # type: ignore[no-untyped-def]
    """The like across."""
    x, y, all_x, all_y = columns.c[k], columns.c[other], columns.known[k], columns.known[other]
    for i in range(columns.size):
        across[i] += weight * (x[i] * (all_y[i] - y[i]) + y[i] * (all_x[i] - x[i]))
