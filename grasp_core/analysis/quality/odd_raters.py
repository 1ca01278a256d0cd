"""Raters who always say the same, or answer at random, as the quality report has them."""

from __future__ import annotations

from dataclasses import dataclass

from grasp_core.model.annotations import Annotations, Raters
from grasp_core.model.groups import Group, form_groups
from grasp_core.read.screens.constant import too_constant
from grasp_core.read.screens.random_responders import random_responders


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
