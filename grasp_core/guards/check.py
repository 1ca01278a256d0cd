"""Whether groups were given the same items, and as many: held against shuffled profiles.

Shuffling takes raters for exchangeable. Where the raters of a group were given items of their own, or many
more than the others, they are not, whatever they think (docs/methods.md, "When the test holds").
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from grasp_core.annotations import Annotations, FloatArray, Int32Array, Int64Array
from grasp_core.assignment import Apart, AssignmentCheck
from grasp_core.groups import AxisSet, Group, Grouping
from grasp_core.permutation.draw import random_words
from grasp_core.permutation.exchange import Exchange, over_all
from grasp_core.permutation.kernel.profiles import draw

PERMUTATIONS = 199
MOST_ANNOTATIONS = 50_000
"""Annotations whose items are looked at; of larger data items drawn at random."""
_SEED, _TIE = 1, 1e-9
_NONE = (None, None)


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """Annotations whose items are looked at, item after item in the order of the items' random words.

    Parameters
    ----------
    word : uint64 array, shape (I,)
        One drawn for each item by its place in the whole data.
    size : int64 array, shape (I,)
        Annotations of each item.
    rater : int32 array, shape (sum of `size`,)
    """

    word: npt.NDArray[np.uint64]
    size: Int64Array
    rater: Int32Array

    @classmethod
    def of(cls, annotations: Annotations, first_item: int = 0) -> Self:
        """Of all items, or of those of a part of the data before which there are `first_item` others."""
        each = np.diff(annotations.indptr).astype(np.int64)
        word = random_words(_SEED, 2**32, each.size, first=first_item)
        return cls._least(word, each, annotations.indptr[:-1].astype(np.int64), annotations.rater)

    @classmethod
    def together(cls, parts: Sequence[Self]) -> Self:
        """What is looked at of all parts: the same as without parts."""
        word, size, rater = (
            np.concatenate([getattr(part, name) for part in parts]) for name in ("word", "size", "rater")
        )
        return cls._least(word, size, np.cumsum(size) - size, rater)

    @classmethod
    def _least(
        cls, word: npt.NDArray[np.uint64], size: Int64Array, first: Int64Array, rater: Int32Array
    ) -> Self:
        """The items of the smallest words, up to so many annotations; `first` is where those of each lie."""
        order = np.argsort(word, kind="stable")
        kept = order[np.cumsum(size[order]) <= MOST_ANNOTATIONS]
        of_kept = size[kept]
        ahead = np.repeat(first[kept] - (np.cumsum(of_kept) - of_kept), of_kept)
        return cls(word[kept], of_kept, rater[ahead + np.arange(ahead.size)].astype(np.int32))


def check_assignment(
    seen: Seen,
    given: Int64Array,
    grouping: Grouping,
    axis_sets: Sequence[AxisSet],
    exchange: Exchange | None = None,
) -> tuple[AssignmentCheck, ...]:
    """Check each axis or intersection.

    Parameters
    ----------
    seen : Seen
    given : int64 array, shape (J,)
        Annotations of each rater, of all items.
    grouping : Grouping
        The groups that are compared.
    axis_sets : sequence of AxisSet
    exchange : Exchange, optional
        How profiles move; over all raters by default.

    Returns
    -------
    tuple of AssignmentCheck, one per axis set

    Notes
    -----
    Of n_ig annotations of item i by raters of group g, W_g in all and W of all groups, the statistic is
    T = sum_ig (n_ig - n_i W_g / W)^2 / (n_i W_g / W); that of workloads is the sum of squares between groups
    of the logarithm of the annotations of each rater. Both are held against the same permutations of the
    raters' profiles; raters unknown on an axis count in none of its groups.
    """
    if not axis_sets:
        return ()
    codes = np.stack([_codes(grouping, axes) for axes in axis_sets])
    item = np.repeat(np.arange(seen.size.size), seen.size)
    everything = bool((seen.size == given.size).all() and (given == given.max(initial=0)).all())
    # Where everybody rated everything, each permutation says what is observed: one stands for all.
    shuffled = (
        iter(np.repeat(codes[:, :, None], 2, axis=2)) if everything else _with_shuffled(codes, exchange)
    )
    found = []
    for axes, of_axis in zip(axis_sets, shuffled, strict=True):
        named = [group for group in grouping.groups if group.axes == axes]
        checks = (
            (_items(item, seen.rater, of_axis, named), _workload(given, of_axis, named)) if named else _NONE
        )
        found.append(AssignmentCheck(axes, *checks))
    return tuple(found)


def _codes(grouping: Grouping, axes: AxisSet) -> Int64Array:
    """Each rater's group of an axis set, behind the groups those of smaller ones, -1 for unknown: (J,)."""
    places = [g for g, group in enumerate(grouping.groups) if group.axes == axes]
    codes = np.full(grouping.member.shape[1], -1, dtype=np.int64)
    if places:
        codes[grouping.known[grouping.known_of[places[0]]]] = len(places)
        for code, g in enumerate(places):
            codes[grouping.member[g]] = code
    return codes


