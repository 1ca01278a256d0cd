"""The audit log, and its entries for refused requests."""

import hashlib
import hmac
import json
import re
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import sqlalchemy as sa
from sqlalchemy import Connection

from grasp_core.model.errors import StoreError
from grasp_core.store.base import Store, count, from_row, put
from grasp_core.store.database import SECRET, snapshot, to_read, to_write
from grasp_core.store.schema import audit, audit_heads, storable

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
Details = Mapping[str, str | int | float | bool | None]
FIRST = "0" * 64
"""Hash that the very first entry has in place of an earlier entry's."""
BROKEN = "The log is not as it was written: "
UNSEALED = (
    "The log's head is not sealed by this server's key, GRASP_SECRET_KEY: it was written without one or with "
    "another, or by somebody else. Where you know why, log --seal seals it as it is."
)
_LOG = "audit"
_SIGNED = ("number", "at", "actor", "action", "kind", "object_id", "details", "previous")


class UnsealedError(StoreError):
    """The log's head is not sealed by this server's key."""


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One act, numbered from 1 without gaps; `details` hold numbers, states and roles, no content of files.

    `actor`: a person's id; "" if nobody has to sign in or nobody is known; `COMMAND` on the command line.
    """

    number: int
    at: float
    actor: str
    action: Action
    kind: str
    object_id: str
    details: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Head:
    """Beginning and end of a log: number of the oldest entry, number and hash of the newest, and any seal."""

    first: int
    number: int
    hash: str
    seal: str = ""


class AuditStore(Store):
    """The log in the database; its head is sealed if the database was opened with a key."""

    def record(
        self, actor: str, action: Action, kind: str = "", object_id: str = "", details: Details | None = None
    ) -> None:
        """Add an entry; raises StoreError if it cannot be written."""
        with to_write(self._engine, alone="audit") as connection:
            # After the head, not after the last entry: if newer entries are missing, the gap stays.
            head = _head(connection) or _last(connection)
            row = {
                "number": 1 if head is None else head.number + 1,
                "at": connection.execute(sa.select(self._now)).scalar_one(),
                "actor": storable(actor),
                "action": action,
                "kind": kind,
                "object_id": storable(object_id),
                "details": json.dumps(dict(details or {}), sort_keys=True, allow_nan=False),
                "previous": FIRST if head is None else head.hash,
            }
            connection.execute(audit.insert().values(**row, hash=_hash(row)))
            first = row["number"] if head is None else head.first
            sealed = head is None or self._is_sealed(head)
            self._put(connection, Head(first, row["number"], _hash(row)), sealed=sealed)

    def search(
        self,
        *,
        actor: str | None = None,
        action: Action | None = None,
        object_id: str | None = None,
        since: float | None = None,
        start: int = 0,
        limit: int = 50,
    ) -> tuple[list[LogEntry], int]:
        """Return entries, latest first, and the number of all that match."""
        asked = {audit.c.actor: actor, audit.c.action: action, audit.c.object_id: object_id}
        which = sa.and_(sa.true(), *(column == value for column, value in asked.items() if value is not None))
        if since is not None:
            which &= audit.c.at >= since
        query = sa.select(audit).where(which).order_by(audit.c.number.desc()).offset(start).limit(limit)
        with to_read(self._engine) as connection:
            rows = connection.execute(query)
            found = [from_row(LogEntry, row, details=json.loads(row.details)) for row in rows]
            return found, count(connection, audit, which)

    def lines(self) -> Iterator[str]:
        """Yield every entry as a line of JSON with its hashes, oldest first; raises as :meth:`check`."""
        with snapshot(self._engine) as connection:
            for row in self._checked(connection):
                yield json.dumps(row) + "\n"

    def check(self, since: Head | None = None) -> int:
        """Check the chain of hashes; returns the number of entries. Raises StoreError if it was changed.

        `since`: head at an earlier time, as in a backup: the log has to continue from there.
        """
        entries, first, found = 0, 0, since is None
        with snapshot(self._engine) as connection:
            for row in self._checked(connection):
                first = first or row["number"]
                found = found or (row["number"], row["hash"]) == (since.number, since.hash)  # type: ignore[union-attr]
                entries += 1
        if since is not None and not found and not first > since.number:
            raise StoreError(f"{BROKEN}entry {since.number} is not what it was then.")
        return entries

    def seal(self) -> None:
        """Check the chain, then seal the head by this server's key; raises StoreError without a key."""
        if not self._key:
            raise StoreError("There is no key to seal the log by: set GRASP_SECRET_KEY.")
        with suppress(UnsealedError):
            self.check()
        with to_write(self._engine, alone="audit") as connection:
            head = _head(connection) or _last(connection)
            if head is not None:
                self._put(connection, head, sealed=True)

    def delete_older_than(self, days: float) -> int:
        """Delete entries that are older, but never the last one; returns how many."""
        last = sa.select(sa.func.max(audit.c.number)).scalar_subquery()
        old = (audit.c.at < self._now - days * 86400) & (audit.c.number < last)
        with to_write(self._engine, alone="audit") as connection:
            young = connection.execute(sa.select(sa.func.min(audit.c.number)).where(~old)).scalar_one()
            if young is None:
                return 0
            head = _head(connection)
            if head is not None and head.first < young:
                self._put(connection, replace(head, first=young), sealed=self._is_sealed(head))
            return connection.execute(audit.delete().where(audit.c.number < young)).rowcount

    @property
    def _key(self) -> bytes:
        secret: str = self._engine.get_execution_options().get(SECRET, "")
        return hashlib.sha256(b"audit log " + secret.encode()).digest() if secret else b""

    def _seal(self, head: Head) -> str:
        text = f"{head.first} {head.number} {head.hash}".encode("ascii")
        return hmac.digest(self._key, text, "sha256").hex() if self._key else ""

    def _is_sealed(self, head: Head) -> bool:
        """Return whether this server's key sealed a head; False without a key."""
        return bool(self._key) and hmac.compare_digest(head.seal, self._seal(head))

    def _put(self, connection: Connection, head: Head, *, sealed: bool) -> None:
        """Write the head; if the last one lacked its seal, so does this one: new entries must not mend it."""
        values = {"first": head.first, "number": head.number, "hash": head.hash}
        put(connection, audit_heads, {"log": _LOG}, seal=self._seal(head) if sealed else "", **values)

    def _checked(self, connection: Connection) -> Iterator[dict[str, Any]]:
        """Yield every entry; check that it follows the one before, and that the last one is the head's."""
        first, last = 0, (0, "")
        query = sa.select(audit).order_by(audit.c.number).execution_options(yield_per=1000)
        with connection.execute(query) as result:
            for found in result.mappings():
                row = dict(found)
                follows = not last[1] or (row["number"], row["previous"]) == (last[0] + 1, last[1])
                if not follows or row["hash"] != _hash(row):
                    raise StoreError(f"{BROKEN}entry {row['number']} does not follow.")
                first, last = first or row["number"], (row["number"], row["hash"])
                yield row
        head = _head(connection)
        if head is not None and (head.first, head.number, head.hash) != (first, *last):
            raise StoreError(f"{BROKEN}it does not go from entry {head.first} to {head.number}.")
        if last[0] and self._key and (head is None or not self._is_sealed(head)):
            raise UnsealedError(UNSEALED)


