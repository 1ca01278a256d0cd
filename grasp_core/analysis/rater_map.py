"""The map of raters: distances, places, what axes explain."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from threadpoolctl import threadpool_limits

from grasp_core.analysis.rater_map_axes import Each, Explained, hold_against, pair_disagreements, told
from grasp_core.analysis.rater_map_values import NOTHING, MapAxis, MapGroup, MapPoint, RaterMap
from grasp_core.model.annotations import (
    Annotations,
    Axis,
    BoolArray,
    FloatArray,
    Int32Array,
    Int64Array,
    Raters,
)
from grasp_core.model.groups import Grouping, form_groups
from grasp_core.model.outcome import Significance
from grasp_core.model.remarks.cautions import NoMap
from grasp_core.model.spec import LEVEL, AnalysisSpec
from grasp_core.permutation.draw import exchange_of, random_words
from grasp_core.reading.dataset.load import Dataset

LEAST_COMMON = 5
"""Answers that two raters have to share for a distance between them."""
DIGITS = 5
"""Decimals of a place."""


def connected(common: Int32Array) -> Int64Array:
    """Raters who share enough answers with at least half of the others, shape (n,).

    Whoever lacks that most is left out first, those who lack it alike together, until nobody lacks it: so
    the order of raters does not matter.
    """
    known = common >= LEAST_COMMON
    shared, kept = known.sum(axis=1), np.ones(len(common), np.bool_)
    while True:
        lacking = kept & (2 * shared < kept.sum() - 1)
        if not lacking.any():
            return np.flatnonzero(kept)
        fewest = lacking & (shared == shared[lacking].min())
        kept &= ~fewest
        shared -= known[fewest].sum(axis=0)


def squared_distances(mean: FloatArray, known: BoolArray) -> FloatArray:
    """The disagreements as squared distances, shape (n, n), with neutral ones where none is known.

    `mean`: shape (n, n).
    `known`, shape (n, n): symmetric, False on the diagonal, at least one True in each row.

    A pair that shares too little gets the sum of both raters' own means less the mean of all: after centring
    it counts as neither nearer nor farther than two raters who have nothing to do with each other.
    """
    own = np.where(known, mean, 0.0).sum(axis=1) / known.sum(axis=1)
    neutral = np.maximum(own[:, None] + own - mean[known].mean(), 0.0)
    squared = np.where(known, mean, neutral)
    np.fill_diagonal(squared, 0.0)
    return squared


def place(squared: FloatArray) -> tuple[FloatArray, tuple[float, float]]:
    """Places in the plane, shape (n, 2), and the share of the variance along each of its directions.

    `squared`, shape (n, n): squared distances.

    Classical scaling: the two largest eigenvectors of the centred matrix, times the roots of their
    eigenvalues. Shares are of the sum of all eigenvalues' sizes, since distances that were filled in can make
    some negative. scikit-learn's ``ClassicalMDS`` gives the same places but not all eigenvalues. Of both
    signs of a direction the one is taken that makes its largest coordinate positive.

    Source: Torgerson (1952), Psychometrika 17; Gower (1966), Biometrika 53; Mardia (1978), Communications in
    Statistics A7.
    """
    from scipy.linalg import eigh  # takes a while to load, and most commands place nobody

    means = squared.mean(axis=0)
    centred = -0.5 * (squared - means - means[:, None] + means.mean())
    values, vectors = eigh(centred, check_finite=False)
    size = float(np.abs(values).sum())
    largest = np.maximum(values[:-3:-1], 0.0)
    places = vectors[:, :-3:-1] * np.sqrt(largest)
    at = np.abs(places).argmax(axis=0)
    places *= np.where(places[at, np.arange(2)] < 0, -1.0, 1.0)
    first, second = (float(value) / size if size else 0.0 for value in largest)
    return np.round(places, DIGITS) + 0.0, (first, second)


MOST_RATERS = 2000
"""Of more raters, so many are drawn at random."""
FEWEST_RATERS = 10
DRAW_STREAM = 2**64 - 2
"""The second key word of that draw; no permutation has this number."""


@dataclass(frozen=True, slots=True, eq=False)
class MapTask:
    """All that a map is made of: the answers to each question, the raters' axes, and the run's settings."""

    questions: tuple[Annotations, ...]
    raters: Raters
    annotations_of: Int64Array
    spec: AnalysisSpec

    @classmethod
    def of(cls, dataset: Dataset, spec: AnalysisSpec) -> MapTask:
        """The task of a data set."""
        axes = {name: dataset.raters.axes[name] for name in spec.columns}
        raters = replace(dataset.raters, axes=axes)
        return cls(dataset.questions, raters, dataset.annotations_of, spec)


@dataclass(frozen=True, slots=True, eq=False)
class _Placed:
    """Raters with their distances and places; in `found` the counts, or why there is no map."""

    found: RaterMap
    raters: Raters
    mean: FloatArray
    known: BoolArray
    squared: FloatArray
    places: FloatArray


def rater_map(
    task: MapTask, each: Each = map, progress: Callable[[float], None] = lambda _: None
) -> RaterMap:
    """Place the raters and hold every axis of the run against their distances.

    `each`: has the pieces of work computed, each on one thread, so that the same data and settings give the
        same map on any number of cores.
    `progress`: called with the share of permutations that is done; what it raises ends the work.
    """
    laid: RaterMap | _Placed = next(iter(each(_lay_out, [task])))
    if isinstance(laid, RaterMap):
        return laid
    spec = task.spec
    held, permutations = _held(laid, spec, each, progress)
    columns = tuple(dict.fromkeys(name for names in spec.axes for name in names))
    points, reduced = _points(laid.places, [laid.raters.axes[name] for name in columns], spec.min_raters)
    return replace(
        laid.found,
        columns=columns,
        axes=held,
        points=points,
        n_reduced=reduced,
        permutations=permutations,
        least=spec.min_raters,
    )


def _lay_out(task: MapTask) -> RaterMap | _Placed:
    with threadpool_limits(1):
        drawn = _drawn(task)
        common, mean = pair_disagreements(task.questions, drawn, task.spec.level)
        placed = connected(common)
        among = np.ix_(placed, placed)
        known, mean = common[among] >= LEAST_COMMON, mean[among]
        found = replace(
            NOTHING, n_raters=task.annotations_of.size, n_drawn=int(drawn.size), n_placed=int(placed.size)
        )
        if placed.size < max(FEWEST_RATERS, drawn.size / 2):
            reason = NoMap.FEW_PLACED(
                placed=found.n_placed, raters=found.n_drawn, least=LEAST_COMMON, fewest=FEWEST_RATERS
            )
            return replace(found, reason=reason)
        if not mean[known].any():
            return replace(found, reason=NoMap.NO_DISAGREEMENT())
        raters = task.raters.some(drawn[placed])
        squared = squared_distances(mean, known)
        places, variance = place(squared)
        pairs = placed.size * (placed.size - 1) // 2
        neutral = pairs - int(known.sum()) // 2
        found = replace(
            found, variance=variance, pairs=pairs, neutral=neutral, between=float(mean[known].mean())
        )
        return _Placed(found, raters, mean, known, squared, places)


def _drawn(task: MapTask) -> Int64Array:
    """Everybody; of too many raters, some of those who gave enough answers, drawn from the run's seed."""
    everybody = np.arange(task.annotations_of.size)
    if everybody.size <= MOST_RATERS:
        return everybody
    enough = np.flatnonzero(task.annotations_of >= LEAST_COMMON)
    words = random_words(task.spec.seed, DRAW_STREAM, enough.size)
    return np.sort(enough[np.argsort(words, kind="stable")[:MOST_RATERS]])


