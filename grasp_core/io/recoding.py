"""Recoding of tables before anything else looks at their values."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pyarrow as pa

from grasp_core.annotations import Codes, FloatArray, display_order, number_of
from grasp_core.data_spec import Bins, Combine, DataSpec, MapValues
from grasp_core.errors import Problem
from grasp_core.io.columns import Column
from grasp_core.io.problems import closest, know, listed, number, quoted, raise_stopping, stop
from grasp_core.io.tables import Table
from grasp_core.io.votes import cell_columns


def recode(
    annotations: Table, raters: Table | None, spec: DataSpec
) -> tuple[Table, Table | None, list[Problem]]:
    """Apply `spec.recode` in order, to both files where both have the column.

    Returns
    -------
    annotations, raters : Table
        New tables; those given stay as they are.
    problems : list of Problem
        What to know: values that were named but do not occur, cells that are no number.

    Raises
    ------
    DataError
        If a column does not exist, or a question holds a value that the priority lacks.
    """
    problems: list[Problem] = []
    for step in spec.recode:
        found: list[Problem] = []
        if isinstance(step, Combine):
            annotations, found = _combined(annotations, step, spec.missing)
        else:
            own = _columns(annotations, step, spec)
            theirs = [step.column] if raters is not None and step.column in raters.columns else []
            if not own and not theirs:
                found = [_no_column(str(step.column), [table for table in (annotations, raters) if table])]
            else:
                annotations, found = _changed(annotations, own, step, spec.missing)
                if raters is not None and theirs:
                    raters, more = _changed(raters, [str(name) for name in theirs], step, spec.missing)
                    found += more
        problems += found
        raise_stopping(found)
    return annotations, raters, problems


def counts(tables: Iterable[Table | None], column: str | None, spec: DataSpec) -> dict[str, int]:
    """Cells per value of a column, over both files; those of the labels where `column` is None."""
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
    """The number in each cell."""
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
) -> tuple[Table, list[Problem]]:
    if not names:
        return table, []
    seen: dict[str, int] = {}
    columns: dict[str, pa.Array] = {}
    for name in names:
        column = table.column(name)
        for value, count in zip(column.values, column.counts().tolist(), strict=True):
            seen[value] = seen.get(value, 0) + count
        columns[name] = _encoded(column.codes, [_new_value(value, step, missing) for value in column.values])
    where = f"{table.name}, column {quoted(names[0])}" if len(names) == 1 else f"{table.name}, labels"
    return _with_columns(table, columns), _notes(where, seen, step, missing)


def _new_value(value: str, step: MapValues | Bins, missing: Sequence[str]) -> str:
    if isinstance(step, MapValues):
        return dict(step.values).get(value, value)
    number = number_of(value)
    if value in missing or np.isnan(number):
        return ""
    return step.labels[int(np.searchsorted(step.edges, number, side="right"))]


def _notes(
    where: str, seen: Mapping[str, int], step: MapValues | Bins, missing: Sequence[str]
) -> list[Problem]:
    if isinstance(step, MapValues):
        absent = [old for old, _ in step.values if old not in seen]
        what = f"{where}: {listed(absent)} to be recoded, but not there"
        return [know(what, len(absent), absent)] if absent else []
    odd = {
        value: count for value, count in seen.items() if value not in missing and np.isnan(number_of(value))
    }
    cells = sum(odd.values())
    what = f"{where}: {number(cells, 'cell')} without a number ({listed(list(odd), 3)}) treated as missing"
    return [know(what, cells, list(odd))] if odd else []


def _combined(table: Table, step: Combine, missing: Sequence[str]) -> tuple[Table, list[Problem]]:
    absent = [name for name in step.columns if name not in table.columns]
    if absent:
        return table, [_no_column(absent[0], [table])]
    if step.into in table.columns and step.into not in step.columns:
        return table, [
            stop(f"{table.name} has a column {quoted(step.into)} already; name the new one otherwise")
        ]
    rank = {value: position for position, value in enumerate(step.priority)}
    none = len(step.priority)
    best = np.full(len(table), none, dtype=np.int64)
    for name in step.columns:
        column = table.column(name)
        stray = [value for value in column.values if value not in rank and value not in missing]
        if stray:
            row = int(np.flatnonzero(column.among(stray))[0])
            return table, [
                stop(
                    f"{table.name}, row {table.row(row)}, column {quoted(name)}: {quoted(stray[0])} has no "
                    f"place in the order {listed(step.priority)}; add it there, or count it as missing",
                    int(column.among(stray).sum()),
                    stray,
                )
            ]
        by_value = np.array([rank.get(value, none) for value in column.values], dtype=np.int64)
        np.minimum(best, by_value[column.codes], out=best)
    return _with_columns(table, {step.into: _encoded(best, [*step.priority, ""])}), []


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
    columns = [column for table in tables for column in table.columns]
    close = closest(name, columns)
    hint = f"; did you mean {listed(close)}?" if close else ""
    files = " and ".join(table.name for table in tables)
    return stop(f"{files}: no column {quoted(name)} to recode{hint}", 1, close)
