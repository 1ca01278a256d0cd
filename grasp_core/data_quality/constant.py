"""Raters who gave one label always, where more did than its frequency explains."""

from __future__ import annotations

from dataclasses import dataclass

from grasp_core.annotations import Annotations, Raters
from grasp_core.groups import Group, form_groups
from grasp_core.screens.constant import too_constant


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
