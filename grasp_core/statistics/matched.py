"""GAI over the same items on both sides of the ratio."""

from __future__ import annotations

import numpy as np

from grasp_core.model.annotations import Int64Array
from grasp_core.model.remarks.reasons import NoValue
from grasp_core.statistics.counts import NotEstimableError
from grasp_core.statistics.distance import Distance, nominal


def matched_gai(c: Int64Array, d: Int64Array, distance: Distance = nominal) -> float:
    """IRR over XRR, both over the items with two labels of either side, which have the same weights in both.

    Parameters
    ----------
    c, d : int arrays, shape (I, K)
        Labels of the group and of the others.
    distance : callable, optional
        See :mod:`grasp_core.statistics.distance`; of both sides' labels together.

    Returns
    -------
    float

    Raises
    ------
    NotEstimableError
        If there is no such item, all labels are one same, or the matched XRR is not above 0.

    Notes
    -----
    With w_i = n_i m_i / (n_i + m_i), p and q the means of the items' shares of labels with these weights, and
    squared distances delta: IRR = 1 - sum_i w_i Din_i / sum_i w_i / (p delta p), where Din_i is the mean
    distance of two labels of the group, and XRR = 1 - sum_i w_i Dx_i / sum_i w_i / (p delta q), Dx_i across.
    """
    both = (c.sum(axis=1) > 1) & (d.sum(axis=1) > 1)
    if not both.any():
        raise NotEstimableError(NoValue.NO_PAIRED_ITEM())
    c, d = c[both], d[both]
    n, m = c.sum(axis=1), d.sum(axis=1)
    apart = distance((c + d).sum(axis=0))
    weight = n * m / (n + m)
    weight = weight / weight.sum()
    p, q = weight @ (c / n[:, None]), weight @ (d / m[:, None])
    inside, across = p @ apart @ p, p @ apart @ q
    if not (inside > 0 and across > 0):
        raise NotEstimableError(NoValue.ONE_LABEL_ACROSS())
    irr = 1 - weight @ (((c @ apart) * c).sum(axis=1) / (n * (n - 1))) / inside
    xrr = 1 - weight @ (((c @ apart) * d).sum(axis=1) / (n * m)) / across
    if xrr <= 0:
        raise NotEstimableError(NoValue.GAI_NOT_ABOVE_0(statistic="XRR", value=float(xrr)))
    return float(np.float64(irr) / xrr)
