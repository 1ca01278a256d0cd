"""Annotations and raters as immutable values; their codes, counted and put in order."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

Int32Array = npt.NDArray[np.int32]
Int64Array = npt.NDArray[np.int64]
Codes = npt.NDArray[np.integer[Any]]
Pieces = Callable[[], Iterable[Sequence[Codes]]]
"""Gives items (-1: to be left out), raters and labels, a piece of each at a time, whenever it is called."""
_RANGES = 8
"""Ranges of items that are sorted one after the other, so that sorting takes room for an eighth of all."""
_WIDEST = 2**63 - 1
PIECE = 1 << 18
"""Codes looked at together: NumPy counts a copy of them in its widest type."""


def in_pieces(
    arrays: Sequence[npt.NDArray[Any]], size: int = PIECE
) -> Iterator[tuple[npt.NDArray[Any], ...]]:
    """Arrays of equal length, a piece of each at a time."""
    for start in range(0, arrays[0].size, size):
        yield tuple(values[start : start + size] for values in arrays)


def tallied(codes: Codes, n: int) -> Int64Array:
    """How often each of the codes 0 to `n` - 1 occurs, shape (n,)."""
    total = np.zeros(n, np.int64)
    for (some,) in in_pieces([codes], max(PIECE, n)):  # each piece costs a pass over all n
        total += np.bincount(some.astype(np.intp, copy=False), minlength=n)
    return total


def positions_by(codes: Codes) -> Int64Array:
    """Positions of codes by their size, shape (A,), those of equal ones ascending.

    Whole numbers sort many times faster than positions by what stands there.
    """
    keys = codes * np.int64(codes.size) + np.arange(codes.size)
    keys.sort()
    return keys % max(codes.size, 1)


def sorted_codes(
    pieces: Pieces, per_item: Int64Array, n_raters: int, n_labels: int
) -> tuple[Int32Array, Int32Array]:
    """Raters and labels by item, then by rater, both of shape (A,).

    `per_item`, shape (I,): annotations of each item.
    """
    rater, label = (np.empty(int(per_item.sum()), np.int32) for _ in range(2))
    at = 0
    for _, keys in sorted_keys(pieces, per_item, (n_raters, n_labels)):
        for (some,) in in_pieces([keys]):
            here = slice(at, at + some.size)
            pair, label[here] = np.divmod(some, n_labels)
            rater[here] = pair % n_raters
            at = here.stop
    return rater, label


def sorted_keys(
    pieces: Pieces, per_item: Int64Array, sizes: Sequence[int]
) -> Iterator[tuple[int, Int64Array]]:
    """One number for each annotation, ascending, a range of items at a time; with the range's first item.

    The number stands for the item, counted from there, and as many of the other codes as there are sizes.
    """
    for first, last in _ranges(per_item, math.prod(sizes)):
        keys = np.empty(int(per_item[first:last].sum()), np.int64)
        at = 0
        for item, *others in pieces():
            here = np.flatnonzero((item >= first) & (item < last))
            key = item[here].astype(np.int64) - first
            for codes, size in zip(others, sizes, strict=False):
                key *= size
                key += codes[here].astype(np.int64)
            keys[at : at + key.size] = key
            at += key.size
        keys.sort()
        yield first, keys


def _ranges(per_item: Int64Array, width: int) -> Iterator[tuple[int, int]]:
    """Ranges of items with about equally many annotations, whose numbers fit."""
    reached = np.cumsum(per_item)
    total = int(reached[-1]) if reached.size else 0
    room, most = max(-(-total // _RANGES), PIECE), _WIDEST // max(width, 1)
    first = 0
    while first < per_item.size:
        before = int(reached[first - 1]) if first else 0
        last = int(np.searchsorted(reached, before + room, side="right"))
        last = min(max(last, first + 1), first + most)
        yield first, last
        first = last


FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
Scalar = TypeVar("Scalar", bound=np.generic)


def _frozen(array: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
    array.flags.writeable = False
    return array


@dataclass(frozen=True, slots=True, eq=False)
class Annotations:
    """Every annotation of a data set, sorted by item (compressed sparse rows).

    `item_ids`: length I; `rater_ids`: length J.
    `categories`, length K: declared and ordered; a category that nobody used still counts in K.
    `indptr`, shape (I + 1,): item i owns the annotations ``indptr[i]:indptr[i + 1]``.
    `rater`, `category`, shape (A,): index of the rater and of the category of each annotation.
    """

    item_ids: tuple[str, ...]
    rater_ids: tuple[str, ...]
    categories: tuple[str, ...]
    indptr: Int64Array
    rater: Int32Array
    category: Int32Array

    @classmethod
    def from_codes(
        cls,
        *,
        item: npt.ArrayLike,
        rater: npt.ArrayLike,
        category: npt.ArrayLike,
        item_ids: Sequence[str],
        rater_ids: Sequence[str],
        categories: Sequence[str],
    ) -> Annotations:
        """Build from one code per annotation, in any order.

        `item`, `rater`, `category`, shape (A,): positions in `item_ids`, `rater_ids` and `categories`.
        """
        codes = [_whole(values) for values in (item, rater, category)]
        if len({values.shape for values in codes}) != 1 or codes[0].ndim != 1:
            raise ValueError("item, rater and category must be one-dimensional and of equal length")
        lists = {"item": item_ids, "rater": rater_ids, "category": categories}
        for values, (name, entries) in zip(codes, lists.items(), strict=True):
            if values.size and not (values.min() >= 0 and values.max() < len(entries)):
                raise ValueError(f"a code in `{name}` lies outside 0..{len(entries) - 1}")
        per_item = tallied(codes[0], len(item_ids))
        in_order = sorted_codes(lambda: in_pieces(codes), per_item, len(rater_ids), len(categories))
        return cls.of_sorted(per_item, *in_order, item_ids, rater_ids, categories)

    @classmethod
    def of_sorted(
        cls,
        per_item: Codes,
        rater: Int32Array,
        category: Int32Array,
        item_ids: Sequence[str],
        rater_ids: Sequence[str],
        categories: Sequence[str],
    ) -> Annotations:
        """Take over what :func:`sorted_codes` made; `per_item`, shape (I,), are the items' annotations."""
        return cls(
            item_ids=tuple(item_ids),
            rater_ids=tuple(rater_ids),
            categories=tuple(categories),
            indptr=_frozen(np.concatenate(([0], np.cumsum(per_item))).astype(np.int64)),
            rater=_frozen(rater),
            category=_frozen(category),
        )

    @property
    def n_items(self) -> int:
        """I."""
        return len(self.item_ids)

    @property
    def n_raters(self) -> int:
        """J."""
        return len(self.rater_ids)

    @property
    def n_categories(self) -> int:
        """K."""
        return len(self.categories)

    @property
    def n_annotations(self) -> int:
        """A."""
        return int(self.rater.size)

    @property
    def item(self) -> Int32Array:
        """Index of the item of each annotation, shape (A,)."""
        return np.repeat(np.arange(self.n_items, dtype=np.int32), np.diff(self.indptr))

    def only(self, items: BoolArray, raters: BoolArray | None = None) -> Annotations:
        """The annotations of the chosen items, shape (I,), by the chosen raters, (J,); all by default."""
        chosen = np.ones(self.n_raters, dtype=np.bool_) if raters is None else raters
        item = self.item
        kept = items[item] & chosen[self.rater]
        place = np.cumsum(chosen, dtype=np.int32) - 1
        return Annotations.of_sorted(
            np.bincount(item[kept], minlength=self.n_items)[items],
            place[self.rater[kept]].astype(np.int32),
            self.category[kept],
            [self.item_ids[i] for i in np.flatnonzero(items)],
            [self.rater_ids[j] for j in np.flatnonzero(chosen)],
            self.categories,
        )


