"""Hosts that may be reached: by name, from the process that fetches."""

from __future__ import annotations

import re
import socket
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from grasp_core.model.errors import DataError, SettingsError
from grasp_core.model.settings import on_this_machine
from grasp_core.reading.connectors.source import HUB, PORTS, Source

_FORBIDDEN = ("subprocess.Popen", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.system")
_SENT = ("socket.connect", "socket.sendto", "socket.sendmsg", "socket.bind")

Admits = Callable[[str, int], bool]
"""Whether a host may be asked at a port."""
refused: list[str] = []
"""Hosts that were asked for and not admitted; libraries change the errors that they get."""


class NotAdmittedError(PermissionError):
    """A connection that may not be."""


def keep_to(admits: Admits) -> None:
    """Let this process, from now on, connect to what `admits` says and start no other."""
    known: set[tuple[str, int]] = set()
    ask = socket.getaddrinfo

    def asked(host: Any, port: Any, *args: Any, **kwargs: Any) -> Any:
        name = host.decode("ascii", "replace") if isinstance(host, bytes) else str(host)
        number = int(port) if str(port).isdecimal() else -1
        if not admits(name.casefold().rstrip("."), number):
            refused.append(name)
            raise NotAdmittedError(name)
        found = ask(host, port, *args, **kwargs)
        known.update((str(entry[4][0]), int(entry[4][1])) for entry in found)
        return found

    def watch(event: str, args: tuple[Any, ...]) -> None:
        if event in _FORBIDDEN:
            raise NotAdmittedError(event)
        if event in _SENT:
            address = args[1]
            if address is None:  # of a connection that is there
                return
            if not isinstance(address, tuple) or tuple(address[:2]) not in known:
                refused.append(str(address[0] if isinstance(address, tuple) else "a socket of this machine"))
                raise NotAdmittedError

    socket.getaddrinfo = asked
    sys.addaudithook(watch)


_ENTRY = re.compile(r"(http://)?([a-z0-9][a-z0-9._-]*|\[[0-9a-f:.]+\])(?::(\d{1,5}))?")


@dataclass(frozen=True, slots=True)
class Place:
    """A host with its port; 0 is the usual one of whatever is asked. What is `plain` is not encrypted."""

    host: str
    port: int
    plain: bool = False


@dataclass(frozen=True, slots=True)
class Hosts:
    """Hosts that may be asked.

    `named`: those that the installation names.
    `any`: whether others may be asked, too: who asks is at this machine and acts for nobody else.
    """

    named: tuple[Place, ...] = ()
    any: bool = False

    def check(self, source: Source, hub: str = HUB) -> Place | None:
        """The place of a source, with its port; None of a file."""
        if source.in_file:
            return None
        parts = urlsplit(source.site(hub))
        place = Place(parts.hostname or "", parts.port or PORTS[parts.scheme], parts.scheme == "http")
        entries = [
            entry
            for entry in self.named
            if (entry.host, entry.port or PORTS[parts.scheme]) == (place.host, place.port)
        ]
        safe = not place.plain or on_this_machine(place.host) or any(entry.plain for entry in entries)
        if (entries or self.any) and safe:
            return place
        shown = f"{place.host}:{place.port}"
        if entries or self.any:
            raise DataError(
                f"{shown} is asked without encryption, so others could read the token; write https://, or "
                f"name http://{shown} in GRASP_SOURCE_HOSTS if the way there is safe"
            )
        known = ", ".join(entry.host for entry in self.named)
        raise DataError(
            f"{shown} is not a host that this server may ask; "
            + (f"it may ask {known}" if known else "it may ask none")
            + "; whoever runs it can name others in GRASP_SOURCE_HOSTS"
        )


def hosts_of(entries: Sequence[str], *, own_machine: bool) -> Hosts:
    """Hosts as ``GRASP_SOURCE_HOSTS`` lists them."""
    return Hosts(tuple(map(_place, entries)), own_machine)


def _place(entry: str) -> Place:
    found = _ENTRY.fullmatch(entry)
    if found is None or int(found[3] or 0) > 65535:
        raise SettingsError(
            f"GRASP_SOURCE_HOSTS lists hosts like labels.example.org or db.internal:5433; found {entry!r}"
        )
    return Place(found[2].strip("[]"), int(found[3] or 0), bool(found[1]))
