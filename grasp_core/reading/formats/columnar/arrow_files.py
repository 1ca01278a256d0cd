"""Arrow files as text: the file and stream forms (Feather is the first), and Feather's first version."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import pyarrow as pa
import pyarrow.feather

from grasp_core.reading.archives.containers import check_size
from grasp_core.reading.formats.columnar import parquet
from grasp_core.reading.table.parsed import Parsed, Watch

_FILE, _OLD_FEATHER, _STREAM = b"ARROW1", b"FEA1", b"\xff\xff\xff\xff"
_END = _STREAM + bytes(4)
"""The end of a stream; one that was cut between two of its batches lacks it."""


def is_arrow(content: bytes) -> bool:
    """Whether the bytes begin as a file or a stream of Arrow's does."""
    return content.startswith((_FILE, _OLD_FEATHER, _STREAM))


def parse(contents: Sequence[bytes], name: str, watch: Watch) -> Parsed:
    """Read the files of one data set as :func:`grasp_core.reading.formats.columnar.parquet.parse` does.

    Raises DataError if a file is damaged, empty, differs in its columns, unpacks to too much, or has lists of
    unequal length.
    """
    return parquet.of_files(lambda: [_open(content, name) for content in contents], "Arrow", name, watch)


def of_table(table: pa.Table, kind: str, name: str) -> Parsed:
    """Read a table that is in memory, such as a frame's columns; `kind` is what people call it.

    Raises DataError if it is too large, has lists of unequal length, or no column with a text form.
    """
    file = _checked(table.schema, table.to_batches(), name)
    return parquet.of_files(lambda: [file], kind, name, lambda _done, _total: None, file="")


@dataclass(frozen=True, slots=True)
class _Metadata:
    num_rows: int


@dataclass(frozen=True, slots=True, eq=False)
class _ArrowFile:
    """An open file, with what is used of a Parquet file."""

    schema_arrow: pa.Schema
    batches: tuple[pa.RecordBatch, ...]

    @property
    def metadata(self) -> _Metadata:
        """The number of rows."""
        return _Metadata(sum(batch.num_rows for batch in self.batches))

    def iter_batches(
        self, batch_size: int = 1 << 16, *, columns: list[str] | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Rows, at most `batch_size` at a time."""
        for batch in self.batches:
            chosen = batch if columns is None else batch.select(columns)
            for start in range(0, batch.num_rows, batch_size):
                yield chosen.slice(start, batch_size)


def _open(content: bytes, name: str) -> _ArrowFile:
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
        numbered = map(partial(_batch, file), range(file.num_record_batches))
        return _checked(file.schema, numbered, name)


def _batch(file: pa.ipc.RecordBatchFileReader, number: int) -> pa.RecordBatch:
    return file.get_batch(number)


def _checked(
    schema: pa.Schema, batches: Iterator[pa.RecordBatch] | list[pa.RecordBatch], name: str
) -> _ArrowFile:
    """The batches, none of which says more than it holds."""
    found = []
    total = 0
    for batch in batches:
        batch.validate(full=True)
        total += batch.nbytes
        check_size(total, name)
        found.append(batch)
    return _ArrowFile(schema, tuple(found))
