"""Pilots drawn from a model that is known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import numpy as np

from grasp_core.analysis.planner._fitting import Model, Pilot

A = TypeVar("A")
B = TypeVar("B")

LABELS = ("no", "unsure", "yes")


def known_model(*, lean: float = 0.0, sharp: float = 1.0, own: float = 0.0) -> Model:
    """Items of very different shares, and a group that leans to the last label, or differs otherwise."""
    centres = np.array([[0.0, 0.0, 0.0, 0.0], [np.log(sharp), -lean / 3, -lean / 3, 2 * lean / 3]])
    return Model(np.zeros((1, 3)), np.array([0.5, 0.2, 0.3]), 2.5, centres, np.full(4, 0.3), own)


def drawn(model: Model, *, raters: int = 80, items: int = 80, inside: int = 24, seed: int = 1) -> Pilot:
    """Every rater labels every item."""
    item, rater = np.repeat(np.arange(items), raters), np.tile(np.arange(raters), items)
    member = np.arange(raters) < inside
    label = model.draw_labels(item, rater, items, member, np.random.default_rng(seed))
    return Pilot(item, rater, label, items, 3, member)


def with_odd_raters(*, seed: int = 1) -> Pilot:
    """Many raters of one mind, and six who say most of the time what the others hardly ever say."""
    raters, items = 40, 120
    item, rater = np.repeat(np.arange(items), raters), np.tile(np.arange(raters), items)
    rng = np.random.default_rng(seed)
    odd = (rater % 7 == 0) & (rng.random(item.size) < 0.9)
    usual = np.where(rng.random(item.size) < 0.95, 2 * (item % 2), 2 - 2 * (item % 2))
    return Pilot(item, rater, np.where(odd, 1, usual), items, 3, np.arange(raters) < 12)


def one_by_one(function: Callable[[A], B], arguments: Iterable[A], /) -> Iterator[B]:
    """What a pool does, here and now."""
    return map(function, arguments)
