"""Raters' mean residuals: how much more often each gives a label than the other raters of the same items.

A residual is 1 for the label that a rater gave an item, 0 for other labels, minus the share of that label
among the item's other annotations. Tests of shared label use and of spread use each rater's mean residual.
Permuting profiles then only needs sums over raters and never returns to the items.
"""

from typing import NamedTuple, Self

import numpy as np
from scipy.special import log_ndtr

from grasp_core.model.annotations import Annotations, BoolArray, FloatArray, Int64Array

PRIOR_RATERS = 4
"""Weight, in raters, of the variance expected from all raters' spread, beside a side's own variance.

With 4, groups of 5 to 8 lose little power, and about 1 in 10 groups that only spread more is marked."""
_CELLS = 2**20
"""Counts of items and labels that are in memory at one time."""
_ALIKE = 1e-12
"""Variances of residuals below this are rounding errors."""


class ResidualSums(NamedTuple):
    """Sums of residuals over items.

    Parameters
    ----------
    n : int64 array, shape (J,)
        Annotations of each rater to items that somebody else labelled too.
    total : float64 array, shape (J, K)
        Sum of each rater's residuals.
    products : float64 array, shape (K, K)
        Sums of products of the residuals of two labels, over all annotations.
    given : int64 array, shape (K,)
        Number of annotations with each label, on any item.
    """

    n: Int64Array
    total: FloatArray
    products: FloatArray
    given: Int64Array

    @classmethod
    def of(cls, annotations: Annotations) -> Self:
        """Add up the residuals of some items.

        Notes
        -----
        e_ijk = 1[Y_ij = k] - (T_ik - 1[Y_ij = k]) / (T_i - 1), where T_ik of item i's T_i annotations are
        label k. Over the annotations of an item, e e' adds up to
        (T_i / (T_i - 1))^2 T_i (diag(p) - p p'), p_k = T_ik / T_i.
        """
        size = np.diff(annotations.indptr)
        k = annotations.n_categories
        given = np.bincount(annotations.category, minlength=k)
        scale = np.zeros(size.size)
        np.divide(size, size - 1, out=scale, where=size > 1)
        total, products = np.zeros((k, annotations.n_raters)), np.zeros((k, k))
        n = np.zeros(annotations.n_raters, dtype=np.int64)
        for first in range(0, size.size, step := max(_CELLS // max(k, 1), 1)):
            items = slice(first, min(first + step, size.size))
            here = slice(annotations.indptr[items.start], annotations.indptr[items.stop])
            rater, category = annotations.rater[here], annotations.category[here]
            item = np.repeat(np.arange(items.stop - first), size[items])
            counts = np.bincount(item * k + category, minlength=(items.stop - first) * k)
            counts = counts.reshape(-1, k).astype(np.float64)
            of_item, several = scale[items, None] ** 2, np.maximum(size[items, None], 1)
            products += np.diag((of_item * counts).sum(axis=0))
            products -= (of_item / several * counts).T @ counts
            some = size[items][item] > 1
            item, rater, category, shares = item[some], rater[some], category[some], counts / several
            n += np.bincount(rater, minlength=n.size)
            for label in range(k):
                left = scale[items][item] * ((category == label) - shares[item, label])
                np.add.at(total[label], rater, left)
        return cls(n, total.T.copy(), products, given.astype(np.int64))


class RaterResiduals(NamedTuple):
    """Each rater's mean residual, and its weight.

    Parameters
    ----------
    n : int64 array, shape (J,)
        Number of annotations in the mean.
    mean : float64 array, shape (J, C)
        A column for each label, then one for the labels' positions, if any; 0 without annotations.
    weight : float64 array, shape (J, C)
        The inverse of the mean's variance between and within raters; 0 without such annotations, and if no
        rater differs from the others.
    """

    n: Int64Array
    mean: FloatArray
    weight: FloatArray

    @classmethod
    def of(cls, sums: ResidualSums, positions: FloatArray | None = None) -> Self:
        """Return mean residuals, with weights from all raters together that do not depend on groups.

        Parameters
        ----------
        sums : ResidualSums
        positions : float64 array, shape (K,), optional
            Labels' positions, in a unit in which they are neither all near 0 nor far from it. The residual of
            a position is the rater's label's position minus the mean position of the item's other labels.

        Notes
        -----
        w_jk = 1 / (tau^2_k + s^2_k / n_j). s^2_k is the pooled variance of residuals within raters, and
        tau^2_k the variance of raters' true means, by the moments of DerSimonian and Laird over all raters.

        References
        ----------
        DerSimonian and Laird (1986), Controlled Clinical Trials 7.
        """
        known = sums.n > 0
        n = sums.n[known]
        total, squares = sums.total, np.diag(sums.products)
        if positions is not None:
            total = np.column_stack([total, total @ positions])
            squares = np.append(squares, positions @ sums.products @ positions)
        mean, weight = np.zeros_like(total), np.zeros_like(total)
        mean[known] = total[known] / n[:, None]
        within = (squares - n @ mean[known] ** 2) / max(int((n - 1).sum()), 1)
        for c, variance in enumerate(np.maximum(within, 0.0).tolist()):
            spread = _between(mean[known, c], n, variance) + variance / n
            weight[known, c] = np.where(spread > _ALIKE, 1 / np.maximum(spread, _ALIKE), 0.0)
        return cls(sums.n, mean, weight)

    @property
    def from_centre(self) -> FloatArray:
        """Means minus the weighted mean of all, (J, C): near 0, differences of squares are more exact."""
        w = self.weight
        return np.asarray(self.mean - (w * self.mean).sum(axis=0) / np.maximum(w.sum(axis=0), _ALIKE))

    @property
    def terms(self) -> FloatArray:
        """Each rater's terms in the sums that :func:`of_sums` takes, shape (J, 5 C)."""
        w, r = self.weight, self.from_centre
        return np.concatenate([w, w * r, w**2, w**2 * r, (w * r) ** 2], axis=1)


def _between(mean: FloatArray, n: Int64Array, variance: float) -> float:
    """Return tau^2, the variance of raters' true means, from means (R,) over n annotations each."""
    if variance <= _ALIKE:
        return float(mean.var(ddof=1)) if mean.size > 1 else 0.0
    w = n / variance
    centre = w @ mean / w.sum()
    surplus = w @ (mean - centre) ** 2 - (mean.size - 1)
    return max(0.0, float(surplus / max(w.sum() - w @ w / w.sum(), _ALIKE)))


def difference(residuals: RaterResiduals, inside: BoolArray, outside: BoolArray) -> FloatArray:
    """Return the difference of two sides' mean residuals, in standard errors.

    Parameters
    ----------
    residuals : RaterResiduals
    inside, outside : bool arrays, shape (J,)

    Returns
    -------
    float64 array, shape (C,)
        t of each column; NaN if a side has no rater with a weight.

    Notes
    -----
    t = (m_in - m_out) / sqrt(V_in + V_out). For a side with weights w_j and residuals r_j, W = sum_j w_j,
    m = sum_j w_j r_j / W and n = W^2 / sum_j w_j^2, which is the number of raters if all weights are equal.
    U = sum_j w_j^2 (r_j - m)^2 / W^2 n / (n - 1) is the jackknife's variance of m over the side's raters, to
    first order. 1 / W is the variance expected from the weights: V = ((n - 1) U + 4 / W) / (n - 1 + 4).

    References
    ----------
    Janssen (1997), Statistics & Probability Letters 36; Chung and Romano (2013), Annals of Statistics 41;
    Smyth (2004), Statistical Applications in Genetics and Molecular Biology 3 (the moderated variance).
    """
    found = np.full(residuals.mean.shape[1], np.nan)
    for c in range(found.size):
        sides = [
            _mean_and_variance(residuals.mean[side, c], residuals.weight[side, c])
            for side in (inside, outside)
        ]
        if None not in sides:
            (m, v), (m_other, v_other) = (side for side in sides if side is not None)
            found[c] = (m - m_other) / np.sqrt(v + v_other)
    return found


def _mean_and_variance(r: FloatArray, w: FloatArray) -> tuple[float, float] | None:
    """Return a side's m and V; None without weights."""
    whole = w.sum()
    if whole == 0:
        return None
    share = w / whole
    m, raters = float(share @ r), 1 / float(share @ share)
    alone = raters * float(share**2 @ (r - m) ** 2)  # (n - 1) U
    return m, (alone + PRIOR_RATERS / float(whole)) / (raters - 1 + PRIOR_RATERS)


def of_sums(inside: FloatArray, outside: FloatArray) -> FloatArray:
    """Return :func:`difference` from sums of :attr:`RaterResiduals.terms` over the raters of two sides.

    Parameters
    ----------
    inside, outside : float64 arrays, shape (..., 5 C)

    Returns
    -------
    float64 array, shape (..., C)
    """
    both = (np.moveaxis(sums.reshape(*sums.shape[:-1], 5, -1), -2, 0) for sums in (inside, outside))
    # NumPy computes contiguous numbers several times as fast as rows of a few columns.
    (w, *further), (w_other, *further_other) = map(np.ascontiguousarray, both)
    least = _ALIKE * (w + w_other)  # differences of sums may be rounding errors instead of 0 without raters
    with np.errstate(divide="ignore", invalid="ignore"):
        m, v = _side(np.where(w > least, w, np.nan), *further)
        m_other, v_other = _side(np.where(w_other > least, w_other, np.nan), *further_other)
        return np.asarray((m - m_other) / np.sqrt(v + v_other))


def _side(
    w: FloatArray, wr: FloatArray, ww: FloatArray, wwr: FloatArray, wwrr: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return a side's m and V from its sums, each of shape (..., C); NaN where w is NaN."""
    m = wr / w
    squares = np.maximum(wwrr - 2 * m * wwr + m**2 * ww, 0.0)
    return m, (squares / ww + PRIOR_RATERS / w) / (w**2 / ww - 1 + PRIOR_RATERS)


def evidence(labels: FloatArray, shift: FloatArray, apart: int) -> FloatArray:
    """Return the evidence for a different use of the labels: the strongest of all differences.

    Parameters
    ----------
    labels : float64 array, shape (..., L)
        t of each label.
    shift : float64 array, shape (...,)
        t of the shift of the mean; NaN if labels are names.
    apart : int
        Number of labels that can differ independently: L minus one for each question.

    Returns
    -------
    float64 array, shape (...,)
        -log10 of the smallest two-sided normal p, the labels' p times `apart`; NaN if there is none.

    Notes
    -----
    All labels together thus count as much as the shift of the mean, which would otherwise be lost among
    many labels. The scale only orders differences; significance comes from permutations.
    """
    of_labels = _surprise(np.fmax.reduce(np.abs(labels), axis=-1)) - np.log10(max(apart, 1))
    return np.asarray(np.fmax(of_labels, _surprise(np.abs(shift))))


def _surprise(t: FloatArray) -> FloatArray:
    """Return -log10 of a two-sided normal p."""
    return np.asarray(-(np.log(2) + log_ndtr(-t)) / np.log(10))
