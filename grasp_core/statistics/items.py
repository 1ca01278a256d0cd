"""Statistics from items: counts of labels, GAI over matched items, and items' parts of sums."""

import math

import numpy as np

from grasp_core.model.annotations import Annotations, BoolArray, FloatArray, Int64Array
from grasp_core.model.remarks.reasons import NoValue
from grasp_core.model.remarks.remark import Remark
from grasp_core.statistics.levels import Distance, nominal


class NotEstimableError(ValueError):
    """The data do not determine the statistic, for the `reason` given."""

    def __init__(self, reason: Remark) -> None:
        super().__init__(str(reason))
        self.reason = reason


ITEMS_AT_A_TIME = 2**15
"""Items counted in one step, so that counting large data needs little memory besides the counts."""


def count(annotations: Annotations, raters: BoolArray) -> Int64Array:
    """Count the labels that some raters gave to every item.

    Parameters
    ----------
    annotations : Annotations
    raters : bool array, shape (J,)

    Returns
    -------
    int64 array, shape (I, K)
        c[i, k], the number of those raters who gave item i category k.
    """
    k, indptr = annotations.n_categories, annotations.indptr
    counts = np.empty((annotations.n_items, k), dtype=np.int64)
    for start in range(0, annotations.n_items, ITEMS_AT_A_TIME):
        stop = min(start + ITEMS_AT_A_TIME, annotations.n_items)
        here = slice(indptr[start], indptr[stop])
        item = np.repeat(np.arange(stop - start), np.diff(indptr[start : stop + 1]))
        chosen = raters[annotations.rater[here]]
        cell = item[chosen] * k + annotations.category[here][chosen]
        counts[start:stop] = np.bincount(cell, minlength=(stop - start) * k).reshape(-1, k)
    return counts


def cross_entropy(p: FloatArray, q: FloatArray) -> FloatArray:
    """Return the cross-entropy of shares, in nats; the entropy if q is p.

    Parameters
    ----------
    p, q : float arrays, shape (..., K)

    Returns
    -------
    float array, shape (...)
        - sum_k p_k ln q_k, where a term with p_k = 0 is 0.
    """
    from scipy.special import xlogy  # takes a tenth of a second to load, and most commands need none of it

    found: FloatArray = -xlogy(p, q).sum(axis=-1)
    return found


def matched_gai(c: Int64Array, d: Int64Array, distance: Distance = nominal) -> float:
    """Return IRR over XRR, both over the items with two labels of either side and with the same weights.

    Parameters
    ----------
    c, d : int arrays, shape (I, K)
        Labels of the group and of the others.
    distance : callable, optional
        See :mod:`grasp_core.statistics.levels`; it gets both sides' labels together.

    Returns
    -------
    float

    Raises
    ------
    NotEstimableError
        If there is no such item, all labels are equal, or the matched XRR is not above 0.

    Notes
    -----
    Weights are w_i = n_i m_i / (n_i + m_i), p and q are the weighted means of the items' shares of labels,
    and delta are squared distances. IRR = 1 - sum_i w_i Din_i / sum_i w_i / (p delta p), where Din_i is the
    mean distance of two labels of the group; XRR = 1 - sum_i w_i Dx_i / sum_i w_i / (p delta q), Dx_i across.
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


ENOUGH_PAIRS = 30
"""Items with two labels of both sides that are enough for a distance over such items, however many others
are shared. With fewer such items, half of the shared items are enough."""
ROUNDING = 1e-12
"""Terms up to this size are 0 with a rounding error."""


def label_use_terms(c: Int64Array, d: Int64Array) -> FloatArray:
    """Return how many more of each label the group gives than if it labelled as all raters do.

    Parameters
    ----------
    c, d : int arrays, shape (I, K)
        Labels of the group and of the others.

    Returns
    -------
    float64 array, shape (I, K)
        c_ik - n_i (c_ik + d_ik) / (n_i + m_i), the item's part of the numerator of D_k; NaN if one side has
        no label.
    """
    n, m = c.sum(axis=1, keepdims=True), d.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where((n > 0) & (m > 0), c - n * (c + d) / (n + m), np.nan))


def distance_terms(c: Int64Array, d: Int64Array, apart: FloatArray) -> FloatArray:
    """Return the items' parts of the numerator of the distance E.

    Parameters
    ----------
    c, d : int arrays, shape (I, K)
    apart : float array, shape (K, K)
        Squared distances between labels.

    Returns
    -------
    float64 array, shape (I,)
        n m / (n + m) (2 Dx - Din - Dout) of each item; NaN if a side has fewer than two labels.
    """
    n, m = c.sum(axis=1).astype(float), d.sum(axis=1).astype(float)
    with np.errstate(invalid="ignore", divide="ignore"):
        across = np.einsum("ik,kl,il->i", c, apart, d) / (n * m)
        inside = np.einsum("ik,kl,il->i", c, apart, c) / (n * (n - 1))
        outside = np.einsum("ik,kl,il->i", d, apart, d) / (m * (m - 1))
        terms = n * m / (n + m) * (2 * across - inside - outside)
    return np.asarray(np.where((n > 1) & (m > 1), terms, np.nan))


def weights(c: Int64Array, d: Int64Array) -> FloatArray:
    """Return the items' weights n m / (n + m), shape (I,); 0 if one side has no label."""
    n, m = c.sum(axis=1).astype(float), d.sum(axis=1).astype(float)
    return np.asarray(n * m / np.maximum(n + m, 1))


def tenth(items: int) -> int:
    """Return the number of items in a tenth of them, rounded up."""
    return math.ceil(items / 10)


def top_share(sizes: FloatArray) -> float:
    """Return the share of the top tenth of items in the sum of all sizes.

    Parameters
    ----------
    sizes : float array, shape (I,)
        Not below 0; sizes up to :data:`ROUNDING` count as 0.

    Returns
    -------
    float
        NaN if all sizes are 0.
    """
    sizes = np.where(sizes > ROUNDING, sizes, 0.0)
    total = sizes.sum()
    if not total > 0:
        return math.nan
    return float(np.sort(sizes)[::-1][: tenth(sizes.size)].sum() / total)
