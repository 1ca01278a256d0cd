"""Recoding of tables before anything else looks at their values."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from grasp_core.model.annotations import Codes, FloatArray, display_order, is_number, number_of
from grasp_core.model.data_spec import DataSpec
from grasp_core.model.errors import Problem, know, raise_stopping, stop
from grasp_core.model.recode_steps import Bins, Combine, MapValues
from grasp_core.model.remarks.problems import DataProblem
from grasp_core.model.wording import closest, quoted
from grasp_core.reading.dataset.votes import cell_columns
from grasp_core.reading.table.columns import Column
from grasp_core.reading.table.parsed import with_joined
from grasp_core.reading.table.table import Table


class Seen(NamedTuple):
    """Texts that a step's note is about, with their cells, in a column (or the labels) of a file.

    Those that were named and are there, of a mapping; those that are no number, of ranges.
    """

    step: MapValues | Bins
    where: str
    texts: Mapping[str, int]


def recode(
    annotations: Table, raters: Table | None, spec: DataSpec, items: Table | None = None
) -> tuple[Table, Table | None, Table | None, list[Problem]]:
    """Apply `spec.recode` in order, to every file that has the column.

    Returns new tables; those given stay as they are; what to know: values that were named but do not occur,
    cells that are no number.
    Raises DataError if a column does not exist, or a question holds a value that the priority lacks.
    """
    tables, seen, problems = all_recoded(annotations, raters, items, spec)
    return *tables, [*notes(annotations.name, seen), *problems]


def all_recoded(
    annotations: Table, raters: Table | None, items: Table | None, spec: DataSpec
) -> tuple[tuple[Table, Table | None, Table | None], tuple[Seen, ...], list[Problem]]:
    """The files recoded, what was seen in the annotations, and what to know of the files beside them."""
    annotations, seen = recoded(annotations, spec, raters, items)
    problems: list[Problem] = []
    if raters is not None:
        raters, problems = recoded_beside(raters, spec)
    if items is not None:
        items, more = recoded_beside(items, spec)
        problems = [*problems, *more]
    return (annotations, raters, items), seen, problems


def recoded_beside(table: Table, spec: DataSpec) -> tuple[Table, list[Problem]]:
    """A file beside the annotations recoded, and what to know of it; steps on other columns are not its."""
    own = [step for step in spec.recode if not isinstance(step, Combine) and step.column in table.columns]
    table, seen = recoded(table, dataclasses.replace(spec, recode=tuple(own)))
    return table, notes(table.name, seen)


def own_recoded(table: Table, spec: DataSpec) -> Table:
    """The annotations as the data were read, without the steps on columns of the files beside them."""
    own = [
        step
        for step in spec.recode
        if isinstance(step, Combine) or step.column is None or step.column in table.columns
    ]
    return recoded(table, dataclasses.replace(spec, recode=tuple(own)))[0]


def recoded(table: Table, spec: DataSpec, *beside: Table | None) -> tuple[Table, tuple[Seen, ...]]:
    """The annotations, recoded; with what is seen by each step that changes something.

    Steps on columns that only the files `beside` have leave them as they are.

    Raises DataError if no file has a column, or a question holds a value that the priority lacks.
    """
    table = with_joined(table, (spec.item, spec.rater))
    seen: list[Seen] = []
    others = [one for one in beside if one is not None]
    for step in spec.recode:
        if isinstance(step, Combine):
            table = _combined(table, step, spec.missing)
        elif names := _columns(table, step, spec):
            table, here = _changed(table, names, step, spec.missing)
            seen.append(here)
        elif not any(step.column in other.columns for other in others):
            raise_stopping([_no_column(str(step.column), [table, *others])])
    return table, tuple(seen)


def counts(tables: Iterable[Table | None], column: str | None, spec: DataSpec) -> dict[str, int]:
    """Cells per value of a column, over all files; those of the labels where `column` is None."""
    total: dict[str, int] = {}
    for position, table in enumerate(table for table in tables if table is not None):
        names = (column,) if column is not None else cell_columns(table, spec) if position == 0 else ()
        for name in names:
            if name in table.columns:
                found = table.column(str(name))
                for value, count in zip(found.values, found.counts().tolist(), strict=True):
                    total[value] = total.get(value, 0) + count
    return total


def ranges(spec: DataSpec, column: str | None) -> tuple[str, ...]:
    """The ranges that a column's numbers were cut into, in their order."""
    cuts = [step.labels for step in spec.recode if isinstance(step, Bins) and step.column == column]
    return cuts[-1] if cuts else ()


def in_order(values: Iterable[str], cut: Sequence[str]) -> tuple[str, ...]:
    """Ranges by their size, then the rest as :func:`display_order` has it."""
    place = {value: position for position, value in enumerate(cut)}
    return tuple(sorted(values, key=lambda value: (place.get(value, len(place)), display_order(value))))


