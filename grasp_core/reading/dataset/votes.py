"""Cells of an annotations file, in any layout, as one code per annotation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from grasp_core.model.annotations import (
    Annotations,
    BoolArray,
    Codes,
    Scalar,
    in_pieces,
    sorted_codes,
    tallied,
)
from grasp_core.model.data_spec import DataSpec
from grasp_core.model.errors import Problem, stop
from grasp_core.model.remarks.problems import DataProblem
from grasp_core.model.text import EXAMPLES, quoted
from grasp_core.reading.sandbox.limits import check_matrix
from grasp_core.reading.table.columns import Column, near_duplicates
from grasp_core.reading.table.table import Table


class Cells(NamedTuple):
    """Cells that can hold an annotation, N in all, in file order."""

    item: Codes  # (N,), as the next two
    rater: Codes
    label: Codes
    row: Codes | None = None  # (N,): position of the cell's row in the table; None if each row is a cell


@dataclass(frozen=True, slots=True, eq=False)
class Votes:
    """One entry per cell that counts so far, A in all, in file order."""

    table: Table
    of_cells: Cells  # codes of all cells, in the table's own memory: large data may leave no room for a copy
    item_ids: tuple[str, ...]  # as raters and labels, in order of first appearance
    rater_ids: tuple[str, ...]
    labels: tuple[str, ...]
    label_column: str | None  # column of a long file; None in a matrix, where each rater (item) is a column
    # (rows,): the item, and the rater, of each row of the table; None if a row has several
    item_of_row: Codes | None
    rater_of_row: Codes | None
    cells: int  # number of rows of a long file, or cells of a matrix, whose blank cells are no entries
    chosen: BoolArray | None = None  # (N,): mask of the cells that count; None if all do

    @property
    def size(self) -> int:
        """Number of entries, A."""
        return int(self.of_cells.item.size if self.chosen is None else np.count_nonzero(self.chosen))

    @property
    def item(self) -> Codes:
        """Positions in `item_ids`, shape (A,)."""
        return self._among_chosen(self.of_cells.item)

    @property
    def rater(self) -> Codes:
        """Positions in `rater_ids`, shape (A,)."""
        return self._among_chosen(self.of_cells.rater)

    @property
    def label(self) -> Codes:
        """Positions in `labels`, shape (A,)."""
        return self._among_chosen(self.of_cells.label)

    @property
    def row(self) -> Codes:
        """Position of each entry's row in the table, shape (A,)."""
        rows = len(self.table)
        return self.of_rows(np.arange(rows, dtype=np.int32 if rows < 2**31 else np.int64))

    def of_rows(self, values: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
        """Return values by entry, shape (A,), from `values` by row of the table."""
        row = self.of_cells.row
        return self._among_chosen(values) if row is None else values[self._among_chosen(row)]

    def pieces(self) -> Iterator[tuple[Codes, ...]]:
        """Yield pieces of items (-1 for cells that do not count), raters and labels."""
        codes = self.of_cells[:3]
        if self.chosen is None:
            yield from in_pieces(codes)
            return
        for item, rater, label, chosen in in_pieces([*codes, self.chosen]):
            yield np.where(chosen, item, np.int64(-1)), rater, label

    def used_labels(self) -> Codes:
        """Return positions in `labels` of labels that occur, ascending."""
        return np.flatnonzero(tallied(self.label, len(self.labels)))

    def keep(self, which: BoolArray) -> Votes:
        """Return the entries that a mask (A,) chooses; all ids stay listed."""
        if which.all():
            return self
        if self.chosen is None:
            return replace(self, chosen=which)
        chosen = self.chosen.copy()
        chosen[self.chosen] = which
        return replace(self, chosen=chosen)

    def _among_chosen(self, of_cells: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
        return of_cells if self.chosen is None else of_cells[self.chosen]

    def place(self, entry: int) -> str:
        """Return file, row and column of an entry, for a message."""
        return f"{self.table.name}, row {self.table.row(self.row[entry])}, column {self.column(entry)}"

    def column(self, entry: int) -> str:
        """Return the quoted name of the column with an entry's label."""
        if self.label_column is not None:
            return quoted(self.label_column)
        ids, codes = self.by_column
        return quoted(ids[codes[entry]])

    @property
    def by_column(self) -> tuple[tuple[str, ...], Codes]:
        """Ids that name a matrix's columns, and the position of each entry's id, shape (A,)."""
        return (self.item_ids, self.item) if self.item_of_row is None else (self.rater_ids, self.rater)


def read_votes(table: Table, spec: DataSpec) -> Votes:
    """Encode the table's ids and labels; a long file's missing labels are still among the entries."""
    if spec.layout != "long":
        return _read_matrix(table, spec)
    item, rater, label = (table.column(str(name)) for name in (spec.item, spec.rater, spec.label))
    return Votes(
        table=table,
        of_cells=Cells(item.codes, rater.codes, label.codes),
        item_ids=item.values,
        rater_ids=rater.values,
        labels=label.values,
        label_column=spec.label,
        item_of_row=item.codes,
        rater_of_row=rater.codes,
        cells=len(table),
    )


def annotations_of(
    votes: Votes, categories: tuple[str, ...], counted: BoolArray, rated: BoolArray
) -> Annotations:
    """Turn one question's votes into annotations of the raters (J,) and the items (I,) that count."""
    position = {label: index for index, label in enumerate(categories)}
    category = np.array([position.get(label, -1) for label in votes.labels], dtype=np.int32)
    per_item = tallied(votes.item, len(votes.item_ids))
    rater, label = sorted_codes(votes.pieces, per_item, len(votes.rater_ids), len(votes.labels))
    for codes, by in ((rater, np.cumsum(counted, dtype=np.int32) - 1), (label, category)):
        for (some,) in in_pieces([codes]):  # by pieces and in place, since memory may be short
            some[:] = by[some]
    item_ids, rater_ids = (
        ids if which.all() else tuple(ids[position] for position in np.flatnonzero(which))
        for ids, which in ((votes.item_ids, rated), (votes.rater_ids, counted))
    )
    return Annotations.of_sorted(per_item[rated], rater, label, item_ids, rater_ids, categories)


def alike_ids(votes: Votes, spec: DataSpec) -> list[Problem]:
    """Report ids of items, and headers of a matrix, that look alike."""
    table, found = votes.table, list[Problem]()
    if spec.item is not None and spec.layout != "raters-by-items":
        column = Column(votes.item, votes.item_ids) if spec.layout == "long" else table.column(spec.item)
        where = f"{table.name}, column {quoted(spec.item)}"
        found += near_duplicates(where, column.tally, ids=True)
    if votes.label_column is None:
        counts = dict.fromkeys(votes.by_column[0], len(table))
        found += near_duplicates(f"{table.name}, row 1", counts, ids=True)
    return found


def id_columns(spec: DataSpec) -> tuple[str, ...]:
    """Return the columns of item and rater ids in the annotations file; none if each row is one."""
    named = {
        "long": (spec.item, spec.rater),
        "items-by-raters": (spec.item,),
        "raters-by-items": (spec.rater,),
    }[spec.layout]
    return tuple(name for name in named if name is not None)


def cell_columns(table: Table, spec: DataSpec) -> tuple[str, ...]:
    """Return the columns of labels."""
    if spec.layout == "long":
        return spec.labels
    other = {*id_columns(spec), *spec.ignore, *(spec.profile if spec.layout == "raters-by-items" else ())}
    other |= {
        name for name in (spec.text, spec.filters.time, spec.filters.gold, spec.order) if name is not None
    }
    other |= {name for name, _ in spec.filters.drop}
    return tuple(name for name in table.columns if name not in other)


def unit_rows(
    table: Table, spec: DataSpec, unit: Literal["item", "rater"]
) -> tuple[tuple[str, ...], Codes | None]:
    """Return ids of items (I) or raters (J), and each row's position in them (n,), as in :class:`Votes`."""
    if spec.layout == {"item": "raters-by-items", "rater": "items-by-raters"}[unit]:
        return cell_columns(table, spec), None
    key = spec.item if unit == "item" else spec.rater
    column = table.column(str(key)) if spec.layout == "long" else _row_ids(table, key)
    return column.values, column.codes


def _row_ids(table: Table, key: str | None) -> Column:
    """Return the ids of a matrix's rows: from a column, or their numbers in the file."""
    if key is not None:
        return table.column(key)
    numbers = tuple(f"row {table.row(position)}" for position in range(len(table)))
    return Column(np.arange(len(table), dtype=np.int64), numbers)


def _read_matrix(table: Table, spec: DataSpec) -> Votes:
    by_rater = spec.layout == "raters-by-items"
    others = cell_columns(table, spec)
    rows = _row_ids(table, spec.rater if by_rater else spec.item)
    cells = len(others) * len(table)
    check_matrix(cells, 0, table.name)
    texts = [table.data.column(name).cast(pa.string()).combine_chunks() for name in others]
    label = Column.of(pa.chunked_array(texts, pa.string()))  # all columns, one after the other
    given = ~label.among(spec.missing)
    check_matrix(cells, int(np.count_nonzero(given)), table.name)
    # Row by row, so that ids and labels appear in the order in which a person reads the file.
    shape = len(others), len(table)
    row, of_column = np.nonzero(given.reshape(shape).T)
    of_row = rows.codes[row]
    return Votes(
        table=table,
        of_cells=Cells(
            item=of_column if by_rater else of_row,
            rater=of_row if by_rater else of_column,
            label=label.codes.reshape(shape)[of_column, row],
            row=row,
        ),
        item_ids=others if by_rater else rows.values,
        rater_ids=rows.values if by_rater else others,
        labels=label.values,
        label_column=None,
        item_of_row=None if by_rater else rows.codes,
        rater_of_row=rows.codes if by_rater else None,
        cells=label.codes.size,
    )


def blank_ids(votes: Votes, spec: DataSpec) -> list[Problem]:
    """Report rows with a label and without the id of the item or the rater."""
    table, problems = votes.table, list[Problem]()
    for name in id_columns(spec):
        ids, codes = (votes.item_ids, votes.item) if name == spec.item else (votes.rater_ids, votes.rater)
        if all(map(str.strip, ids)):  # the usual case, even of a million ids
            continue
        blank = [code for code, value in enumerate(ids) if not value.strip()]
        rows = np.unique(votes.row[np.isin(codes, blank)])
        if rows.size:
            unit, row, more = "item" if name == spec.item else "rater", table.row(rows[0]), rows.size - 1
            if spec.layout == "long":
                remark = DataProblem.BLANK_ID_OF_ROW(file=table.name, row=row, column=name, more=more)
            else:
                remark = DataProblem.BLANK_ID(file=table.name, row=row, column=name, more=more, unit=unit)
            examples = [f"row {table.row(row)}" for row in rows[:EXAMPLES]]
            problems.append(stop(remark, rows.size, examples, field=unit))
    return problems
