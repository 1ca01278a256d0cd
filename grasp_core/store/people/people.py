"""People who have signed in: known by issuer and subject, for a mail address may pass to somebody else."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection, Engine

from grasp_core.errors import AccessError
from grasp_core.people import Identity, Person, Role
from grasp_core.store.database import clock, insert_new, new_id, only_one, to_read, to_write
from grasp_core.store.schema import addresses, people, sessions

_holder = sa.select(addresses.c.person_id).where(addresses.c.address == people.c.email).scalar_subquery()
PERSON: tuple[sa.ColumnElement[Any], ...] = (*people.c, _holder.label("holder"))
"""What :func:`person_of` reads."""


class PeopleStore:
    """People in the database."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def sign_in(self, identity: Identity) -> Person:
        """The person of this identity as of now, who holds their mail address if nobody else does."""
        now = clock(self._engine)
        told = {"email": identity.email, "name": identity.name, "signed_in_at": now}
        with to_write(self._engine) as connection:
            only_one(connection, "people")  # two tabs that sign in at once are one person
            found = connection.execute(sa.select(people.c.id).where(_is(identity))).scalar_one_or_none()
            person_id = found or new_id()
            if found is None:
                new = {"id": person_id, "issuer": identity.issuer, "subject": identity.subject}
                connection.execute(people.insert().values(created_at=now, **new, **told))
            else:
                _set(connection, person_id, **told)
            insert_new(connection, addresses, [{"address": identity.email, "person_id": person_id}])
            return _person(connection.execute(sa.select(*PERSON).where(people.c.id == person_id)).one())

    def get(self, person_id: str) -> Person | None:
        """The person of an id."""
        return self._one(people.c.id == person_id)

    def find(self, identity: Identity) -> Person | None:
        """The person of an issuer and subject."""
        return self._one(_is(identity))

    def search(self, text: str = "", *, start: int = 0, limit: int = 50) -> tuple[list[Person], int]:
        """People whose name or mail address contains `text`, by name, and how many there are in all."""
        which = _named(text)
        query = sa.select(*PERSON).where(which).order_by(sa.func.lower(people.c.name), people.c.id)
        with to_read(self._engine) as connection:
            total = connection.execute(sa.select(sa.func.count()).select_from(people).where(which))
            rows = connection.execute(query.offset(start).limit(limit))
            return [_person(row) for row in rows], total.scalar_one()

    def names(self, ids: Iterable[str]) -> dict[str, str]:
        """What people are called, by id; an id that is nobody's, as a mail address, stands for itself."""
        asked = set(ids)
        query = sa.select(people.c.id, people.c.name).where(people.c.id.in_(asked))
        with to_read(self._engine) as connection:
            known = {row.id: row.name for row in connection.execute(query)}
        return {one: known.get(one, one) for one in asked}

    def enabled(self) -> list[Person]:
        """Everybody who is not disabled."""
        with to_read(self._engine) as connection:
            return [
                _person(row)
                for row in connection.execute(sa.select(*PERSON).where(people.c.disabled_at.is_(None)))
            ]

    def set_role(self, person_id: str, role: Role | None) -> None:
        """Give a person a role, or None for what the settings say."""
        with to_write(self._engine) as connection:
            _set(connection, person_id, role=role)

    def assign_address(self, person_id: str, address: str) -> str | None:
        """Let a person hold the mail address that they signed in with last; returns who held it before.

        Raises
        ------
        AccessError
            If there is nobody of that id and address.
        """
        theirs = (people.c.id == person_id) & (people.c.email == address)
        held = addresses.c.address == address
        with to_write(self._engine) as connection:
            only_one(connection, "people")
            if connection.execute(sa.select(people.c.id).where(theirs)).first() is None:
                raise AccessError("There is nobody of that id and mail address (any more).")
            before = connection.execute(sa.select(addresses.c.person_id).where(held)).scalar_one_or_none()
            connection.execute(addresses.delete().where(held))
            connection.execute(addresses.insert().values(address=address, person_id=person_id))
        return before

    def disable(self, person_id: str) -> None:
        """Let a person in no more, and end their sessions."""
        now = clock(self._engine)
        with to_write(self._engine) as connection:
            _set(connection, person_id, disabled_at=now)
            connection.execute(
                sessions.update()
                .where(sessions.c.person_id == person_id, sessions.c.ended_at.is_(None))
                .values(ended_at=now)
            )

    def enable(self, person_id: str) -> None:
        """Let a person sign in again."""
        with to_write(self._engine) as connection:
            _set(connection, person_id, disabled_at=None)

    def _one(self, which: sa.ColumnElement[bool]) -> Person | None:
        with to_read(self._engine) as connection:
            row = connection.execute(sa.select(*PERSON).where(which)).one_or_none()
        return None if row is None else _person(row)


def ids_named(text: str) -> sa.Select[tuple[str]]:
    """Ids of people whose name or mail address contains `text`, for searches of what they own."""
    return sa.select(people.c.id).where(_named(text))


def person_of(row: sa.RowMapping) -> Person:
    """The person that a row of :data:`PERSON` describes."""
    return Person(
        id=row["id"],
        identity=Identity(row["issuer"], row["subject"], row["email"], row["name"]),
        role=row["role"],
        created_at=row["created_at"],
        signed_in_at=row["signed_in_at"],
        disabled_at=row["disabled_at"],
        holder=row["holder"],
    )


def _set(connection: Connection, person_id: str, **values: Any) -> None:
    connection.execute(people.update().where(people.c.id == person_id).values(values))


def _person(row: sa.Row[Any]) -> Person:
    return person_of(row._mapping)


def _is(identity: Identity) -> sa.ColumnElement[bool]:
    return (people.c.issuer == identity.issuer) & (people.c.subject == identity.subject)


def _named(text: str) -> sa.ColumnElement[bool]:
    found = [column.icontains(text, autoescape=True) for column in (people.c.name, people.c.email)]
    return sa.or_(*found)
