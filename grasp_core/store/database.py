"""Opening the database: SQLite in one file with no set-up, or PostgreSQL."""

import contextlib
import errno
import functools
import hashlib
import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from shutil import disk_usage
from typing import Any
from urllib.parse import quote

import alembic.command
import alembic.config
import sqlalchemy
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import URL, Connection, Engine, Table, create_engine, event, exc
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from grasp_core.model.access import EVERYONE
from grasp_core.model.errors import SettingsError, StoreError
from grasp_core.model.extras import require
from grasp_core.model.settings import Settings
from grasp_core.store.schema import metadata, projects, runs

BUSY_SECONDS = 20
"""Seconds for which a writer waits for another one."""
POOL = {"pool_size": 15, "max_overflow": 0}
"""Most connections of a process. All stay open, as opening one takes as long as the query made with it."""
MOST_WRITERS = 10
"""Most of these connections that write or wait to write; the others answer those who read. SQLite has one
writer anyway: the next one begins when it ends, where SQLite itself would look again and again."""
LEAST_ROOM = 2**24
"""Bytes that must be free on the file's disk: with less, almost nothing can be saved."""
FULL = "The disk that holds GRASP's database is full; nothing saved is lost."
_BUSY = "The database is busy; try again in a moment."
_EMPTYING_MS = 2_000
"""Milliseconds for which emptying the write-ahead log waits for readers; the next sweep tries again."""
_OWNER_ONLY = 0o600
_HEADER = b"SQLite format 3\x00"
_FILE = "grasp_file"
"""Execution option of an engine: device and inode number of the file that it opened."""
_WRITERS = "grasp_writers"
"""Execution option of an engine: a semaphore of its writers."""
_FileId = tuple[int, int]
_readable: dict[_FileId, int] = {}
"""Descriptors that read files without SQLite. They stay open: closing one would drop all locks that SQLite
has on the file in this process, and another process would delete the log with changes not yet in the file."""
_reading = threading.Lock()


def sqlite_engine(url: URL) -> Engine:
    """Create a file if it is missing, and an engine that never creates it; raises StoreError if it cannot."""
    path = Path(url.database or "")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)  # it has uploaded data
        try:  # an existing file is not opened: closing it would drop SQLite's locks on it
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _OWNER_ONLY))
        except FileExistsError:
            if not os.access(path, os.R_OK | os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES)) from None
        # Nobody else gets rights, whatever rights the folder or an earlier version gave. SQLite gives the
        # files beside it the rights of the database.
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
    """Raise a StoreError if the file that the engine opened is no longer in its place.

    SQLite itself would continue with a deleted file, whose content is lost when the process ends.
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
    """Read the file from the disk, in place of what open connections remember of it.

    Raises StoreError if it is gone, cannot be read, has no table of runs, or its disk is full.
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
        if begins != _HEADER:  # SQLite itself may not notice, as it reads the write-ahead log
            raise unreadable
        with contextlib.closing(sqlite3.connect(_address(path, "ro"), uri=True)) as connection:
            connection.execute("SELECT count(*) FROM runs").fetchone()
    except OSError:
        raise unreadable from None
    except sqlite3.Error as error:
        if "locked" in str(error).lower():  # somebody else uses it
            return
        raise unreadable from None


def empty_log(engine: Engine) -> bool:
    """Move the write-ahead log into the file and empty it; return False if another connection prevents that.

    Deleted content is overwritten in the file (secure_delete), but stays in the log until the log is emptied.
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
    # The write-ahead log comes first: with it, readers and a writer do not wait for each other. While another
    # process makes the file, SQLite refuses this at once, whatever its timeout.
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
    """Let tables be dropped and made again without deleting rows that refer to theirs; not in a transaction.

    SQLite changes tables in no other way. All connections are closed in the end: they ignore foreign keys.
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