def _held(
    laid: _Placed, spec: AnalysisSpec, each: Each, progress: Callable[[float], None]
) -> tuple[tuple[MapAxis, ...], int]:
    grouping = form_groups(laid.raters, spec.axes, min_raters=spec.min_raters)
    rows = [[g for g, one in enumerate(grouping.groups) if one.axes == names] for names in spec.axes]
    group = np.full((len(rows), len(laid.squared)), -1)
    for s, own in enumerate(rows):
        for place_of, g in enumerate(own):
            group[s, grouping.member[g]] = place_of
    exchange = exchange_of(laid.raters, spec)
    found, permutations = hold_against(laid.squared, group, exchange, spec, each, progress)
    held = [
        _axis(names, _groups(grouping, own, laid.mean, laid.known), int((of < 0).sum()), one, spec)
        for names, own, of, one in zip(spec.axes, rows, group, found, strict=True)
    ]
    return tuple(held), permutations


def _axis(
    names: tuple[str, ...], groups: tuple[MapGroup, ...], others: int, found: Explained, spec: AnalysisSpec
) -> MapAxis:
    reason = None
    if found.share is None:
        few = len(groups) < 2
        reason = NoMap.FEW_GROUPS_ON_MAP(least=spec.min_raters) if few else NoMap.NO_DISAGREEMENT()
    return MapAxis(names, groups, others, *found, _significance(found), reason)


def _significance(found: Explained) -> Significance:
    if found.q is not None and found.q < LEVEL:
        return "corrected"
    return "nominal" if found.p is not None and found.p < LEVEL else "none"


def _groups(
    grouping: Grouping, chosen: Sequence[int], mean: FloatArray, known: BoolArray
) -> tuple[MapGroup, ...]:
    def average(of: BoolArray, to: BoolArray) -> float | None:
        pairs = known[of][:, to]
        return float(mean[of][:, to][pairs].mean()) if pairs.any() else None

    return tuple(
        MapGroup(
            grouping.groups[g],
            int(grouping.member[g].sum()),
            average(grouping.member[g], grouping.member[g]),
            average(grouping.member[g], grouping.complement(g)),
        )
        for g in chosen
    )


def _points(places: FloatArray, axes: Sequence[Axis], least: int) -> tuple[tuple[MapPoint, ...], int]:
    """Points by place, and how many tell less than is known."""
    known = np.stack([axis.codes for axis in axes], axis=1).astype(np.int64)
    codes, shown = told(known, least)
    points = [
        MapPoint(
            float(x),
            float(y),
            tuple(None if code < 0 else axis.values[code] for axis, code in zip(axes, row, strict=True)),
        )
        for (x, y), row in zip(places[shown], codes[shown], strict=True)
    ]
    reduced = (codes != known).any(axis=1) & shown
    return tuple(sorted(points, key=lambda point: (point.x, point.y))), int(reduced.sum())
