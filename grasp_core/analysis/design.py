"""Checks of a design and of its raters before the permutations."""

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from grasp_core.model.annotations import Annotations, BoolArray, FloatArray, Int32Array, Int64Array, Raters
from grasp_core.model.data_spec import NAMED, Screen
from grasp_core.model.errors import Problem
from grasp_core.model.groups import AxisSet, Group, Grouping, named_group
from grasp_core.model.outcome import AssignmentCheck, MostUnequal
from grasp_core.model.remarks.cautions import Caution, GroupCount, ScreenCaution, ShuffleCaution
from grasp_core.model.remarks.problems import DataProblem
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.spec import AnalysisSpec, Level
from grasp_core.permutation.draw import Exchange, axes_in_clusters, clusters_of, over_all, random_words
from grasp_core.permutation.kernel.profiles import draw, profiles_of
from grasp_core.reading.screens.constant import FEWEST_ANNOTATIONS, too_constant
from grasp_core.reading.screens.duplicates import is_quick, near_duplicates
from grasp_core.reading.screens.random_responders import is_quick_search, random_responders
from grasp_core.statistics.items import NotEstimableError, count, matched_gai
from grasp_core.statistics.levels import distance_of

FAR = 1.4
"""Smallest ratio of a group's GAI and its GAI on the same items, either way, that is reported."""
FEWEST_ITEMS = 30
"""Fewest items with two labels from each side: with fewer, GAI on the same items is too uncertain."""


class Unmatched(NamedTuple):
    """A group, its GAI, and its GAI when both sides are taken on the same items."""

    group: Group
    gai: float
    matched: float


def unmatched(
    annotations: Annotations,
    grouping: Grouping,
    gai: Mapping[Group, float],
    checks: Iterable[AssignmentCheck],
    level: Level,
) -> list[Unmatched]:
    """Find the group whose two GAI differ most, for each axis whose groups were given different items."""
    found = []
    for axes in (check.axes for check in checks if check.own_items):
        of_axis = _of_axis(annotations, grouping, gai, axes, level)
        far = [one for one in of_axis if _apart(one) >= math.log(FAR)]
        found += sorted(far, key=_apart)[-1:]
    return found


def _of_axis(
    annotations: Annotations, grouping: Grouping, gai: Mapping[Group, float], axes: AxisSet, level: Level
) -> list[Unmatched]:
    found = []
    for g, group in enumerate(grouping.groups):
        if group.axes != axes or group not in gai:
            continue
        c, d = (count(annotations, side) for side in (grouping.member[g], grouping.complement(g)))
        if ((c.sum(axis=1) > 1) & (d.sum(axis=1) > 1)).sum() < FEWEST_ITEMS:
            continue
        try:
            matched = matched_gai(c, d, distance_of(annotations.categories, level))
        except NotEstimableError:
            continue
        found.append(Unmatched(group, gai[group], matched))
    return found


def _apart(one: Unmatched) -> float:
    """Return the size of the logarithm of the ratio; infinite if just one of the two is above 0."""
    if min(one.gai, one.matched) <= 0:
        return math.inf if max(one.gai, one.matched) > 0 else 0.0
    return abs(math.log(one.gai / one.matched))


_OF_GROUPS = (DataProblem.UNKNOWN_ON_AXIS, DataProblem.AXIS_OF_ONE_VALUE, DataProblem.AXIS_WITHOUT_VALUE)


def column_warnings(raters: Raters, analysis: AnalysisSpec, problems: Sequence[Problem]) -> list[Remark]:
    """Return remarks on problems of a run's columns; columns only used for shuffling need no groups."""
    found = [
        _of_shuffles(name, raters, analysis)
        if name not in analysis.tested and problem.remark.code in _OF_GROUPS
        else problem.remark
        for name in analysis.columns
        for problem in problems
        if problem.axis == name
    ]
    mixed = mixed_clusters(raters, analysis)
    # A column may have several problems, which give the same remark if it forms no groups.
    return [*dict.fromkeys(found), *([] if mixed is None else [mixed])]


