"""Bytes of any format as a parsed table, recognised by their content.

Nothing here limits what memory and time a hostile file takes: :mod:`grasp_core.io.parsing.limited` runs it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import PurePosixPath

from grasp_core.errors import DataError
from grasp_core.io.archives import containers, foreign
from grasp_core.io.archives.containers import Archive
from grasp_core.io.archives.members import Member, together
from grasp_core.io.files import delimited, encodings, workbooks
from grasp_core.io.files import json_files as json_records
from grasp_core.io.formats import registry
from grasp_core.io.formats.columnar import arrow_files, parquet, saved_dataset, statistical
from grasp_core.io.formats.tools import doccano_fasttext
from grasp_core.io.table.parsed import Parsed, Watch
from grasp_core.wording import listed, quoted


def parse(raw: bytes, name: str, member: str | None, watch: Watch) -> Parsed:
    """Read a table from a file of any format that docs/formats.md lists.

    Parameters
    ----------
    raw : bytes
    name : str
        The file's name for messages.
    member : str or None
        Sheet of a workbook or file in an archive; None for what
        :func:`~grasp_core.io.archives.members.together` makes of all.
    watch : callable
        Told how far reading is; may raise to stop it.

    Raises
    ------
    DataError
        If the file cannot be read or holds no table.
    """
    content, packed = containers.unpack(raw, name)
    if content.startswith(containers.ZIP):
        parsed = _parse_zip(content, name, member, watch)
    elif content.startswith(workbooks.OLD_EXCEL):
        parsed = _parse_workbook(content, name, member)
    elif member is not None:
        raise DataError(
            f"{name} has no sheets or files to choose {quoted(member)} from; leave the choice out"
        )
    else:
        parsed = _parse_single(content, name, watch)
    return dataclasses.replace(parsed, kind=parsed.kind + (f", {packed}" if packed else ""))


def _parse_zip(content: bytes, name: str, member: str | None, watch: Watch) -> Parsed:
    archive = Archive(content, name)
    names = archive.names
    if workbooks.is_workbook(names):
        foreign.refuse_archive(names, archive.member, name)
        return _parse_workbook(content, name, member)
    whole = registry.of_archive(names, archive.member, name)
    if whole is not None:
        return whole
    saved = saved_dataset.read(names, archive.member, name, member, watch)
    if saved is not None:
        return dataclasses.replace(saved, kind=f"{saved.kind}, zip")
    foreign.refuse_archive(names, archive.member, name)
    if member is not None and member not in names:
        raise DataError(f"{name} holds no file {quoted(member)}; its files are {listed(names)}")
    if member is None:
        return _parse_all(archive, name, watch)
    inside = archive.member(member)
    return dataclasses.replace(_parse_member(inside, name, member, watch), members=names, member=member)


def _parse_all(archive: Archive, name: str, watch: Watch) -> Parsed:
    """The table that an archive's files make together; others may say how to read them."""
    refused: dict[str, DataError] = {}
    tables: list[Member] = []
    size = 0
    for member in archive.names:
        inside = archive.member(member)  # a damaged archive is not gone on with
        size += len(inside)
        containers.check_size(size, name)
        try:
            tables.append(Member(member, _parse_member(inside, name, member, watch)))
        except DataError as error:
            refused[member] = error
    if not tables:
        raise next(iter(refused.values()))
    parsed = together(tables, list(refused), name, "file")
    return dataclasses.replace(parsed, members=archive.names if len(archive.names) > 1 else ())


def _parse_member(inside: bytes, name: str, member: str, watch: Watch) -> Parsed:
    shown = f"{name}, {PurePosixPath(member).name}"
    if not inside.startswith(containers.ZIP):
        parsed = _parse_single(inside, shown, watch)
    elif workbooks.is_workbook(Archive(inside, shown).names):
        parsed = _parse_workbook(inside, shown, None)
    else:
        raise DataError(f"{shown} is a zip archive inside another; pack its files once")
    return dataclasses.replace(parsed, kind=f"{parsed.kind}, zip")


def _parse_workbook(content: bytes, name: str, member: str | None) -> Parsed:
    found, sheets = workbooks.parse(content, name, member)
    tables = [dataclasses.replace(one, parsed=registry.of_table(one.parsed, name)) for one in found]
    held = {one.name for one in tables}
    others = [sheet for sheet in sheets if sheet not in held] if member is None else []
    parsed = together(tables, others, name, "sheet")
    several = len(sheets) > 1
    return dataclasses.replace(
        parsed, members=sheets if several else (), member=parsed.member if member is None else member
    )


def _parse_single(content: bytes, name: str, watch: Watch) -> Parsed:
    if content.startswith(workbooks.OLD_EXCEL):
        return _parse_workbook(content, name, None)
    if content.startswith(parquet.MAGIC):
        return registry.of_table(parquet.parse([content], name, watch), name)
    if arrow_files.is_arrow(content):
        return registry.of_table(arrow_files.parse([content], name, watch), name)
    if statistical.is_statistical(content):
        return registry.of_table(statistical.parse(content, name, watch), name)
    foreign.refuse(content, name)
    text, encoding, notes = encodings.to_utf8(content, name)
    parsed = _parse_text(text, name, watch)
    kind = parsed.kind if encoding == "UTF-8" else f"{parsed.kind}, {encoding}"
    return dataclasses.replace(parsed, kind=kind, problems=(*notes, *parsed.problems))


def _parse_text(content: bytes, name: str, watch: Watch) -> Parsed:
    start = content[:1024].lstrip()
    if doccano_fasttext.is_fasttext(content):
        raise doccano_fasttext.nobody(name)
    if start.startswith((b"{", b"[")):
        found, kind = json_records.records(content, name)
        known = registry.of_records(found, name)
        return known or registry.of_table(json_records.table(found, name, kind), name)
    return registry.of_table(delimited.parse(content, name, watch), name)


def parse_folder(contents: Sequence[bytes], name: str, watch: Watch) -> Parsed:
    """Read the Parquet files of a folder as one table.

    Raises
    ------
    DataError
        If one of them cannot be read, or they do not fit together.
    """
    return registry.of_table(parquet.parse(contents, name, watch), name)
