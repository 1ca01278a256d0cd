"""Sharpness of raters: how closely each follows the labels of the others, with its standard error."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from grasp_core.annotations import FloatArray, Int32Array, Int64Array

_STEPS = 25
_LONGEST_STEP = 1.5
_CLOSE = 1e-6
_WEAK = np.array([1e-3, 0.1])
"""Precisions of the priors around 0, of sharpness and leanings: they only keep the fit finite."""


class Sharpness(NamedTuple):
    """Fitted sharpness and its standard error, both shape (J,), and leanings, shape (K, J)."""

    beta: FloatArray
    error: FloatArray
    leaning: FloatArray


def fit_sharpness(rater: Int64Array, label: Int32Array, shares: FloatArray, n_raters: int) -> Sharpness:
    """Fit sharpness of either sign, and leanings, by Newton steps on each rater's likelihood.

    Parameters
    ----------
    rater, label : int array, shape (A,)
    shares : float array, shape (K, A)
        Labels of the others, none of them 0.
    n_raters : int
        J.
    """
    log = np.log(shares)
    given = np.zeros_like(shares)
    given[label, np.arange(label.size)] = 1
    prior = np.array([_WEAK[0], *np.full(len(shares), _WEAK[1])])
    values = np.zeros((n_raters, 1 + len(shares)))
    for _ in range(_STEPS):
        fit = Sharpness(values[:, 0], values[:, 0], values[:, 1:].T)
        slope, curve = _slope_and_curve(probabilities(fit, rater, shares), given, log, rater, n_raters)
        curve += np.diag(prior)
        step = np.linalg.solve(curve, (slope - prior * values)[:, :, None])[:, :, 0]
        longest = np.maximum(np.abs(step).max(axis=1), _LONGEST_STEP)
        values = values + step * (_LONGEST_STEP / longest)[:, None]
        if np.abs(step).max(initial=0) < _CLOSE:
            break
    error = np.sqrt(np.linalg.inv(curve)[:, 0, 0])
    return Sharpness(values[:, 0], error, values[:, 1:].T)


def probabilities(fit: Sharpness, rater: Int64Array, shares: FloatArray) -> FloatArray:
    """Each annotation's probabilities under its rater's sharpness and leaning, shape (K, A)."""
    score: FloatArray = np.log(shares) * fit.beta[rater] + fit.leaning[:, rater]
    score -= score.max(axis=0)
    np.exp(score, out=score)
    score /= score.sum(axis=0)
    return score


def _slope_and_curve(
    q: FloatArray, given: FloatArray, log: FloatArray, rater: Int64Array, n_raters: int
) -> tuple[FloatArray, FloatArray]:
    """Slope (J, 1 + K) and negative curvature (J, 1 + K, 1 + K) of the log-likelihood."""

    def total(values: FloatArray) -> FloatArray:
        return np.bincount(rater, values, n_raters).astype(np.float64, copy=False)

    k = len(q)
    mean = (q * log).sum(axis=0)
    slope, curve = np.empty((n_raters, 1 + k)), np.empty((n_raters, 1 + k, 1 + k))
    slope[:, 0] = total((given * log).sum(axis=0) - mean)
    curve[:, 0, 0] = total((q * log**2).sum(axis=0) - mean**2)
    for a in range(k):
        slope[:, 1 + a] = total(given[a] - q[a])
        curve[:, 0, 1 + a] = curve[:, 1 + a, 0] = total(q[a] * (log[a] - mean))
        for b in range(a, k):
            own = q[a] if a == b else 0.0
            curve[:, 1 + a, 1 + b] = curve[:, 1 + b, 1 + a] = total(own - q[a] * q[b])
    return slope, curve
