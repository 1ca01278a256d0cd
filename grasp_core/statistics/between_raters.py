"""What differs between raters, two by two, and how much of that a grouping explains."""

from __future__ import annotations

import numpy as np

from grasp_core.model.annotations import FloatArray, Int64Array


def disagreement(first: Int64Array, second: Int64Array, delta: FloatArray) -> float:
    """Mean squared distance between the labels of two raters.

    Parameters
    ----------
    first, second : int arrays, shape (I,)
        Each rater's label of each item, -1 where there is none.
    delta : float64 array, shape (K, K)
        Squared distances between labels; 1 between different ones where they are only names.

    Returns
    -------
    float
        Over the items that both labelled; NaN where there are none.
    """
    both = (first >= 0) & (second >= 0)
    return float(delta[first[both], second[both]].mean()) if both.any() else float("nan")


def explained(squared: FloatArray, group: Int64Array) -> float:
    """Share of the squared distances between raters that their groups explain, R^2.

    Parameters
    ----------
    squared : float64 array, shape (J, J)
        Squared distances between raters, 0 on the diagonal.
    group : int array, shape (J,)
        Each rater's group; -1 for those who are left out.

    Returns
    -------
    float
        NaN where there is no distance between any two.

    Notes
    -----
    1 - sum_g W_g / T: T is the sum of the squared distances of all pairs over the number of raters, W_g the
    same within group g.

    References
    ----------
    Anderson (2001), Austral Ecology 26; McArdle & Anderson (2001), Ecology 82.
    """

    def spread(among: FloatArray) -> float:
        return float(among.sum()) / (2 * len(among))

    taken = np.flatnonzero(group >= 0)
    total = spread(squared[np.ix_(taken, taken)]) if taken.size else 0.0
    within = sum(spread(squared[np.ix_(own, own)]) for own in _groups(group))
    return 1 - within / total if total > 0 else float("nan")


def _groups(group: Int64Array) -> list[Int64Array]:
    return [np.flatnonzero(group == g) for g in np.unique(group[group >= 0])]
