"""Disagreement between two raters, the share of it that groups explain, and the spread of raters."""

import numpy as np

from grasp_core.model.annotations import BoolArray, FloatArray, Int64Array
from grasp_core.statistics.rater_residuals import RaterResiduals


def disagreement(first: Int64Array, second: Int64Array, delta: FloatArray) -> float:
    """Return the mean squared distance between the labels of two raters.

    Parameters
    ----------
    first, second : int arrays, shape (I,)
        Each rater's label of each item, -1 if there is none.
    delta : float64 array, shape (K, K)
        Squared distances between labels; 1 between different labels if they are only names.

    Returns
    -------
    float
        Mean over the items that both labelled; NaN if there are none.
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
        Each rater's group; -1 for raters who are left out.

    Returns
    -------
    float
        NaN if no two raters differ.

    Notes
    -----
    R^2 = 1 - sum_g W_g / T. T is the sum of the squared distances of all pairs divided by the number of
    raters, and W_g is the same within group g.

    References
    ----------
    Anderson (2001), Austral Ecology 26; McArdle & Anderson (2001), Ecology 82.
    """

    def spread(among: FloatArray) -> float:
        return float(among.sum()) / (2 * len(among))

    taken = np.flatnonzero(group >= 0)
    total = spread(squared[np.ix_(taken, taken)]) if taken.size else 0.0
    within = sum(
        spread(squared[np.ix_(own, own)])
        for own in [np.flatnonzero(group == g) for g in np.unique(group[group >= 0])]
    )
    return 1 - within / total if total > 0 else float("nan")


FEWEST_SPREAD = 3
"""Fewest raters of a side: the variance of two raters is too rough."""


def spread_terms(residuals: RaterResiduals) -> FloatArray:
    """Return each rater's terms in the sums that :func:`spread_of_sums` takes, shape (J, 4 C)."""
    w, r = residuals.weight, residuals.from_centre
    return np.concatenate([w > 0, w, w * r, w * r**2], axis=1)


def spread(residuals: RaterResiduals, inside: BoolArray, outside: BoolArray) -> float:
    """Return the variance of raters' mean residuals inside the group, divided by that outside.

    Parameters
    ----------
    residuals : RaterResiduals
    inside, outside : bool arrays, shape (J,)

    Returns
    -------
    float
        1 if raters differ from each other equally on both sides; NaN if a side has fewer than three raters,
        or no variance.

    Notes
    -----
    For a side with weights w_j and mean residuals r_j of a label, m = sum_j w_j r_j / sum_j w_j and
    S = sum_j w_j (r_j - m)^2 / (n - 1). S is about 1 if these raters differ as all raters together do,
    whatever each of them rated. The result is the ratio of the sums of S over labels.
    """
    terms = spread_terms(residuals)
    return float(spread_of_sums(terms[inside].sum(axis=0), terms[outside].sum(axis=0)))


def spread_of_sums(inside: FloatArray, outside: FloatArray) -> FloatArray:
    """Return :func:`spread` from sums of :func:`spread_terms` over the raters of two sides.

    Parameters
    ----------
    inside, outside : float64 arrays, shape (..., 4 C)

    Returns
    -------
    float64 array, shape (...)
    """
    own, other = _variance(inside), _variance(outside)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((own > 0) & (other > 0), own / other, np.nan)


def _variance(sums: FloatArray) -> FloatArray:
    n, w, wr, wrr = np.moveaxis(sums.reshape(*sums.shape[:-1], 4, -1), -2, 0)
    enough = n >= FEWEST_SPREAD
    with np.errstate(divide="ignore", invalid="ignore"):
        of_label = (wrr - wr**2 / w) / (n - 1)
    return np.asarray(np.where(enough, of_label, 0.0).sum(axis=-1))
