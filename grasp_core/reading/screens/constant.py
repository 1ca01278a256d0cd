"""Raters who always give one label, if there are more of them than chance explains."""

from typing import NamedTuple

import numpy as np
from scipy.special import betaln, gammaln, ndtr, xlog1py, xlogy

from grasp_core.model.annotations import Annotations, BoolArray, FloatArray, Int32Array, Int64Array, Raters
from grasp_core.model.groups import form_groups

_STEPS = 15
_MOST_SHARP = 5.0
_LEAST = 1e-9  # least weight of a label: rounding may leave less of one that nobody else gave


def others_shares(annotations: Annotations, rows: BoolArray, weight: FloatArray | None = None) -> FloatArray:
    """Return smoothed shares of labels that others, by `weight` (J,), gave each one's item: (K, A)."""
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
    """Return probabilities (K, A) of fitted sharpness and leanings: damped Newton steps, normal priors."""

    def total(values: FloatArray) -> FloatArray:
        return np.bincount(rater, values, n_raters).astype(np.float64, copy=False)

    log = np.log(shares)
    given = np.zeros_like(shares)
    given[label, np.arange(label.size)] = 1
    followed = log[label, np.arange(label.size)]
    sharp, lean = np.ones(n_raters), np.zeros((len(shares), n_raters))
    for _ in range(_STEPS):
        q = probabilities(sharp, lean, rater, log)
        for k, q_k in enumerate(q):
            lean[k] += 0.5 * (total(given[k] - q_k) - lean[k]) / (total(q_k * (1 - q_k)) + 1)
        q = probabilities(sharp, lean, rater, log)
        q_log = q * log
        mean = q_log.sum(axis=0)
        slope = total(followed - mean) - (sharp - 1)
        q_log *= log
        curve = total(q_log.sum(axis=0) - mean**2) + 1
        sharp = np.clip(sharp + slope / curve, 0, _MOST_SHARP)
    return probabilities(sharp, lean, rater, log)


def probabilities(sharp: FloatArray, lean: FloatArray, rater: Int64Array, log: FloatArray) -> FloatArray:
    """Return probabilities (K, A) by sharpness (J,), leaning (K, J) and logs of others' shares (K, A)."""
    score: FloatArray = log * sharp[rater]
    for k, lean_k in enumerate(lean):
        score[k] += lean_k[rater]
    score -= score.max(axis=0)
    np.exp(score, out=score)
    score /= score.sum(axis=0)
    return score


FEWEST_ANNOTATIONS = 10  # fewest annotations of a rater who may be called constant
LEVEL = 0.01  # bound on the chance of as many constant raters if all of them looked
MOST_WRONG = 0.25
"""Largest probability, by the same model, that a rater who is named looked and found one label right."""
FEWEST_FITTED = 3  # fewest raters who gave both labels for a fit

_MOST_FITTED = 5_000
_MOST_EXACT = 300.0
_IMPOSSIBLE = 1e-6
_BOUNDS = ((-12.0, 12.0), (-3.0, 8.0))
"""Bounds of the logit of the label's share, and of ln(alpha + beta), which is large if raters are alike."""


class TooConstant(NamedTuple):
    """Raters who are named, and raters with enough annotations to judge; bool arrays, shape (J,)."""

    named: BoolArray
    looked_at: BoolArray


def find_constant(annotations: Annotations) -> tuple[BoolArray, BoolArray]:
    """Return constant raters, and raters with enough annotations to judge; bool arrays, shape (J,)."""
    n_raters, top = annotations.n_raters, annotations.n_categories - 1
    lowest = np.full(n_raters, top, dtype=annotations.category.dtype)  # of one type: a hundred times faster
    highest = np.zeros_like(lowest)
    np.minimum.at(lowest, annotations.rater, annotations.category)
    np.maximum.at(highest, annotations.rater, annotations.category)
    enough = np.bincount(annotations.rater, minlength=n_raters) >= FEWEST_ANNOTATIONS
    return enough & (lowest == highest), enough


