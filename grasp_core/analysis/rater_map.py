"""The map of raters: their distances, their places, and the shares that axes explain."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from grasp_core.analysis.design import Seen, check_assignment
from grasp_core.analysis.panel import Each
from grasp_core.analysis.rater_map_values import NOTHING, MapAxis, MapGroup, MapPoint, RaterMap
from grasp_core.model.annotations import (
    Annotations,
    Axis,
    BoolArray,
    FloatArray,
    Int32Array,
    Int64Array,
    Raters,
    tallied,
)
from grasp_core.model.groups import Grouping, form_groups
from grasp_core.model.outcome import Unequal, significance_of, unequal_axes
from grasp_core.model.remarks.cautions import NoMap
from grasp_core.model.remarks.reasons import NoValue
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.spec import AnalysisSpec, Level
from grasp_core.permutation.draw import Exchange, exchange_of, random_words
from grasp_core.permutation.jit import compiled
from grasp_core.permutation.kernel.profiles import draw
from grasp_core.permutation.testing.corrections import q_values
from grasp_core.permutation.testing.p_values import FEWEST, TIE_TOLERANCE
from grasp_core.reading.dataset.load import Dataset
from grasp_core.statistics.levels import distance_of


def shown_values(codes: Int64Array, least: int) -> tuple[Int64Array, BoolArray]:
    """Choose the values that are shown of each rater, and the raters who have a point.

    `codes`, shape (n, C): each rater's value on each axis, -1 where it is unknown.
    `least`: fewest raters who must share all values that are shown of one of them.

    Returns shape (n, C): codes with -1 also where a value is not shown; and shape (n,).

    From the last axis to the first, raters who share their values with too few lose the value. Only whole
    sets of equal raters lose one, so the values shown of others still apply to as many.
    """
    codes = codes.copy()
    for axis in reversed(range(codes.shape[1])):
        codes[_among_few(codes, least), axis] = -1
    return codes, ~_among_few(codes, least)


def _among_few(codes: Int64Array, least: int) -> BoolArray:
    _, equal, times = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    few: BoolArray = times[equal.ravel()] < least
    return few


def pair_disagreements(
    questions: Sequence[Annotations], chosen: Int64Array, level: Level
) -> tuple[Int32Array, FloatArray]:
    """Count the answers that each two chosen raters share, (n, n), and average how far these differ.

    Differences are squared distances, (n, n), 0 without any; at level nominal they are shares, at others 1 is
    the mean of two labels drawn at random.
    """
    common = np.zeros((chosen.size, chosen.size), np.int32)
    total = np.zeros((chosen.size, chosen.size))
    for one in questions:
        place = np.full(one.n_raters, -1, np.int32)
        place[chosen] = np.arange(chosen.size, dtype=np.int32)
        taken = place[one.rater] >= 0
        before = np.concatenate(([0], np.cumsum(taken)))
        bounds: Int64Array = before[one.indptr].astype(np.int64)
        _add_up(
            *(bounds, place[one.rater[taken]], one.category[taken]),
            label_distances(one, level),
            common,
            total,
        )
    common += common.T
    total += total.T
    return common, np.divide(total, common, out=np.zeros_like(total), where=common > 0)


def label_distances(annotations: Annotations, level: Level) -> FloatArray:
    """Return squared distances of labels, shape (K, K); 1 is the mean of two labels drawn at random.

    At level nominal the distance is 1 between different labels, without any such unit.
    """
    given = tallied(annotations.category, annotations.n_categories)
    delta = distance_of(annotations.categories, level)(given)
    if level == "nominal":
        return delta
    n = annotations.n_annotations
    by_chance = float(given @ delta @ given) / (n * (n - 1)) if n > 1 else 0.0
    return delta / by_chance if by_chance > 0 else delta


@compiled()
def _add_up(bounds, rater, category, delta, common, total):  # type: ignore[no-untyped-def]  # compiled: types are numba's
    """Add every two annotations of an item, below the diagonal: raters ascend within an item."""
    for i in range(bounds.size - 1):
        for a in range(bounds[i], bounds[i + 1]):
            for b in range(bounds[i], a):
                common[rater[a], rater[b]] += 1
                total[rater[a], rater[b]] += delta[category[a], category[b]]


# What axes explain

FEWEST_PERMUTATIONS = 1000
MOST_WORK = 1e11
"""Most multiplications of all permutations, unless :data:`FEWEST_PERMUTATIONS` need more."""
ROOM = 64 * 2**20
PIECES = 16


class Explained(NamedTuple):
    """Share that an axis set explains, the mean share of random groupings, p and q; None if undefined."""

    share: float | None
    by_chance: float | None
    p: float | None
    q: float | None


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """Permutations `first` to `first + count - 1`; the rest is as in :func:`explained_by_axes`."""

    squared: FloatArray
    group: Int64Array
    exchange: Exchange
    seed: int
    first: int
    count: int


def explained_by_axes(
    squared: FloatArray,
    group: Int64Array,
    exchange: Exchange,
    spec: AnalysisSpec,
    each: Each = map,
    progress: Callable[[float], None] = lambda _: None,
) -> tuple[list[Explained], int]:
    """Compare the share that each axis set explains with the shares of shuffled profiles.

    `squared`, shape (n, n): squared distances between raters.
    `group`, shape (S, n): each rater's group on each axis set, from 0 on; -1 for raters in none.
    `progress`: called after each piece with the share that is done; an exception from it ends the work.

    Returns length S, and the number of permutations.

    Each rater takes the whole profile of another, as in every run: on all axis sets at once, including raters
    in no group. R^2 is :func:`grasp_core.statistics.between_raters.explained`.
    """
    count = n_permutations(
        squared.shape[0], int((group.max(axis=1, initial=-1) + 1).sum()), spec.permutations
    )
    own = np.array([shares(squared, row[:, None])[0] for row in group])
    tested = np.flatnonzero((group.max(axis=1, initial=-1) >= 1) & ~np.isnan(own))
    whole = Piece(squared, group[tested], exchange, spec.seed, 0, count)
    firsts = [whole.count * piece // PIECES for piece in range(PIECES + 1)]
    pieces = [
        replace(whole, first=first, count=end - first) for first, end in pairwise(firsts) if end > first
    ]
    found = []
    for shares_of in each(shuffled_shares, pieces):
        found.append(shares_of)
        progress(len(found) / len(pieces))
    null = np.concatenate(found)
    reached = (null >= own[tested] - TIE_TOLERANCE).sum(axis=0)
    p = [(1 + int(n)) / (count + 1) if count >= FEWEST else None for n in reached]
    q = q_values(p, own[tested], null, spec.correction)
    places = {int(s): at for at, s in enumerate(tested)}
    by_chance = np.nanmean(null, axis=0)
    return [
        Explained(float(own[s]), float(by_chance[places[s]]), p[places[s]], q[places[s]])
        if s in places
        else Explained(None, None, None, None)
        for s in range(len(group))
    ], count


def n_permutations(raters: int, groups: int, wanted: int) -> int:
    """Return the number of permutations: that of the run, or as many as the work allows."""
    fitting = int(MOST_WORK / (2 * raters**2 * max(groups, 1)))
    return min(wanted, max(fitting, FEWEST_PERMUTATIONS))


def shuffled_shares(piece: Piece) -> FloatArray:
    """Return R^2 of each axis set under each permutation, shape (count, S), on one thread."""
    group, seed = piece.group, np.uint64(piece.seed)
    table, profile = np.unique(group, axis=1, return_inverse=True)
    step = max(ROOM // (16 * group.shape[1] * int(group.max(initial=0) + 1)), 1)
    out = np.empty((piece.count, len(group)))
    with threadpool_limits(1):
        for start in range(0, piece.count, step):
            drawn = np.empty((group.shape[1], min(step, piece.count - start)), np.uint16)
            draw(seed, piece.first + start, *piece.exchange, profile.astype(np.uint16), drawn)
            for s, groups_of in enumerate(table):
                out[start : start + step, s] = shares(piece.squared, groups_of[drawn])
    return out


def shares(squared: FloatArray, group: Int64Array) -> FloatArray:
    """Return R^2 of B groupings, shape (B,).

    `squared`: shape (n, n).
    `group`, shape (n, B): each rater's group in each grouping, -1 for raters in none; no group is empty.
    """
    groups = np.arange(max(int(group.max(initial=-1)) + 1, 1))
    member = (group[:, None, :] == groups[:, None]).astype(np.float64)  # (n, G, B)
    near = (squared @ member.reshape(len(group), -1)).reshape(member.shape)
    sizes = member.sum(axis=0)
    taken = member.sum(axis=1)
    within = np.einsum("ngb,ngb->gb", member, near) / (2 * np.maximum(sizes, 1))
    total = (taken * near.sum(axis=1)).sum(axis=0) / (2 * np.maximum(taken.sum(axis=0), 1))
    left = np.full(group.shape[1], np.nan)
    np.divide(within.sum(axis=0), total, out=left, where=total > 0)
    return np.asarray(1 - left)


# Places

LEAST_COMMON = 5
"""Fewest answers that two raters must have in common for a distance between them."""
DIGITS = 5


def connected(common: Int32Array) -> Int64Array:
    """Return raters who share enough answers with at least half of the others, (n,), in any order of raters.

    Those who share with the fewest are left out first, all at once, until nobody is below half.
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
    """Return the disagreements as squared distances, shape (n, n), with neutral ones where none is known.

    `mean`: shape (n, n).
    `known`, shape (n, n): symmetric, False on the diagonal, at least one True in each row.

    A pair that shares too few answers gets the sum of both raters' own means less the mean of all: after
    centring, it is neither nearer nor farther than two unrelated raters.
    """
    own = np.where(known, mean, 0.0).sum(axis=1) / known.sum(axis=1)
    neutral = np.maximum(own[:, None] + own - mean[known].mean(), 0.0)
    squared = np.where(known, mean, neutral)
    np.fill_diagonal(squared, 0.0)
    return squared


