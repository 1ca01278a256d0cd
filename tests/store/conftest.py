"""Stores on both databases; PostgreSQL is skipped, visibly, where its server programs are missing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import URL, Engine

from tests.empty_store import open_store
from tests.store.postgres import Postgres, programs

NewDatabase = Callable[[], URL]


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    binaries = programs()
    if binaries is None:
        pytest.skip("needs PostgreSQL's server programs: install Debian's package postgresql")
    server = Postgres(binaries)
    yield server
    server.remove()


@pytest.fixture(params=["sqlite", "postgresql"])
def new_database(request: pytest.FixtureRequest, tmp_path: Path) -> NewDatabase:
    """Makes an empty database and returns its address."""
    if request.param == "postgresql":
        server: Postgres = request.getfixturevalue("postgres")
        return server.new_database
    numbers = iter(range(100))
    return lambda: URL.create("sqlite", database=str(tmp_path / f"{next(numbers)}.db"))


@pytest.fixture
def engine(new_database: NewDatabase) -> Iterator[Engine]:
    made = open_store(new_database())
    yield made
    made.dispose()
