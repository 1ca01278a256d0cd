"""Opening the database: SQLite in one file with no set-up, or PostgreSQL."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import alembic.command
import alembic.config
import sqlalchemy
from sqlalchemy import Connection, Engine, event
from sqlalchemy.exc import DBAPIError, OperationalError

from grasp_core.errors import StoreError
from grasp_core.settings import Settings

BUSY_SECONDS = 20
"""How long a writer waits for another one in SQLite."""
_MIGRATION_LOCK = 0x67726173_70  # any fixed number: servers that start together upgrade one by one


def database_url(settings: Settings) -> str:
    """The URL that SQLAlchemy opens: PostgreSQL where it is set, else a SQLite file."""
    url = settings.database_url
    if not url:
        return f"sqlite:///{settings.folder / 'grasp.db'}"
    for scheme in ("postgres://", "postgresql://"):
        if url.startswith(scheme):
            return "postgresql+psycopg://" + url.removeprefix(scheme)
    return url


def connect(url: str) -> Engine:
    """Open the database and bring its tables up to date.

    Raises
    ------
    StoreError
        If it cannot be reached, written or upgraded.
    """
    parsed = sqlalchemy.make_url(url)
    if parsed.get_backend_name() == "sqlite" and parsed.database:
        try:
            Path(parsed.database).parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"GRASP_HOME cannot be used: {error.strerror}") from None
    engine = sqlalchemy.create_engine(parsed, pool_pre_ping=True)
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _set_up_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
    with translated_errors():
        _upgrade(engine)
    return engine


@contextlib.contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """A transaction that writes; in SQLite it takes the write lock at once, so that it cannot deadlock."""
    with translated_errors(), engine.connect() as plain:
        connection = plain.execution_options(grasp_writes=True)
        with connection.begin():
            yield connection


@contextlib.contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """A transaction that only reads."""
    with translated_errors(), engine.connect() as connection, connection.begin():
        yield connection


@contextlib.contextmanager
def translated_errors() -> Iterator[None]:
    """Turn failures of the database itself into a sentence."""
    try:
        yield
    except OperationalError as error:
        reason = str(error.orig).lower()
        if "full" in reason or "no space" in reason:
            raise StoreError(
                "The disk that holds GRASP's database is full; nothing saved is lost."
            ) from error
        if "locked" in reason:
            raise StoreError("The database is busy; try again in a moment.") from error
        raise StoreError("The database cannot be reached; try again in a moment.") from error
    except DBAPIError as error:
        if error.connection_invalidated:
            raise StoreError("The database went away; try again in a moment.") from error
        raise


def _set_up_sqlite(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # SQLAlchemy's transactions are begun in `_begin_sqlite`
    for pragma in (
        "journal_mode=WAL",
        "synchronous=NORMAL",
        "foreign_keys=ON",
        f"busy_timeout={BUSY_SECONDS * 1000}",
    ):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get("grasp_writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _upgrade(engine: Engine) -> None:
    config = alembic.config.Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    with writing(engine) as connection:
        if engine.dialect.name == "postgresql":
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK})")
        config.attributes["connection"] = connection
        alembic.command.upgrade(config, "head")
