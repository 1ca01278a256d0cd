"""Groups of raters: single axes and intersections of any order."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

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
    member: list[BoolArray] = [np.zeros((0, len(raters.rater_ids)), dtype=np.bool_)]
    known: list[BoolArray] = []
    known_of: list[int] = []
    too_small = 0
    for axes in axis_sets:
        found = _there(raters, axes)
        large = found.sizes >= min_raters
        too_small += int((~large).sum())
        if not large.any():
            continue
        groups += [_group_of(raters, axes, rater) for rater in found.first[large].tolist()]
        of_rater = np.where(large, np.cumsum(large) - 1, -1)[found.of_rater]
        rows = np.zeros((int(large.sum()), found.known.size), dtype=np.bool_)
        rows[of_rater[of_rater >= 0], np.flatnonzero(found.known)[of_rater >= 0]] = True
        member.append(rows)
        at = (place for place, one in enumerate(known) if np.array_equal(one, found.known))
        place = next(at, len(known))
        known_of += [place] * len(rows)
        if place == len(known):
            known.append(found.known)
    return Grouping(
        tuple(groups),
        np.concatenate(member),
        np.array(known, dtype=np.bool_).reshape(-1, len(raters.rater_ids)),
        np.array(known_of, dtype=np.intp),
        too_small,
    )


def count_groups(raters: Raters, axis_sets: Sequence[AxisSet], *, min_raters: int = 1) -> int:
    """Count the groups that :func:`form_groups` would form; this takes memory for raters alone."""
    return sum(int((group_sizes(raters, axes) >= min_raters).sum()) for axes in axis_sets)


def group_sizes(raters: Raters, axes: AxisSet) -> npt.NDArray[np.intp]:
    """Return the number of raters of each group that has one."""
    return _there(raters, axes).sizes


class _There(NamedTuple):
    """The groups of an axis set that have a rater, K of them, in the order of their values.

    `known`, shape (J,): raters whose values on all axes are known, of whom there are I.
    `of_rater`, shape (I,): the group of each of them.
    `first`, shape (K,): a rater of each group. `sizes`, shape (K,): its raters.
    """

    known: BoolArray
    of_rater: npt.NDArray[np.intp]
    first: npt.NDArray[np.intp]
    sizes: npt.NDArray[np.intp]


def _there(raters: Raters, axes: AxisSet) -> _There:
    """Find groups among the raters, not among all values together: of these there may be millions."""
    columns = [raters.axes[name] for name in axes]
    known = np.logical_and.reduce([axis.codes >= 0 for axis in columns])
    code = np.zeros(int(known.sum()), dtype=np.intp)
    for axis in columns:  # numbered anew each time, so that the numbers stay small
        code = np.unique(code * len(axis.values) + axis.codes[known], return_inverse=True)[1]
    _, first, sizes = np.unique(code, return_index=True, return_counts=True)
    return _There(known, code, np.flatnonzero(known)[first], sizes)


def _group_of(raters: Raters, axes: AxisSet, rater: int) -> Group:
    columns = (raters.axes[name] for name in axes)
    return Group(tuple(axes), tuple(axis.values[axis.codes[rater]] for axis in columns))


def axes_with_groups(raters: Raters, axis_sets: Sequence[AxisSet], min_raters: int) -> tuple[AxisSet, ...]:
    """Return the axis sets that have a group of at least `min_raters` raters."""
    return tuple(axes for axes in axis_sets if count_groups(raters, [axes], min_raters=min_raters))


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


_SAYS_NOTHING_ALONE = re.compile(r"[+-]?\d+([.,]\d+)?|yes|no|true|false|ja|nein|oui|non|[yn]", re.IGNORECASE)


def spoken(group: Group) -> str:
    """Return the group's values as a sentence names them, such as "Black Woman".

    A number, yes or no says nothing without its axis, such as "college plus 1".
    """
    return " ".join(
        f"{axis_label((axis,))} {value}" if _SAYS_NOTHING_ALONE.fullmatch(value) else value
        for axis, value in ((axis, one_line(value)) for axis, value in group.by_axis.items())
    )


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