def _of_shuffles(name: str, raters: Raters, analysis: AnalysisSpec) -> Remark:
    codes = raters.axes[name].codes
    unknown = int((codes < 0).sum())
    if name == analysis.cluster:
        return ShuffleCaution.UNKNOWN_CLUSTER(unknown=unknown, raters=codes.size, column=name)
    if unknown in (0, codes.size):
        return ShuffleCaution.ONE_STRATUM(column=name)
    return ShuffleCaution.UNKNOWN_STRATUM(unknown=unknown, raters=codes.size, column=name)


def mixed_clusters(raters: Raters, analysis: AnalysisSpec) -> Remark | None:
    """Warn if some axes differ inside clusters: then the other axes do not move by whole clusters either."""
    if analysis.cluster is None:
        return None
    whole, mixed = axes_in_clusters(raters, analysis)
    if not whole or not mixed:
        return None
    cluster = clusters_of(raters, analysis.cluster)
    return ShuffleCaution.MIXED_CLUSTERS(
        cluster=analysis.cluster, clusters=int(cluster.max()) + 1, mixed=mixed, whole=whole
    )


PERMUTATIONS = 199
MOST_ANNOTATIONS = 50_000
_SEED, _TIE = 1, 1e-9
_AT_ONCE = 20
"""Permutations drawn at a time: of a million raters, 80 MB."""


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """Annotations that are checked: raters, item by item in random order, and sizes of items, (I,)."""

    size: Int64Array
    rater: Int32Array

    @classmethod
    def of(cls, annotations: Annotations) -> Self:
        """Take the items with the smallest words, up to :data:`MOST_ANNOTATIONS`."""
        each = np.diff(annotations.indptr)
        order = np.argsort(random_words(_SEED, 2**32, each.size), kind="stable")
        kept = order[np.cumsum(each[order]) <= MOST_ANNOTATIONS]
        size = each[kept]
        ahead = np.repeat(annotations.indptr[kept] - (np.cumsum(size) - size), size)
        return cls(size, annotations.rater[ahead + np.arange(ahead.size)])


def check_assignment(
    seen: Seen,
    given: Int64Array,
    grouping: Grouping,
    axis_sets: Sequence[AxisSet],
    exchange: Exchange | None = None,
) -> tuple[AssignmentCheck, ...]:
    """Check for each axis or intersection whether groups were given the same items, and as many.

    `given`, shape (J,): number of annotations of each rater, on all items.
    `exchange`: how profiles move; over all raters by default.

    With n_ig annotations of item i by raters of group g, W_g by the group in all and W by all groups, the
    statistic is T = sum_ig (n_ig - n_i W_g / W)^2 / (n_i W_g / W). That of workloads is the sum of squares
    between groups of the logarithm of each rater's number of annotations. Both are compared with the same
    permutations of the raters' profiles; raters unknown on an axis count in none of its groups.
    """
    if not axis_sets:
        return ()
    profile, first = profiles_of(np.concatenate([grouping.known, grouping.member]))
    groups = [[group for group in grouping.groups if group.axes == axes] for axes in axis_sets]
    tables = [_codes(grouping, axes)[first] for axes in axis_sets]
    item, some = np.repeat(np.arange(seen.size.size), seen.size), given > 0
    one_each, log = np.ones(int(some.sum())), np.log(given[some])

    def counted(of_raters: npt.NDArray[Any]) -> list[_Counted]:
        """Count by axis set, given raters' profiles; raters without an annotation have no workload."""
        at_work = of_raters[some]
        raters, logs = _sums(at_work, one_each, first.size), _sums(at_work, log, first.size)
        codes = of_raters[seen.rater]
        return [
            _Counted.of(item, table[codes], table, raters, logs, len(named) + 2)
            for table, named in zip(tables, groups, strict=True)
        ]

    everything = bool((seen.size == given.size).all() and (given == given.max(initial=0)).all())
    own = counted(profile)
    # If everybody rated everything, each permutation gives the observed values: one is enough.
    shuffled = [own] if everything else map(counted, _shuffled(profile, exchange))
    added = [
        [(_surplus(one.items), _between(one)) for one in all_axes]  # at once, since there are many items
        for all_axes in itertools.chain([own], shuffled)
    ]
    return tuple(
        AssignmentCheck(
            axes,
            _most_unequal(np.stack([row[s][0] for row in added]), meetings(own[s].items), groups[s]),
            _most_unequal(np.stack([row[s][1] for row in added]), _ratio(own[s]), groups[s]),
        )
        if groups[s]
        else AssignmentCheck(axes, None, None)
        for s, axes in enumerate(axis_sets)
    )


