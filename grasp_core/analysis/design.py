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
from grasp_core.model.outcome import Apart, AssignmentCheck
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
"""Ratio of the two, either way, from which they are far apart."""
FEWEST_ITEMS = 30
"""Items with two labels of either side, below which the second is too uncertain."""


class Unmatched(NamedTuple):
    """A group, its GAI, and what GAI is over the same items."""

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
    """The group that is furthest apart, of each axis whose groups were given other items.

    `gai`: where it has a value; of IRR and XRR.
    """
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
    """Size of the logarithm of the ratio; without end where one of them is not above 0."""
    if min(one.gai, one.matched) <= 0:
        return math.inf if max(one.gai, one.matched) > 0 else 0.0
    return abs(math.log(one.gai / one.matched))


_OF_GROUPS = (DataProblem.UNKNOWN_ON_AXIS, DataProblem.AXIS_OF_ONE_VALUE, DataProblem.AXIS_WITHOUT_VALUE)


def said_of_columns(raters: Raters, analysis: AnalysisSpec, problems: Sequence[Problem]) -> list[Remark]:
    """What is odd in the columns of a run: those by which profiles only move need form no groups.

    `problems`: of the data; those of other columns are left out.
    """
    found = [
        _of_shuffles(name, raters, analysis)
        if name not in analysis.tested and problem.remark.code in _OF_GROUPS
        else problem.remark
        for name in analysis.columns
        for problem in problems
        if problem.axis == name
    ]
    mixed = mixed_clusters(raters, analysis)
    # A column may have several problems, which are one where it forms no groups.
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
    """That some axes differ inside clusters, so that the others do not move by whole clusters either."""
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
"""Annotations whose items are looked at; of larger data items drawn at random."""
_SEED, _TIE = 1, 1e-9
_AT_ONCE = 20
"""Permutations drawn at a time: of a million raters, 80 MB."""


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """Annotations whose items are looked at, item after item in the order of the items' random words.

    `rater`: shape (sum of `size`,).
    `size`, shape (I,): annotations of each item.
    """

    size: Int64Array
    rater: Int32Array

    @classmethod
    def of(cls, annotations: Annotations) -> Self:
        """The items of the smallest words, up to so many annotations."""
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
    """Check each axis or intersection.

    `given`, shape (J,): annotations of each rater, of all items.
    `grouping`: the groups that are compared.
    `exchange`: how profiles move; over all raters by default.

    Of n_ig annotations of item i by raters of group g, W_g in all and W of all groups, the statistic is
    T = sum_ig (n_ig - n_i W_g / W)^2 / (n_i W_g / W); that of workloads is the sum of squares between groups
    of the logarithm of the annotations of each rater. Both are held against the same permutations of the
    raters' profiles; raters unknown on an axis count in none of its groups.
    """
    if not axis_sets:
        return ()
    profile, first = profiles_of(np.concatenate([grouping.known, grouping.member]))
    groups = [[group for group in grouping.groups if group.axes == axes] for axes in axis_sets]
    tables = [_codes(grouping, axes)[first] for axes in axis_sets]
    item, some = np.repeat(np.arange(seen.size.size), seen.size), given > 0
    one_each, log = np.ones(int(some.sum())), np.log(given[some])

    def counted(of_raters: npt.NDArray[Any]) -> list[_Counted]:
        """By axis set, where raters have these profiles; those without an annotation have no workload."""
        at_work = of_raters[some]
        raters, logs = _sums(at_work, one_each, first.size), _sums(at_work, log, first.size)
        codes = of_raters[seen.rater]
        return [
            _Counted.of(item, table[codes], table, raters, logs, len(named) + 2)
            for table, named in zip(tables, groups, strict=True)
        ]

    everything = bool((seen.size == given.size).all() and (given == given.max(initial=0)).all())
    own = counted(profile)
    # Where everybody rated everything, each permutation says what is observed: one stands for all.
    shuffled = [own] if everything else map(counted, _shuffled(profile, exchange))
    added = [
        [(_surplus(one.items), _between(one)) for one in all_axes]  # at once: items are many
        for all_axes in itertools.chain([own], shuffled)
    ]
    return tuple(
        AssignmentCheck(
            axes,
            _standing_out(np.stack([row[s][0] for row in added]), meetings(own[s].items), groups[s]),
            _standing_out(np.stack([row[s][1] for row in added]), _ratio(own[s]), groups[s]),
        )
        if groups[s]
        else AssignmentCheck(axes, None, None)
        for s, axes in enumerate(axis_sets)
    )


