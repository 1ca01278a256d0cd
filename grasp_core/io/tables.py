"""Files as tables of text: CSV, TSV (also gzip) and Parquet, recognised by their content."""

from __future__ import annotations

import gzip
import hashlib
import io
import zlib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO

import numpy as np
import numpy.typing as npt
import pandas as pd

from grasp_core.errors import DataError, Problem
from grasp_core.io import delimited, parquet

MAX_BYTES = 2 * 1024**3
"""Largest file, and largest unpacked content, that is read."""

_GZIP = b"\x1f\x8b"
_BINARY_FORMATS = (
    (b"PK\x03\x04", "a zip archive or an Excel workbook"),
    (b"PK\x05\x06", "an empty zip archive"),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ", "an xz archive"),
    (b"\x28\xb5\x2f\xfd", "a zstandard archive"),
    (b"7z\xbc\xaf", "a 7-zip archive"),
    (b"%PDF", "a PDF"),
    (b"SQLite format 3", "an SQLite database"),
    (b"ARROW1", "an Arrow file"),
    (b"\x89HDF", "an HDF5 file"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xfe", "text in UTF-16"),
    (b"\xfe\xff", "text in UTF-16"),
)
_TEXT_FORMATS = (
    (b"{", "JSON"),
    (b"[{", "JSON"),
    (b"<!doctype html", "a web page"),
    (b"<html", "a web page"),
    (b"<?xml", "XML"),
)
_CHUNK = 1 << 24


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A file's rows and columns, every cell the text that the file holds.

    Parameters
    ----------
    name : str
        The file's name without its folder.
    columns : tuple of str
    frame : DataFrame
        Text in every cell, no missing values, index 0..n-1.
    sha256, bytes : str, int
        Of the file as it is, before unpacking.
    kind : str
        "CSV", "TSV", "CSV, gzip", "TSV, gzip" or "Parquet".
    first_row : int
        Number of the first data row in messages: its line in a text file, 1 in Parquet.
    lines : int array, shape (n,), or None
        Line of each row where blank lines or line breaks within cells shift them.
    problems : tuple of Problem
        What to know about the file.
    """

    name: str
    columns: tuple[str, ...]
    frame: pd.DataFrame
    sha256: str
    bytes: int
    kind: str
    first_row: int
    lines: npt.NDArray[np.int64] | None = None
    problems: tuple[Problem, ...] = ()

    def row(self, position: int) -> int:
        """Number by which a person finds the row at `position` in the file."""
        return int(position) + self.first_row if self.lines is None else int(self.lines[position])


def read_table(source: Path | str | bytes | BinaryIO, name: str | None = None) -> Table:
    """Read a CSV, TSV, gzipped CSV or TSV, or Parquet file.

    Parameters
    ----------
    source : path, bytes or binary file
    name : str, optional
        The file's name for messages and results; its folder is left out.

    Returns
    -------
    Table

    Raises
    ------
    DataError
        If the file cannot be read or is not such a file.
    """
    shown = _base_name(name or (str(source) if isinstance(source, Path | str) else "file"))
    raw = _read(source, shown)
    content, packed = _unpack(raw, shown) if raw.startswith(_GZIP) else (raw, False)
    _refuse_other_formats(content, shown, packed=packed)
    if content.startswith(parquet.MAGIC):
        parsed = parquet.parse(content, shown, MAX_BYTES)
    else:
        parsed = delimited.parse(content, shown)
    return Table(
        name=shown,
        columns=parsed.columns,
        frame=parsed.frame,
        sha256=hashlib.sha256(raw).hexdigest(),
        bytes=len(raw),
        kind=parsed.kind + (", gzip" if packed else ""),
        first_row=parsed.first_row,
        lines=parsed.lines,
        problems=parsed.problems,
    )


def _base_name(name: str) -> str:
    return PurePosixPath(name.replace("\\", "/")).name or "file"


def _read(source: Path | str | bytes | BinaryIO, name: str) -> bytes:
    if isinstance(source, bytes):
        raw = source
    elif isinstance(source, Path | str):
        raw = _read_path(Path(source), name)
    else:
        raw = source.read(MAX_BYTES + 1)
    if len(raw) > MAX_BYTES:
        raise DataError(f"{name} is larger than {_size(MAX_BYTES)}, the most that is read; split or thin it")
    return raw


def _read_path(path: Path, name: str) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise DataError(f"{name} does not exist at {path}; check the path") from None
    except IsADirectoryError:
        raise DataError(f"{name} is a folder; name a file in it") from None
    except OSError as error:
        raise DataError(f"{name} cannot be read: {error.strerror}") from None


def _size(count: int) -> str:
    return f"{count / 1024**3:.3g} GiB" if count >= 1024**3 else f"{count:,} bytes"


def _unpack(raw: bytes, name: str) -> tuple[bytes, bool]:
    chunks: list[bytes] = []
    total = 0
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(raw)) as file:
            while chunk := file.read(_CHUNK):
                total += len(chunk)
                if total > MAX_BYTES:
                    raise DataError(
                        f"{name} unpacks to more than {_size(MAX_BYTES)}, the most that is read; split it"
                    )
                chunks.append(chunk)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        what = "ends too early" if isinstance(error, EOFError) else "is damaged"
        raise DataError(f"{name} is a gzip file that {what}; compress or upload it again") from None
    return b"".join(chunks), True


def _refuse_other_formats(content: bytes, name: str, *, packed: bool) -> None:
    inside = " inside gzip" if packed else ""
    if content.startswith(_GZIP):
        raise DataError(f"{name} is gzip inside gzip; compress the CSV or TSV file once")
    if packed and content.startswith(parquet.MAGIC):
        raise DataError(f"{name} is a Parquet file inside gzip; Parquet is compressed already, so unpack it")
    start = content[:1024].lstrip().lower()
    matches = [what for magic, what in _BINARY_FORMATS if content.startswith(magic)]
    matches += [what for magic, what in _TEXT_FORMATS if start.startswith(magic)]
    if matches:
        raise DataError(
            f"{name} is {matches[0]}{inside}, whatever its name says; "
            "save the table as CSV (UTF-8), TSV or Parquet"
        )
