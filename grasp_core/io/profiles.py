"""What the files say about each rater: one value, or unknown, per column."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from grasp_core.annotations import BoolArray, Codes
from grasp_core.data_spec import DataSpec
from grasp_core.errors import DataError, Problem
from grasp_core.io.columns import Column, near_duplicates, odd_texts
from grasp_core.io.problems import EXAMPLES, agree, know, listed, number, quoted, stop
from grasp_core.io.tables import Table
from grasp_core.io.votes import id_columns

MAX_AXIS_VALUES = 100
"""A column with more distinct values than this is not offered as an axis."""
_SAMPLE = 2_000


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
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
    key : str
        Column of the rater ids.
    rater_of_row : int array, shape (rows,)
        Position of each row's rater among all J raters, or -1 for a rater who is not one of them.
    columns : tuple of str
        Those that may describe raters.
    n_raters : int
        J.
    """

    table: Table
    key: str
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

    def can_be_axis(self, name: str, n_raters: int, missing: Collection[str]) -> bool:
        """Whether the column has several values, yet few enough to form groups."""
        distinct = len(set(self.table.distinct(name)) - set(missing))
        return 2 <= distinct <= min(MAX_AXIS_VALUES, max(2, n_raters // 2))

    def profile(self, name: str, missing: Collection[str], counted: BoolArray) -> Profile:
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
        return Profile(found.codes, column.values, tuple(problems))

    def _clash(self, name: str, column: Column, first: Codes, clash: Codes) -> Problem:
        row = int(clash[0])
        rater = self.rater_of_row[row]
        raters = np.unique(self.rater_of_row[clash]).size
        others = f" (and {number(raters - 1, 'more rater')} likewise)" if raters > 1 else ""
        before = int(first[rater])
        rows = f"rows {self.table.row(before)} and {self.table.row(row)}"
        return stop(
            f"{self.table.name}, {rows}, column {quoted(name)}: "
            f"rater {quoted(self._id(row))} has {quoted(column.values[column.codes[before]])} and "
            f"{quoted(column.values[column.codes[row]])}{others}; give each rater one value per column",
            raters,
            [self._id(int(position)) for position in _first_of_each(clash, self.rater_of_row)],
        )

    def _id(self, row: int) -> str:
        return self.table.cell(self.key, row)


def _first_of_each(rows: Codes, rater_of_row: Codes) -> Codes:
    _, first = np.unique(rater_of_row[rows], return_index=True)
    chosen: Codes = rows[np.sort(first)][:EXAMPLES]
    return chosen


@dataclass(frozen=True, slots=True, eq=False)
class Profiles:
    """Both files' columns that describe raters; the raters file comes first.

    Parameters
    ----------
    rater_ids : tuple of str, length J
    missing : tuple of str
    annotations, raters : Source or None
    """

    rater_ids: tuple[str, ...]
    missing: tuple[str, ...]
    annotations: Source | None
    raters: Source | None

    @classmethod
    def of(
        cls,
        annotations: Table,
        raters: Table | None,
        spec: DataSpec,
        rater_ids: tuple[str, ...],
        rater_of_row: Codes | None,
    ) -> Profiles:
        """Connect the files; the last two arguments are those of :class:`~grasp_core.io.votes.Votes`.

        Raises
        ------
        DataError
            If no column of the raters file holds rater ids of the annotations.
        """
        inside = None
        if rater_of_row is not None:
            taken = {*id_columns(spec), *spec.labels}
            names = spec.profile if spec.layout == "raters-by-items" else annotations.columns
            columns = tuple(name for name in names if name not in taken)
            inside = Source(annotations, str(spec.rater), rater_of_row, columns, len(rater_ids))
        beside = None
        if raters is not None:
            key = rater_column(raters, spec, rater_ids, annotations.name)
            column = raters.column(key)
            positions = (
                pd.Index(rater_ids).get_indexer(pd.Index(column.values))[column.codes].astype(np.int64)
            )
            others = tuple(name for name in raters.columns if name != key)
            beside = Source(raters, key, positions, others, len(rater_ids))
        return cls(rater_ids, spec.missing, inside, beside)

    @property
    def sources(self) -> tuple[Source, ...]:
        """The files that describe raters, the one that decides first."""
        return tuple(source for source in (self.raters, self.annotations) if source is not None)

    def candidates(self, left_out: Collection[str]) -> tuple[str, ...]:
        """Columns that can be axes: one value per rater, at least two and not too many in all."""
        n = len(self.rater_ids)
        names: dict[str, None] = {}
        for source in self.sources:
            for name in source.columns:
                if (
                    name not in left_out
                    and source.can_be_axis(name, n, self.missing)
                    and (source is self.raters or source.constant(name, self.missing))
                ):
                    names[name] = None
        return tuple(names)

    def column(self, name: str, counted: BoolArray) -> Profile:
        """Each rater's value; the raters file decides where it has one.

        Raises
        ------
        DataError
            If the column holds the rater ids.
        """
        found = [
            source.profile(name, self.missing, counted) for source in self.sources if name in source.columns
        ]
        if not found:
            raise DataError(
                f"column {quoted(name)} of {self.sources[0].table.name} holds the rater ids, which cannot "
                "form groups or exclude raters; choose a column that describes them"
            )
        return found[0] if len(found) == 1 else self._merged(name, found[0], found[1], counted)

    def _merged(self, name: str, first: Profile, second: Profile, counted: BoolArray) -> Profile:
        values = tuple(dict.fromkeys(first.values + second.values))
        position = {value: index for index, value in enumerate(values)}
        codes = np.array([position[value] for value in second.values] + [-1], dtype=np.int64)[second.codes]
        differ = np.flatnonzero((first.codes >= 0) & (codes >= 0) & (first.codes != codes) & counted)
        problems = [*first.problems, *second.problems]
        if differ.size:
            names = " and ".join(source.table.name for source in self.sources)
            problems.append(
                know(
                    f"{names} disagree on {quoted(name)} for {number(differ.size, 'rater')}; "
                    f"{self.sources[0].table.name} decides",
                    differ.size,
                    [self.rater_ids[rater] for rater in differ[:EXAMPLES]],
                )
            )
        return Profile(np.where(first.codes >= 0, first.codes, codes), values, tuple(problems))

    def problems(self, counted: BoolArray) -> list[Problem]:
        """What is wrong with the raters file's ids; `counted` are the raters with annotations that count."""
        if self.raters is None:
            return []
        return [
            *_id_problems(self.raters),
            *self._unmatched(self.raters, counted),
        ]

    def _unmatched(self, source: Source, counted: BoolArray) -> list[Problem]:
        problems: list[Problem] = []
        described = np.zeros(len(self.rater_ids), dtype=np.bool_)
        described[source.rater_of_row[source.rater_of_row >= 0]] = True
        without = np.flatnonzero(counted & ~described)
        file, key = source.table.name, quoted(source.key)
        if without.size:
            problems.append(
                know(
                    f"{number(without.size, 'rater')} with annotations {agree(without.size, 'is', 'are')} "
                    f"not in column {key} of {file}, so what only that file says of them is unknown",
                    without.size,
                    [self.rater_ids[rater] for rater in without[:EXAMPLES]],
                )
            )
        idle = np.flatnonzero(source.rater_of_row < 0)
        if idle.size:
            column = source.table.column(source.key)
            ids = [column.values[code] for code in np.unique(column.codes[idle])]
            problems.append(
                know(
                    f"{number(len(ids), 'rater')} in {file} {agree(len(ids), 'has', 'have')} no annotations "
                    "and do not count",
                    len(ids),
                    ids[:EXAMPLES],
                )
            )
            folded = {rater.strip() for rater in self.rater_ids}
            spaced = [value for value in ids if value.strip() in folded]
            if spaced and without.size:
                problems.append(
                    know(
                        f"{file}, column {key}: {number(len(spaced), 'id')} "
                        "would match a rater but for surrounding spaces; remove the spaces in the file",
                        len(spaced),
                        spaced,
                    )
                )
        return problems


def rater_column(raters: Table, spec: DataSpec, rater_ids: Sequence[str], annotations_name: str) -> str:
    """The raters file's column of rater ids.

    It is `spec.rater` where the file has that column, and otherwise the column whose values include the
    most rater ids of the annotations (the first one, of several).

    Raises
    ------
    DataError
        If that column holds none of the rater ids.
    """
    known = set(rater_ids)
    if spec.rater in raters.columns:
        best, hits = str(spec.rater), len(known.intersection(raters.distinct(str(spec.rater))))
    else:
        overlap = {name: len(known.intersection(raters.distinct(name))) for name in raters.columns}
        best = max(overlap, key=lambda name: overlap[name])
        hits = overlap[best]
    if not hits:
        where = (
            f"column {quoted(best)} of {raters.name}"
            if spec.rater == best
            else f"any column of {raters.name}"
        )
        example = raters.cell(best, 0)
        raise DataError(
            f"none of the raters of {annotations_name} ({listed(list(rater_ids), 3)}) is in {where} "
            f"(which holds {quoted(example)} for one); use the same rater ids in both files"
        )
    return best


def _id_problems(source: Source) -> list[Problem]:
    table = source.table
    column = table.column(source.key)
    counts = column.counts()
    where = f"{table.name}, column {quoted(source.key)}"
    problems = near_duplicates(where, dict(zip(column.values, counts.tolist(), strict=True)), fold_case=False)
    blank = np.flatnonzero(column.among([value for value in column.values if not value.strip()]))
    if blank.size:
        problems.append(
            stop(
                f"{table.name}, row {table.row(blank[0])}, column {quoted(source.key)}: the rater id "
                "is blank; give every row an id, or remove it",
                blank.size,
            )
        )
    repeated = np.flatnonzero(counts > 1)
    if repeated.size:
        problems.append(
            know(
                f"{where}: {number(repeated.size, 'rater')} {agree(repeated.size, 'has', 'have')} "
                "more than one row; the rows are taken together",
                repeated.size,
                [column.values[position] for position in repeated[:EXAMPLES]],
            )
        )
    return problems
