"""Raters who gave one label always."""

from __future__ import annotations

from dataclasses import dataclass

from grasp_core.annotations import Annotations, Raters
from grasp_core.groups import Group, form_groups
from grasp_core.screens.constant import find_constant


@dataclass(frozen=True, slots=True)
class ConstantInGroup:
    """Raters of a group who gave one label always, out of those with enough annotations."""

    group: Group
    constant: int
    looked_at: int


@dataclass(frozen=True, slots=True)
class ConstantRaters:
    """Raters who gave one label always: how many, and in which groups (those that have any)."""

    constant: int
    looked_at: int
    by_group: tuple[ConstantInGroup, ...]


def constant_raters(annotations: Annotations, raters: Raters) -> ConstantRaters:
    """Count raters with at least 10 annotations, all of one label, over all and by group of one axis."""
    constant, enough = find_constant(annotations)
    grouping = form_groups(raters, [(name,) for name in raters.axes])
    rows = [
        ConstantInGroup(group, int((member & constant).sum()), int((member & enough).sum()))
        for group, member in zip(grouping.groups, grouping.member, strict=True)
    ]
    return ConstantRaters(int(constant.sum()), int(enough.sum()), tuple(row for row in rows if row.constant))
