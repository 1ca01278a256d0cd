"""Groups of raters: single axes and intersections of any order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt

from grasp_core.model.annotations import BoolArray, Raters

AxisSet = tuple[str, ...]
"""The axes that define a family of groups: one name, or several for an intersection."""


@dataclass(frozen=True, slots=True)
class Group:
    """The raters who have `values` on `axes`, e.g. race = Asian and gender = Woman."""

    axes: AxisSet
    values: tuple[str, ...]

    @property
    def label(self) -> str:
        """The values, as shown to people."""
        return ", ".join(self.values)

    @property
    def key(self) -> frozenset[tuple[str, str]]:
        """The group's identity, independent of the order in which an intersection's axes are named."""
        return frozenset(zip(self.axes, self.values, strict=True))

    @property
    def by_axis(self) -> dict[str, str]:
        """The value on each axis."""
        return dict(zip(self.axes, self.values, strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class Grouping:
    """Membership of raters in groups and in the groups' complements.

    `groups`: length G.
    `member`, shape (G, J): true if rater j belongs to group g.
    `known`, shape (H, J): distinct sets of raters whose values on all axes of some group are known.
    `known_of`, shape (G,): row of `known` from which group g's complement is taken: ``known[known_of[g]] &
        ~member[g]``.
    `too_small`: number of groups that were left out because they have too few raters, but at least one.
    """

    groups: tuple[Group, ...]
    member: BoolArray
    known: BoolArray
    known_of: npt.NDArray[np.intp]
    too_small: int = 0

    @property
    def n_raters(self) -> npt.NDArray[np.intp]:
        """Raters per group, shape (G,)."""
        counts: npt.NDArray[np.intp] = self.member.sum(axis=1)
        return counts

    def complement(self, group: int) -> BoolArray:
        """Raters outside `group` whose values on all its axes are known, shape (J,)."""
        others: BoolArray = self.known[self.known_of[group]] & ~self.member[group]
        return others

    def some(self, chosen: Sequence[int]) -> Grouping:
        """Return only the groups at these positions, each with its own complement."""
        if len(chosen) == len(self.groups):
            return self
        groups = tuple(self.groups[g] for g in chosen)
        places = list(chosen)
        return Grouping(groups, self.member[places], self.known, self.known_of[places])


def form_groups(raters: Raters, axis_sets: Sequence[AxisSet], *, min_raters: int = 1) -> Grouping:
    """Form every group of at least `min_raters` raters, axis set by axis set; never an empty one."""
    groups: list[Group] = []
    member: list[BoolArray] = []
    known: list[BoolArray] = []
    known_of: list[int] = []
    too_small = 0
    for axes in axis_sets:
        columns = [raters.axes[name] for name in axes]
        all_known = np.logical_and.reduce([axis.codes >= 0 for axis in columns])
        for codes in product(*(range(len(axis.values)) for axis in columns)):
            row = np.logical_and.reduce(
                [axis.codes == code for axis, code in zip(columns, codes, strict=True)]
            )
            if row.sum() < max(min_raters, 1):
                too_small += bool(row.any())
                continue
            values = tuple(axis.values[code] for axis, code in zip(columns, codes, strict=True))
            groups.append(Group(tuple(axes), values))
            member.append(row)
            at = (place for place, one in enumerate(known) if np.array_equal(one, all_known))
            known_of.append(next(at, len(known)))
            if known_of[-1] == len(known):
                known.append(all_known)
    shape = (-1, len(raters.rater_ids))
    return Grouping(
        tuple(groups),
        np.array(member, dtype=np.bool_).reshape(shape),
        np.array(known, dtype=np.bool_).reshape(shape),
        np.array(known_of, dtype=np.intp),
        too_small,
    )


def axes_with_groups(raters: Raters, axis_sets: Sequence[AxisSet], min_raters: int) -> tuple[AxisSet, ...]:
    """Return the axis sets that have a group of at least `min_raters` raters."""
    formed = {group.axes for group in form_groups(raters, axis_sets, min_raters=min_raters).groups}
    return tuple(axes for axes in axis_sets if tuple(axes) in formed)


def one_line(text: str) -> str:
    """Return the text with each run of blanks and line breaks as one blank; "(blank)" if nothing is left."""
    return " ".join(text.split()) or "(blank)"


def axis_label(axes: AxisSet) -> str:
    """Return axes as people read them: "race × gender" for ``("rater_race", "rater_gender")``."""
    prefix = "rater_"
    if all(name.startswith(prefix) and len(name) > len(prefix) for name in axes):
        axes = tuple(name.removeprefix(prefix) for name in axes)
    return " × ".join(one_line(name.replace("_", " ")) for name in axes)


def group_label(group: Group) -> str:
    """Return the group's values on one line."""
    return ", ".join(one_line(value) for value in group.values)


def spoken(group: Group) -> str:
    """Return the group's values as a sentence names them, such as "Black Woman"."""
    return " ".join(one_line(value) for value in group.values)


def named_group(group: Group) -> str:
    """Return the group's axis and values, for lists of groups of several axes."""
    return f"{axis_label(group.axes)} {group_label(group)}"


def group_labels(groups: Sequence[Group]) -> list[str]:
    """Return one label per group; groups that share their values get their axis added."""
    labels = [group_label(group) for group in groups]
    times = Counter(labels)
    return [
        f"{label} ({axis_label(group.axes)})" if times[label] > 1 else label
        for label, group in zip(labels, groups, strict=True)
    ]
