"""How raters agree two by two, and how labels spread."""

import numpy as np

from grasp_core.model.annotations import BoolArray, FloatArray, Int64Array
from grasp_core.statistics.rater_residuals import RaterResiduals


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
    within = sum(
        spread(squared[np.ix_(own, own)])
        for own in [np.flatnonzero(group == g) for g in np.unique(group[group >= 0])]
    )
    return 1 - within / total if total > 0 else float("nan")


FEWEST_SPREAD = 3
"""Raters that a side needs: of two the variance says hardly anything."""


def spread_terms(residuals: RaterResiduals) -> FloatArray:
    """What raters add to the sums from which :func:`spread_of_sums` makes ratios, shape (J, 4 C)."""
    w, r = residuals.weight, residuals.from_centre
    return np.concatenate([w > 0, w, w * r, w * r**2], axis=1)


def spread(residuals: RaterResiduals, inside: BoolArray, outside: BoolArray) -> float:
    """How many times the variance of raters' mean residuals is inside as large as outside.

    Parameters
    ----------
    residuals : RaterResiduals
    inside, outside : bool arrays, shape (J,)

    Returns
    -------
    float
        1 where raters differ from each other as much on both sides; NaN where a side has fewer than three
        raters, or no variance.

    Notes
    -----
    Of a side with weights w_j and mean residuals r_j of a label, m = sum_j w_j r_j / sum_j w_j and
    S = sum_j w_j (r_j - m)^2 / (n - 1): about 1 where raters differ as all raters together do, whatever each
    of them rated. The ratio is that of the sums of S over labels.
    """
    terms = spread_terms(residuals)
    return float(spread_of_sums(terms[inside].sum(axis=0), terms[outside].sum(axis=0)))


def spread_of_sums(inside: FloatArray, outside: FloatArray) -> FloatArray:
    """:func:`spread` from sums of :func:`spread_terms` over the raters of two sides.

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