def numbers_of(column: Column) -> FloatArray:
    """The number in each cell, shape (n,); NaN for none."""
    by_value = np.array([number_of(value) for value in column.values], dtype=np.float64)
    cells: FloatArray = by_value[column.codes]
    return cells


def _columns(table: Table, step: MapValues | Bins, spec: DataSpec) -> list[str]:
    if step.column is None:
        gold = () if spec.filters.gold is None else (spec.filters.gold,)
        return [name for name in dict.fromkeys((*cell_columns(table, spec), *gold)) if name in table.columns]
    return [step.column] if step.column in table.columns else []


def _changed(
    table: Table, names: Sequence[str], step: MapValues | Bins, missing: Sequence[str]
) -> tuple[Table, Seen]:
    found: Counter[str] = Counter()
    columns: dict[str, pa.Array] = {}
    for name in names:
        column = table.column(name)
        counts = zip(column.values, column.counts().tolist(), strict=True)
        found.update({value: count for value, count in counts if _is_noted(value, step, missing)})
        columns[name] = _encoded(column.codes, [_new_value(value, step, missing) for value in column.values])
    where = f"column {quoted(names[0])}" if len(names) == 1 else "labels"
    return _with_columns(table, columns), Seen(step, where, found)


def _is_noted(value: str, step: MapValues | Bins, missing: Sequence[str]) -> bool:
    if isinstance(step, MapValues):
        return value in dict(step.values)
    return value not in missing and not is_number(value)


def _new_value(value: str, step: MapValues | Bins, missing: Sequence[str]) -> str:
    if isinstance(step, MapValues):
        return dict(step.values).get(value, value)
    number = number_of(value)
    if value in missing or np.isnan(number):
        return ""
    return step.labels[int(np.searchsorted(step.edges, number, side="right"))]


def notes(name: str, seen: Iterable[Seen]) -> list[Problem]:
    """Problems of the steps; `name` is the file's."""
    problems: list[Problem] = []
    for step, at, found in seen:
        where, texts = f"{name}, {at}", list(found)
        if isinstance(step, MapValues):
            absent = [old for old, _ in step.values if old not in found]
            what = DataProblem.NOT_THERE_TO_RECODE(where=where, values=tuple(absent))
            problems += [know(what, len(absent), absent)] if absent else []
        elif texts:
            cells = sum(found.values())
            what = DataProblem.NO_NUMBER(where=where, cells=cells, values=tuple(texts))
            problems.append(know(what, cells, texts))
    return problems


def _combined(table: Table, step: Combine, missing: Sequence[str]) -> Table:
    absent = [name for name in step.columns if name not in table.columns]
    if absent:
        raise_stopping([_no_column(absent[0], [table])])
    if step.into in table.columns and step.into not in step.columns:
        raise_stopping([stop(DataProblem.COLUMN_EXISTS(file=table.name, column=step.into))])
    rank = {value: position for position, value in enumerate(step.priority)}
    none = len(step.priority)
    best = np.full(len(table), none, dtype=np.int64)
    for name in step.columns:
        column = table.column(name)
        stray = [value for value in column.values if value not in rank and value not in missing]
        if stray:
            row = int(np.flatnonzero(column.among(stray))[0])
            remark = DataProblem.NO_PLACE_IN_ORDER(
                file=table.name, row=table.row(row), column=name, value=stray[0], order=step.priority
            )
            raise_stopping([stop(remark, int(column.among(stray).sum()), stray)])
        by_value = np.array([rank.get(value, none) for value in column.values], dtype=np.int64)
        np.minimum(best, by_value[column.codes], out=best)
    return _with_columns(table, {step.into: _encoded(best, [*step.priority, ""])})


def _encoded(codes: Codes, values: Sequence[str]) -> pa.Array:
    """Codes into values that may recur, as codes into distinct ones."""
    distinct = {value: position for position, value in enumerate(dict.fromkeys(values))}
    position = np.array([distinct[value] for value in values], dtype=np.int32)
    return pa.DictionaryArray.from_arrays(pa.array(position[codes]), pa.array(list(distinct), pa.string()))


def _with_columns(table: Table, columns: Mapping[str, pa.Array]) -> Table:
    data = table.data
    for name, column in columns.items():
        if name in table.columns:
            data = data.set_column(data.column_names.index(name), name, column)
        else:
            data = data.append_column(name, column)
    return dataclasses.replace(table, data=data, columns=tuple(data.column_names))


def _no_column(name: str, tables: Sequence[Table]) -> Problem:
    close = closest(name, [column for table in tables for column in table.columns])
    files = " and ".join(table.name for table in tables)
    return stop(DataProblem.NO_COLUMN_TO_RECODE(files=files, column=name, close=close), 1, close)
