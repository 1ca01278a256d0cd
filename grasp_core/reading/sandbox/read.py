"""Files as tables of text, recognised by their content."""

from __future__ import annotations

import dataclasses
import hashlib
import os
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from grasp_core.model.errors import DataError
from grasp_core.model.text import not_there
from grasp_core.reading.archives import containers
from grasp_core.reading.archives.containers import MAX_BYTES
from grasp_core.reading.sandbox.client import read
from grasp_core.reading.table.parsed import Parsed, Watch
from grasp_core.reading.table.table import Table

_PIECE = 1 << 20


def _unwatched(_done: int, _total: int) -> None:
    """Let reading go on."""


def read_table(
    source: Path | str | bytes | BinaryIO,
    name: str | None = None,
    *,
    member: str | None = None,
    watch: Watch = _unwatched,
) -> Table:
    """Read a table from a file of any format that docs/formats.md lists, or from a folder of such files.

    `member`: sheet of a workbook or file in an archive; by default all that fit together, else the first
        table.
    `watch`: called now and then with how much is done, and of how much; what it raises ends the reading.
    """
    shown = _base_name(name or (str(source) if isinstance(source, Path | str) else "file"))
    if isinstance(source, Path | str) and os.path.isdir(source):
        return _read_folder(Path(source), shown, member, watch)
    file = _File(Path(source) if isinstance(source, str) else source, shown)
    parsed = read(lambda: [file.pieces()], shown, folder=False, member=member, watch=watch)
    return _table(parsed, shown, file.sha256, file.size)


def _table(parsed: Parsed, name: str, sha256: str, size: int) -> Table:
    fields = {field.name: getattr(parsed, field.name) for field in dataclasses.fields(parsed)}
    return Table(name=name, sha256=sha256, bytes=size, **fields)


def _read_folder(folder: Path, name: str, member: str | None, watch: Watch) -> Table:
    """A folder of Parquet files as one table; any other as an archive of its files would be read."""
    paths = sorted(folder.rglob("*.parquet"))
    if paths:
        return read_files([(str(path.relative_to(folder)), path) for path in paths], name, watch=watch)
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    shown = [
        path for path in found if not any(piece.startswith(".") for piece in path.relative_to(folder).parts)
    ]
    if not shown:
        raise DataError(f"{name} is a folder without files; name one that holds some, or a file")
    if len(shown) > containers.MAX_MEMBERS:
        raise DataError(
            f"{name} is a folder of {len(shown):,} files, at most {containers.MAX_MEMBERS:,} are read"
        )
    packed = containers.packed(_contents(shown, folder, name))
    table = read_table(packed, name, member=member, watch=watch)
    return dataclasses.replace(table, kind=table.kind.replace(", zip", ", folder"))


def _contents(paths: Sequence[Path], folder: Path, name: str) -> Iterator[tuple[str, bytes]]:
    """Files by their path below the folder, as long as they are not too large together."""
    total = 0
    for path in paths:
        inner = path.relative_to(folder).as_posix()
        try:
            total += path.stat().st_size
            containers.check_size(total, name)
            yield inner, path.read_bytes()
        except OSError as error:
            raise DataError(f"{name}, {inner} cannot be read: {error.strerror}") from None


def read_files(files: Sequence[tuple[str, bytes | Path]], name: str, *, watch: Watch = _unwatched) -> Table:
    """Read a folder's Parquet files, each given as its path below the folder and its content or place."""
    streams = [_File(source, PurePosixPath(path).name) for path, source in files]
    parsed = read(lambda: _within(streams, name), name, folder=True, member=None, watch=watch)
    hashes = [(path, stream.sha256) for (path, _), stream in zip(files, streams, strict=True)]
    return _table(parsed, name, _joint_sha256(hashes), sum(stream.size for stream in streams))


def _within(files: Sequence[_File], name: str) -> Iterator[Iterator[bytes | memoryview]]:
    """The files one by one, as long as they are not too large together."""
    total = 0
    for file in files:
        yield file.pieces()
        total += file.size
        containers.check_size(total, name)


def files_sha256(files: Sequence[tuple[str, bytes]]) -> str:
    """Hash of a folder: that of its files' paths and hashes."""
    return _joint_sha256([(path, hashlib.sha256(content).hexdigest()) for path, content in files])


def _joint_sha256(hashes: Sequence[tuple[str, str]]) -> str:
    whole = hashlib.sha256()
    for path, sha256 in hashes:
        whole.update(f"{path}\n{sha256}\n".encode())
    return whole.hexdigest()


class _File:
    """A file that is handed on piece by piece, and its size and hash once all of it was."""

    def __init__(self, source: Path | bytes | BinaryIO, name: str) -> None:
        self._source, self._name = source, name
        self._hash = hashlib.sha256()
        self._start: int | None = None
        self.size = 0

    @property
    def sha256(self) -> str:
        return self._hash.hexdigest()

    def pieces(self) -> Iterator[bytes | memoryview]:
        """The content, from its beginning each time."""
        self._hash = hashlib.sha256()
        self.size = 0
        for piece in self._raw_pieces():
            self.size += len(piece)
            if self.size > MAX_BYTES:
                raise DataError(
                    f"{self._name} is larger than {MAX_BYTES / 1024**3:.3g} GiB, the most that is read; "
                    "split or thin it"
                )
            self._hash.update(piece)
            yield piece

    def _raw_pieces(self) -> Iterator[bytes | memoryview]:
        if isinstance(self._source, bytes):
            whole = memoryview(self._source)
            return (whole[start : start + _PIECE] for start in range(0, len(whole), _PIECE))
        if isinstance(self._source, Path):
            return self._from_path(self._source)
        if self._start is None:
            self._start = self._source.tell() if self._source.seekable() else 0
        elif self._start != self._source.tell():
            self._source.seek(self._start)
        return iter(partial(self._source.read, _PIECE), b"")

    def _from_path(self, path: Path) -> Iterator[bytes]:
        try:
            with path.open("rb") as file:
                yield from iter(partial(file.read, _PIECE), b"")
        except FileNotFoundError:
            raise DataError(f"{not_there(self._name, path)}; check the path") from None
        except OSError as error:
            raise DataError(f"{self._name} cannot be read: {error.strerror}") from None


def _base_name(name: str) -> str:
    return PurePosixPath(name.replace("\\", "/")).name or "file"
