"""People by issuer and subject; export and erasure of all data that name a person."""

import json
import zipfile
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import IO, Any

import sqlalchemy as sa
from sqlalchemy import Connection, LargeBinary, Table, Text

from grasp_core.model.access import EVERYONE, Identity, Person, Role
from grasp_core.model.errors import AccessError
from grasp_core.store import schema
from grasp_core.store.base import Store, count, from_row, put
from grasp_core.store.database import insert_new, leave_no_trace, new_id, snapshot, to_read, to_write
from grasp_core.store.schema import addresses, people, project_members, projects, runs, sessions, submissions


def separate_owners(connection: Connection, owners: Sequence[str], heir: str) -> None:
    """Remove duplicates of what a person has only once, before these owners' objects become the heir's.

    A run whose question the heir would have twice loses its key, like an uploaded result: no question finds
    it. A submission that the heir has too is deleted.
    """
    others = runs.alias()
    same = (others.c.project_id == runs.c.project_id) & (others.c.key == runs.c.key)
    earlier = others.c.owner.in_(owners) & (others.c.id < runs.c.id)
    twice = sa.select(others.c.id).where(same, (others.c.owner == heir) | earlier).exists()
    connection.execute(runs.update().where(runs.c.owner.in_(owners), twice).values(key=None))
    twin = submissions.alias()
    alike = (twin.c[name] == submissions.c[name] for name in ("project_id", "sha256", "name"))
    earlier = twin.c.owner.in_(owners) & (twin.c.id < submissions.c.id)
    twice = sa.select(twin.c.id).where(*alike, (twin.c.owner == heir) | earlier).exists()
    connection.execute(submissions.delete().where(submissions.c.owner.in_(owners), twice))


Trace = sa.Column[Any]
IN_PROJECTS: tuple[Trace, ...] = (
    *(table.c.owner for table in (runs, schema.files, schema.readings, submissions)),
    schema.links.c.created_by,
    schema.watches.c.owner,
)
"""Columns that name owners of objects in projects: with the person, these go to an heir or are deleted."""
THEIR_OWN: tuple[Trace, ...] = (
    *(table.c.owner for table in (schema.scorings, schema.tokens, schema.source_tokens, schema.webhooks)),
    *(table.c.owner for table in (schema.webhook_keys, schema.outcomes)),
    schema.current_projects.c.person,
    sessions.c.person_id,
    schema.drafts.c.owner,
    addresses.c.person_id,
    addresses.c.address,
)
"""Columns that name a person in rows of that person alone; these are deleted with the person."""
MEMBER: Trace = project_members.c.name
"""By `kind`: a person's id, a mail address, or a name that is not one person's."""
IN_THE_LOG: tuple[Trace, ...] = (schema.audit.c.actor, schema.audit.c.object_id)
"""Columns of the log, which stay; once the person is erased, nothing shows whose the id was."""


_holder = sa.select(addresses.c.person_id).where(addresses.c.address == people.c.email).scalar_subquery()
PERSON: tuple[sa.ColumnElement[Any], ...] = (*people.c, _holder.label("holder"))
"""Columns that :func:`person_of` reads."""


