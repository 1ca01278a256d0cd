"""Files as tables of text, recognised by their content."""

from __future__ import annotations

import dataclasses
import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import BinaryIO

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from grasp_core.errors import DataError, Problem
from grasp_core.io import containers, delimited, encodings, json_records, parquet, workbooks
from grasp_core.io.columns import Column
from grasp_core.io.containers import MAX_BYTES
from grasp_core.io.parsed import Parsed, Watch
from grasp_core.io.problems import listed, not_there, quoted
from grasp_core.io.recipe import Recipe
from grasp_core.io.tools import registry

_OTHER_FORMATS = (
    (b"\xfd7zXZ", "an xz archive"),
    (b"7z\xbc\xaf", "a 7-zip archive"),
    (b"Rar!", "a RAR archive"),
    (b"%PDF", "a PDF"),
    (b"SQLite format 3", "an SQLite database"),
    (b"ARROW1", "an Arrow file"),
    (b"\x89HDF", "an HDF5 file"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"\x80\x04\x95", "a Python pickle"),
)
_OTHER_TEXTS = (
    (b"<!doctype html", "a web page"),
    (b"<html", "a web page"),
    (b"<?xml", "XML"),
    (b"{\\rtf", "a text document"),
)
_TRIED = 20
"""Files of an archive that are tried until one is a table."""
_READABLE = "CSV, TSV, XLSX, ODS, JSON, JSON Lines or Parquet"


def _unwatched(_done: int, _total: int) -> None:
    """Let reading go on."""


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A file's rows and columns, every cell the text that the file holds.

    Parameters
    ----------
    name : str
        The file's name without its folder.
    columns : tuple of str
    data : pyarrow Table
        A column is text, or codes into its distinct texts; there are no nulls.
    sha256, bytes : str, int
        Of the file as it is, before unpacking.
    kind : str
        What the file is, for people, e.g. "CSV, gzip".
    first_row : int
        Number of the first data row in messages: its line in a text file, 1 in Parquet.
    lines : int array, shape (n,), or None
        Line of each row where blank lines or line breaks within cells shift them.
    problems : tuple of Problem
        What to know about the file.
    recipe : Recipe or None
        How to read it, where its format says so.
    parts : tuple of str
        Sheets (members) that can be chosen; empty where there is nothing to choose.
    part : str or None
        The one that was read.
    """

    name: str
    columns: tuple[str, ...]
    data: pa.Table
    sha256: str
    bytes: int
    kind: str
    first_row: int
    lines: npt.NDArray[np.int64] | None = None
    problems: tuple[Problem, ...] = ()
    recipe: Recipe | None = None
    parts: tuple[str, ...] = ()
    part: str | None = None

    def __len__(self) -> int:
        return int(self.data.num_rows)

    def row(self, position: int) -> int:
        """Number by which a person finds the row at `position` in the file."""
        return int(position) + self.first_row if self.lines is None else int(self.lines[position])

    def column(self, name: str) -> Column:
        """A column as codes and distinct texts."""
        return Column.of(self.data.column(name))

    def thinned(self, rows: int) -> Table:
        """At most about so many of the rows, at equal distances."""
        step = -(-len(self) // max(rows, 1))
        if step <= 1:
            return self
        taken = self.data.take(pa.array(np.arange(0, len(self), step)))
        return dataclasses.replace(self, data=_reencoded(taken), lines=None)

    def distinct(self, name: str) -> tuple[str, ...]:
        """A column's distinct texts in order of first appearance."""
        return tuple(self.data.column(name).unique().to_pylist())

    def cell(self, name: str, row: int) -> str:
        """One cell."""
        return str(self.data.column(name)[int(row)].as_py())

    def head(self, rows: int) -> pd.DataFrame:
        """The first rows."""
        frame: pd.DataFrame = self.data.slice(0, rows).to_pandas().astype("str")
        return frame


def _reencoded(data: pa.Table) -> pa.Table:
    """With no more distinct texts than occur."""
    columns = [column.cast(pa.string()).combine_chunks() for column in data.columns]
    return pa.Table.from_arrays(columns, names=data.column_names)


def read_table(
    source: Path | str | bytes | BinaryIO,
    name: str | None = None,
    *,
    part: str | None = None,
    watch: Watch = _unwatched,
) -> Table:
    """Read a table from a file of any format that docs/formats.md lists, or from a folder of Parquet files.

    Parameters
    ----------
    source : path, bytes or binary file
    name : str, optional
        The file's name for messages and results; its folder is left out.
    part : str, optional
        Sheet of a workbook or file in an archive; by default the first that holds a table.
    watch : callable, optional
        Called now and then with how much is done, and of how much; what it raises ends the reading.

    Returns
    -------
    Table

    Raises
    ------
    DataError
        If the file cannot be read or holds no table.
    """
    shown = _base_name(name or (str(source) if isinstance(source, Path | str) else "file"))
    if isinstance(source, Path | str) and os.path.isdir(source):
        return _read_folder(Path(source), shown, watch)
    raw = _read(source, shown)
    parsed = _parse(raw, shown, part, watch)
    return _table(parsed, shown, hashlib.sha256(raw).hexdigest(), len(raw))


def _table(parsed: Parsed, name: str, sha256: str, size: int) -> Table:
    fields = {field.name: getattr(parsed, field.name) for field in dataclasses.fields(parsed)}
    return Table(name=name, sha256=sha256, bytes=size, **fields)


