"""Fetching: a source becomes a file, in a process of its own that reaches its host and no other."""

from __future__ import annotations

import hashlib
import json
import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grasp_core.model.errors import FAULT, DataError
from grasp_core.model.extras import has, require
from grasp_core.model.wording import not_there
from grasp_core.reading.connectors.hosts import Hosts, Place
from grasp_core.reading.connectors.source import HUB, TOOLS, Kind, Source
from grasp_core.reading.sandbox.limits import current_limits
from grasp_core.reading.sandbox.process import ROOT
from grasp_core.reading.sources.folder import Folder

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

VARIABLES: Mapping[Kind, str] = {
    "label-studio": "LABEL_STUDIO_API_KEY",
    "argilla": "ARGILLA_API_KEY",
    "hf": "HF_TOKEN",
    "sql": "PGPASSWORD",
}
"""Environment variables that the tools' own clients read, too."""
NEEDED: frozenset[Kind] = frozenset({"label-studio", "argilla"})
"""Kinds of sources that give nothing without a token."""
_NONCE = 12


class Box:
    """Seals tokens and opens them again.

    `key`: random text of 32 characters or more; without one, nothing is kept.
    """

    def __init__(self, key: str) -> None:
        self._key = hashlib.sha256(b"tokens of sources " + key.encode()).digest() if key else None

    def __bool__(self) -> bool:
        return self._key is not None

    def seal(self, token: str, owner: str, site: str) -> bytes:
        """The token, encrypted for a person and a server."""
        nonce = os.urandom(_NONCE)
        return nonce + self._cipher().encrypt(nonce, token.encode(), _bound(owner, site))

    def open(self, sealed: bytes, owner: str, site: str) -> str:
        """The token again.

        Raises DataError if it was sealed with another key, or for somebody or something else.
        """
        from cryptography.exceptions import InvalidTag

        try:
            content = self._cipher().decrypt(sealed[:_NONCE], sealed[_NONCE:], _bound(owner, site))
        except (InvalidTag, ValueError):
            raise DataError(
                "the kept token cannot be opened: this server's key (GRASP_SECRET_KEY) is another one now; "
                "give the token again"
            ) from None
        return content.decode()

    def _cipher(self) -> AESGCM:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        if self._key is None:
            raise DataError("this server keeps no tokens; whoever runs it can set GRASP_SECRET_KEY")
        return AESGCM(self._key)


def _bound(owner: str, site: str) -> bytes:
    return f"{len(owner)}:{owner}{site}".encode("utf-8", "surrogatepass")


MAX_BYTES = 500 * 2**20
"""The most that is fetched, as the most that is uploaded."""
SECONDS = 600.0
"""The longest that fetching may take."""
_POLL_S = 0.1
_CLIENTS: Mapping[Kind, str] = {
    "label-studio": "label_studio_sdk",
    "argilla": "argilla",
    "hf": "datasets",
    "sql": "sqlalchemy",
}
_INHERITED = (
    *("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "VIRTUAL_ENV", "PYTHONHOME", "LD_LIBRARY_PATH"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX"),
)
_OWN = {
    "HF_HUB_DISABLE_XET": "1",  # a client in Rust, whose connections Python does not see
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_UPDATE_DOWNLOAD_COUNTS": "0",  # it asks another host for that
    "HF_DATASETS_DISABLE_PROGRESS_BARS": "1",
    "DO_NOT_TRACK": "1",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "OPENBLAS_NUM_THREADS": "1",
}

Told = Callable[[str], None]
"""Takes words on how far it is, many times a second; what it raises ends the fetching."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a source held when it was fetched, as a file of a form that is read."""

    source: Source
    name: str
    content: bytes

    @property
    def sha256(self) -> str:
        """Of the content: the same where nothing has changed."""
        return sha256(self.content).hexdigest()


