"""SQLite's file: made for its owner alone, never another one in its place, nothing deleted left in it."""

from __future__ import annotations

import contextlib
import errno
import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from shutil import disk_usage
from typing import Any
from urllib.parse import quote

from sqlalchemy import URL, Connection, Engine, create_engine, event

from grasp_core.model.errors import StoreError

BUSY_SECONDS = 20
"""How long a writer waits for another one."""
POOL = {"pool_size": 15, "max_overflow": 0}
"""Connections of a process, at most; all are kept: opening one takes as long as what is then asked of it."""
LEAST_ROOM = 2**24
"""Bytes that have to be free beside the file: with less, next to nothing can be saved."""
FULL = "The disk that holds GRASP's database is full; nothing saved is lost."
_EMPTYING_MS = 2_000
"""How long emptying the write-ahead log waits for readers; the next sweep tries again."""
_OWNER_ONLY = 0o600
_HEADER = b"SQLite format 3\x00"
_FILE = "grasp_file"
"""Execution option of an engine: device and number of the file that it opened."""
_FileId = tuple[int, int]
_readable: dict[_FileId, int] = {}
"""Descriptors that read files past SQLite. They stay open as long as the process: closing one would take all
locks that SQLite has on the file here, and another process would delete the log of what is not in it yet."""
_reading = threading.Lock()


def sqlite_engine(url: URL) -> Engine:
    """An engine on a file that is there from now on, and never made anew; raises StoreError without one."""
    path = Path(url.database or "")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)  # it holds uploaded data
        try:  # one that is there is not opened, for SQLite may have locks on it
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _OWNER_ONLY))
        except FileExistsError:
            if not os.access(path, os.R_OK | os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES)) from None
        # Others have no rights, whatever the folder and an earlier version gave; SQLite gives the files
        # beside it the rights of the database.
        for beside in ("", "-wal", "-shm"):
            with contextlib.suppress(
                FileNotFoundError, PermissionError
            ):  # gone meanwhile, or somebody else's
                os.chmod(f"{path}{beside}", _OWNER_ONLY)
        opened = path.stat()
    except OSError as error:
        raise StoreError(f"GRASP_HOME cannot be used: {error.strerror}") from None
    options = {_FILE: (opened.st_dev, opened.st_ino)}
    engine = create_engine(url, execution_options=options, **POOL)
    event.listen(engine, "do_connect", _open_what_is_there)
    event.listen(engine, "connect", _set_up)
    event.listen(engine, "begin", _begin)
    return engine


def check_file(engine: Engine) -> None:
    """Refuse to go on where the file that the engine opened is no longer in its place.

    SQLite itself would go on with a deleted file, whose content is lost when the process ends.

    Raises StoreError if the file is gone or is another one.
    """
    opened = engine.get_execution_options().get(_FILE)
    if opened is None:
        return
    try:
        now = os.stat(engine.url.database or "")
    except OSError:
        raise StoreError(
            "GRASP's database file is gone; put it back, or restore a backup, and restart the server."
        ) from None
    if (now.st_dev, now.st_ino) != opened:
        raise StoreError("Another file stands where GRASP's database file was; restart the server.")


def read_anew(engine: Engine) -> None:
    """Read the file as it is on the disk, past all that open connections remember of it.

    Raises StoreError if it is gone, cannot be read, has no runs, or its disk is full.
    """
    check_file(engine)
    path = engine.url.database or ""
    if disk_usage(Path(path).parent).free < LEAST_ROOM:
        raise StoreError(FULL)
    unreadable = StoreError("GRASP's database file cannot be read; restore a backup.")
    try:
        with _reading:
            now = os.stat(path)
            if (now.st_dev, now.st_ino) not in _readable:
                descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
                now = os.fstat(descriptor)
                _readable[now.st_dev, now.st_ino] = descriptor
            begins = os.pread(_readable[now.st_dev, now.st_ino], len(_HEADER), 0)
        if begins != _HEADER:  # what is in the write-ahead log hides that from SQLite
            raise unreadable
        with contextlib.closing(sqlite3.connect(_address(path, "ro"), uri=True)) as connection:
            connection.execute("SELECT count(*) FROM runs").fetchone()
    except OSError:
        raise unreadable from None
    except sqlite3.Error as error:
        if "locked" in str(error).lower():  # somebody is at work in it
            return
        raise unreadable from None


def empty_log(engine: Engine) -> bool:
    """Move the write-ahead log into the file and empty it; returns whether nobody was in the way.

    What was deleted is overwritten in the file (secure_delete), but stays in the log until then.
    """
    with contextlib.closing(engine.raw_connection()) as connection:
        plain: Any = connection.driver_connection
        plain.execute(f"PRAGMA busy_timeout={_EMPTYING_MS}")
        try:
            blocked, _, _ = plain.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except sqlite3.OperationalError:
            return False
        finally:
            plain.execute(f"PRAGMA busy_timeout={BUSY_SECONDS * 1000}")
    return not blocked


def _address(path: str, mode: str) -> str:
    return f"file:{quote(path)}?mode={mode}"


def _open_what_is_there(dialect: Any, _record: Any, arguments: Any, options: Mapping[str, Any]) -> Any:
    return dialect.connect(_address(arguments[0], "rw"), **{**options, "uri": True})


def _set_up(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # SQLAlchemy's transactions are begun in `_begin`
    connection.execute(f"PRAGMA busy_timeout={BUSY_SECONDS * 1000}")
    # A log comes first, so that readers and a writer do not wait for each other. While another process makes
    # the file, SQLite refuses this at once, whatever time it may wait otherwise.
    until = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            break
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(0.05)
    for pragma in ("synchronous=NORMAL", "foreign_keys=ON", "secure_delete=ON"):
        connection.execute(f"PRAGMA {pragma}")


@contextlib.contextmanager
def tables_remade(engine: Engine) -> Iterator[None]:
    """Let tables be dropped and made anew without what refers to their rows going too: not in a transaction.

    SQLite changes a table in no other way. All connections are closed in the end, so that none goes on so.
    """

    def let_go(connection: Any, _record: Any) -> None:
        connection.execute("PRAGMA foreign_keys=OFF")

    engine.dispose()
    event.listen(engine, "connect", let_go)
    try:
        yield
    finally:
        event.remove(engine, "connect", let_go)
        engine.dispose()


def _begin(connection: Connection) -> None:
    writes = connection.get_execution_options().get("grasp_writes")
    if writes:
        check_file(connection.engine)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
