"""An item's disagreement within a group and across, at each level of measurement.

Columns are as in :mod:`~grasp_core.permutation.kernel.item_terms`. Two kinds of distances need no loop over
pairs of labels: equal distances of all unequal labels, and squared differences of numbers. The latter add up
to spreads around means, sum_(k,l) c_k c_l (v_k - v_l)^2 = 2 n sum_k c_k (v_k - mean)^2, in which no large
numbers cancel.
"""

import numpy as np

from grasp_core.permutation.jit import borrowing, inlined
from grasp_core.permutation.kernel.arguments import NOMINAL, RATIO


@borrowing
def disagree(column, columns, how, terms):  # type: ignore[no-untyped-def]  # compiled: types are numba's
    """Fill ``inside``, ``across`` and ``apart`` of terms whose other fields are filled.

    Let A, B and C be the sums of distances over pairs of the group's labels, over pairs across both sides,
    and over pairs of the others' labels. `apart` is (2 B - m A / (n - 1) - n C / (m - 1)) / (n + m).

    `column`: a column of disagreement, see :class:`~grasp_core.permutation.kernel.arguments.Distances`.
    """
    disagree_at_once(column, columns, how, terms)


@inlined
def disagree_at_once(column, columns, how, terms):  # type: ignore[no-untyped-def]
    """Do as :func:`disagree`, inlined: for few columns at a time, where passing the terms would be slow."""
    disagree_inside(column, columns, how, terms)
    distances, size = how.distances, columns.size
    if distances.level == NOMINAL:
        _differ_across(size, terms)
        _differ_inside(size, terms.m, terms.others_squares, terms.apart)
    elif distances.level != RATIO and distances.first.size == 0:
        _spread(columns, True, terms.m, terms.others_mean, terms.others_spread)
        _spread_across(size, terms)
        _spread_inside(size, terms.m, terms.others_spread, terms.apart)
    else:
        _weigh_outside(column, columns, distances, terms)
    set_apart(size, terms)


@inlined
def disagree_nominally(size, terms):  # type: ignore[no-untyped-def]
    """Do as :func:`disagree` for equal distances of all unequal labels."""
    _differ_inside(size, terms.n, terms.squares, terms.inside)
    _differ_across(size, terms)
    _differ_inside(size, terms.m, terms.others_squares, terms.apart)
    set_apart(size, terms)


@inlined
def disagree_inside(column, columns, how, terms):  # type: ignore[no-untyped-def]
    """Fill ``terms.inside`` for a column of disagreement."""
    distances, size, inside = how.distances, columns.size, terms.inside
    if distances.level == NOMINAL:
        _differ_inside(size, terms.n, terms.squares, inside)
    elif distances.level != RATIO and distances.first.size == 0:
        _spread(columns, False, terms.n, terms.mean, terms.spread)
        _spread_inside(size, terms.n, terms.spread, inside)
    else:
        for i in range(size):
            inside[i] = 0.0
        first, stop = _firsts(column, columns, distances)
        for k in range(first, stop):
            second, end = _seconds(k, column, columns, distances)
            for other in range(second, end):
                weight, x, y = _weight(k, other, columns, distances), columns.c[k], columns.c[other]
                for i in range(size):
                    inside[i] += weight * (x[i] * y[i])
        for i in range(size):
            inside[i] *= 2.0 / max(np.float64(terms.n[i]) - 1.0, 1.0)


@inlined
def set_apart(size, terms):  # type: ignore[no-untyped-def]
    """Fill ``terms.apart``, which must contain the others' disagreement among themselves."""
    n, m, ratio, weight = terms.n, terms.m, terms.ratio, terms.weight
    inside, across, apart = terms.inside, terms.across, terms.apart
    for i in range(size):
        both = 2.0 * weight[i] * across[i] / max(np.float64(n[i] + m[i]), 1.0)
        paired = (n[i] > 1) & (m[i] > 1)
        apart[i] = both - (1.0 - ratio[i]) * inside[i] - ratio[i] * apart[i] if paired else 0.0


@inlined
def ratio_distance(one, other):  # type: ignore[no-untyped-def]
    """Return the squared distance of two numbers, neither below 0, on a ratio scale."""
    together = one + other
    if together == 0:
        return 0.0
    apart = (one - other) / together
    return apart * apart


@inlined
def _differ_inside(size, n, squares, inside):  # type: ignore[no-untyped-def]
    """Fill the disagreement inside a side for equal distances of all unequal labels."""
    for i in range(size):
        x = np.float64(n[i])
        inside[i] = (x * x - squares[i]) / max(x - 1.0, 1.0)


@inlined
def _differ_across(size, terms):  # type: ignore[no-untyped-def]
    """Fill the disagreement across for equal distances of all unequal labels."""
    n, m, products, share, across = terms.n, terms.m, terms.products, terms.share, terms.across
    for i in range(size):
        x, y = np.float64(n[i]), np.float64(m[i])
        across[i] = (x + y) * (x * y - products[i]) * share[i] / max(y, 1.0)


@inlined
def _spread(columns, others, n, mean, spread):  # type: ignore[no-untyped-def]
    """Fill the mean of a side's `n` numbers, and their sum of squared differences from it."""
    size = columns.size
    for i in range(size):
        mean[i] = 0.0
        spread[i] = 0.0
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
    """Fill the disagreement inside a side for distances that are squared differences."""
    for i in range(size):
        x = np.float64(n[i])
        inside[i] = 2.0 * x * spread[i] / max(x - 1.0, 1.0)


@inlined
def _spread_across(size, terms):  # type: ignore[no-untyped-def]
    """Fill the disagreement across for distances that are squared differences."""
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
def _firsts(column, columns, distances):  # type: ignore[no-untyped-def]
    """Return bounds of the first categories of pairs: of all pairs, or of a column's only pair."""
    if distances.level == RATIO:
        return 0, columns.c.shape[0]
    return distances.first[column], distances.first[column] + 1


@inlined
def _seconds(k, column, columns, distances):  # type: ignore[no-untyped-def]
    """Return bounds of the categories that are paired with `k`."""
    if distances.level == RATIO:
        return k + 1, columns.c.shape[0]
    return distances.second[column], distances.second[column] + 1


@inlined
def _weight(k, other, columns, distances):  # type: ignore[no-untyped-def]
    """Return the squared distance of two categories; 1 if it is known only after all items are added."""
    return ratio_distance(columns.values[k, 0], columns.values[other, 0]) if distances.level == RATIO else 1.0


@inlined
def _weigh_outside(column, columns, distances, terms):  # type: ignore[no-untyped-def]
    """Fill the disagreement across and, in ``terms.apart``, among the others, by pairs of categories."""
    size, across, apart = columns.size, terms.across, terms.apart
    for i in range(size):
        across[i] = 0.0
        apart[i] = 0.0
    first, stop = _firsts(column, columns, distances)
    for k in range(first, stop):
        second, end = _seconds(k, column, columns, distances)
        for other in range(second, end):
            weight = _weight(k, other, columns, distances)
            x, y, all_x, all_y = columns.c[k], columns.c[other], columns.known[k], columns.known[other]
            for i in range(size):
                across[i] += weight * (x[i] * (all_y[i] - y[i]) + y[i] * (all_x[i] - x[i]))
            for i in range(size):
                apart[i] += weight * ((all_x[i] - x[i]) * (all_y[i] - y[i]))
    for i in range(size):
        m, both = np.float64(terms.m[i]), np.float64(terms.n[i] + terms.m[i])
        across[i] *= both * terms.share[i] / max(m, 1.0)
        apart[i] *= 2.0 / max(m - 1.0, 1.0)
