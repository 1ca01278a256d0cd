"""Raters who may have answered at random."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.special import ndtri
from threadpoolctl import threadpool_limits

from grasp_core.model.annotations import Annotations, BoolArray, FloatArray, Int32Array, Int64Array, tallied
from grasp_core.reading.screens.constant import find_constant, others_shares, probabilities

_STEPS = 25
_LONGEST_STEP = 1.5
_CLOSE = 1e-6
_WEAK = np.array([1e-3, 0.1])
"""Precisions of the priors around 0 for sharpness and leanings; they only keep the fit finite."""


class Sharpness(NamedTuple):
    """Fitted sharpness and its standard error, both shape (J,), and leanings, shape (K, J)."""

    beta: FloatArray
    error: FloatArray
    leaning: FloatArray


def fit_sharpness(rater: Int64Array, label: Int32Array, shares: FloatArray, n_raters: int) -> Sharpness:
    """Fit sharpness of either sign, and leanings, by Newton steps; `shares`, (K, A), has no 0."""
    log = np.log(shares)
    every = np.arange(label.size)
    given = np.zeros_like(shares)
    given[label, every] = 1
    of_raters = csr_array((np.ones(label.size), (rater, every)), shape=(n_raters, label.size))
    prior = np.array([_WEAK[0], *np.full(len(shares), _WEAK[1])])
    values = np.zeros((n_raters, 1 + len(shares)))
    with threadpool_limits(1):  # threads that wait for each other cost more than these small systems
        for _ in range(_STEPS):
            now = probabilities(values[:, 0], values[:, 1:].T, rater, log)
            slope, curve = _slope_and_curve(now, given, log, of_raters)
            curve += np.diag(prior)
            step = np.linalg.solve(curve, (slope - prior * values)[:, :, None])[:, :, 0]
            longest = np.maximum(np.abs(step).max(axis=1), _LONGEST_STEP)
            values = values + step * (_LONGEST_STEP / longest)[:, None]
            if np.abs(step).max(initial=0) < _CLOSE:
                break
        error = np.sqrt(np.linalg.inv(curve)[:, 0, 0])
    return Sharpness(values[:, 0], error, values[:, 1:].T)


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


FEWEST_SHARED = 20  # fewest items, labelled by others too, of a rater who is examined
FEWEST_RATERS = 5  # fewest raters among whom one is typical
LEVEL = 0.05
"""Bound on the chance that any rater is named whose sharpness is at least `SMALL` times the typical one."""
SMALL = 0.4
LEAST_AGREEMENT = 0.1
"""Least share of the disagreements of chance that the typical rater lacks, if anybody is to be named."""

MAX_CELLS = 6_000_000  # most annotations times categories; larger data are not examined
QUICK_CELLS = 400_000  # the same bound for a search of about a second

_SHUFFLES = 199
_MOST_ITEMS, _MOST_VALUES = 500, 4_000_000
_SEED = 1


@dataclass(frozen=True, slots=True, eq=False)
class RandomResponders:
    """Raters at chance, (J,), the raters examined, and the typical rater's agreement, if any was examined."""

    random: BoolArray
    looked_at: BoolArray
    agreement: float | None

    @property
    def raters(self) -> int:
        """Number of raters who are named."""
        return int(self.random.sum())


def random_responders(annotations: Annotations) -> RandomResponders:
    """Find raters whose labels are unrelated to the labels of others, though the others agree.

    The model and its conditions (1) to (3) stand in docs/quality.md. Another screen finds constant raters.
    """
    constant, _ = find_constant(annotations)
    per_rater = tallied(annotations.rater[_shared(annotations)], annotations.n_raters)
    looked_at = (per_rater >= FEWEST_SHARED) & ~constant
    nobody = np.zeros(annotations.n_raters, dtype=np.bool_)
    n_raters = int(looked_at.sum())
    if n_raters < FEWEST_RATERS or annotations.n_annotations * annotations.n_categories > MAX_CELLS:
        return RandomResponders(nobody, nobody, None)
    votes = _Votes.of(annotations, looked_at)
    found = _weighted(annotations, votes)
    agreement = float(np.median(_agreement(votes, found.shares)))
    named = nobody.copy()
    if agreement >= LEAST_AGREEMENT:
        own = _without_view(votes, found, np.flatnonzero(_at_chance(found.fit)))
        named[np.flatnonzero(looked_at)[own]] = True
    return RandomResponders(named, looked_at, agreement)


def is_quick_search(annotations: Annotations) -> bool:
    """Return whether the search takes about a second at most."""
    return annotations.n_annotations * annotations.n_categories <= QUICK_CELLS


