"""Structures and lists in Arrow tables, as columns of their own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from grasp_core.annotations import Int64Array


@dataclass(frozen=True, slots=True)
class Shape:
    """Where the values of a schema are; a path is a column's name, or names joined by dots.

    Parameters
    ----------
    scalars, lists, other : tuple of str
        Paths to one value with a text form per row, to a list of such values, and to anything else.
    columns : mapping from path to column
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
