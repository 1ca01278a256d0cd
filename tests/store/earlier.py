"""Databases as earlier versions left them."""

from __future__ import annotations

import alembic.command
import pytest
import sqlalchemy as sa
from sqlalchemy import URL, Engine

from grasp_core.store.database import connect


def before(monkeypatch: pytest.MonkeyPatch, url: URL, revision: str) -> Engine:
    """An empty database as that migration left it."""
    upgrade = alembic.command.upgrade
    with monkeypatch.context() as patched:
        patched.setattr(alembic.command, "upgrade", lambda config, _: upgrade(config, revision))
        return connect(url)


def insert(connection: sa.Connection, table: str, row: dict[str, object]) -> None:
    """Add a row to a table of any version."""
    connection.execute(sa.table(table, *map(sa.column, row)).insert().values(row))