def _read_folder(folder: Path, name: str, watch: Watch) -> Table:
    """A folder of Parquet files."""
    paths = sorted(folder.rglob("*.parquet"))
    if not paths:
        raise DataError(f"{name} is a folder without *.parquet files; name a file in it")
    parts: list[tuple[str, bytes]] = []
    for path in paths:
        parts.append((str(path.relative_to(folder)), _read_path(path, path.name)))
        containers.check_size(sum(len(content) for _, content in parts), name)
    return read_parts(parts, name, watch=watch)


def read_parts(parts: Sequence[tuple[str, bytes]], name: str, *, watch: Watch = _unwatched) -> Table:
    """Read the Parquet files of a folder, each given as its path below the folder and its content.

    Raises
    ------
    DataError
        If one of them cannot be read, or they do not fit together.
    """
    contents = [content for _, content in parts]
    parsed = parquet.parse(contents, name, watch)
    return _table(registry.of_table(parsed, name), name, parts_sha256(parts), sum(map(len, contents)))


def parts_sha256(parts: Sequence[tuple[str, bytes]]) -> str:
    """Hash of a folder: that of its files' paths and hashes."""
    whole = hashlib.sha256()
    for path, content in parts:
        whole.update(f"{path}\n{hashlib.sha256(content).hexdigest()}\n".encode())
    return whole.hexdigest()


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
        raise DataError(
            f"{name} is larger than {MAX_BYTES / 1024**3:.3g} GiB, the most that is read; split or thin it"
        )
    return raw


def _read_path(path: Path, name: str) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise DataError(f"{not_there(name, path)}; check the path") from None
    except OSError as error:
        raise DataError(f"{name} cannot be read: {error.strerror}") from None


def _parse(raw: bytes, name: str, part: str | None, watch: Watch) -> Parsed:
    content, packed = containers.unpack(raw, name)
    if content.startswith(containers.ZIP):
        parsed = _parse_zip(content, name, part, watch)
    elif content.startswith(workbooks.OLD_EXCEL):
        parsed = _parse_workbook(content, name, part)
    elif part is not None:
        raise DataError(f"{name} has no sheets or files to choose {quoted(part)} from; leave the part out")
    else:
        parsed = _parse_single(content, name, watch)
    return dataclasses.replace(parsed, kind=parsed.kind + (f", {packed}" if packed else ""))


def _parse_zip(content: bytes, name: str, part: str | None, watch: Watch) -> Parsed:
    names = containers.members(content, name)
    if workbooks.is_workbook(names):
        return _parse_workbook(content, name, part)
    whole = registry.of_archive(names, partial(containers.member, content, name=name), name)
    if whole is not None:
        return whole
    if part is not None and part not in names:
        raise DataError(f"{name} holds no file {quoted(part)}; its files are {listed(names)}")
    if part is None:
        return _parse_first(content, name, names, watch)
    inside = containers.member(content, part, name)
    return dataclasses.replace(_parse_member(inside, name, part, watch), parts=names, part=part)


def _parse_first(content: bytes, name: str, names: tuple[str, ...], watch: Watch) -> Parsed:
    """The first of an archive's files that is a table; others may say how to read it."""
    refused: DataError | None = None
    for member in names[:_TRIED]:
        inside = containers.member(content, member, name)  # a damaged archive is not gone on with
        try:
            parsed = _parse_member(inside, name, member, watch)
        except DataError as error:
            refused = refused or error
            continue
        several = len(names) > 1
        return dataclasses.replace(parsed, parts=names if several else (), part=member if several else None)
    raise refused or DataError(f"{name} holds no table; put one into it")


def _parse_member(inside: bytes, name: str, member: str, watch: Watch) -> Parsed:
    shown = f"{name}, {PurePosixPath(member).name}"
    if not inside.startswith(containers.ZIP):
        parsed = _parse_single(inside, shown, watch)
    elif workbooks.is_workbook(containers.members(inside, shown)):
        parsed = _parse_workbook(inside, shown, None)
    else:
        raise DataError(f"{shown} is a zip archive inside another; pack its files once")
    return dataclasses.replace(parsed, kind=f"{parsed.kind}, zip")


def _parse_workbook(content: bytes, name: str, part: str | None) -> Parsed:
    return registry.of_table(workbooks.parse(content, name, part), name)


def _parse_single(content: bytes, name: str, watch: Watch) -> Parsed:
    if content.startswith(workbooks.OLD_EXCEL):
        return _parse_workbook(content, name, None)
    if content.startswith(parquet.MAGIC):
        return registry.of_table(parquet.parse([content], name, watch), name)
    _refuse_other_formats(content, name)
    text, encoding, notes = encodings.to_utf8(content, name)
    parsed = _parse_text(text, name, watch)
    kind = parsed.kind if encoding == "UTF-8" else f"{parsed.kind}, {encoding}"
    return dataclasses.replace(parsed, kind=kind, problems=(*notes, *parsed.problems))


def _parse_text(content: bytes, name: str, watch: Watch) -> Parsed:
    start = content[:1024].lstrip()
    if start.startswith((b"{", b"[")):
        found, kind = json_records.records(content, name)
        known = registry.of_records(found, name)
        return known or registry.of_table(json_records.table(found, name, kind), name)
    return registry.of_table(delimited.parse(content, name, watch), name)


def _refuse_other_formats(content: bytes, name: str) -> None:
    start = content[:1024].lstrip().lower()
    matches = [what for magic, what in _OTHER_FORMATS if content.startswith(magic)]
    matches += [what for magic, what in _OTHER_TEXTS if start.startswith(magic)]
    if matches:
        raise DataError(f"{name} is {matches[0]}, whatever its name says; save the table as {_READABLE}")
