"""Recoding of tables before any other code reads their values."""

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pyarrow as pa

from grasp_core.model.annotations import Codes, FloatArray, display_order, is_number, number_of
from grasp_core.model.data_spec import Bins, Combine, DataSpec, MapValues
from grasp_core.model.errors import Problem, know, raise_stopping, stop
from grasp_core.model.remarks.problems import DataProblem
from grasp_core.model.text import quoted
from grasp_core.reading.dataset.checks import no_column
from grasp_core.reading.dataset.votes import cell_columns
from grasp_core.reading.table.columns import Column
from grasp_core.reading.table.parsed import with_joined
from grasp_core.reading.table.table import Table


def recode(
    annotations: Table, raters: Table | None, spec: DataSpec, items: Table | None = None
) -> tuple[Table, Table | None, Table | None, list[Problem]]:
    """Apply `spec.recode` in order to every file that has the column; return the files and problems."""
    beside = [table for table in (raters, items) if table is not None]
    annotations, problems = _recoded(annotations, spec, spec.recode, beside)

    def of_file(table: Table | None) -> Table | None:
        if table is None:
            return None
        own = [one for one in spec.recode if not isinstance(one, Combine) and one.column in table.columns]
        done, more = _recoded(table, spec, own, ())
        problems.extend(more)
        return done

    return annotations, of_file(raters), of_file(items), problems


def own_recoded(table: Table, spec: DataSpec) -> Table:
    """Recode the annotations as for a data set, without the steps on columns of the files beside them."""
    own = [
        step
        for step in spec.recode
        if isinstance(step, Combine) or step.column is None or step.column in table.columns
    ]
    return _recoded(table, spec, own, ())[0]


def _recoded(
    table: Table, spec: DataSpec, steps: Sequence[MapValues | Bins | Combine], beside: Sequence[Table]
) -> tuple[Table, list[Problem]]:
    """Recode a table; steps on columns that only the files in `beside` have do not change it."""
    table = with_joined(table, (spec.item, spec.rater))
    problems: list[Problem] = []
    for step in steps:
        if isinstance(step, Combine):
            table = _combined(table, step, spec.missing)
            continue
        names = [step.column] if step.column in table.columns else []
        if step.column is None:
            gold = (name for name in (spec.filters.gold,) if name is not None)
            cells = dict.fromkeys((*cell_columns(table, spec), *gold))
            names = [name for name in cells if name in table.columns]
        if names:
            table, more = _changed(table, names, step, spec.missing)
            problems += more
        elif not any(step.column in other.columns for other in beside):
            raise_stopping([no_column(str(step.column), [table, *beside])])
    return table, problems


def counts(tables: Iterable[Table | None], column: str | None, spec: DataSpec) -> dict[str, int]:
    """Count cells by value of a column over all files, or of the labels if `column` is None."""
    total: Counter[str] = Counter()
    for position, table in enumerate(table for table in tables if table is not None):
        names = (column,) if column is not None else cell_columns(table, spec) if position == 0 else ()
        for name in names:
            if name in table.columns:
                total.update(table.column(str(name)).tally)
    return total


def ranges(spec: DataSpec, column: str | None) -> tuple[str, ...]:
    """Return the ranges into which a column's numbers were cut, in order."""
    cuts = [step.labels for step in spec.recode if isinstance(step, Bins) and step.column == column]
    return cuts[-1] if cuts else ()


def in_order(values: Iterable[str], cut: Sequence[str]) -> tuple[str, ...]:
    """Sort values: ranges by their numbers, then the rest by :func:`display_order`."""
    place = {value: position for position, value in enumerate(cut)}
    return tuple(sorted(values, key=lambda value: (place.get(value, len(place)), display_order(value))))


def numbers_of(column: Column) -> FloatArray:
    """Return the number in each cell, shape (n,); NaN for a cell without one."""
    by_value = np.array([number_of(value) for value in column.values], dtype=np.float64)
    cells: FloatArray = by_value[column.codes]
    return cells


def _changed(
    table: Table, names: Sequence[str], step: MapValues | Bins, missing: Sequence[str]
) -> tuple[Table, list[Problem]]:
    """Change texts in some columns; report named values that are absent, and cells without a number."""
    changes = dict(step.values) if isinstance(step, MapValues) else {}

    def new(value: str) -> str:
        if isinstance(step, MapValues):
            return changes.get(value, value)
        number = number_of(value)
        if value in missing or np.isnan(number):
            return ""
        return step.labels[int(np.searchsorted(step.edges, number, side="right"))]

    found: Counter[str] = Counter()
    columns: dict[str, pa.Array] = {}
    for name in names:
        column = table.column(name)
        found.update(column.tally)
        columns[name] = _encoded(column.codes, list(map(new, column.values)))
    where = f"{table.name}, " + (f"column {quoted(names[0])}" if len(names) == 1 else "labels")
    absent = tuple(old for old in changes if old not in found)
    if absent:
        what = DataProblem.NOT_THERE_TO_RECODE(where=where, values=absent)
        return _with_columns(table, columns), [know(what, len(absent), absent)]
    stray = {value: count for value, count in found.items() if value not in missing and not is_number(value)}
    if isinstance(step, Bins) and stray:
        cells = sum(stray.values())
        what = DataProblem.NO_NUMBER(where=where, cells=cells, values=tuple(stray))
        return _with_columns(table, columns), [know(what, cells, stray)]
    return _with_columns(table, columns), []


def _combined(table: Table, step: Combine, missing: Sequence[str]) -> Table:
    absent = [name for name in step.columns if name not in table.columns]
    if absent:
        raise_stopping([no_column(absent[0], [table])])
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
    """Turn codes into values that may recur into codes into distinct values."""
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
    return dataclasses.replace(table, data=data)
