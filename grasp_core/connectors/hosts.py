"""Hosts that sources may be at: those that the installation names, or any where whoever asks is at home."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from grasp_core.connectors.source import HUB, PORTS, Source
from grasp_core.errors import DataError, SettingsError

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

    Parameters
    ----------
    named : tuple of Place
        Those that the installation names.
    any : bool
        Whether others may be asked, too: who asks is at this machine and acts for nobody else.
    """

    named: tuple[Place, ...] = ()
    any: bool = False

    def check(self, source: Source, hub: str = HUB) -> Place | None:
        """The place of a source, with its port; None of a file.

        Raises
        ------
        DataError
            If it may not be asked, or a token would be sent so that others can read it.
        """
        if source.in_file:
            return None
        parts = urlsplit(source.site(hub))
        place = Place(parts.hostname or "", parts.port or PORTS[parts.scheme], parts.scheme == "http")
        entries = [
            entry
            for entry in self.named
            if (entry.host, entry.port or PORTS[parts.scheme]) == (place.host, place.port)
        ]
        safe = not place.plain or _here(place.host) or any(entry.plain for entry in entries)
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
    """Hosts as ``GRASP_SOURCE_HOSTS`` lists them.

    Raises
    ------
    SettingsError
        If an entry is none.
    """
    return Hosts(tuple(map(_place, entries)), own_machine)


def _place(entry: str) -> Place:
    found = _ENTRY.fullmatch(entry)
    if found is None or int(found[3] or 0) > 65535:
        raise SettingsError(
            f"GRASP_SOURCE_HOSTS lists hosts like labels.example.org or db.internal:5433; found {entry!r}"
        )
    return Place(found[2].strip("[]"), int(found[3] or 0), bool(found[1]))


def _here(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
