"""Pilots drawn from a model that is known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import numpy as np

from grasp_core.planner.fitting import Pilot
from grasp_core.planner.model import Model

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


def one_by_one(function: Callable[[A], B], arguments: Iterable[A], /) -> Iterator[B]:
    """What a pool does, here and now."""
    return map(function, arguments)
