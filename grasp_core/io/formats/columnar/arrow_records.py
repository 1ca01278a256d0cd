"""Rows of Arrow tables as the records that JSON files give, for exports whose cells are lists or objects."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from grasp_core.errors import DataError
from grasp_core.io.files import json_files as json_records
from grasp_core.io.files.json_files import Record

ClassLabels = Mapping[str, Sequence[str]]
"""Names of the classes of a column, by its path; those of lists count as their lists'."""


def of_batches(batches: Iterable[pa.RecordBatch], labels: ClassLabels, name: str) -> Iterator[Record]:
    """The rows as objects whose scalars are text, True, False or None, as :mod:`json_records` gives them.

    Whole numbers lose a trailing ``.0``, raw bytes are left out, NaN is no value.

    Raises
    ------
    DataError
        If they hold more values than JSON may.
    """
    values = 0
    for batch in batches:
        values += sum(map(_values, batch.columns))
        if values > json_records.MAX_VALUES:
            raise DataError(
                f"{name} holds lists of more than {json_records.MAX_VALUES:,} values in all, the most that "
                "is read; split it, or write a row per annotation"
            )
        for row in batch.to_pylist():
            yield {field: _value(cell, labels, field) for field, cell in row.items()}


def _values(array: pa.Array) -> int:
    """Number of values in an array, those inside its lists and structures with them."""
    if pa.types.is_struct(array.type):
        return len(array) + sum(map(_values, array.flatten()))
    if pa.types.is_list(array.type) or pa.types.is_large_list(array.type):
        return len(array) + _values(array.flatten())
    if pa.types.is_fixed_size_list(array.type):
        return len(array) * (1 + int(array.type.list_size))
    return len(array)


def _value(value: Any, labels: ClassLabels, path: str) -> Any:
    if isinstance(value, dict):
        return {field: _value(inner, labels, f"{path}.{field}") for field, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_value(inner, labels, path) for inner in value]
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        names = labels.get(path, ())
        return names[value] if 0 <= value < len(names) else str(value)
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, datetime.datetime):
        return value.isoformat(sep=" ")
    return None if isinstance(value, bytes) else str(value)


def _number(value: float) -> str | None:
    if value != value:
        return None
    return str(int(value)) if value.is_integer() else repr(value)
