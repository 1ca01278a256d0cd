"""Credentials: sessions, personal tokens of the API, and tokens kept for tools."""

import secrets
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Engine

from grasp_core.model.access import Person, Scope, Token
from grasp_core.model.errors import LimitError
from grasp_core.store.base import Store, count, from_row, put
from grasp_core.store.database import digest_of, insert_new, new_id, to_write
from grasp_core.store.people.people import PERSON, person_of
from grasp_core.store.schema import people, sessions, source_tokens, storable, tokens

SEEN_SECONDS = 30.0
"""Precision in seconds of the time when a session was last seen: its row is written no more often."""


@dataclass(frozen=True, slots=True)
class Session:
    """A current sign-in; `browser` is the browser's own name for itself."""

    key: str
    browser: str
    created_at: float
    seen_at: float


class SessionStore(Store):
    """Sessions in the database, checked at each request: one that ends here ends for all servers at once.

    `idle_minutes`: minutes after which a session that nobody uses ends; 0 for never.
    """

    def __init__(self, engine: Engine, *, idle_minutes: float) -> None:
        super().__init__(engine)
        self._idle_s = idle_minutes * 60

    def begin(self, key: str, person_id: str, browser: str) -> None:
        """Begin a session; one that has ended is not begun again."""
        now = self._now
        with to_write(self._engine) as connection:
            moment = connection.execute(sa.select(now)).scalar_one()
            times = {"created_at": moment, "seen_at": moment, "ended_at": None}
            row = {"key": key, "person_id": person_id, "browser": browser, **times}
            insert_new(connection, sessions, [row])

    def person(self, key: str, *, seen: bool = True) -> Person | None:
        """Return the session's person; None if it is unknown or has ended, or the person is disabled.

        `seen`: count this as use of the session; a page that updates a run's progress does not count.
        """
        now = self._now
        query = (
            sa.select(*PERSON, (now - sessions.c.seen_at).label("idle"))
            .join_from(sessions, people)
            .where(sessions.c.key == key, self._goes_on(), people.c.disabled_at.is_(None))
        )
        row = self._row(query)
        if row is None:
            return None
        if seen and row.idle > SEEN_SECONDS:
            self._write(sessions.update().where(sessions.c.key == key, self._goes_on()).values(seen_at=now))
        return person_of(row)

    def going_on(self, keys: Collection[str]) -> set[str]:
        """Return the keys of those sessions that have not ended, of people who are not disabled."""
        query = (
            sa.select(sessions.c.key)
            .join_from(sessions, people)
            .where(sessions.c.key.in_(keys), self._goes_on(), people.c.disabled_at.is_(None))
        )
        return set(self._values(query))

    def of_person(self, person_id: str) -> list[Session]:
        """A person's current sessions, latest seen first."""
        query = (
            sa.select(sessions)
            .where(sessions.c.person_id == person_id, self._goes_on())
            .order_by(sessions.c.seen_at.desc(), sessions.c.key)
        )
        return [from_row(Session, row) for row in self._rows(query)]

    def end(self, person_id: str, key: str | None = None) -> None:
        """End a session of a person, or all of them."""
        own = sessions.c.key == key if key is not None else sa.true()
        going = own & (sessions.c.person_id == person_id) & sessions.c.ended_at.is_(None)
        self._write(sessions.update().where(going).values(ended_at=self._now))

    def delete_older_than(self, days: float) -> int:
        """Delete sessions that began so long ago that their cookies are not accepted; returns how many."""
        old = sessions.c.created_at < self._now - days * 86400
        return self._write(sessions.delete().where(old))

    def _goes_on(self) -> sa.ColumnElement[bool]:
        goes_on: Any = sessions.c.ended_at.is_(None)
        if self._idle_s:
            goes_on &= sessions.c.seen_at > self._now - self._idle_s
        return goes_on  # type: ignore[no-any-return]  # SQLAlchemy's & of two conditions is one


PREFIX = "grasp_"
TOKEN_BYTES = 32
NAME_LENGTH = 100
MAX_DAYS = 366
MAX_TOKENS = 50
"""Most tokens of one person that work at one time."""
_NOTED_S = 60.0
"""The last use is noted once in so many seconds, so that reading does not write each time."""


