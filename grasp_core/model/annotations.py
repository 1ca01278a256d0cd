"""Annotations and raters as immutable values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from grasp_core.model import ordering
from grasp_core.model.ordering import in_pieces, sorted_codes, tallied

Int32Array = ordering.Int32Array
Int64Array = ordering.Int64Array
Codes = ordering.Codes
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

        Raises ValueError if the arrays differ in length or a code points outside its list.
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
