"""Reading of Parquet, Arrow and Feather as text: columns, nested values, files, and saved data sets."""

import datetime
import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.feather
import pyarrow.parquet as pq

from grasp_core.model.annotations import Int64Array
from grasp_core.model.errors import DataError, know
from grasp_core.model.remarks.problems import FileProblem
from grasp_core.model.text import listed, quoted
from grasp_core.reading.archives.containers import Archive, check_size
from grasp_core.reading.archives.stack import Member, together
from grasp_core.reading.files import json_files
from grasp_core.reading.files.json_files import Record, whole_characters
from grasp_core.reading.formats.shapes.lists import Lists, parallel, recognised
from grasp_core.reading.table.columns import Vocabulary, compact
from grasp_core.reading.table.parsed import Watch, name_columns, no_rows, unwatched
from grasp_core.reading.table.table import Parsed

# Columns

TEXT = pa.dictionary(pa.int32(), pa.string())  # the type of a column of text
OF_PANDAS = {b"pandas": b"{}"}
"""Metadata of a frame's columns; in pandas, codes into values are a type that a person chose."""
_MOST_VALUES = 1_000  # most values of a scale or a list of labels


def as_text(column: pa.Array, labels: Sequence[str] | None = None) -> pa.DictionaryArray:
    """Return a column as codes into distinct texts; `labels` are the names of its classes, if it has any."""
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


def _vocabulary(column: pa.Array, name: str, schema: pa.Schema) -> Vocabulary | None:
    """Return the values that a column's type names, if a person chose it; None if codes only save memory."""
    kind = column.type
    if not pa.types.is_dictionary(kind) or not 0 < len(column.dictionary) <= _MOST_VALUES:
        return None
    if not kind.ordered and b"pandas" not in (schema.metadata or {}):
        return None
    values = as_text(column.dictionary).dictionary_decode().to_pylist()
    return Vocabulary(name, tuple(values), kind.ordered) if len(set(values)) == len(values) else None


def _class_labels(schema: pa.Schema) -> dict[str, list[str]]:
    """Return names of classes by path, if Hugging Face `datasets` wrote them into the file."""
    try:
        about = json.loads(whole_characters((schema.metadata or {})[b"huggingface"].decode()))
        return dict(_labels_inside(about["info"]["features"], ""))
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        return {}


def _labels_inside(feature: Any, path: str) -> Iterator[tuple[str, list[str]]]:
    """Yield class labels in a feature: in `Sequence` and `List`, in lists of one, and in structures."""
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


# Nested values: a path is a column's name, or names joined by dots


class _Leaf(NamedTuple):
    """A path with its column, and its kind: one value per row, a list, or neither."""

    path: str
    column: str
    kind: Literal["scalar", "list", "other"]


