"""Parquet files and folders as text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from grasp_core.model.annotations import Int64Array
from grasp_core.model.errors import DataError, Problem, know
from grasp_core.model.remarks.problems import FileProblem
from grasp_core.reading.archives.containers import check_size
from grasp_core.reading.formats.columnar import column_text
from grasp_core.reading.formats.columnar.column_text import TEXT, as_text, class_labels, vocabulary
from grasp_core.reading.formats.shapes import list_columns
from grasp_core.reading.table.columns import Vocabulary
from grasp_core.reading.table.parsed import Parsed, Watch, compact, name_columns, no_rows

MAGIC = b"PAR1"
_BATCH_ROWS = 1 << 20
_LOOKED_AT = 1_000
_HEAD = 20
"""Rows that tell whether a file is a tool's export."""
_CELL_BYTES = 4


class Source(Protocol):
    """The parts of a file that are used here; Parquet's own files have them."""

    @property
    def schema_arrow(self) -> pa.Schema:
        """Columns, with what their writer said of them."""
        ...

    @property
    def metadata(self) -> Any:
        """Holds `num_rows`."""
        ...

    def iter_batches(
        self, batch_size: int = ..., *, columns: list[str] | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Rows, a piece at a time."""
        ...


def parse(contents: Sequence[bytes], name: str, watch: Watch) -> Parsed:
    """Read the files of one Parquet data set; nulls become empty text, whole numbers lose a trailing ``.0``.

    Fields of a structure become columns ``outer.inner``. Where a list of rater ids and lists of the same
    length stand in a row, each entry gets a row. Other columns without a text form (lists, raw bytes) are
    left out and reported. Class labels, as Hugging Face `datasets` saves them, become their names.

    Raises DataError if a file is damaged, empty, differs in its columns, unpacks to too much, or has lists of
    unequal length.
    """
    return of_files(lambda: [_open(content) for content in contents], "Parquet", name, watch)


def of_files(
    opened: Callable[[], Sequence[Source]], form: str, name: str, watch: Watch, *, file: str = " file"
) -> Parsed:
    """Read the files of one data set, as :func:`parse` does those of Parquet.

    `opened`: opens them; may raise what Arrow raises.
    `form`: what they are, e.g. "Parquet".
    `file`: what follows the form in messages.

    Raises DataError.
    """
    try:
        files = opened()
        first = files[0].schema_arrow
        for one in files:
            if one.schema_arrow.names != first.names:
                raise DataError(f"{name}: its files have different columns; read one of them alone")
        shape = column_text.shape(first)
        of_tool = _of_tool(files, shape, form, name)
        if of_tool is not None:
            return of_tool
        lists = list_columns.parallel(_lengths(files, shape))
        readable = [*shape.scalars, *(lists.all if lists else ())]
        if not readable:
            raise DataError(f"{name} is {_a(form)}{file} without a column of text, numbers or dates")
        columns, notes = name_columns(readable, name, "header")
        table, lines, known = _read(files, readable, lists, name, watch)
    except MemoryError:  # Arrow's own is an ArrowException too
        raise
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        raise DataError(f"{name} is a damaged or cut-off {form}{file}; write or upload it again") from None
    if not table.num_rows:
        raise no_rows(name)
    parsed = Parsed(
        columns,
        compact(table.rename_columns(columns)),
        form if len(files) == 1 else f"{form}, {len(files):,} files",
        first_row=1,
        lines=lines,
        problems=(*notes, *_left_out(shape.left_out(readable), name)),
        vocabularies=tuple(
            replace(known[path], column=column)
            for path, column in zip(readable, columns, strict=True)
            if path in known
        ),
    )
    return parsed if lists is None else list_columns.recognised(parsed, lists, f"{parsed.kind} with lists")


def _a(form: str) -> str:
    return f"an {form}" if form.startswith("A") else f"a {form}"


def _of_tool(files: Sequence[Source], shape: column_text.Shape, form: str, name: str) -> Parsed | None:
    """A tool's export whose cells are lists or objects, which its reader for JSON knows; None for others."""
    if not shape.lists and not shape.other:
        return None
    labels = class_labels(files[0].schema_arrow)
    first = next((batch for file in files for batch in file.iter_batches(_HEAD) if batch.num_rows), None)
    if first is None:
        return None
    from grasp_core.reading.formats import registry  # all tools' readers, of which most files need none

    if not registry.takes_lists(list(column_text.of_batches([first], labels, name))):
        return None
    batches = (batch for file in files for batch in file.iter_batches(_LOOKED_AT))
    return registry.of_lists(list(column_text.of_batches(batches, labels, name)), name, form)


def _open(content: bytes) -> pq.ParquetFile:
    schema = pq.read_schema(pa.BufferReader(content))
    texts = [field.name for field in schema if field.type in (pa.string(), pa.large_string())]
    return pq.ParquetFile(pa.BufferReader(content), read_dictionary=texts)


def _lengths(files: Sequence[Source], shape: column_text.Shape) -> dict[str, Int64Array]:
    """How long the lists of the first rows are."""
    if len(shape.lists) < 2:
        return {}
    batches = (
        batch
        for file in files
        for batch in file.iter_batches(batch_size=_LOOKED_AT, columns=column_text.outer(shape.lists, shape))
    )
    first = next((batch for batch in batches if batch.num_rows), None)
    if first is None:
        return {}
    return {
        path: column_text.lengths(array) for path, array in column_text.unnest(first, shape.lists).items()
    }


def _read(
    files: Sequence[Source],
    paths: list[str],
    lists: list_columns.Lists | None,
    name: str,
    watch: Watch,
) -> tuple[pa.Table, Int64Array | None, dict[str, Vocabulary]]:
    """All rows, their numbers where rows have several, and the values that types of columns name."""
    shape = column_text.shape(files[0].schema_arrow)
    labels = class_labels(files[0].schema_arrow)
    schema = pa.schema([pa.field(path, TEXT) for path in paths])
    rows = sum(file.metadata.num_rows for file in files)
    batches: list[pa.RecordBatch] = []
    lines: list[Int64Array] = []
    known: dict[str, Vocabulary] = {}
    total = done = 0
    for file in files:
        for batch in file.iter_batches(batch_size=_BATCH_ROWS, columns=column_text.outer(paths, shape)):
            watch(done, rows)
            batch.validate(full=True)
            arrays = column_text.unnest(batch, paths)
            for path in paths if not batches else ():
                if (one := vocabulary(arrays[path], path, file.schema_arrow)) is not None:
                    known[path] = one
            if lists is not None:
                raters = column_text.lengths(arrays[lists.rater])
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
    numbers = np.concatenate(lines) if lines else None
    return pa.Table.from_batches(batches, schema=schema), numbers, known


def _flat(column: pa.Array, lists: list_columns.Lists | None, path: str) -> pa.Array:
    return pc.list_flatten(column) if lists is not None and path in lists.all else column


def _entries(column: pa.DictionaryArray, raters: Int64Array) -> pa.DictionaryArray:
    """A column's cells, each as often as its row has annotations."""
    codes = np.repeat(column.indices.to_numpy(), raters)
    return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), column.dictionary)


def _same_lengths(
    arrays: Mapping[str, pa.Array],
    lists: list_columns.Lists,
    raters: Int64Array,
    name: str,
    done: int,
) -> None:
    for path in lists.others:
        found = column_text.lengths(arrays[path])
        wrong = np.flatnonzero(found != raters)
        if wrong.size:
            at = int(wrong[0])
            raise list_columns.unequal(
                name, done + at + 1, lists.rater, int(raters[at]), path, int(found[at])
            )


def _left_out(columns: list[str], name: str) -> tuple[Problem, ...]:
    if not columns:
        return ()
    remark = FileProblem.COLUMNS_WITHOUT_TEXT(file=name, count=len(columns), columns=tuple(columns))
    return (know(remark, len(columns), columns),)
