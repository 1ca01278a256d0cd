"""Stores with their tables and nothing in them: migrated from nothing once, and copied ever after."""

import functools
import tempfile
from pathlib import Path

from sqlalchemy import URL, Engine

from grasp_core.store.database import connect
from tests.store.postgres import Postgres


def open_store(url: URL) -> Engine:
    """Open a database; one in a file that is not there yet need not be migrated from nothing."""
    if url.drivername == "sqlite" and url.database and not Path(url.database).exists():
        Path(url.database).parent.mkdir(parents=True, exist_ok=True)
        Path(url.database).write_bytes(_content())
    return connect(url)


def new_store(server: Postgres) -> URL:
    """Address of a store in PostgreSQL."""
    url = server.new_database()
    server.copy(_migrated(server), url)
    return url


@functools.cache
def _migrated(server: Postgres) -> URL:
    url = server.new_database()
    connect(url).dispose()
    return url


def empty_home(folder: Path) -> str:
    """A server's home with an empty store in it."""
    (folder / "grasp.db").write_bytes(_content())
    return str(folder)


@functools.cache
def _content() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "grasp.db"
        connect(URL.create("sqlite", database=str(path))).dispose()
        return path.read_bytes()
