"""Profiles: raters who belong to the same groups share one, so there are few, however many the raters."""

import functools
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from grasp_core.model.annotations import BoolArray, Int64Array, Raters
from grasp_core.model.groups import Grouping
from grasp_core.model.spec import AnalysisSpec
from grasp_core.permutation.draw import exchange_of
from grasp_core.permutation.jit import compiled
from grasp_core.permutation.kernel.arguments import Rows
from grasp_core.permutation.kernel.counting import shuffle

MOST_BATCH, FEWEST_BATCH = 512, 16
"""Most and fewest permutations of a batch, for which each item is visited once."""
SMALL = 8 * 2**20
"""Bytes that a batch's profiles may take in any case; with many annotations, 8 bytes for each."""
_AT_ONCE = 8
"""Permutations drawn before their profiles are written by rater, with a rater's profiles adjacent."""


class Profiled(NamedTuple):
    """Profiles, and the R rows of raters whose labels are counted annotation by annotation.

    The first rows are the complements of the H sets of raters whose values are known: they are small. Then
    follow the G groups.

    `profile`: each rater's profile, which defines the rows they belong to.
    `row_ptr`, `row_of`: profile p belongs to the rows ``row_of[row_ptr[p]:row_ptr[p + 1]]``, without unions.
    `union`, `part`: row ``union[u]`` has all raters of the smaller row ``part[u]``: a gender is the union
        of its intersections with race, and its counts are their sum.
    `belongs`: true if a profile belongs to a row, unions included.
    `unknown_of`: for each group the row of raters whose values are unknown, so not in its complement either.
    """

    profile: npt.NDArray[np.unsignedinteger[Any]]
    row_ptr: Int64Array
    row_of: Int64Array
    union: Int64Array
    part: Int64Array
    belongs: BoolArray
    unknown_of: Int64Array

    @property
    def unknown(self) -> bool:
        """True if some raters' values are unknown."""
        return bool(self.belongs[:, : self.belongs.shape[1] - self.unknown_of.size].any())


class Membership:
    """Arrays of raters and groups, shared by designs of the same raters, groups and strata."""

    def __init__(self, raters: Raters, grouping: Grouping, spec: AnalysisSpec) -> None:
        rows = np.concatenate([grouping.known, grouping.member])
        profile, self._first = profiles_of(rows)
        ptr, of = rows_by_column(rows[:, self._first])
        numbers = np.uint16 if self._first.size <= 1 << 16 else np.uint32
        known_of = grouping.known_of.astype(np.int64)
        self.rows = Rows(profile.astype(numbers), ptr, of.astype(np.int32), len(grouping.known), known_of)
        exchange = exchange_of(raters, spec)
        self.order, self.bounds = exchange
        self.keeps_sizes = exchange.keeps_sizes
        self.grouping = grouping

    @functools.cached_property
    def profiled(self) -> Profiled:
        """Profiles for data that are counted annotation by annotation."""
        grouping = self.grouping
        belongs = np.concatenate([~grouping.known[:, self._first], grouping.member[:, self._first]])
        union, part = (groups + len(grouping.known) for groups in unions_of(grouping))
        counted = belongs.copy()
        counted[union] = False
        by_profile = np.ascontiguousarray(belongs.T)
        return Profiled(
            self.rows.profile, *rows_by_column(counted), union, part, by_profile, self.rows.known_of
        )


def batch_of(n_annotations: int, n_raters: int) -> int:
    """Return the number of permutations in a batch, limited by the memory for profiles."""
    fitting = max(8 * n_annotations, SMALL) // (2 * max(n_raters, 1))
    return min(max(fitting, FEWEST_BATCH), MOST_BATCH)


@compiled()
def draw(seed, start, order, bounds, profile, profiles):  # type: ignore[no-untyped-def]  # compiled: types are numba's
    """Fill `profiles`, shape (J, permutations), with raters' profiles in permutations from `start` on."""
    words = np.empty(order.size + 3, dtype=np.uint64)
    ordered = np.empty(order.size, dtype=profile.dtype)
    for i in range(order.size):
        ordered[i] = profile[order[i]]
    shuffled = np.empty((_AT_ONCE, order.size), dtype=profile.dtype)
    for first in range(0, profiles.shape[1], _AT_ONCE):
        last = min(first + _AT_ONCE, profiles.shape[1])
        for b in range(first, last):
            for i in range(order.size):
                shuffled[b - first, i] = ordered[i]
            shuffle(seed, np.uint64(start + b), bounds, words, shuffled[b - first])
        for i in range(order.size):
            for b in range(first, last):
                profiles[order[i], b] = shuffled[b - first, i]


def profiles_of(member: BoolArray) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Number the distinct columns of `member`, shape (G, J), in order of first appearance.

    Returns each rater's profile, and the first rater of each profile.
    """
    profile = np.zeros(member.shape[1], dtype=np.intp)
    for eight in np.packbits(member, axis=0):
        profile, _ = pd.factorize(256 * profile + eight)
    return profile, np.flatnonzero(np.diff(np.maximum.accumulate(profile), prepend=-1))


def rows_by_column(rows: BoolArray) -> tuple[Int64Array, Int64Array]:
    """Return the rows that contain each column p: ``of[ptr[p]:ptr[p + 1]]``, ascending."""
    column, of = np.nonzero(rows.T)
    ptr = np.concatenate(([0], np.cumsum(np.bincount(column, minlength=rows.shape[1]))))
    return ptr.astype(np.int64), of.astype(np.int64)


def unions_of(grouping: Grouping) -> tuple[Int64Array, Int64Array]:
    """Return groups that are disjoint unions of shown groups of a finer axis set, and their parts."""
    values = [group.by_axis for group in grouping.groups]
    axis_sets = dict.fromkeys(group.axes for group in grouping.groups)
    found: list[tuple[int, int]] = []
    for g, group in enumerate(grouping.groups):
        finer = next((axes for axes in axis_sets if set(group.axes) < set(axes)), None)
        parts = [
            h
            for h, other in enumerate(grouping.groups)
            if other.axes == finer and values[g].items() <= values[h].items()
        ]
        if parts and grouping.n_raters[parts].sum() == grouping.n_raters[g]:
            found += [(g, h) for h in parts]
    # A part may be a union itself, so unions of many axes are summed first.
    found.sort(key=lambda pair: -len(grouping.groups[pair[0]].axes))
    pairs = np.array(found, dtype=np.int64).reshape(-1, 2)
    return pairs[:, 0].copy(), pairs[:, 1].copy()
