"""Share links: a result for people without an account.

A link's token has 256 random bits and is stored as its sha256 only, so that the database does not give
links away.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy import Engine
from sqlalchemy.exc import IntegrityError

from grasp_core.errors import StoreError
from grasp_core.store.database import ID_BYTES, clock, reading, writing
from grasp_core.store.schema import links

TOKEN_BYTES = 32
_TARGET = (links.c.run_id, links.c.document_id)


@dataclass(frozen=True, slots=True)
class Target:
    """What a link opens."""

    kind: Literal["run", "document"]
    id: str


@dataclass(frozen=True, slots=True)
class Link:
    """A share link as its maker sees it; the token itself is shown once and not kept."""

    id: str
    target: Target
    label: str
    created_by: str
    created_at: float
    expires_at: float | None
    revoked_at: float | None
    uses: int
    last_used_at: float | None
    expired: bool

    @property
    def works(self) -> bool:
        """Whether the link opens its result."""
        return self.revoked_at is None and not self.expired


class LinkStore:
    """Links in the database."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def create(self, target: Target, *, created_by: str, label: str = "", days: float | None = None) -> str:
        """Make a link; returns its token, which nobody can read again.

        Parameters
        ----------
        target : Target
        created_by, label : str
        days : float, optional
            After so many days the link stops working.

        Raises
        ------
        StoreError
            If there is no such run or document (any more).
        """
        token = secrets.token_urlsafe(TOKEN_BYTES)
        now = clock(self._engine)
        link = links.insert().values(
            id=secrets.token_urlsafe(ID_BYTES),
            run_id=target.id if target.kind == "run" else None,
            document_id=target.id if target.kind == "document" else None,
            token_sha256=_digest(token),
            label=label,
            created_by=created_by,
            created_at=now,
            expires_at=None if days is None else now + days * 86400,
        )
        try:
            with writing(self._engine) as connection:
                connection.execute(link)
        except IntegrityError:
            raise StoreError(f"The {target.kind} was deleted, so it cannot be shared.") from None
        return token

    def use(self, token: str, *, count: bool = True) -> Target | None:
        """What a token opens, or None if it is unknown, revoked or expired.

        Parameters
        ----------
        token : str
        count : bool
            Count this as a use; a page view counts once, its later reruns do not.
        """
        now = clock(self._engine)
        works = (
            (links.c.token_sha256 == _digest(token))
            & links.c.revoked_at.is_(None)
            & (links.c.expires_at.is_(None) | (links.c.expires_at > now))
        )
        if not count:
            with reading(self._engine) as connection:
                row = connection.execute(sa.select(*_TARGET).where(works)).one_or_none()
        else:
            with writing(self._engine) as connection:
                used = links.update().where(works).values(uses=links.c.uses + 1, last_used_at=now)
                row = connection.execute(used.returning(*_TARGET)).one_or_none()
        return None if row is None else _target(row)

    def revoke(self, link_id: str) -> None:
        """Make a link stop working for good."""
        with writing(self._engine) as connection:
            connection.execute(
                links.update()
                .where(links.c.id == link_id, links.c.revoked_at.is_(None))
                .values(revoked_at=clock(self._engine))
            )

    def of_run(self, run_id: str) -> list[Link]:
        """All links to a run, latest first."""
        return self._found(links.c.run_id == run_id)

    def of_documents(self, document_ids: Collection[str]) -> list[Link]:
        """All links to any of these documents, latest first."""
        return self._found(links.c.document_id.in_(document_ids))

    def _found(self, which: sa.ColumnElement[bool]) -> list[Link]:
        expired = sa.func.coalesce(links.c.expires_at <= clock(self._engine), sa.false())
        query = (
            sa.select(links, expired.label("expired"))
            .where(which)
            .order_by(links.c.created_at.desc(), links.c.id)
        )
        with reading(self._engine) as connection:
            return [
                Link(
                    id=row.id,
                    target=_target(row),
                    label=row.label,
                    created_by=row.created_by,
                    created_at=row.created_at,
                    expires_at=row.expires_at,
                    revoked_at=row.revoked_at,
                    uses=row.uses,
                    last_used_at=row.last_used_at,
                    expired=bool(row.expired),
                )
                for row in connection.execute(query)
            ]


def _target(row: Any) -> Target:
    return Target("run", row.run_id) if row.document_id is None else Target("document", row.document_id)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
