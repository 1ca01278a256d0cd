"""Labels to be expected of independent raters: near those of the others, with a leaning of their own."""

from __future__ import annotations

import numpy as np

from grasp_core.annotations import Annotations, BoolArray, FloatArray, Int32Array, Int64Array

_STEPS = 15
_MOST_SHARP = 5.0
_LEAST = 1e-9
"""What rounding may leave of a label that nobody else gave."""


def others_shares(annotations: Annotations, rows: BoolArray, weight: FloatArray | None = None) -> FloatArray:
    """Labels that the other raters gave each annotation's item, smoothed by one label of the whole data's.

    Shape (K, A), as all that follows: sums over few labels are fast down a column, not along a row.
    Raters may weigh less than 1 (`weight`, shape (J,)).
    """
    k = annotations.n_categories
    weights = np.ones(annotations.n_annotations) if weight is None else weight[annotations.rater]
    cell = annotations.category * np.int64(annotations.n_items) + annotations.item
    counts = np.zeros((k, annotations.n_items))
    np.add.at(counts.reshape(-1), cell, weights)
    overall = (counts.sum(axis=1) + 0.5) / (counts.sum() + 0.5 * k)
    others = counts.take(annotations.item[rows], axis=1)
    others[annotations.category[rows], np.arange(others.shape[1])] -= weights[rows]
    others += overall[:, None]
    np.maximum(others, _LEAST, out=others)
    shares: FloatArray = others / others.sum(axis=0)
    return shares


def fitted(rater: Int64Array, label: Int32Array, shares: FloatArray, n_raters: int) -> FloatArray:
    """Each annotation's probabilities under its rater's fitted sharpness and leaning, shape (K, A).

    Damped Newton steps on the likelihood with a unit normal prior around "as the others do".
    """

    def total(values: FloatArray) -> FloatArray:
        return np.bincount(rater, values, n_raters).astype(np.float64, copy=False)

    log = np.log(shares)
    given = np.zeros_like(shares)
    given[label, np.arange(label.size)] = 1
    followed = log[label, np.arange(label.size)]
    sharp, lean = np.ones(n_raters), np.zeros((len(shares), n_raters))
    for _ in range(_STEPS):
        q = _probabilities(sharp, lean, rater, log)
        for k, q_k in enumerate(q):
            lean[k] += 0.5 * (total(given[k] - q_k) - lean[k]) / (total(q_k * (1 - q_k)) + 1)
        q = _probabilities(sharp, lean, rater, log)
        q_log = q * log
        mean = q_log.sum(axis=0)
        slope = total(followed - mean) - (sharp - 1)
        q_log *= log
        curve = total(q_log.sum(axis=0) - mean**2) + 1
        sharp = np.clip(sharp + slope / curve, 0, _MOST_SHARP)
    return _probabilities(sharp, lean, rater, log)


def _probabilities(sharp: FloatArray, lean: FloatArray, rater: Int64Array, log: FloatArray) -> FloatArray:
    score: FloatArray = log * sharp[rater]
    for k, lean_k in enumerate(lean):
        score[k] += lean_k[rater]
    score -= score.max(axis=0)
    np.exp(score, out=score)
    score /= score.sum(axis=0)
    return score
