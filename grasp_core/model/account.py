"""The account of what was read: rows that count or not, and who was given which items."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import grasp_core.model.remark_codes  # noqa: F401 - registers how the reasons of an account stand in files
from grasp_core.model.groups import AxisSet, Group
from grasp_core.model.remarks.remark import Remark

Unit = Literal["row", "cell", "answer"]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """The number left out for one reason."""

    reason: Remark
    count: int


@dataclass(frozen=True, slots=True)
class Account:
    """Everything read is used or left out: `read` is `used` and all of `left_out` together.

    `unit`: what is counted: rows of a long file, cells of a matrix that may hold labels, or, of a long file
        with several questions, one answer to each in every row.
    `left_out`: in the order in which it happened; nothing is counted twice.
    `unused`: columns of the annotations file that are neither used nor an axis.
    """

    unit: Unit
    read: int
    used: int
    left_out: tuple[LeftOut, ...] = ()
    unused: tuple[str, ...] = ()


def added_up(found: Iterable[LeftOut]) -> tuple[LeftOut, ...]:
    """One entry per reason, in order of first appearance; without those that left out nothing."""
    total: dict[Remark, int] = {}
    for one in found:
        total[one.reason] = total.get(one.reason, 0) + one.count
    return tuple(LeftOut(reason, count) for reason, count in total.items() if count)


FEWEST_MET, MOST_RATIO = 0.95, 1.2
"""Groups that meet the others more often, and whose raters rated at most so many times as much, are alike."""
SURE = 0.02
"""The p below which a difference is not taken for chance."""


@dataclass(frozen=True, slots=True)
class Apart:
    """The group of an axis that stands out most from random groupings, by how much, and the p of the axis."""

    group: Group
    size: float
    p: float


@dataclass(frozen=True, slots=True)
class AssignmentCheck:
    """Whether the groups of an axis or intersection were given the same items, and as many.

    `items` has as its size how often annotations of the group meet one of the others' on their item, as a
    share of what it would be had the axis had no part in who rates what: 1 is one pool, 0 pools of their own.
    `workload` has the ratio of the group's geometric mean of annotations to the others'. Either is None where
    there is nothing to compare.
    """

    axes: AxisSet
    items: Apart | None
    workload: Apart | None

    @property
    def groups(self) -> frozenset[Group]:
        """Those that it names."""
        return frozenset(one.group for one in (self.items, self.workload) if one is not None)

    @property
    def own_items(self) -> bool:
        """Whether groups were given items of their own, more than chance and more than a little."""
        return self.items is not None and self.items.p < SURE and self.items.size < FEWEST_MET

    @property
    def own_workload(self) -> bool:
        """Whether groups rated more or fewer items, more than chance and more than a little."""
        found = self.workload
        return found is not None and found.p < SURE and max(found.size, 1 / found.size) > MOST_RATIO

    @property
    def large(self) -> bool:
        """Whether what shuffling profiles finds may be due to who rated what."""
        return self.own_items or self.own_workload


Unequal = Mapping[AxisSet, Literal["items", "workload"]]
"""Axes whose groups were given other items, whether or not as many, or more of the same ones."""
ALL_ALIKE: Unequal = MappingProxyType({})


def unequal_axes(checks: Iterable[AssignmentCheck]) -> Unequal:
    """The axes whose groups were given other items, or more of them."""
    return {check.axes: "items" if check.own_items else "workload" for check in checks if check.large}
