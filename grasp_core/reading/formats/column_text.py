"""Columns of Arrow as text: times, nested values, records."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from grasp_core.model.annotations import Int64Array
from grasp_core.model.errors import DataError
from grasp_core.reading.files import json_files
from grasp_core.reading.files.json_files import Record, whole_characters
from grasp_core.reading.table.columns import Vocabulary, duration_text, moment_text

_SPSS = datetime.datetime(1582, 10, 14)
_STATA = datetime.datetime(1960, 1, 1)
TEXT = pa.dictionary(pa.int32(), pa.string())
"""The type of a column of text."""
OF_PANDAS = {b"pandas": b"{}"}
"""Metadata of a frame's columns; in pandas, codes into values are a type that somebody chose."""
_MOST_VALUES = 1_000
"""Of more values, none are a scale or a list of labels."""


def moment_format(written: str) -> Callable[[float], str] | None:
    """A function from a column's numbers to text, where its format is a date's or a time's; else None.

    `written`: E.g. ``DATE11`` or ``DATETIME20`` (SPSS), ``%td`` or ``%tcHH:MM`` (Stata).
    """
    if written.startswith(("%td", "%d", "%-td", "%-d")):
        return partial(_moment, start=_STATA, unit=86_400.0)
    if written.startswith(("%tc", "%tC", "%-tc", "%-tC")):
        return partial(_moment, start=_STATA, unit=1e-3)
    if written.startswith(("%tm", "%-tm")):
        return _month
    if re.match(r"(DATE|ADATE|EDATE|JDATE|SDATE|QYR|MOYR|WKYR|DATETIME|YMDHMS)(?![A-Z])", written):
        return partial(_moment, start=_SPSS, unit=1.0)
    return (
        partial(_moment, start=None, unit=1.0) if re.match("(TIME|DTIME|MTIME)(?![A-Z])", written) else None
    )


def _month(value: float) -> str:
    months = int(value) if abs(value) < 1e5 else 0
    year, month = divmod(months, 12)
    return f"{1960 + year:04}-{month + 1:02}" if months == value else repr(value)


def _moment(value: float, *, start: datetime.datetime | None, unit: float) -> str:
    """A day, a day and a time, or a duration; a number beyond all calendars stays a number."""
    try:
        passed = datetime.timedelta(seconds=value * unit)
        return duration_text(passed) if start is None else moment_text(start + passed)
    except (OverflowError, ValueError):
        return repr(value)


@dataclass(frozen=True, slots=True)
class Shape:
    """Where the values of a schema are; a path is a column's name, or names joined by dots.

    `scalars`, `lists`, `other`: paths to one value with a text form per row, to a list of such values, and to
        anything else.
    """

    scalars: tuple[str, ...]
    lists: tuple[str, ...]
    other: tuple[str, ...]
    columns: dict[str, str]

    def left_out(self, readable: Iterable[str]) -> list[str]:
        """Lists and others that are not among `readable`."""
        chosen = set(readable)
        return [path for path in (*self.lists, *self.other) if path not in chosen]


def shape(schema: pa.Schema) -> Shape:
    """Every path of a schema."""
    found = [(field.name, *leaf) for field in schema for leaf in _leaves(field.name, field.type, False)]
    return Shape(
        tuple(path for _, path, kind in found if kind == "scalar"),
        tuple(path for _, path, kind in found if kind == "list"),
        tuple(path for _, path, kind in found if kind == "other"),
        {path: column for column, path, _ in found},
    )


def outer(paths: Sequence[str], whole: Shape) -> list[str]:
    """The columns that hold the paths."""
    return list(dict.fromkeys(whole.columns[path] for path in paths))


def unnest(batch: pa.RecordBatch, paths: Iterable[str]) -> dict[str, pa.Array]:
    """The values of each path, one per row."""
    wanted = set(paths)
    return {
        path: array
        for name, column in zip(batch.schema.names, batch.columns, strict=True)
        for path, array in _arrays(name, column)
        if path in wanted
    }


def lengths(array: pa.Array) -> Int64Array:
    """Entries of each list, shape (n,), none for a missing one."""
    counts: Int64Array = pc.fill_null(pc.list_value_length(array), 0).to_numpy().astype(np.int64)
    return counts


def _leaves(path: str, kind: pa.DataType, in_list: bool) -> Iterator[tuple[str, str]]:
    if pa.types.is_struct(kind) and kind.num_fields:
        for field in kind.fields:
            yield from _leaves(f"{path}.{field.name}", field.type, in_list)
    elif _is_list(kind) and not in_list:
        yield from _leaves(path, kind.value_type, True)
    elif _has_text_form(kind):
        yield path, "list" if in_list else "scalar"
    else:
        yield path, "other"