_ID_BYTES = 15
CONNECT_SECONDS = 10
"""Seconds within which a PostgreSQL server must accept a connection."""
SECRET = "grasp_secret"  # noqa: S105 - a name
"""Execution option of an engine: see :func:`connect`."""
_POSTGRESQL = "postgresql+psycopg"
_MIGRATIONS = Path(__file__).parent / "migrations"
_FIRST = "0025"
_TOO_OLD = (
    "The database was written by an early state of GRASP 0.2.0, before any release. Commit 87d4e69 of its "
    "repository brings it up to date: start that once, then this one."
)
_upgrading = threading.Lock()  # Alembic keeps its state in module globals


def new_id() -> str:
    """Return a random id for addresses; it never begins with a hyphen, so a command can take it as a word."""
    while (found := secrets.token_urlsafe(_ID_BYTES)).startswith("-"):
        pass
    return found


def digest_of(text: str) -> str:
    """Return the SHA-256 in hexadecimal, which the database keeps in place of a secret or a request."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def database_url(settings: Settings) -> URL:
    """Return the URL that SQLAlchemy opens: PostgreSQL if the settings name it, else a SQLite file.

    Raises SettingsError if the setting is no such URL; it is not quoted, as it may contain a password.
    """
    if not settings.database_url:
        if settings.database_password:
            raise SettingsError("GRASP_DATABASE_PASSWORD needs GRASP_DATABASE_URL too")
        return URL.create("sqlite", database=str(settings.folder / "grasp.db"))
    try:
        url = sqlalchemy.make_url(settings.database_url)
    except (exc.ArgumentError, ValueError):
        url = URL.create("unreadable")
    if url.drivername in ("postgres", "postgresql"):
        url = url.set(drivername=_POSTGRESQL)
    if url.drivername not in (_POSTGRESQL, "sqlite"):
        raise SettingsError("GRASP_DATABASE_URL must look like postgresql://user:password@host:5432/name")
    if settings.database_password and url.password:
        raise SettingsError("GRASP_DATABASE_URL names a password, and so does GRASP_DATABASE_PASSWORD")
    return url.set(password=settings.database_password) if settings.database_password else url


def connect(url: URL, secret: str = "") -> Engine:
    """Open the database and bring its tables up to date; raises StoreError if that cannot be done.

    `secret`: key that is not in the database, for seals of its content; by default there are no seals.
    """
    if url.drivername == "sqlite":
        engine = sqlite_engine(url)
    else:
        require("PostgreSQL (GRASP_DATABASE_URL)", "postgres", "psycopg")
        limits = {} if "connect_timeout" in url.query else {"connect_timeout": CONNECT_SECONDS}
        engine = sqlalchemy.create_engine(url, pool_pre_ping=True, connect_args=limits, **POOL)
    writers = threading.BoundedSemaphore(1 if url.drivername == "sqlite" else MOST_WRITERS)
    engine.update_execution_options(**{SECRET: secret, _WRITERS: writers})
    try:
        with translated_errors():
            _upgrade(engine)
    except CommandError:
        engine.dispose()
        raise StoreError("The database was written by a newer version of GRASP; start that one.") from None
    except exc.ProgrammingError as error:
        engine.dispose()
        raise StoreError("The database does not let GRASP make its tables there.") from error
    except BaseException:
        engine.dispose()
        raise
    return engine


@contextlib.contextmanager
def to_write(engine: Engine, *, alone: str = "") -> Iterator[Connection]:
    """A transaction that writes; in SQLite it takes the write lock at once, so that it cannot deadlock.

    `alone`: name of a task that no other transaction does meanwhile, see :func:`only_one`.
    """
    with _writing(engine), translated_errors(), engine.connect() as plain:
        connection = plain.execution_options(grasp_writes=True)
        with connection.begin():
            if alone:
                only_one(connection, alone)
            yield connection


@contextlib.contextmanager
def _writing(engine: Engine) -> Iterator[None]:
    """Be one of the engine's writers; who waits to be one has no connection meanwhile."""
    writers: threading.Semaphore = engine.get_execution_options()[_WRITERS]
    if not writers.acquire(timeout=BUSY_SECONDS):
        raise StoreError(_BUSY)
    try:
        yield
    finally:
        writers.release()


@contextlib.contextmanager
def to_read(engine: Engine) -> Iterator[Connection]:
    """A transaction that only reads."""
    with translated_errors(), engine.connect() as connection, connection.begin():
        yield connection