def fetch(
    source: Source,
    token: str = "",
    *,
    hosts: Hosts,
    folder: Folder | None = None,
    told: Told = lambda _: None,
    seconds: float = SECONDS,
) -> Snapshot:
    """Fetch a source.

    `token`: a token, or the password of a database; handed on to the process that fetches and kept nowhere.
    `hosts`: those that may be asked.
    `folder`: where databases in files may be, if not anywhere on this machine.
    `seconds`: the longest that it may take.

    Raises DataError if it may not or cannot be fetched, is empty, too large or takes too long.
    """
    hub = os.environ.get("HF_ENDPOINT", HUB).rstrip("/")
    place = hosts.check(source, hub)
    if source.kind == "sql" and not source.in_file:
        require("PostgreSQL", "postgres")
    require(TOOLS[source.kind], "connectors", _CLIENTS[source.kind])
    if not token and source.kind in NEEDED:
        raise DataError(f"{TOOLS[source.kind]} gives nothing without a token; make one there, and give it")
    with tempfile.TemporaryDirectory(prefix="grasp-source-") as work:
        asked: dict[str, Any] = {
            "source": str(source),
            "token": _usable(token),
            "folder": work,
            "file": _file(source, folder, hosts, Path(work)) if source.in_file else "",
            "hub": hub,
            "seconds": seconds,
            "bytes": MAX_BYTES,
            "memory": current_limits().memory,
            "admitted": None if hosts.any or place is None else _admitted(place, source, hub),
        }
        with _child(asked, hosts, work, hub) as answers:
            name = _answer(answers, source, told, seconds)
        content = (Path(work) / name).read_bytes()
    return Snapshot(source, name, content)


def available(kind: Kind) -> bool:
    """Whether the client that a kind of source needs is installed."""
    return has(_CLIENTS[kind])


def _usable(token: str) -> str:
    token = token.strip()
    if not token.isprintable():
        raise DataError("the token has characters that no token has; copy it again")
    return token


def _file(source: Source, folder: Folder | None, hosts: Hosts, work: Path) -> str:
    """Where a database in a file is; one of the server's folder is copied, as no link may lead out of it."""
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


def _admitted(place: Place, source: Source, hub: str) -> list[tuple[str, int]]:
    hosts = [place.host]
    if source.kind == "hf" and hub == HUB:  # which leads to hosts of its own for the files
        hosts += [".huggingface.co", ".hf.co"]
    return [(host, place.port) for host in hosts]


@contextmanager
def _child(asked: Mapping[str, Any], hosts: Hosts, work: str, hub: str) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "grasp_core.reading.connectors.child"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=_environment(hosts, work, hub),
        cwd=work,  # no folder in which names would be found as files
    )
    try:
        assert process.stdin is not None and process.stdout is not None  # noqa: S101, PT018 - pipes
        process.stdin.write(json.dumps(asked).encode() + b"\n")
        process.stdin.close()
        yield process
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def _environment(hosts: Hosts, work: str, hub: str) -> dict[str, str]:
    """Nothing of a server's secrets, nor its proxies; of one's own machine all but GRASP's."""
    given = {
        name: value
        for name, value in os.environ.items()
        if name in _INHERITED or (hosts.any and not name.startswith(("GRASP_", "PYTHON")))
    }
    caches = {"HF_HOME": work, "ARGILLA_CACHE_DIR": work, "HF_ENDPOINT": hub}
    return given | _OWN | caches | {"PYTHONPATH": str(ROOT)}


def _answer(process: subprocess.Popen[bytes], source: Source, told: Told, seconds: float) -> str:
    """The file's name, once it is written."""
    assert process.stdout is not None  # noqa: S101 - a pipe
    descriptor, rest, words = process.stdout.fileno(), b"", ""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        told(words)
        if not select.select([descriptor], [], [], _POLL_S)[0]:
            continue
        piece = os.read(descriptor, 1 << 16)
        if not piece:
            raise DataError(_why(process.wait(), source))
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            said = json.loads(line)
            if "refused" in said:
                raise DataError(said["refused"])
            if "done" in said:
                return Path(said["done"]).name
            words = said["told"]
    raise DataError(f"{source.shown} did not arrive within {seconds:,.0f} s, the limit; ask for less")


def _why(code: int, source: Source) -> str:
    """Why the process that fetches ended without a word: a signal ends one that takes too much."""
    if code >= 0:
        return FAULT
    return f"{source.shown} takes more memory than reading may; ask for a part of it"
