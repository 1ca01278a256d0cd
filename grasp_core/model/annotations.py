"""Annotations and raters as immutable values; functions that count and sort their codes."""

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
"""Function that gives items (-1: left out), raters and labels piece by piece, anew at each call."""
_RANGES = 8
"""Ranges of items that are sorted one after the other, so that sorting needs memory for an eighth of all."""
_WIDEST = 2**63 - 1
PIECE = 1 << 18
"""Codes of one piece: small, since NumPy counts a copy of the codes in its widest type."""


def in_pieces(
    arrays: Sequence[npt.NDArray[Any]], size: int = PIECE
) -> Iterator[tuple[npt.NDArray[Any], ...]]:
    """Yield arrays of equal length piece by piece."""
    for start in range(0, arrays[0].size, size):
        yield tuple(values[start : start + size] for values in arrays)


def by_items(item: Codes) -> Iterator[slice]:
    """Yield pieces of annotations sorted by `item`, shape (A,); the annotations of an item stay together."""
    start = 0
    while start < item.size:
        last = item[min(start + PIECE, item.size) - 1]
        end = int(np.searchsorted(item, last, side="right"))
        yield slice(start, end)
        start = end


def tallied(codes: Codes, n: int) -> Int64Array:
    """Count how often each of the codes 0 to `n` - 1 occurs, shape (n,)."""
    total = np.zeros(n, np.int64)
    for (some,) in in_pieces([codes], max(PIECE, n)):  # each piece costs a pass over all n
        total += np.bincount(some.astype(np.intp, copy=False), minlength=n)
    return total


def positions_by(codes: Codes) -> Int64Array:
    """Return the positions that sort the codes, shape (A,); positions of equal codes ascend.

    Sorting one whole number per position is many times faster than NumPy's argsort.
    """
    keys = codes * np.int64(codes.size) + np.arange(codes.size)
    keys.sort()
    return keys % max(codes.size, 1)


def sorted_codes(
    pieces: Pieces, per_item: Int64Array, n_raters: int, n_labels: int
) -> tuple[Int32Array, Int32Array]:
    """Return raters and labels sorted by item, then by rater, both of shape (A,).

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
    """Yield, for one range of items after the other, its first item and a number per annotation, ascending.

    The number encodes the item, counted from the first one, and as many further codes as there are `sizes`.
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
    """Yield ranges of items with about equally many annotations, whose numbers fit into 64 bits."""
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
    `indptr`, shape (I + 1,): the annotations of item i are ``indptr[i]:indptr[i + 1]``.
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
        """Build from arrays by :func:`sorted_codes`; `per_item`, shape (I,): annotations of each item."""
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
        """Number of items, I."""
        return len(self.item_ids)

    @property
    def n_raters(self) -> int:
        """Number of raters, J."""
        return len(self.rater_ids)

    @property
    def n_categories(self) -> int:
        """Number of categories, K."""
        return len(self.categories)

    @property
    def n_annotations(self) -> int:
        """Number of annotations, A."""
        return int(self.rater.size)

    @property
    def item(self) -> Int32Array:
        """Index of the item of each annotation, shape (A,)."""
        return np.repeat(np.arange(self.n_items, dtype=np.int32), np.diff(self.indptr))

    def only(self, items: BoolArray, raters: BoolArray | None = None) -> Annotations:
        """Return the annotations of chosen items, shape (I,), by chosen raters, shape (J,), or by all."""
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
    """Return an array of whole numbers, also from an empty list, for which NumPy takes floats."""
    array = np.asarray(values)
    return array if array.dtype.kind in "iu" else array.astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Axis:
    """One demographic axis: a value, or unknown, for every rater.

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
    """The raters' profiles, and for strata of workload the annotations of each, (J,), if known."""

    rater_ids: tuple[str, ...]
    axes: Mapping[str, Axis]
    workload: Int64Array | None = None

    def some(self, chosen: BoolArray | Int64Array) -> Raters:
        """Return the chosen raters (mask of shape (J,), or positions); they keep their whole workload."""
        return Raters(
            tuple(np.array(self.rater_ids, dtype=object)[chosen]),
            {name: Axis(axis.values, axis.codes[chosen]) for name, axis in self.axes.items()},
            None if self.workload is None else self.workload[chosen],
        )


@dataclass(frozen=True, slots=True, eq=False)
class ModelLabels:
    """One model's labels.

    `labels`, shape (I,): position of the item's label in the categories; -1 if the model gives none.
    `source`: the file, and the column if the file has several.
    `left_out`: number of labels for items that are not in the data, because reading left them out.
    `column`: column of the annotations file, if that is the source.
    """

    name: str
    labels: Int32Array
    source: str
    sha256: str
    left_out: int = 0
    column: str | None = None

    @property
    def n_labelled(self) -> int:
        """Number of items that have a label of this model."""
        return int((self.labels >= 0).sum())


def display_order(value: str) -> tuple[int, float, str, str]:
    """Sort key: numbers by size, then the rest by letter; no two texts are equal."""
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    return (1, 0.0, value.casefold(), value) if math.isnan(number) else (0, number, "", value)


def number_of(text: str) -> float:
    """Return a cell's number, with a point or a single comma before its decimals; NaN if it is none."""
    cleaned = text.strip()
    if cleaned.count(",") == 1 and "." not in cleaned:
        cleaned = cleaned.replace(",", ".")
    try:
        return float(cleaned) if not set(cleaned) & set("_nN") else float("nan")
    except ValueError:
        return float("nan")


def is_number(text: str) -> bool:
    """Return whether a cell is a number, by :func:`number_of`."""
    return not math.isnan(number_of(text))
