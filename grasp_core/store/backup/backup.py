"""All that lasts in one file, from either database into an empty one.

The file is a zip archive of ``manifest.json`` and one ``NAME.jsonl`` per table: a JSON object a line, bytes
in base64. The manifest has every table's number of rows and SHA-256. With a key, tables are
``NAME.jsonl.age``, and ``signature`` holds for the manifest, see :mod:`grasp_core.store.backup.sealed`.
"""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

import sqlalchemy as sa
from sqlalchemy import Connection, Engine, Table

from grasp_core.access import EVERYONE
from grasp_core.errors import DataError, GraspError, StoreError
from grasp_core.store.backup.earlier_addresses import hold_first
from grasp_core.store.backup.earlier_documents import Documents
from grasp_core.store.backup.members import (
    MANIFEST,
    MAX_MANIFEST_BYTES,
    SIGNATURE,
    UNSIGNED,
    added,
    archive_of,
    check_sealed,
    check_signature,
    check_whole,
    damaged,
    member_name,
    opened,
    parsed,
    rows_refused,
    sign_whole,
)
from grasp_core.store.backup.rows import Row, check_of, plain_of, row_of
from grasp_core.store.backup.sealed import BackupKey
from grasp_core.store.database import clock, only_one, snapshot, to_write
from grasp_core.store.people.audit import Head
from grasp_core.store.schema import PASSING, addresses, audit_heads, files, links, metadata, projects, runs
from grasp_core.version import __version__

FORMAT = "grasp-backup"
FORMAT_VERSION = 8
"""Version 1 lacked remembered readings, submissions, files that stay elsewhere and the counts of long runs;
in version 4 answers about models and shared leaderboards were documents, and there was nothing that is asked
about a run beside its result; version 5 named people by their mail addresses and had no projects; version 6
did not know who holds a mail address, version 7 how often keys of webhooks were made anew and where the audit
log ended, nor was it signed as a whole. All are still restored."""
MAX_LINE_BYTES = 2**28
_TABLES = tuple(table for table in metadata.sorted_tables if table not in PASSING)
_NOT_IN_7 = frozenset({"webhook_keys", "audit_heads"})
_NOT_IN_6 = _NOT_IN_7 | {"addresses"}
_NOT_IN_5 = _NOT_IN_6 | {
    *("people", "audit", "projects", "project_members", "current_projects", "watches", "watch_runs")
}
_NOT_IN_4 = frozenset({"answers"}) | _NOT_IN_5
_NOT_IN_1 = frozenset({"readings", "submissions", "scorings", "tallies"}) | _NOT_IN_4
_TABLES_OF = {
    1: tuple(table for table in _TABLES if table.name not in _NOT_IN_1),
    4: tuple(table for table in _TABLES if table.name not in _NOT_IN_4),
    5: tuple(table for table in _TABLES if table.name not in _NOT_IN_5),
    6: tuple(table for table in _TABLES if table.name not in _NOT_IN_6),
    7: tuple(table for table in _TABLES if table.name not in _NOT_IN_7),
    FORMAT_VERSION: _TABLES,
}
_WITHOUT_PROJECTS = {"project_id": EVERYONE}
"""What rows up to version 5 lack."""
_DOCUMENTS = "documents"
_WITH_DOCUMENTS = 4
_WHOLE_SIGNED = 8
_BATCH_BYTES = 2**22

Move = Callable[[Row], Row | None]
"""The row that one becomes, or None where none is inserted."""


@dataclass(frozen=True, slots=True)
class Contents:
    """Counts of what a backup holds."""

    runs: int
    files: int
    links: int


