"""Overview of the data: sizes, small groups, overlap of axes, odd raters, columns that look like teams."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from scipy.sparse import csr_array

from grasp_core.model.annotations import Annotations, Axis, BoolArray, Codes, FloatArray, Int64Array, Raters
from grasp_core.model.groups import AxisSet, Group, Grouping, form_groups
from grasp_core.model.result import Association
from grasp_core.model.spec import LEVEL
from grasp_core.reading.screens.constant import too_constant
from grasp_core.reading.screens.random_responders import random_responders
from grasp_core.reading.table.names import EXCLUDED, KEPT, mentions
from grasp_core.statistics.association import chance_of, corrected_v, cross_table


@dataclass(frozen=True, slots=True)
class ConstantInGroup:
    """Raters of a group who always gave the same label, out of those with enough annotations."""

    group: Group
    constant: int
    looked_at: int


@dataclass(frozen=True, slots=True)
class ConstantRaters:
    """Number of raters flagged as constant, in all and in the groups that have any."""

    constant: int
    looked_at: int
    by_group: tuple[ConstantInGroup, ...]


def constant_raters(annotations: Annotations, raters: Raters) -> ConstantRaters:
    """Count raters flagged by :func:`too_constant`, in all and by group of one axis."""
    grouping = form_groups(raters, [(name,) for name in raters.axes])
    constant, enough = too_constant(annotations, raters)
    rows = _in_groups(grouping, constant, enough)
    return ConstantRaters(
        int(constant.sum()), int(enough.sum()), tuple(ConstantInGroup(*row) for row in rows)
    )


def _in_groups(
    grouping: Grouping, named: BoolArray, looked_at: BoolArray
) -> Iterator[tuple[Group, int, int]]:
    """Yield groups with flagged raters, the number of these, and the number of raters checked."""
    for group, member in zip(grouping.groups, grouping.member, strict=True):
        if count := int((member & named).sum()):
            yield group, count, int((member & looked_at).sum())


@dataclass(frozen=True, slots=True)
class RandomInGroup:
    """Raters of a group who answer at chance, out of those checked."""

    group: Group
    random: int
    looked_at: int


@dataclass(frozen=True, slots=True)
class RandomRaters:
    """Raters at chance; `agreement` is the share of chance's disagreements that a typical rater avoids."""

    random: int
    looked_at: int
    agreement: float | None
    by_group: tuple[RandomInGroup, ...]


def random_raters(annotations: Annotations, raters: Raters) -> RandomRaters:
    """Count raters who answer at chance, in all and by group of one axis."""
    found = random_responders(annotations)
    grouping = form_groups(raters, [(name,) for name in raters.axes])
    rows = _in_groups(grouping, found.random, found.looked_at)
    by_group = tuple(RandomInGroup(*row) for row in rows)
    return RandomRaters(found.raters, int(found.looked_at.sum()), found.agreement, by_group)


SIZES = (2, 5, 10)


@dataclass(frozen=True, slots=True)
class SmallGroups:
    """Number of groups of an axis or intersection, and of those `fewer` than each of :data:`SIZES`."""

    axes: AxisSet
    groups: int
    smallest: int
    fewer: tuple[int, ...]


def small_groups(raters: Raters) -> tuple[SmallGroups, ...]:
    """Count small groups of every axis and of every pair of axes."""
    return tuple(_count(raters, axes) for size in (1, 2) for axes in combinations(raters.axes, size))


def _count(raters: Raters, axes: AxisSet) -> SmallGroups:
    columns = [raters.axes[name] for name in axes]
    known = np.logical_and.reduce([axis.codes >= 0 for axis in columns])
    code = np.zeros(int(known.sum()), dtype=np.int64)
    for axis in columns:
        code = code * len(axis.values) + axis.codes[known]
    _, sizes = np.unique(code, return_counts=True)
    fewer = tuple(int((sizes < size).sum()) for size in SIZES)
    return SmallGroups(axes, sizes.size, int(sizes.min(initial=code.size)), fewer)


RELATED_V = 0.2
"""Bias-corrected Cramér's V from which two axes are associated, if it is hardly due to chance."""
NEARLY_IDENTICAL = 0.8


@dataclass(frozen=True, slots=True)
class Overlap:
    """Association of two axes.

    `raters`: number of raters with known values on both.
    `v`: bias-corrected Cramér's V, 0 to 1; None if an axis has only one value among these raters, or there
        are too few of them.
    `p`: chance of such an association of independent axes, times the number of pairs of axes compared; None
        if V is below 0.2.
    """

    first: str
    second: str
    raters: int
    v: float | None
    p: float | None = None

    @property
    def related(self) -> bool:
        """True if one axis may be the cause of differences on the other."""
        return self.p is not None and self.p <= LEVEL

    @property
    def nearly_identical(self) -> bool:
        """True if the data hardly distinguish the two axes."""
        return self.v is not None and self.v >= NEARLY_IDENTICAL


