"""Groups whose GAI compares different items: it is far from GAI over the same items."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from grasp_core.annotations import Annotations
from grasp_core.assignment import AssignmentCheck
from grasp_core.groups import AxisSet, Group, Grouping
from grasp_core.spec import Level
from grasp_core.statistics.counts import count
from grasp_core.statistics.distance import distance_of
from grasp_core.statistics.estimable import NotEstimableError
from grasp_core.statistics.matched import matched_gai

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

    Parameters
    ----------
    annotations : Annotations
    grouping : Grouping
    gai : mapping from Group to float
        Where it has a value; of IRR and XRR.
    checks : iterable of AssignmentCheck
    level : {"nominal", "ordinal", "interval", "ratio"}
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
