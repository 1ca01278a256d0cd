"""Documents: answers about models, and leaderboards as they were when they were shared."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy import Engine

from grasp_core.raft.leaderboard import read_leaderboard
from grasp_core.raft.raters.result import ModelsResult
from grasp_core.store.database import ID_BYTES, clock, insert_new, reading, writing
from grasp_core.store.schema import documents, links, storable

Kind = Literal["models", "leaderboard"]
"""``grasp-models`` and ``grasp-leaderboard``, see docs/models.md."""

_COLUMNS = [column for column in documents.columns if column.name != "content"]


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """A document without its content.

    Parameters
    ----------
    id, kind, title, owner : str
    created_at : float
        Seconds since 1970.
    sha256 : str
        Of the content.
    """

    id: str
    kind: Kind
    title: str
    owner: str
    created_at: float
    sha256: str


class DocumentStore:
    """Documents in the database.

    A person has each content once. Two people each have their own, so that each may share and delete it.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def keep(self, kind: Kind, content: Mapping[str, Any], *, title: str, owner: str) -> DocumentRecord:
        """Keep a content; where the owner has it already, that document is returned as it is.

        Parameters
        ----------
        kind : {"models", "leaderboard"}
        content : mapping
            JSON-ready; not the same content if its keys come in another order.
        title, owner : str
        """
        plain = json.dumps(content, allow_nan=False)
        row = {
            "id": secrets.token_urlsafe(ID_BYTES),
            "kind": kind,
            "title": title,
            "owner": storable(owner),
            "sha256": hashlib.sha256(plain.encode("ascii")).hexdigest(),
            "content": plain,
        }
        with writing(self._engine) as connection:
            row["created_at"] = connection.execute(sa.select(clock(self._engine))).scalar_one()
            insert_new(connection, documents, [row])
            same = (documents.c.sha256 == row["sha256"]) & (documents.c.owner == row["owner"])
            return _record(connection.execute(sa.select(*_COLUMNS).where(same)).one())

    def get(self, document_id: str) -> DocumentRecord | None:
        """A document, or None where it is gone."""
        with reading(self._engine) as connection:
            row = connection.execute(sa.select(*_COLUMNS).where(documents.c.id == document_id)).first()
        return None if row is None else _record(row)

    def content(self, document_id: str) -> Any:
        """What :meth:`keep` was given, or None where it is gone."""
        query = sa.select(documents.c.content).where(documents.c.id == document_id)
        with reading(self._engine) as connection:
            plain = connection.execute(query).scalar_one_or_none()
        return None if plain is None else json.loads(plain)

    def all(self, kind: Kind) -> list[DocumentRecord]:
        """Documents of a kind, newest first."""
        query = sa.select(*_COLUMNS).where(documents.c.kind == kind)
        with reading(self._engine) as connection:
            rows = connection.execute(query.order_by(documents.c.created_at.desc(), documents.c.id)).all()
        return [_record(row) for row in rows]

    def rename(self, document_id: str, title: str) -> None:
        """Give it another title."""
        with writing(self._engine) as connection:
            connection.execute(documents.update().where(documents.c.id == document_id).values(title=title))

    def delete(self, document_id: str) -> None:
        """Delete a document and its links."""
        with writing(self._engine) as connection:
            connection.execute(documents.delete().where(documents.c.id == document_id))

    def delete_older_than(self, days: float) -> int:
        """Delete documents of more than `days`; returns how many."""
        return self._delete(documents.c.created_at < clock(self._engine) - days * 86400)

    def delete_closed(self, *, older_than_hours: float) -> int:
        """Delete leaderboards that no link opens any more: nobody can see them; returns how many."""
        now = clock(self._engine)
        opens = links.c.revoked_at.is_(None) & (links.c.expires_at.is_(None) | (links.c.expires_at > now))
        opened = sa.exists().where(links.c.document_id == documents.c.id, opens)
        old = documents.c.created_at < now - older_than_hours * 3600
        return self._delete((documents.c.kind == "leaderboard") & old & ~opened)

    def _delete(self, which: sa.ColumnElement[bool]) -> int:
        with writing(self._engine) as connection:
            return connection.execute(documents.delete().where(which)).rowcount


def check_document(kind: str, content: str, sha256: str) -> None:
    """Refuse a stored content that could not be shown.

    Raises
    ------
    ValueError
        If the kind is unknown, the content no JSON, or the hash another content's.
    DataError
        If it is no document of its kind.
    """
    if hashlib.sha256(content.encode()).hexdigest() != sha256:
        raise ValueError
    {"models": ModelsResult.from_dict, "leaderboard": read_leaderboard}[kind](json.loads(content))


def _record(row: Any) -> DocumentRecord:
    return DocumentRecord(row.id, row.kind, row.title, row.owner, row.created_at, row.sha256)
