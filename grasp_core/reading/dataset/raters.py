"""Raters: columns that describe them, matching of their ids, one profile each."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd

from grasp_core.model.annotations import BoolArray, Codes, in_pieces, tallied
from grasp_core.model.data_spec import DataSpec
from grasp_core.model.errors import DataError, Problem, know, stop
from grasp_core.model.remarks.problems import DataProblem
from grasp_core.model.remarks.reasons import ItemProblem
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.text import EXAMPLES, quoted
from grasp_core.reading.dataset.votes import id_columns
from grasp_core.reading.table import names
from grasp_core.reading.table.columns import Column, near_duplicates, odd_texts
from grasp_core.reading.table.table import Table

MAX_AXIS_VALUES = 100  # most distinct values of a column that is offered as an axis
_SAMPLE = 2_000
_FEW = 0.2
"""Share of the raters with several rows up to which differing values of a rater are taken for mistakes."""


@dataclass(frozen=True, slots=True, eq=False)
class DescribingColumn:
    """A column's value for each rater (J,), or each item (I,); the code -1 is unknown."""

    codes: Codes
    values: tuple[str, ...]
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class _ByUnit:
    """A column: each unit's first known code, its row, and the first row that differs (-1: none)."""

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
class DescribingFile:
    """A file with columns that describe units: raters, or items."""

    table: Table
    key: str | None  # column of the units' ids; None if each row is a unit
    # (rows,): position of each row's unit among all U units, or -1 for a unit that is not among them
    unit_of_row: Codes
    columns: tuple[str, ...]  # columns that may describe units
    n_units: int  # U
    of: Literal["rater", "item"] = "rater"  # kind of the units
    _known: dict[str, _ByUnit] = field(default_factory=dict)

    @classmethod
    def beside(
        cls, table: Table, key: str, ids: Sequence[str], of: Literal["rater", "item"]
    ) -> DescribingFile:
        """Match a file beside the annotations by its column `key` to `ids`, the ids in the annotations."""
        column = table.column(key)
        units = pd.Index(ids).get_indexer(pd.Index(column.values))[column.codes].astype(np.int64)
        return cls(table, key, units, tuple(name for name in table.columns if name != key), len(ids), of)

    def constant(self, name: str, missing: Collection[str]) -> bool:
        """Return whether the column has at most one known value per unit."""
        return self._constant_at_first(name, missing) and not (self._by_unit(name, missing).clash >= 0).any()

    def _constant_at_first(self, name: str, missing: Collection[str]) -> bool:
        """Return the same for the first rows, which suffice to rule out most columns."""
        column = Column.of(self.table.data.column(name).slice(0, _SAMPLE))
        known = ~column.among(missing) & (self.unit_of_row[:_SAMPLE] >= 0)
        unit, code = self.unit_of_row[:_SAMPLE][known], column.codes[known]
        first = np.zeros(self.n_units, dtype=np.int64)
        first[unit[::-1]] = code[::-1]
        return np.array_equal(first[unit], code)

    def _by_unit(self, name: str, missing: Collection[str]) -> _ByUnit:
        """Return each unit's first known value, found once per column."""
        if name not in self._known:
            column = self.table.column(name)
            self._known[name] = _ByUnit.of(column, self.unit_of_row, self.n_units, missing)
        return self._known[name]

    def nearly_constant(self, name: str, missing: Collection[str]) -> Problem | None:
        """Return the problem of a column in which only a few units have several values, or None."""
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
        """Return whether the column has several values, yet few enough to form groups of units."""
        distinct = len(set(self.table.distinct(name)) - set(missing))
        return 2 <= distinct <= min(MAX_AXIS_VALUES, max(2, self.n_units // 2))

    def column(self, name: str, missing: Collection[str], counted: BoolArray) -> DescribingColumn:
        """Return each unit's value from its filled cells; units in `counted`, (U,), must have only one."""
        found = self._by_unit(name, missing)
        column = found.column
        clash = np.flatnonzero((found.clash >= 0) & counted)
        where = f"{self.table.name}, column {quoted(name)}"
        problems = odd_texts(where, column.tally, missing)
        if clash.size:
            problems.append(self._clash(name, found, clash))
        return DescribingColumn(found.codes, column.values, tuple(problems))

    def _clash(self, name: str, found: _ByUnit, clash: Codes) -> Problem:
        """Return the problem that the units at these positions have several values."""
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
    fresh = np.flatnonzero(values[unit] < 0)[::-1]
    values[unit[fresh]] = value[fresh]


def _number(text: str) -> str:
    return re.sub(r"\A0*(\d+)(?:\.0+)?\Z", r"\1", text)


SPELLED_OTHERWISE: Sequence[tuple[str, Callable[[str], str]]] = (
    ("surrounding spaces", str.strip),
    ("upper and lower case", str.casefold),
    ("how their numbers are written", _number),
    ("spaces, case and how their numbers are written", lambda text: _number(text.strip().casefold())),
)
"""Differences in spelling that change no id, from the smallest to the largest."""
_WAYS = (
    *SPELLED_OTHERWISE,
    ("what follows the @", lambda text: text.strip().casefold().split("@")[0]),
    (
        "what stands before their numbers",
        lambda text: re.sub(r"(?s)\A(?:.*?\D)?0*(\d+)\Z", r"\1", text.strip()),
    ),
)
"""Further differences, in the same order, that may be between different ids."""


@dataclass(frozen=True, slots=True)
class Alike:
    """Ids that two files write differently: pairs of the annotations' and the other file's spelling."""

    but_for: str
    pairs: tuple[tuple[str, str], ...]

    def told(self, unit: Literal["rater", "item"], of: int) -> dict[str, Any]:
        """Return the parts of a sentence on these ids."""
        own, other = self.pairs[0]
        matches = len(self.pairs)
        numbers = {"matches": matches, "others": of - matches, "of": of}
        return {**numbers, "difference": self.but_for, unit: own, "other": other}


def alike(raters: Iterable[str], ids: Collection[str]) -> Alike | None:
    """Return the difference in spelling that matches most ids, the smallest first; None if no id matches."""
    wanted = list(raters)
    best: Alike | None = None
    for but_for, written in _WAYS:
        others: dict[str, list[str]] = {}
        for one in ids:
            others.setdefault(written(one), []).append(one)
        own = [written(rater) for rater in wanted]
        pairs = tuple(
            (rater, others[form][0])
            for rater, form in zip(wanted, own, strict=True)
            if len(others.get(form, ())) == 1
        )
        clear = len({other for _, other in pairs}) == len(pairs)
        if pairs and clear and (best is None or len(pairs) > len(best.pairs)):
            best = Alike(but_for, pairs)
    return best


def _rater_column(raters: Table, spec: DataSpec, rater_ids: Sequence[str], annotations_name: str) -> str:
    """Return the raters file's column of ids: `spec.rater`, or the one with most of them, but no ages."""
    if spec.layout == "raters-by-items" and spec.rater is None:
        raise DataError(DataProblem.NO_RATER_IDS(file=annotations_name, raters=raters.name))
    if spec.rater in raters.columns:
        able = [str(spec.rater)]
    else:
        able = [name for name in raters.columns if not names.mentions(name, names.DEMOGRAPHIC)]
        able = able or list(raters.columns)
    held = raters.holding(rater_ids)
    best = max(able, key=lambda name: held[name])
    if not held[best]:
        raise _nobody(raters, able, spec.rater in raters.columns, rater_ids, annotations_name)
    return best


def _nobody(
    raters: Table, able: Sequence[str], named: bool, rater_ids: Sequence[str], annotations_name: str
) -> DataError:
    near = {name: found for name in able if (found := alike(rater_ids, raters.distinct(name))) is not None}
    column = max(near, key=lambda name: len(near[name].pairs)) if near else able[0]
    problem = DataProblem.NOBODY_DESCRIBED(
        file=annotations_name,
        ids=tuple(rater_ids),
        named=int(named),
        column=column,
        raters=raters.name,
        example=raters.cell(column, 0),
        advice=_same_ids(rater_ids, raters),
    )
    if not near:
        return DataError(problem)
    but_for = DataProblem.NOBODY_DESCRIBED_BUT_FOR
    return DataError(but_for(problem=problem, column=column, **near[column].told("rater", len(rater_ids))))


def _same_ids(rater_ids: Sequence[str], raters: Table) -> Remark:
    """Return advice for two files that use different ids for raters."""
    columns = {name: [value for value in raters.distinct(name) if value] for name in raters.columns}
    mailed = next(
        (name for name, values in columns.items() if values and all("@" in one for one in values)), None
    )
    if mailed and all(rater.isdecimal() for rater in rater_ids):
        return DataProblem.IDS_ARE_NUMBERS(raters=raters.name)
    if all("@" in rater for rater in rater_ids):
        return DataProblem.IDS_ARE_ADDRESSES(raters=raters.name)
    return DataProblem.USE_SAME_IDS()


@dataclass(frozen=True, slots=True, eq=False)
class Described:
    """Columns of both files that describe raters, or items; `ids` has all units, also uncounted ones."""

    ids: tuple[str, ...]
    missing: tuple[str, ...]
    inside: DescribingFile | None
    beside: DescribingFile | None

    @property
    def sources(self) -> tuple[DescribingFile, ...]:
        """The files that describe units; the first one decides."""
        return tuple(source for source in (self.beside, self.inside) if source is not None)

    def merged(self, name: str, counted: BoolArray) -> DescribingColumn:
        """Return each unit's value, from the first source that has one; `counted`, (U,), are who count."""
        sources = [source for source in self.sources if name in source.columns]
        first, *others = (source.column(name, self.missing, counted) for source in sources)
        if not others:
            return first
        second = others[0]
        values = tuple(dict.fromkeys(first.values + second.values))
        position = {value: index for index, value in enumerate(values)}
        codes = np.array([position[value] for value in second.values] + [-1], dtype=np.int64)[second.codes]
        differ = np.flatnonzero((first.codes >= 0) & (codes >= 0) & (first.codes != codes) & counted)
        problems = [*first.problems, *second.problems]
        if differ.size:
            of, files = sources[0].of, tuple(source.table.name for source in sources)
            told = _DISAGREE[of](files=files, column=name, decides=files[0], **{f"{of}s": differ.size})
            problems.append(know(told, differ.size, [self.ids[unit] for unit in differ[:EXAMPLES]]))
        return DescribingColumn(np.where(first.codes >= 0, first.codes, codes), values, tuple(problems))

    def unmatched(self, source: DescribingFile, counted: BoolArray) -> Iterator[Problem]:
        """Report units without a row in the file beside, and ids there that the annotations lack."""
        described = np.zeros(len(self.ids), dtype=np.bool_)
        described[source.unit_of_row[source.unit_of_row >= 0]] = True
        without = np.flatnonzero(counted & ~described)
        file, key, units = source.table.name, str(source.key), f"{source.of}s"
        not_described, idle, otherwise = _UNMATCHED[source.of]
        if without.size:
            remark = not_described(column=key, file=file, **{units: without.size})
            yield know(remark, without.size, [self.ids[unit] for unit in without[:EXAMPLES]])
        column = source.table.column(key)
        ids = [column.values[code] for code in np.unique(column.codes[source.unit_of_row < 0])]
        if not ids:
            return
        yield know(idle(file=file, **{units: len(ids)}), len(ids), ids)
        near = alike([self.ids[unit] for unit in without], ids) if without.size else None
        if near is not None:
            remark = otherwise(file=file, column=key, ids=len(near.pairs), difference=near.but_for)
            yield know(remark, len(near.pairs), [other for _, other in near.pairs])

    def problems(self, counted: BoolArray) -> list[Problem]:
        """Return problems of ids in the file beside; `counted`, (U,), are units with labels that count."""
        if self.beside is None:
            return []
        return [*_about_ids(self.beside), *self.unmatched(self.beside, counted)]


def _about_ids(source: DescribingFile) -> Iterator[Problem]:
    """Report ids of a file that are alike, blank, or repeated."""
    table, key = source.table, str(source.key)
    column = table.column(key)
    counts = column.counts()
    where = f"{table.name}, column {quoted(key)}"
    yield from near_duplicates(where, column.tally, ids=True)
    blank = np.flatnonzero(column.among([value for value in column.values if not value.strip()]))
    if blank.size:
        code = {"rater": DataProblem.BLANK_RATER_ID, "item": ItemProblem.BLANK_ITEM_ID}[source.of]
        yield stop(code(file=table.name, row=table.row(int(blank[0])), column=key), blank.size)
    again = np.flatnonzero(counts > 1).tolist()
    if again and source.of == "rater":
        remark = DataProblem.RATERS_IN_SEVERAL_ROWS(where=where, raters=len(again))
        yield know(remark, len(again), [column.values[code] for code in again])
    again = [code for code in again if column.values[code].strip()]
    if again and source.of == "item":
        first, second = (table.row(int(at)) for at in np.flatnonzero(column.codes == again[0])[:2])
        item, more = column.values[again[0]], len(again) - 1
        twice = ItemProblem.ITEM_TWICE(
            file=table.name, first=first, second=second, column=key, item=item, more=more
        )
        yield stop(twice, len(again), [column.values[code] for code in again[:EXAMPLES]])


_DISAGREE = {"rater": DataProblem.FILES_DISAGREE, "item": ItemProblem.FILES_DISAGREE_ON_ITEMS}
_UNMATCHED = {
    "rater": (
        DataProblem.RATERS_NOT_DESCRIBED,
        DataProblem.RATERS_WITHOUT_ANNOTATIONS,
        DataProblem.IDS_WRITTEN_OTHERWISE,
    ),
    "item": (
        ItemProblem.ITEMS_NOT_DESCRIBED,
        ItemProblem.ITEMS_WITHOUT_ANNOTATIONS,
        ItemProblem.ITEM_IDS_WRITTEN_OTHERWISE,
    ),
}


class Profiles(Described):
    """Columns of both files that describe raters."""

    __slots__ = ()

    @classmethod
    def of(
        cls,
        annotations: Table,
        raters: Table | None,
        spec: DataSpec,
        rater_ids: tuple[str, ...],
        rater_of_row: Codes | None,
    ) -> Profiles:
        """Match raters of both files; the last two arguments are as in `Votes`."""
        inside = beside = None
        if rater_of_row is not None:
            taken = {*id_columns(spec), *spec.labels}
            names = spec.profile if spec.layout == "raters-by-items" else annotations.columns
            columns = tuple(name for name in names if name not in taken)
            inside = DescribingFile(annotations, spec.rater, rater_of_row, columns, len(rater_ids))
        if raters is not None:
            key = _rater_column(raters, spec, rater_ids, annotations.name)
            beside = DescribingFile.beside(raters, key, rater_ids, "rater")
        return cls(rater_ids, spec.missing, inside, beside)

    def candidates(self, left_out: Collection[str]) -> tuple[str, ...]:
        """Return columns that can be axes: one value per rater, at least two and not too many in all."""
        names: dict[str, None] = {}
        for source in self.sources:
            for name in source.columns:
                if (
                    name not in left_out
                    and source.divides(name, self.missing)
                    and (source is self.beside or source.constant(name, self.missing))
                ):
                    names[name] = None
        return tuple(names)

    def nearly(self, left_out: Collection[str]) -> list[Problem]:
        """Report columns that would be axes if a few raters did not have several values."""
        source = self.inside
        if source is None:
            return []
        return [
            problem
            for name in source.columns
            if name not in left_out
            and (self.beside is None or name not in self.beside.columns)
            and source.divides(name, self.missing)
            and (problem := source.nearly_constant(name, self.missing)) is not None
        ]

    def column(self, name: str, counted: BoolArray) -> DescribingColumn:
        """Return each rater's value, first from the raters file; `counted`, (J,), are who count."""
        if not any(name in source.columns for source in self.sources):
            raise DataError(DataProblem.COLUMN_OF_IDS(column=name, file=self.sources[0].table.name))
        return self.merged(name, counted)
