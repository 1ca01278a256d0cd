"""Columns that describe raters: each rater's value, and columns in which raters have several."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np

from grasp_core.annotations import BoolArray, Codes
from grasp_core.errors import Problem, stop
from grasp_core.io.table.columns import Column, odd_texts
from grasp_core.io.table.table import Table
from grasp_core.remarks.problems import DataProblem
from grasp_core.wording import EXAMPLES, quoted

MAX_AXIS_VALUES = 100
"""A column with more distinct values than this is not offered as an axis."""
_SAMPLE = 2_000
_FEW = 0.2
"""Share of the raters with several rows up to which several values of one rater are taken for mistakes."""


@dataclass(frozen=True, slots=True, eq=False)
class RaterColumn:
    """A column's value for each rater.

    Parameters
    ----------
    codes : int array, shape (J,)
        Position in `values`, or -1 for unknown.
    values : tuple of str
    problems : tuple of Problem
    """

    codes: Codes
    values: tuple[str, ...]
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class _ByRater:
    """A column, each rater's first known code and its row (-1: none), and the rows that differ from it."""

    column: Column
    codes: Codes
    first: Codes
    clash: Codes


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """A file with columns that describe raters.

    Parameters
    ----------
    table : Table
    key : str or None
        Column of the rater ids; None where each row is a rater.
    rater_of_row : int array, shape (rows,)
        Position of each row's rater among all J raters, or -1 for a rater who is not one of them.
    columns : tuple of str
        Those that may describe raters.
    n_raters : int
        J.
    """

    table: Table
    key: str | None
    rater_of_row: Codes
    columns: tuple[str, ...]
    n_raters: int
    _known: dict[str, _ByRater] = field(default_factory=dict)

    def constant(self, name: str, missing: Collection[str]) -> bool:
        """Whether the column has at most one known value per rater."""
        return self._constant_at_first(name, missing) and not self._by_rater(name, missing).clash.size

    def _constant_at_first(self, name: str, missing: Collection[str]) -> bool:
        """The same of the first rows, which tell most columns apart."""
        column = Column.of(self.table.data.column(name).slice(0, _SAMPLE))
        known = ~column.among(missing)
        rater, code = self.rater_of_row[:_SAMPLE][known], column.codes[known]
        first = np.zeros(self.n_raters + 1, dtype=np.int64)
        first[rater[::-1]] = code[::-1]
        return np.array_equal(first[rater], code)

    def _by_rater(self, name: str, missing: Collection[str]) -> _ByRater:
        """Each rater's first known value, found once per column."""
        if name not in self._known:
            column = self.table.column(name)
            known = np.flatnonzero(~column.among(missing) & (self.rater_of_row >= 0))
            rater, code = self.rater_of_row[known], column.codes[known]
            first = np.full(self.n_raters, -1, dtype=np.int64)
            first[rater[::-1]] = known[::-1]
            codes = np.where(first >= 0, column.codes[first], -1)
            self._known[name] = _ByRater(column, codes, first, known[code != codes[rater]])
        return self._known[name]

    def nearly_constant(self, name: str, missing: Collection[str]) -> Problem | None:
        """That a few raters have several values in a column, where all others have one."""
        found = self._by_rater(name, missing)
        clash = np.unique(self.rater_of_row[found.clash])
        again = np.bincount(self.rater_of_row[self.rater_of_row >= 0], minlength=self.n_raters) > 1
        if not 0 < clash.size <= _FEW * again.sum():
            return None
        problem = self._clash(name, found.column, found.first, found.clash)
        return dataclasses.replace(
            problem, stops=False, remark=DataProblem.NO_AXIS_TILL_THEN(problem=problem.remark)
        )

    def can_be_axis(self, name: str, n_raters: int, missing: Collection[str]) -> bool:
        """Whether the column has several values, yet few enough to form groups."""
        distinct = len(set(self.table.distinct(name)) - set(missing))
        return 2 <= distinct <= min(MAX_AXIS_VALUES, max(2, n_raters // 2))

    def rater_column(self, name: str, missing: Collection[str], counted: BoolArray) -> RaterColumn:
        """Each rater's value; where some cells are missing, those that are not decide.

        Parameters
        ----------
        name : str
        missing : collection of str
        counted : bool array, shape (J,)
            Raters in whom two different values are a problem.
        """
        found = self._by_rater(name, missing)
        column = found.column
        clash = found.clash[counted[self.rater_of_row[found.clash]]]
        where = f"{self.table.name}, column {quoted(name)}"
        problems = odd_texts(where, dict(zip(column.values, column.counts().tolist(), strict=True)), missing)
        if clash.size:
            problems.append(self._clash(name, column, found.first, clash))
        return RaterColumn(found.codes, column.values, tuple(problems))

    def _clash(self, name: str, column: Column, first: Codes, clash: Codes) -> Problem:
        row = int(clash[0])
        rater = self.rater_of_row[row]
        raters = np.unique(self.rater_of_row[clash]).size
        before = int(first[rater])
        remark = DataProblem.SEVERAL_VALUES(
            file=self.table.name,
            column=name,
            first=self.table.row(before),
            second=self.table.row(row),
            rater=self._id(row),
            value=column.values[column.codes[before]],
            other=column.values[column.codes[row]],
            more=raters - 1,
        )
        examples = _first_of_each(clash, self.rater_of_row)
        return stop(remark, raters, [self._id(int(position)) for position in examples])

    def _id(self, row: int) -> str:
        return f"row {self.table.row(row)}" if self.key is None else self.table.cell(self.key, row)


def _first_of_each(rows: Codes, rater_of_row: Codes) -> Codes:
    _, first = np.unique(rater_of_row[rows], return_index=True)
    chosen: Codes = rows[np.sort(first)][:EXAMPLES]
    return chosen
