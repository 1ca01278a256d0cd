"""Sources that a server may read without an upload: its data folder, and addresses below prefixes."""

import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath

from grasp_core.model.errors import DataError, SettingsError
from grasp_core.model.text import quoted
from grasp_core.reading.archives import containers
from grasp_core.reading.sandbox.read import files_sha256, read_files, read_table
from grasp_core.reading.sources import remote
from grasp_core.reading.table.table import Table

FOLDER = "data:"  # the beginning of a location in the server's folder; all others are addresses
MAX_LISTED = 1_000  # most entries that a listing shows
MAX_SEEN = 50_000  # most files that a listing examines


@dataclass(frozen=True, slots=True)
class FolderEntry:
    """A file, or a folder of Parquet files, by its path below the folder; `changed`: seconds since 1970."""

    path: str
    bytes: int
    changed: float
    parquet_folder: bool = False


@dataclass(frozen=True, slots=True)
class Listing:
    """Entries by path; `more` is True if some are not shown."""

    entries: tuple[FolderEntry, ...]
    more: bool


class Folder:
    """Reading below the folder `root`; links are followed only if they stay there."""

    def __init__(self, root: Path) -> None:
        self._root = os.path.realpath(root)
        if not os.path.isdir(self._root):
            raise DataError(f"{root} is not a folder; name one that exists and can be read")

    def read(self, path: str) -> bytes | tuple[tuple[str, bytes], ...]:
        """Return a file's content, or path below the folder and content of each Parquet file in a folder."""
        real = self._real(path)
        if not os.path.isdir(real):
            return self._content(real, _name(path))
        parts: list[tuple[str, bytes]] = []
        files = (entry.path for entry in self._files(real, limit=MAX_SEEN))
        for inner in sorted(PurePosixPath(path) for path in files if path.endswith(".parquet")):
            parts.append((str(inner), self._content(self._real(f"{path}/{inner}"), inner.name)))
            containers.check_size(sum(len(content) for _, content in parts), _name(path))
        if not parts:
            raise DataError(f"{_name(path)} is a folder without *.parquet files; choose a file in it")
        return tuple(parts)

    def listing(self, search: str = "") -> Listing:
        """List files and Parquet folders whose path contains `search`, without hidden ones."""
        wanted = search.strip().casefold()
        seen = list(self._files(self._root, limit=MAX_SEEN))
        found = [*seen, *_parquet_folders(seen)]
        found = sorted(
            (entry for entry in found if wanted in entry.path.casefold()), key=lambda entry: entry.path
        )
        return Listing(tuple(found[:MAX_LISTED]), len(found) > MAX_LISTED or len(seen) == MAX_SEEN)

    def _real(self, path: str) -> str:
        """Return the path without links; refuse a path that leaves the folder."""
        pieces = path.split("/")
        if any(not _shown(piece) for piece in pieces):
            raise DataError(f"{quoted(path)} is not the path of a file in this server's folder")
        real = os.path.realpath(os.path.join(self._root, *pieces))
        if os.path.commonpath([real, self._root]) != self._root:
            raise DataError(f"{_name(path)} is a link that leaves this server's folder; it is not read")
        return real

    def _content(self, real: str, name: str) -> bytes:
        try:
            descriptor = self._open(real)
        except OSError as error:
            raise DataError(f"{name} cannot be read in this server's folder: {error.strerror}") from None
        with os.fdopen(descriptor, "rb") as file:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                raise DataError(f"{name} is not a file; choose one")
            content = b"" if found.st_size > containers.MAX_BYTES else file.read(containers.MAX_BYTES + 1)
        if max(len(content), found.st_size) > containers.MAX_BYTES:
            raise containers.too_large(name)
        return content

    def _open(self, real: str) -> int:
        """Open folder by folder and follow no link: nobody can exchange a checked path meanwhile."""
        *folders, last = PurePosixPath(os.path.relpath(real, self._root)).parts
        at = os.open(self._root, os.O_RDONLY | os.O_DIRECTORY)
        try:
            for piece in folders:
                inner = os.open(piece, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=at)
                os.close(at)
                at = inner
            # Without O_NONBLOCK, a pipe would block.
            return os.open(last, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=at)
        finally:
            os.close(at)

    def _files(self, start: str, limit: int) -> Iterator[FolderEntry]:
        """Yield files below a folder that may be read; linked folders are not entered."""
        count = 0
        for place, folders, names in os.walk(start):
            folders[:] = sorted(name for name in folders if _shown(name))
            for name in sorted(filter(_shown, names)):
                entry = self._entry(os.path.join(place, name), start)
                if entry is not None:
                    yield entry
                    count += 1
                if count == limit:
                    return

    def _entry(self, path: str, start: str) -> FolderEntry | None:
        real = os.path.realpath(path)
        try:
            found = os.stat(real)
        except OSError:
            return None
        if not stat.S_ISREG(found.st_mode) or os.path.commonpath([real, self._root]) != self._root:
            return None
        return FolderEntry(os.path.relpath(path, start).replace(os.sep, "/"), found.st_size, found.st_mtime)


