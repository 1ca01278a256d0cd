"""Share links: a run's result, or a leaderboard as it is, for people without an account.

A link's token has 256 random bits and is stored as its sha256 only, so that the database does not give
links away.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from grasp_core.errors import StoreError
from grasp_core.store.bound import Bound
from grasp_core.store.database import clock, new_id, to_read, to_write
from grasp_core.store.schema import links, runs

TOKEN_BYTES = 32
_TARGET = (links.c.id, links.c.run_id)


@dataclass(frozen=True, slots=True)
class Target:
    """The run that a link opens, or the leaderboard that this very link holds."""

    kind: Literal["run", "leaderboard"]
    id: str


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """A leaderboard as it was when a link to it was made.

    Parameters
    ----------
    content : dict
        ``grasp-leaderboard``, see docs/models.md.
    created_at : float
        Seconds since 1970.
    """

    content: dict[str, Any]
    created_at: float
    title: str = "Leaderboard"


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


class LinkStore(Bound):
    """Links in the database; a token opens what it opens for whoever brings it."""

    def create(self, run_id: str, *, created_by: str, label: str = "", days: float | None = None) -> str:
        """Make a link to a run; returns its token, which nobody can read again.

        Parameters
        ----------
        run_id, created_by, label : str
        days : float, optional
            After so many days the link stops working.

        Raises
        ------
        StoreError
            If there is no such run within reach (any more).
        """
        project = sa.select(runs.c.project_id).where(runs.c.id == run_id, self._seen(runs.c.project_id))
        try:
            return self._create(
                {"run_id": run_id, "project_id": project.scalar_subquery()}, created_by, label, days
            )
        except IntegrityError:
            raise StoreError("The run was deleted, so it cannot be shared.") from None

    def create_leaderboard(
        self, content: Mapping[str, Any], *, created_by: str, label: str = "", days: float | None = None
    ) -> str:
        """As :meth:`create`, to a leaderboard's JSON-ready form, in the project."""
        target = {"leaderboard": json.dumps(content, allow_nan=False), "project_id": self._home}
        try:
            return self._create(target, created_by, label, days)
        except IntegrityError:
            raise StoreError("The project was deleted, so its leaderboard cannot be shared.") from None

    def _create(self, target: Mapping[str, Any], created_by: str, label: str, days: float | None) -> str:
        token = secrets.token_urlsafe(TOKEN_BYTES)
        now = clock(self._engine)
        link = links.insert().values(
            id=new_id(),
            token_sha256=_digest(token),
            label=label,
            created_by=created_by,
            created_at=now,
            expires_at=None if days is None else now + days * 86400,
            **target,
        )
        with to_write(self._engine) as connection:
            connection.execute(link)
        return token

    def use(self, token: str, *, count: bool = True) -> Target | None:
        """The target of a token, or None if it is unknown, revoked or expired.

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
            with to_read(self._engine) as connection:
                row = connection.execute(sa.select(*_TARGET).where(works)).one_or_none()
        else:
            with to_write(self._engine) as connection:
                used = links.update().where(works).values(uses=links.c.uses + 1, last_used_at=now)
                row = connection.execute(used.returning(*_TARGET)).one_or_none()
        return None if row is None else _target(row)

    def revoke(self, link_id: str) -> None:
        """Make a link stop working for good."""
        with to_write(self._engine) as connection:
            connection.execute(
                links.update()
                .where(links.c.id == link_id, links.c.revoked_at.is_(None), self._seen(links.c.project_id))
                .values(revoked_at=clock(self._engine))
            )

    def of_run(self, run_id: str) -> list[Link]:
        """All links to a run within reach, latest first."""
        return self._found((links.c.run_id == run_id) & self._seen(links.c.project_id))

    def of_token(self, token: str) -> Link:
        """The link that was just made."""
        (found,) = self._found(links.c.token_sha256 == _digest(token))
        return found

    def of_leaderboards(self) -> list[Link]:
        """All links to leaderboards of the project, latest first."""
        return self._found(links.c.leaderboard.is_not(None) & (links.c.project_id == self._home))

    def leaderboard(self, link_id: str) -> Leaderboard | None:
        """The leaderboard that a link holds, where it is within reach."""
        query = sa.select(links.c.leaderboard, links.c.created_at).where(
            links.c.id == link_id, links.c.leaderboard.is_not(None), self._seen(links.c.project_id)
        )
        with to_read(self._engine) as connection:
            row = connection.execute(query).one_or_none()
        return None if row is None else Leaderboard(json.loads(row.leaderboard), row.created_at)

    def delete_leaderboards(self, *, older_than_hours: float, closed: bool) -> int:
        """Delete old leaderboards with their links, or of these those `closed`: that do not open any more.

        Of any project.

        Returns
        -------
        int
            How many.
        """
        now = clock(self._engine)
        which = links.c.leaderboard.is_not(None) & (links.c.created_at < now - older_than_hours * 3600)
        if closed:
            which &= links.c.revoked_at.is_not(None) | (links.c.expires_at <= now)
        with to_write(self._engine) as connection:
            return connection.execute(links.delete().where(which)).rowcount

    def _found(self, which: sa.ColumnElement[bool]) -> list[Link]:
        expired = sa.func.coalesce(links.c.expires_at <= clock(self._engine), sa.false())
        query = (
            sa.select(links, expired.label("expired"))
            .where(which)
            .order_by(links.c.created_at.desc(), links.c.id)
        )
        with to_read(self._engine) as connection:
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
    return Target("leaderboard", row.id) if row.run_id is None else Target("run", row.run_id)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