def _head(connection: Connection) -> Head | None:
    row = connection.execute(sa.select(audit_heads)).first()
    return None if row is None else from_row(Head, row)


def _last(connection: Connection) -> Head | None:
    """Build the head from the entries of a log that has no saved head."""
    first = sa.select(sa.func.min(audit.c.number)).scalar_subquery()
    query = sa.select(first.label("first"), audit.c.number, audit.c.hash)
    row = connection.execute(query.order_by(audit.c.number.desc()).limit(1)).one_or_none()
    return None if row is None else Head(row.first, row.number, row.hash)


def _hash(row: Mapping[str, Any]) -> str:
    signed = json.dumps([row[name] for name in _SIGNED])
    return hashlib.sha256(signed.encode("ascii")).hexdigest()


AGAIN_SECONDS = 60.0
"""Seconds in which further refusals of the same person and kind are not recorded."""
MOST_AN_HOUR = 120
"""Most refusals that each server records in an hour; the next entry counts those left out."""
_HOUR = 3600.0
_LONGEST = 80
_UNUSUAL = re.compile(r"[^A-Za-z0-9_./-]")


class Refusals:
    """Refused requests, recorded in the log within limits."""

    def __init__(self, audit: AuditStore) -> None:
        self._audit = audit
        self._recorded: deque[tuple[float, tuple[str, str]]] = deque()
        self._left_out = 0
        self._lock = threading.Lock()

    def record(self, actor: str, kind: str, place: str, **details: str | int) -> None:
        """Record a refusal at a page or path, unless there were too many; strangers ("") count as one."""
        with self._lock:
            now = time.monotonic()
            while self._recorded and self._recorded[0][0] < now - _HOUR:
                self._recorded.popleft()
            lately = {who for at, who in self._recorded if at > now - AGAIN_SECONDS}
            if (actor, kind) in lately or len(self._recorded) >= MOST_AN_HOUR:
                self._left_out += 1
                return
            self._recorded.append((now, (actor, kind)))
            more, self._left_out = self._left_out, 0
        noted = {**details, "more": more} if more else details
        self._audit.record(actor, "refusal", kind, _UNUSUAL.sub("?", place)[:_LONGEST], noted)
