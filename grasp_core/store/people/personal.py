"""All that names one person: counted, taken away as files, erased."""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

import sqlalchemy as sa
from sqlalchemy import Connection, Engine, LargeBinary, Table, Text

from grasp_core.access import EVERYONE
from grasp_core.errors import AccessError
from grasp_core.store.database import leave_no_trace, only_one, snapshot, to_read, to_write
from grasp_core.store.people.handing_over import tell_apart
from grasp_core.store.people.traces import IN_PROJECTS, IN_THE_LOG, MEMBER, THEIR_OWN, Trace
from grasp_core.store.schema import addresses, people, project_members, projects, runs, submissions

KEYS = frozenset({"token_sha256", "key", "request", "password"})
"""Columns of which no copy is given: what is asked for when somebody shows a key."""


@dataclass(frozen=True, slots=True)
class Traces:
    """What names a person.

    Parameters
    ----------
    held : dict
        By table, the number of rows that belong to a project: runs, files, readings, submissions, links.
    own : dict
        By table, the number of other rows, memberships among them.
    projects : dict
        By id, the name of each project that any of this, or a membership, belongs to.
    led : dict
        Of these, those that nobody else owns.
    """

    held: dict[str, int]
    own: dict[str, int]
    projects: dict[str, str]
    led: dict[str, str]


class PersonalData:
    """What names people in the database.

    Parameters
    ----------
    engine : sqlalchemy Engine
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def traces(self, person_id: str) -> Traces:
        """What names the person; rows of none are left out."""
        with to_read(self._engine) as connection:
            names = _names_of(connection, person_id)
            own = _counts(connection, THEIR_OWN, names)
            if members := _count(connection, project_members, _membership(names)):
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
        """Write all that names the person: a zip archive with the person and a JSON list of each table.

        The content of files and of what is kept beside a run is not in it, nor is anything that opens.

        Raises
        ------
        AccessError
            If there is nobody of that id.
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
                with archive.open(f"{table.name}.json", "w", force_zip64=True) as member:
                    for line in _as_list(_rows(connection, table, which)):
                        member.write(line.encode("ascii"))

    def erase(self, person_id: str, heir: str | None) -> None:
        """Erase the person, with their sessions and all that is theirs alone.

        Parameters
        ----------
        person_id : str
        heir : str or None
            Who gets what they own in projects, and owns those that they alone owned; None has it deleted.
            A project that nobody belongs to any more then goes too, if nothing is left in it.

        Raises
        ------
        AccessError
            If there is nobody of that id.
        """
        with to_write(self._engine) as connection:
            only_one(connection, "people")
            names = _names_of(connection, person_id)
            led = _led_alone(connection, names)
            for trace in IN_PROJECTS:
                which = trace.in_(names)
                if heir is None:
                    connection.execute(trace.table.delete().where(which))
                else:
                    if trace is runs.c.owner:
                        tell_apart(connection, names, heir)
                    connection.execute(trace.table.update().where(which).values({trace.name: heir}))
            for trace in THEIR_OWN:
                connection.execute(trace.table.delete().where(trace.in_(names)))
            connection.execute(project_members.delete().where(_membership(names)))
            if heir is None:
                _delete_empty(connection, led)
            else:
                _make_owner(connection, led, heir)
            connection.execute(people.delete().where(people.c.id == person_id))
        leave_no_trace(self._engine)


def _names_of(connection: Connection, person_id: str) -> list[str]:
    """What the person is named by: id, mail addresses they hold, and theirs unless somebody else holds it."""
    email = connection.execute(sa.select(people.c.email).where(people.c.id == person_id)).scalar_one_or_none()
    if email is None:
        raise AccessError("There is nobody of that id.")
    theirs = addresses.c.person_id == person_id
    held = connection.execute(sa.select(addresses.c.address).where(theirs)).scalars().all()
    another_s = _count(connection, addresses, (addresses.c.address == email) & ~theirs)
    return [person_id, *held] if another_s else [person_id, *{email, *held}]


def _membership(names: list[str]) -> sa.ColumnElement[bool]:
    return project_members.c.kind.in_(("person", "address")) & MEMBER.in_(names)


def _count(connection: Connection, table: Table, which: sa.ColumnElement[bool]) -> int:
    return connection.execute(sa.select(sa.func.count()).select_from(table).where(which)).scalar_one()


def _counts(connection: Connection, traces: tuple[Trace, ...], names: list[str]) -> dict[str, int]:
    counted = {trace.table.name: _count(connection, trace.table, trace.in_(names)) for trace in traces}
    return {name: count for name, count in counted.items() if count}


def _led_alone(connection: Connection, names: list[str]) -> list[str]:
    """Projects that the person, and nobody else, owns."""
    owners = project_members.c.role == "owner"
    project = project_members.c.project_id
    others = sa.select(project).where(owners, ~_membership(names))
    query = sa.select(project).distinct().where(owners, _membership(names), project.not_in(others))
    return list(connection.execute(query).scalars())


def _make_owner(connection: Connection, led: list[str], heir: str) -> None:
    columns = project_members.c
    before = columns.project_id.in_(led) & (columns.kind == "person") & (columns.name == heir)
    connection.execute(project_members.delete().where(before))
    rows = [{"project_id": one, "kind": "person", "name": heir, "role": "owner"} for one in led]
    if rows:
        connection.execute(project_members.insert(), rows)


def _delete_empty(connection: Connection, led: list[str]) -> None:
    """Delete those of the projects that nobody belongs to, and that hold nothing."""
    held = [trace.table.c.project_id for trace in IN_PROJECTS]
    used = [sa.select(project) for project in (project_members.c.project_id, *held)]
    empty = projects.c.id.in_(led) & (projects.c.id != EVERYONE) & projects.c.id.not_in(sa.union(*used))
    connection.execute(projects.delete().where(empty))


def _rows(connection: Connection, table: Table, which: sa.ColumnElement[bool]) -> Iterator[dict[str, Any]]:
    shown = [column for column in table.c if column.name not in KEYS and _shown(column)]
    query = sa.select(*shown).where(which).order_by(*table.primary_key)
    for row in connection.execution_options(yield_per=8).execute(query).mappings():
        yield {column.name: _plain(column, row[column.name]) for column in shown}


def _shown(column: Trace) -> bool:
    return not isinstance(column.type, LargeBinary) or column is submissions.c.predictions


def _plain(column: Trace, value: Any) -> Any:
    """A value as JSON has it; documents are texts of the plain kind, and are read."""
    if isinstance(value, bytes):
        return json.loads(zlib.decompress(value))
    return json.loads(value) if type(column.type) is Text and value is not None else value


def _as_list(rows: Iterator[dict[str, Any]]) -> Iterator[str]:
    """The text of a JSON list, a row a line."""
    before = "[\n"
    for row in rows:
        yield before + json.dumps(row)
        before = ",\n"
    yield "[]\n" if before == "[\n" else "\n]\n"
