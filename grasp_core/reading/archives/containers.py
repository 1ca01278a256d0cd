"""Compressed files and archives, unpacked under a limit."""

import gzip
import io
import lzma
import zipfile
import zlib
from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from grasp_core.model.errors import DataError

MAX_BYTES = 2 * 1024**3  # largest file, and largest unpacked content, that is read
MAX_MEMBERS = 1_000  # most files in an archive

ZIP = b"PK\x03\x04"
_COMPRESSED = ((b"\x1f\x8b", "gzip"), (b"\x28\xb5\x2f\xfd", "zstd"), (b"BZh", "bz2"))
CHUNK = 1 << 22


def unpack(content: bytes, name: str) -> tuple[bytes, str | None]:
    """Unpack a gzip, zstd or bzip2 file and name its kind; return other content as it is."""
    kind = _compression(content)
    if kind is None:
        return content, None
    out = io.BytesIO()
    try:
        with _opened(content, kind) as stream:
            while piece := stream.read(CHUNK):
                out.write(piece)
                check_size(out.tell(), name)
        if kind != "gzip" and not out.tell():
            raise EOFError
    except (pa.ArrowException, OSError, EOFError, zlib.error):
        raise DataError(
            f"{name} is a {kind} file that is damaged or ends too early; compress or upload it again"
        ) from None
    unpacked = out.getvalue()
    if _compression(unpacked):
        raise DataError(f"{name} is {_compression(unpacked)} inside {kind}; compress the file once")
    return unpacked, kind


def _compression(content: bytes) -> str | None:
    return next((kind for magic, kind in _COMPRESSED if content.startswith(magic)), None)


def _opened(content: bytes, kind: str) -> Any:
    """Return a stream that unpacks; not Arrow's for gzip, which ignores that a file ends too early."""
    if kind == "gzip":
        return gzip.GzipFile(fileobj=io.BytesIO(content))
    return pa.CompressedInputStream(pa.BufferReader(content), kind)


class Archive:
    """The files of the zip archive `name`, without folders and hidden files."""

    def __init__(self, content: bytes, name: str) -> None:
        self.name = name
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(content))
        except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError):
            raise _damaged(name) from None
        entries = self._archive.infolist()
        found = [entry for entry in entries if not _left_out(entry.filename)]
        if len(entries) > MAX_MEMBERS:
            raise DataError(
                f"{name} holds {len(entries):,} files, at most {MAX_MEMBERS:,} are read; pack fewer"
            )
        if not found:
            raise DataError(f"{name} is a zip archive without files; put the table into it")
        if any(entry.flag_bits & 1 for entry in found):
            raise DataError(f"{name} is a zip archive with a password; pack it without one")
        if sum(entry.compress_size for entry in entries) > len(content):  # files that share their bytes
            raise _damaged(name)
        self.names = tuple(entry.filename for entry in found)

    def member(self, path: str) -> bytes:
        """Return one of the files; reading stops at :data:`MAX_BYTES`, whatever size the archive states."""
        out = io.BytesIO()
        try:
            with self._archive.open(path) as file:
                while piece := file.read(CHUNK):
                    out.write(piece)
                    check_size(out.tell(), f"{self.name}, {path}")
        except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, RuntimeError, ValueError):
            raise _damaged(self.name) from None
        return out.getvalue()


def packed(files: Iterable[tuple[str, bytes | str]]) -> bytes:
    """Pack files, the same bytes for the same files; a repeated name gets its position before it."""
    out, names = io.BytesIO(), set()
    with zipfile.ZipFile(out, "w") as archive:
        for place, (name, content) in enumerate(files, start=1):
            archive.writestr(zipfile.ZipInfo(f"{place} {name}" if name in names else name), content)
            names.add(name)
    return out.getvalue()


def too_large(name: str) -> DataError:
    """Return the error for a file of more than :data:`MAX_BYTES`."""
    return DataError(
        f"{name} is larger than {MAX_BYTES / 1024**3:.3g} GiB, the most that is read; split or thin it"
    )


def check_size(size: int, name: str) -> None:
    """Refuse more than :data:`MAX_BYTES`."""
    if size > MAX_BYTES:
        raise DataError(
            f"{name} unpacks to more than {MAX_BYTES / 1024**3:.3g} GiB, the most that is read; split it"
        )


def _left_out(path: str) -> bool:
    """Return whether a name is a folder's, a hidden file's, or empty, as in damaged archives."""
    return (
        path.endswith("/")
        or not path
        or any(piece.startswith((".", "__MACOSX")) for piece in path.split("/"))
    )


def _damaged(name: str) -> DataError:
    workbook = name.lower().endswith((".xlsx", ".xlsm", ".ods"))  # few people know that it is a zip archive
    what, again = ("workbook", "save") if workbook else ("zip archive", "pack")
    return DataError(f"{name} is a {what} that is damaged or cut off; {again} or upload it again")
