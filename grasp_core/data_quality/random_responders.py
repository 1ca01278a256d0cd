"""Raters at chance, counted by group."""

from __future__ import annotations

from dataclasses import dataclass

from grasp_core.annotations import Annotations, Raters
from grasp_core.groups import Group, form_groups
from grasp_core.screens.random_responders import random_responders


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