def overlaps(raters: Raters, names: Sequence[str] | None = None) -> tuple[Overlap, ...]:
    """Measure every pair of axes, or of the named ones."""
    names = tuple(raters.axes) if names is None else tuple(names)
    pairs = list(combinations(names, 2))
    return tuple(_overlap(raters, first, second, len(pairs)) for first, second in pairs)


def associations(raters: Raters, names: Sequence[str]) -> tuple[Association, ...]:
    """Return the pairs of these axes that are associated, the closest first."""
    found = [one for one in overlaps(raters, names) if one.related]
    return tuple(
        Association(one.first, one.second, one.v or 0.0, one.p)
        for one in sorted(found, key=lambda one: -(one.v or 0.0))
    )


def _overlap(raters: Raters, first: str, second: str, pairs: int) -> Overlap:
    table = cross_table(raters.axes[first], raters.axes[second])
    v = corrected_v(table)
    p = None if v is None or v < RELATED_V else min(1.0, pairs * chance_of(table))
    return Overlap(first, second, int(table.sum()), v, p)


BARS = 10
"""Most bars of the histogram of raters per item."""


@dataclass(frozen=True, slots=True)
class CountRange:
    """Smallest, median and largest."""

    low: int
    median: float
    high: int


@dataclass(frozen=True, slots=True)
class RaterCountBar:
    """Items with `low` to `high` raters."""

    low: int
    high: int
    items: int


@dataclass(frozen=True, slots=True)
class Unknown:
    """Raters whose value on an axis is unknown."""

    axis: str
    raters: int
    share: float


@dataclass(frozen=True, slots=True)
class Overview:
    """Sizes of the data; `filled` is the share of all item-rater pairs that have an annotation."""

    items: int
    raters: int
    annotations: int
    filled: float
    raters_per_item: CountRange
    annotations_per_rater: CountRange
    items_by_raters: tuple[RaterCountBar, ...]
    unknown: tuple[Unknown, ...]

    @property
    def missing(self) -> float:
        """Share of all item-rater pairs without an annotation."""
        return 1 - self.filled


