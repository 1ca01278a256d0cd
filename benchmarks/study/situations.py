"""Cells in which raters are not exchangeable: nothing is planted in the group that is tested.

Each situation is there as it is, and with its remedy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from benchmarks import clickers, confounded
from benchmarks.planted import AXIS, dataset, independent_shares, labelled, own_view
from benchmarks.study.cells import Cell
from grasp_core.model.annotations import Annotations, Axis, BoolArray, Int64Array
from grasp_core.model.spec import WORKLOAD
from grasp_core.reading.dataset.load import Dataset

K = 3
RATERS, ITEMS = 60, 60
INSIDE = 20
ASSOCIATED = 0.75
"""Share of raters on the same side of two axes of equal halves, for a Cramer's V of .5."""
TEAMS = 12
WEIGHT = 0.6
"""Data sets, as a multiple of the study's number."""
VIEW = 0.3
"""Strength of the own view of one race, or of each team."""
OF_EITHER = 4
"""Annotations of either pool kept for each rater, if all are to have as many of both."""


@dataclass(frozen=True, slots=True)
class Situation:
    """A situation with its remedy; `remedy` is empty for the situation as it is."""

    name: str
    remedy: str
    draw: Callable[[int], Dataset]
    changes: Mapping[str, Any]

    @property
    def cell(self) -> Cell:
        """The cell, for the axis that has no part in the labels."""
        return Cell(
            "situation",
            f"{self.name}; {self.remedy or 'as it is'}",
            self.draw,
            ((AXIS,),),
            changes=self.changes,
            weight=WEIGHT,
        )


def associated(seed: int) -> Dataset:
    """Draw data in which one race has its own view; the tested axis goes with race, at a Cramer's V of .5."""
    rng = np.random.default_rng(seed)
    shares = independent_shares(rng, RATERS, ITEMS, K)
    half = np.arange(RATERS) < RATERS // 2
    shares[half] = own_view(VIEW)(shares[half], rng)
    turned = np.zeros(RATERS, dtype=np.bool_)
    for side in (half, ~half):
        raters = np.flatnonzero(side)
        turned[rng.permutation(raters)[: round((1 - ASSOCIATED) * raters.size)]] = True
    tested = half ^ turned
    axes = {AXIS: _sides(tested), "race": ["one" if one else "other" for one in half]}
    return dataset(labelled(rng, shares, np.ones((RATERS, ITEMS), bool)), K, axes)


def in_teams(seed: int) -> Dataset:
    """Draw teams of five, each with its own view; a team's raters are all in the group or all outside."""
    rng = np.random.default_rng(seed)
    shares = independent_shares(rng, RATERS, ITEMS, K)
    team = np.arange(RATERS) // (RATERS // TEAMS)
    for t in range(TEAMS):
        shares[team == t] = own_view(VIEW)(shares[team == t], rng)
    axes = {AXIS: _sides(np.arange(RATERS) < INSIDE), "team": [f"team {t:02}" for t in team]}
    return dataset(labelled(rng, shares, np.ones((RATERS, ITEMS), bool)), K, axes)


def _sides(inside: BoolArray) -> list[str]:
    return ["in" if one else "out" for one in inside]


def with_batch(situation: confounded.Situation, seed: int) -> Dataset:
    """Draw data of batches, with each rater's batch as an axis: the first has the first quarter of items."""
    data = confounded.drawn(situation, seed)
    annotations, raters = data.annotations, data.raters
    number = _numbers(annotations)
    lowest = np.full(annotations.n_raters, situation.items)
    np.minimum.at(lowest, annotations.rater, number)
    batch = Axis.from_values(["first" if one < situation.items // 4 else "later" for one in lowest])
    return replace(data, raters=replace(raters, axes={**raters.axes, "batch": batch}))


def with_as_many_of_either(situation: confounded.Situation, seed: int) -> Dataset:
    """Draw data of an own pool, thinned: from each rater as many annotations of either pool, at random.

    Raters who have too few of a pool are left out, which is unrelated to their labels.
    """
    annotations = confounded.drawn(situation, seed).annotations
    labels = np.full((situation.raters, situation.items), -1)
    labels[annotations.rater, _numbers(annotations)] = annotations.category
    rng = np.random.default_rng([seed, OF_EITHER])
    order = np.where(labels >= 0, rng.random(labels.shape), np.inf)
    own = confounded.own_items(situation.items)
    stay = np.zeros(labels.shape, dtype=np.bool_)
    for pool in (own, ~own):
        stay[:, pool] = order[:, pool].argsort(axis=1).argsort(axis=1) < OF_EITHER
    stay &= labels >= 0
    whole = stay.sum(axis=1) == 2 * OF_EITHER
    inside = np.arange(situation.raters) < situation.inside
    return dataset(np.where(stay, labels, -1)[whole], K, {AXIS: _sides(inside[whole])})


def _numbers(annotations: Annotations) -> Int64Array:
    """Return the number of each annotation's item."""
    return np.array([int(name[1:]) for name in annotations.item_ids])[annotations.item]


POOL, HARDER, BATCHES, _ = confounded.CONFOUNDED
AS_MANY = "--drop, to as many of either pool"
BUSIER = confounded.Situation(
    "4 times as many items, with overlap", confounded.busier(4, spread=0.8), each=15
)
SITUATIONS = (
    Situation(POOL.name, "", partial(confounded.drawn, POOL), {}),
    Situation(POOL.name, AS_MANY, partial(with_as_many_of_either, POOL), {}),
    Situation(HARDER.name, "", partial(confounded.drawn, HARDER), {}),
    Situation(HARDER.name, AS_MANY, partial(with_as_many_of_either, HARDER), {}),
    Situation(BATCHES.name, "", partial(with_batch, BATCHES), {}),
    Situation(BATCHES.name, "--within batch", partial(with_batch, BATCHES), {"strata": ("batch",)}),
    Situation(BUSIER.name, "", partial(confounded.drawn, BUSIER), {}),
    Situation(BUSIER.name, "--within workload", partial(confounded.drawn, BUSIER), {"strata": (WORKLOAD,)}),
    Situation("another axis matters, Cramér's V .5", "", associated, {}),
    Situation("another axis matters, Cramér's V .5", "--within race", associated, {"strata": ("race",)}),
    Situation(
        "4 of the group's 10 click at random", "", partial(clickers.group_of_clickers, screen=False), {}
    ),
    Situation(
        "4 of the group's 10 click at random",
        "--leave-out random",
        partial(clickers.group_of_clickers, screen=True),
        {},
    ),
    Situation("teams of five within groups", "", in_teams, {}),
    Situation("teams of five within groups", "--cluster team", in_teams, {"cluster": "team"}),
)
"""All situations, each followed by its remedy."""
