"""Stores on SQLite, and on PostgreSQL in `make test-long`; :mod:`tests.store.both` has it in every run.

PostgreSQL is skipped, visibly, where its server programs are missing.
"""

import functools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import URL, Engine

from tests.empty_store import new_store, open_store
from tests.engine.asking import planting as planting
from tests.store.postgres import Postgres, programs

NewDatabase = Callable[[], URL]
DATABASES = ["sqlite", pytest.param("postgresql", marks=pytest.mark.long)]


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    binaries = programs()
    if binaries is None:
        pytest.skip("needs PostgreSQL's server programs: install Debian's package postgresql")
    server = Postgres(binaries)
    yield server
    server.remove()


@pytest.fixture(params=DATABASES)
def new_database(request: pytest.FixtureRequest, tmp_path: Path) -> NewDatabase:
    """Makes a database for :func:`open_store` and returns its address."""
    if request.param == "postgresql":
        return functools.partial(new_store, request.getfixturevalue("postgres"))
    return _in_files(tmp_path)


@pytest.fixture(params=DATABASES)
def bare_database(request: pytest.FixtureRequest, tmp_path: Path) -> NewDatabase:
    """Makes a database without a table and returns its address."""
    if request.param == "postgresql":
        server: Postgres = request.getfixturevalue("postgres")
        return server.new_database
    return _in_files(tmp_path)


def _in_files(folder: Path) -> NewDatabase:
    numbers = iter(range(100))
    return lambda: URL.create("sqlite", database=str(folder / f"{next(numbers)}.db"))


@pytest.fixture
def engine(new_database: NewDatabase) -> Iterator[Engine]:
    made = open_store(new_database())
    yield made
    made.dispose()