@contextlib.contextmanager
def snapshot(engine: Engine) -> Iterator[Connection]:
    """A transaction that only reads, and does not see what others write meanwhile."""
    with translated_errors(), engine.connect() as plain:
        connection = plain
        if engine.dialect.name == "postgresql":  # in SQLite, every transaction is a snapshot
            connection = plain.execution_options(isolation_level="REPEATABLE READ")
        with connection.begin():
            yield connection


@contextlib.contextmanager
def translated_errors() -> Iterator[None]:
    """Turn failures of the database itself into a StoreError with a sentence."""
    try:
        yield
    except PoolTimeoutError as error:
        raise StoreError(_BUSY) from error
    except (exc.OperationalError, exc.InternalError) as error:
        reason = str(error.orig).lower()
        if "disk is full" in reason or "no space left" in reason:
            raise StoreError(FULL) from error
        if "locked" in reason:
            raise StoreError(_BUSY) from error
        raise StoreError("The database cannot be reached; try again in a moment.") from error
    except exc.DBAPIError as error:
        if error.connection_invalidated:
            raise StoreError("The database went away; try again in a moment.") from error
        if type(error) is exc.DatabaseError:  # sqlite3's word for a file that it cannot make sense of
            raise StoreError("GRASP's database file is damaged; restore a backup.") from error
        raise


def check(engine: Engine) -> None:
    """Raise a StoreError unless the database answers and is still the one that was opened."""
    if engine.dialect.name == "sqlite":
        read_anew(engine)
    with to_read(engine) as connection:
        connection.execute(sqlalchemy.select(sqlalchemy.func.count()).select_from(runs))


def leave_no_trace(engine: Engine) -> None:
    """Remove deleted content from SQLite's write-ahead log, unless another connection prevents that."""
    if engine.dialect.name == "sqlite":
        with translated_errors():
            empty_log(engine)


def only_one(connection: Connection, what: str) -> None:
    """Keep other transactions from doing `what` until this one ends; SQLite has only one writer anyway."""
    if connection.dialect.name == "postgresql":
        number = int.from_bytes(
            hashlib.sha256(what.encode("utf-8", "surrogatepass")).digest()[:8], signed=True
        )
        connection.execute(sqlalchemy.select(sqlalchemy.func.pg_advisory_xact_lock(number)))


def clock(engine: Engine) -> Any:
    """The database's own clock, in seconds since 1970: the same for all servers."""
    if engine.dialect.name == "postgresql":
        return sqlalchemy.literal_column(
            "extract(epoch FROM clock_timestamp())::double precision", sqlalchemy.Double
        )
    return sqlalchemy.literal_column("((julianday('now') - 2440587.5) * 86400.0)", sqlalchemy.Double)


def insert_new(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert the rows whose key is not there yet."""
    dialect: Any = postgresql if connection.dialect.name == "postgresql" else sqlite
    if rows:
        connection.execute(dialect.insert(table).on_conflict_do_nothing(), rows)


def _upgrade(engine: Engine) -> None:
    config = alembic.config.Config()
    config.set_main_option("script_location", str(_MIGRATIONS))
    with engine.connect() as connection:  # usually there is nothing to do, and no need for a lock
        if MigrationContext.configure(connection).get_current_revision() == _newest():
            return
    remade = tables_remade(engine) if engine.dialect.name == "sqlite" else contextlib.nullcontext()
    with _upgrading, remade, to_write(engine) as connection:
        only_one(connection, "upgrade")
        config.attributes["connection"] = connection
        found = MigrationContext.configure(connection).get_current_revision()
        if found is None:
            metadata.create_all(connection, checkfirst=False)
            everyone = {"id": EVERYONE, "name": "Everyone", "created_at": clock(engine)}
            connection.execute(projects.insert().values(everyone))
            alembic.command.stamp(config, "head")
        elif found < _FIRST:
            raise StoreError(_TOO_OLD)
        else:
            alembic.command.upgrade(config, "head")


@functools.cache
def _newest() -> str | None:
    return ScriptDirectory(str(_MIGRATIONS)).get_current_head()