def _codes(grouping: Grouping, axes: AxisSet) -> Int64Array:
    """Code each rater's group of an axis set, shape (J,); the last two are smaller groups and unknown."""
    places = [g for g, group in enumerate(grouping.groups) if group.axes == axes]
    codes = np.full(grouping.member.shape[1], len(places) + 1, dtype=np.int64)
    if places:
        codes[grouping.known[grouping.known_of[places[0]]]] = len(places)
        for code, g in enumerate(places):
            codes[grouping.member[g]] = code
    return codes


def _shuffled(
    profile: npt.NDArray[np.intp], exchange: Exchange | None
) -> Iterator[npt.NDArray[np.unsignedinteger[Any]]]:
    """Yield the raters' profiles under each permutation, shape (J,), drawn a few at a time."""
    order, bounds = exchange or over_all(profile.size)
    # The kernel for the smaller type is compiled already.
    own = profile.astype(np.uint16 if profile.max(initial=0) < 2**16 else np.uint32)
    for start in range(0, PERMUTATIONS, _AT_ONCE):
        drawn = np.empty((own.size, min(_AT_ONCE, PERMUTATIONS - start)), own.dtype)
        draw(np.uint64(_SEED), start, order, bounds, own, drawn)
        yield from np.ascontiguousarray(drawn.T)


class _Counted(NamedTuple):
    """Counts of an axis set's groups, then of all smaller groups as one: G in all.

    `items`, shape (I, G): annotations of each item.
    `raters`, shape (G,): number of raters with an annotation.
    `logs`, shape (G,): sum of the logarithms of their numbers of annotations.
    """

    items: FloatArray
    raters: FloatArray
    logs: FloatArray

    @classmethod
    def of(
        cls,
        item: Int64Array,
        code: Int64Array,
        table: Int64Array,
        raters: FloatArray,
        logs: FloatArray,
        width: int,
    ) -> Self:
        """Count from each annotation's item and code, and each profile's code, raters and logarithms."""
        n_items = int(item.max(initial=-1)) + 1
        placed = np.bincount(item * width + code, minlength=n_items * width).reshape(n_items, width)
        return cls(
            placed[:, :-1].astype(np.float64),
            _sums(table, raters, width)[:-1],
            _sums(table, logs, width)[:-1],
        )


def _sums(codes: npt.NDArray[Any], weights: FloatArray, width: int) -> FloatArray:
    return np.asarray(np.bincount(codes, weights, minlength=width), np.float64)


def _surplus(counts: FloatArray) -> FloatArray:
    """Return each group's term of T, shape (G,), from counts (I, G)."""
    each, total = counts.sum(axis=1), counts.sum(axis=0)
    share = total / max(total.sum(), 1.0)
    squares = (counts**2 / np.maximum(each, 1.0)[:, None]).sum(axis=0)
    added = np.zeros(total.shape)
    np.divide(squares, share, out=added, where=share > 0)
    return np.asarray(added - total)


