"""Parquet, Arrow and Feather as text: files, streams, the files of one data set."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.feather
import pyarrow.parquet as pq

from grasp_core.model.annotations import Int64Array
from grasp_core.model.errors import DataError, know
from grasp_core.model.remarks.problems import FileProblem
from grasp_core.model.text import listed, quoted
from grasp_core.reading.archives.containers import check_size
from grasp_core.reading.archives.stack import Member, together
from grasp_core.reading.formats import column_text
from grasp_core.reading.formats.column_text import TEXT, as_text, class_labels, vocabulary
from grasp_core.reading.formats.shapes.lists import Lists, parallel, recognised
from grasp_core.reading.table.columns import Vocabulary
from grasp_core.reading.table.parsed import Parsed, Watch, compact, name_columns, no_rows

_BATCH_ROWS = 1 << 20
_LOOKED_AT = 1_000
_HEAD = 20
"""Rows that tell whether a file is a tool's export."""
_CELL_BYTES = 4
_FILE, _OLD_FEATHER, _STREAM = b"ARROW1", b"FEA1", b"\xff\xff\xff\xff"
_END = _STREAM + bytes(4)
"""The end of a stream; one that was cut between two of its batches lacks it."""
Form = Literal["Parquet", "Arrow"]
_STATE, _INFO, _SPLITS = "state.json", "dataset_info.json", "dataset_dict.json"
_WRITE_AGAIN = "save it again with save_to_disk, or write it with to_parquet or to_csv"
_Member = Callable[[str], bytes]


@dataclass(frozen=True, slots=True, eq=False)
class _File:
    """An open file.

    `batches`: all rows, at most so many at a time, of some columns or all.
    """

    schema: pa.Schema
    rows: int
    batches: Callable[[int, Sequence[str] | None], Iterator[pa.RecordBatch]]


def form_of(content: bytes) -> Form | None:
    """The form that the bytes begin as; None for others."""
    if content.startswith(b"PAR1"):
        return "Parquet"
    return "Arrow" if content.startswith((_FILE, _OLD_FEATHER, _STREAM)) else None


def parse(contents: Sequence[bytes], form: Form, name: str, watch: Watch) -> Parsed:
    """Read the files of one data set; nulls become empty text, whole numbers lose a trailing ``.0``.

    Fields of a structure become columns ``outer.inner``. Where a list of rater ids and lists of the same
    length stand in a row, each entry gets a row. Other columns without a text form (lists, raw bytes) are
    left out and reported. Class labels, as Hugging Face `datasets` saves them, become their names.
    """
    opens = _open_parquet if form == "Parquet" else _open_arrow
    return _of_files(lambda: [opens(content, name) for content in contents], form, name, watch)


def _of_files(
    opened: Callable[[], Sequence[_File]], form: str, name: str, watch: Watch, *, file: str = " file"
) -> Parsed:
    """Read the files of one data set, as :func:`parse` does those of Parquet.

    `opened`: opens them; may raise what Arrow raises.
    `form`: what they are, e.g. "Parquet".
    `file`: what follows the form in messages.
    """
    try:
        files = opened()
        first = files[0].schema
        for one in files:
            if one.schema.names != first.names:
                raise DataError(f"{name}: its files have different columns; read one of them alone")
        shape = column_text.shape(first)
        of_tool = _of_tool(files, shape, form, name)
        if of_tool is not None:
            return of_tool
        lists = parallel(_lengths(files, shape))
        readable = [*shape.scalars, *(lists.all if lists else ())]
        if not readable:
            raise DataError(
                f"{name} is {'an' if form.startswith('A') else 'a'} {form}{file} without a column of "
                "text, numbers or dates"
            )
        columns, notes = name_columns(readable, name, "header")
        table, lines, known = _read(files, readable, lists, name, watch)
    except MemoryError:  # Arrow's own is an ArrowException too
        raise
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        raise DataError(f"{name} is a damaged or cut-off {form}{file}; write or upload it again") from None
    if not table.num_rows:
        raise no_rows(name)
    if left_out := shape.left_out(readable):
        remark = FileProblem.COLUMNS_WITHOUT_TEXT(file=name, count=len(left_out), columns=tuple(left_out))
        notes = [*notes, know(remark, len(left_out), left_out)]
    parsed = Parsed(
        columns,
        compact(table.rename_columns(columns)),
        form if len(files) == 1 else f"{form}, {len(files):,} files",
        first_row=1,
        lines=lines,
        problems=tuple(notes),
        vocabularies=tuple(
            replace(known[path], column=column)
            for path, column in zip(readable, columns, strict=True)
            if path in known
        ),
    )
    return parsed if lists is None else recognised(parsed, lists, f"{parsed.kind} with lists")


