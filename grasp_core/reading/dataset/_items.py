"""Items and the columns that describe them: ids in an items file, and columns that can make slices."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from grasp_core.model.annotations import BoolArray, Codes
from grasp_core.model.data_spec import DataSpec
from grasp_core.model.errors import DataError, Problem, SpecError, raise_stopping, stop
from grasp_core.model.remarks.reasons import ItemProblem
from grasp_core.reading.dataset.checks import no_column
from grasp_core.reading.dataset.raters import Described, DescribingColumn, DescribingFile, alike
from grasp_core.reading.dataset.votes import cell_columns, id_columns
from grasp_core.reading.table.columns import Column
from grasp_core.reading.table.names import ROUNDS, WHEN, mentions
from grasp_core.reading.table.table import Table

MAX_SLICES = 50  # most distinct values of a column that makes slices
MOST_BATCHES = 12  # most batches in a column that is reported without being named
_DAY, _MOST_DAYS = len("2026-11-28"), 20_000  # letters of a day, and most different days in a column of dates
_MONTH = re.compile(r"(\d{4}-(?:0[1-9]|1[0-2]))-\d{2}")
LONGEST = 200  # most letters of a text that names a slice


@dataclass(frozen=True, slots=True, eq=False)
class Descriptions(Described):
    """Columns of both files that describe items."""

    spec: DataSpec
    annotations: Table

    @classmethod
    def of(
        cls,
        annotations: Table,
        items: Table | None,
        spec: DataSpec,
        item_ids: tuple[str, ...],
        item_of_row: Codes | None,
    ) -> Descriptions:
        """Match items of both files; the last two arguments are as in `Votes`."""
        inside = None
        if item_of_row is not None:
            dropped = [annotations.column(name).among([value]) for name, value in spec.filters.drop]
            if dropped:  # rows that are left out by a value describe no item
                item_of_row = np.where(np.logical_or.reduce(dropped), -1, item_of_row)
            taken = {*id_columns(spec), *spec.labels, spec.text}
            cells = () if spec.layout == "long" else cell_columns(annotations, spec)
            columns = tuple(name for name in annotations.columns if name not in taken.union(cells))
            inside = DescribingFile(annotations, spec.item, item_of_row, columns, len(item_ids), "item")
        beside = _beside(annotations.name, items, spec, item_ids)
        return cls(item_ids, spec.missing, inside, beside, spec, annotations)

    def candidates(self, rated: BoolArray) -> dict[str, DescribingColumn]:
        """Return columns that can make slices: one value per item, at least two and not too many in all."""
        names = dict.fromkeys(name for source in self.sources for name in source.columns)
        able = (name for name in names if all(self._able(source, name, rated) for source in self.sources))
        found = {name: self.merged(name, rated) for name in able}
        return {name: column for name, column in found.items() if len(_there(column, rated)) > 1}

    def _able(self, source: DescribingFile, name: str, rated: BoolArray) -> bool:
        if name not in source.columns:
            return True
        values = set(self._values(source, name, rated)) - set(self.spec.missing)
        return (
            2 <= len(values) <= min(MAX_SLICES, max(2, int(rated.sum()) // 2))
            and max(map(len, values)) <= LONGEST
            and source.constant(name, self.spec.missing)
        )

    def _values(self, source: DescribingFile, name: str, rated: BoolArray) -> Sequence[str]:
        """Return a column's distinct texts; of an items file, maybe a whole catalogue, only rated items'."""
        if source is not self.beside:
            return source.table.distinct(name)
        column, unit = source.table.column(name), source.unit_of_row
        return [column.values[code] for code in np.unique(column.codes[(unit >= 0) & rated[unit]])]

    def batches(self, rated: BoolArray, but: Collection[str]) -> dict[str, DescribingColumn]:
        """Return columns named like the batch or month of rating, and months of dates, `but` some."""
        found: dict[str, DescribingColumn] = {}
        columns = dict.fromkeys(name for source in self.sources for name in source.columns if name not in but)
        for name in (name for name in columns if mentions(name, ROUNDS)):
            if all(self._able(source, name, rated) for source in self.sources):
                found[name] = self.merged(name, rated)
        for source in self.sources:
            for name in source.columns:
                if name not in but and name not in found and mentions(name, WHEN):
                    months = _months(source, name)
                    found |= {} if months is None else {f"{name} (month)": months}
        return {name: one for name, one in found.items() if 2 <= len(_there(one, rated)) <= MOST_BATCHES}

    def slices(self, names: Sequence[str], rated: BoolArray) -> dict[str, DescribingColumn]:
        """Return the named columns; `rated`, (I,), are the items that count."""
        raise_stopping(problem for name in names for problem in self._refused(name, rated))
        found = {name: self.merged(name, rated) for name in names}
        raise_stopping(problem for column in found.values() for problem in column.problems)
        for name, column in found.items():
            there = _there(column, rated)
            if len(there) < 2:
                raise DataError(ItemProblem.ONE_SLICE(column=name, value=there))
        return found

    def _refused(self, name: str, rated: BoolArray) -> Iterator[Problem]:
        """Yield reasons why a column makes no slices, before its cells are read one by one."""
        sources = [source for source in self.sources if name in source.columns]
        tables = [self.annotations, *([self.beside.table] if self.beside else [])]
        for source in sources:
            yield from self._too_much(source, name, rated)
        if not sources and any(name in table.columns for table in tables):
            labels = self.spec.labels or cell_columns(self.annotations, self.spec)
            what = "the items' texts" if name == self.spec.text else "labels" if name in labels else "ids"
            yield stop(ItemProblem.NO_SLICES_OF(column=name, what=what))
        elif not sources:
            yield no_column(name, tables)

    def _too_much(self, source: DescribingFile, name: str, rated: BoolArray) -> Iterator[Problem]:
        """Yield a problem if values are too many, or too long for names."""
        table, values = source.table, self._values(source, name, rated)
        column = table.column(name)
        long = [value for value in values if len(value) > LONGEST]
        if long:
            row = table.row(int(np.flatnonzero(column.among(long))[0]))
            length = len(long[0])
            yield stop(
                ItemProblem.LONG_SLICE(file=table.name, row=row, column=name, length=length, most=LONGEST)
            )
            return
        distinct = len(set(values) - set(self.spec.missing))
        if distinct > MAX_SLICES:
            remark = ItemProblem.TOO_MANY_SLICES(
                file=table.name, column=name, values=distinct, most=MAX_SLICES
            )
            yield stop(remark, distinct, values)


def _months(source: DescribingFile, name: str) -> DescribingColumn | None:
    """Return the month of each item's first date in a column of days or times in ISO 8601."""
    days = _beginnings(source.table.data.column(name))
    if len(days.values) > _MOST_DAYS:
        return None
    found = [_MONTH.fullmatch(text) for text in days.values]
    months = tuple(sorted({one[1] for one in found if one}))
    place = {month: code for code, month in enumerate(months)}
    code = np.array([place[one[1]] if one else len(months) for one in found], dtype=np.int64)[days.codes]
    first = np.full(source.n_units, len(months), dtype=np.int64)
    here = source.unit_of_row >= 0
    np.minimum.at(first, source.unit_of_row[here], code[here])
    return DescribingColumn(np.where(first < len(months), first, -1), months)