def _whole(values: npt.ArrayLike) -> Codes:
    """As an array of whole numbers; an empty list has no type of its own."""
    array = np.asarray(values)
    return array if array.dtype.kind in "iu" else array.astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Axis:
    """One demographic axis: a value, or unknown, for every rater.

    `values`: the axis's distinct values in display order.
    `codes`, shape (J,): position in `values`, or -1 where the rater's value is unknown.
    """

    values: tuple[str, ...]
    codes: Int32Array

    @classmethod
    def from_values(cls, values: Sequence[str | None]) -> Axis:
        """Build from one value (or None for unknown) per rater; values are sorted."""
        found = {value for value in values if value is not None}
        distinct = sorted(found, key=display_order)
        position = {value: index for index, value in enumerate(distinct)}
        codes = [-1 if value is None else position[value] for value in values]
        return cls(tuple(distinct), _frozen(np.array(codes, dtype=np.int32)))


@dataclass(frozen=True, slots=True, eq=False)
class Raters:
    """The raters' demographic profiles, one row per rater of an :class:`Annotations`.

    `rater_ids`: length J.
    `workload`, shape (J,), optional: annotations of each rater; strata may be bins of it.
    """

    rater_ids: tuple[str, ...]
    axes: Mapping[str, Axis]
    workload: Int64Array | None = None

    def some(self, chosen: BoolArray | Int64Array) -> Raters:
        """Those who are chosen, by a mask of shape (J,) or by places; with their workload in all the data."""
        return Raters(
            tuple(np.array(self.rater_ids, dtype=object)[chosen]),
            {name: Axis(axis.values, axis.codes[chosen]) for name, axis in self.axes.items()},
            None if self.workload is None else self.workload[chosen],
        )


@dataclass(frozen=True, slots=True, eq=False)
class ModelLabels:
    """One model's labels.

    `name`: as it is shown.
    `labels`, shape (I,): position of the item's label in the categories; -1 where the model gives none.
    `source`: the file, and the column where it is one of many.
    `sha256`: of that file.
    `left_out`: labels of items that the data do not hold, because they were left out when reading.
    `column`: of the annotations file, where that is the source.
    """

    name: str
    labels: Int32Array
    source: str
    sha256: str
    left_out: int = 0
    column: str | None = None

    @property
    def n_labelled(self) -> int:
        """Items that have a label of this model."""
        return int((self.labels >= 0).sum())


def display_order(value: str) -> tuple[int, float, str, str]:
    """Sort key: numbers by size, then the rest by letter; no two texts are equal."""
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    return (1, 0.0, value.casefold(), value) if math.isnan(number) else (0, number, "", value)


def number_of(text: str) -> float:
    """The number that a cell holds, with a point or a single comma before its decimals; NaN for none."""
    cleaned = text.strip()
    if cleaned.count(",") == 1 and "." not in cleaned:
        cleaned = cleaned.replace(",", ".")
    try:
        return float(cleaned) if not set(cleaned) & set("_nN") else float("nan")
    except ValueError:
        return float("nan")


def is_number(text: str) -> bool:
    """Whether a cell holds a number, by :func:`number_of`."""
    return not math.isnan(number_of(text))
