"""A task whose raters and items are drawn anew: how likely each of them gives each label."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from grasp_core.annotations import BoolArray, FloatArray, Int64Array

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

    Parameters
    ----------
    counts : float array, shape (I, K)
        Labels of the items that new ones are made of; one row of zeros where there are none.
    overall : float array, shape (K,)
        Shares of labels over all items.
    spread : float
        Weight of `overall` in an item's shares, in labels: large where items are alike.
    centres : float array, shape (2, 1 + K)
        Means of raters' parameters, of the others and of the group.
    scatter : float array, shape (1 + K,)
        Their standard deviations.
    own : float
        How far the group has a view of its own of each item, from 0 to below 1.
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
