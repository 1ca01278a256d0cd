"""Which tool an export comes from: told by its content, never by its name.

A reader returns None where a file is not its tool's. What is damaged in one that is, DataError names.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from grasp_core.reading.files import json_files
from grasp_core.reading.files.json_files import Record
from grasp_core.reading.formats.shapes import column_groups, lists
from grasp_core.reading.formats.shapes.described import without_descriptions
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
from grasp_core.reading.table.parsed import Parsed

RecordReader = Callable[[Sequence[Record], str], Parsed | None]
ArchiveReader = Callable[[Sequence[str], Callable[[str], bytes], str], Parsed | None]
TableReader = Callable[[Parsed, str], Parsed | None]

RECORD_READERS: tuple[RecordReader, ...] = (
    label_studio.read,
    prodigy.read,
    argilla.read,
    doccano.read,
    inception.read,
    potato.read,
    lewidi.read,
    lists.read,  # takes what no tool's name is known for
)
"""Each takes the records of a JSON file and its name, and returns None where they are not its tool's."""
ARCHIVE_READERS: tuple[ArchiveReader, ...] = (
    inception.read_archive,
    potato.read_archive,
    doccano.read_archive,
)
"""Each takes the names of an archive's files, a function that reads one, and the archive's name."""
TABLE_READERS: tuple[TableReader, ...] = (
    label_studio.read_table,
    doccano.read_table,
    mturk.read_table,
    potato.read_table,
    surveys.read_prolific,
    argilla.read_table,
    zooniverse.read_table,
    surveys.read_qualtrics,
    surveys.read_surveymonkey,
    surveys.read_sosci,
)
"""Each takes a table as parsed and its file's name."""
SHAPE_READERS: tuple[TableReader, ...] = (lists.read_table, column_groups.read_table)
"""The same, of what no tool's name is known for."""


def _first(readers: Iterable[Callable[..., Parsed | None]], *given: Any) -> Parsed | None:
    found = (read(*given) for read in readers)
    return next((parsed for parsed in found if parsed is not None), None)


def of_records(records: Sequence[Record], name: str) -> Parsed | None:
    """The records of a JSON file as a tool's reader makes a table of them."""
    return _first(RECORD_READERS, records, name)


def of_archive(names: Sequence[str], member: Callable[[str], bytes], name: str) -> Parsed | None:
    """An archive as a whole, as a tool's reader makes a table of it."""
    return _first(ARCHIVE_READERS, names, member, name)


def takes_lists(head: Sequence[Record]) -> bool:
    """Whether the first rows of a table are of a tool's export whose reader needs the lists in its cells."""
    return argilla.is_export(head) or potato.is_table(tuple(head[0]))


def of_lists(records: Sequence[Record], name: str, written: str) -> Parsed:
    """The table as a tool's reader makes it, or will make it by :func:`of_table`."""
    known = argilla.read(records, name, written)
    return json_files.table(records, name, written) if known is None else known


def of_table(parsed: Parsed, name: str) -> Parsed:
    """The table with a tool's reading of it, where it is one's export; it keeps its parts and problems."""
    known = _first(TABLE_READERS, parsed, name)
    if known is None:
        plain = without_descriptions(parsed, name)
        known = _first(SHAPE_READERS, plain, name) or plain
    problems = tuple(dict.fromkeys((*parsed.problems, *known.problems)))
    return dataclasses.replace(known, problems=problems, members=parsed.members, member=parsed.member)