def _leaves(schema: pa.Schema) -> list[_Leaf]:
    """Return every path of a schema."""

    def inside(path: str, kind: pa.DataType, column: str, in_list: bool) -> Iterator[_Leaf]:
        if pa.types.is_struct(kind) and kind.num_fields:
            for field in kind.fields:
                yield from inside(f"{path}.{field.name}", field.type, column, in_list)
        elif _is_list(kind) and not in_list:
            yield from inside(path, kind.value_type, column, True)
        else:
            yield _Leaf(path, column, "other" if not _has_text(kind) else "list" if in_list else "scalar")

    return [leaf for field in schema for leaf in inside(field.name, field.type, field.name, False)]


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def _has_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        return _has_text(kind.value_type)
    if isinstance(kind, pa.BaseExtensionType):
        return _has_text(kind.storage_type)
    return not (pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def _unnested(batch: pa.RecordBatch) -> dict[str, pa.Array]:
    """Return the values of each path, one per row."""
    columns = zip(batch.schema.names, batch.columns, strict=True)
    return dict(pair for name, column in columns for pair in _arrays(name, column))


def _arrays(path: str, array: pa.Array) -> Iterator[tuple[str, pa.Array]]:
    kind = array.type
    if pa.types.is_struct(kind) and kind.num_fields:
        for field, inner in zip(kind.fields, array.flatten(), strict=True):
            yield from _arrays(f"{path}.{field.name}", inner)
    elif _is_list(kind) and pa.types.is_struct(kind.value_type) and kind.value_type.num_fields:
        bounds = np.concatenate([[0], np.cumsum(_lengths(array))])
        for inner_path, inner in _arrays(path, pc.list_flatten(array)):
            if not _is_list(inner.type):
                yield inner_path, pa.LargeListArray.from_arrays(pa.array(bounds, pa.int64()), inner)
    else:
        yield path, array


def _lengths(array: pa.Array) -> Int64Array:
    """Return the number of entries of each list, shape (n,), 0 for a missing list."""
    counts: Int64Array = pc.fill_null(pc.list_value_length(array), 0).to_numpy().astype(np.int64)
    return counts


# Records


def _records(batches: Iterable[pa.RecordBatch], schema: pa.Schema, name: str) -> list[Record]:
    """Return the rows as :mod:`json_files` does; raw bytes are left out, NaN is no value."""
    labels = _class_labels(schema)
    found: list[Record] = []
    values = 0
    for batch in batches:
        values += sum(map(_values, batch.columns))
        if values > json_files.MAX_VALUES:
            raise DataError(
                f"{name} holds lists of more than {json_files.MAX_VALUES:,} values in all, the most that "
                "is read; split it, or write a row per annotation"
            )
        rows = batch.to_pylist()
        found += [{field: _value(cell, labels, field) for field, cell in row.items()} for row in rows]
    return found


def _values(array: pa.Array) -> int:
    """Count the values in an array, including values inside lists and structures."""
    if pa.types.is_struct(array.type):
        return len(array) + sum(map(_values, array.flatten()))
    if pa.types.is_list(array.type) or pa.types.is_large_list(array.type):
        return len(array) + _values(array.flatten())
    if pa.types.is_fixed_size_list(array.type):
        return len(array) * (1 + int(array.type.list_size))
    return len(array)


def _value(value: Any, labels: Mapping[str, Sequence[str]], path: str) -> Any:
    """Convert a value; classes of a list apply to its entries."""
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


# Files

_BATCH_ROWS = 1 << 20
_LOOKED_AT = 1_000
_HEAD = 20  # number of first rows that show whether a file is a tool's export
_CELL_BYTES = 4
_FILE, _OLD_FEATHER, _STREAM = b"ARROW1", b"FEA1", b"\xff\xff\xff\xff"
_END = _STREAM + bytes(4)  # the end of a stream; a stream that was cut between two batches lacks it
Form = Literal["Parquet", "Arrow"]


class _File(NamedTuple):
    """An open file; `batches` yields all rows, a given number at a time, with some columns or all."""

    schema: pa.Schema
    rows: int
    batches: Callable[[int, Sequence[str] | None], Iterator[pa.RecordBatch]]


def form_of(content: bytes) -> Form | None:
    """Return the form of a file by its first bytes; None for others."""
    if content.startswith(b"PAR1"):
        return "Parquet"
    return "Arrow" if content.startswith((_FILE, _OLD_FEATHER, _STREAM)) else None


def parse(contents: Sequence[bytes], form: Form, name: str, watch: Watch) -> Parsed:
    """Read the files of one data set as text, and of a row with lists of raters and labels each entry."""
    opens = _open_parquet if form == "Parquet" else _open_arrow
    return _of_files(lambda: [opens(content, name) for content in contents], form, name, watch)


def of_table(table: pa.Table, kind: str, name: str) -> Parsed:
    """Read a table in memory, such as a frame's columns; `kind` is its name for people."""
    file = _checked(table.schema, table.to_batches(), name)
    return _of_files(lambda: [file], kind, name, unwatched, file="")


def _of_files(
    opened: Callable[[], Sequence[_File]], form: str, name: str, watch: Watch, *, file: str = " file"
) -> Parsed:
    """Read the files from `opened`, which may raise Arrow's errors; `file` follows the form in messages."""
    try:
        files = opened()
        schema = files[0].schema
        if any(one.schema.names != schema.names for one in files):
            raise DataError(f"{name}: its files have different columns; read one of them alone")
        if len(set(schema.names)) < len(schema.names):
            twice = next(one for one in schema.names if schema.names.count(one) > 1)
            raise DataError(f"{name} has several columns called {quoted(twice)}; rename all but one")
        leaves = _leaves(schema)
        of_tool = _of_tool(files, leaves, form, name)
        if of_tool is not None:
            return of_tool
        lists = _lists(files, leaves)
        readable = [leaf.path for leaf in leaves if leaf.kind == "scalar"] + [*(lists.all if lists else ())]
        if not readable:
            raise DataError(
                f"{name} is {'an' if form.startswith('A') else 'a'} {form}{file} without a column of "
                "text, numbers or dates"
            )
        columns, notes = name_columns(readable, name, "header")
        table, lines, known = _read(files, readable, lists, name, watch)
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        raise DataError(f"{name} is a damaged or cut-off {form}{file}; write or upload it again") from None
    if not table.num_rows:
        raise no_rows(name)
    beside = sorted((leaf for leaf in leaves if leaf.kind != "scalar"), key=lambda leaf: leaf.kind)
    if left_out := [leaf.path for leaf in beside if leaf.path not in readable]:
        remark = FileProblem.COLUMNS_WITHOUT_TEXT(file=name, count=len(left_out), columns=tuple(left_out))
        notes = [*notes, know(remark, len(left_out), left_out)]
    shown = dict(zip(readable, columns, strict=True))
    parsed = Parsed(
        compact(table.rename_columns(columns)),
        form if len(files) == 1 else f"{form}, {len(files):,} files",
        first_row=1,
        lines=lines,
        problems=tuple(notes),
        vocabularies=tuple(replace(known[path], column=shown[path]) for path in readable if path in known),
    )
    return parsed if lists is None else recognised(parsed, lists, f"{parsed.kind} with lists")


def _of_tool(files: Sequence[_File], leaves: Sequence[_Leaf], form: str, name: str) -> Parsed | None:
    """Read a tool's export with lists or objects in cells by the tool's reader for JSON; None for others."""
    first = _first_batch(files, _HEAD, None) if any(leaf.kind != "scalar" for leaf in leaves) else None
    if first is None:
        return None
    from grasp_core.reading.formats import registry  # loads all tools' readers, which most files do not need

    schema = files[0].schema
    if not registry.takes_lists(_records([first], schema, name)):
        return None
    batches = (batch for file in files for batch in file.batches(_LOOKED_AT, None))
    return registry.of_lists(_records(batches, schema, name), name, form)


def _lists(files: Sequence[_File], leaves: Sequence[_Leaf]) -> Lists | None:
    """Return the lists of annotations, found by their lengths in the first rows."""
    found = {leaf.path: leaf.column for leaf in leaves if leaf.kind == "list"}
    first = _first_batch(files, _LOOKED_AT, list(dict.fromkeys(found.values()))) if len(found) > 1 else None
    if first is None:
        return None
    arrays = _unnested(first)
    return parallel({path: _lengths(arrays[path]) for path in arrays if path in found})


def _first_batch(files: Sequence[_File], rows: int, columns: Sequence[str] | None) -> pa.RecordBatch | None:
    batches = (batch for file in files for batch in file.batches(rows, columns))
    return next((batch for batch in batches if batch.num_rows), None)


def _read(
    files: Sequence[_File], paths: Sequence[str], lists: Lists | None, name: str, watch: Watch
) -> tuple[pa.Table, Int64Array | None, dict[str, Vocabulary]]:
    """Return all rows, their row numbers if lists became rows, and the values that columns' types name."""
    column_of = {leaf.path: leaf.column for leaf in _leaves(files[0].schema)}
    columns = list(dict.fromkeys(column_of[path] for path in paths))
    labels = _class_labels(files[0].schema)
    schema = pa.schema([pa.field(path, TEXT) for path in paths])
    rows = sum(file.rows for file in files)
    batches: list[pa.RecordBatch] = []
    lines: list[Int64Array] = []
    known: dict[str, Vocabulary] = {}
    total = done = 0
    for file in files:
        for batch in file.batches(_BATCH_ROWS, columns):
            watch(done, rows)
            batch.validate(full=True)
            arrays = _unnested(batch)
            for path in paths if not batches else ():
                if (one := _vocabulary(arrays[path], path, file.schema)) is not None:
                    known[path] = one
            if lists is not None:
                numbers = np.arange(done + 1, done + 1 + batch.num_rows)
                raters = lists.entries({path: _lengths(arrays[path]) for path in lists.all}, numbers, name)
                check_size(total + int(raters.sum()) * _CELL_BYTES * len(paths), name)
                lines.append(np.repeat(numbers, raters))
            text = []
            for path in paths:
                in_list = lists is not None and path in lists.all
                array = pc.list_flatten(arrays[path]) if in_list else arrays[path]
                column = as_text(array, labels.get(path))
                if lists is not None and not in_list:  # each cell once per annotation of its row
                    codes = pa.array(np.repeat(column.indices.to_numpy(), raters), pa.int32())
                    column = pa.DictionaryArray.from_arrays(codes, column.dictionary)
                text.append(column)
            total += sum(column.nbytes for column in text)
            check_size(total, name)
            batches.append(pa.RecordBatch.from_arrays(text, schema=schema))
            done += batch.num_rows
    table = pa.Table.from_batches(batches, schema=schema)
    return table, np.concatenate(lines) if lines else None, known


def _open_parquet(content: bytes, _name: str) -> _File:
    schema = pq.read_schema(pa.BufferReader(content))
    texts = [field.name for field in schema if field.type in (pa.string(), pa.large_string())]
    file = pq.ParquetFile(pa.BufferReader(content), read_dictionary=texts)
    rows = file.metadata.num_rows
    return _File(file.schema_arrow, rows, lambda size, columns: file.iter_batches(size, columns=columns))


def _open_arrow(content: bytes, name: str) -> _File:
    if content.startswith(_OLD_FEATHER):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # this form is old
            table = pyarrow.feather.read_table(pa.BufferReader(content))
        return _checked(table.schema, table.to_batches(), name)
    if content.startswith(_STREAM):
        if not content.endswith(_END):
            raise pa.ArrowInvalid("the end is missing")
        with pa.ipc.open_stream(pa.BufferReader(content)) as stream:
            return _checked(stream.schema, stream, name)
    with pa.ipc.open_file(pa.BufferReader(content)) as file:
        numbered = map(file.get_batch, range(file.num_record_batches))
        return _checked(file.schema, numbered, name)


def _checked(schema: pa.Schema, batches: Iterable[pa.RecordBatch], name: str) -> _File:
    """Open batches as a file, and check that each is valid and that all are not too large together."""
    found = []
    total = 0
    for batch in batches:
        batch.validate(full=True)
        total += batch.nbytes
        check_size(total, name)
        found.append(batch)

    whole = pa.Table.from_batches(found, schema)

    def pieces(size: int, columns: Sequence[str] | None) -> Iterator[pa.RecordBatch]:
        return iter(whole.select(columns or whole.column_names).to_batches(max_chunksize=size))

    return _File(schema, whole.num_rows, pieces)


# Folders that Hugging Face `datasets` saves with `save_to_disk`, packed as an archive

_STATE, _INFO, _SPLITS = "state.json", "dataset_info.json", "dataset_dict.json"
_WRITE_AGAIN = "save it again with save_to_disk, or write it with to_parquet or to_csv"


def read_saved(archive: Archive, chosen: str | None, watch: Watch) -> Parsed | None:
    """Read a saved data set: splits that fit together, or the first or `chosen`; None for others."""
    names, name = archive.names, archive.name
    states, infos = (
        {PurePosixPath(path).parent for path in names if PurePosixPath(path).name == file}
        for file in (_STATE, _INFO)
    )
    splits = {folder.name or "data": str(folder) for folder in sorted(states & infos)}
    if not splits:
        return None
    about = next((path for path in names if PurePosixPath(path).name == _SPLITS), None)
    told = _json(archive, about).get("splits") if about is not None else None
    ordered = [split for split in told if split in splits] if isinstance(told, list) else []
    ordered = ordered or list(splits)
    if chosen is not None and chosen not in ordered:
        raise DataError(f"{name} holds no split {quoted(chosen)}; its splits are {listed(ordered)}")
    wanted = ordered if chosen is None else [chosen]
    tables = [Member(split, _saved_table(splits[split], archive, watch)) for split in wanted]
    if len(ordered) == 1:
        return tables[0].parsed
    parsed = together(tables, [], name, "split")
    return replace(parsed, members=tuple(ordered), member=parsed.member if chosen is None else chosen)


def _saved_table(folder: str, archive: Archive, watch: Watch) -> Parsed:
    within = "" if folder == "." else f"{folder}/"
    shown = f"{archive.name}, {folder}" if within else archive.name
    state = _json(archive, f"{within}{_STATE}")
    if state.get("_indices_data_files"):
        raise DataError(f"{shown}: this data set keeps a selection of its rows apart; {_WRITE_AGAIN}")
    files = state.get("_data_files")
    listed_files = files if isinstance(files, list) else []
    paths = [f"{within}{file.get('filename')}" for file in listed_files if isinstance(file, dict)]
    gone = [path for path in paths if path not in archive.names]
    if gone or not paths:
        what = f"lacks {listed(gone)}" if gone else f"names no data files in its {_STATE}"
        raise DataError(f"{shown}: this saved data set {what}; {_WRITE_AGAIN}")
    parsed = parse([archive.member(path) for path in paths], "Arrow", shown, watch)
    return replace(parsed, kind=parsed.kind.replace("Arrow", "Hugging Face dataset"))


def _json(archive: Archive, path: str) -> dict[str, Any]:
    with suppress(ValueError, RecursionError):
        found = json.loads(archive.member(path))
        if isinstance(found, dict):
            return found
    raise DataError(f"{archive.name}, {path}: a damaged description of a data set; {_WRITE_AGAIN}")