def write_backup(engine: Engine, path: Path, key: BackupKey | None) -> Contents:
    """Write everything to one file; an earlier one of the name is replaced once the new one is complete.

    The file's owner alone may read it: it has the uploaded data.

    Parameters
    ----------
    engine : sqlalchemy Engine
    path : Path
    key : BackupKey or None
        Encrypts and signs it; without one, whoever has the file reads it and can change it.

    Raises
    ------
    DataError
        If the file cannot be written.
    StoreError
        If the database cannot be read.
    """
    if path.is_dir():
        raise DataError(f"{path}: cannot be written, it is a folder; name a file in it")
    part = path.with_name(f"{path.name}.part")
    try:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            with (
                os.fdopen(descriptor, "wb") as file,
                zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive,
            ):
                contents = _write(engine, archive, key)
            if key is not None:
                sign_whole(part, key)
            part.replace(path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise DataError(f"{path}: cannot be written ({error.strerror})") from None
    return contents


def restore_backup(engine: Engine, path: Path, key: BackupKey | None) -> Contents:
    """Read a backup into an empty database: all of it, or nothing.

    Runs that were being computed wait to be resumed.

    Parameters
    ----------
    engine : sqlalchemy Engine
    path : Path
    key : BackupKey or None
        The one that it was made with; None for one that is not encrypted, whose links are withdrawn:
        anybody may have written them.

    Raises
    ------
    DataError
        If the file is no backup, damaged, changed, made with another key, or of another version.
    StoreError
        If the database is not empty, or cannot be written.
    """
    with _opened(path) as archive:
        return _restore(engine, path, archive, key)


def head_in(path: Path, key: BackupKey | None) -> Head | None:
    """Where the audit log ended when a backup was written; None where nothing was in it, or nobody noted.

    Raises
    ------
    DataError
        As :func:`restore_backup`.
    """
    with _opened(path) as archive:
        version, _ = _checked(path, archive, key)
        if audit_heads not in _TABLES_OF[version]:
            return None
        with opened(archive, audit_heads, key) as member:
            line = member.readline(MAX_LINE_BYTES)
        plain = parsed(path, line) if line else None
    return None if plain is None else Head(plain["first"], plain["number"], plain["hash"])


# Writing


def _write(engine: Engine, archive: zipfile.ZipFile, key: BackupKey | None) -> Contents:
    tables: dict[str, dict[str, Any]] = {}
    with snapshot(engine) as connection:
        for table in _TABLES:
            digest, rows, sealed = hashlib.sha256(), 0, hashlib.sha256()
            with added(archive, table, key, sealed) as member:
                for line in _lines(connection, table):
                    member.write(line)
                    digest.update(line)
                    rows += 1
            tables[table.name] = {"rows": rows, "sha256": digest.hexdigest()}
            if key is not None:
                tables[table.name]["sealed"] = sealed.hexdigest()
        contents = _contents(connection)
    manifest = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "code_version": __version__,
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
        "tables": tables,
    }
    text = json.dumps(manifest, indent=1).encode("ascii")
    archive.writestr(MANIFEST, text)
    if key is not None:
        archive.writestr(SIGNATURE, key.sign(text))
        archive.comment = UNSIGNED
    return contents


def _lines(connection: Connection, table: Table) -> Iterator[bytes]:
    query = sa.select(table).order_by(*table.primary_key.columns)
    for row in connection.execution_options(yield_per=8).execute(query).mappings():
        yield json.dumps(plain_of(dict(row)), separators=(",", ":"), allow_nan=False).encode("ascii") + b"\n"


def _contents(connection: Connection) -> Contents:
    counts = (sa.select(sa.func.count()).select_from(table) for table in (runs, files, links))
    return Contents(*(connection.execute(count).scalar_one() for count in counts))


# Reading


def _members(version: int, sealed: bool) -> list[str]:
    if sealed:
        return sorted([MANIFEST, SIGNATURE, *(member_name(table, sealed) for table in _TABLES_OF[version])])
    names = [table.name for table in _TABLES_OF[version]] + [_DOCUMENTS] * (version == _WITH_DOCUMENTS)
    return sorted([MANIFEST, *(f"{name}.jsonl" for name in names)])


_KNOWN = [_members(version, sealed) for version in _TABLES_OF for sealed in (False, True)]


@contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with path.open("rb") as file, archive_of(path, file, _KNOWN) as archive:
            yield archive
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise damaged(path, type(error).__name__) from None


def _checked(path: Path, archive: zipfile.ZipFile, key: BackupKey | None) -> tuple[int, dict[str, Any]]:
    """A backup's version, and what its manifest says of its tables, once it is as it was written."""
    check_signature(path, archive, key)
    version, expected = _manifest(path, archive)
    if sorted(archive.namelist()) != _members(version, key is not None):
        raise damaged(path, "it holds other files than its version has")
    if key is not None:
        if version >= _WHOLE_SIGNED:
            check_whole(path, archive, key)
        check_sealed(path, archive, _TABLES_OF[version], expected)
    return version, expected


