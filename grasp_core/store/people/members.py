"""Members: who belongs to a project, and as what."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Literal, get_args

import sqlalchemy as sa
from sqlalchemy import Connection, Engine

from grasp_core.model.access import EVERYONE, ProjectRole, User
from grasp_core.model.errors import LimitError, StoreError
from grasp_core.store.bound import Bound
from grasp_core.store.database import only_one, to_write
from grasp_core.store.schema import project_members, projects, storable

MemberKind = Literal["person", "address", "domain", "group"]
"""Whom a row of members names: one person, who holds a mail address, all of a domain, or a group."""
MEMBER_LENGTH = 320
"""The longest mail address."""
ROLES: tuple[ProjectRole, ...] = get_args(ProjectRole)
"""From the one that may the least."""
KNOWN_SECONDS = 2.0
"""How long a process goes on with what it knows of a person's projects, where another one changed it."""
_MOST_KNOWN = 10_000


@dataclass(frozen=True, slots=True)
class Member:
    """Who belongs to a project, and as what."""

    kind: MemberKind
    name: str
    role: ProjectRole

    @property
    def told(self) -> dict[str, str]:
        """What the log says of them: no mail address, which would stay there."""
        who = {"person": self.name} if self.kind == "person" else {}
        return {"kind": self.kind, "role": self.role, **who}


class Members(Bound):
    """Members of projects in the database."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self._known: dict[Any, tuple[float, dict[str, ProjectRole]]] = {}

    def roles(self, user: User) -> dict[str, ProjectRole]:
        """The user's role by project, the highest where several rows name them; without Everyone."""
        who = (user.id, user.email, user.holds_address, user.groups)
        known = self._known.get(who)
        if known is not None and time.monotonic() - known[0] < KNOWN_SECONDS:
            return known[1]
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
        if len(self._known) > _MOST_KNOWN:
            self._known.clear()
        self._known[who] = (time.monotonic(), found)
        return found

    def members(self, project_id: str) -> list[Member]:
        """Who belongs to the project: owners first, then by name; of Everyone there are no rows."""
        of_it = project_members.c.project_id
        query = sa.select(project_members).where(of_it == project_id, self._seen(of_it))
        found = [Member(row.kind, row.name, row.role) for row in self._rows(query)]
        return sorted(found, key=lambda one: (-ROLES.index(one.role), one.kind, one.name))

    def admit(self, project_id: str, member: Member) -> None:
        """Let somebody belong to the project, or give them another role in it.

        Raises LimitError if the name cannot be one of its kind; StoreError if it is Everyone, is
        gone, or has no owner left.
        """
        member = checked(member)
        with to_write(self._engine) as connection:
            self._lock(connection, project_id)
            connection.execute(project_members.delete().where(_row_of(project_id, member.kind, member.name)))
            insert_member(connection, project_id, member)
            _check_owner_left(connection, project_id)
        self._known.clear()

    def expel(self, project_id: str, kind: MemberKind, name: str) -> bool:
        """Let somebody belong to the project no more; raises StoreError if then no owner is left."""
        with to_write(self._engine) as connection:
            self._lock(connection, project_id)
            gone = project_members.delete().where(_row_of(project_id, kind, name))
            found = connection.execute(gone).rowcount
            _check_owner_left(connection, project_id)
        self._known.clear()
        return bool(found)

    def _is(self, project_id: str) -> sa.ColumnElement[bool]:
        """Whether a project is the one of this id, and within reach."""
        return (projects.c.id == project_id) & self._seen(projects.c.id)

    def _may_change(self, project_id: str) -> sa.ColumnElement[bool]:
        """As :meth:`_is`; Everyone stays as it is."""
        return self._is(project_id) & (projects.c.id != EVERYONE)

    def _lock(self, connection: Connection, project_id: str) -> None:
        """Let nobody else change who belongs to the project meanwhile."""
        only_one(connection, f"members of {project_id}")
        if connection.execute(sa.select(projects.c.id).where(self._may_change(project_id))).first() is None:
            raise not_there(project_id)


def insert_member(connection: Connection, project_id: str, member: Member) -> None:
    """Insert a row of somebody who did not belong to the project."""
    values = {"kind": member.kind, "name": member.name, "role": member.role}
    connection.execute(project_members.insert().values(project_id=project_id, **values))


def _row_of(project_id: str, kind: MemberKind, name: str) -> sa.ColumnElement[bool]:
    columns = project_members.c
    return (columns.project_id == project_id) & (columns.kind == kind) & (columns.name == storable(name))


def _check_owner_left(connection: Connection, project_id: str) -> None:
    query = sa.select(sa.func.count()).where(
        project_members.c.project_id == project_id, project_members.c.role == "owner"
    )
    if not connection.execute(query).scalar_one():
        raise StoreError("A project needs an owner; make somebody else one first.")


def checked(member: Member) -> Member:
    """The member with the name as it is compared; raises LimitError if the name cannot be one of its kind."""
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


def not_there(project_id: str) -> StoreError:
    """The sentence for a project that cannot be changed."""
    if project_id == EVERYONE:
        return StoreError("Everyone is the project of all who may sign in; it stays as it is.")
    return StoreError("This project was deleted.")
