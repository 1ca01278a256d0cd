"""What the data hold: sizes, overlap of raters, small groups, odd raters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from grasp_core.model.annotations import Annotations, Int64Array, Raters
from grasp_core.model.groups import AxisSet, Group, form_groups
from grasp_core.model.result import Association
from grasp_core.model.spec import LEVEL
from grasp_core.reading.screens.constant import too_constant
from grasp_core.reading.screens.random_responders import random_responders
from grasp_core.statistics.association import chance_of, corrected_v, cross_table


@dataclass(frozen=True, slots=True)
class ConstantInGroup:
    """Raters of a group who gave one label always, out of those with enough annotations."""

    group: Group
    constant: int
    looked_at: int


@dataclass(frozen=True, slots=True)
class ConstantRaters:
    """Raters named as constant: how many, and in which groups (those that have any)."""

    constant: int
    looked_at: int
    by_group: tuple[ConstantInGroup, ...]


def constant_raters(annotations: Annotations, raters: Raters) -> ConstantRaters:
    """Count raters named by :func:`too_constant`, over all and by group of one axis."""
    grouping = form_groups(raters, [(name,) for name in raters.axes])
    constant, enough = too_constant(annotations, grouping.member)
    rows = [
        ConstantInGroup(group, int((member & constant).sum()), int((member & enough).sum()))
        for group, member in zip(grouping.groups, grouping.member, strict=True)
    ]
    return ConstantRaters(int(constant.sum()), int(enough.sum()), tuple(row for row in rows if row.constant))


@dataclass(frozen=True, slots=True)
class RandomInGroup:
    """Raters of a group who are at chance, out of those looked at."""

    group: Group
    random: int
    looked_at: int


@dataclass(frozen=True, slots=True)
class RandomRaters:
    """Raters at chance: how many, how the typical rater agrees, and in which groups (those that have any).

    `agreement` is the share of the disagreements of chance that the typical rater avoids; None where nobody
    was looked at.
    """

    random: int
    looked_at: int
    agreement: float | None
    by_group: tuple[RandomInGroup, ...]


def random_raters(annotations: Annotations, raters: Raters) -> RandomRaters:
    """Count raters at chance, over all and by group of one axis."""
    found = random_responders(annotations)
    grouping = form_groups(raters, [(name,) for name in raters.axes])
    rows = [
        RandomInGroup(group, int((member & found.random).sum()), int((member & found.looked_at).sum()))
        for group, member in zip(grouping.groups, grouping.member, strict=True)
    ]
    by_group = tuple(row for row in rows if row.random)
    return RandomRaters(found.raters, int(found.looked_at.sum()), found.agreement, by_group)


SIZES = (2, 5, 10)


@dataclass(frozen=True, slots=True)
class SmallGroups:
    """Groups of one axis or intersection: how many there are, and how many have fewer raters than a size.

    `fewer` follows :data:`SIZES`.
    """

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


TOGETHER = 0.2
"""Bias-corrected Cramér's V from which two axes go together, if chance hardly makes it."""
NEARLY_IDENTICAL = 0.8
"""Bias-corrected Cramér's V from which two axes count as nearly identical."""


@dataclass(frozen=True, slots=True)
class Overlap:
    """How closely two axes go together.

    `raters`: known on both.
    `v`: bias-corrected Cramér's V, 0 to 1; None where an axis has one value only among these raters, or there
        are too few of them.
    `p`: how often independent axes go as far, times the pairs of axes that were looked at; None where V is
        below 0.2.
    """

    first: str
    second: str
    raters: int
    v: float | None
    p: float | None = None

    @property
    def together(self) -> bool:
        """Whether one may stand behind what the other shows."""
        return self.p is not None and self.p <= LEVEL

    @property
    def nearly_identical(self) -> bool:
        """Whether the two cannot be told apart."""
        return self.v is not None and self.v >= NEARLY_IDENTICAL


def overlaps(raters: Raters, names: Sequence[str] | None = None) -> tuple[Overlap, ...]:
    """Measure every pair of axes.

    `names`: axes; by default all.

    Raises KeyError if an axis is not in `raters`.
    """
    names = tuple(raters.axes) if names is None else tuple(names)
    pairs = list(combinations(names, 2))
    return tuple(_overlap(raters, first, second, len(pairs)) for first, second in pairs)


def associations(raters: Raters, names: Sequence[str]) -> tuple[Association, ...]:
    """Pairs of these axes that go together, the closest first."""
    found = [one for one in overlaps(raters, names) if one.together]
    return tuple(
        Association(one.first, one.second, one.v or 0.0, one.p)
        for one in sorted(found, key=lambda one: -(one.v or 0.0))
    )


def _overlap(raters: Raters, first: str, second: str, pairs: int) -> Overlap:
    table = cross_table(raters.axes[first], raters.axes[second])
    v = corrected_v(table)
    p = None if v is None or v < TOGETHER else min(1.0, pairs * chance_of(table))
    return Overlap(first, second, int(table.sum()), v, p)


BARS = 10
"""Most bars of the histogram of raters per item."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Smallest, median and largest."""

    low: int
    median: float
    high: int


@dataclass(frozen=True, slots=True)
class Bar:
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
    """Sizes of the data.

    `filled` is the share of all item-rater pairs that have an annotation.
    """

    items: int
    raters: int
    annotations: int
    filled: float
    raters_per_item: Spread
    annotations_per_rater: Spread
    items_by_raters: tuple[Bar, ...]
    unknown: tuple[Unknown, ...]

    @property
    def missing(self) -> float:
        """Share of all item-rater pairs without an annotation."""
        return 1 - self.filled


def overview(annotations: Annotations, raters: Raters) -> Overview:
    """Count what there is and what is missing.

    `annotations`: with at least one annotation.
    """
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
        raters_per_item=_spread(per_item),
        annotations_per_rater=_spread(per_rater),
        items_by_raters=tuple(
            Bar(low + bar * width, min(low + (bar + 1) * width - 1, high), int(count))
            for bar, count in enumerate(counts)
        ),
        unknown=tuple(
            Unknown(name, int((axis.codes < 0).sum()), float((axis.codes < 0).mean()))
            for name, axis in raters.axes.items()
        ),
    )


def _spread(counts: Int64Array) -> Spread:
    return Spread(int(counts.min()), float(np.median(counts)), int(counts.max()))
