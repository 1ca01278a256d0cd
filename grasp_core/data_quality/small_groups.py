"""Groups too small to say much about."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from grasp_core.annotations import Raters
from grasp_core.groups import AxisSet

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
