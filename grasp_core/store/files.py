"""Uploaded files: kept while a run needs them, under a quota, and then deleted."""

from __future__ import annotations

import hashlib
import zlib

import sqlalchemy as sa
from sqlalchemy import Engine

from grasp_core.errors import LimitError
from grasp_core.store.database import reading, writing
from grasp_core.store.runs import clock
from grasp_core.store.schema import chunks, files, run_files, runs

CHUNK_BYTES = 4 * 2**20
QUOTA_BYTES = 2 * 2**30
"""Default room for one user's files."""


class FileStore:
    """Files in the database, by content.

    Parameters
    ----------
    engine : sqlalchemy Engine
    quota : int
        Bytes that one user's files may take together.
    """

    def __init__(self, engine: Engine, *, quota: int = QUOTA_BYTES) -> None:
        self._engine = engine
        self._quota = quota

    def put(self, content: bytes, *, owner: str) -> str:
        """Keep a file; returns its sha256.

        Raises
        ------
        LimitError
            If the user's files would exceed the quota.
        """
        sha256 = hashlib.sha256(content).hexdigest()
        used = sa.select(sa.func.coalesce(sa.func.sum(files.c.bytes), 0)).where(files.c.owner == owner)
        with writing(self._engine) as connection:
            now = clock(self._engine)
            known = files.update().where(files.c.sha256 == sha256).values(created_at=now)
            if connection.execute(known).rowcount:
                return sha256
            if connection.execute(used).scalar_one() + len(content) > self._quota:
                raise LimitError(
                    f"Your files would take more than {self._quota / 2**20:,.0f} MiB on this server; they are"
                    " deleted when their runs have ended, try again then."
                )
            connection.execute(
                files.insert().values(sha256=sha256, bytes=len(content), owner=owner, created_at=now)
            )
            for position, start in enumerate(range(0, len(content), CHUNK_BYTES)):
                packed = zlib.compress(content[start : start + CHUNK_BYTES], level=1)
                connection.execute(chunks.insert().values(sha256=sha256, position=position, content=packed))
        return sha256

    def get(self, sha256: str) -> bytes | None:
        """The file's content, or None where it is not kept."""
        known = sa.select(files.c.sha256).where(files.c.sha256 == sha256)
        parts = sa.select(chunks.c.content).where(chunks.c.sha256 == sha256).order_by(chunks.c.position)
        with reading(self._engine) as connection:
            if connection.execute(known).one_or_none() is None:
                return None
            return b"".join(zlib.decompress(row.content) for row in connection.execute(parts))

    def delete(self, sha256: str) -> None:
        """Delete a file now; a run that still needs it will say so."""
        with writing(self._engine) as connection:
            connection.execute(files.delete().where(files.c.sha256 == sha256))

    def delete_unneeded(self, *, older_than_hours: float) -> int:
        """Delete files that no queued or running run needs; returns how many."""
        waiting = runs.c.state.in_(("queued", "running"))
        needed = sa.select(run_files.c.sha256).join(runs).where(waiting)
        old = files.c.created_at < clock(self._engine) - older_than_hours * 3600
        with writing(self._engine) as connection:
            return connection.execute(files.delete().where(old, files.c.sha256.not_in(needed))).rowcount

    def used(self, owner: str) -> int:
        """Bytes that the user's files take."""
        query = sa.select(sa.func.coalesce(sa.func.sum(files.c.bytes), 0)).where(files.c.owner == owner)
        with reading(self._engine) as connection:
            return int(connection.execute(query).scalar_one())
