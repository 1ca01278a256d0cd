"""Cells in which raters are exchangeable: nothing planted, or one group that differs in one way."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.planted import EFFECTS, EVENNESS, Effect, dataset, independent_shares, labelled
from benchmarks.study.cells import Cell
from grasp_core.model.annotations import BoolArray
from grasp_core.reading.dataset.load import Dataset

LABELS = (2, 3, 5, 7)
SIZES = (2, 5, 10, 25, 50)
"""Raters of the groups in which nothing is planted; the largest is about half of all raters."""
PLANTED_SIZES = (5, 10, 25, 50)
USUAL_SIZE = 25
"""Size of the group wherever one size stands for all."""
OTHERS = 8
"""Raters in no group of :data:`SIZES`; without them the last group would be the complement of all others."""
RATERS = 100
"""Number of raters if a difference is planted."""
NOTHING_WEIGHT, PLANTED_WEIGHT = 2, 0.3
"""Data sets, as multiples of the study's number: rates near .05 need more of them than powers do."""
_SECOND = ("one", "two", "three")


@dataclass(frozen=True, slots=True)
class Layout:
    """A way to hand out items: to all raters, or to so many (`each`) per item."""

    name: str
    items: int
    each: int | None

    def asked(self, rng: np.random.Generator, raters: int) -> BoolArray:
        """Draw which raters are asked about which items, shape (raters, items)."""
        if self.each is None:
            return np.ones((raters, self.items), bool)
        ranks = rng.random((raters, self.items)).argsort(axis=0).argsort(axis=0)
        return np.asarray(ranks < self.each)


CROSSED = Layout("crossed", 50, None)
SPARSE = Layout("sparse", 400, 10)
LAYOUTS = (CROSSED, SPARSE)


def nothing_planted(layout: Layout, k: int, evenness: float, seed: int) -> Dataset:
    """Draw groups of 2, 5, 10, 25 and 50 raters who answer like everybody else."""
    rng = np.random.default_rng(seed)
    values = [*(f"{size:02}" for size in SIZES for _ in range(size)), *["others"] * OTHERS]
    shares = independent_shares(rng, len(values), layout.items, k, evenness)
    return dataset(labelled(rng, shares, layout.asked(rng, len(values))), k, {"size": values})


@dataclass(frozen=True, slots=True)
class Planted:
    """An effect in a group of so many of 100 raters."""

    effect: Effect
    layout: Layout
    size: int

    @property
    def name(self) -> str:
        """Name of the cell."""
        return f"{self.effect.name}, {self.layout.name}, {self.size} raters"

    @property
    def cell(self) -> Cell:
        """The cell, in which the axis `second` is related to nothing."""
        draw = partial(planted, self.layout, self.effect, self.size)
        both = frozenset({("in",), ("out",)})  # either side differs from the other
        of_peers = self.size == USUAL_SIZE
        asked = (("side",), ("second",))
        return Cell("planted", self.name, draw, asked, both, of_peers=of_peers, weight=PLANTED_WEIGHT)


def planted(layout: Layout, effect: Effect, size: int, seed: int) -> Dataset:
    """Draw data in which a group of so many of 100 raters differs; a second axis is related to nothing."""
    rng = np.random.default_rng(seed)
    shares = independent_shares(rng, RATERS, layout.items, effect.categories)
    shares[:size] = effect.plant(shares[:size], rng)
    axes = {
        "side": ["in" if j < size else "out" for j in range(RATERS)],
        "second": [_SECOND[place] for place in rng.permutation(RATERS) % len(_SECOND)],
    }
    return dataset(labelled(rng, shares, layout.asked(rng, RATERS)), effect.categories, axes)


NOTHING = [
    *(
        Cell(
            "nothing",
            f"{layout.name}, {k} labels",
            partial(nothing_planted, layout, k, EVENNESS),
            (("size",),),
            of_peers=k == 3,
            weight=NOTHING_WEIGHT,
        )
        for layout in LAYOUTS
        for k in LABELS
    ),
    *(
        Cell(
            "nothing",
            f"{layout.name}, 3 labels, raters mostly agree",
            partial(nothing_planted, layout, 3, EVENNESS / 3),
            (("size",),),
            weight=NOTHING_WEIGHT,
        )
        for layout in LAYOUTS
    ),
]
PLANTED = [
    Planted(effect, layout, size) for layout in LAYOUTS for effect in EFFECTS for size in PLANTED_SIZES
]
