"""The model of ratings, fitted to a pilot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy  # its optimize takes a while to load, and is when it is first used
from scipy.special import gammaln

from grasp_core.model.annotations import BoolArray, FloatArray, Int64Array

SHARP, LEAN = 0, 1
"""Columns of a rater's parameters: the logarithm of sharpness, then a leaning to each label."""
BLUNTEST, SHARPEST = -6.0, 1.6
"""Logarithms of the least and the largest sharpness of a rater."""
_LEAST_SHARE = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """Raters who follow a view of each item with a sharpness and leaning of their own.

    A rater gives item i label k with a probability proportional to ``view[i, k] ** sharp * exp(lean[k])``.
    Sharpness is log-normal: raters of a blunt group differ by the same factors as those of a sharp one.

    `counts`, shape (I, K): labels of the items that new ones are made of; one row of zeros where there are
        none.
    `overall`, shape (K,): shares of labels over all items.
    `spread`: weight of `overall` in an item's shares, in labels: large where items are alike.
    `centres`, shape (2, 1 + K): means of raters' parameters, of the others and of the group.
    `scatter`, shape (1 + K,): their standard deviations.
    `own`: how far the group has a view of its own of each item, from 0 to below 1.
    """

    counts: FloatArray
    overall: FloatArray
    spread: float
    centres: FloatArray
    scatter: FloatArray
    own: float

    def draw_views(self, n_items: int, rng: np.random.Generator) -> FloatArray:
        """What others and the group see in new items, shape (2, n_items, K)."""
        picked = rng.integers(len(self.counts), size=n_items)
        others = _dirichlet(self.counts[picked] + self.spread * self.overall, rng)
        if self.own == 0:
            return np.stack([others, others])
        return np.stack([others, _dirichlet(others * (1 - self.own) / self.own, rng)])

    def draw_raters(self, member: BoolArray, rng: np.random.Generator) -> FloatArray:
        """Parameters of new raters, shape (J, 1 + K)."""
        drawn = self.centres[member.astype(np.intp)]
        drawn = drawn + self.scatter * rng.standard_normal(drawn.shape)
        drawn[:, SHARP] = drawn[:, SHARP].clip(BLUNTEST, SHARPEST)
        return drawn

    def draw_labels(
        self, item: Int64Array, rater: Int64Array, n_items: int, member: BoolArray, rng: np.random.Generator
    ) -> Int64Array:
        """Labels that new raters give to new items, shape (A,)."""
        raters = self.draw_raters(member, rng)[rater]
        view = np.log(self.draw_views(n_items, rng))[member[rater].astype(np.intp), item]
        share = probabilities(view, raters)
        draw = rng.random(item.size)
        label = np.zeros(item.size, dtype=np.int64)
        for upper in share.cumsum(axis=-1).T[:-1]:
            label += draw > upper
        return label


def probabilities(log_view: FloatArray, raters: FloatArray) -> FloatArray:
    """How likely each label is: views (..., K) and parameters (..., 1 + K) give (..., K)."""
    score = log_view * np.exp(raters[..., SHARP : SHARP + 1]) + raters[..., LEAN:]
    score -= score.max(axis=-1, keepdims=True)
    np.exp(score, out=score)
    score /= score.sum(axis=-1, keepdims=True)
    return np.asarray(score)


def _dirichlet(weights: FloatArray, rng: np.random.Generator) -> FloatArray:
    # By logarithms, since gamma variates of small weights are too small for numbers.
    drawn = np.log(rng.standard_gamma(weights + 1)) + np.log1p(-rng.random(weights.shape)) / weights
    drawn = np.exp(drawn - drawn.max(axis=-1, keepdims=True)).clip(_LEAST_SHARE)
    return np.asarray(drawn / drawn.sum(axis=-1, keepdims=True))


