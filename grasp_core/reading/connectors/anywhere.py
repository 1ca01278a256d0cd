"""Whatever a person names, as a table: a path, an address of a file, or a source in a tool."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable

from grasp_core.model.settings import read_settings
from grasp_core.reading.connectors.fetching import VARIABLES, Snapshot, Told, fetch
from grasp_core.reading.connectors.hosts import Hosts, hosts_of
from grasp_core.reading.connectors.source import Source, is_source, parse
from grasp_core.reading.sandbox.read import read_table
from grasp_core.reading.sources import allowed
from grasp_core.reading.table.table import Table

Ask = Callable[[Source], str]
"""Asks whoever runs this for a token; empty if there is none."""


def read_anywhere(
    place: str,
    member: str | None = None,
    *,
    token: str | None = None,
    ask: Ask = lambda _: "",
    told: Told = lambda _: None,
) -> Table:
    """Read a path, an address through fsspec, or a source, as whoever runs this may.

    `token`: of a source; by default what the environment has, and then what `ask` gives.

    Raises DataError.
    """
    if not is_source(place):
        return allowed.read_anywhere(place, member)
    source = parse(place)
    if token is None:
        token = os.environ.get(VARIABLES[source.kind]) or ask(source)
    return table_of(fetch(source, token, hosts=_own_hosts(), told=told), member)


def table_of(snapshot: Snapshot, member: str | None = None) -> Table:
    """What was fetched, as a table that knows where it is from."""
    table = read_table(snapshot.content, snapshot.name, member=member)
    return dataclasses.replace(table, source=str(snapshot.source))


def _own_hosts() -> Hosts:
    """Any: who runs a command reads for themselves."""
    name = "GRASP_SOURCE_HOSTS"
    settings = read_settings({name: os.environ[name]} if name in os.environ else {})
    return hosts_of(settings.source_hosts, own_machine=True)
