"""Coefficients of agreement other than Krippendorff's alpha: percent agreement, kappa, Gwet's AC1.

Each takes ``c``, int array of shape (I, K): the number of raters who gave item i category k. Cohen's kappa
takes two raters' categories, int arrays of shape (I,), from 0; below 0 if there is none. Coefficients are at
most 1, and 0 if raters agree as often as by chance. Standard errors are for other items; NaN with one item.

All raise NotEstimableError if no item has two labels; coefficients beyond chance also if all labels agree.
"""

import numpy as np

from grasp_core.model.annotations import FloatArray, Int64Array
from grasp_core.model.remarks.reasons import NoValue
from grasp_core.statistics.items import NotEstimableError


def percent_agreement(c: Int64Array) -> float:
    """Return the share of pairs of raters who give an item the same label, averaged over items.

    Notes
    -----
    p_o is the mean of sum_k c_ik (c_ik - 1) / (n_i (n_i - 1)) over the items with n_i >= 2. It is not
    corrected for chance: if there are two labels and one is rare, raters who guess agree often.

    References
    ----------
    Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed., chapter 2.

    Examples
    --------
    >>> import numpy as np
    >>> percent_agreement(np.array([[2, 0], [1, 1]]))
    0.5
    """
    return _observed(c)[0]


def fleiss_kappa(c: Int64Array) -> float:
    """Fleiss' kappa: agreement of any number of raters beyond chance.

    Notes
    -----
    kappa = (p_o - p_e) / (1 - p_e), with p_o of :func:`percent_agreement` and p_e = sum_k pi_k^2, where pi_k
    is the mean of c_ik / n_i over the items with n_i >= 1. If all items have equally many labels, this is
    Fleiss (1971); otherwise it is Gwet's extension.

    References
    ----------
    Fleiss (1971), Psychological Bulletin 76(5); Gwet (2014), chapter 2.

    Examples
    --------
    >>> import numpy as np
    >>> fleiss_kappa(np.array([[2, 0], [0, 2], [1, 1], [1, 1]]))
    0.0
    """
    return _beyond_chance(_observed(c)[0], _fleiss_chance(c)[0])


def gwet_ac1(c: Int64Array) -> float:
    """Gwet's AC1: agreement beyond chance that a very frequent label does not lower.

    Notes
    -----
    AC1 = (p_o - p_e) / (1 - p_e), with p_o of :func:`percent_agreement` and
    p_e = sum_k pi_k (1 - pi_k) / (K - 1), where pi_k is as in :func:`fleiss_kappa` and K counts all labels,
    also labels that nobody gave.

    References
    ----------
    Gwet (2008), British Journal of Mathematical and Statistical Psychology 61(1).

    Examples
    --------
    >>> import numpy as np
    >>> gwet_ac1(np.array([[2, 0], [2, 0], [2, 0], [1, 1]]))
    0.68
    """
    return _beyond_chance(_observed(c)[0], _gwet_chance(c)[0])


def gwet_ac1_terms(c: Int64Array) -> FloatArray:
    """Return each item's terms in the sums of :func:`gwet_ac1`, shape (I, 2 + K).

    The terms are the share of pairs that agree, 1 if the item has pairs, and the shares of labels.
    """
    n = c.sum(axis=1, keepdims=True)
    same = (c * (c - 1)).sum(axis=1, keepdims=True) / np.maximum(n * (n - 1), 1)
    return np.hstack([same, n > 1, c / np.maximum(n, 1)])


def gwet_ac1_of(sums: FloatArray) -> FloatArray:
    """Return :func:`gwet_ac1` from sums over items, shape (..., 2 + K); NaN where not estimable."""
    with np.errstate(invalid="ignore", divide="ignore"):
        pi = sums[..., 2:] / sums[..., 2:].sum(axis=-1, keepdims=True)
        chance = (pi * (1 - pi)).sum(axis=-1) / np.float64(pi.shape[-1] - 1)
        return np.asarray((sums[..., 0] / sums[..., 1] - chance) / (1 - chance))


def cohen_kappa(first: Int64Array, second: Int64Array) -> float:
    """Cohen's kappa: agreement of two raters beyond chance.

    Notes
    -----
    kappa = (p_o - p_e) / (1 - p_e) over the items that both labelled, with p_e = sum_k a_k b_k, where a_k and
    b_k are the shares of category k in each rater's labels.

    References
    ----------
    Cohen (1960), Educational and Psychological Measurement 20(1).

    Examples
    --------
    >>> import numpy as np
    >>> cohen_kappa(np.array([0, 0, 1, 1]), np.array([0, 0, 1, 0]))
    0.5
    """
    same, chance, _ = _cohen(first, second)
    return _beyond_chance(float(same.mean()), chance)


