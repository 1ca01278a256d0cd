"""How likely a difference is found, by raters and items, and whom to recruit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # its optimize takes a while to load, and is when it is first used
from scipy.special import expit, ndtr, ndtri

from grasp_core.analysis.planner.values import Cell, Fit, Plan, PlanSpec
from grasp_core.model.annotations import FloatArray
from grasp_core.model.spec import LEVEL

_BOUNDS = ((-5.0, 4.0), (-4.0, 4.0), (0.35, 1.5), (0.0, 1.0))
"""Of the logarithm of the signal, the logit of the raters' share of the noise, steepness and unevenness."""
_STARTS = ((0.5, 0.0, 0.5, 0.1), (1.0, 1.0, 0.9, 0.1), (0.0, -1.5, 0.7, 0.3))
_FACTORS = (-4.0, 2.0)
"""Logarithms between which a pilot's factor is looked for."""
_MOST = 60.0


def chance(fit: Fit, raters: FloatArray, annotations: FloatArray, factor: float = 1.0) -> FloatArray:
    """How likely the difference is found.

    `raters`, `annotations`: of the design, in all.
    `factor`: by which x is larger or smaller, see :class:`~grasp_core.analysis.planner.values.Plan`.

    With noise ``v = r J0 / J + (1 - r) A0 / A`` of J raters and A annotations, ``x = c v ** -g`` and the
    chance is ``Phi((x - z) / sqrt(1 + (h x) ** 2))``, z the normal quantile of the level; two-sided tests add
    the other tail. It grows with raters and with annotations.
    """
    noise = fit.of_raters * fit.raters / raters + (1 - fit.of_raters) * fit.annotations / annotations
    return _share(
        factor * np.asarray(np.minimum(fit.signal * noise**-fit.steep, _MOST)),
        fit.uneven,
        two_sided=fit.two_sided,
    )


def _share(x: FloatArray, uneven: float, *, two_sided: bool) -> FloatArray:
    wide = np.sqrt(1 + (uneven * x) ** 2)
    if not two_sided:
        return np.asarray(ndtr((x + ndtri(LEVEL)) / wide))
    z = ndtri(1 - LEVEL / 2)
    return np.asarray(ndtr((x - z) / wide) + ndtr((-x - z) / wide))


def fitted(cells: Sequence[Cell], spec: PlanSpec) -> Fit:
    """The function that makes what was simulated most likely.

    `cells`: each with data sets.
    """
    raters, annotations, sets, hits = _arrays(cells, spec)
    base = float(np.exp(np.log(raters).mean())), float(np.exp(np.log(annotations).mean()))
    two_sided = spec.target in ("gap", "gai")

    def made(values: FloatArray, miss: float = 0.0) -> Fit:
        signal, of_raters, steep, uneven = values
        return Fit(
            math.exp(signal), float(expit(of_raters)), float(steep), float(uneven), *base, two_sided, miss
        )

    def unlikely(values: FloatArray) -> float:
        share = chance(made(values), raters, annotations)
        # Weak priors, so that few data sets do not drive the form to its ends.
        prior = (values[1] / 2) ** 2 / 2 + ((values[2] - 0.6) / 0.5) ** 2 / 2 + (values[3] / 0.4) ** 2 / 2
        return _unlikely(share, sets, hits) + float(prior)

    found = min(
        (scipy.optimize.minimize(unlikely, start, method="L-BFGS-B", bounds=_BOUNDS) for start in _STARTS),
        key=lambda one: float(one.fun),
    ).x
    share = chance(made(found), raters, annotations)
    miss = float(np.average(np.abs(share - hits / sets), weights=sets))
    return made(found, miss)


def factor_of(fit: Fit, cells: Sequence[Cell], spec: PlanSpec) -> float:
    """By how much x is larger or smaller than the fit's in other data sets of the same designs."""
    raters, annotations, sets, hits = _arrays(cells, spec)

    def unlikely(log: float) -> float:
        # Where nearly all or nearly none are found, many factors say the same: then that nearest to 1.
        return _unlikely(chance(fit, raters, annotations, math.exp(log)), sets, hits) + (log / 1.5) ** 2 / 2

    return math.exp(scipy.optimize.minimize_scalar(unlikely, bounds=_FACTORS, method="bounded").x)


def _arrays(cells: Sequence[Cell], spec: PlanSpec) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    raters, sets, hits = (
        np.array([getattr(cell, name) for cell in cells], float) for name in ("raters", "sets", "hits")
    )
    annotations = np.array([spec.annotations(cell.raters, cell.items) for cell in cells], float)
    return raters, annotations, sets, hits


def _unlikely(share: FloatArray, sets: FloatArray, hits: FloatArray) -> float:
    share = share.clip(1e-6, 1 - 1e-6)
    return -float((hits * np.log(share) + (sets - hits) * np.log1p(-share)).sum())


def annotations_needed(fit: Fit, wanted: float, raters: float, factor: float = 1.0) -> float:
    """Annotations with which so many raters find the difference as often as wanted; inf: none are enough."""
    grid = np.linspace(0, _MOST, 2401)
    reached = np.flatnonzero(_share(grid, fit.uneven, two_sided=fit.two_sided) >= wanted)
    if not reached.size:
        return math.inf
    x = grid[reached[0]]
    left = (x / (factor * fit.signal)) ** (-1 / fit.steep) - fit.of_raters * fit.raters / raters
    return math.inf if left <= 0 else (1 - fit.of_raters) * fit.annotations / left


def items_needed(fit: Fit, spec: PlanSpec, wanted: float, raters: float, factor: float = 1.0) -> float:
    """Items that so many raters have to label, as :func:`annotations_needed`."""
    return annotations_needed(fit, wanted, raters, factor) / spec.annotations(raters, 1)


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
    n = plan.spec.n_group(raters)
    weights = np.array([0 if one.chosen else max(one.n_raters, 1) for one in plan.have])
    upto = np.round(np.cumsum(weights) / weights.sum() * (raters - n)).astype(int)
    others = np.diff(upto, prepend=0)
    numbers = [n if one.chosen else int(number) for one, number in zip(plan.have, others, strict=True)]
    return [
        _needed(spec, one.name, one.n_raters, number, each)
        for one, number in zip(plan.have, numbers, strict=True)
    ]


def _needed(spec: PlanSpec, group: str, have: int, needed: int, each: float) -> Needed:
    recruit = max(needed - have, 0)
    annotations = round(needed * each)
    cost = annotations * spec.per_annotation + recruit * spec.per_rater
    return Needed(group, have, needed, recruit, annotations, cost)
