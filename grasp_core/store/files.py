"""Files of runs: uploads, kept under a quota while a run needs them, and references to files elsewhere."""

import hashlib
import zlib
from collections.abc import Collection
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy import Connection, Engine

from grasp_core.model.errors import LimitError
from grasp_core.store.base import Bound
from grasp_core.store.claims import GOING
from grasp_core.store.database import leave_no_trace, only_one, to_read, to_write
from grasp_core.store.schema import chunks, files, run_files, runs

CHUNK_BYTES = 4 * 2**20
QUOTA_BYTES = 2 * 2**30
"""Default room for one user's files."""


class KnownFile(NamedTuple):
    """A file that somebody brought, with its last name; `location` is None if its content is stored here."""

    sha256: str
    name: str | None
    bytes: int
    created_at: float
    location: str | None
    source: str | None


class FileStore(Bound):
    """Files of a project, by content: stored in the database, or only the location of a file elsewhere."""

    def __init__(self, engine: Engine, *, quota: int = QUOTA_BYTES) -> None:
        super().__init__(engine)
        self._quota = quota

    def put(self, content: bytes, *, owner: str, source: str | None = None, name: str | None = None) -> str:
        """Keep a file, its name and its source; returns its sha256. Raises LimitError over the quota."""
        sha256 = hashlib.sha256(content).hexdigest()
        now = self._now
        known, stored = self._is(sha256), files.c.location.is_(None)
        latest: dict[str, Any] = {} if source is None else {"source": source}
        if name is not None:  # only the owner renames it
            latest["name"] = sa.case((files.c.owner == owner, name), else_=files.c.name)
        touch = files.update().where(known, stored).values(created_at=now, **latest)
        with to_write(self._engine) as connection:
            if connection.execute(touch).rowcount:
                return sha256
            self._check_open(connection)
            self._check_quota(connection, owner, len(content))
        packed = [  # before the transaction, during which nobody else can write in SQLite
            zlib.compress(content[start : start + CHUNK_BYTES], level=1)
            for start in range(0, len(content), CHUNK_BYTES)
        ]
        with to_write(self._engine, alone=f"file {sha256}") as connection:
            only_one(connection, f"files of {owner}")
            if connection.execute(touch).rowcount:
                return sha256
            self._check_quota(connection, owner, len(content))
            place = sa.select(files.c.location).where(known)  # of a reference, which the content replaces
            source = source or connection.scalar(place)
            connection.execute(files.delete().where(known))
            which = {"project_id": self._home, "sha256": sha256}
            values = {"owner": owner, "created_at": now, "source": source, "name": name}
            connection.execute(files.insert().values(bytes=len(content), **values, **which))
            for position, part in enumerate(packed):
                connection.execute(chunks.insert().values(position=position, content=part, **which))
        return sha256

    def refer(self, sha256: str, size: int, location: str, *, owner: str) -> None:
        """Note a file's latest location; the size of a file that is not stored here does not count."""
        now = self._now
        known = self._is(sha256)
        stored = files.c.location.is_(None)
        place = {
            "location": sa.case((stored, None), else_=location),
            "source": sa.case((stored, location), else_=files.c.source),
        }
        row = {"sha256": sha256, "bytes": size, "owner": owner, "created_at": now, "location": location}
        row["project_id"] = self._home
        with to_write(self._engine, alone=f"file {sha256}") as connection:
            touch = files.update().where(known).values(created_at=now, **place)
            if not connection.execute(touch).rowcount:
                self._check_open(connection)
                connection.execute(files.insert().values(row))

    def location(self, sha256: str) -> str | None:
        """Return the location of a file that is not stored here; None for other files."""
        return self._value(sa.select(files.c.location).where(self._is(sha256)))

    def locations(self, sha256s: Collection[str]) -> dict[str, str | None]:
        """Return the location of each of these files that is known here; None for a stored one."""
        return self._known(files.c.location, sha256s)

    def sizes(self, sha256s: Collection[str]) -> dict[str, int]:
        """Return the bytes of each of these files that is known here."""
        return self._known(files.c.bytes, sha256s)

    def _known(self, column: sa.Column[Any], sha256s: Collection[str]) -> dict[str, Any]:
        these = (files.c.project_id == self._home) & files.c.sha256.in_(sha256s)
        return {sha256: value for sha256, value in self._rows(sa.select(files.c.sha256, column).where(these))}

    def of(self, owner: str) -> list[KnownFile]:
        """A person's files in the project, latest first."""
        query = (
            sa.select(files)
            .where(files.c.project_id == self._home, files.c.owner == owner)
            .order_by(files.c.created_at.desc(), files.c.sha256)
        )
        return [
            KnownFile(row.sha256, row.name, row.bytes, row.created_at, row.location, row.source or None)
            for row in self._rows(query)
        ]

    def source(self, sha256: str) -> str:
        """Return the source that a stored file was fetched from, or the location it was read from, or ""."""
        return self._value(sa.select(files.c.source).where(self._is(sha256))) or ""

    def get(self, sha256: str) -> bytes | None:
        """Return the file's content, or None if it is not stored."""
        query = (  # one statement: a file that is deleted meanwhile is read whole or not at all
            sa.select(chunks.c.content)
            .select_from(files.outerjoin(chunks))
            .where(self._is(sha256), files.c.location.is_(None))
            .order_by(chunks.c.position)
        )
        parts = self._values(query)
        if not parts:
            return None
        return b"".join(zlib.decompress(part) for part in parts if part is not None)

    def delete(self, sha256: str, *, owner: str) -> None:
        """Delete an owner's file now; if somebody's unfinished run needs it, it becomes theirs."""
        own = self._is(sha256) & (files.c.owner == owner)
        reads = run_files.c.sha256 == sha256, runs.c.project_id == self._home, runs.c.owner != owner
        needs = (
            sa.select(runs.c.owner)
            .join(run_files)
            .where(*reads, runs.c.state.in_(GOING))
            .order_by(runs.c.created_at, runs.c.id)
            .limit(1)
        )
        with to_write(self._engine) as connection:
            heir = connection.execute(needs).scalar_one_or_none()
            if heir is None:
                connection.execute(files.delete().where(own))
            else:
                connection.execute(files.update().where(own).values(owner=heir, name=None))
        leave_no_trace(self._engine)

    def delete_unneeded(self, *, older_than_hours: float) -> int:
        """Delete files of any project that no queued or running run needs; returns how many.

        The location of a file that is not stored is kept as long as there is a run that reads it.
        """
        needed = (
            sa.select(run_files.c.sha256)
            .join(runs)
            .where(
                files.c.location.is_not(None) | runs.c.state.in_(GOING),
                runs.c.project_id == files.c.project_id,
                run_files.c.sha256 == files.c.sha256,
            )
            .correlate(files)
        )
        old = files.c.created_at < self._now - older_than_hours * 3600
        return self._write(files.delete().where(old, ~needed.exists()))

    def used(self, owner: str) -> int:
        """Bytes that the user's stored files take, in all projects."""
        with to_read(self._engine) as connection:
            return _used(connection, owner)

    def _is(self, sha256: str) -> sa.ColumnElement[bool]:
        """SQL condition that a file has this content and belongs to the project."""
        return (files.c.project_id == self._home) & (files.c.sha256 == sha256)

    def _check_quota(self, connection: Connection, owner: str, more: int) -> None:
        if _used(connection, owner) + more > self._quota:
            raise LimitError(
                f"Your files would take more than {self._quota / 2**20:,.0f} MiB on this server; they are"
                " deleted some hours after their runs have ended; delete them yourself on Data, or wait."
            )


def _used(connection: Connection, owner: str) -> int:
    query = sa.select(sa.func.coalesce(sa.func.sum(files.c.bytes), 0))
    query = query.where(files.c.owner == owner, files.c.location.is_(None))
    return int(connection.execute(query).scalar_one())
