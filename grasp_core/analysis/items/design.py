"""Annotations laid out by item for the compiled kernel of items.

A contribution is a term over the sum of weights of the data. This sum is the same number for all items and
permutations, so terms are counted. A permutation's own sum would let an item's rank follow all other items'
gaps, which differ from those of permutations where groups were given other items.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from grasp_core.analysis.items import kernel
from grasp_core.model.annotations import Annotations, BoolArray, FloatArray, Int32Array, Int64Array, Raters
from grasp_core.model.spec import AnalysisSpec, Level
from grasp_core.permutation.draw import exchange_of
from grasp_core.permutation.kernel.profiles import draw
from grasp_core.statistics.items import count, tenth
from grasp_core.statistics.levels import category_values, squared_distances

OUTSIDE, INSIDE = 1, 2
"""A rater's side; 0 is neither side, if a value is unknown."""
Sides = npt.NDArray[np.uint8]
"""Sides of raters, shape (J, permutations)."""


class ItemLabels(NamedTuple):
    """Annotations by item; item i has ``label[labels_ptr[i]:labels_ptr[i + 1]]``, and `place` among these."""

    indptr: Int64Array
    rater: Int32Array
    place: Int32Array
    labels_ptr: Int64Array
    label: Int32Array
    apart: FloatArray
    nominal: bool


class ItemMoments(NamedTuple):
    """Sums over permutations, and the sizes of items in a batch.

    `use_sums`: sum of the terms of label use, and of their squares.
    `apart_sums`: the same for distance.
    `n`: permutations in which an item has a term of label use, and of distance.
    `reached`: permutations whose term of distance is as large as the observed one.
    `sizes`: size of each item's contribution to label use, and to distance; not below 0.
    `counted`: number of items that have a term of label use, and of distance.
    """

    use_sums: FloatArray
    apart_sums: FloatArray
    n: Int64Array
    reached: Int64Array
    sizes: FloatArray
    counted: Int64Array


class Standards(NamedTuple):
    """Means and reciprocal standard deviations of terms, shape (2, L) and (2, I); 0 where nothing varies."""

    use: FloatArray
    apart: FloatArray


class Reached(NamedTuple):
    """Permutations whose furthest label deviates as much as observed, and the largest deviation in each."""

    use: Int64Array
    largest: FloatArray


_ROOM = 2**23
"""Most bytes that the data of a batch of permutations may take."""
_WIDEST, _NARROWEST = 128, 8
_COUNTS = 2**28
"""Annotations counted in one piece of work: about half a second."""
_LONGEST, _SHORTEST = 1_000, 32


@dataclass(frozen=True, slots=True, eq=False)
class ItemsDesign:
    """One group and its others on every item of one question."""

    seed: int
    order: Int64Array
    bounds: Int64Array
    side: Sides
    cells: ItemLabels

    @property
    def n_items(self) -> int:
        """I, the number of items."""
        return self.cells.indptr.size - 1

    @property
    def width(self) -> int:
        """Permutations in a batch."""
        fitting = _ROOM // max(16 * self.n_items, self.side.size)
        return max(min(fitting, _WIDEST), _NARROWEST)

    @property
    def piece(self) -> int:
        """Permutations in a piece of work: set by the data alone, so that rounding of sums is too."""
        fitting = _COUNTS // max(self.cells.rater.size, 1)
        return max(min(fitting, _LONGEST), _SHORTEST)

    def sides(self, start: int, stop: int) -> Sides:
        """Return everybody's side under permutations `start` to `stop` - 1, shape (J, stop - start)."""
        drawn = np.empty((self.side.size, stop - start), np.uint16)  # as most profiles: compiled already
        draw(np.uint64(self.seed), start, self.order, self.bounds, self.side.astype(np.uint16), drawn)
        return drawn.astype(np.uint8)

    def variances(self) -> FloatArray | None:
        """Return what variances of label use are proportional to within an item, shape (L,).

        A label that T of N raters of an item gave has T (N - T), if everybody may change places with
        everybody; else None.
        """
        if len(self.bounds) > 1 or self.bounds[0, 2] != 1:
            return None
        cells, n = self.cells, np.diff(self.cells.indptr)
        rows = np.repeat(cells.labels_ptr[:-1], n) + cells.place
        given = np.bincount(rows, minlength=cells.label.size)
        given, of_item = given.astype(np.float64), np.repeat(n, np.diff(cells.labels_ptr))
        return np.asarray(given * (of_item - given))

    def observed(self) -> tuple[FloatArray, FloatArray]:
        """Return the terms of label use, shape (L,), and of distance, (I,), of the raters' own profiles."""
        use, apart = np.empty((self.cells.label.size, 1)), np.empty((self.n_items, 1))
        kernel.terms(self.side.reshape(-1, 1), self.cells, use, apart)
        return use[:, 0], apart[:, 0]


