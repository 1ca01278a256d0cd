"""The cheapest design that finds the difference as often as is wanted, and whom it takes."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from grasp_core.planner.surface import items_needed
from grasp_core.planner.values import Plan, PlanSpec

_NUMBERS = 400
"""Numbers of raters that are tried."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A design, its annotations, and what it costs with the raters one has."""

    raters: int
    items: int
    annotations: int
    cost: float


@dataclass(frozen=True, slots=True)
class Needed:
    """A group's row of the recruitment table."""

    group: str
    have: int
    needed: int
    recruit: int
    annotations: int
    cost: float


def cheapest(plan: Plan, factor: float = 1.0) -> Choice | None:
    """The cheapest design of the range that reaches the goal; None where none does.

    All annotations are new ones; raters of the pilot may be asked again and need not be recruited.
    """
    spec = plan.spec
    numbers = np.unique(np.geomspace(*spec.raters, _NUMBERS).round().astype(int))
    choices = [_choice(plan, int(raters), factor) for raters in numbers]
    found = [choice for choice in choices if choice is not None]
    return min(found, key=lambda one: (one.cost, one.annotations, one.raters), default=None)


def _choice(plan: Plan, raters: int, factor: float) -> Choice | None:
    spec = plan.spec
    needed = items_needed(plan.fit, spec, spec.goal, raters, factor)
    if needed > spec.items[1]:
        return None
    items = max(math.ceil(needed), spec.items[0])
    rows = recruitment(plan, raters, items)
    return Choice(raters, items, round(spec.annotations(raters, items)), sum(row.cost for row in rows))


def recruitment(plan: Plan, raters: int, items: int) -> list[Needed]:
    """Whom a design takes: the group's share of the raters, the others as they are in the pilot."""
    spec = plan.spec
    each = spec.annotations(raters, items) / raters
    numbers = _numbers(plan, raters)
    return [
        _needed(spec, one.name, one.n_raters, number, each)
        for one, number in zip(plan.have, numbers, strict=True)
    ]


def _needed(spec: PlanSpec, group: str, have: int, needed: int, each: float) -> Needed:
    recruit = max(needed - have, 0)
    annotations = round(needed * each)
    cost = annotations * spec.per_annotation + recruit * spec.per_rater
    return Needed(group, have, needed, recruit, annotations, cost)


def _numbers(plan: Plan, raters: int) -> list[int]:
    """Raters of each group, which add up."""
    n = plan.spec.n_group(raters)
    weights = np.array([0 if one.chosen else max(one.n_raters, 1) for one in plan.have])
    upto = np.round(np.cumsum(weights) / weights.sum() * (raters - n)).astype(int)
    others = np.diff(upto, prepend=0)
    return [n if one.chosen else int(number) for one, number in zip(plan.have, others, strict=True)]