def _arrays(path: str, array: pa.Array) -> Iterator[tuple[str, pa.Array]]:
    kind = array.type
    if pa.types.is_struct(kind) and kind.num_fields:
        for field, inner in zip(kind.fields, array.flatten(), strict=True):
            yield from _arrays(f"{path}.{field.name}", inner)
    elif _is_list(kind) and pa.types.is_struct(kind.value_type) and kind.value_type.num_fields:
        bounds = np.concatenate([[0], np.cumsum(lengths(array))])
        for inner_path, inner in _arrays(path, pc.list_flatten(array)):
            if not _is_list(inner.type):
                yield inner_path, pa.LargeListArray.from_arrays(pa.array(bounds, pa.int64()), inner)
    else:
        yield path, array


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def _has_text_form(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        return _has_text_form(kind.value_type)
    if isinstance(kind, pa.BaseExtensionType):
        return _has_text_form(kind.storage_type)
    return not (pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def vocabulary(column: pa.Array, name: str, schema: pa.Schema) -> Vocabulary | None:
    """The values that a column's type names, where somebody chose it; None where codes only save room."""
    kind = column.type
    if not pa.types.is_dictionary(kind) or not 0 < len(column.dictionary) <= _MOST_VALUES:
        return None
    if not kind.ordered and b"pandas" not in (schema.metadata or {}):
        return None
    values = as_text(column.dictionary).dictionary_decode().to_pylist()
    return Vocabulary(name, tuple(values), kind.ordered) if len(set(values)) == len(values) else None


def as_text(column: pa.Array, labels: Sequence[str] | None = None) -> pa.DictionaryArray:
    """A column as codes into distinct texts; `labels` are the names of its classes, where it has some."""
    if pa.types.is_dictionary(column.type):
        if column.type == TEXT and not column.null_count and not column.dictionary.null_count:
            return column
        column = column.dictionary_decode()
    if labels is not None and pa.types.is_integer(column.type):
        known = pc.and_(pc.greater_equal(column, 0), pc.less(column, len(labels)))
        column = pc.take(pa.array(labels, pa.string()), pc.if_else(known, column, None))
    elif pa.types.is_boolean(column.type):
        column = pc.if_else(column, "True", "False")
    elif pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), None, column)
        with suppress(pa.ArrowInvalid):  # whole numbers stored as reals because some are missing
            column = column.cast(pa.int64())
    return pc.fill_null(column.cast(pa.string()), "").dictionary_encode()


def class_labels(schema: pa.Schema) -> dict[str, list[str]]:
    """Names of the classes of each path, where Hugging Face `datasets` wrote them into the file."""
    try:
        features = json.loads(whole_characters((schema.metadata or {})[b"huggingface"].decode()))["info"][
            "features"
        ]
        return dict(_labels_inside(features, ""))
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        return {}


def _labels_inside(feature: Any, path: str) -> Iterator[tuple[str, list[str]]]:
    """Class labels of a feature: in `Sequence` and `List` features, in lists of one, and in structures."""
    if isinstance(feature, list):
        yield from _labels_inside(feature[0] if len(feature) == 1 else {}, path)
    elif feature.get("_type") == "ClassLabel":
        yield path, [str(label) for label in feature["names"]]
    elif feature.get("_type") in ("Sequence", "List", "LargeList"):
        yield from _labels_inside(feature["feature"], path)
    else:
        for inner, value in feature.items():
            if isinstance(value, dict | list):
                yield from _labels_inside(value, f"{path}.{inner}" if path else inner)


ClassLabels = Mapping[str, Sequence[str]]
"""Names of the classes of a column, by its path; those of lists count as their lists'."""


def of_batches(batches: Iterable[pa.RecordBatch], labels: ClassLabels, name: str) -> Iterator[Record]:
    """The rows as objects whose scalars are text, True, False or None, as :mod:`json_records` gives them.

    Whole numbers lose a trailing ``.0``, raw bytes are left out, NaN is no value.
    """
    values = 0
    for batch in batches:
        values += sum(map(_values, batch.columns))
        if values > json_files.MAX_VALUES:
            raise DataError(
                f"{name} holds lists of more than {json_files.MAX_VALUES:,} values in all, the most that "
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
        if value != value:
            return None
        return str(int(value)) if value.is_integer() else repr(value)
    if isinstance(value, datetime.datetime):
        return value.isoformat(sep=" ")
    return None if isinstance(value, bytes) else str(value)