def new_moments(design: ItemsDesign) -> ItemMoments:
    """Return sums of 0, without sizes."""
    n = np.zeros((3, design.n_items), np.int64)
    use, apart = np.zeros((2, design.cells.label.size)), np.zeros((2, design.n_items))
    none = np.zeros((2, 0, design.n_items)), np.zeros((2, 0), np.int64)
    return ItemMoments(use, apart, n[:2], n[2], *none)


def lay_out(
    annotations: Annotations, raters: Raters, member: BoolArray, others: BoolArray, spec: AnalysisSpec
) -> ItemsDesign:
    """Lay one question's annotations out for a group, `member`, and its `others`, shape (J,) both.

    Ordinal distances use ranks, from 0 to 1, of the observed labels on items of both, in every permutation.
    """
    side = np.where(member, INSIDE, np.where(others, OUTSIDE, 0)).astype(np.uint8)
    k = annotations.n_categories
    cell = annotations.item.astype(np.int64) * k + annotations.category
    present, place = np.unique(cell, return_inverse=True)
    labels_ptr = np.searchsorted(present // k, np.arange(annotations.n_items + 1)).astype(np.int64)
    cells = ItemLabels(
        np.array(annotations.indptr),
        np.array(annotations.rater),
        (place.ravel() - labels_ptr[annotations.item]).astype(np.int32),
        labels_ptr,
        (present % k).astype(np.int32),
        _apart(annotations, member, others, spec.level),
        spec.level == "nominal",
    )
    return ItemsDesign(spec.seed, *exchange_of(raters, spec), side, cells)


def _apart(annotations: Annotations, member: BoolArray, others: BoolArray, level: Level) -> FloatArray:
    values = category_values(annotations.categories, level)
    if level != "ordinal":
        return squared_distances(level, values, np.zeros(values.size))
    c, d = count(annotations, member), count(annotations, others)
    shared = (c.sum(axis=1) > 0) & (d.sum(axis=1) > 0)
    marginals = (c[shared] + d[shared]).sum(axis=0)
    return squared_distances(level, values, marginals / max(marginals.sum(), 1))


def first(design: ItemsDesign, least: FloatArray, part: tuple[int, int]) -> tuple[ItemMoments, FloatArray]:
    """Return moments of a part of the permutations, and the top tenth's share in each, (2, permutations).

    `least`, shape (I,): the smallest distance of each item that reaches the observed one.
    """
    found = new_moments(design)
    shares = []
    for start, stop in _batches(design, part):
        batch = ItemMoments(
            *found[:4], np.empty((2, stop - start, design.n_items)), np.empty((2, stop - start), np.int64)
        )
        kernel.add_moments(design.sides(start, stop), design.cells, least, batch)
        shares.append([_top_shares(*of) for of in zip(batch.sizes, batch.counted, strict=True)])
    return found, np.concatenate(shares, axis=1)


def _batches(design: ItemsDesign, part: tuple[int, int]) -> Iterator[tuple[int, int]]:
    for start in range(*part, design.width):
        yield start, min(start + design.width, part[1])


def _top_shares(sizes: FloatArray, counted: Int64Array) -> FloatArray:
    """Return the top tenth's share of sizes (b, I) in each permutation; `counted` items have a size."""
    found = np.full(len(sizes), np.nan)
    for b, (of, items) in enumerate(zip(sizes, counted.tolist(), strict=True)):
        total, top = of.sum(), tenth(items)
        if total > 0:
            found[b] = np.partition(of, of.size - top)[of.size - top :].sum() / total
    return found


def second(design: ItemsDesign, by: Standards, least: FloatArray, part: tuple[int, int]) -> Reached:
    """Count the permutations of a part in which an item's deviation is at least `least`, shape (I,)."""
    found, largest = np.zeros(design.n_items, np.int64), []
    for start, stop in _batches(design, part):
        batch = Reached(found, np.empty((2, stop - start)))
        kernel.add_reached(design.sides(start, stop), design.cells, by, least, batch)
        largest.append(batch.largest)
    return Reached(found, np.concatenate(largest, axis=1))