def _codes(grouping: Grouping, axes: AxisSet) -> Int64Array:
    """Each rater's group of an axis set, behind them those of smaller groups, then unknown: shape (J,)."""
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
    """The raters' profiles under each permutation, shape (J,), a few drawn at a time."""
    order, bounds = exchange or over_all(profile.size)
    # The smaller type is compiled beforehand.
    own = profile.astype(np.uint16 if profile.max(initial=0) < 2**16 else np.uint32)
    for start in range(0, PERMUTATIONS, _AT_ONCE):
        drawn = np.empty((own.size, min(_AT_ONCE, PERMUTATIONS - start)), own.dtype)
        draw(np.uint64(_SEED), start, order, bounds, own, drawn)
        yield from np.ascontiguousarray(drawn.T)


class _Counted(NamedTuple):
    """Groups of an axis set, those of smaller ones behind them as one: G in all.

    `items`, shape (I, G): annotations of each item.
    `raters`, shape (G,): with an annotation.
    `logs`, shape (G,): sum of the logarithms of their annotations.
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
        """From each annotation's item and code, and by profile its code, raters and logarithms."""
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
    """What each group adds to T, shape (G,), of counts (I, G)."""
    each, total = counts.sum(axis=1), counts.sum(axis=0)
    share = total / max(total.sum(), 1.0)
    squares = (counts**2 / np.maximum(each, 1.0)[:, None]).sum(axis=0)
    added = np.zeros(total.shape)
    np.divide(squares, share, out=added, where=share > 0)
    return np.asarray(added - total)


def meetings(counts: FloatArray) -> FloatArray:
    """How often a group's annotations meet the others' on their item, against groups without a part in it.

    `counts`, shape (I, G): annotations of each item by each group.

    Returns shape (G,): 1 where the group has as many annotations of others beside its own as any annotations
    of the same items have, 0 where it has none; NaN where no item has two annotations.

    sum_i n_ig m_ig / (n_i - 1) over the items with n_i >= 2, divided by W_g (W - W_g) / W: with n_i
    annotations of which each is the group's with the same probability p, the expectation of n_ig m_ig is
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
    """What each group adds to the sum of squares of workloads between groups, shape (G,)."""
    mean = counted.logs.sum() / max(counted.raters.sum(), 1.0)
    return np.asarray(counted.raters * (counted.logs / np.maximum(counted.raters, 1.0) - mean) ** 2)


def _ratio(counted: _Counted) -> FloatArray:
    """How many times as many annotations as the others each group's raters have, shape (G,); or NaN."""
    raters, logs = counted.raters, counted.logs
    others = (logs.sum() - logs) / np.maximum(raters.sum() - raters, 1.0)
    compared = (raters > 0) & (raters < raters.sum())
    return np.where(compared, np.exp(logs / np.maximum(raters, 1.0) - others), np.nan)


def _standing_out(added: FloatArray, sizes: FloatArray, named: Sequence[Group]) -> Apart | None:
    """The group that adds most over what it adds by chance, its size, and p of all together.

    `sizes`: shape (G,).
    `added`, shape (1 + B, G): what groups add to the statistic, as observed and in each permutation.
    """
    place = int(np.argmax((added[0] - added[1:].mean(axis=0))[: len(named)]))
    if np.isnan(sizes[place]):
        return None
    total = added.sum(axis=1)
    reached = int((total[1:] >= total[0] - _TIE * max(abs(total[0]), 1.0)).sum())
    return Apart(named[place], float(sizes[place]), (1 + reached) / len(total))


def screen_cautions(annotations: Annotations, raters: Raters, grouping: Grouping) -> tuple[Remark, ...]:
    """Counts of raters whom screens name, over all and by group, of the screens that are quick.

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
    """Screens that name anybody: the caution, and who it is."""
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
