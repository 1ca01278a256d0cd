"""Effects that runs on the data could find, by simulation."""

import dataclasses
import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.special import ndtr, ndtri

from grasp_core.model.annotations import Annotations, BoolArray, FloatArray, Int32Array, Int64Array, Raters
from grasp_core.model.groups import AxisSet, Group, Grouping, form_groups
from grasp_core.model.outcome import Direction
from grasp_core.model.remarks.reasons import NoValue
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.spec import LEVEL, AnalysisSpec
from grasp_core.permutation import compiled
from grasp_core.permutation.design import build_design
from grasp_core.permutation.testing.p_values import FEWEST
from grasp_core.statistics.association import gai

REPLICATES = 200
PERMUTATIONS = 200
"""Permutations of each of the data sets from which critical values are taken."""
NULL_SETS = 6
_GRID = (0.0, 0.1, 0.2, 0.35, 0.6, 0.8, 1.0)
"""Strengths whose critical values are simulated. They change slowly, so values between are interpolated."""
_CELLS = 2_000_000
"""Most counts in memory at a time."""
_SHUFFLE, _VIEW, _REPLACE, _NULL = 0, 1, 2, 4
"""Purposes of random streams; 3 is :data:`_THIN`."""


@dataclass(frozen=True, slots=True, eq=False)
class PowerTask:
    """One group's simulation, small enough to be sent to a worker.

    `annotations`: possibly of a part of the items; ids play no role.
    `known`, `member`, shape (J,): raters whose values on all of the group's axes are known, and raters in the
        group.
    """

    group: Group
    annotations: Annotations
    known: BoolArray
    member: BoolArray
    all_items: int
    seed: int


@dataclass(frozen=True, slots=True)
class StrengthPoint:
    """Simulated data sets of one strength: the number detected, GAI's median, and the error of the median."""

    strength: float
    hits: int
    middle: float
    error: float


class Simulation:
    """Data sets of the task's design in which random groupings of the raters behave in a planted way."""

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

    def point(self, direction: Direction, strength: float) -> StrengthPoint:
        """Simulate every replicate of one strength and count the replicates that are detected."""
        values = self._values(direction, strength)
        kept = values[~np.isnan(values)]
        if kept.size < REPLICATES / 2:
            return StrengthPoint(strength, 0, math.nan, math.nan)
        limit = self._limit(direction, strength)
        hits = np.count_nonzero(kept > limit if direction == "up" else kept < limit)
        low, middle, high = np.quantile(kept, ndtr([-1, 0, 1]))
        error = math.sqrt(math.pi / 2) * (high - low) / 2 / math.sqrt(kept.size)
        return StrengthPoint(strength, int(hits), float(middle), float(error))

    def null(self, direction: Direction, strength: float) -> FloatArray:
        """Return GAI of random groupings of data sets with the effect, shape (NULL_SETS, PERMUTATIONS)."""
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
        """Return the critical value at this strength; NaN if the null has too few values."""
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
        """Return GAI of every replicate's planted group."""
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
        """Count the labels that each set of raters gave, shape (R, I, K)."""
        annotations = self._task.annotations
        cell = annotations.item.astype(np.int64) * annotations.n_categories + annotations.category
        ones = np.ones(cell.size, dtype=np.int32)
        votes = csr_array((ones, (annotations.rater, cell)), shape=(raters.shape[1], math.prod(self._shape)))
        counts: Int32Array = (csr_array(raters.astype(np.int32)) @ votes).toarray()
        return counts.reshape(-1, *self._shape)

    def _draw_views(self, counts: Int64Array) -> Int32Array:
        """Draw a shared view of each item per replicate, from the item's own labels, shape (R, I)."""
        upper = counts.cumsum(axis=1)
        draw = self._random(_VIEW, 0).random((REPLICATES, counts.shape[0])) * upper[:, -1]
        views = np.zeros(draw.shape, dtype=np.int32)
        for k in range(counts.shape[1] - 1):
            views += draw >= upper[:, k]
        return views

    def _random(self, purpose: int, number: int) -> np.random.Generator:
        return np.random.default_rng([self._task.seed, purpose, number])


