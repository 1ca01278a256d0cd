"""Where data may be read from that nobody uploads: a folder of the server, and addresses below prefixes."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath

from grasp_core.model.errors import DataError, SettingsError
from grasp_core.model.text import quoted
from grasp_core.reading.sandbox.read import files_sha256, read_files, read_table
from grasp_core.reading.sources import remote
from grasp_core.reading.sources.folder import Folder, Listing
from grasp_core.reading.table.table import Table

FOLDER = "data:"
"""The beginning of a location in the server's folder; all others are addresses."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """A file as it was just now.

    `name`: without its folder.
    `location`: in the one form by which the file is referred to.
    """

    name: str
    location: str
    content: bytes | tuple[tuple[str, bytes], ...]

    @property
    def sha256(self) -> str:
        """As :attr:`Table.sha256`."""
        whole = self.content
        return hashlib.sha256(whole).hexdigest() if isinstance(whole, bytes) else files_sha256(whole)

    def table(self, name: str | None = None, member: str | None = None) -> Table:
        """The content as a table; see :func:`read_table`."""
        if isinstance(self.content, bytes):
            return read_table(self.content, name or self.name, member=member)
        return read_files(self.content, name or self.name)


class AllowedSources:
    """Places that a server may read.

    `folder`: empty where there is none.
    `prefixes`: addresses; files below them may be read.
    """

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
        """Entries of the folder."""
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
        """Whether an address may be asked on the way, redirected or not."""
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
