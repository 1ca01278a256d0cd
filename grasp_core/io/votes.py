"""The cells of an annotations file, in any layout, as one code per annotation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from grasp_core.annotations import BoolArray, Codes
from grasp_core.data_spec import DataSpec
from grasp_core.errors import Problem
from grasp_core.io.columns import Column, near_duplicates
from grasp_core.io.problems import number, quoted, stop
from grasp_core.io.tables import Table


@dataclass(frozen=True, slots=True, eq=False)
class Votes:
    """One entry per cell that can hold an annotation, A in all, in file order.

    Parameters
    ----------
    table : Table
    item, rater, label : int arrays, shape (A,)
        Positions in `item_ids`, `rater_ids` and `labels`.
    row : int array, shape (A,)
        Position of the cell's row in the table.
    item_ids, rater_ids, labels : tuple of str
        In order of first appearance.
    label_column : str or None
        Column of a long file; in a matrix each rater (item) is a column.
    rater_of_row : int array, shape (rows,), or None
        The rater that each row of the table belongs to, where it belongs to one.
    columns_are : {"items", "raters"} or None
    """

    table: Table
    item: Codes
    rater: Codes
    label: Codes
    row: Codes
    item_ids: tuple[str, ...]
    rater_ids: tuple[str, ...]
    labels: tuple[str, ...]
    label_column: str | None
    rater_of_row: Codes | None
    columns_are: str | None = None

    @property
    def size(self) -> int:
        """A."""
        return int(self.item.size)

    def keep(self, which: BoolArray | npt.NDArray[np.integer[Any]]) -> Votes:
        """The chosen entries, by mask or by position; all ids stay listed."""
        if which.dtype == np.bool_ and which.all():
            return self
        return replace(
            self,
            item=self.item[which],
            rater=self.rater[which],
            label=self.label[which],
            row=self.row[which],
        )

    def place(self, entry: int) -> str:
        """File, row and column of an entry."""
        return f"{self.table.name}, row {self.table.row(self.row[entry])}, column {self.column(entry)}"

    def column(self, entry: int) -> str:
        """Quoted name of the column that holds an entry's label."""
        if self.label_column is not None:
            return quoted(self.label_column)
        ids, codes = (
            (self.item_ids, self.item) if self.columns_are == "items" else (self.rater_ids, self.rater)
        )
        return quoted(ids[codes[entry]])


def read_part_votes(table: Table, spec: DataSpec) -> tuple[Votes, list[Problem]]:
    """:func:`read_votes` for a piece of a long file; ids that look alike are looked for in all pieces."""
    votes = _read_long(table, spec)
    columns = ((spec.item, votes.item, votes.item_ids), (spec.rater, votes.rater, votes.rater_ids))
    return votes, [
        problem for name, codes, ids in columns for problem in _blank(table, str(name), Column(codes, ids))
    ]


def read_votes(table: Table, spec: DataSpec) -> tuple[Votes, list[Problem]]:
    """Encode the table's ids and labels; a long file's missing labels are still among the entries.

    The columns of :func:`cell_columns` are a matrix's raters or items.

    Returns
    -------
    Votes
    list of Problem
        Blank ids, and ids that differ only by surrounding spaces.
    """
    votes = _read_long(table, spec) if spec.layout == "long" else _read_matrix(table, spec)
    problems: list[Problem] = []
    if spec.layout == "long":
        problems += _check_ids(table, str(spec.item), Column(votes.item, votes.item_ids))
        problems += _check_ids(table, str(spec.rater), Column(votes.rater, votes.rater_ids))
    else:
        (key,) = id_columns(spec)
        problems += _check_ids(table, key, table.column(key))
    if votes.columns_are is not None:
        headers = votes.item_ids if votes.columns_are == "items" else votes.rater_ids
        counts = dict.fromkeys(headers, len(table))
        problems += near_duplicates(f"{table.name}, row 1", counts, fold_case=False)
    return votes, problems


def id_columns(spec: DataSpec) -> tuple[str, ...]:
    """The columns of the annotations file that hold item and rater ids."""
    named = {
        "long": (spec.item, spec.rater),
        "items-by-raters": (spec.item,),
        "raters-by-items": (spec.rater,),
    }[spec.layout]
    return tuple(str(name) for name in named)


def cell_columns(table: Table, spec: DataSpec) -> tuple[str, ...]:
    """The columns that hold labels."""
    if spec.layout == "long":
        return spec.labels
    other = {*id_columns(spec), *spec.ignore, *(spec.profile if spec.layout == "raters-by-items" else ())}
    other |= {name for name in (spec.text, spec.filters.time, spec.filters.gold) if name is not None}
    other |= {name for name, _ in spec.filters.drop}
    return tuple(name for name in table.columns if name not in other)


def rater_rows(table: Table, spec: DataSpec) -> tuple[tuple[str, ...], Codes | None]:
    """Rater ids, and the rater of each row where a row belongs to one; as in :class:`Votes`."""
    if spec.layout == "items-by-raters":
        return cell_columns(table, spec), None
    column = table.column(str(spec.rater))
    return column.values, column.codes


def _read_long(table: Table, spec: DataSpec) -> Votes:
    item, rater, label = (table.column(str(name)) for name in (spec.item, spec.rater, spec.label))
    return Votes(
        table=table,
        item=item.codes,
        rater=rater.codes,
        label=label.codes,
        row=np.arange(len(table), dtype=np.int64),
        item_ids=item.values,
        rater_ids=rater.values,
        labels=label.values,
        label_column=spec.label,
        rater_of_row=rater.codes,
    )


def _read_matrix(table: Table, spec: DataSpec) -> Votes:
    by_rater = spec.layout == "raters-by-items"
    key = str(spec.rater if by_rater else spec.item)
    others = cell_columns(table, spec)
    rows = table.column(key)
    label = _cells(table, others)
    # Row by row, so that ids and labels appear in the order in which a person reads the file.
    shape = len(others), len(table)
    row, of_column = np.nonzero(~label.among(spec.missing).reshape(shape).T)
    of_row = rows.codes[row]
    return Votes(
        table=table,
        item=of_column if by_rater else of_row,
        rater=of_row if by_rater else of_column,
        label=label.codes.reshape(shape)[of_column, row],
        row=row,
        item_ids=others if by_rater else rows.values,
        rater_ids=rows.values if by_rater else others,
        labels=label.values,
        label_column=None,
        rater_of_row=rows.codes if by_rater else None,
        columns_are="items" if by_rater else "raters",
    )


def _cells(table: Table, names: Sequence[str]) -> Column:
    """Several columns, one below the other."""
    texts = [table.data.column(name).cast(pa.string()).combine_chunks() for name in names]
    return Column.of(pa.chunked_array(texts, pa.string()))


def _check_ids(table: Table, name: str, column: Column) -> list[Problem]:
    counts = dict(zip(column.values, column.counts().tolist(), strict=True))
    alike = near_duplicates(f"{table.name}, column {quoted(name)}", counts, fold_case=False)
    return [*_blank(table, name, column), *alike]


def _blank(table: Table, name: str, column: Column) -> list[Problem]:
    blank = [value for value in column.values if not value.strip()]
    if not blank:
        return []
    rows = np.flatnonzero(column.among(blank))
    others = f" (and in {number(rows.size - 1, 'more row')})" if rows.size > 1 else ""
    return [
        stop(
            f"{table.name}, row {table.row(rows[0])}, column {quoted(name)}: the id is blank{others}; "
            "give every row an id, or remove it",
            rows.size,
            [f"row {table.row(row)}" for row in rows[:5]],
        )
    ]