def _parquet_folders(files: list[FolderEntry]) -> list[FolderEntry]:
    """Return folders with Parquet files; of folders split by ``column=value``, the top folder."""
    inside: dict[str, list[FolderEntry]] = {}
    for entry in files:
        folder = PurePosixPath(entry.path).parent
        while "=" in folder.name:
            folder = folder.parent
        if entry.path.endswith(".parquet") and folder.name:
            inside.setdefault(str(folder), []).append(entry)
    return [
        FolderEntry(
            folder,
            sum(entry.bytes for entry in entries),
            max(entry.changed for entry in entries),
            parquet_folder=True,
        )
        for folder, entries in inside.items()
    ]


def _shown(piece: str) -> bool:
    """Return whether a piece of a path is the name of a file that is not hidden."""
    return bool(piece) and piece.isprintable() and not piece.startswith(".") and not set(piece) & set("/\\")


def _name(path: str) -> str:
    return PurePosixPath(path).name or path


@dataclass(frozen=True, slots=True)
class Fetched:
    """A file with its content at the time of reading; `location` is the one form that refers to it."""

    name: str
    location: str
    content: bytes | tuple[tuple[str, bytes], ...]

    @property
    def sha256(self) -> str:
        """Hash as in :attr:`Table.sha256`."""
        whole = self.content
        return hashlib.sha256(whole).hexdigest() if isinstance(whole, bytes) else files_sha256(whole)

    def table(self, name: str | None = None, member: str | None = None) -> Table:
        """Read the content as a table; see :func:`read_table`."""
        if isinstance(self.content, bytes):
            return read_table(self.content, name or self.name, member=member)
        return read_files(self.content, name or self.name)


class AllowedSources:
    """Places that a server may read: below a folder, if it has one, and below addresses."""

    def __init__(self, folder: str = "", prefixes: Sequence[str] = ()) -> None:
        try:
            self.folder = Folder(Path(folder)) if folder else None
        except DataError as error:
            raise SettingsError(f"GRASP_DATA_DIR: {error}") from None
        try:
            self.prefixes = tuple(map(remote.parse, prefixes))
        except DataError as error:
            raise SettingsError(f"GRASP_DATA_URLS: {error}") from None

    def __bool__(self) -> bool:
        return self.folder is not None or bool(self.prefixes)

    def listing(self, search: str = "") -> Listing:
        """List the entries of the folder."""
        return Listing((), False) if self.folder is None else self.folder.listing(search)

    def fetch(self, location: str) -> Fetched:
        """Read a file, or a folder of Parquet files."""
        if location.startswith(FOLDER):
            path = location.removeprefix(FOLDER)
            if self.folder is None:
                raise DataError(f"{quoted(path)} was in this server's folder, which it has no more")
            return Fetched(PurePosixPath(path).name, FOLDER + path, self.folder.read(path))
        address = remote.parse(location.strip())
        self._check(address)
        content = remote.fetch(address.url, address.name, partial(self._check_hop, address))
        return Fetched(address.name, address.url, content)

    def _check(self, address: remote.RemoteAddress) -> None:
        if not any(address.below(prefix) for prefix in self.prefixes):
            known = " or ".join(prefix.url for prefix in self.prefixes)
            may = f"it reads what is below {known}" if known else "it reads no addresses"
            raise DataError(f"{address.name} is not at an address that this server may read; {may}")

    def _check_hop(self, first: remote.RemoteAddress, url: str) -> None:
        """Refuse an address, also one of a redirect, that is not allowed or on another host."""
        try:
            hop = remote.parse(url)
            self._check(hop)
        except DataError:
            hop = None
        if hop is None or not hop.same_host(first):
            raise DataError(
                f"{first.name} is redirected to an address that this server may not read; "
                "name the address where the file really is"
            )