class PeopleStore(Store):
    """People in the database."""

    def sign_in(self, identity: Identity) -> Person:
        """Save a sign-in, and return the person, who holds their mail address unless somebody else does."""
        now = self._now
        values = {"email": identity.email, "name": identity.name, "signed_in_at": now}
        with to_write(self._engine, alone="people") as connection:  # two tabs at once are one person
            found = connection.execute(sa.select(people.c.id).where(_is(identity))).scalar_one_or_none()
            person_id = found or new_id()
            if found is None:
                new = {"id": person_id, "issuer": identity.issuer, "subject": identity.subject}
                connection.execute(people.insert().values(created_at=now, **new, **values))
            else:
                connection.execute(_person(person_id).values(values))
            insert_new(connection, addresses, [{"address": identity.email, "person_id": person_id}])
            return person_of(connection.execute(sa.select(*PERSON).where(people.c.id == person_id)).one())

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
            rows = connection.execute(query.offset(start).limit(limit))
            return [person_of(row) for row in rows], count(connection, people, which)

    def names(self, ids: Iterable[str]) -> dict[str, str]:
        """Return people's names by id; an id that is nobody's, such as a mail address, is its own name."""
        asked = set(ids)
        query = sa.select(people.c.id, people.c.name).where(people.c.id.in_(asked))
        known = {row.id: row.name for row in self._rows(query)}
        return {one: known.get(one, one) for one in asked}

    def enabled(self) -> list[Person]:
        """Everybody who is not disabled."""
        return [
            person_of(row) for row in self._rows(sa.select(*PERSON).where(people.c.disabled_at.is_(None)))
        ]

    def set_role(self, person_id: str, role: Role | None) -> None:
        """Give a person a role, or None for what the settings say."""
        self._write(_person(person_id).values(role=role))

    def assign_address(self, person_id: str, address: str) -> str | None:
        """Make a person the holder of their mail address; returns who it was. AccessError: no such person."""
        theirs = (people.c.id == person_id) & (people.c.email == address)
        held = addresses.c.address == address
        with to_write(self._engine, alone="people") as connection:
            if connection.execute(sa.select(people.c.id).where(theirs)).first() is None:
                raise AccessError("There is nobody of that id and mail address (any more).")
            before = connection.execute(sa.select(addresses.c.person_id).where(held)).scalar_one_or_none()
            put(connection, addresses, {"address": address}, person_id=person_id)
        return before

    def disable(self, person_id: str) -> None:
        """Keep a person from signing in, and end their sessions."""
        now = self._now
        with to_write(self._engine) as connection:
            connection.execute(_person(person_id).values(disabled_at=now))
            theirs = (sessions.c.person_id == person_id) & sessions.c.ended_at.is_(None)
            connection.execute(sessions.update().where(theirs).values(ended_at=now))

    def enable(self, person_id: str) -> None:
        """Let a person sign in again."""
        self._write(_person(person_id).values(disabled_at=None))

    def _one(self, which: sa.ColumnElement[bool]) -> Person | None:
        row = self._row(sa.select(*PERSON).where(which))
        return None if row is None else person_of(row)


def ids_named(text: str) -> sa.Select[tuple[str]]:
    """Ids of people whose name or mail address contains `text`, for searches of what they own."""
    return sa.select(people.c.id).where(_named(text))


def person_of(row: Any) -> Person:
    """The person that a row of :data:`PERSON` describes."""
    return from_row(Person, row, identity=from_row(Identity, row))


def _person(person_id: str) -> sa.Update:
    return people.update().where(people.c.id == person_id)


def _is(identity: Identity) -> sa.ColumnElement[bool]:
    return (people.c.issuer == identity.issuer) & (people.c.subject == identity.subject)


def _named(text: str) -> sa.ColumnElement[bool]:
    found = [column.icontains(text, autoescape=True) for column in (people.c.name, people.c.email)]
    return sa.or_(*found)


KEYS = frozenset({"token_sha256", "key", "request", "password"})
"""Columns that no copy contains: values by which GRASP recognizes keys and passwords."""


@dataclass(frozen=True, slots=True)
class Traces:
    """Data that name a person: numbers of rows by table, in projects and outside, and projects by id."""

    held: dict[str, int]
    own: dict[str, int]
    projects: dict[str, str]
    led: dict[str, str]