def overview(annotations: Annotations, raters: Raters) -> Overview:
    """Count items, raters, annotations and missing values."""
    per_item = np.diff(annotations.indptr)
    per_rater = np.bincount(annotations.rater, minlength=annotations.n_raters)
    low, high = int(per_item.min()), int(per_item.max())
    width = -(-(high - low + 1) // BARS)
    counts = np.bincount((per_item - low) // width)
    return Overview(
        items=annotations.n_items,
        raters=annotations.n_raters,
        annotations=annotations.n_annotations,
        filled=annotations.n_annotations / (annotations.n_items * annotations.n_raters),
        raters_per_item=_count_range(per_item),
        annotations_per_rater=_count_range(per_rater),
        items_by_raters=tuple(
            RaterCountBar(low + bar * width, min(low + (bar + 1) * width - 1, high), int(count))
            for bar, count in enumerate(counts)
        ),
        unknown=tuple(
            Unknown(name, int((axis.codes < 0).sum()), float((axis.codes < 0).mean()))
            for name, axis in raters.axes.items()
        ),
    )


def _count_range(counts: Int64Array) -> CountRange:
    return CountRange(int(counts.min()), float(np.median(counts)), int(counts.max()))


# Columns that look like teams: raters with the same value answer more alike than others of their group

_SHUFFLES = 199
_ALIKE_LEVEL = 0.01
LEAST_V = 0.2
"""Cramér's V of a column and an axis from which the column may cause differences on the axis."""
MOST_ANNOTATIONS, MOST_RATERS, MOST_PAIRS = 20_000, 1_000, 100_000
"""Most annotations, raters and pairs of raters used; larger data give whole items and raters at random."""
MOST_COLUMNS = 20
_SEED, _TIE = 1, 1e-9


@dataclass(frozen=True, slots=True)
class Team:
    """A column that looks like teams, the axis concerned, and the remedy.

    If all raters of each team have the same value on the axis, whole teams can change places (`by` is
    "cluster"); else profiles are shuffled within teams.
    """

    column: str
    axis: str
    by: Literal["cluster", "within"]


def teams(annotations: Annotations, columns: Mapping[str, Axis], tested: Mapping[str, Axis]) -> list[Team]:
    """Find columns whose values explain how alike raters answer, beyond an axis that they are related to.

    `columns`: columns of the raters that the run does not use; the first 20 that could be teams are checked.

    Returns at most one team per column, with the first axis for which the test is significant.

    The likeness of two raters is the mean, over the items of both, of the products of their residuals: 1 for
    the label given, less each label's share among all other raters of the item. The mean over all pairs with
    the same value of the column is compared with 199 permutations of the raters within the groups of the
    axis, p < .01. So a column that only repeats the axis is no team.
    """
    could = {
        name: one
        for name, one in columns.items()
        if 2 <= len(one.values) <= one.codes.size // 2
        and not mentions(name, EXCLUDED | KEPT)  # such columns mark raters who answer at random
    }
    alike = None
    found = []
    for name in list(could)[:MOST_COLUMNS]:
        for axis, of_axis in tested.items():
            by = _mends(could[name], of_axis)
            if by is None:
                continue
            alike = alike or _Likeness.of(annotations)
            if alike.p_of(could[name].codes, of_axis.codes) < _ALIKE_LEVEL:
                found.append(Team(name, axis, by))
                break
    return found


def _mends(column: Axis, axis: Axis) -> Literal["cluster", "within"] | None:
    """Return the remedy if teams have views of their own; None if teams cannot affect the axis."""
    table = cross_table(column, axis)
    values_of_group = (table > 0).sum(axis=0)
    if values_of_group.max(initial=0) < 2:
        return None  # the column repeats the axis
    if ((table > 0).sum(axis=1) <= 1).all():
        return "cluster"
    v = corrected_v(table)
    return "within" if v is not None and v >= LEAST_V else None


@dataclass(frozen=True, slots=True, eq=False)
class _Likeness:
    """Raters compared, (n,), sums of products of two raters' residuals, and items of both, each (n, n)."""

    rater: Int64Array
    products: FloatArray
    common: FloatArray

    @classmethod
    def of(cls, annotations: Annotations) -> _Likeness:
        """Compute from as much of the data as the bounds allow; a rater paired with oneself counts 0."""
        rng = np.random.default_rng(_SEED)
        rows = _some_items(annotations, rng)
        at_work = np.unique(annotations.rater[rows])
        rater = np.sort(rng.permutation(at_work)[:MOST_RATERS]).astype(np.int64)
        place = np.full(annotations.n_raters, -1, dtype=np.int64)
        place[rater] = np.arange(rater.size)
        rows &= place[annotations.rater] >= 0
        item, label = annotations.item[rows].astype(np.int64), annotations.category[rows].astype(np.int64)
        who, k = place[annotations.rater[rows]], annotations.n_categories
        counts = np.bincount(item * k + label, minlength=annotations.n_items * k).reshape(-1, k)
        each = counts.sum(axis=1)
        shared = each[item] > 1
        item, label, who = item[shared], label[shared], who[shared]
        given = np.zeros((item.size, k))
        given[np.arange(item.size), label] = 1.0
        residual = given - (counts[item] - given) / (each[item] - 1)[:, None]
        cell = item[:, None] * k + np.arange(k)
        width = (rater.size, annotations.n_items)
        of_labels = csr_array(
            (residual.ravel(), (np.repeat(who, k), cell.ravel())), shape=(width[0], width[1] * k)
        )
        rated = csr_array((np.ones(item.size), (who, item)), shape=width)
        products, common = ((one @ one.T).toarray() for one in (of_labels, rated))
        np.fill_diagonal(products, 0.0)
        np.fill_diagonal(common, 0.0)
        return cls(rater, products, common)

    def p_of(self, column: Codes, axis: Codes) -> float:
        """Return the p-value of a column's values within an axis's; 1 if no two raters share a value."""
        first, second = _pairs(column[self.rater])
        group = axis[self.rater]
        in_order = np.argsort(group, kind="stable")
        reached, own = 0, self._mean(first, second)
        if np.isnan(own):
            return 1.0
        rng = np.random.default_rng((_SEED, 1))
        for _ in range(_SHUFFLES):
            taken = np.empty(group.size, dtype=np.int64)
            taken[in_order] = np.lexsort((rng.random(group.size), group))
            reached += not self._mean(taken[first], taken[second]) < own - _TIE * abs(own)
        return (1 + reached) / (1 + _SHUFFLES)

    def _mean(self, first: Int64Array, second: Int64Array) -> float:
        """Return the mean product over the items of these pairs; NaN if they have no items."""
        common = float(self.common[first, second].sum())
        return float(self.products[first, second].sum()) / common if common else float("nan")


def _some_items(annotations: Annotations, rng: np.random.Generator) -> BoolArray:
    """Choose annotations of items drawn at random, up to :data:`MOST_ANNOTATIONS`, shape (A,)."""
    each = np.diff(annotations.indptr)
    order = rng.permutation(annotations.n_items)
    kept = np.zeros(annotations.n_items, dtype=np.bool_)
    fitting = int((each[order].cumsum() <= MOST_ANNOTATIONS).sum())
    kept[order[: max(fitting, 1)]] = True
    return np.asarray(kept[annotations.item])


def _pairs(codes: Codes) -> tuple[Int64Array, Int64Array]:
    """Return pairs of raters with the same value, at most :data:`MOST_PAIRS`, evenly over the values."""
    found = [np.stack(pair) for pair in _of_values(codes)]
    every = np.concatenate(found, axis=1) if found else np.empty((2, 0), dtype=np.int64)
    first, second = every[:, :: -(-max(every.shape[1], 1) // MOST_PAIRS)]
    return first, second


def _of_values(codes: Codes) -> Iterator[tuple[Int64Array, Int64Array]]:
    order = np.argsort(codes, kind="stable")
    known = order[codes[order] >= 0]
    for of_one in np.split(known, np.flatnonzero(np.diff(codes[known])) + 1):
        first, second = np.triu_indices(of_one.size, 1)
        yield of_one[first], of_one[second]
