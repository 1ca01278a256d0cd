"""Parquet files in any order of rows, written again so that each item's annotations lie in one file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from grasp_core.errors import DataError
from grasp_core.io.formats.columnar.column_text import as_text
from grasp_core.io.parts.partitions import Parts, opened
from grasp_core.io.parts.scan import hashes_of
from grasp_core.io.sources import remote
from grasp_core.io.table.columns import Column
from grasp_core.wording import closest, listed, quoted

FILE_ROWS = 5_000_000
"""Rows that a written file has, about."""
_BATCH_ROWS = 1 << 20
BUFFER_BYTES = 512 * 2**20
"""Rows wait in memory up to so many bytes, so that few large pieces are written."""


def repartition(
    parts: Parts,
    target: Path,
    item: str,
    *,
    file_rows: int = FILE_ROWS,
    watch: Callable[[int], None] = lambda _rows: None,
) -> int:
    """Write a data set's rows into files by a hash of the item's id, in one pass and bounded memory.

    Parameters
    ----------
    parts : Parts
    target : Path
        A folder that does not exist yet.
    item : str
        Column of the items' ids.
    file_rows : int
        Rows per file, about.
    watch : callable, optional
        Told how many rows were read.

    Returns
    -------
    int
        Files written.

    Raises
    ------
    DataError
        If the column does not exist, a file is damaged, or the folder cannot be written.
    """
    if item not in parts.columns:
        close = closest(item, parts.columns)
        raise DataError(
            f"{parts.name} has no column {quoted(item)}; its columns are {listed(close or parts.columns, 20)}"
        )
    n_files = max(-(-parts.rows // file_rows), 1)
    unfinished = target.with_name(f".{target.name}.unfinished")
    try:
        if target.exists():
            raise DataError(f"{target} exists already; name a folder that does not")
        unfinished.mkdir(exist_ok=True)
        _write(_batches(parts), unfinished, item, n_files, watch)
        os.replace(unfinished, target)
    except OSError as error:
        raise DataError(f"{target} cannot be written: {error.strerror or 'the disk may be full'}") from None
    return n_files


def _batches(parts: Parts) -> Iterator[pa.RecordBatch]:
    system, root = remote.file_system(parts.source)
    for file in (file for part in parts.parts for file in part.files):
        with opened(system, f"{root}/{file.path}", f"{parts.name}/{file.path}") as content:
            yield from pq.ParquetFile(content).iter_batches(batch_size=_BATCH_ROWS)


def _write(
    batches: Iterator[pa.RecordBatch], folder: Path, item: str, n_files: int, watch: Callable[[int], None]
) -> None:
    waiting: list[list[pa.RecordBatch]] = [[] for _ in range(n_files)]
    writers: list[pq.ParquetWriter] = []
    size = rows = 0
    try:
        for batch in batches:
            if not writers:
                digits = len(str(n_files - 1))
                places = [folder / f"part-{number:0{digits}}.parquet" for number in range(n_files)]
                writers = [pq.ParquetWriter(place, batch.schema) for place in places]
            for number, piece in _cut(batch, item, n_files):
                waiting[number].append(piece)
                size += piece.nbytes
            if size > BUFFER_BYTES:
                _flush(waiting, writers)
                size = 0
            rows += batch.num_rows
            watch(rows)
        _flush(waiting, writers)
    finally:
        for writer in writers:
            writer.close()


def _cut(batch: pa.RecordBatch, item: str, n_files: int) -> Iterator[tuple[int, pa.RecordBatch]]:
    """A batch's rows by file, each file's in their order."""
    column = Column.of(pa.chunked_array([as_text(batch.column(item))]))
    number = (hashes_of(column.values) % np.uint64(n_files)).astype(np.int64)[column.codes]
    ordered = batch.take(pa.array(np.argsort(number, kind="stable")))
    bounds = np.concatenate([[0], np.cumsum(np.bincount(number, minlength=n_files))]).tolist()
    for at in range(n_files):
        if bounds[at] < bounds[at + 1]:
            yield at, ordered.slice(bounds[at], bounds[at + 1] - bounds[at])


def _flush(waiting: list[list[pa.RecordBatch]], writers: list[pq.ParquetWriter]) -> None:
    for pieces, writer in zip(waiting, writers, strict=False):
        if pieces:
            writer.write_table(pa.Table.from_batches(pieces))
            pieces.clear()
