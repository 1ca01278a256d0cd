"""How large a group's GAI must be to be found: a simulation on the data's own design (docs/quality.md)."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from grasp_core.annotations import Annotations, Raters
from grasp_core.data_quality.simulation import REPLICATES, Point, PowerTask, Simulation
from grasp_core.groups import AxisSet, Group, form_groups
from grasp_core.outcome import Direction
from grasp_core.remarks.reasons import NoValue
from grasp_core.remarks.remark import Remark

WANTED = 0.8
"""Share of runs that should find the shift."""
MAX_ANNOTATIONS = 50_000
MAX_COUNTS = 6_000
"""Most annotations, and items times categories; larger data are thinned to whole items drawn at random."""
_STRONGEST = (1.0, 0.8, 0.6)
"""Strengths tried as the strongest: labels that are all noise agree with nobody's, and GAI has no value."""
_STEPS = 5
"""Halvings of the range of strengths."""
_SEED = 1
_THIN = 3
"""Purpose of this module's random stream; the others are those of :mod:`.simulation`."""


@dataclass(frozen=True, slots=True)
class Shift:
    """The smallest effect that most runs find.

    Parameters
    ----------
    strength : float
        Share of the group's labels that follow the planted behaviour.
    gai : float
        Median GAI of the simulated data sets at that strength.
    change : float
        `gai` less the median GAI where nothing is there.
    error : float
        Standard error of `gai` that comes from simulating.
    """

    strength: float
    gai: float
    change: float
    error: float


@dataclass(frozen=True, slots=True)
class GroupPower:
    """Shifts of one group that a run on this data could find.

    Parameters
    ----------
    group : Group
    n_raters : int
    n_items, all_items : int
        Items simulated, and items of the data.
    expected : float or None
        Median GAI where nothing is there.
    up, down : Shift or None
        None where even the strongest effect is found too rarely.
    reason : Remark or None
        Why nothing could be simulated.
    """

    group: Group
    n_raters: int
    n_items: int
    all_items: int
    expected: float | None = None
    up: Shift | None = None
    down: Shift | None = None
    reason: Remark | None = None


def power_tasks(annotations: Annotations, raters: Raters, axes: Sequence[AxisSet]) -> list[PowerTask]:
    """Lay out one simulation per group of two raters or more.

    Parameters
    ----------
    annotations : Annotations
    raters : Raters
    axes : sequence of axis sets

    Raises
    ------
    KeyError
        If an axis is not in `raters`.
    """
    grouping = form_groups(raters, axes, min_raters=2)
    fewer = thinned(annotations, _SEED)
    return [
        PowerTask(group, fewer, grouping.known[known], member, annotations.n_items, _SEED)
        for group, member, known in zip(grouping.groups, grouping.member, grouping.known_of, strict=True)
    ]


def estimate(task: PowerTask) -> GroupPower:
    """Find the smallest shifts, up and down, that 80 % of runs detect at nominal p < 0.05, two-sided.

    Parameters
    ----------
    task : PowerTask

    Returns
    -------
    GroupPower
        The same for the same task, wherever it is computed.
    """
    simulation = Simulation(task)
    found = GroupPower(task.group, int(task.member.sum()), task.annotations.n_items, task.all_items)
    null = simulation.null("up", 0.0)
    if np.isnan(null).mean() > 0.5:
        return dataclasses.replace(found, reason=NoValue.GAI_RARELY_ESTIMABLE())
    expected = float(np.nanmedian(null))
    return dataclasses.replace(
        found,
        expected=expected,
        up=_smallest(simulation, "up", expected),
        down=_smallest(simulation, "down", expected),
    )


def _smallest(simulation: Simulation, direction: Direction, expected: float) -> Shift | None:
    points = []
    for high in _STRONGEST:
        points.append(simulation.point(direction, high))
        if points[-1].hits >= WANTED * REPLICATES:
            break
    else:
        return None
    low, strongest = 0.0, high
    for _ in range(_STEPS):
        strength = (low + high) / 2
        points.append(simulation.point(direction, strength))
        low, high = (low, strength) if points[-1].hits >= WANTED * REPLICATES else (strength, high)
    # Two more, a little to either side of where 80 % seems to lie, for a steady slope.
    points += [simulation.point(direction, strength) for strength in (0.8 * high, min(1.2 * high, strongest))]
    points = sorted((p for p in points if p.strength <= strongest), key=lambda point: point.strength)
    strength, error = _crossing([p for p in points if 0.6 * high <= p.strength <= 1.6 * high], high)
    strengths = np.array([point.strength for point in points])
    middles = np.array([point.middle for point in points])
    value, around = (
        float(np.interp(s, strengths, middles)) for s in (strength, max(strength - error, strengths[0]))
    )
    nearest = min(points, key=lambda point: abs(point.strength - strength))
    return Shift(strength, value, value - expected, math.hypot(value - around, nearest.error))


def _crossing(points: Sequence[Point], fallback: float) -> tuple[float, float]:
    """Strength that 80 % of runs detect, and its standard error, from a weighted probit line."""
    share = np.array([(point.hits + 0.5) / (REPLICATES + 1) for point in points])
    strength = np.array([point.strength for point in points])
    near = (share > 0.3) & (share < 0.995)
    share, strength = share[near], strength[near]
    if share.size < 2:
        return fallback, 0.0
    score = ndtri(share)
    weight = REPLICATES * np.exp(-(score**2)) / (2 * np.pi) / (share * (1 - share))
    terms = np.column_stack([np.ones_like(strength), strength])
    spread = np.linalg.inv(terms.T @ (terms * weight[:, None]))
    level, slope = spread @ (terms.T @ (weight * score))
    wanted = (ndtri(WANTED) - level) / slope
    if slope <= 0 or not strength[0] <= wanted <= strength[-1]:
        return fallback, 0.0
    gradient = np.array([1.0, wanted]) / slope
    return float(wanted), float(np.sqrt(gradient @ spread @ gradient))


def thinned(annotations: Annotations, seed: int) -> Annotations:
    """At most about MAX_ANNOTATIONS annotations and MAX_COUNTS counts, in whole items drawn at random."""
    size = np.diff(annotations.indptr)
    most = max(MAX_COUNTS // annotations.n_categories, 1)
    if annotations.n_annotations <= MAX_ANNOTATIONS and annotations.n_items <= most:
        return annotations
    order = np.random.default_rng([seed, _THIN]).permutation(annotations.n_items)
    fitting = int(np.searchsorted(size[order].cumsum(), MAX_ANNOTATIONS, side="right"))
    kept = np.zeros(annotations.n_items, dtype=np.bool_)
    kept[order[: max(min(fitting, most), 1)]] = True
    rows = np.repeat(kept, size)
    return dataclasses.replace(
        annotations,
        item_ids=tuple(name for name, keep in zip(annotations.item_ids, kept, strict=True) if keep),
        indptr=np.concatenate(([0], size[kept].cumsum())),
        rater=annotations.rater[rows],
        category=annotations.category[rows],
    )