class _Votes(NamedTuple):
    """Annotations examined: a mask; and of each the rater (position among those examined), item and label."""

    rows: BoolArray
    who: Int64Array
    item: Int32Array
    label: Int32Array
    n_raters: int

    @classmethod
    def of(cls, annotations: Annotations, looked_at: BoolArray) -> _Votes:
        rows = _shared(annotations) & looked_at[annotations.rater]
        place = np.cumsum(looked_at, dtype=np.int64) - 1
        rater, item, label = annotations.rater[rows], annotations.item[rows], annotations.category[rows]
        return cls(rows, place[rater], item, label, int(looked_at.sum()))


class _Found(NamedTuple):
    """Shares of the others' labels, shape (K, A), and raters' sharpness in following them."""

    shares: FloatArray
    fit: Sharpness


def _shared(annotations: Annotations) -> BoolArray:
    """Return the annotations of items that another rater labelled too."""
    shared: BoolArray = np.diff(annotations.indptr)[annotations.item] > 1
    return shared


def _weighted(annotations: Annotations, votes: _Votes) -> _Found:
    """Fit once with equal weights, and once with each rater weighted by their first sharpness."""
    shares = others_shares(annotations, votes.rows)
    first = fit_sharpness(votes.who, votes.label, shares, votes.n_raters)
    usual = np.median(first.beta)
    if usual <= 0:
        return _Found(shares, first)
    weight = np.ones(annotations.n_raters)
    weight[np.unique(annotations.rater[votes.rows])] = np.clip(first.beta / usual, 0, 1)
    shares = others_shares(annotations, votes.rows, weight)
    return _Found(shares, fit_sharpness(votes.who, votes.label, shares, votes.n_raters))


def _agreement(votes: _Votes, shares: FloatArray) -> FloatArray:
    """Return the share of the disagreements of chance, given their own labels, that each rater lacks."""
    n = np.bincount(votes.who, minlength=votes.n_raters)
    given = shares[votes.label, np.arange(votes.label.size)]
    seen = np.bincount(votes.who, given, votes.n_raters)
    chance = np.zeros(votes.n_raters)
    for k, of_label in enumerate(shares):
        own = np.bincount(votes.who, votes.label == k, votes.n_raters)
        chance += own * np.bincount(votes.who, of_label, votes.n_raters) / n
    lacking: FloatArray = (seen - chance) / np.maximum(n - chance, 1e-9)
    return lacking


def _at_chance(fit: Sharpness) -> BoolArray:
    """Return the raters who meet conditions (1) and (2)."""
    limit = SMALL * np.median(fit.beta)
    reach = -ndtri(LEVEL / fit.beta.size) * fit.error
    small = (fit.beta + reach < limit) & (fit.beta - reach > -limit)
    at_chance: BoolArray = small & (np.abs(fit.beta) < -ndtri(0.025) * fit.error)
    return at_chance


def _without_view(votes: _Votes, found: _Found, candidates: Int64Array) -> Int64Array:
    """Return the candidates who share no other rater's own view: condition (3)."""
    if not candidates.size:
        return candidates
    beside = -probabilities(found.fit.beta, found.fit.leaning, votes.who, np.log(found.shares))
    beside[votes.label, np.arange(votes.label.size)] += 1
    shared = [_shared_view(votes, beside, int(rater)) for rater in candidates]
    return candidates[np.array(shared) > LEVEL]


def _shared_view(votes: _Votes, beside: FloatArray, rater: int) -> float:
    """Return the p-value of a rater's agreement with others `beside` the common view, by shuffling."""
    rng = np.random.default_rng((_SEED, rater))
    own = np.flatnonzero(votes.who == rater)
    own = own if own.size <= _MOST_ITEMS else np.sort(rng.choice(own, _MOST_ITEMS, replace=False))
    k, n = len(beside), own.size
    label = np.eye(k)[votes.label[own]]
    shuffles = [label, *(label[rng.permutation(n)] for _ in range(_SHUFFLES))]
    matches = np.stack(shuffles).reshape(-1, n * k) @ _of_partners(votes, beside, own, rater)
    total = (np.maximum(matches, 0) ** 2).sum(axis=1)
    return float((total >= total[0] - 1e-9 * abs(total[0])).mean())


def _of_partners(votes: _Votes, beside: FloatArray, own: Int64Array, rater: int) -> FloatArray:
    """Return the others' labels beside the common view on a rater's items, shape (n K, partners)."""
    k, n = len(beside), own.size
    place = np.full(int(votes.item.max()) + 1, -1)
    place[votes.item[own]] = np.arange(n)
    theirs = np.flatnonzero((place[votes.item] >= 0) & (votes.who != rater))
    common = np.bincount(votes.who[theirs], minlength=votes.n_raters)
    closest = np.argsort(-common, kind="stable")[: max(_MOST_VALUES // (n * k), 1)]
    column = np.full(votes.n_raters, -1)
    column[closest] = np.arange(closest.size)
    theirs = theirs[column[votes.who[theirs]] >= 0]
    values = np.zeros((n, k, closest.size))
    values[place[votes.item[theirs]], :, column[votes.who[theirs]]] = beside[:, theirs].T
    return values.reshape(n * k, -1)
