"""Tables of text as they were read from files, and the reading of known formats."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Self

import numpy as np
import pandas as pd
import pyarrow as pa

from grasp_core.model.annotations import Int64Array
from grasp_core.model.data_spec import DataSpec
from grasp_core.model.errors import Problem
from grasp_core.model.groups import AxisSet
from grasp_core.model.outcome import LeftOut
from grasp_core.reading.table.columns import Column, Vocabulary, compact


@dataclass(frozen=True, slots=True)
class Recipe:
    """The reading of a tool's export, or of a published data set."""

    name: str
    # how to read the annotations; None if it is still to be guessed, or for a file with only raters. Its
    # filters are advice: nothing is left out until the user says so
    spec: DataSpec | None = None
    axes: tuple[AxisSet, ...] = ()  # proposed axes; empty if they are still to be guessed
    # whether `axes` and `spec` are a published set-up, to be run with the paper's conventions
    paper: bool = False
    missing: tuple[str, ...] = ()  # cell texts that mean "no value" in this format, beside the empty cell
    sentences: tuple[str, ...] = ()  # what was done to the file, for people
    left_out: tuple[LeftOut, ...] = ()  # what the reader left out, e.g. drafts
    questions: tuple[str, ...] = ()  # columns of answers to questions, one of which is the label
    respondents: str = ""  # column of the ids of a survey's respondents
    aside: tuple[str, ...] = ()  # columns of a survey that are no questions
    embedded: tuple[str, ...] = ()  # columns of a survey that describe respondents
    raters: bool = False  # whether the file describes raters and has no annotations
    why_out: str = "the tool marks such answers as not counting"  # the reason for the filters of `spec`
    ids: tuple[str, ...] = ()  # the file's own names of the ids of items and of raters, if read as others


@dataclass(frozen=True, slots=True, eq=False)
class Parsed:
    """Columns and rows of a file; every cell is the text in the file."""

    columns: tuple[str, ...] = field(init=False)
    data: pa.Table  # columns of text, or of codes into distinct texts, without nulls
    kind: str
    first_row: int  # number of the first data row in messages: its line in a text file, 1 in Parquet
    # (n,): line of each row if blank lines or line breaks within cells shift them
    lines: Int64Array | None = None
    problems: tuple[Problem, ...] = ()
    recipe: Recipe | None = None  # how to read the file, if its format is known
    members: tuple[str, ...] = ()  # sheets (members) that can be chosen; empty if there is no choice
    member: str | None = None  # the sheet that was read
    vocabularies: tuple[Vocabulary, ...] = ()  # values of columns whose types name them

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.data.column_names))

    def __len__(self) -> int:
        return int(self.data.num_rows)

    def column(self, name: str) -> Column:
        """Return a column as codes and distinct texts."""
        return Column.of(self.data.column(name))

    def distinct(self, name: str) -> tuple[str, ...]:
        """Return a column's distinct texts in order of first appearance."""
        return tuple(self.data.column(name).unique().to_pylist())

    def without(self, columns: Collection[str]) -> Self:
        """Return the table without some of the columns."""
        kept = [name for name in self.columns if name not in columns]
        return dataclasses.replace(self, data=self.data.select(kept)) if columns else self

    @property
    def numbers(self) -> Int64Array:
        """Numbers by which people find the rows in the file, shape (n,)."""
        if self.lines is not None:
            return self.lines
        return np.arange(self.first_row, self.first_row + len(self.data), dtype=np.int64)

    def kept(self, rows: Int64Array) -> Self:
        """Return the rows at the positions `rows`, (m,), without unused texts; each row keeps its number."""
        texts = [column.cast(pa.string()) for column in self.data.take(pa.array(rows)).columns]
        data = compact(pa.Table.from_arrays(texts, names=self.data.column_names))
        return dataclasses.replace(self, data=data, lines=self.numbers[rows])

    def table(self, name: str, sha256: str, size: int) -> Table:
        """Return the same as the table of a file with this name, hash and size in bytes."""
        fields = {one.name: getattr(self, one.name) for one in dataclasses.fields(self) if one.init}
        return Table(name=name, sha256=sha256, bytes=size, **fields)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Table(Parsed):
    """A file's rows and columns, with the file's name and hash."""

    name: str
    sha256: str  # of the file before unpacking, as the size
    bytes: int
    source: str = ""  # where a connector fetched the file, if one did

    def row(self, position: int) -> int:
        """Return the number by which a person finds the row at `position` in the file."""
        return int(position) + self.first_row if self.lines is None else int(self.lines[position])

    def thinned(self, rows: int) -> Table:
        """Return at most about so many of the rows, at equal distances."""
        step = -(-len(self) // max(rows, 1))
        return self if step <= 1 else self.kept(np.arange(0, len(self), step))

    def holding(self, ids: Collection[str]) -> dict[str, int]:
        """Count the ids that each column has."""
        wanted = set(ids)
        return {name: len(wanted.intersection(self.distinct(name))) for name in self.columns}

    def cell(self, name: str, row: int) -> str:
        """Return the text of one cell."""
        return str(self.data.column(name)[int(row)].as_py())

    def head(self, rows: int) -> pd.DataFrame:
        """Return the first rows as a data frame; every cell is text."""
        frame: pd.DataFrame = self.data.slice(0, rows).to_pandas().astype("str")
        return frame

    def frame(self) -> pd.DataFrame:
        """Return all rows as a data frame; every cell is text."""
        return self.head(len(self))
