"""The audit log: who did what to which object when, without anything of raters.

Entries are added and never changed; each holds the hash of the one before it, so that one that is changed,
left out or put in later breaks the chain. Old ones go from the beginning only. People stand by their id,
whose name and address are found in `people` as long as they are there.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import sqlalchemy as sa
from sqlalchemy import Connection, Engine

from grasp_core.errors import StoreError
from grasp_core.store.database import clock, only_one, snapshot, to_read, to_write
from grasp_core.store.schema import audit, storable

Action = Literal[
    "sign-in",
    "sign-out",
    "refusal",
    "upload",
    "run",
    "share",
    "withdraw",
    "export",
    "delete",
    "erase",
    "create",
    "change",
    "member",
    "role",
    "assign",
    "disable",
    "enable",
    "token",
    "restore",
    "watch",
]
ACTIONS: tuple[Action, ...] = get_args(Action)
FIRST = "0" * 64
"""What the first entry of all follows."""
_SIGNED = ("number", "at", "actor", "action", "kind", "object_id", "details", "previous")


@dataclass(frozen=True, slots=True)
class Entry:
    """One act.

    Parameters
    ----------
    number : int
        From 1, without gaps.
    at : float
        Seconds since 1970 by the database's clock.
    actor : str
        A person's id; "" where nobody has to sign in, or nobody is known, `COMMAND` on the command line.
    action : str
        One of `ACTIONS`.
    kind, object_id : str
        What it was done to, such as ``run`` and its id.
    details : dict
        Numbers, states and roles; nothing that files hold.
    """

    number: int
    at: float
    actor: str
    action: Action
    kind: str
    object_id: str
    details: dict[str, Any]


class AuditStore:
    """The log in the database."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def record(
        self,
        actor: str,
        action: Action,
        kind: str = "",
        object_id: str = "",
        details: Mapping[str, str | int | float | bool | None] | None = None,
    ) -> None:
        """Add an entry.

        Raises
        ------
        StoreError
            If it cannot be written.
        """
        with to_write(self._engine) as connection:
            only_one(connection, "audit")
            last = connection.execute(
                sa.select(audit.c.number, audit.c.hash).order_by(audit.c.number.desc()).limit(1)
            ).one_or_none()
            row = {
                "number": 1 if last is None else last.number + 1,
                "at": connection.execute(sa.select(clock(self._engine))).scalar_one(),
                "actor": storable(actor),
                "action": action,
                "kind": kind,
                "object_id": storable(object_id),
                "details": json.dumps(dict(details or {}), sort_keys=True, allow_nan=False),
                "previous": FIRST if last is None else last.hash,
            }
            connection.execute(audit.insert().values(**row, hash=_hash(row)))

    def search(
        self,
        *,
        actor: str | None = None,
        action: Action | None = None,
        object_id: str | None = None,
        since: float | None = None,
        start: int = 0,
        limit: int = 50,
    ) -> tuple[list[Entry], int]:
        """Entries, latest first, and how many there are in all."""
        asked = {audit.c.actor: actor, audit.c.action: action, audit.c.object_id: object_id}
        which = sa.and_(sa.true(), *(column == value for column, value in asked.items() if value is not None))
        if since is not None:
            which &= audit.c.at >= since
        query = sa.select(audit).where(which).order_by(audit.c.number.desc()).offset(start).limit(limit)
        with to_read(self._engine) as connection:
            total = connection.execute(sa.select(sa.func.count()).select_from(audit).where(which))
            return [_entry(row) for row in connection.execute(query)], total.scalar_one()

    def lines(self) -> Iterator[str]:
        """Every entry as a line of JSON with its hashes, oldest first.

        Raises
        ------
        StoreError
            If the chain is broken; the sentence says where.
        """
        with snapshot(self._engine) as connection:
            for row in _checked(connection):
                yield json.dumps(row) + "\n"

    def check(self) -> int:
        """Follow the chain; returns how many entries it has, and raises as :meth:`lines`."""
        with snapshot(self._engine) as connection:
            return sum(1 for _ in _checked(connection))

    def delete_older_than(self, days: float) -> int:
        """Delete the beginning of the log, but never its last entry; returns how many."""
        last = sa.select(sa.func.max(audit.c.number)).scalar_subquery()
        old = (audit.c.at < clock(self._engine) - days * 86400) & (audit.c.number < last)
        with to_write(self._engine) as connection:
            only_one(connection, "audit")
            young = connection.execute(sa.select(sa.func.min(audit.c.number)).where(~old)).scalar_one()
            if young is None:
                return 0
            return connection.execute(audit.delete().where(audit.c.number < young)).rowcount


def _checked(connection: Connection) -> Iterator[dict[str, Any]]:
    before: tuple[int, str] | None = None
    query = sa.select(audit).order_by(audit.c.number).execution_options(yield_per=1000)
    with connection.execute(query) as result:
        for found in result.mappings():
            row = dict(found)
            follows = before is None or (row["number"], row["previous"]) == (before[0] + 1, before[1])
            if not follows or row["hash"] != _hash(row):
                raise StoreError(f"The log is not as it was written: entry {row['number']} does not follow.")
            before = row["number"], row["hash"]
            yield row


def _hash(row: Mapping[str, Any]) -> str:
    signed = json.dumps([row[name] for name in _SIGNED])
    return hashlib.sha256(signed.encode("ascii")).hexdigest()


def _entry(row: Any) -> Entry:
    return Entry(row.number, row.at, row.actor, row.action, row.kind, row.object_id, json.loads(row.details))