_ROUNDS = 40
_SPREADS = (-3.0, 5.5)
"""Logarithms between which the items' spread is looked for."""
_MOST_OWN = 0.95
_LEAST_SCATTER = 0.02
_STRAYS = 1.0
"""Raters that the prior of the scatter counts for: standard deviations of 0.3."""
_HALVINGS = 8
"""How often a step that makes a rater's labels less likely is halved before it is not taken at all."""


@dataclass(frozen=True, slots=True, eq=False)
class Pilot:
    """Annotations of raters who are in the group or among the others.

    `item`, `rater`, `label`: shape (A,).
    `member`, shape (J,): raters of the group; nobody else but the others is counted.
    """

    item: Int64Array
    rater: Int64Array
    label: Int64Array
    n_items: int
    n_labels: int
    member: BoolArray


def fit(pilot: Pilot) -> Model:
    """Fit the model, with a group that differs as it does in the pilot.

    Items: the others' labels of each are Dirichlet-multinomial, whose weight is found by maximum likelihood.
    Raters: each is held against the labels of the others, less the own one, by Newton steps, halved where
    they go too far; means by side and standard deviations of all are those that the raters, with the
    uncertainty of each, make most likely (expectation and maximisation, each rater's likelihood taken as
    normal). The group's own view: what its labels spread beyond that, by maximum likelihood too.
    """
    inside = pilot.member[pilot.rater]
    others = _counted(pilot, ~inside)
    overall = (others.sum(axis=0) + 0.5) / (others.sum() + 0.5 * pilot.n_labels)
    paired = others[others.sum(axis=1) >= 2]
    found = scipy.optimize.minimize_scalar(
        lambda log: -_dirichlet_multinomial(paired, np.exp(log) * overall[None]).sum(),
        bounds=_SPREADS,
        method="bounded",
    )
    spread = float(np.exp(found.x))
    taken = others[pilot.item]
    taken[np.arange(pilot.item.size), pilot.label] -= ~inside
    taken += spread * overall
    log_view = np.log(taken / taken.sum(axis=1, keepdims=True))
    raters, centres, scatter = _raters(pilot, log_view)
    own = _own(pilot, inside, others, spread, probabilities(log_view, raters[pilot.rater]))
    return Model(others[others.sum(axis=1) > 0], overall, spread, centres, scatter, own)


def _counted(pilot: Pilot, rows: BoolArray) -> FloatArray:
    cell = pilot.item[rows] * pilot.n_labels + pilot.label[rows]
    counts = np.bincount(cell, minlength=pilot.n_items * pilot.n_labels)
    return counts.reshape(-1, pilot.n_labels).astype(np.float64)


def _dirichlet_multinomial(counts: FloatArray, weights: FloatArray) -> FloatArray:
    """Log likelihood of each row of counts, up to what does not depend on the weights."""
    n, total = counts.sum(axis=-1), weights.sum(axis=-1)
    of_labels = (gammaln(counts + weights) - gammaln(weights)).sum(axis=-1)
    return np.asarray(of_labels + gammaln(total) - gammaln(total + n))


