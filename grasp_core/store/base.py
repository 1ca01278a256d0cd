"""Base classes of all stores: they query the database, and limit every statement to what is in reach."""

import copy
import dataclasses
import threading
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Generic, Self, TypeVar, cast

import sqlalchemy as sa
from sqlalchemy import Connection, Engine

from grasp_core.model.access import EVERYTHING, Reach
from grasp_core.model.errors import AccessError
from grasp_core.store.database import clock, to_read, to_write
from grasp_core.store.schema import projects, runs

T = TypeVar("T")
_MOST_KNOWN = 10_000


def from_row(kind: Callable[..., T], row: Any, **more: Any) -> T:
    """Build a data class: its fields are in `more`, or have the name of one of the row's columns."""
    names = [one.name for one in dataclasses.fields(cast(Any, kind)) if one.name not in more]
    return kind(**{name: getattr(row, name) for name in names}, **more)


def count(connection: Connection, table: sa.FromClause, *which: sa.ColumnElement[bool]) -> int:
    """Return the number of a table's rows that meet all conditions."""
    return connection.execute(sa.select(sa.func.count()).select_from(table).where(*which)).scalar_one()


def put(connection: Connection, table: sa.Table, key: Mapping[str, Any], **values: Any) -> None:
    """Insert a row, after deleting the rows that have the same values in the columns of `key`."""
    connection.execute(table.delete().where(*(table.c[name] == value for name, value in key.items())))
    connection.execute(table.insert().values(**key, **values))


class RecentReads(Generic[T]):
    """Cache of values read from the database a moment ago, by key; any change by this process empties it."""

    def __init__(self) -> None:
        self._known: dict[Hashable, tuple[float, T]] = {}
        self._lock = threading.Lock()
        self.changes = 0

    def get(self, key: Hashable, seconds: float) -> T | None:
        """Return the key's value if it was read less than `seconds` ago, else None."""
        known = self._known.get(key)
        return known[1] if known is not None and time.monotonic() - known[0] < seconds else None

    def keep(self, key: Hashable, found: T, changes: int) -> None:
        """Keep a value that was read when `changes` was the count of changes, unless it has risen since."""
        with self._lock:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            if changes == self.changes:
                self._known[key] = (time.monotonic(), found)

    def forget(self) -> None:
        """Count a change, and drop all values."""
        with self._lock:
            self.changes += 1
            self._known.clear()


class Store:
    """Base class of stores; each of its own methods is one transaction."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @property
    def _now(self) -> Any:
        """The database's clock."""
        return clock(self._engine)

    def _rows(self, query: sa.Select[Any]) -> Sequence[Any]:
        with to_read(self._engine) as connection:
            return connection.execute(query).all()

    def _row(self, query: sa.Select[Any]) -> Any:
        with to_read(self._engine) as connection:
            return connection.execute(query).one_or_none()

    def _values(self, query: sa.Select[Any]) -> Sequence[Any]:
        with to_read(self._engine) as connection:
            return connection.scalars(query).all()

    def _value(self, query: sa.Select[Any]) -> Any | None:
        with to_read(self._engine) as connection:
            return connection.scalars(query).one_or_none()

    def _write(self, statement: sa.UpdateBase) -> int:
        """Run a statement that changes rows; return how many it changed."""
        with to_write(self._engine) as connection:
            return connection.execute(statement).rowcount


class Bound(Store):
    """Base class of stores with a reach; a new one reaches everything, and adds to the project Everyone."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self._reach = EVERYTHING

    def within(self, reach: Reach) -> Self:
        """Return a copy of the store that is limited to a reach."""
        bound = copy.copy(self)
        bound._reach = reach
        return bound

    @property
    def _home(self) -> str:
        """The project whose rows are listed, and to which new rows are added."""
        return self._reach.home

    def _seen(self, project: sa.ColumnElement[Any]) -> sa.ColumnElement[bool]:
        """SQL condition that a row's project is within reach."""
        return sa.true() if self._reach.projects is None else project.in_(sorted(self._reach.projects))

    def _seen_by_id(self, table: sa.Table, row_id: str) -> sa.ColumnElement[bool]:
        """SQL condition that a row has this id, and its project is within reach."""
        return (table.c.id == row_id) & self._seen(table.c.project_id)

    def _of_seen_run(self, run_id: sa.ColumnElement[Any]) -> sa.ColumnElement[bool]:
        """SQL condition that a row belongs to a run within reach."""
        if self._reach.projects is None:
            return sa.true()
        return run_id.in_(sa.select(runs.c.id).where(self._seen(runs.c.project_id)))

    def _check_open(self, connection: Connection) -> None:
        """Raise an AccessError if the project is archived or was deleted: nothing can be added to it then."""
        query = sa.select(projects.c.archived_at).where(projects.c.id == self._home)
        row = connection.execute(query).one_or_none()
        if row is None:
            raise AccessError("This project was deleted; choose another one.")
        if row.archived_at is not None:
            raise AccessError(
                "This project is archived, so nothing is added to it; choose another one, or ask its owners."
            )