def too_constant(annotations: Annotations, raters: Raters | None) -> TooConstant:
    """Find constant raters if there are more of them than chance explains, also in a group of `raters`.

    The model and the rule stand in docs/quality.md. Poisson-binomial probabilities: Hong (2013),
    Computational Statistics & Data Analysis 59.
    """
    constant, enough = find_constant(annotations)
    nobody = TooConstant(np.zeros_like(constant), enough)
    if not constant.any():
        return nobody
    top = np.bincount(annotations.category).argmax()
    given = np.bincount(annotations.rater, minlength=annotations.n_raters)
    of_top = np.bincount(annotations.rater[annotations.category == top], minlength=annotations.n_raters)
    expected = _expected(given, of_top, enough)
    if expected is None:
        return nobody
    named = _hardly_looked(constant, expected, enough)
    grouping = None if raters is None else form_groups(raters, [(name,) for name in raters.axes])
    with_some = [] if grouping is None else [one for one in grouping.member if (one & named).any()]
    for member in with_some:
        own = _expected(given, of_top, enough & member)
        # If hardly anybody in a group gave both labels, one label is the group's label use.
        expected[member] = 1.0 if own is None else np.maximum(expected, own)[member]
    return TooConstant(_hardly_looked(constant, expected, enough) if len(with_some) else named, enough)


def _expected(given: Int64Array, of_top: Int64Array, among: BoolArray) -> FloatArray | None:
    """Return P_j of every rater, shape (J,), fitted to those in `among`; None if too few gave both labels."""
    fitted = np.flatnonzero(among & (of_top > 0) & (of_top < given))
    if fitted.size < FEWEST_FITTED:
        return None
    fitted = fitted[:: -(-fitted.size // _MOST_FITTED)]
    alpha, beta = _beta_binomial(np.stack([given[fitted], of_top[fitted]], axis=1))
    return _all_of_one(alpha, beta, given.astype(np.float64))


def _beta_binomial(raters: Int64Array) -> tuple[float, float]:
    """Return the most likely parameters for n_j and m_j, shape (R, 2), given that no rater is constant."""
    from scipy.optimize import minimize  # slow to load, and not needed without constant raters

    alike, times = np.unique(raters, axis=0, return_counts=True)
    given, of_top = alike.T.astype(np.float64)

    def loss(values: FloatArray) -> float:
        alpha, beta = _parameters(values)
        log = betaln(of_top + alpha, given - of_top + beta) - betaln(alpha, beta)
        return -float(times @ (log - np.log1p(-_all_of_one(alpha, beta, given))))

    start = np.array([np.log((of_top.sum() + 0.5) / ((given - of_top).sum() + 0.5)), 2.0])
    return _parameters(minimize(loss, start, bounds=_BOUNDS).x)


def _parameters(values: FloatArray) -> tuple[float, float]:
    share, total = 1 / (1 + np.exp(-values[0])), np.exp(values[1])
    return float(share * total), float((1 - share) * total)


def _all_of_one(alpha: float, beta: float, given: FloatArray) -> FloatArray:
    """Return the probability of 0 or n_j among n_j; below 1."""
    whole = betaln(alpha, beta)
    found = np.exp(betaln(alpha, given + beta) - whole) + np.exp(betaln(given + alpha, beta) - whole)
    return np.asarray(np.minimum(found, 1 - 1e-12))


def _hardly_looked(constant: BoolArray, expected: FloatArray, enough: BoolArray) -> BoolArray:
    """Return the constant raters who hardly looked, if there are more than expected, shape (J,)."""
    found = int(constant.sum())
    if _tail(expected[enough], found) >= LEVEL:
        return np.zeros_like(constant)
    unseen = (found - expected[enough].sum()) / (1 - expected[enough]).sum()
    looked = (1 - unseen) * expected
    return np.asarray(constant & (looked <= MOST_WRONG * (unseen + looked)))


def _tail(p: FloatArray, found: int) -> float:
    """Return the probability that `found` or more of independent events with probabilities `p` occur."""
    mean, variance = p.sum(), (p * (1 - p)).sum()
    over = found - mean
    if over > 0 and (bound := np.exp(-(over**2) / 2 / (variance + over / 3))) < _IMPOSSIBLE:
        return float(bound)  # Bernstein's bound: no sum is needed
    if mean > _MOST_EXACT:
        skew = (p * (1 - p) * (1 - 2 * p)).sum() / variance**1.5
        z = (found - 0.5 - mean) / np.sqrt(variance)
        density = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
        return float(ndtr(-z) + skew * (z**2 - 1) * density / 6)  # Edgeworth's first term
    below = np.eye(1, max(found, 1))[0]
    for one, times in zip(*np.unique(p, return_counts=True), strict=True):
        k = np.arange(min(times, found - 1) + 1)
        ways = gammaln(times + 1) - gammaln(k + 1) - gammaln(times - k + 1)
        below = np.convolve(below, np.exp(ways + xlogy(k, one) + xlog1py(times - k, -one)))[:found]
    return float(max(1 - below.sum(), 0.0)) if found else 1.0