def _beginnings(texts: pa.ChunkedArray) -> Column:
    """Cut each cell to the length of a day; times, maybe new in each row, never become Python texts."""
    whole = texts.chunk(0) if texts.num_chunks == 1 else texts.combine_chunks()
    coded = pa.types.is_dictionary(whole.type)
    short = pc.utf8_slice_codeunits(whole.dictionary if coded else whole, 0, _DAY).dictionary_encode()
    codes = short.indices.to_numpy()
    values = tuple(short.dictionary.slice(0, _MOST_DAYS + 1).to_pylist())
    return Column(codes[whole.indices.to_numpy()] if coded else codes, values)


def _there(column: DescribingColumn, rated: BoolArray) -> tuple[str, ...]:
    return tuple(column.values[code] for code in np.unique(column.codes[rated]) if code >= 0)


def _beside(name: str, items: Table | None, spec: DataSpec, ids: tuple[str, ...]) -> DescribingFile | None:
    if items is None:
        if spec.items_id is not None:
            raise DataError(ItemProblem.NO_ITEMS_FILE(column=spec.items_id))
        return None
    if spec.items_id is None:
        raise SpecError("an items file needs `items_id`, the name of its column of item ids")
    if spec.layout == "items-by-raters" and spec.item is None:
        raise DataError(ItemProblem.NO_ITEM_IDS(file=name, items=items.name))
    if spec.items_id not in items.columns:
        raise_stopping([no_column(spec.items_id, (items,))])
    source = DescribingFile.beside(items, spec.items_id, ids, "item")
    if (source.unit_of_row >= 0).any():
        return source
    key = spec.items_id
    problem = ItemProblem.NOTHING_DESCRIBED(
        file=name, ids=ids, column=key, items=items.name, example=items.cell(key, 0)
    )
    near = alike(ids, items.distinct(key))
    if near is None:
        raise DataError(problem)
    but_for = ItemProblem.NOTHING_DESCRIBED_BUT_FOR
    raise DataError(but_for(problem=problem, **near.told("item", len(ids))))
