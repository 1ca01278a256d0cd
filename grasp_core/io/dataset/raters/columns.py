"""Columns that describe raters or items: each one's value, and columns in which one has several."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from grasp_core.annotations import BoolArray, Codes
from grasp_core.errors import Problem, stop
from grasp_core.io.table.columns import Column, odd_texts
from grasp_core.io.table.table import Table
from grasp_core.ordering import in_pieces, tallied
from grasp_core.remarks.items import ItemProblem
from grasp_core.remarks.problems import DataProblem
from grasp_core.wording import EXAMPLES, quoted

MAX_AXIS_VALUES = 100
"""A column with more distinct values than this is not offered as an axis."""
_SAMPLE = 2_000
_FEW = 0.2
"""Share of the raters with several rows up to which several values of one rater are taken for mistakes."""


@dataclass(frozen=True, slots=True, eq=False)
class DescribingColumn:
    """A column's value for each rater, or each item.

    Parameters
    ----------
    codes : int array, shape (J,) or (I,)
        Position in `values`, or -1 for unknown.
    values : tuple of str
    problems : tuple of Problem
    """

    codes: Codes
    values: tuple[str, ...]
    problems: tuple[Problem, ...] = ()


def merged(
    first: DescribingColumn, second: DescribingColumn, counted: BoolArray
) -> tuple[DescribingColumn, Codes]:
    """One column of two files, and the units on which they differ.

    Parameters
    ----------
    first, second : DescribingColumn
        The first decides where it has a value.
    counted : bool array, shape (J,) or (I,)
        Units that count; others that differ are passed over.
    """
    values = tuple(dict.fromkeys(first.values + second.values))
    position = {value: index for index, value in enumerate(values)}
    codes = np.array([position[value] for value in second.values] + [-1], dtype=np.int64)[second.codes]
    differ = np.flatnonzero((first.codes >= 0) & (codes >= 0) & (first.codes != codes) & counted)
    problems = (*first.problems, *second.problems)
    return DescribingColumn(np.where(first.codes >= 0, first.codes, codes), values, problems), differ


@dataclass(frozen=True, slots=True, eq=False)
class _ByUnit:
    """A column, each unit's first known code and its row, and the first row that differs (-1: none)."""

    column: Column
    codes: Codes
    first: Codes
    clash: Codes

    @classmethod
    def of(cls, column: Column, unit_of_row: Codes, n_units: int, missing: Collection[str]) -> _ByUnit:
        codes, first, clash = (np.full(n_units, -1, dtype=np.int64) for _ in range(3))
        known = np.array([value not in missing for value in column.values], dtype=np.bool_)
        before = 0
        for unit, code in in_pieces([unit_of_row, column.codes]):
            size, here = unit.size, np.flatnonzero(known[code] & (unit >= 0))
            row, unit, code = before + here, unit[here], code[here]
            _at_first(first, unit, row)
            _at_first(codes, unit, code)
            differs = code != codes[unit]
            _at_first(clash, unit[differs], row[differs])
            before += size
        return cls(column, codes, first, clash)


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """A file with columns that describe raters, or items: the units here.

    Parameters
    ----------
    table : Table
    key : str or None
        Column of the units' ids; None where each row is a unit.
    unit_of_row : int array, shape (rows,)
        Position of each row's unit among all U units, or -1 for one that is not among them.
    columns : tuple of str
        Those that may describe units.
    n_units : int
        U.
    of : {"rater", "item"}
        What units are.
    """

    table: Table
    key: str | None
    unit_of_row: Codes
    columns: tuple[str, ...]
    n_units: int
    of: Literal["rater", "item"] = "rater"
    _known: dict[str, _ByUnit] = field(default_factory=dict)

    def constant(self, name: str, missing: Collection[str]) -> bool:
        """Whether the column has at most one known value per unit."""
        return self._constant_at_first(name, missing) and not (self._by_unit(name, missing).clash >= 0).any()

    def _constant_at_first(self, name: str, missing: Collection[str]) -> bool:
        """The same of the first rows, which tell most columns apart."""
        column = Column.of(self.table.data.column(name).slice(0, _SAMPLE))
        known = ~column.among(missing) & (self.unit_of_row[:_SAMPLE] >= 0)
        unit, code = self.unit_of_row[:_SAMPLE][known], column.codes[known]
        first = np.zeros(self.n_units, dtype=np.int64)
        first[unit[::-1]] = code[::-1]
        return np.array_equal(first[unit], code)

    def _by_unit(self, name: str, missing: Collection[str]) -> _ByUnit:
        """Each unit's first known value, found once per column."""
        if name not in self._known:
            column = self.table.column(name)
            self._known[name] = _ByUnit.of(column, self.unit_of_row, self.n_units, missing)
        return self._known[name]

    def nearly_constant(self, name: str, missing: Collection[str]) -> Problem | None:
        """That a few units have several values in a column, where all others have one."""
        found = self._by_unit(name, missing)
        clash = np.flatnonzero(found.clash >= 0)
        again = tallied(self.unit_of_row[self.unit_of_row >= 0], self.n_units) > 1
        if not 0 < clash.size <= _FEW * again.sum():
            return None
        problem = self._clash(name, found, clash)
        return dataclasses.replace(
            problem, stops=False, remark=DataProblem.NO_AXIS_TILL_THEN(problem=problem.remark)
        )

    def divides(self, name: str, missing: Collection[str]) -> bool:
        """Whether the column has several values, yet few enough to form groups of units."""
        distinct = len(set(self.table.distinct(name)) - set(missing))
        return 2 <= distinct <= min(MAX_AXIS_VALUES, max(2, self.n_units // 2))

    def column(self, name: str, missing: Collection[str], counted: BoolArray) -> DescribingColumn:
        """Each unit's value; where some cells are missing, those that are not decide.

        Parameters
        ----------
        name : str
        missing : collection of str
        counted : bool array, shape (U,)
            Units in which two different values are a problem.
        """
        found = self._by_unit(name, missing)
        column = found.column
        clash = np.flatnonzero((found.clash >= 0) & counted)
        where = f"{self.table.name}, column {quoted(name)}"
        problems = odd_texts(where, dict(zip(column.values, column.counts().tolist(), strict=True)), missing)
        if clash.size:
            problems.append(self._clash(name, found, clash))
        return DescribingColumn(found.codes, column.values, tuple(problems))

    def _clash(self, name: str, found: _ByUnit, clash: Codes) -> Problem:
        """That units, by position, have several values."""
        column, rows = found.column, np.sort(found.clash[clash])
        row = int(rows[0])
        before = int(found.first[self.unit_of_row[row]])
        codes = {"rater": DataProblem.SEVERAL_VALUES, "item": ItemProblem.SEVERAL_VALUES_OF_ITEM}
        numbers = {
            "file": self.table.name,
            "column": name,
            "first": self.table.row(before),
            "second": self.table.row(row),
            self.of: self._id(row),
            "value": column.values[column.codes[before]],
            "other": column.values[column.codes[row]],
            "more": clash.size - 1,
        }
        examples = [self._id(int(position)) for position in rows[:EXAMPLES]]
        return stop(codes[self.of](**numbers), clash.size, examples)

    def _id(self, row: int) -> str:
        return f"row {self.table.row(row)}" if self.key is None else self.table.cell(self.key, row)


def _at_first(values: Codes, unit: Codes, value: Codes) -> None:
    """Put the first of each unit's values in its place, where there is none yet."""
    fresh = np.flatnonzero(values[unit] < 0)[::-1]
    values[unit[fresh]] = value[fresh]
