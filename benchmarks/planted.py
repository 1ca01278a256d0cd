"""Made-up data in which one group of raters differs from the others in one known way."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from grasp_core.model.annotations import Annotations, Axis, BoolArray, FloatArray, Int64Array, Raters
from grasp_core.model.data_spec import DataSpec
from grasp_core.model.result import DataSummary
from grasp_core.model.spec import AnalysisSpec, RunSpec
from grasp_core.reading.dataset.load import Dataset

ITEMS, RATERS, INSIDE = 60, 60, 15
AXIS = "side"
EVENNESS, SKILL, LEANING = 0.85, 0.45, 0.72
"""Spread of items' label shares (Dirichlet), of raters' skill and of their leaning (both log-normal)."""

Random = np.random.Generator
Shares = FloatArray
"""Shape (raters, items, K): probability of each label."""


@dataclass(frozen=True, slots=True)
class Effect:
    """A difference to plant in a group's shares, with `categories` labels."""

    name: str
    categories: int
    plant: Callable[[Shares, Random], Shares]


def nothing(shares: Shares, rng: Random) -> Shares:
    """Leave the shares as they are."""
    return shares


def own_view(strength: float) -> Callable[[Shares, Random], Shares]:
    """Replace each label of the group, with this probability, by the group's own label for the item."""

    def plant(shares: Shares, rng: Random) -> Shares:
        _, items, k = shares.shape
        view = np.eye(k)[rng.integers(0, k, items)]
        return np.asarray((1 - strength) * shares + strength * view)

    return plant


def noise(strength: float) -> Callable[[Shares, Random], Shares]:
    """Replace each label, with this probability, by any label."""
    return lambda shares, rng: np.asarray((1 - strength) * shares + strength / shares.shape[2])


def opposite(part: float) -> Callable[[Shares, Random], Shares]:
    """Replace every label by another one, on this part of the items."""

    def plant(shares: Shares, rng: Random) -> Shares:
        items = shares.shape[1]
        turned = rng.permutation(items) < round(part * items)
        return np.where(turned[:, None], np.roll(shares, 1, axis=2), shares)

    return plant


def shifted(points: float) -> Callable[[Shares, Random], Shares]:
    """Raise the last label by so many points on average, and keep the proportions of the others."""

    def plant(shares: Shares, rng: Random) -> Shares:
        goal = shares[..., -1].mean() + points / 100
        low, high = 0.0, 10.0
        for _ in range(40):
            middle = (low + high) / 2
            found = _leaning_to_last(shares, middle)
            low, high = (middle, high) if found[..., -1].mean() < goal else (low, middle)
        return found

    return plant


def _leaning_to_last(shares: Shares, log_odds: float) -> Shares:
    weighted = shares.copy()
    weighted[..., -1] *= np.exp(log_odds)
    return np.asarray(weighted / weighted.sum(axis=2, keepdims=True))


EFFECTS = (
    Effect("own view of each item, strength .15", 3, own_view(0.15)),
    Effect("the same, .3", 3, own_view(0.3)),
    Effect("more noise, .3", 3, noise(0.3)),
    Effect("opposite view on 20 % of items", 3, opposite(0.2)),
    Effect("one label 15 points more often, K = 3", 3, shifted(15)),
    Effect("the same, K = 2", 2, shifted(15)),
)
NOTHING = Effect("no difference", 3, nothing)


def drawn(
    effect: Effect, seed: int, *, items: int = ITEMS, raters: int = RATERS, inside: int = INSIDE
) -> Dataset:
    """Draw items that all raters label, by default 60 each; the 15 raters on side "in" behave as planted."""
    rng = np.random.default_rng(seed)
    shares = independent_shares(rng, raters, items, effect.categories)
    shares[:inside] = effect.plant(shares[:inside], rng)
    side = ["in" if j < inside else "out" for j in range(raters)]
    return dataset(labelled(rng, shares, np.ones((raters, items), bool)), effect.categories, {AXIS: side})


def independent_shares(rng: Random, raters: int, items: int, k: int, evenness: float = EVENNESS) -> Shares:
    """Return the label shares of raters of different skill and leaning on items of different labels.

    The smaller `evenness` is, the more an item has one label.
    """
    of_items = rng.dirichlet(np.full(k, evenness), items)
    skill = np.exp(rng.normal(0, SKILL, (raters, 1, 1)))
    leaning = np.exp(rng.normal(0, LEANING, (raters, 1, k)))
    shares = np.maximum(of_items, 1e-9) ** skill * leaning
    return np.asarray(shares / shares.sum(axis=2, keepdims=True))


def labelled(rng: Random, shares: Shares, asked: BoolArray) -> Int64Array:
    """Draw a label for each rater and item that was `asked`, -1 elsewhere: shape (raters, items)."""
    draw = rng.random((*asked.shape, 1))
    return np.where(asked, (draw > shares.cumsum(axis=2)[..., :-1]).sum(axis=2), -1)


def dataset(labels: Int64Array, k: int, axes: Mapping[str, Sequence[str]]) -> Dataset:
    """Make a data set from labels of shape (raters, items), -1 for none, and each rater's values on the axes.

    Items that nobody labelled are left out; the others keep their number as their name.
    """
    used = np.flatnonzero((labels >= 0).any(axis=0))
    rater, item = np.nonzero(labels[:, used] >= 0)
    n_raters, n_items = len(labels), used.size
    annotations = Annotations.from_codes(
        item=item,
        rater=rater,
        category=labels[rater, used[item]],
        item_ids=[f"i{i:04}" for i in used],
        rater_ids=[f"r{j:04}" for j in range(n_raters)],
        categories=[f"label {letter}" for letter in "abcdefgh"[:k]],
    )
    values = {name: Axis.from_values(list(of)) for name, of in axes.items()}
    profiles = Raters(annotations.rater_ids, values, np.bincount(rater, minlength=n_raters))
    counts = tuple(np.bincount(annotations.category, minlength=k).tolist())
    an_item = np.bincount(item, minlength=n_items)
    each = (int(an_item.min()), float(np.median(an_item)), int(an_item.max()))
    summary = DataSummary(
        n_items, n_raters, item.size, annotations.categories, counts, each, sha256="0" * 64, files=()
    )
    return Dataset(annotations, profiles, summary, problems=())


def run_spec(seed: int, permutations: int) -> RunSpec:
    """Return the run for such data."""
    return RunSpec(
        DataSpec(item="item", rater="rater", label="label"),
        AnalysisSpec(axes=((AXIS,),), permutations=permutations, seed=seed, pairs=False),
    )
