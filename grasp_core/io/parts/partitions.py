"""A folder of Parquet files whose rows are read part by part, so that no machine holds all of them.

A part is a file, or several small ones in a row. Every item's annotations lie in one part, so that a part's
sums over items can be added to another's.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from grasp_core.errors import DataError
from grasp_core.io.formats.columnar import parquet
from grasp_core.io.sources import remote
from grasp_core.io.table.table import Table

PART_ROWS = 8_000_000
"""Small files are read together up to so many rows."""
MAX_PART_ROWS = 24_000_000
"""Rows that a file may have: a part is held in memory, about 100 bytes a row while it is read."""
_SAMPLE_ROWS = 100_000


@dataclass(frozen=True, slots=True)
class PartFile:
    """A file of the folder: its path below it, its size and its rows."""

    path: str
    bytes: int
    rows: int


@dataclass(frozen=True, slots=True)
class Part:
    """Files that are read together, and how many rows of the folder come before them."""

    files: tuple[PartFile, ...]
    first_row: int

    @property
    def rows(self) -> int:
        """Rows of its files together."""
        return sum(file.rows for file in self.files)


@dataclass(frozen=True, slots=True)
class Parts:
    """A partitioned data set.

    Parameters
    ----------
    source : str
        Path or address of the folder.
    name : str
        The folder's name, for messages.
    columns : tuple of str
    parts : tuple of Part
        In the order of their files' paths, which is the order of the rows.
    """

    source: str
    name: str
    columns: tuple[str, ...]
    parts: tuple[Part, ...]

    @property
    def rows(self) -> int:
        """Rows of all parts."""
        return sum(part.rows for part in self.parts)

    @property
    def bytes(self) -> int:
        """Size of all files."""
        return sum(file.bytes for part in self.parts for file in part.files)

    def name_of(self, part: Part) -> str:
        """A part in messages."""
        first, last = part.files[0].path, part.files[-1].path
        return f"{self.name}/{first}" + ("" if len(part.files) == 1 else f" to {last}")


def is_folder(source: str) -> bool:
    """Whether a path or an address that can be listed leads to a folder."""
    if "://" not in source:
        return os.path.isdir(source)
    if source.startswith(("http://", "https://")) or "::" in source:
        return False
    with remote.in_sentences(source, _name(source)):
        files, root = remote.file_system(source)
        return bool(files.isdir(root))


def find_parts(source: str, part_rows: int = PART_ROWS, max_rows: int = MAX_PART_ROWS) -> Parts:
    """List a folder's Parquet files and read how many rows each has.

    Parameters
    ----------
    source : str
        Path, or address that fsspec can list.
    part_rows : int
        Files in a row are read together as long as they have no more rows than this.
    max_rows : int
        Rows that a file may have.

    Raises
    ------
    DataError
        If it cannot be listed, a file is damaged or too large, or columns differ.
    """
    name = _name(source)
    source = source if "://" in source else os.path.abspath(source)
    with remote.in_sentences(source, name):
        files, root = remote.file_system(source)
        files.invalidate_cache()
        sizes = {path: int(found["size"]) for path, found in files.find(root, detail=True).items()}
    below = {path: path[len(root) :].lstrip("/") for path in sizes if path.endswith(".parquet")}
    if not below:
        raise DataError(f"{name} is a folder without *.parquet files; name one that holds some, or a file")
    found: list[PartFile] = []
    columns: tuple[str, ...] | None = None
    for path in sorted(below, key=lambda path: PurePosixPath(below[path]).parts):
        shown = f"{name}/{below[path]}"
        rows, names = _metadata(files, path, shown)
        if columns is not None and names != columns:
            raise DataError(f"{name}: its files have different columns; read one of them alone")
        columns = names
        if rows > max_rows:
            raise DataError(
                f"{shown} has {rows:,} rows, and at most {max_rows:,} of one file are read; write the "
                "folder in more files (grasp partition does)"
            )
        found.append(PartFile(below[path], sizes[path], rows))
    return Parts(source, name, columns or (), tuple(_together(found, part_rows)))


@contextlib.contextmanager
def opened(files: Any, path: str, shown: str) -> Iterator[Any]:
    """Open a Parquet file; `shown` is its name in messages.

    Raises
    ------
    DataError
        If it cannot be opened, or what is read of it is damaged.
    """
    damaged = f"{shown} is a damaged or cut-off Parquet file; write it again"
    with remote.in_sentences(path, shown):
        try:
            with files.open(path, "rb") as file:
                yield file
        except (pa.ArrowException, UnicodeDecodeError):
            raise DataError(damaged) from None
        except OSError as error:
            if error.errno is None:  # Arrow's own, where a file ends too early
                raise DataError(damaged) from None
            raise


def _metadata(files: Any, path: str, shown: str) -> tuple[int, tuple[str, ...]]:
    with opened(files, path, shown) as file:
        whole = pq.ParquetFile(file)
        return int(whole.metadata.num_rows), tuple(whole.schema_arrow.names)


def _together(files: Sequence[PartFile], part_rows: int) -> list[Part]:
    parts: list[Part] = []
    waiting: list[PartFile] = []
    before = 0
    for file in files:
        if waiting and sum(one.rows for one in waiting) + file.rows > part_rows:
            parts.append(Part(tuple(waiting), before))
            before += parts[-1].rows
            waiting = []
        waiting.append(file)
    return [*parts, Part(tuple(waiting), before)]


def sample(parts: Parts) -> Table:
    """The first rows of a data set with all its columns, to recognise it by."""
    first = next((part for part in parts.parts if part.rows), parts.parts[0])
    files, root = remote.file_system(parts.source)
    file = next((file for file in first.files if file.rows), first.files[0])
    with opened(files, f"{root}/{file.path}", f"{parts.name}/{file.path}") as content:
        batch = next(pq.ParquetFile(content).iter_batches(batch_size=_SAMPLE_ROWS), None)
    if batch is None:
        raise DataError(f"{parts.name} holds column names and no rows; add a row per annotation")
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_batches([batch]), sink)
    parsed = parquet.parse([sink.getvalue().to_pybytes()], parts.name, lambda _done, _total: None)
    return Table(parts.name, parsed.columns, parsed.data, "", parts.bytes, parsed.kind, parsed.first_row)


def _name(source: str) -> str:
    return PurePosixPath(source.replace("\\", "/").rstrip("/")).name or source
