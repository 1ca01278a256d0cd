"""Data sets of a design in which a group behaves in a planted way, and what a test finds in them."""

from __future__ import annotations

import dataclasses
import math
from bisect import bisect_left
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.special import ndtr

from grasp_core.annotations import Annotations, BoolArray, FloatArray, Int32Array, Int64Array, Raters
from grasp_core.groups import Group, Grouping
from grasp_core.outcome import Direction
from grasp_core.permutation import compiled
from grasp_core.permutation.design import build_design
from grasp_core.permutation.nulls.tails import FEWEST
from grasp_core.spec import LEVEL, AnalysisSpec
from grasp_core.statistics.indices import gai

REPLICATES = 200
"""Simulated data sets per strength."""
PERMUTATIONS = 200
"""Permutations of each of the data sets that the critical values come from."""
NULL_SETS = 6
_GRID = (0.0, 0.1, 0.2, 0.35, 0.6, 0.8, 1.0)
"""Strengths whose critical values are simulated; they change slowly, so those between are interpolated."""
_CELLS = 2_000_000
"""Counts held at one time."""
_SHUFFLE, _VIEW, _REPLACE, _NULL = 0, 1, 2, 4
"""Purposes of random streams; 3 is that of :mod:`.power`."""


@dataclass(frozen=True, slots=True, eq=False)
class PowerTask:
    """One group's simulation, small enough to be sent to a worker.

    Parameters
    ----------
    group : Group
    annotations : Annotations
        Possibly of a part of the items; ids play no role.
    known, member : bool arrays, shape (J,)
        Raters whose values on all of the group's axes are known, and those in the group.
    all_items : int
        Items before thinning.
    seed : int
    """

    group: Group
    annotations: Annotations
    known: BoolArray
    member: BoolArray
    all_items: int
    seed: int


@dataclass(frozen=True, slots=True)
class Point:
    """The simulated data sets of one strength: how many are detected, and GAI's median and its error."""

    strength: float
    hits: int
    middle: float
    error: float


