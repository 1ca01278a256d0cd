"""``project``: projects of a server and who belongs to them, for whoever has its database."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from typing import get_args

from grasp_core.access import EVERYONE
from grasp_core.cli.commands import Command, add_commands
from grasp_core.cli.server.storage import open_database
from grasp_core.errors import DataError
from grasp_core.people import COMMAND
from grasp_core.store.people.audit import AuditStore
from grasp_core.store.people.members import ROLES, Member, MemberKind
from grasp_core.store.people.projects import Project, ProjectStore
from grasp_core.wording import number, tabbed

_BELOW = (
    Command("list", "list projects, with what they hold", "server.project:fill_list"),
    Command("create", "make a project with an owner; its id is printed", "server.project:fill_create"),
    Command("members", "list who belongs to a project", "server.project:fill_members"),
    Command("add", "let people belong to a project, or change their role", "server.project:fill_add"),
    Command("remove", "let people not belong to a project any more", "server.project:fill_remove"),
    Command("rename", "give a project another name", "server.project:fill_rename"),
    Command("archive", "let nothing be added to a project any more, or again", "server.project:fill_archive"),
    Command("delete", "delete a project and all that is in it", "server.project:fill_delete"),
    Command("move", "move a run to another project", "server.project:fill_move"),
)
_HELD = ("run", "file", "link", "reading", "submission")


def fill_project(project: argparse.ArgumentParser) -> None:
    """Add the commands below it."""
    add_commands(project, _BELOW)


def fill_list(listing: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    listing.set_defaults(command=_list)


def fill_create(create: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    create.set_defaults(command=_create)
    create.add_argument("name", metavar="NAME")
    create.add_argument("--owner", required=True, metavar="MAIL", help="mail address of its owner")


def fill_members(members: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    members.set_defaults(command=_members)
    _add_project(members)


def fill_add(add: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add.set_defaults(command=_add)
    _add_project(add)
    _add_member(add)
    add.add_argument("--as", dest="role", choices=ROLES, default="viewer", help="(default: viewer)")


def fill_remove(remove: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    remove.set_defaults(command=_remove)
    _add_project(remove)
    _add_member(remove)


def fill_rename(rename: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    rename.set_defaults(command=_rename)
    _add_project(rename)
    rename.add_argument("name", metavar="NAME")


def fill_archive(archive: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    archive.set_defaults(command=_archive)
    _add_project(archive)
    archive.add_argument("--undo", action="store_true", help="take it out of the archive")


def fill_delete(delete: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    delete.set_defaults(command=_delete)
    _add_project(delete)
    delete.add_argument("--yes", action="store_true", help="delete it; without, what would go is said")


def fill_move(moving: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    moving.set_defaults(command=_move)
    moving.add_argument("run", metavar="RUN", help="the run's id, as its address has it")
    _add_project(moving)


def _add_project(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("project", metavar="PROJECT", help="id, as `project list` shows it")


def _add_member(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("who", metavar="WHO", help="a mail address, a domain, or what --kind says")
    parser.add_argument(
        "--kind", choices=get_args(MemberKind), help="what WHO is; a group and a person's id need it"
    )


def _list(_: argparse.Namespace) -> None:
    with open_database() as engine:
        store = ProjectStore(engine)
        for project in store.all():
            held = store.holdings(project.id)
            counts = (held.runs, held.files, held.links, held.readings, held.submissions)
            words = ", ".join((*map(number, counts, _HELD), number(held.watches, "watch", "watches")))
            print(tabbed(project.id, project.name, "archived" if project.archived else "open", words))


def _create(chosen: argparse.Namespace) -> None:
    with open_database() as engine:
        project = ProjectStore(engine).create(chosen.name, owner=Member("address", chosen.owner, "owner"))
        AuditStore(engine).record(COMMAND, "create", "project", project.id)
    print(project.id)


def _members(chosen: argparse.Namespace) -> None:
    with _project(chosen) as (store, project, _):
        for member in store.members(project.id):
            print(tabbed(member.kind, member.name, member.role))


def _add(chosen: argparse.Namespace) -> None:
    with _project(chosen) as (store, project, log):
        member = Member(_kind(chosen), chosen.who, chosen.role)
        store.admit(project.id, member)
        log.record(COMMAND, "member", "project", project.id, member.told)


def _remove(chosen: argparse.Namespace) -> None:
    with _project(chosen) as (store, project, log):
        if not store.expel(project.id, _kind(chosen), chosen.who):
            raise DataError(f"{chosen.who} is none of its members; `project members` lists them")
        told = {"kind": _kind(chosen), "role": None}
        log.record(COMMAND, "member", "project", project.id, told)


def _rename(chosen: argparse.Namespace) -> None:
    with _project(chosen) as (store, project, log):
        store.rename(project.id, chosen.name)
        log.record(COMMAND, "change", "project", project.id, {"name": True})


def _archive(chosen: argparse.Namespace) -> None:
    with _project(chosen) as (store, project, log):
        store.archive(project.id, not chosen.undo)
        log.record(COMMAND, "change", "project", project.id, {"archived": not chosen.undo})


def _delete(chosen: argparse.Namespace) -> None:
    with _project(chosen) as (store, project, log):
        if not chosen.yes and project.id != EVERYONE:
            held = store.holdings(project.id)
            goes = (
                f"{number(held.runs, 'run')}, {number(held.files, 'file')} and {number(held.links, 'link')}"
            )
            raise DataError(f"with {project.name} would go {goes}, for good; add --yes to delete them")
        store.delete(project.id)
        log.record(COMMAND, "delete", "project", project.id)


def _move(chosen: argparse.Namespace) -> None:
    with open_database() as engine:
        ProjectStore(engine).move(chosen.run, chosen.project)
        AuditStore(engine).record(COMMAND, "change", "run", chosen.run, {"project": chosen.project})


@contextmanager
def _project(chosen: argparse.Namespace) -> Iterator[tuple[ProjectStore, Project, AuditStore]]:
    """The store, the project that was named, and the log."""
    with open_database() as engine:
        store = ProjectStore(engine)
        project = store.get(chosen.project)
        if project is None:
            raise DataError(f"no project has the id {chosen.project}; `project list` lists them")
        yield store, project, AuditStore(engine)


def _kind(chosen: argparse.Namespace) -> MemberKind:
    if chosen.kind is not None:
        kind: MemberKind = chosen.kind
        return kind
    return "address" if "@" in chosen.who.strip().removeprefix("@") else "domain"
