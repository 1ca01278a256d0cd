"""Share links: made, used, withdrawn."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict, Unpack

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from grasp_core.model.errors import StoreError
from grasp_core.store.bound import Bound, of_row
from grasp_core.store.database import digest_of, new_id, to_read, to_write
from grasp_core.store.schema import link_visits, links, runs
from grasp_core.store.visiting import hashed, key_of

MOST_USES = 1_000_000
"""Visits that may be set as the most of a link."""


@dataclass(frozen=True, slots=True)
class Target:
    """The run that a link opens, or the leaderboard that this very link holds.

    `small_groups` says whether whoever made the link lets groups of few raters be seen.
    """

    kind: Literal["run", "leaderboard"]
    id: str
    small_groups: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Lock:
    """What a link that opens asks of a visitor: its password's hash, or nothing of one who gave it before."""

    link_id: str
    target: Target
    password: str | None


class Terms(TypedDict, total=False):
    """How a link is made.

    `days`: after so many days the link stops working.
    `password`: what visitors are asked for.
    `max_uses`: visits after which the link stops working.
    `small_groups`: whether groups of few raters are shown.
    """

    label: str
    days: float | None
    password: str | None
    max_uses: int | None
    small_groups: bool


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """A leaderboard, ``grasp-leaderboard`` of docs/models.md, as it was when a link to it was made."""

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
    has_password: bool = False
    max_uses: int | None = None

    @property
    def used_up(self) -> bool:
        """Whether it was opened as often as it may be."""
        return self.max_uses is not None and self.uses >= self.max_uses

    @property
    def goes_on(self) -> bool:
        """Whether it shows its result to anybody: one that is used up does to visitors who are there."""
        return self.revoked_at is None and not self.expired

    @property
    def state(self) -> str:
        """Whether it works, or why not, in a word."""
        if self.revoked_at is not None:
            return "withdrawn"
        return "expired" if self.expired else "used up" if self.used_up else "works"

    @property
    def works(self) -> bool:
        """Whether the link opens its result to somebody who was not there yet."""
        return self.goes_on and not self.used_up


TOKEN_BYTES = 32
VISIT_HOURS = 12.0
"""How long a visit lasts: who comes again meanwhile is not counted again."""
_TARGET = (links.c.id, links.c.run_id, links.c.small_groups)


