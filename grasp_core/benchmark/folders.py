"""The CSV files of a submission, in a folder or a zip archive; nothing is unpacked to disk."""

import io
import lzma
import zipfile
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from grasp_core.model.errors import DataError
from grasp_core.model.text import not_there, number, quoted
from grasp_core.reading.archives import containers

MAX_FILE = 64 * 1024**2
"""Most bytes of a file with predictions, unpacked; the benchmark's largest has 5,000 rows in about 0.2 MB."""
MAX_ARCHIVE = 256 * 1024**2
"""Most bytes of a zip archive, packed."""
MAX_TOTAL = 4 * MAX_FILE
"""Most bytes of all files of a submission together, unpacked."""
MAX_FILES = containers.MAX_MEMBERS
_MAX_ENTRIES = 10 * MAX_FILES
"""Most files and folders of any kind in an archive: operating systems add some of their own."""
_ENTRY = b"PK\x01\x02"
"""Bytes before each file's name in an archive's directory."""
DATA = "data"
"""Folder with the files in submissions to the benchmark."""


@dataclass(frozen=True, slots=True)
class RawFile:
    """An unparsed CSV file with its path below the submission, or the reason why it was not read."""

    path: str
    content: bytes
    error: str | None = None


def csv_files(source: Path | str | bytes, name: str | None = None) -> tuple[RawFile, ...]:
    """Read the CSV files of a folder or zip archive, from its ``data`` if it has one, one folder deep."""
    if isinstance(source, bytes):
        return _of_zip(source, name or "the archive")
    path = Path(source)
    if path.is_dir():
        base = path / DATA if (path / DATA).is_dir() else path
        paths = sorted(one for pattern in ("*.csv", "*/*.csv") for one in base.glob(pattern) if one.is_file())
        _check_number(len(paths), str(path))
        return _bounded((read_bounded(one, one.relative_to(path).as_posix()) for one in paths), str(path))
    shown = name or path.name
    try:
        _check_archive(path.stat().st_size, shown)
        with path.open("rb") as file:
            content = file.read(MAX_ARCHIVE + 1)
    except FileNotFoundError:
        raise DataError(f"{not_there(shown, path)}; name a submission's folder or zip file") from None
    except OSError as error:
        raise DataError(f"{shown} cannot be read: {error.strerror}") from None
    return _of_zip(content, shown)


def read_bounded(path: Path, shown: str) -> RawFile:
    """Read a file of at most :data:`MAX_FILE` bytes; `shown` is its name in messages."""
    try:
        if path.stat().st_size > MAX_FILE:
            return _too_large(shown)
        with path.open("rb") as file:
            content = file.read(MAX_FILE + 1)
    except OSError as error:
        return RawFile(shown, b"", f"{shown} cannot be read: {error.strerror}")
    return _too_large(shown) if len(content) > MAX_FILE else RawFile(shown, content)


def _of_zip(content: bytes, name: str) -> tuple[RawFile, ...]:
    _check_archive(len(content), name)
    if not content.startswith((containers.ZIP, b"PK\x05\x06")):
        raise DataError(
            f"{name} is neither a folder nor a zip archive; a submission is a folder (or a zip of it) "
            "with data/<task>/predictions.csv for every task"
        )
    entries = content.count(_ENTRY)  # before opening it, which makes an object for each
    if entries > _MAX_ENTRIES:
        raise DataError(f"{name} holds more than {_MAX_ENTRIES:,} files; a submission has one per task")
    root, paths = _layout(_names(content, name))
    _check_number(len(paths), name)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return _bounded((_member(archive, root + path, path, name) for path in sorted(paths)), name)


def _check_archive(size: int, name: str) -> None:
    if size > MAX_ARCHIVE:
        raise DataError(
            f"{name} is larger than {MAX_ARCHIVE // 1024**2} MiB; a submission has one small file per task"
        )


def _names(content: bytes, name: str) -> tuple[str, ...]:
    """Return the names of the files in an archive; refuse paths that lead out of it."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            everything = [entry.filename for entry in archive.infolist()]
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError):
        everything = []  # Archive reports the fault below
    for path in everything:
        pieces = path.replace("\\", "/").split("/")
        if ".." in pieces or not pieces[0] or pieces[0].endswith(":"):
            raise DataError(
                f"{name} holds a file whose path leads out of the archive, {quoted(path)}; "
                "pack the submission's folder again, with paths below it"
            )
    found = containers.Archive(content, name).names
    twice = next((path for position, path in enumerate(found) if path in found[:position]), None)
    if twice is not None:
        raise DataError(f"{name} holds two files named {quoted(twice)}; pack one")
    return found


def _layout(names: Iterable[str]) -> tuple[str, list[str]]:
    """Return the folder around everything in the archive, if there is one, and the CSV files below it."""
    names = list(names)
    tops = {name.partition("/")[0] for name in names}
    deep = any(name.count("/") >= 2 and name.endswith(".csv") for name in names)
    root = f"{tops.pop()}/" if len(tops) == 1 and deep and DATA not in tops else ""
    inside = [name.removeprefix(root) for name in names]
    base = f"{DATA}/" if any(name.startswith(f"{DATA}/") for name in inside) else ""
    below = [name for name in inside if name.startswith(base) and name.endswith(".csv")]
    return root, [name for name in below if name.removeprefix(base).count("/") <= 1]


def _member(archive: zipfile.ZipFile, member: str, path: str, name: str) -> RawFile:
    """Read a file of an archive up to :data:`MAX_FILE`, whatever size the archive claims."""
    try:
        with archive.open(member) as file:
            content = file.read(MAX_FILE + 1)
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, RuntimeError, ValueError):
        return RawFile(path, b"", f"{path} in {name} is damaged; pack the archive again")
    return _too_large(path) if len(content) > MAX_FILE else RawFile(path, content)


def _too_large(path: str) -> RawFile:
    return RawFile(
        path,
        b"",
        f"{path} is larger than {MAX_FILE // 1024**2} MiB; it should hold an ID and a class name per row",
    )


def _bounded(files: Iterable[RawFile], name: str) -> tuple[RawFile, ...]:
    found: list[RawFile] = []
    total = 0
    for file in files:
        found.append(file)
        total += len(file.content)
        if total > MAX_TOTAL:
            raise DataError(
                f"{name}: its files hold more than {MAX_TOTAL // 1024**2} MiB together; "
                "a submission holds one small CSV file per task"
            )
    return tuple(found)


def _check_number(files: int, name: str) -> None:
    if files > MAX_FILES:
        raise DataError(f"{name} holds {number(files, 'CSV file')}; a submission has one per task")
