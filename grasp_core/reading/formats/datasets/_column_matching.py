"""Columns of a table matched against those of a data set."""

from __future__ import annotations

from collections.abc import Iterable

from grasp_core.model.annotations import number_of
from grasp_core.reading.table.table import Table


def has(names: Iterable[str], *tables: Table | None) -> bool:
    """Whether each of the columns is in one of the tables."""
    columns = {column for table in tables if table is not None for column in table.columns}
    return columns.issuperset(names)


def first(names: Iterable[str], *tables: Table | None) -> str | None:
    """The column that is called as one of `names`, in this order, whatever its case and underscores."""
    columns = [column for table in tables if table is not None for column in table.columns]
    by_fold = {_fold(column): column for column in reversed(columns)}
    return next((by_fold[_fold(name)] for name in names if _fold(name) in by_fold), None)


def _fold(name: str) -> str:
    return name.strip().casefold().replace("_", " ").replace("-", " ")


def texts(table: Table, column: str, missing: Iterable[str] = ("",)) -> tuple[str, ...]:
    """A column's distinct texts but for those that mean "no value"."""
    return tuple(text for text in table.distinct(column) if text not in set(missing))


def points(table: Table, column: str, scale: Iterable[int], missing: Iterable[str] = ("",)) -> dict[str, int]:
    """The point of a scale that each text of a column means, ``1.0`` like ``1``; empty if one means none."""
    allowed = {float(point): point for point in scale}
    found = {text: allowed.get(number_of(text)) for text in texts(table, column, missing)}
    meant = {text: point for text, point in found.items() if point is not None}
    return meant if len(meant) == len(found) else {}


def renamed(meant: dict[str, int], names: dict[int, str]) -> tuple[tuple[str, str], ...]:
    """Values to map so that each point is called by its name; none for those already called so."""
    return tuple((text, names[point]) for text, point in meant.items() if text != names[point])
