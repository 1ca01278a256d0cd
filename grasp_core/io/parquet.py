"""Parquet files and folders as text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from grasp_core.errors import DataError, Problem
from grasp_core.io import nested
from grasp_core.io.containers import check_size
from grasp_core.io.json_records import whole_characters
from grasp_core.io.parsed import Parsed, Watch, compact, name_columns, no_rows
from grasp_core.io.problems import know, listed, number
from grasp_core.io.tools import list_columns

Lines = npt.NDArray[np.int64]

MAGIC = b"PAR1"
_BATCH_ROWS = 1 << 20
_LOOKED_AT = 1_000
_CELL_BYTES = 4
_TEXT = pa.dictionary(pa.int32(), pa.string())


def parse(contents: Sequence[bytes], name: str, watch: Watch) -> Parsed:
    """Read the files of one Parquet data set; nulls become empty text, whole numbers lose a trailing ``.0``.

    Fields of a structure become columns ``outer.inner``. Where a list of rater ids and lists of the same
    length stand in a row, each entry gets a row. Other columns without a text form (lists, raw bytes) are
    left out and reported. Class labels, as Hugging Face `datasets` saves them, become their names.

    Raises
    ------
    DataError
        If a file is damaged, empty, differs in its columns, unpacks to too much, or has lists of unequal
        length.
    """
    try:
        files = [_open(content) for content in contents]
        first = files[0].schema_arrow
        for file in files:
            if file.schema_arrow.names != first.names:
                raise DataError(f"{name}: its files have different columns; read one of them alone")
        shape = nested.shape(first)
        lists = list_columns.parallel(_lengths(files, shape))
        readable = [*shape.scalars, *(lists.all if lists else ())]
        columns, notes = name_columns(readable, name, "header")
        if not readable:
            raise DataError(f"{name} is a Parquet file without a column of text, numbers or dates")
        table, lines = _read(files, readable, lists, name, watch)
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        raise DataError(f"{name} is a damaged or cut-off Parquet file; write or upload it again") from None
    if not table.num_rows:
        raise no_rows(name, "")
    parsed = Parsed(
        columns,
        compact(table.rename_columns(columns)),
        "Parquet" if len(files) == 1 else f"Parquet, {len(files):,} files",
        first_row=1,
        lines=lines,
        problems=(*notes, *_left_out(shape.left_out(readable), name)),
    )
    return parsed if lists is None else list_columns.recognised(parsed, lists, f"{parsed.kind} with lists")


def read_columns(content: Any, columns: Sequence[str]) -> pa.Table:
    """Some columns of a file, in the form in which :func:`parse` reads them.

    Parameters
    ----------
    content : binary file
    columns : sequence of str
        Paths to one value per row.

    Returns
    -------
    pyarrow Table
        Codes into distinct texts; no nulls.

    Raises
    ------
    pyarrow.ArrowException, OSError, UnicodeDecodeError
        If the file is damaged.
    """
    schema = pq.read_schema(content)
    texts = [field.name for field in schema if field.type in (pa.string(), pa.large_string())]
    file = pq.ParquetFile(content, read_dictionary=texts)
    outer, labels = nested.outer(columns, nested.shape(schema)), _class_labels(schema)
    batches: list[pa.RecordBatch] = []
    for batch in file.iter_batches(batch_size=_BATCH_ROWS, columns=outer):
        batch.validate(full=True)
        arrays = nested.unnest(batch, columns)
        text = [as_text(arrays[path], labels.get(path)) for path in columns]
        batches.append(pa.RecordBatch.from_arrays(text, names=list(columns)))
    return pa.Table.from_batches(batches, pa.schema([pa.field(path, _TEXT) for path in columns]))


def _open(content: bytes) -> pq.ParquetFile:
    schema = pq.read_schema(pa.BufferReader(content))
    texts = [field.name for field in schema if field.type in (pa.string(), pa.large_string())]
    return pq.ParquetFile(pa.BufferReader(content), read_dictionary=texts)


def _lengths(files: Sequence[pq.ParquetFile], shape: nested.Shape) -> dict[str, list_columns.Lengths]:
    """How long the lists of the first rows are."""
    if len(shape.lists) < 2:
        return {}
    batches = (
        batch
        for file in files
        for batch in file.iter_batches(batch_size=_LOOKED_AT, columns=nested.outer(shape.lists, shape))
    )
    first = next((batch for batch in batches if batch.num_rows), None)
    if first is None:
        return {}
    return {path: nested.lengths(array) for path, array in nested.unnest(first, shape.lists).items()}


def _read(
    files: Sequence[pq.ParquetFile],
    paths: list[str],
    lists: list_columns.Lists | None,
    name: str,
    watch: Watch,
) -> tuple[pa.Table, Lines | None]:
    shape = nested.shape(files[0].schema_arrow)
    labels = _class_labels(files[0].schema_arrow)
    schema = pa.schema([pa.field(path, _TEXT) for path in paths])
    rows = sum(file.metadata.num_rows for file in files)
    batches: list[pa.RecordBatch] = []
    lines: list[Lines] = []
    total = done = 0
    for file in files:
        for batch in file.iter_batches(batch_size=_BATCH_ROWS, columns=nested.outer(paths, shape)):
            watch(done, rows)
            batch.validate(full=True)
            arrays = nested.unnest(batch, paths)
            if lists is not None:
                raters = nested.lengths(arrays[lists.rater])
                _same_lengths(arrays, lists, raters, name, done)
                check_size(total + int(raters.sum()) * _CELL_BYTES * len(paths), name)
                lines.append(np.repeat(np.arange(done + 1, done + 1 + batch.num_rows), raters))
            text = [
                _entries(as_text(arrays[path], labels.get(path)), raters)
                if lists is not None and path not in lists.all
                else as_text(_flat(arrays[path], lists, path), labels.get(path))
                for path in paths
            ]
            total += sum(column.nbytes for column in text)
            check_size(total, name)
            batches.append(pa.RecordBatch.from_arrays(text, schema=schema))
            done += batch.num_rows
    return pa.Table.from_batches(batches, schema=schema), np.concatenate(lines) if lines else None


def _flat(column: pa.Array, lists: list_columns.Lists | None, path: str) -> pa.Array:
    return pc.list_flatten(column) if lists is not None and path in lists.all else column


def _entries(column: pa.DictionaryArray, raters: list_columns.Lengths) -> pa.DictionaryArray:
    """A column's cells, each as often as its row has annotations."""
    codes = np.repeat(column.indices.to_numpy(), raters)
    return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), column.dictionary)


def _same_lengths(
    arrays: Mapping[str, pa.Array],
    lists: list_columns.Lists,
    raters: list_columns.Lengths,
    name: str,
    done: int,
) -> None:
    for path in lists.others:
        found = nested.lengths(arrays[path])
        wrong = np.flatnonzero(found != raters)
        if wrong.size:
            at = int(wrong[0])
            raise list_columns.unequal(
                name, done + at + 1, lists.rater, int(raters[at]), path, int(found[at])
            )


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
    return column.type == _TEXT and not column.null_count and not column.dictionary.null_count


def _whole_numbers(column: pa.Array) -> pa.Array:
    """Whole numbers stored as reals because some are missing, as whole numbers again."""
    column = pc.if_else(pc.is_nan(column), None, column)
    try:
        return column.cast(pa.int64())
    except pa.ArrowInvalid:
        return column


def _class_labels(schema: pa.Schema) -> dict[str, list[str]]:
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


def _left_out(columns: list[str], name: str) -> tuple[Problem, ...]:
    if not columns:
        return ()
    return (
        know(
            f"{name}: {number(len(columns), 'column')} without a text form (lists, raw bytes) "
            f"left out: {listed(columns)}",
            len(columns),
            columns,
        ),
    )
