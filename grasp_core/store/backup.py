"""Backups: all lasting tables in one file, from either kind of database, restored into an empty one.

A backup is a SQLite database with the store's tables, whichever database it was written from, compressed
with gzip. With a key it is encrypted (age, https://age-encryption.org/v1) and begins with a line with its
signature: an age recipient is not secret, so encryption alone does not show who wrote a file.
"""

import gzip
import hmac
import os
import shutil
import sqlite3
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import pyrage
import sqlalchemy as sa
from pyrage import x25519
from sqlalchemy import URL, Connection, Engine, Table
from sqlalchemy.exc import DBAPIError

from grasp_core.model.access import EVERYONE
from grasp_core.model.errors import DataError, SettingsError, StoreError
from grasp_core.store.base import count
from grasp_core.store.database import clock, connect, leave_no_trace, only_one, snapshot, to_read, to_write
from grasp_core.store.people.audit import Head
from grasp_core.store.schema import PASSING, audit_heads, files, links, metadata, projects, runs

_TABLES = tuple(table for table in metadata.sorted_tables if table not in PASSING)
_FIRST_LINE = b"grasp-backup 9 "
_SIGNATURE_BYTES = 64
_HEAD_BYTES = len(_FIRST_LINE) + _SIGNATURE_BYTES + 1
_SIGNED_FOR = b"grasp-backup 9"
_PART_BYTES = 2**20
MAX_RATIO = 1000
"""Largest ratio of unpacked to packed size of GRASP's files; empty pages of SQLite have the largest."""
_ROWS_AT_ONCE = 8
"""Rows to copy at a time: few, as each chunk of a file may have some megabytes."""


def new_key() -> str:
    """Return a new key, in the form that `GRASP_BACKUP_KEY` takes."""
    return str(x25519.Identity.generate())


class BackupKey:
    """Key that encrypts, signs and opens backups: an age identity; raises SettingsError for other text."""

    def __init__(self, text: str) -> None:
        try:
            self._identity = x25519.Identity.from_str(text)
        except pyrage.IdentityError:
            raise SettingsError("GRASP_BACKUP_KEY is no key; the command backup-key makes one.") from None
        self._signing = hmac.digest(str(self._identity).encode("ascii"), _SIGNED_FOR, "sha256")

    def seal(self, plain: IO[bytes], sealed: IO[bytes]) -> None:
        """Encrypt one file into another, signed in its first line."""
        sealed.write(_FIRST_LINE + b"0" * _SIGNATURE_BYTES + b"\n")
        pyrage.encrypt_io(plain, sealed, [self._identity.to_public()])
        sealed.seek(_HEAD_BYTES)
        signature = self._signature(sealed)
        sealed.seek(len(_FIRST_LINE))
        sealed.write(signature)

    def open(self, sealed: IO[bytes], plain: IO[bytes]) -> None:
        """Decrypt one file into another if this key signed it; raises ValueError if it did not."""
        claimed = sealed.read(_HEAD_BYTES)[len(_FIRST_LINE) : -1]
        if not hmac.compare_digest(self._signature(sealed), claimed):
            raise ValueError
        sealed.seek(_HEAD_BYTES)
        pyrage.decrypt_io(sealed, plain, [self._identity])

    def _signature(self, sealed: IO[bytes]) -> bytes:
        """Return the signature of the rest of the file, in hexadecimal."""
        digest = hmac.new(self._signing, digestmod="sha256")
        while part := sealed.read(_PART_BYTES):
            digest.update(part)
        return digest.hexdigest().encode("ascii")


@dataclass(frozen=True, slots=True)
class Contents:
    """Numbers of runs, files and links in a backup."""

    runs: int
    files: int
    links: int


def write_backup(engine: Engine, path: Path, key: BackupKey | None) -> Contents:
    """Write everything to one file, which replaces an earlier one of the name once it is complete.

    Only its owner may read the file, as it has the uploaded data. Without a key, anybody who has the file can
    read and change it. Meanwhile an unencrypted copy is in the system's temporary folder.

    Raises DataError if the file cannot be written.
    """
    if path.is_dir():
        raise DataError(f"{path}: cannot be written, it is a folder; name a file in it")
    part = path.with_name(f"{path.name}.part")
    try:
        with tempfile.TemporaryDirectory(prefix="grasp-backup-") as scratch:
            copied, packed = Path(scratch, "grasp.db"), Path(scratch, "grasp.db.gz")
            copy = connect(URL.create("sqlite", database=str(copied)))
            try:
                with snapshot(engine) as source, to_write(copy) as target:
                    _copy_all(source, target)
                    contents = _contents(target)
                leave_no_trace(copy)
            finally:
                copy.dispose()
            with copied.open("rb") as plain, gzip.open(packed, "wb", 6) as file:
                shutil.copyfileobj(plain, file, _PART_BYTES)
            descriptor = os.open(part, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "r+b") as sealed, packed.open("rb") as plain:
                if key is None:
                    shutil.copyfileobj(plain, sealed, _PART_BYTES)
                else:
                    key.seal(plain, sealed)
        part.replace(path)
    except OSError as error:
        raise DataError(f"{path}: cannot be written ({error.strerror or 'the disk may be full'})") from None
    finally:
        part.unlink(missing_ok=True)
    return contents


