"""Columns with types as codes into distinct texts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from grasp_core.io.files.json_files import whole_characters
from grasp_core.io.table.columns import Vocabulary

TEXT = pa.dictionary(pa.int32(), pa.string())
"""The type of such a column."""


OF_PANDAS = {b"pandas": b"{}"}
"""Metadata of a frame's columns; in pandas, codes into values are a type that somebody chose."""
_MOST_VALUES = 1_000
"""Of more values, none are a scale or a list of labels."""


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
    if pa.types.is_dictionary(column.type) and _plain_codes(column):
        return column
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if labels is not None and pa.types.is_integer(column.type):
        known = pc.and_(pc.greater_equal(column, 0), pc.less(column, len(labels)))
        column = pc.take(pa.array(labels, pa.string()), pc.if_else(known, column, None))
    elif pa.types.is_boolean(column.type):
        column = pc.if_else(column, "True", "False")
    elif pa.types.is_floating(column.type):
        column = _whole_numbers(column)
    return pc.fill_null(column.cast(pa.string()), "").dictionary_encode()


def _plain_codes(column: pa.DictionaryArray) -> bool:
    """Whether the column is already in the form that is wanted, as columns of text are read."""
    return column.type == TEXT and not column.null_count and not column.dictionary.null_count


def _whole_numbers(column: pa.Array) -> pa.Array:
    """Whole numbers stored as reals because some are missing, as whole numbers again."""
    column = pc.if_else(pc.is_nan(column), None, column)
    try:
        return column.cast(pa.int64())
    except pa.ArrowInvalid:
        return column


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
