"""``link``: share links of runs, for whoever has the server's database."""

from __future__ import annotations

import argparse
import getpass
import sys

from sqlalchemy import Engine

from grasp_core.cli.commands import Command, add_commands
from grasp_core.cli.server.people import person_id_of
from grasp_core.cli.server.storage import open_database
from grasp_core.cli.terminal.output import day
from grasp_core.errors import DataError
from grasp_core.people import COMMAND
from grasp_core.report.small_groups.cover import LEAST
from grasp_core.settings import read_settings
from grasp_core.sharing import Withdrawing, told_of
from grasp_core.store.link_records import MOST_USES, Link, Terms
from grasp_core.store.links import LinkStore
from grasp_core.store.people.audit import AuditStore
from grasp_core.store.people.people import PeopleStore
from grasp_core.wording import tabbed

_BELOW = (
    Command("make", "make a link to a run; it is printed once", "server.link:fill_make"),
    Command("list", "list the links to a run, or of a person", "server.link:fill_list"),
    Command("withdraw", "make a link, or all of a run or person, stop working", "server.link:fill_withdraw"),
)


def fill_link(link: argparse.ArgumentParser) -> None:
    """Add the commands below it."""
    add_commands(link, _BELOW)


def fill_make(make: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    make.set_defaults(command=_make)
    make.add_argument("run", metavar="RUN", help="id of the run, as in its page's address")
    make.add_argument("--person", default="", metavar="MAIL", help="whose link it is, where people sign in")
    make.add_argument("--label", default="", help="for whom or what; strangers do not see it")
    make.add_argument("--days", type=float, default=30, help="how long it works (default: 30; 0: no end)")
    make.add_argument(
        "--password",
        action="store_true",
        help="let the link ask for a password, which is asked for now or read as a line of standard input",
    )
    make.add_argument("--uses", type=int, metavar="N", help="visits that it takes (default: any number)")
    make.add_argument(
        "--small-groups",
        action="store_true",
        help=f"show groups of fewer than {LEAST} raters too; small groups are people",
    )


def fill_list(listing: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    listing.set_defaults(command=_list)
    _add_which(listing)


def fill_withdraw(withdraw: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    withdraw.set_defaults(command=_withdraw)
    _add_which(withdraw).add_argument("id", nargs="?", metavar="ID", help="one link, as `link list` shows it")


def _add_which(parser: argparse.ArgumentParser) -> argparse._MutuallyExclusiveGroup:
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--run", metavar="RUN", help="all links to this run")
    which.add_argument("--person", metavar="MAIL", help="all links that this person made")
    return which


def _make(chosen: argparse.Namespace) -> None:
    if chosen.uses is not None and not 1 <= chosen.uses <= MOST_USES:
        raise DataError(f"--uses takes a whole number from 1 to {MOST_USES:,}; found {chosen.uses}")
    terms = Terms(
        label=chosen.label,
        days=chosen.days or None,
        password=_password() if chosen.password else None,
        max_uses=chosen.uses,
        small_groups=chosen.small_groups,
    )
    with open_database() as engine:
        owner = person_id_of(PeopleStore(engine), chosen.person)
        token = LinkStore(engine).create(chosen.run, created_by=owner, **terms)
        AuditStore(engine).record(COMMAND, "share", "run", chosen.run, told_of(terms))
    print(f"{read_settings().public_url or ''}/shared?token={token}")


def _password() -> str:
    if sys.stdin.isatty():
        return getpass.getpass("Password of the link: ")
    return sys.stdin.readline().rstrip("\r\n")


def _list(chosen: argparse.Namespace) -> None:
    with open_database() as engine:
        found = _links(engine, chosen)
        names = PeopleStore(engine).names(link.created_by for link in found)
    for link in found:
        print(_line(link, names[link.created_by]))


def _links(engine: Engine, chosen: argparse.Namespace) -> list[Link]:
    store = LinkStore(engine)
    if chosen.run is not None:
        return store.of_run(chosen.run)
    return store.of_person(person_id_of(PeopleStore(engine), chosen.person))


def _withdraw(chosen: argparse.Namespace) -> None:
    with open_database() as engine:
        store, audit = LinkStore(engine), AuditStore(engine)
        if chosen.id is not None:
            if not store.revoke(chosen.id):
                raise DataError(f"no link that works has the id {chosen.id}; `link list` lists them")
            audit.record(COMMAND, "withdraw", "link", chosen.id)
            return
        withdrawing = Withdrawing(store, audit)
        if chosen.run is not None:
            withdrawn = withdrawing.of_run(chosen.run, by=None)
        else:
            withdrawn = withdrawing.of_person(person_id_of(PeopleStore(engine), chosen.person), by=None)
    print(f"withdrawn: {withdrawn}")


def _line(link: Link, maker: str) -> str:
    opens = "leaderboard" if link.target.kind == "leaderboard" else f"run {link.target.id}"
    ends = "no end" if link.expires_at is None else f"ends {day(link.expires_at)}"
    used = f"used {link.uses}" + ("" if link.max_uses is None else f" of {link.max_uses}")
    shown = ["password"] * link.has_password + ["small groups"] * link.target.small_groups
    return tabbed(link.id, opens, maker, link.label, link.state, ends, used, ", ".join(shown))