def restore_backup(engine: Engine, path: Path, key: BackupKey | None) -> Contents:
    """Restore a backup into an empty database, all of it or nothing; runs that were running are queued.

    Without a key, links are withdrawn: anybody may have written them.

    Raises DataError if the file is no backup, damaged, or made with another key; StoreError if the database
    is not empty.
    """
    with _opened(path, key) as source, to_read(source) as rows, _refused(path), to_write(engine) as here:
        only_one(here, "restore")
        for table in _TABLES:
            own = sa.true() if table is not projects else projects.c.id != EVERYONE
            if here.execute(sa.select(sa.literal(1)).select_from(table).where(own).limit(1)).first():
                raise StoreError("This GRASP is not empty: a backup is restored into an empty one only.")
        _copy_all(rows, here)
        was_running = runs.update().where(runs.c.state == "running")
        here.execute(was_running.where(runs.c.cancel_requested).values(state="cancelled"))
        here.execute(was_running.where(~runs.c.cancel_requested).values(state="queued"))
        here.execute(runs.update().values(lease_until=0.0))
        if key is None:
            works = links.update().where(links.c.revoked_at.is_(None))
            here.execute(works.values(revoked_at=clock(engine)))
        return _contents(here)


def head_in(path: Path, key: BackupKey | None) -> Head | None:
    """Return the head of a backup's audit log, if any; raises DataError as :func:`restore_backup`."""
    with _opened(path, key) as source, to_read(source) as connection:
        row = connection.execute(sa.select(audit_heads)).first()
    return None if row is None else Head(row.first, row.number, row.hash)


def _copy_all(source: Connection, target: Connection) -> None:
    target.execute(projects.delete())  # the source has Everyone too
    for table in _TABLES:
        _copy(table, source, target)


def _copy(table: Table, source: Connection, target: Connection) -> None:
    rows = source.execution_options(yield_per=_ROWS_AT_ONCE).execute(sa.select(table)).mappings()
    for some in rows.partitions():
        target.execute(table.insert(), [dict(row) for row in some])


def _contents(connection: Connection) -> Contents:
    return Contents(*(count(connection, table) for table in (runs, files, links)))


@contextmanager
def _opened(path: Path, key: BackupKey | None) -> Iterator[Engine]:
    """Open the database in a backup, and bring its tables up to date."""
    with tempfile.TemporaryDirectory(prefix="grasp-backup-") as scratch:
        plain = Path(scratch, "grasp.db")
        _unpack(path, key, plain)
        _check_plain(path, plain)
        engine = connect(URL.create("sqlite", database=str(plain)))
        try:
            with _refused(path), engine.connect() as connection:
                for table in _TABLES:
                    connection.execute(sa.select(table).limit(1))
            yield engine
        finally:
            engine.dispose()


def _unpack(path: Path, key: BackupKey | None, plain: Path) -> None:
    """Decrypt and unpack a backup; raises DataError if it is no backup, or cannot be read with this key."""
    packed = plain.with_suffix(".gz")
    try:
        with path.open("rb") as file:
            begins = file.read(len(_FIRST_LINE))
            sealed = begins == _FIRST_LINE
            if begins.startswith(b"PK"):
                raise DataError(f"{path} is of an early state of GRASP 0.2.0; its commit 87d4e69 restores it")
            if not sealed and not begins.startswith(b"\x1f\x8b"):
                raise DataError(f"{path} is no backup of GRASP")
            if sealed and key is None:
                raise DataError(f"{path} is encrypted: set GRASP_BACKUP_KEY to the key that it was made with")
            if not sealed and key is not None:
                raise DataError(f"{path} is neither encrypted nor signed; --unencrypted restores it")
            file.seek(0)
            with packed.open("wb") as target:
                if key is None:
                    shutil.copyfileobj(file, target, _PART_BYTES)
                else:
                    key.open(file, target)
        most = MAX_RATIO * packed.stat().st_size
        with gzip.open(packed) as inside, plain.open("wb") as target:
            while part := inside.read(_PART_BYTES):
                if target.write(part) and target.tell() > most:
                    raise _damaged(path)
    except (ValueError, pyrage.DecryptError):
        raise DataError(f"{path} was changed, or made with another key") from None
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise _damaged(path) from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from None


def _check_plain(path: Path, plain: Path) -> None:
    """Raise a DataError unless it is a sound database with tables alone: triggers and views would be run."""
    try:
        with closing(sqlite3.connect(f"file:{plain}?mode=ro&immutable=1", uri=True)) as connection:
            (sound,) = connection.execute("PRAGMA quick_check(1)").fetchone()
            kinds = {kind for (kind,) in connection.execute("SELECT type FROM sqlite_master")}
            connection.execute("SELECT version_num FROM alembic_version").fetchone()
    except sqlite3.Error:
        raise _damaged(path) from None
    if sound != "ok" or not kinds <= {"table", "index"}:
        raise _damaged(path)


@contextmanager
def _refused(path: Path) -> Iterator[None]:
    """Turn the database's refusal of rows into a DataError, which never quotes them."""
    try:
        yield
    except DBAPIError:
        raise _damaged(path) from None


def _damaged(path: Path) -> DataError:
    return DataError(f"{path} is damaged, or no backup of GRASP; restore another one")