def _with_shuffled(codes: Int64Array, exchange: Exchange | None) -> Iterator[Int64Array]:
    """Of each axis set's codes (S, J), these and those of all permutations, shape (J, 1 + B)."""
    table, profile = np.unique(codes, axis=1, return_inverse=True)
    order, bounds = exchange or over_all(codes.shape[1])
    kind = np.uint16 if table.shape[1] < 2**16 else np.uint32  # the smaller one is compiled beforehand
    drawn = np.empty((codes.shape[1], PERMUTATIONS), kind)
    draw(np.uint64(_SEED), 0, order, bounds, profile.astype(kind), drawn)
    for of_axis, of_profiles in zip(codes, table, strict=True):
        yield np.concatenate([of_axis[:, None], of_profiles[drawn]], axis=1)


def _items(item: Int64Array, rater: Int32Array, codes: Int64Array, named: Sequence[Group]) -> Apart | None:
    """The check of items; `codes` (J, 1 + B) are as observed and then shuffled."""
    width = len(named) + 2
    cell, n_items = item * width, int(item.max(initial=-1)) + 1

    def counted(codes: Int64Array) -> FloatArray:
        placed = (codes % width)[rater] + cell  # unknown is the last
        return (
            np.bincount(placed, minlength=n_items * width).reshape(n_items, width)[:, :-1].astype(np.float64)
        )

    added = np.stack([_surplus(counted(one)) for one in np.ascontiguousarray(codes.T)])
    return _standing_out(added, meetings(counted(codes[:, 0])), named)


def _surplus(counts: FloatArray) -> FloatArray:
    """What each group adds to T, shape (G,), of counts (I, G)."""
    each, total = counts.sum(axis=1), counts.sum(axis=0)
    share = total / max(total.sum(), 1.0)
    squares = (counts**2 / np.maximum(each, 1.0)[:, None]).sum(axis=0)
    added = np.zeros(total.shape)
    np.divide(squares, share, out=added, where=share > 0)
    return np.asarray(added - total)


def meetings(counts: FloatArray) -> FloatArray:
    """How often a group's annotations meet the others' on their item, against groups without a part in it.

    Parameters
    ----------
    counts : float64 array, shape (I, G)
        Annotations of each item by each group.

    Returns
    -------
    float64 array, shape (G,)
        1 where the group has as many annotations of others beside its own as any annotations of the same
        items have, 0 where it has none; NaN where no item has two annotations.

    Notes
    -----
    sum_i n_ig m_ig / (n_i - 1) over the items with n_i >= 2, divided by W_g (W - W_g) / W: with n_i
    annotations of which each is the group's with the same probability p, the expectation of n_ig m_ig is
    n_i (n_i - 1) p (1 - p).
    """
    counts = counts[counts.sum(axis=1) >= 2]
    each, total = counts.sum(axis=1, keepdims=True), counts.sum(axis=0)
    expected = total * (total.sum() - total) / max(total.sum(), 1.0)
    met = (counts * (each - counts) / (each - 1)).sum(axis=0)
    found = np.full(total.shape, np.nan)
    np.divide(met, expected, out=found, where=expected > 0)
    return found


def _workload(given: Int64Array, codes: Int64Array, named: Sequence[Group]) -> Apart | None:
    """The check of workloads; raters without an annotation have none."""
    width, some = len(named) + 2, given > 0
    log, codes = np.log(given[some]), codes[some] % width
    sizes = np.stack([np.bincount(one, minlength=width) for one in codes.T])[:, :-1]
    sums = np.stack([np.bincount(one, log, minlength=width) for one in codes.T])[:, :-1]
    known, total = sizes.sum(axis=1, keepdims=True), sums.sum(axis=1, keepdims=True)
    mean = sums / np.maximum(sizes, 1)
    added = sizes * (mean - total / np.maximum(known, 1)) ** 2
    others = (total[0] - sums[0]) / np.maximum(known[0] - sizes[0], 1)
    ratio = np.where((sizes[0] > 0) & (sizes[0] < known[0]), np.exp(mean[0] - others), np.nan)
    return _standing_out(added, ratio, named)


def _standing_out(added: FloatArray, sizes: FloatArray, named: Sequence[Group]) -> Apart | None:
    """The group that adds most over what it adds by chance, its size, and p of all together.

    Parameters
    ----------
    added : float64 array, shape (1 + B, G)
        What groups add to the statistic, as observed and in each permutation.
    sizes : float64 array, shape (G,)
    named : sequence of Group
    """
    place = int(np.argmax((added[0] - added[1:].mean(axis=0))[: len(named)]))
    if np.isnan(sizes[place]):
        return None
    total = added.sum(axis=1)
    reached = int((total[1:] >= total[0] - _TIE * max(abs(total[0]), 1.0)).sum())
    return Apart(named[place], float(sizes[place]), (1 + reached) / len(total))
