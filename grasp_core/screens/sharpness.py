"""Sharpness of raters: how closely each follows the labels of the others, with its standard error."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from threadpoolctl import threadpool_limits

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
    with threadpool_limits(1):  # threads that wait for each other cost more than these small systems
        return _fitted(rater, label, shares, n_raters)


def _fitted(rater: Int64Array, label: Int32Array, shares: FloatArray, n_raters: int) -> Sharpness:
    log = np.log(shares)
    every = np.arange(label.size)
    given = np.zeros_like(shares)
    given[label, every] = 1
    of_raters = csr_array((np.ones(label.size), (rater, every)), shape=(n_raters, label.size))
    prior = np.array([_WEAK[0], *np.full(len(shares), _WEAK[1])])
    values = np.zeros((n_raters, 1 + len(shares)))
    for _ in range(_STEPS):
        fit = Sharpness(values[:, 0], values[:, 0], values[:, 1:].T)
        slope, curve = _slope_and_curve(probabilities(fit, rater, shares), given, log, of_raters)
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
    q: FloatArray, given: FloatArray, log: FloatArray, of_raters: csr_array
) -> tuple[FloatArray, FloatArray]:
    """Slope (J, 1 + K) and negative curvature (J, 1 + K, 1 + K) of the log-likelihood.

    `of_raters`, shape (J, A), has 1 where an annotation is a rater's: it sums over each rater's annotations.
    """
    n_raters, k = of_raters.shape[0], len(q)
    mean = (q * log).sum(axis=0)
    slope, curve = np.empty((n_raters, 1 + k)), np.empty((n_raters, 1 + k, 1 + k))
    slope[:, 0] = of_raters @ ((given * log).sum(axis=0) - mean)
    slope[:, 1:] = of_raters @ (given - q).T
    curve[:, 0, 0] = of_raters @ ((q * log**2).sum(axis=0) - mean**2)
    curve[:, 0, 1:] = curve[:, 1:, 0] = of_raters @ (q * (log - mean)).T
    by_row = np.ascontiguousarray(q.T)
    for a in range(k):
        both = -by_row[:, a, None] * by_row[:, a:]
        both[:, 0] += q[a]
        curve[:, 1 + a, 1 + a :] = curve[:, 1 + a :, 1 + a] = of_raters @ both
    return slope, curve