def group_gai(c: FloatArray, d: FloatArray) -> FloatArray:
    """Return GAI of R data sets, IRR over XRR of docs/methods.md, from labels of both, (R, I, K)."""
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


WANTED = 0.8
MAX_ANNOTATIONS = 50_000
MAX_COUNTS = 6_000
"""Most annotations, and items times categories; larger data are thinned to whole items drawn at random."""
_STRONGEST = (1.0, 0.8, 0.6)
"""Strengths tried as the strongest, in turn: if all labels are noise, nobody agrees and GAI has no value."""
_STEPS = 5
_SEED = 1
_THIN = 3


@dataclass(frozen=True, slots=True)
class DetectableEffect:
    """The smallest effect that most runs find: the `strength` is the share of labels that follow it.

    `gai`: median GAI at that strength, with its error; `change`: less the median without any effect.
    """

    strength: float
    gai: float
    change: float
    error: float


@dataclass(frozen=True, slots=True)
class GroupPower:
    """Shifts of one group that a run on this data could find.

    `expected`: median GAI without any effect.
    `up`, `down`: None if even the strongest effect is found too rarely.
    """

    group: Group
    n_raters: int
    n_items: int
    all_items: int
    expected: float | None = None
    up: DetectableEffect | None = None
    down: DetectableEffect | None = None
    reason: Remark | None = None


def power_tasks(annotations: Annotations, raters: Raters, axes: Sequence[AxisSet]) -> list[PowerTask]:
    """Make one simulation task per group of two raters or more."""
    grouping = form_groups(raters, axes, min_raters=2)
    fewer = thinned(annotations, _SEED)
    return [
        PowerTask(group, fewer, grouping.known[known], member, annotations.n_items, _SEED)
        for group, member, known in zip(grouping.groups, grouping.member, grouping.known_of, strict=True)
    ]


def estimate(task: PowerTask) -> GroupPower:
    """Find the smallest shifts, up and down, that 80 % of runs detect at nominal p < 0.05, two-sided."""
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


def _smallest(simulation: Simulation, direction: Direction, expected: float) -> DetectableEffect | None:
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
    # Two more, just below and above the strength that seems to give 80 %, for a steady slope.
    points += [simulation.point(direction, strength) for strength in (0.8 * high, min(1.2 * high, strongest))]
    points = sorted((p for p in points if p.strength <= strongest), key=lambda point: point.strength)
    strength, error = _crossing([p for p in points if 0.6 * high <= p.strength <= 1.6 * high], high)
    strengths = np.array([point.strength for point in points])
    middles = np.array([point.middle for point in points])
    value, around = (
        float(np.interp(s, strengths, middles)) for s in (strength, max(strength - error, strengths[0]))
    )
    nearest = min(points, key=lambda point: abs(point.strength - strength))
    return DetectableEffect(strength, value, value - expected, math.hypot(value - around, nearest.error))


def _crossing(points: Sequence[StrengthPoint], fallback: float) -> tuple[float, float]:
    """Return the strength that 80 % of runs detect, and its standard error, from a weighted probit line."""
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
    """Draw whole items at random, with at most about MAX_ANNOTATIONS annotations and MAX_COUNTS counts."""
    size = np.diff(annotations.indptr)
    most = max(MAX_COUNTS // annotations.n_categories, 1)
    if annotations.n_annotations <= MAX_ANNOTATIONS and annotations.n_items <= most:
        return annotations
    order = np.random.default_rng([seed, _THIN]).permutation(annotations.n_items)
    fitting = int(np.searchsorted(size[order].cumsum(), MAX_ANNOTATIONS, side="right"))
    kept = np.zeros(annotations.n_items, dtype=np.bool_)
    kept[order[: max(min(fitting, most), 1)]] = True
    return annotations.only(kept)
