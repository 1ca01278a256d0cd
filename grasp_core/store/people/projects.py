"""Projects, and runs that move between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from grasp_core.model.access import EVERYONE
from grasp_core.model.errors import AccessError, LimitError, StoreError
from grasp_core.store.bound import of_row
from grasp_core.store.database import leave_no_trace, new_id, only_one, to_write
from grasp_core.store.people.members import Member, Members, checked, insert_member, not_there
from grasp_core.store.schema import (
    chunks,
    current_projects,
    files,
    links,
    projects,
    readings,
    run_files,
    runs,
    storable,
    submissions,
    watches,
)


def _copy_files(connection: Connection, run_id: str, source: str, target: str) -> None:
    """The run's files, as far as they are still there and the other project does not have them."""
    of_run = sa.select(run_files.c.sha256).where(run_files.c.run_id == run_id).distinct()
    for sha256 in sorted(connection.execute(of_run).scalars()):
        only_one(connection, f"file {sha256}")
        known = sa.select(files.c.bytes).where(files.c.project_id == target, files.c.sha256 == sha256)
        if connection.execute(known).first() is not None:
            continue
        for table in (files, chunks):
            theirs = sa.literal(target, table.c.project_id.type).label("project_id")
            values = [theirs if column.name == "project_id" else column for column in table.c]
            rows = sa.select(*values).where(table.c.project_id == source, table.c.sha256 == sha256)
            connection.execute(table.insert().from_select(list(table.c.keys()), rows))


NAME_LENGTH = 120


@dataclass(frozen=True, slots=True)
class Project:
    """A project; nothing is added to one that is archived."""

    id: str
    name: str
    created_at: float
    archived: bool


@dataclass(frozen=True, slots=True)
class Holdings:
    """Counts of what belongs to a project, and goes with it."""

    runs: int
    files: int
    links: int
    readings: int
    submissions: int
    watches: int


class ProjectStore(Members):
    """Projects in the database. Who may change them is asked before."""

    def create(self, name: str, *, owner: Member | None) -> Project:
        """Make a project; `owner` is its first member, None where nobody signs in.

        Raises LimitError if the name is empty or too long, or the owner's cannot be one of its kind.
        """
        project_id = new_id()
        row = {"id": project_id, "name": _checked_name(name), "created_at": self._now}
        with to_write(self._engine) as connection:
            connection.execute(projects.insert().values(row))
            if owner is not None:
                insert_member(connection, project_id, checked(owner))
            made = connection.execute(sa.select(projects).where(projects.c.id == project_id)).one()
        self._known.clear()
        return _project(made)

    def all(self) -> list[Project]:
        """Projects within reach: Everyone first, then by name, those in the archive last."""
        query = sa.select(projects).where(self._seen(projects.c.id))
        found = [_project(row) for row in self._rows(query)]
        return sorted(found, key=lambda one: (one.id != EVERYONE, one.archived, one.name.casefold(), one.id))

    def get(self, project_id: str) -> Project | None:
        """The project, or None where there is none of this id within reach."""
        query = sa.select(projects).where(self._is(project_id))
        row = self._row(query)
        return None if row is None else _project(row)

    def rename(self, project_id: str, name: str) -> None:
        """Call the project so; raises LimitError if the name cannot be one, StoreError as :meth:`delete`."""
        self._change(project_id, name=_checked_name(name))

    def archive(self, project_id: str, archived: bool = True) -> None:
        """Let nothing be added to the project any more, or again; raises StoreError as :meth:`delete`."""
        self._change(project_id, archived_at=self._now if archived else None)

    def delete(self, project_id: str) -> None:
        """Delete the project with all that is in it; raises StoreError if it is gone, or is Everyone."""
        if not self._write(projects.delete().where(self._may_change(project_id))):
            raise not_there(project_id)
        self._known.clear()
        leave_no_trace(self._engine)

    def move(self, run_id: str, project_id: str) -> None:
        """Let a run that has ended belong to another project; its address and its links stay the same.

        Its files are copied, for other runs of its earlier project may need them too. That whoever moves it
        owns both projects is asked before.

        Raises AccessError if one of the two is out of reach or gone, or the project is archived; StoreError
        if the run has not ended, or the project holds its owner's run of the same question.
        """
        with to_write(self._engine, alone="new run") as connection:
            asked = sa.select(runs.c.project_id, runs.c.state).where(runs.c.id == run_id)
            run = connection.execute(asked).first()
            target = connection.execute(sa.select(projects).where(projects.c.id == project_id)).first()
            seen = self._reach.projects
            if (
                run is None
                or target is None
                or (seen is not None and not {run.project_id, project_id} <= seen)
            ):
                raise AccessError("The run or the project is not there any more, or not for you.")
            if target.archived_at is not None:
                raise AccessError("This project is archived, so nothing is added to it.")
            if run.state in ("queued", "running"):
                raise StoreError("A run is moved once it has ended; wait for it, or cancel it first.")
            if run.project_id == project_id:
                return
            _copy_files(connection, run_id, run.project_id, project_id)
            moved = {"project_id": project_id}
            try:
                connection.execute(runs.update().where(runs.c.id == run_id).values(moved))
            except IntegrityError:
                raise StoreError(
                    "The project holds its owner's run of the same data and settings already."
                ) from None
            connection.execute(links.update().where(links.c.run_id == run_id).values(moved))

    def holdings(self, project_id: str) -> Holdings:
        """Counts of what belongs to the project."""
        counts = [
            sa.select(sa.func.count())
            .select_from(table)
            .where(table.c.project_id == project_id, self._seen(table.c.project_id))
            .scalar_subquery()
            for table in (runs, files, links, readings, submissions, watches)
        ]
        return Holdings(*self._row(sa.select(*counts)))

    def current(self, person: str) -> str | None:
        """The project that the person worked in last."""
        query = sa.select(current_projects.c.project_id).where(current_projects.c.person == storable(person))
        return self._value(query)

    def choose(self, person: str, project_id: str) -> None:
        """Remember the project that the person works in; raises StoreError if it was deleted."""
        person = storable(person)
        with to_write(self._engine, alone=f"current project of {person}") as connection:
            if connection.execute(sa.select(projects.c.id).where(self._is(project_id))).first() is None:
                raise not_there(project_id)
            connection.execute(current_projects.delete().where(current_projects.c.person == person))
            connection.execute(current_projects.insert().values(person=person, project_id=project_id))

    def _change(self, project_id: str, **values: Any) -> None:
        with to_write(self._engine) as connection:
            changed = projects.update().where(self._may_change(project_id)).values(**values)
            if not connection.execute(changed).rowcount:
                raise not_there(project_id)


def _checked_name(name: str) -> str:
    name = " ".join(name.split())
    if not 0 < len(name) <= NAME_LENGTH:
        raise LimitError(f"A project's name has 1 to {NAME_LENGTH} characters; this one has {len(name)}.")
    return name


def _project(row: Any) -> Project:
    return of_row(Project, row, archived=row.archived_at is not None)
