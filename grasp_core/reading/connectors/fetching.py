"""Fetching of a source into a file, in a separate process that reaches only the source's host."""

import dataclasses
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from grasp_core.model.errors import FAULT, DataError
from grasp_core.model.extras import require
from grasp_core.model.settings import read_settings
from grasp_core.model.text import not_there
from grasp_core.reading.connectors.source import HUB, Hosts, Source, hosts_of, is_source, parse
from grasp_core.reading.sandbox import wire
from grasp_core.reading.sandbox.limits import current_limits
from grasp_core.reading.sandbox.process import environment
from grasp_core.reading.sandbox.read import read_files, read_table
from grasp_core.reading.sources import remote
from grasp_core.reading.sources.allowed import Fetched, Folder
from grasp_core.reading.table.table import Table

MAX_BYTES = 500 * 2**20  # most bytes that are fetched, the same as for an upload
SECONDS = 600.0  # longest time for fetching, in seconds
_POLL_S = 0.1
_OWN = {
    "HF_HUB_DISABLE_XET": "1",  # a client in Rust, whose connections Python does not see
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_UPDATE_DOWNLOAD_COUNTS": "0",  # that would need another host
    "HF_DATASETS_DISABLE_PROGRESS_BARS": "1",
    "DO_NOT_TRACK": "1",
}

Told = Callable[[str], None]
"""Receives words on progress, many times a second; an exception that it raises ends the fetching."""


@dataclass(frozen=True, slots=True)
class Snapshot(Fetched):
    """Data of a source at the time of fetching, as a file in a form that can be read."""

    content: bytes


def fetch(
    source: Source,
    token: str = "",
    *,
    hosts: Hosts,
    folder: Folder | None = None,
    told: Told = lambda _: None,
    seconds: float = SECONDS,
) -> Snapshot:
    """Fetch a source and return its data as a file."""
    hub = os.environ.get("HF_ENDPOINT", HUB).rstrip("/")
    place = hosts.check(source, hub)
    if source.kind == "sql" and not source.in_file:
        require("PostgreSQL", "postgres")
    require(source.tool.name, "connectors", source.tool.client)
    if not token and source.tool.needs_token:
        raise DataError(f"{source.tool.name} gives nothing without a token; make one there, and give it")
    token = token.strip()
    if not token.isprintable():
        raise DataError("the token has characters that no token has; copy it again")
    admitted = None
    if not hosts.any and place is not None:
        # Hugging Face redirects to its own hosts for files.
        further = (".huggingface.co", ".hf.co") if source.kind == "hf" and hub == HUB else ()
        admitted = [(host, place.port) for host in (place.host, *further)]
    with tempfile.TemporaryDirectory(prefix="grasp-source-") as work:
        asked: dict[str, Any] = {
            "source": str(source),
            "token": token,
            "folder": work,
            "file": _file(source, folder, hosts, Path(work)) if source.in_file else "",
            "hub": hub,
            "seconds": seconds,
            "bytes": MAX_BYTES,
            "memory": current_limits().memory,
            "admitted": admitted,
        }
        caches = {"HF_HOME": work, "ARGILLA_CACHE_DIR": work, "HF_ENDPOINT": hub}
        variables = environment(whole=hosts.any, **_OWN, **caches)
        name = _fetched(asked, variables, source, told)
        content = (Path(work) / name).read_bytes()
    return Snapshot(name, str(source), content)


def _file(source: Source, folder: Folder | None, hosts: Hosts, work: Path) -> str:
    """Return the path of a database file; one in the server's folder is copied, as no link may leave it."""
    path = Path(source.address.removeprefix("sqlite:///"))
    if hosts.any:
        if not path.is_file():
            raise DataError(f"{not_there(path.name, path)}; check the path")
        return str(path.resolve())
    if folder is None:
        raise DataError("databases in files are read from this server's folder (GRASP_DATA_DIR); it has none")
    content = folder.read(str(path).lstrip("/"))
    if not isinstance(content, bytes):
        raise DataError(f"{path.name} is a folder; name a SQLite file")
    (work / "database.db").write_bytes(content)
    return str(work / "database.db")


def _fetched(asked: Mapping[str, Any], variables: Mapping[str, str], source: Source, told: Told) -> str:
    """Fetch in a separate process, and return the name of the file that it has written."""
    ours, theirs = socket.socketpair()
    with theirs:
        process = subprocess.Popen(  # noqa: S603 - our own module; no shell
            [sys.executable, "-P", "-m", "grasp_core.reading.connectors.child", str(theirs.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=variables,
            cwd=asked["folder"],  # no folder with files that a name could match
            pass_fds=[theirs.fileno()],
        )
    words, seconds = "", asked["seconds"]
    end = time.monotonic() + seconds

    def waiting() -> None:
        told(words)
        if time.monotonic() > end:
            raise DataError(f"{source.shown} did not arrive within {seconds:,.0f} s, the limit; ask for less")

    ours.settimeout(_POLL_S)
    channel = wire.Channel(ours, waiting)
    try:
        channel.say(wire.REQUEST, asked)
        while True:
            kind, content = channel.receive()
            said = wire.value_of(content)
            if kind == wire.REFUSED:
                raise DataError(said)
            if kind == wire.VALUE:
                return Path(said).name
            words = said
            waiting()
    except (EOFError, ConnectionError):
        killed = process.wait() < 0  # by a signal, as for too much memory
        more = f"{source.shown} takes more memory than reading may; ask for a part of it"
        raise DataError(more if killed else FAULT) from None
    finally:
        ours.close()
        process.kill()
        process.wait()


Ask = Callable[[Source], str]
"""Asks the user of this program for a token; returns an empty text if there is none."""
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:(//|:)")


def read_anywhere(
    place: str,
    member: str | None = None,
    *,
    token: str | None = None,
    ask: Ask = lambda _: "",
    told: Told = lambda _: None,
) -> Table:
    """Read a path, an address of a file or a Parquet folder, or a source, with the user's own rights."""
    if is_source(place):
        source = parse(place)
        if token is None:
            token = os.environ.get(source.tool.variable) or ask(source)
        name = "GRASP_SOURCE_HOSTS"
        settings = read_settings({name: os.environ[name]} if name in os.environ else {})
        hosts = hosts_of(settings.source_hosts, own_machine=True)  # users of a command read for themselves
        return table_of(fetch(source, token, hosts=hosts, told=told), member)
    if not _ADDRESS.match(place):
        return read_table(Path(place), member=member)
    name = PurePosixPath(place.partition("::")[0].partition("?")[0]).name or place
    files = remote.parquet_files(place, name)
    if files is not None:
        return read_files([(path, remote.fetch(url, PurePosixPath(path).name)) for path, url in files], name)
    return read_table(remote.fetch(place, name), name, member=member)


def table_of(fetched: Fetched, member: str | None = None) -> Table:
    """Read fetched data as a table that names its source."""
    return dataclasses.replace(fetched.table(member=member), source=fetched.location)