class TokenStore(Store):
    """Personal tokens in the database."""

    def create(self, *, owner: str, name: str, scope: Scope, days: float) -> str:
        """Make a token that works for so many days; returns it, which nobody can read again.

        Raises LimitError if there is no name, it would work too long, or the person has too many.
        """
        name, owner = name.strip(), storable(owner)
        if not 0 < len(name) <= NAME_LENGTH:
            raise LimitError(f"A token needs a name of 1 to {NAME_LENGTH} characters that says what for.")
        if not 0 < days <= MAX_DAYS:
            raise LimitError(f"A token works for {MAX_DAYS} days at most; make another one then.")
        token, now = PREFIX + secrets.token_urlsafe(TOKEN_BYTES), self._now
        working = self._works() & (tokens.c.owner == owner)
        with to_write(self._engine, alone=f"tokens of {owner}") as connection:
            if count(connection, tokens, working) >= MAX_TOKENS:
                raise LimitError(f"You have {MAX_TOKENS} tokens, the most there may be; withdraw one first.")
            row = {"id": new_id(), "token_sha256": digest_of(token), "created_at": now}
            values = {"owner": owner, "name": name, "scope": scope, "expires_at": now + days * 86400}
            connection.execute(tokens.insert().values(**row, **values))
        return token

    def use(self, token: str) -> Token | None:
        """Return the token and note its use; None if it is unknown, withdrawn or expired."""
        now = self._now
        works = (tokens.c.token_sha256 == digest_of(token)) & self._works()
        stale = sa.func.coalesce(tokens.c.last_used_at < now - _NOTED_S, sa.true()).label("stale")
        row = self._row(sa.select(tokens, stale).where(works))
        if row is None:
            return None
        if row.stale:
            self._write(tokens.update().where(tokens.c.id == row.id).values(last_used_at=now))
        return from_row(Token, row, expired=False)

    def _works(self) -> sa.ColumnElement[bool]:
        goes_on: sa.ColumnElement[bool] = tokens.c.expires_at > self._now
        return tokens.c.revoked_at.is_(None) & goes_on

    def of(self, owner: str) -> list[Token]:
        """A person's tokens, latest first."""
        return self._found(tokens.c.owner == storable(owner))

    def all(self) -> list[Token]:
        """Everybody's tokens, latest first."""
        return self._found(sa.true())

    def revoke(self, token_id: str, *, owner: str | None = None) -> bool:
        """Withdraw a token, with `owner` only one of theirs; returns False if it was withdrawn before."""
        which = (tokens.c.id == token_id) & tokens.c.revoked_at.is_(None)
        if owner is not None:
            which &= tokens.c.owner == storable(owner)
        return bool(self._write(tokens.update().where(which).values(revoked_at=self._now)))

    def delete_ended(self, *, older_than_days: float) -> int:
        """Delete tokens that were withdrawn or expired so long ago; returns how many."""
        ended = sa.func.coalesce(tokens.c.revoked_at, tokens.c.expires_at)
        old = ended < self._now - older_than_days * 86400
        return self._write(tokens.delete().where(old))

    def _found(self, which: sa.ColumnElement[bool]) -> list[Token]:
        expired = (tokens.c.expires_at <= self._now).label("expired")
        query = sa.select(tokens, expired).where(which).order_by(tokens.c.created_at.desc(), tokens.c.id)
        return [from_row(Token, row, expired=bool(row.expired)) for row in self._rows(query)]


@dataclass(frozen=True, slots=True)
class KeptToken:
    """A token in the encrypted form that is kept, and the site that it opens."""

    site: str
    sealed: bytes
    created_at: float


class SourceTokenStore(Store):
    """Kept tokens in the database, one for each person and site."""

    def keep(self, sealed: bytes, *, owner: str, site: str) -> None:
        """Keep a token in place of the person's earlier one for this site."""
        with to_write(self._engine, alone=f"source tokens of {owner}") as connection:
            kept = {"owner": owner, "site": site}
            put(connection, source_tokens, kept, sealed=sealed, created_at=self._now)

    def get(self, *, owner: str, site: str) -> KeptToken | None:
        """A person's token for a site; None if none is kept."""
        row = self._row(sa.select(source_tokens).where(_is(owner, site)))
        return None if row is None else from_row(KeptToken, row)

    def forget(self, *, owner: str, site: str) -> bool:
        """Delete a token; return whether there was one."""
        return bool(self._write(source_tokens.delete().where(_is(owner, site))))


def _is(owner: str, site: str) -> sa.ColumnElement[bool]:
    return (source_tokens.c.owner == storable(owner)) & (source_tokens.c.site == storable(site))
