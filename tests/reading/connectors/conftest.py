"""A PostgreSQL server, and databases with the same votes."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa

from tests.store.conftest import postgres
from tests.store.postgres import Postgres

__all__ = ["postgres"]
ROWS = [("b", 1, "Yes", None), ("a", 2, "No", 0.5), ("a", 10, None, 1.25), ("ü\n", 1, "100%", None)]
TABLE = (
    "CREATE TABLE votes (item TEXT, rater INTEGER, label TEXT, seconds DOUBLE PRECISION, "
    "PRIMARY KEY (item, rater))"
)


@pytest.fixture(scope="session")
def sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("databases") / "votes 1.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(TABLE)
        connection.executemany("INSERT INTO votes VALUES (?, ?, ?, ?)", ROWS)
    connection.close()
    return path


@pytest.fixture(scope="session")
def server(postgres: Postgres) -> str:
    """Address of a database whose search path is public's."""
    engine = sa.create_engine(postgres.new_database().set(query={}), poolclass=sa.NullPool)
    with engine.begin() as connection:
        connection.exec_driver_sql(TABLE)
        connection.exec_driver_sql("INSERT INTO votes VALUES (%s, %s, %s, %s)", ROWS)
    return engine.url.render_as_string().replace("+psycopg", "")