def place(squared: FloatArray) -> tuple[FloatArray, tuple[float, float]]:
    """Return places in the plane, shape (n, 2), and the share of the variance along each direction.

    `squared`, shape (n, n): squared distances.

    Classical scaling: the two largest eigenvectors of the centred matrix, times the roots of their
    eigenvalues. Shares are of the sum of all eigenvalues' sizes, since distances that were filled in can make
    some negative. scikit-learn's ``ClassicalMDS`` gives the same places but not all eigenvalues. The sign of
    a direction is the one that makes its largest coordinate positive.

    Source: Torgerson (1952), Psychometrika 17; Gower (1966), Biometrika 53; Mardia (1978), Communications in
    Statistics A7.
    """
    from scipy.linalg import eigh  # takes a while to load, and most commands do not need it

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
"""Most raters on a map; of more raters, this many are drawn at random."""
FEWEST_RATERS = 10
DRAW_STREAM = 2**64 - 2
"""The second key word of the draw of raters; no permutation has this number."""


@dataclass(frozen=True, slots=True, eq=False)
class MapTask:
    """All inputs of a map: the answers to each question, the raters' axes, and the run's settings."""

    questions: tuple[Annotations, ...]
    raters: Raters
    annotations_of: Int64Array
    spec: AnalysisSpec

    @classmethod
    def of(cls, dataset: Dataset, spec: AnalysisSpec) -> MapTask:
        """Make the task from a data set."""
        axes = {name: dataset.raters.axes[name] for name in spec.columns}
        raters = replace(dataset.raters, axes=axes)
        return cls(dataset.questions, raters, dataset.annotations_of, spec)


