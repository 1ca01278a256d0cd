"""Sessions: without one that goes on, a browser's signed cookie opens nothing."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Engine

from grasp_core.model.access import Person
from grasp_core.store.bound import Store, of_row
from grasp_core.store.database import insert_new, to_write
from grasp_core.store.people.people import PERSON, person_of
from grasp_core.store.schema import people, sessions

SEEN_SECONDS = 30.0
"""How exactly it is kept when a session was last seen: a row is written that often at most."""


@dataclass(frozen=True, slots=True)
class Session:
    """A sign-in that goes on, of a browser as it calls itself."""

    key: str
    browser: str
    created_at: float
    seen_at: float


class SessionStore(Store):
    """Sessions in the database, asked at each request: what ends here ends for every server at once.

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
            insert_new(
                connection, sessions, [{"key": key, "person_id": person_id, "browser": browser, **times}]
            )

    def person(self, key: str, *, seen: bool = True) -> Person | None:
        """Whose session it is, or None if it is unknown, has ended, or they are disabled.

        `seen`: count this as use of the session; looking after a run's progress by itself is none.
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
        """Those of the sessions that have not ended."""
        query = (
            sa.select(sessions.c.key)
            .join_from(sessions, people)
            .where(sessions.c.key.in_(keys), self._goes_on(), people.c.disabled_at.is_(None))
        )
        return set(self._values(query))

    def of_person(self, person_id: str) -> list[Session]:
        """A person's sessions that go on, latest seen first."""
        query = (
            sa.select(sessions)
            .where(sessions.c.person_id == person_id, self._goes_on())
            .order_by(sessions.c.seen_at.desc(), sessions.c.key)
        )
        return [of_row(Session, row) for row in self._rows(query)]

    def end(self, key: str, *, person_id: str) -> None:
        """End a session of a person."""
        self._end((sessions.c.key == key) & (sessions.c.person_id == person_id))

    def end_all(self, person_id: str) -> None:
        """End all sessions of a person."""
        self._end(sessions.c.person_id == person_id)

    def delete_older_than(self, days: float) -> int:
        """Delete sessions that began so long ago that no cookie of theirs is taken; returns how many."""
        old = sessions.c.created_at < self._now - days * 86400
        return self._write(sessions.delete().where(old))

    def _end(self, which: sa.ColumnElement[bool]) -> None:
        self._write(sessions.update().where(which, sessions.c.ended_at.is_(None)).values(ended_at=self._now))

    def _goes_on(self) -> sa.ColumnElement[bool]:
        goes_on: Any = sessions.c.ended_at.is_(None)
        if self._idle_s:
            goes_on &= sessions.c.seen_at > self._now - self._idle_s
        return goes_on  # type: ignore[no-any-return]  # SQLAlchemy's & of two conditions is one