class Simulation:
    """Data sets of the task's design in which the group behaves in a planted way.

    Random groupings of the task's own data take the group's place, so that nothing but what is planted sets
    it apart.
    """

    def __init__(self, task: PowerTask) -> None:
        self._task = task
        self._spec = AnalysisSpec(axes=(task.group.axes,))
        self._limits: dict[tuple[Direction, float], float] = {}
        annotations = task.annotations
        self._shape = (annotations.n_items, annotations.n_categories)
        counts = self._votes(np.ones((1, task.member.size), dtype=np.bool_))[0].astype(np.int64)
        self._marginal = counts.sum(axis=0) / counts.sum()
        rng = self._random(_SHUFFLE, 0)
        sources = np.stack([rng.permutation(task.member.size) for _ in range(REPLICATES)])
        self._member: BoolArray = task.member[sources]
        self._known: BoolArray = task.known[sources]
        self._inside = self._votes(self._member)
        self._outside = self._votes(self._known & ~self._member)
        self._views = self._draw_views(counts)

    def point(self, direction: Direction, strength: float) -> Point:
        """Simulate every replicate of one strength and count what would be found."""
        values = self._values(direction, strength)
        kept = values[~np.isnan(values)]
        if kept.size < REPLICATES / 2:
            return Point(strength, 0, math.nan, math.nan)
        limit = self._limit(direction, strength)
        hits = np.count_nonzero(kept > limit if direction == "up" else kept < limit)
        low, middle, high = np.quantile(kept, ndtr([-1, 0, 1]))
        error = math.sqrt(math.pi / 2) * (high - low) / 2 / math.sqrt(kept.size)
        return Point(strength, int(hits), float(middle), float(error))

    def null(self, direction: Direction, strength: float) -> FloatArray:
        """GAI of random groupings of data sets with the effect planted, shape (NULL_SETS, PERMUTATIONS)."""
        values = []
        for number in range(NULL_SETS):
            known, member = (rows[number][None] for rows in (self._known, self._member))
            grouping = Grouping((self._task.group,), member, known, np.zeros(1, dtype=np.intp))
            planted = self._plant(direction, strength, number)
            design = build_design(planted, Raters(planted.rater_ids, {}), grouping, self._spec)
            seed = int(self._random(_NULL, number).integers(2**62))
            shuffled = compiled.shuffled(design, seed, 0, PERMUTATIONS)[:, 0]
            values.append(gai(shuffled[:, 0], shuffled[:, 1]))
        return np.stack(values)

    def _limit(self, direction: Direction, strength: float) -> float:
        """The critical value at this strength; NaN where the null has too few values."""
        right = bisect_left(_GRID, strength)
        if _GRID[right] == strength:
            return self._limit_on_grid(direction, strength)
        ends = _GRID[right - 1], _GRID[right]
        return float(np.interp(strength, ends, [self._limit_on_grid(direction, end) for end in ends]))

    def _limit_on_grid(self, direction: Direction, strength: float) -> float:
        if (direction, strength) not in self._limits:
            null = self.null(direction, strength)
            tail = 1 - LEVEL / 2 if direction == "up" else LEVEL / 2
            enough = np.count_nonzero(~np.isnan(null), axis=1).min() >= FEWEST
            limit = float(np.nanquantile(null, tail, axis=1).mean()) if enough else math.nan
            self._limits[direction, strength] = limit
        return self._limits[direction, strength]

    def _values(self, direction: Direction, strength: float) -> FloatArray:
        """GAI of every replicate's planted group."""
        rng = self._random(_REPLACE, NULL_SETS)
        step = max(_CELLS // math.prod(self._shape), 1)
        values = []
        for start in range(0, REPLICATES, step):
            c, d = self._inside[start : start + step], self._outside[start : start + step]
            replaced = rng.binomial(c, strength)
            moved = replaced.sum(axis=2)
            if direction == "up":
                views = self._views[start : start + step, :, None]
                added = np.where(np.arange(c.shape[2]) == views, moved[..., None], 0)
            else:
                added = rng.multinomial(moved, self._marginal)
            values.append(group_gai((c - replaced + added).astype(np.float64), d.astype(np.float64)))
        return np.concatenate(values)

    def _plant(self, direction: Direction, strength: float, replicate: int) -> Annotations:
        """Plant the effect in the replicate's group, annotation by annotation."""
        annotations = self._task.annotations
        if strength == 0:
            return annotations
        rng = self._random(_REPLACE, replicate)
        member = self._member[replicate][annotations.rater]
        replace = member & (rng.random(annotations.rater.size) < strength)
        if direction == "up":
            labels = self._views[replicate][annotations.item]
        else:
            labels = rng.choice(self._marginal.size, p=self._marginal, size=annotations.rater.size)
        category = np.where(replace, labels, annotations.category).astype(np.int32)
        return dataclasses.replace(annotations, category=category)

    def _votes(self, raters: BoolArray) -> Int32Array:
        """Labels that each set of raters gave, shape (R, I, K)."""
        annotations = self._task.annotations
        cell = annotations.item.astype(np.int64) * annotations.n_categories + annotations.category
        ones = np.ones(cell.size, dtype=np.int32)
        votes = csr_array((ones, (annotations.rater, cell)), shape=(raters.shape[1], math.prod(self._shape)))
        counts: Int32Array = (csr_array(raters.astype(np.int32)) @ votes).toarray()
        return counts.reshape(-1, *self._shape)

    def _draw_views(self, counts: Int64Array) -> Int32Array:
        """A shared view of each item per replicate, drawn from the item's own labels, shape (R, I)."""
        upper = counts.cumsum(axis=1)
        draw = self._random(_VIEW, 0).random((REPLICATES, counts.shape[0])) * upper[:, -1]
        views = np.zeros(draw.shape, dtype=np.int32)
        for k in range(counts.shape[1] - 1):
            views += draw >= upper[:, k]
        return views

    def _random(self, purpose: int, number: int) -> np.random.Generator:
        return np.random.default_rng([self._task.seed, purpose, number])


def group_gai(c: FloatArray, d: FloatArray) -> FloatArray:
    """GAI of many data sets at once: IRR over XRR of docs/methods.md.

    Parameters
    ----------
    c, d : float arrays, shape (R, I, K)
        Labels of the group and of the others.

    Returns
    -------
    float array, shape (R,)
    """
    n, m = c.sum(axis=2), d.sum(axis=2)
    paired = n >= 2
    total = (n * paired).sum(axis=1)
    unequal = (n**2 - np.einsum("rik,rik->ri", c, c)) / np.maximum(n - 1, 1) * paired
    marginal = np.einsum("rik,ri->rk", c, paired.astype(np.float64))
    irr = 1 - _ratio(unequal.sum(axis=1) * (total - 1), total**2 - (marginal**2).sum(axis=1))
    both = ((n > 0) & (m > 0)).astype(np.float64)
    r, s = (n * both).sum(axis=1), (m * both).sum(axis=1)
    agreed = np.einsum("rik,rik->ri", c, d) / np.maximum(n * m, 1)
    disagreement = ((n + m) * (1 - agreed) * both).sum(axis=1)
    equal = (np.einsum("rik,ri->rk", c, both) * np.einsum("rik,ri->rk", d, both)).sum(axis=1)
    xrr = 1 - _ratio(disagreement * r * s, (r + s) * (r * s - equal))
    return gai(irr, xrr)


def _ratio(above: FloatArray, below: FloatArray) -> FloatArray:
    ratio: FloatArray = np.divide(above, below, out=np.full(above.shape, np.nan), where=below > 0)
    return ratio