class LinkStore(Bound):
    """Links in the database; a token opens what it opens for whoever brings it."""

    def create(self, run_id: str, *, created_by: str, **terms: Unpack[Terms]) -> str:
        """Make a link to a run within reach; returns its token, which nobody can read again.

        Raises StoreError if there is no such run; LimitError if the password is too short or too long.
        """
        project = sa.select(runs.c.project_id).where(runs.c.id == run_id, self._seen(runs.c.project_id))
        try:
            return self._create(
                {"run_id": run_id, "project_id": project.scalar_subquery()}, created_by, terms
            )
        except IntegrityError:
            raise StoreError(
                "No run has this id, so it cannot be shared: it was deleted, or its id, the end of the "
                "address of its page, is another."
            ) from None

    def create_leaderboard(
        self, content: Mapping[str, Any], *, created_by: str, **terms: Unpack[Terms]
    ) -> str:
        """As :meth:`create`, to a leaderboard's JSON-ready form, in the project."""
        target = {"leaderboard": json.dumps(content, allow_nan=False), "project_id": self._home}
        try:
            return self._create(target, created_by, terms)
        except IntegrityError:
            raise StoreError("The project was deleted, so its leaderboard cannot be shared.") from None

    def _create(self, target: Mapping[str, Any], created_by: str, terms: Terms) -> str:
        token = secrets.token_urlsafe(TOKEN_BYTES)
        now, days, password = self._now, terms.get("days"), terms.get("password")
        link = links.insert().values(
            id=new_id(),
            token_sha256=digest_of(token),
            label=terms.get("label", ""),
            created_by=created_by,
            created_at=now,
            expires_at=None if days is None else now + days * 86400,
            password=None if password is None else hashed(password),
            max_uses=terms.get("max_uses"),
            small_groups=terms.get("small_groups", False),
            **target,
        )
        self._write(link)
        return token

    def lock(self, token: str, visit: str) -> Lock | None:
        """What a token's link asks of a visit; None if it opens nothing for it.

        A link that is used up still opens to visits that go on.
        """
        goes_on = _visit(token, visit).exists()
        left = links.c.max_uses.is_(None) | (links.c.uses < links.c.max_uses)
        query = sa.select(*_TARGET, links.c.password, goes_on.label("goes_on")).where(
            self._works(token), left | goes_on
        )
        row = self._row(query)
        return None if row is None else Lock(row.id, _target(row), None if row.goes_on else row.password)

    def use(self, token: str, *, visit: str = "", count: bool = True) -> Target | None:
        """The target of a token, or None if it is unknown, revoked, expired or used up.

        `visit`: what the visitor carries; the same one counts once in :data:`VISIT_HOURS`, "" each time.
        `count`: whether somebody opens it; else only whether it still works for who has opened it is asked.

        The link's row is locked, so that of two visitors for one last use one is let in.
        """
        query = sa.select(*_TARGET, links.c.uses, links.c.max_uses).where(self._works(token))
        with (to_write if count else to_read)(self._engine) as connection:
            row = connection.execute(query.with_for_update() if count else query).one_or_none()
            if row is None:
                return None
            if count and not (visit and connection.execute(_visit(token, visit)).first()):
                if row.max_uses is not None and row.uses >= row.max_uses:
                    return None
                used = links.update().where(links.c.id == row.id)
                connection.execute(used.values(uses=links.c.uses + 1, last_used_at=self._now))
                if visit:
                    began = {"link_id": row.id, "visit": key_of(token, visit), "began_at": self._now}
                    connection.execute(link_visits.insert().values(began))
        return _target(row)

    def _works(self, token: str) -> sa.ColumnElement[bool]:
        return (links.c.token_sha256 == digest_of(token)) & self._open()

    def _open(self) -> sa.ColumnElement[bool]:
        """Whether a link is neither revoked nor expired."""
        ends: sa.ColumnElement[bool] = links.c.expires_at > self._now
        return links.c.revoked_at.is_(None) & (links.c.expires_at.is_(None) | ends)

    def end_visits(self) -> None:
        """Forget visits that have lasted as long as they may."""
        with to_write(self._engine) as connection:
            old = link_visits.c.began_at < self._now - VISIT_HOURS * 3600
            connection.execute(link_visits.delete().where(old))

    def revoke(self, link_id: str) -> bool:
        """Make a link stop working for good; returns False where there is none to withdraw."""
        return self._revoke(links.c.id == link_id) > 0

    def revoke_of_run(self, run_id: str) -> int:
        """Make all links to a run stop working; returns how many did."""
        return self._revoke(self._open() & (links.c.run_id == run_id))

    def revoke_of_person(self, person_id: str) -> int:
        """Make all links that a person made stop working; returns how many did."""
        return self._revoke(self._open() & (links.c.created_by == person_id))

    def _revoke(self, which: sa.ColumnElement[bool]) -> int:
        ending = links.update().where(which, links.c.revoked_at.is_(None), self._seen(links.c.project_id))
        revoked = ending.values(revoked_at=self._now)
        return self._write(revoked)

    def of_person(self, person_id: str) -> list[Link]:
        """All links within reach that a person made, latest first."""
        return self._found((links.c.created_by == person_id) & self._seen(links.c.project_id))

    def of_run(self, run_id: str) -> list[Link]:
        """All links to a run within reach, latest first."""
        return self._found((links.c.run_id == run_id) & self._seen(links.c.project_id))

    def of_token(self, token: str) -> Link:
        """The link that was just made."""
        (found,) = self._found(links.c.token_sha256 == digest_of(token))
        return found

    def of_leaderboards(self) -> list[Link]:
        """All links to leaderboards of the project, latest first."""
        return self._found(links.c.leaderboard.is_not(None) & (links.c.project_id == self._home))

    def leaderboard(self, link_id: str) -> Leaderboard | None:
        """The leaderboard that a link holds, where it is within reach."""
        query = sa.select(links.c.leaderboard, links.c.created_at).where(
            links.c.id == link_id, links.c.leaderboard.is_not(None), self._seen(links.c.project_id)
        )
        row = self._row(query)
        return None if row is None else Leaderboard(json.loads(row.leaderboard), row.created_at)

    def delete_leaderboards(self, *, older_than_hours: float, closed: bool) -> int:
        """Delete old leaderboards with their links, or of these those `closed`: that do not open any more.

        Of any project; returns how many.
        """
        now = self._now
        which = links.c.leaderboard.is_not(None) & (links.c.created_at < now - older_than_hours * 3600)
        if closed:
            which &= links.c.revoked_at.is_not(None) | (links.c.expires_at <= now)
        return self._write(links.delete().where(which))

    def _found(self, which: sa.ColumnElement[bool]) -> list[Link]:
        expired = sa.func.coalesce(links.c.expires_at <= self._now, sa.false())
        query = (
            sa.select(links, expired.label("expired"))
            .where(which)
            .order_by(links.c.created_at.desc(), links.c.id)
        )
        return [
            of_row(
                Link,
                row,
                target=_target(row),
                expired=bool(row.expired),
                has_password=row.password is not None,
            )
            for row in self._rows(query)
        ]


def _visit(token: str, visit: str) -> sa.Select[tuple[str]]:
    """The row of a visit that goes on."""
    return sa.select(link_visits.c.visit).where(
        link_visits.c.link_id == links.c.id,
        links.c.token_sha256 == digest_of(token),
        link_visits.c.visit == key_of(token, visit),
    )


def _target(row: Any) -> Target:
    if row.run_id is None:
        return Target("leaderboard", row.id)
    return Target("run", row.run_id, bool(row.small_groups))