def _raters(pilot: Pilot, log_view: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Parameters of raters (J, 1 + K), means of both sides (2, 1 + K), standard deviations (1 + K,)."""
    side = pilot.member.astype(np.intp)
    n = np.bincount(side, minlength=2)[:, None]
    centres = np.zeros((2, 1 + pilot.n_labels))
    scatter = np.full(1 + pilot.n_labels, 0.5)
    raters = centres[side]
    given = np.eye(pilot.n_labels)[pilot.label]
    for _ in range(_ROUNDS):
        raters, error = _step(pilot, log_view, given, raters, centres[side], scatter)
        for of in (0, 1):
            centres[of] = raters[side == of].sum(axis=0) / n[of]
        centres[:, LEAN:] -= centres[:, LEAN:].mean(axis=1, keepdims=True)
        # Of leanings only their differences show; that all are higher alike varies as the prior says.
        error[:, LEAN:] += (scatter[LEAN:] ** 2 - error[:, LEAN:]) / pilot.n_labels
        squared = (error + (raters - centres[side]) ** 2).sum(axis=0)
        scatter = np.sqrt((squared + _STRAYS * 0.3**2) / (side.size + _STRAYS)).clip(_LEAST_SCATTER)
    return raters, centres, scatter


def _step(
    pilot: Pilot,
    log_view: FloatArray,
    given: FloatArray,
    raters: FloatArray,
    centre: FloatArray,
    scatter: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Raters after a Newton step in each direction, and the variance of each, both (J, 1 + K)."""

    def total(values: FloatArray) -> FloatArray:
        return np.bincount(pilot.rater, values, len(raters)).astype(np.float64, copy=False)

    share = probabilities(log_view, raters[pilot.rater])
    mean = (share * log_view).sum(axis=1)
    slope = np.empty_like(raters)
    curve = np.empty_like(raters)
    sharp = np.exp(raters[:, SHARP])
    slope[:, SHARP] = sharp * total(((given - share) * log_view).sum(axis=1))
    curve[:, SHARP] = sharp**2 * total((share * log_view**2).sum(axis=1) - mean**2)
    for k in range(pilot.n_labels):
        slope[:, LEAN + k] = total(given[:, k] - share[:, k])
        curve[:, LEAN + k] = total(share[:, k] * (1 - share[:, k]))
    precision = curve + scatter**-2
    moved = raters + 0.5 * (slope - (raters - centre) / scatter**2) / precision
    moved[:, SHARP] = moved[:, SHARP].clip(BLUNTEST, SHARPEST)
    return _no_worse(
        raters, moved, lambda tried: _likely(pilot, log_view, tried, centre, scatter)
    ), 1 / precision


def _no_worse(
    raters: FloatArray, moved: FloatArray, likely: Callable[[FloatArray], FloatArray]
) -> FloatArray:
    """Moved only as far as that makes each rater no less likely.

    The curve of a label that a rater seems never to give is flat, and a whole step overshoots the one who
    gives it often: the next comes back further still.
    """
    before = likely(raters)
    for _ in range(_HALVINGS):
        worse = likely(moved) < before
        if not worse.any():
            return moved
        moved[worse] = (moved[worse] + raters[worse]) / 2
    return np.where((likely(moved) < before)[:, None], raters, moved)


def _likely(
    pilot: Pilot, log_view: FloatArray, raters: FloatArray, centre: FloatArray, scatter: FloatArray
) -> FloatArray:
    """Log likelihood of each rater's labels and parameters (J,), up to what does not depend on the latter."""
    share = probabilities(log_view, raters[pilot.rater])[np.arange(pilot.label.size), pilot.label]
    of_labels = np.bincount(pilot.rater, np.log(share.clip(np.finfo(np.float64).tiny)), len(raters))
    return np.asarray(of_labels - (((raters - centre) / scatter) ** 2).sum(axis=1) / 2)


def _own(pilot: Pilot, inside: BoolArray, others: FloatArray, spread: float, share: FloatArray) -> float:
    """How far the group's labels of items spread beyond its raters' sharpness and leaning."""
    counts = _counted(pilot, inside)
    expected = np.stack(
        [np.bincount(pilot.item[inside], share[inside, k], pilot.n_items) for k in range(pilot.n_labels)],
        axis=1,
    )
    several = counts.sum(axis=1) >= 2
    if not several.any():
        return 0.0
    counts, expected = counts[several], expected[several] + 1e-9
    expected /= expected.sum(axis=1, keepdims=True)
    unsure = 1 / (others[several].sum(axis=1) + spread + 1)

    def unlikely(own: float) -> float:
        variance = own + unsure - own * unsure
        weight = (1 - variance) / variance
        return -float(_dirichlet_multinomial(counts, weight[:, None] * expected).sum())

    found = scipy.optimize.minimize_scalar(
        unlikely, bounds=(0.0, _MOST_OWN), method="bounded", options={"xatol": 1e-4}
    )
    return float(found.x) if unlikely(found.x) < unlikely(0.0) else 0.0