def _of_tool(files: Sequence[_File], shape: column_text.Shape, form: str, name: str) -> Parsed | None:
    """A tool's export whose cells are lists or objects, which its reader for JSON knows; None for others."""
    if not shape.lists and not shape.other:
        return None
    labels = class_labels(files[0].schema)
    first = _first_batch(files, _HEAD, None)
    if first is None:
        return None
    from grasp_core.reading.formats import registry  # all tools' readers, of which most files need none

    if not registry.takes_lists(list(column_text.of_batches([first], labels, name))):
        return None
    batches = (batch for file in files for batch in file.batches(_LOOKED_AT, None))
    return registry.of_lists(list(column_text.of_batches(batches, labels, name)), name, form)


def _first_batch(files: Sequence[_File], rows: int, columns: Sequence[str] | None) -> pa.RecordBatch | None:
    batches = (batch for file in files for batch in file.batches(rows, columns))
    return next((batch for batch in batches if batch.num_rows), None)


def _open_parquet(content: bytes, _name: str) -> _File:
    schema = pq.read_schema(pa.BufferReader(content))
    texts = [field.name for field in schema if field.type in (pa.string(), pa.large_string())]
    file = pq.ParquetFile(pa.BufferReader(content), read_dictionary=texts)
    return _File(
        file.schema_arrow,
        file.metadata.num_rows,
        lambda size, columns: file.iter_batches(size, columns=columns),
    )


def _lengths(files: Sequence[_File], shape: column_text.Shape) -> dict[str, Int64Array]:
    """How long the lists of the first rows are."""
    if len(shape.lists) < 2:
        return {}
    first = _first_batch(files, _LOOKED_AT, column_text.outer(shape.lists, shape))
    if first is None:
        return {}
    return {
        path: column_text.lengths(array) for path, array in column_text.unnest(first, shape.lists).items()
    }


def _read(
    files: Sequence[_File], paths: list[str], lists: Lists | None, name: str, watch: Watch
) -> tuple[pa.Table, Int64Array | None, dict[str, Vocabulary]]:
    """All rows, their numbers where rows have several, and the values that types of columns name."""
    shape = column_text.shape(files[0].schema)
    labels = class_labels(files[0].schema)
    schema = pa.schema([pa.field(path, TEXT) for path in paths])
    rows = sum(file.rows for file in files)
    batches: list[pa.RecordBatch] = []
    lines: list[Int64Array] = []
    known: dict[str, Vocabulary] = {}
    total = done = 0
    for file in files:
        for batch in file.batches(_BATCH_ROWS, column_text.outer(paths, shape)):
            watch(done, rows)
            batch.validate(full=True)
            arrays = column_text.unnest(batch, paths)
            for path in paths if not batches else ():
                if (one := vocabulary(arrays[path], path, file.schema)) is not None:
                    known[path] = one
            if lists is not None:
                numbers = np.arange(done + 1, done + 1 + batch.num_rows)
                found = {path: column_text.lengths(arrays[path]) for path in lists.all}
                raters = lists.entries(found, numbers, name)
                check_size(total + int(raters.sum()) * _CELL_BYTES * len(paths), name)
                lines.append(np.repeat(numbers, raters))
            text = []
            for path in paths:
                in_list = lists is not None and path in lists.all
                array = pc.list_flatten(arrays[path]) if in_list else arrays[path]
                column = as_text(array, labels.get(path))
                if lists is not None and not in_list:  # each cell as often as its row has annotations
                    codes = pa.array(np.repeat(column.indices.to_numpy(), raters), pa.int32())
                    column = pa.DictionaryArray.from_arrays(codes, column.dictionary)
                text.append(column)
            total += sum(column.nbytes for column in text)
            check_size(total, name)
            batches.append(pa.RecordBatch.from_arrays(text, schema=schema))
            done += batch.num_rows
    table = pa.Table.from_batches(batches, schema=schema)
    return table, np.concatenate(lines) if lines else None, known


