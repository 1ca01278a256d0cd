"""Files that the options name, wherever they are; tokens come from the environment or are asked for."""

from __future__ import annotations

import getpass
import sys

from grasp_core.cli.terminal.lines import clear_line, note, show_line
from grasp_core.connectors.anywhere import read_anywhere
from grasp_core.connectors.source import TOOLS, Source
from grasp_core.connectors.tokens import NEEDED, VARIABLES
from grasp_core.errors import DataError
from grasp_core.io.table.table import Table
from grasp_core.report.words.printable import printable


def read_place(place: str, member: str | None) -> Table:
    """Read a path, an address or a source.

    Raises
    ------
    DataError
    """
    try:
        table = read_anywhere(place, member, ask=_ask, told=_told)
    finally:
        clear_line()
    if table.source:
        note(printable(f"{table.name} is what {table.source} holds now, SHA-256 {table.sha256}"))
    return table


def _ask(source: Source) -> str:
    """The token, as somebody types it: an option would be seen by others at this machine."""
    if source.in_file or (source.kind == "sql" and "@" not in source.address):
        return ""
    if not sys.stdin.isatty():
        if source.kind in NEEDED:
            raise DataError(f"{TOOLS[source.kind]} asks for a token: put it into {VARIABLES[source.kind]}")
        return ""
    what = "Password" if source.kind == "sql" else "Token"
    return getpass.getpass(f"{what} for {source.shown} (none: Enter; unasked: {VARIABLES[source.kind]}): ")


def _told(words: str) -> None:
    if words:
        show_line(words)