@dataclass(frozen=True, slots=True, eq=False)
class _Placed:
    """Raters with their distances and places, and the axes that are not tested; `found` has the counts."""

    found: RaterMap
    raters: Raters
    mean: FloatArray
    known: BoolArray
    squared: FloatArray
    places: FloatArray
    unequal: Unequal


def rater_map(
    task: MapTask, each: Each = map, progress: Callable[[float], None] = lambda _: None
) -> RaterMap:
    """Place the raters and test every axis of the run on their distances, the same on any number of cores.

    `each` computes on one thread; an exception from `progress`, which gets the share done, ends the work.
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
        return _Placed(found, raters, mean, known, squared, places, _unequal(task))


def _unequal(task: MapTask) -> Unequal:
    """Find axes whose groups were given different items or more items, as a run does, over all raters."""
    spec, exchange = task.spec, exchange_of(task.raters, task.spec)
    grouping = form_groups(task.raters, spec.axes, min_raters=spec.min_raters)
    seen = Seen.of(task.questions[0])
    return unequal_axes(check_assignment(seen, task.annotations_of, grouping, spec.axes, exchange))


def _drawn(task: MapTask) -> Int64Array:
    """Choose all raters; if too many, draw from the raters with enough answers, by the run's seed."""
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
        for place_of, g in enumerate(own if spec.axes[s] not in laid.unequal else ()):
            group[s, grouping.member[g]] = place_of
    exchange = exchange_of(laid.raters, spec)
    found, permutations = explained_by_axes(laid.squared, group, exchange, spec, each, progress)
    held = [
        _axis(
            names,
            _groups(grouping, own, laid.mean, laid.known),
            int(len(laid.squared) - grouping.member[own].any(axis=0).sum()),
            one,
            NoValue.OTHER_ITEMS() if names in laid.unequal else None,
            spec,
        )
        for names, own, one in zip(spec.axes, rows, found, strict=True)
    ]
    return tuple(held), permutations


def _axis(
    names: tuple[str, ...],
    groups: tuple[MapGroup, ...],
    others: int,
    found: Explained,
    reason: Remark | None,
    spec: AnalysisSpec,
) -> MapAxis:
    if found.share is None and reason is None:
        few = len(groups) < 2
        reason = NoMap.FEW_GROUPS_ON_MAP(least=spec.min_raters) if few else NoMap.NO_DISAGREEMENT()
    return MapAxis(names, groups, others, *found, significance_of(found.p, found.q), reason)


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
    """Return points sorted by place, and the number of points that show less than is known."""
    known = np.stack([axis.codes for axis in axes], axis=1).astype(np.int64)
    codes, shown = shown_values(known, least)
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