def percent_agreement_error(c: Int64Array) -> float:
    """Standard error of :func:`percent_agreement`."""
    _, each = _observed(c)
    return _error(each)


def fleiss_kappa_error(c: Int64Array) -> float:
    """Standard error of :func:`fleiss_kappa`.

    Notes
    -----
    Linearised: the square root of sum_i (x_i - kappa)^2 / (n (n - 1)), with an item's p_i and e_i in p_o and
    p_e in its term x_i = (p_i - p_e) / (1 - p_e) - 2 (1 - kappa) (e_i - p_e) / (1 - p_e).

    References
    ----------
    Gwet (2014), chapter 5.
    """
    return _error(_linearised(_observed(c)[1], *_fleiss_chance(c)))


def gwet_ac1_error(c: Int64Array) -> float:
    """Standard error of :func:`gwet_ac1`.

    Notes
    -----
    As :func:`fleiss_kappa_error`, with AC1's p_e.

    References
    ----------
    Gwet (2008), section 4; Gwet (2014), chapter 5.
    """
    return _error(_linearised(_observed(c)[1], *_gwet_chance(c)))


def cohen_kappa_error(first: Int64Array, second: Int64Array) -> float:
    """Standard error of :func:`cohen_kappa`.

    Notes
    -----
    As :func:`fleiss_kappa_error`, with Cohen's p_e and n in place of n - 1.

    References
    ----------
    Fleiss, Cohen & Everitt (1969), Psychological Bulletin 72(5).
    """
    same, chance, each = _cohen(first, second)
    return _error(_linearised(same, chance, each), ddof=0)


def _observed(c: Int64Array) -> tuple[float, FloatArray]:
    """Return percent agreement, and each rated item's part of it: NaN for an item with one label alone."""
    n = c.sum(axis=1)
    c, n = c[n >= 1], n[n >= 1]
    several = n >= 2
    if not several.any():
        raise NotEstimableError(NoValue.NO_PAIR())
    each = (c * (c - 1)).sum(axis=1) / np.where(several, n * (n - 1), 1)
    return float(each[several].mean()), np.where(several, each, np.nan)


def _fleiss_chance(c: Int64Array) -> tuple[float, FloatArray]:
    shares, pi = _shares(c)
    return float((pi**2).sum()), shares @ pi


def _gwet_chance(c: Int64Array) -> tuple[float, FloatArray]:
    shares, pi = _shares(c)
    if pi.size < 2:
        raise NotEstimableError(NoValue.ONE_LABEL_INSIDE())
    return float((pi * (1 - pi)).sum() / (pi.size - 1)), shares @ (1 - pi) / (pi.size - 1)


def _shares(c: Int64Array) -> tuple[FloatArray, FloatArray]:
    """Return the shares of labels of each rated item, and their mean over items."""
    n = c.sum(axis=1)
    shares = c[n >= 1] / n[n >= 1, None]
    return shares, shares.mean(axis=0)


def _cohen(first: Int64Array, second: Int64Array) -> tuple[FloatArray, float, FloatArray]:
    """Return for items that both labelled: 1 if they agree, chance agreement, and each item's part of it."""
    both = (first >= 0) & (second >= 0)
    a, b = first[both], second[both]
    if not a.size:
        raise NotEstimableError(NoValue.NO_PAIR())
    k = int(max(a.max(), b.max())) + 1
    of_a, of_b = (np.bincount(one, minlength=k) / one.size for one in (a, b))
    return (a == b).astype(np.float64), float(of_a @ of_b), (of_b[a] + of_a[b]) / 2


def _beyond_chance(observed: float, chance: float) -> float:
    if chance >= 1:
        raise NotEstimableError(NoValue.ONE_LABEL_INSIDE())
    return (observed - chance) / (1 - chance)


def _linearised(observed: FloatArray, chance: float, each: FloatArray) -> FloatArray:
    """Return each item's term of the coefficient; `observed` is NaN for an item with one label."""
    several = ~np.isnan(observed)
    value = _beyond_chance(float(observed[several].mean()), chance)
    beyond = np.where(several, observed - chance, 0) / (1 - chance) * (several.size / several.sum())
    terms: FloatArray = beyond - 2 * (1 - value) * (each - chance) / (1 - chance)
    return terms


def _error(each: FloatArray, ddof: int = 1) -> float:
    """Return the standard error of the mean of items' terms, without terms that are NaN."""
    each = each[~np.isnan(each)]
    return float(each.std(ddof=ddof) / np.sqrt(each.size)) if each.size > 1 else float("nan")