class PersonalData(Store):
    """Data in the database that name people."""

    def traces(self, person_id: str) -> Traces:
        """Count the data that name the person; tables without any are left out."""
        with to_read(self._engine) as connection:
            names = _names_of(connection, person_id)
            own = _counts(connection, THEIR_OWN, names)
            if members := count(connection, project_members, _membership(names)):
                own[project_members.name] = members
            touched = [trace.table.c.project_id for trace in IN_PROJECTS]
            found = [
                sa.select(project).where(trace.in_(names))
                for trace, project in zip(IN_PROJECTS, touched, strict=True)
            ]
            found.append(sa.select(project_members.c.project_id).where(_membership(names)))
            query = sa.select(projects.c.id, projects.c.name).where(projects.c.id.in_(sa.union(*found)))
            there = {row.id: row.name for row in connection.execute(query)}
            led = {one: there[one] for one in _led_alone(connection, names)}
            return Traces(_counts(connection, IN_PROJECTS, names), own, there, led)

    def write(self, person_id: str, file: IO[bytes]) -> None:
        """Write all data that name the person: a zip archive with the person and a JSON list of each table.

        It leaves out the content of files, data kept beside a run, and keys and passwords.
        """
        with (
            snapshot(self._engine) as connection,
            zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive,
        ):
            names = _names_of(connection, person_id)
            of_tables: dict[Table, sa.ColumnElement[bool]] = {people: people.c.id == person_id}
            for trace in (*IN_PROJECTS, *THEIR_OWN, *IN_THE_LOG):
                of_tables[trace.table] = of_tables.get(trace.table, sa.false()) | trace.in_(names)
            of_tables[project_members] = _membership(names)
            for table, which in of_tables.items():
                shown = [
                    one
                    for one in table.c
                    if one.name not in KEYS
                    and (not isinstance(one.type, LargeBinary) or one is submissions.c.predictions)
                ]
                query = sa.select(*shown).where(which).order_by(*table.primary_key)
                rows = connection.execution_options(yield_per=8).execute(query).mappings()
                with archive.open(f"{table.name}.json", "w", force_zip64=True) as member:
                    before = "[\n"
                    for row in rows:
                        plain = {one.name: _plain(one, row[one.name]) for one in shown}
                        member.write((before + json.dumps(plain)).encode("ascii"))
                        before = ",\n"
                    member.write(b"[]\n" if before == "[\n" else b"\n]\n")

    def erase(self, person_id: str, heir: str | None) -> None:
        """Erase the person, with their sessions and all that is theirs alone.

        `heir`: person who gets their objects in projects, and owns the projects that they alone owned. None:
            the objects are deleted, and so are projects that then have no members and no content.
        """
        with to_write(self._engine, alone="people") as connection:
            names = _names_of(connection, person_id)
            led = _led_alone(connection, names)
            for trace in IN_PROJECTS:
                which = trace.in_(names)
                if heir is None:
                    connection.execute(trace.table.delete().where(which))
                else:
                    if trace is runs.c.owner:
                        separate_owners(connection, names, heir)
                    connection.execute(trace.table.update().where(which).values({trace.name: heir}))
            for trace in THEIR_OWN:
                connection.execute(trace.table.delete().where(trace.in_(names)))
            connection.execute(project_members.delete().where(_membership(names)))
            if heir is None:  # those projects that have no members and no content
                held = [trace.table.c.project_id for trace in IN_PROJECTS]
                used = [sa.select(project) for project in (project_members.c.project_id, *held)]
                unused = projects.c.id.not_in(sa.union(*used)) & (projects.c.id != EVERYONE)
                connection.execute(projects.delete().where(projects.c.id.in_(led), unused))
            elif led:
                columns = project_members.c
                before = columns.project_id.in_(led) & (columns.kind == "person") & (columns.name == heir)
                connection.execute(project_members.delete().where(before))
                row = {"kind": "person", "name": heir, "role": "owner"}
                connection.execute(project_members.insert(), [{"project_id": one, **row} for one in led])
            connection.execute(people.delete().where(people.c.id == person_id))
        leave_no_trace(self._engine)


def _names_of(connection: Connection, person_id: str) -> list[str]:
    """Return the person's id, the mail addresses they hold, and their own unless somebody else holds it."""
    email = connection.execute(sa.select(people.c.email).where(people.c.id == person_id)).scalar_one_or_none()
    if email is None:
        raise AccessError("There is nobody of that id.")
    theirs = addresses.c.person_id == person_id
    held = connection.execute(sa.select(addresses.c.address).where(theirs)).scalars().all()
    another_s = count(connection, addresses, (addresses.c.address == email) & ~theirs)
    return [person_id, *held] if another_s else [person_id, *{email, *held}]


def _membership(names: list[str]) -> sa.ColumnElement[bool]:
    return project_members.c.kind.in_(("person", "address")) & MEMBER.in_(names)


def _counts(connection: Connection, traces: tuple[Trace, ...], names: list[str]) -> dict[str, int]:
    counted = {trace.table.name: count(connection, trace.table, trace.in_(names)) for trace in traces}
    return {name: rows for name, rows in counted.items() if rows}


def _led_alone(connection: Connection, names: list[str]) -> list[str]:
    """Projects that the person, and nobody else, owns."""
    owners = project_members.c.role == "owner"
    project = project_members.c.project_id
    others = sa.select(project).where(owners, ~_membership(names))
    query = sa.select(project).distinct().where(owners, _membership(names), project.not_in(others))
    return list(connection.execute(query).scalars())


def _plain(column: Trace, value: Any) -> Any:
    """Return a value in JSON-ready form; documents, which are in columns of type Text, are parsed."""
    if isinstance(value, bytes):
        return json.loads(zlib.decompress(value))
    return json.loads(value) if type(column.type) is Text and value is not None else value
