"""Readers of exports, chosen by a file's content: they return None for another tool's, and refuse damage."""

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from grasp_core.reading.archives.containers import Archive
from grasp_core.reading.files import json_files
from grasp_core.reading.files.headers import without_descriptions
from grasp_core.reading.files.json_files import Record
from grasp_core.reading.formats.shapes import column_groups, list_cells, lists
from grasp_core.reading.formats.tools import (
    argilla,
    doccano,
    inception,
    label_studio,
    lewidi,
    mturk,
    potato,
    prodigy,
    surveys,
    zooniverse,
)
from grasp_core.reading.table.table import Parsed


class Format(NamedTuple):
    """A tool's readers: for a JSON file's records and for a table, with the file's name; for an archive."""

    records: Callable[[Sequence[Record], str], Parsed | None] | None = None
    archive: Callable[[Archive], Parsed | None] | None = None
    table: Callable[[Parsed, str], Parsed | None] | None = None


TOOLS = (
    Format(label_studio.read, table=label_studio.read_table),
    Format(prodigy.read),
    Format(argilla.read, table=argilla.read_table),
    Format(inception.read, inception.read_archive),
    Format(potato.read, potato.read_archive, potato.read_table),
    Format(doccano.read, doccano.read_archive, doccano.read_table),
    Format(lewidi.read),
    Format(table=mturk.read_table),
    Format(table=zooniverse.read_table),
    Format(table=surveys.read_table),
)
SHAPES = (Format(lists.read, table=list_cells.read_table), Format(table=column_groups.read_table))
"""Readers for forms of files that belong to no tool."""


def _first(readers: Iterable[Callable[..., Parsed | None] | None], *given: Any) -> Parsed | None:
    found = (read(*given) for read in readers if read is not None)
    return next((parsed for parsed in found if parsed is not None), None)


def of_records(records: Sequence[Record], name: str) -> Parsed | None:
    """Read the records of a JSON file with a tool's reader; None if no reader fits."""
    return _first((one.records for one in (*TOOLS, *SHAPES)), records, name)


def of_archive(archive: Archive) -> Parsed | None:
    """Read an archive as a whole with a tool's reader; None if no reader fits."""
    return _first((one.archive for one in TOOLS), archive)


def takes_lists(head: Sequence[Record]) -> bool:
    """Return whether the first rows are from a tool's export whose reader needs the lists in cells."""
    return argilla.is_export(head) or potato.is_table(tuple(head[0]))


def of_lists(records: Sequence[Record], name: str, written: str) -> Parsed:
    """Read a table from its records with a tool's reader, or plainly, for :func:`of_table` to recognise."""
    known = argilla.read(records, name, written)
    return json_files.table(records, name, written) if known is None else known


def of_table(parsed: Parsed, name: str) -> Parsed:
    """Return the table with a tool's reading, if it is a tool's export; members and problems stay."""
    known = _first((one.table for one in TOOLS), parsed, name)
    if known is None:
        plain = without_descriptions(parsed, name)
        known = _first((one.table for one in SHAPES), plain, name)
        known = plain if known is None else known
    problems = tuple(dict.fromkeys((*parsed.problems, *known.problems)))
    return dataclasses.replace(known, problems=problems, members=parsed.members, member=parsed.member)
