"""Spread: how far raters of a group differ from each other in which labels they give, beside the others."""

from __future__ import annotations

import numpy as np

from grasp_core.model.annotations import BoolArray, FloatArray
from grasp_core.statistics.rater_residuals import RaterResiduals

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
