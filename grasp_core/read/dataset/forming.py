"""Codes of cells become annotations, axes of raters and attributes of items, of those that count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from grasp_core.model.annotations import Annotations, Axis, BoolArray, Codes, Int32Array
from grasp_core.model.data_spec import DataSpec
from grasp_core.model.ordering import in_pieces, sorted_codes, tallied
from grasp_core.read.dataset.contents import Answers
from grasp_core.read.dataset.raters import DescribingColumn
from grasp_core.read.dataset.recoding import in_order, ranges
from grasp_core.read.dataset.votes import Votes


def annotations_of(
    votes: Votes, categories: tuple[str, ...], counted: BoolArray, rated: BoolArray
) -> Annotations:
    """One question's votes as annotations, of the raters (J,) and the items (I,) that count."""
    position = {label: index for index, label in enumerate(categories)}
    category = np.array([position.get(label, -1) for label in votes.labels], dtype=np.int32)
    per_item, rater, label = by_item(votes)
    _replace(rater, np.cumsum(counted, dtype=np.int32) - 1)
    _replace(label, category)
    ids = _chosen(votes.item_ids, rated), _chosen(votes.rater_ids, counted)
    return Annotations.of_sorted(per_item[rated], rater, label, *ids, categories)


def by_item(votes: Votes) -> tuple[Codes, Int32Array, Int32Array]:
    """Entries of each item, shape (I,); raters and labels by item, then by rater, both of shape (A,)."""
    per_item = tallied(votes.item, len(votes.item_ids))
    return per_item, *sorted_codes(votes.pieces, per_item, len(votes.rater_ids), len(votes.labels))


def _replace(codes: Int32Array, by: Int32Array) -> None:
    """Put what stands for each code in its place."""
    for (some,) in in_pieces([codes]):
        some[:] = by[some]


def _chosen(ids: tuple[str, ...], which: BoolArray) -> tuple[str, ...]:
    return ids if which.all() else tuple(ids[position] for position in np.flatnonzero(which))


def attributes_of(
    columns: Mapping[str, DescribingColumn], rated: BoolArray, spec: DataSpec
) -> dict[str, Axis]:
    """The columns of the items that count."""
    return {name: axis_of(column, rated, ranges(spec, name)) for name, column in columns.items()}


def categories_of(answers: Answers, spec: DataSpec) -> tuple[str, ...]:
    """One question's labels: those declared, or those found in order."""
    cut = ranges(spec, None) or ranges(spec, spec.label)
    return spec.categories or in_order(answers.labels, cut)


def axis_of(column: DescribingColumn, counted: BoolArray, cut: Sequence[str]) -> Axis:
    """The axis of the raters (the attribute of the items) that count.

    `cut` are the ranges that its values were cut into, if any.
    """
    codes = column.codes[counted]
    code_of = {column.values[code]: code for code in np.unique(codes[codes >= 0]).tolist()}
    used = [code_of[value] for value in in_order(code_of, cut)]
    position = np.full(len(column.values) + 1, -1, dtype=np.int32)
    position[used] = np.arange(len(used), dtype=np.int32)
    of_unit = position[codes]
    of_unit.flags.writeable = False
    return Axis(tuple(column.values[code] for code in used), of_unit)