def meetings(counts: FloatArray) -> FloatArray:
    """Return how often a group's annotations meet the others' on an item, relative to chance.

    `counts`, shape (I, G): annotations of each item by each group.

    Returns shape (G,): 1 if a group's annotations meet the others' as often as they would if groups had no
    part in who rates what, 0 if they never do; NaN if no meeting is expected.

    The value is sum_i n_ig m_ig / (n_i - 1) over the items with n_i >= 2, divided by W_g (W - W_g) / W. If
    each of n_i annotations is the group's with the same probability p, the expectation of n_ig m_ig is
    n_i (n_i - 1) p (1 - p).
    """
    counts = counts[counts.sum(axis=1) >= 2]
    each, total = counts.sum(axis=1, keepdims=True), counts.sum(axis=0)
    expected = total * (total.sum() - total) / max(total.sum(), 1.0)
    met = (counts * (each - counts) / (each - 1)).sum(axis=0)
    found = np.full(total.shape, np.nan)
    np.divide(met, expected, out=found, where=expected > 0)
    return found


def _between(counted: _Counted) -> FloatArray:
    """Return each group's term of the sum of squares of workloads between groups, shape (G,)."""
    mean = counted.logs.sum() / max(counted.raters.sum(), 1.0)
    return np.asarray(counted.raters * (counted.logs / np.maximum(counted.raters, 1.0) - mean) ** 2)


def _ratio(counted: _Counted) -> FloatArray:
    """Return the ratio of each group's geometric mean of annotations to the others', shape (G,), or NaN."""
    raters, logs = counted.raters, counted.logs
    others = (logs.sum() - logs) / np.maximum(raters.sum() - raters, 1.0)
    compared = (raters > 0) & (raters < raters.sum())
    return np.where(compared, np.exp(logs / np.maximum(raters, 1.0) - others), np.nan)


def _most_unequal(added: FloatArray, sizes: FloatArray, named: Sequence[Group]) -> MostUnequal | None:
    """Return the group whose term is furthest above its mean by chance, its size, and p of the axis.

    `sizes`, shape (G,): each group's meetings or ratio.
    `added`, shape (1 + B, G): terms of groups in the statistic, as observed and in each permutation.
    """
    place = int(np.argmax((added[0] - added[1:].mean(axis=0))[: len(named)]))
    if np.isnan(sizes[place]):
        return None
    total = added.sum(axis=1)
    reached = int((total[1:] >= total[0] - _TIE * max(abs(total[0]), 1.0)).sum())
    return MostUnequal(named[place], float(sizes[place]), (1 + reached) / len(total))


def screen_cautions(annotations: Annotations, raters: Raters, grouping: Grouping) -> tuple[Remark, ...]:
    """Count the raters whom each quick screen flags, in all and by group.

    `grouping`: the groups that a run shows; its `member` has shape (G, J).
    """
    found: list[Remark] = []
    for screen, caution, who in _named(annotations, raters):
        found.append(caution)
        counts = grouping.member.astype(np.int64) @ who
        order = [g for g in np.argsort(-counts, kind="stable") if counts[g]]
        groups = tuple(
            GroupCount.RATERS_OF_GROUP(
                group=named_group(grouping.groups[g]), raters=int(counts[g]), of=int(grouping.n_raters[g])
            )
            for g in order
        )
        if groups:
            found.append(ScreenCaution.SCREENED_IN_GROUPS(screen=NAMED[screen], groups=groups))
    return tuple(found)


def _named(annotations: Annotations, raters: Raters) -> Iterator[tuple[Screen, Remark, BoolArray]]:
    """Yield the screens that flag anybody, with the caution and the raters flagged."""
    if is_quick_search(annotations):
        random = random_responders(annotations)
        looked_at = int(random.looked_at.sum())
        if random.raters:
            yield (
                "random",
                Caution.RANDOM_RESPONDERS(raters=random.raters, looked_at=looked_at),
                random.random,
            )
    constant, enough = too_constant(annotations, raters)
    if constant.any():
        numbers = {"raters": int(constant.sum()), "looked_at": int(enough.sum()), "least": FEWEST_ANNOTATIONS}
        yield "constant", Caution.CONSTANT_RATERS(**numbers), constant
    if is_quick(annotations):
        close = near_duplicates(annotations)
        if close.pairs:
            caution = Caution.NEAR_DUPLICATES(raters=close.raters, pairs=len(close.pairs))
            yield "duplicates", caution, close.among(annotations.n_raters)