# Arrow


def of_table(table: pa.Table, kind: str, name: str) -> Parsed:
    """Read a table that is in memory, such as a frame's columns; `kind` is what people call it."""
    file = _checked(table.schema, table.to_batches(), name)
    return _of_files(lambda: [file], kind, name, lambda _done, _total: None, file="")


def _open_arrow(content: bytes, name: str) -> _File:
    if content.startswith(_OLD_FEATHER):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # that files of this form are old
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
    """The batches, none of which says more than it holds."""
    found = []
    total = 0
    for batch in batches:
        batch.validate(full=True)
        total += batch.nbytes
        check_size(total, name)
        found.append(batch)

    def pieces(size: int, columns: Sequence[str] | None) -> Iterator[pa.RecordBatch]:
        for batch in found:
            chosen = batch if columns is None else batch.select(list(columns))
            for start in range(0, batch.num_rows, size):
                yield chosen.slice(start, size)

    return _File(schema, sum(batch.num_rows for batch in found), pieces)


# Folders that Hugging Face `datasets` saves with `save_to_disk`, packed as an archive


def read_saved(
    names: Sequence[str], member: _Member, name: str, chosen: str | None, watch: Watch
) -> Parsed | None:
    """A saved data set, or the splits of several that make one; None for other archives.

    Splits that hold raters and no annotation twice are read as one table, with a column that says which. Else
    the first is read, and the others are named; `chosen` chooses one.
    """
    folders = [
        {PurePosixPath(path).parent for path in names if PurePosixPath(path).name == file}
        for file in (_STATE, _INFO)
    ]
    splits = {folder.name or "data": str(folder) for folder in sorted(folders[0] & folders[1])}
    if not splits:
        return None
    about = next((path for path in names if PurePosixPath(path).name == _SPLITS), None)
    told = _json(member(about), name, about).get("splits") if about is not None else None
    ordered = [split for split in told if split in splits] if isinstance(told, list) else []
    ordered = ordered or list(splits)
    if chosen is not None and chosen not in ordered:
        raise DataError(f"{name} holds no split {quoted(chosen)}; its splits are {listed(ordered)}")
    wanted = ordered if chosen is None else [chosen]
    tables = [Member(split, _saved_table(splits[split], names, member, name, watch)) for split in wanted]
    if len(ordered) == 1:
        return tables[0].parsed
    parsed = together(tables, [], name, "split")
    return replace(parsed, members=tuple(ordered), member=parsed.member if chosen is None else chosen)


def _saved_table(folder: str, names: Sequence[str], member: _Member, name: str, watch: Watch) -> Parsed:
    within = "" if folder == "." else f"{folder}/"
    shown = f"{name}, {folder}" if within else name
    state = _json(member(f"{within}{_STATE}"), name, f"{within}{_STATE}")
    if state.get("_indices_data_files"):
        raise DataError(f"{shown}: this data set keeps a selection of its rows apart; {_WRITE_AGAIN}")
    files = state.get("_data_files")
    listed_files = files if isinstance(files, list) else []
    paths = [f"{within}{file.get('filename')}" for file in listed_files if isinstance(file, dict)]
    gone = [path for path in paths if path not in names]
    if gone or not paths:
        what = f"lacks {listed(gone)}" if gone else f"names no data files in its {_STATE}"
        raise DataError(f"{shown}: this saved data set {what}; {_WRITE_AGAIN}")
    parsed = parse([member(path) for path in paths], "Arrow", shown, watch)
    return replace(parsed, kind=parsed.kind.replace("Arrow", "Hugging Face dataset"))


def _json(content: bytes, name: str, path: str) -> dict[str, Any]:
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise DataError(f"{name}, {path}: a damaged description of a data set; {_WRITE_AGAIN}")
    return found
