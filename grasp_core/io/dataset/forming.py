"""Codes of cells become annotations, axes of raters and attributes of items, of those that count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from grasp_core.annotations import Annotations, Axis, BoolArray, Codes
from grasp_core.data_spec import DataSpec
from grasp_core.io.dataset.contents import Answers
from grasp_core.io.dataset.raters.columns import DescribingColumn
from grasp_core.io.dataset.recoding import in_order, ranges
from grasp_core.io.dataset.votes import Votes


def annotations_of(
    votes: Votes, categories: tuple[str, ...], counted: BoolArray, rated: BoolArray
) -> Annotations:
    """One question's votes as annotations, of the raters (J,) and the items (I,) that count."""
    position = {label: index for index, label in enumerate(categories)}
    category = np.array([position.get(label, -1) for label in votes.labels], dtype=np.int32)
    return Annotations.from_codes(
        item=_among(rated, votes.item),
        rater=_among(counted, votes.rater),
        category=category[votes.label],
        item_ids=_chosen(votes.item_ids, rated),
        rater_ids=_chosen(votes.rater_ids, counted),
        categories=categories,
        copy=False,
    )


def _among(which: BoolArray, codes: Codes) -> Codes:
    """Codes as positions among the chosen, whom all of them mean; the same array where all are chosen."""
    if which.all():
        return codes
    return (np.cumsum(which) - 1).astype(np.int32)[codes]


def _chosen(ids: tuple[str, ...], which: BoolArray) -> tuple[str, ...]:
    return tuple(ids[position] for position in np.flatnonzero(which))


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
