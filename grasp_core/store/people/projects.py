"""Projects: their members with roles, and moving runs between them."""

from dataclasses import dataclass
from typing import Any, Literal, get_args

import sqlalchemy as sa
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import IntegrityError

from grasp_core.model.access import EVERYONE, ProjectRole, User
from grasp_core.model.errors import AccessError, LimitError, StoreError
from grasp_core.store import schema
from grasp_core.store.base import Bound, RecentReads, count, from_row, put
from grasp_core.store.claims import GOING
from grasp_core.store.database import leave_no_trace, new_id, only_one, to_write
from grasp_core.store.schema import current_projects, files, project_members, projects, runs, storable

NAME_LENGTH = 120
MemberKind = Literal["person", "address", "domain", "group"]
"""Kind of a member: a person, the holder of a mail address, everybody of a mail domain, or a group."""
MEMBER_LENGTH = 320
"""Characters of the longest mail address."""
ROLES: tuple[ProjectRole, ...] = get_args(ProjectRole)
"""Roles in a project, the one with the fewest rights first."""
KNOWN_SECONDS = 2.0
"""Seconds after which a process notices that another one changed a person's projects."""


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a project, and their role."""

    kind: MemberKind
    name: str
    role: ProjectRole

    @property
    def log_details(self) -> dict[str, str]:
        """Details for the audit log: no mail address, as it would stay there."""
        who = {"person": self.name} if self.kind == "person" else {}
        return {"kind": self.kind, "role": self.role, **who}


@dataclass(frozen=True, slots=True)
class Project:
    """A project; nothing is added to one that is archived."""

    id: str
    name: str
    created_at: float
    archived: bool


@dataclass(frozen=True, slots=True)
class Holdings:
    """Numbers of objects in a project, which are deleted with it."""

    runs: int
    files: int
    links: int
    readings: int
    submissions: int
    watches: int


class ProjectStore(Bound):
    """Projects in the database. Callers check beforehand who may change them."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self._known: RecentReads[dict[str, ProjectRole]] = RecentReads()

    def create(self, name: str, *, owner: Member | None) -> Project:
        """Make a project with its owner, None if nobody signs in; raises LimitError for an invalid name."""
        project_id = new_id()
        row = {"id": project_id, "name": _checked_name(name), "created_at": self._now}
        with to_write(self._engine) as connection:
            connection.execute(projects.insert().values(row))
            if owner is not None:
                _put_member(connection, project_id, _checked(owner))
            made = connection.execute(sa.select(projects).where(projects.c.id == project_id)).one()
        self._known.forget()
        return _project(made)

    def all(self) -> list[Project]:
        """Projects within reach: Everyone first, then by name, archived ones last."""
        query = sa.select(projects).where(self._seen(projects.c.id))
        found = [_project(row) for row in self._rows(query)]
        return sorted(found, key=lambda one: (one.id != EVERYONE, one.archived, one.name.casefold(), one.id))

    def get(self, project_id: str) -> Project | None:
        """Return the project, or None if there is none of this id within reach."""
        query = sa.select(projects).where(self._is(project_id))
        row = self._row(query)
        return None if row is None else _project(row)

    def rename(self, project_id: str, name: str) -> None:
        """Rename the project; raises LimitError if the name is not valid, StoreError as :meth:`delete`."""
        self._change(project_id, name=_checked_name(name))

    def archive(self, project_id: str, archived: bool = True) -> None:
        """Archive the project, so that nothing is added to it, or undo that; StoreError as :meth:`delete`."""
        self._change(project_id, archived_at=self._now if archived else None)

    def delete(self, project_id: str) -> None:
        """Delete the project with all that is in it; raises StoreError if it is gone, or is Everyone."""
        if not self._write(projects.delete().where(self._may_change(project_id))):
            raise _not_there(project_id)
        self._known.forget()
        leave_no_trace(self._engine)

    def move(self, run_id: str, project_id: str) -> None:
        """Move a run that has ended to another project, with copies of its files; its links stay the same.

        Raises AccessError if one of the two is out of reach or gone, or the project is archived; StoreError
        if the run has not ended, or the project has its owner's run of the same question.
        """
        with to_write(self._engine, alone="new run") as connection:
            asked = sa.select(runs.c.project_id, runs.c.state).where(runs.c.id == run_id)
            run = connection.execute(asked).first()
            target = connection.execute(sa.select(projects).where(projects.c.id == project_id)).first()
            seen = self._reach.projects
            if run is None or target is None or not (seen is None or {run.project_id, project_id} <= seen):
                raise AccessError("The run or the project is not there any more, or not for you.")
            if target.archived_at is not None:
                raise AccessError("This project is archived, so nothing is added to it.")
            if run.state in GOING:
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
            connection.execute(schema.links.update().where(schema.links.c.run_id == run_id).values(moved))

    def holdings(self, project_id: str) -> Holdings:
        """Count the objects in the project."""
        counts = [
            sa.select(sa.func.count())
            .select_from(table)
            .where(table.c.project_id == project_id, self._seen(table.c.project_id))
            .scalar_subquery()
            for table in (runs, files, schema.links, schema.readings, schema.submissions, schema.watches)
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
                raise _not_there(project_id)
            put(connection, current_projects, {"person": person}, project_id=project_id)

    def _change(self, project_id: str, **values: Any) -> None:
        if not self._write(projects.update().where(self._may_change(project_id)).values(**values)):
            raise _not_there(project_id)

    def roles(self, user: User) -> dict[str, ProjectRole]:
        """Return the user's role by project, the highest if several rows name them; without Everyone."""
        who = (user.id, user.email, user.holds_address, user.groups)
        known, changes = self._known.get(who, KNOWN_SECONDS), self._known.changes
        if known is not None:
            return known
        kind, name = project_members.c.kind, project_members.c.name
        names = [(kind == "person") & (name == storable(user.id))]
        if user.holds_address:
            names.append((kind == "address") & (name == user.email))
        if user.email:
            names.append((kind == "domain") & (name == user.email.rpartition("@")[2]))
        if user.groups:
            names.append((kind == "group") & name.in_([storable(group) for group in user.groups]))
        found: dict[str, ProjectRole] = {}
        query = sa.select(project_members.c.project_id, project_members.c.role).where(sa.or_(*names))
        for row in self._rows(query):
            found[row.project_id] = max(row.role, found.get(row.project_id, row.role), key=ROLES.index)
        self._known.keep(who, found, changes)
        return found

    def members(self, project_id: str) -> list[Member]:
        """Members of the project: owners first, then by name; the project Everyone has none."""
        of_it = project_members.c.project_id
        query = sa.select(project_members).where(of_it == project_id, self._seen(of_it))
        found = [Member(row.kind, row.name, row.role) for row in self._rows(query)]
        return sorted(found, key=lambda one: (-ROLES.index(one.role), one.kind, one.name))

    def admit(self, project_id: str, member: Member) -> None:
        """Add a member, or change their role; LimitError: the name does not fit its kind."""
        member = _checked(member)
        with to_write(self._engine) as connection:
            self._lock(connection, project_id)
            _put_member(connection, project_id, member)
            _check_owner_left(connection, project_id)
        self._known.forget()

    def expel(self, project_id: str, kind: MemberKind, name: str) -> bool:
        """Remove a member from the project; raises StoreError if no owner would be left."""
        with to_write(self._engine) as connection:
            self._lock(connection, project_id)
            columns, of_kind = project_members.c, project_members.c.kind == kind
            theirs = (columns.project_id == project_id) & of_kind & (columns.name == storable(name))
            found = connection.execute(project_members.delete().where(theirs)).rowcount
            _check_owner_left(connection, project_id)
        self._known.forget()
        return bool(found)

    def _is(self, project_id: str) -> sa.ColumnElement[bool]:
        """SQL condition that a project has this id, and is within reach."""
        return (projects.c.id == project_id) & self._seen(projects.c.id)

    def _may_change(self, project_id: str) -> sa.ColumnElement[bool]:
        """SQL condition as :meth:`_is`, but never for Everyone, which cannot be changed."""
        return self._is(project_id) & (projects.c.id != EVERYONE)

    def _lock(self, connection: Connection, project_id: str) -> None:
        """Keep others from changing the project's members until the transaction ends."""
        only_one(connection, f"members of {project_id}")
        if connection.execute(sa.select(projects.c.id).where(self._may_change(project_id))).first() is None:
            raise _not_there(project_id)


def _checked_name(name: str) -> str:
    name = " ".join(name.split())
    if not 0 < len(name) <= NAME_LENGTH:
        raise LimitError(f"A project's name has 1 to {NAME_LENGTH} characters; this one has {len(name)}.")
    return name


def _project(row: Any) -> Project:
    return from_row(Project, row, archived=row.archived_at is not None)


def _copy_files(connection: Connection, run_id: str, source: str, target: str) -> None:
    """Copy the run's files that still exist and that the other project does not have."""
    of_run = sa.select(schema.run_files.c.sha256).where(schema.run_files.c.run_id == run_id).distinct()
    for sha256 in sorted(connection.execute(of_run).scalars()):
        only_one(connection, f"file {sha256}")
        known = sa.select(files.c.bytes).where(files.c.project_id == target, files.c.sha256 == sha256)
        if connection.execute(known).first() is not None:
            continue
        for table in (files, schema.chunks):
            theirs = sa.literal(target, table.c.project_id.type).label("project_id")
            values = [theirs if column.name == "project_id" else column for column in table.c]
            rows = sa.select(*values).where(table.c.project_id == source, table.c.sha256 == sha256)
            connection.execute(table.insert().from_select(list(table.c.keys()), rows))


def _put_member(connection: Connection, project_id: str, member: Member) -> None:
    key = {"project_id": project_id, "kind": member.kind, "name": member.name}
    put(connection, project_members, key, role=member.role)


def _check_owner_left(connection: Connection, project_id: str) -> None:
    columns = project_members.c
    if not count(connection, project_members, columns.project_id == project_id, columns.role == "owner"):
        raise StoreError("A project needs an owner; make somebody else one first.")


def _checked(member: Member) -> Member:
    """Return the member with the name as it is compared; raises LimitError if it does not fit its kind."""
    name = member.name if member.kind == "person" else member.name.strip()
    if member.kind in ("address", "domain"):
        name = name.casefold().removeprefix("@" if member.kind == "domain" else "")
    host = name.rpartition("@")[2]
    address = name.count("@") == 1 and all(name.split("@")) and not set(name) & set(" ,;<>")
    domain = "@" not in name and "." in host.strip(".") and not set(name) & set(" ,;<>/*")
    fits, what = {
        "person": (bool(name), "a person's id"),
        "address": (address, "a mail address like ann@example.org"),
        "domain": (domain, "a mail domain like example.org"),
        "group": (bool(name), "the name of a group as the sign-in provider says it"),
    }[member.kind]
    if not fits or len(name) > MEMBER_LENGTH:
        raise LimitError(f"{member.name[:60]!r} is not {what}.")
    return Member(member.kind, name, member.role)


def _not_there(project_id: str) -> StoreError:
    """Return the error for a project that cannot be changed."""
    if project_id == EVERYONE:
        return StoreError("Everyone is the project of all who may sign in; it stays as it is.")
    return StoreError("This project was deleted.")