def _restore(engine: Engine, path: Path, archive: zipfile.ZipFile, key: BackupKey | None) -> Contents:
    version, expected = _checked(path, archive, key)
    moved = Documents()
    with rows_refused(path), to_write(engine) as connection:
        only_one(connection, "restore")
        for table in _TABLES:
            own = sa.true() if table is not projects else projects.c.id != EVERYONE
            if connection.execute(sa.select(sa.literal(1)).select_from(table).where(own).limit(1)).first():
                raise StoreError("This GRASP is not empty: a backup is restored into an empty one only.")
        if projects in _TABLES_OF[version]:
            connection.execute(projects.delete())  # Everyone is in the backup, too
        for table, target, move in _moves(version, moved):
            with opened(archive, table, key) as member:
                lacking = _WITHOUT_PROJECTS if projects not in _TABLES_OF[version] else {}
                found = _insert(connection, table, path, member, target, move, lacking)
            if not found.items() <= expected.get(table.name, {}).items():
                raise damaged(path, f"{table.name} is not what was written")
        if addresses not in _TABLES_OF[version]:
            hold_first(connection)
        if key is None:
            connection.execute(
                links.update().where(links.c.revoked_at.is_(None)).values(revoked_at=clock(engine))
            )
        if connection.execute(sa.select(projects.c.id).where(projects.c.id == EVERYONE)).first() is None:
            raise damaged(path, "the project Everyone is missing")
        return _contents(connection)


def _moves(version: int, moved: Documents) -> Iterator[tuple[Table, Table, Move]]:
    """Tables of a backup in order, into which table their rows go, and what they become there."""
    for table in _TABLES_OF[version]:
        if table is links and version == _WITH_DOCUMENTS:
            yield moved.documents, runs, moved.run
            yield moved.links, links, moved.link
        else:
            yield table, table, _as_it_is


def _as_it_is(row: Row) -> Row:
    return row


def _manifest(path: Path, archive: zipfile.ZipFile) -> tuple[int, dict[str, Any]]:
    with archive.open(MANIFEST) as member:
        plain = parsed(path, member.read(MAX_MANIFEST_BYTES))
    if plain.get("format") != FORMAT:
        raise DataError(f"{path} is no backup of GRASP: its format is not {FORMAT}")
    version = plain.get("version")
    if not isinstance(version, int) or version not in _TABLES_OF:
        known = " and ".join(map(str, _TABLES_OF))
        raise DataError(f"{path} has format version {str(version)[:20]!r}; this GRASP reads {known}")
    tables = plain.get("tables")
    if not isinstance(tables, dict):
        raise damaged(path, "the manifest has no tables")
    return version, tables


def _insert(
    connection: Connection,
    table: Table,
    path: Path,
    member: IO[bytes],
    target: Table,
    move: Move,
    lacking: Row,
) -> dict[str, Any]:
    """Insert a member's rows, completed and moved; returns what the manifest says of unchanged ones."""
    added = {name: value for name, value in lacking.items() if name in table.columns}
    digest, rows, size = hashlib.sha256(), 0, 0
    batch: list[Row] = []
    check = check_of(table)
    while line := member.readline(MAX_LINE_BYTES):
        digest.update(line)
        rows, size = rows + 1, size + len(line)
        try:
            row = row_of(table, {**added, **parsed(path, line)})
            check(row)
            become = move(row)
        except (ValueError, KeyError, TypeError, zlib.error, GraspError) as error:
            # The place alone: what is there may be somebody's data.
            raise damaged(path, f"line {rows} of {table.name}, {type(error).__name__}") from None
        if become is not None:
            batch.append(become)
        if size > _BATCH_BYTES and batch:
            connection.execute(target.insert(), batch)
            batch, size = [], 0
    if batch:
        connection.execute(target.insert(), batch)
    try:
        check(None)
    except ValueError:
        raise damaged(path, f"the end of {table.name}") from None
    return {"rows": rows, "sha256": digest.hexdigest()}
