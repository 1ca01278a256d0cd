"""``token``: personal tokens of the API, for whoever has the server's database."""

from __future__ import annotations

import argparse
from typing import get_args

from grasp_core.cli.parser import Command, add_commands
from grasp_core.cli.server.people import person_id_of
from grasp_core.cli.server.storage import open_database
from grasp_core.cli.terminal.messages import note
from grasp_core.cli.terminal.output import day
from grasp_core.model.access import COMMAND, Scope, Token
from grasp_core.model.errors import DataError
from grasp_core.model.wording import tabbed
from grasp_core.store.people.audit import AuditStore
from grasp_core.store.people.people import PeopleStore
from grasp_core.store.people.tokens import TokenStore

_BELOW = (
    Command("make", "make a token for a person; it is printed once", "server.token:fill_make"),
    Command("list", "list tokens of everybody, or of one person", "server.token:fill_list"),
    Command("withdraw", "make a token stop working at once", "server.token:fill_withdraw"),
)


def fill_token(token: argparse.ArgumentParser) -> None:
    """Add the commands below it."""
    add_commands(token, _BELOW)


def fill_make(make: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    make.set_defaults(command=_make)
    _add_person(make, "whose token it is; without sign-in, leave it out")
    make.add_argument("--name", required=True, help="what it is for")
    make.add_argument("--scope", choices=get_args(Scope), default="read", help="what it may (default: read)")
    make.add_argument("--days", type=float, default=90, help="how long it works (default: 90)")


def fill_list(listing: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    listing.set_defaults(command=_list)
    _add_person(listing, "whose tokens (default: everybody's)", default=None)


def fill_withdraw(withdraw: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    withdraw.set_defaults(command=_withdraw)
    withdraw.add_argument("id", metavar="ID", help="as `token list` shows it")


def _add_person(parser: argparse.ArgumentParser, words: str, default: str | None = "") -> None:
    parser.add_argument("--person", default=default, metavar="MAIL", help=words)


def _make(chosen: argparse.Namespace) -> None:
    with open_database() as engine:
        owner = person_id_of(PeopleStore(engine), chosen.person)
        token = TokenStore(engine).create(owner=owner, name=chosen.name, scope=chosen.scope, days=chosen.days)
        told = {"scope": chosen.scope, "days": chosen.days}
        AuditStore(engine).record(COMMAND, "token", "token", "", told)
    print(token)


def _list(chosen: argparse.Namespace) -> None:
    with open_database() as engine:
        store = TokenStore(engine)
        people = PeopleStore(engine)
        whose = None if chosen.person is None else person_id_of(people, chosen.person)
        found = store.all() if whose is None else store.of(whose)
        names = people.names(token.owner for token in found)
    if not found:
        note("there are no tokens; `grasp token make` makes one")
    for token in found:
        print(_line(token, names[token.owner]))


def _withdraw(chosen: argparse.Namespace) -> None:
    with open_database() as engine:
        if not TokenStore(engine).revoke(chosen.id):
            raise DataError(f"no token that works has the id {chosen.id}; `token list` lists them")
        AuditStore(engine).record(COMMAND, "withdraw", "token", chosen.id)


def _line(token: Token, owner: str) -> str:
    state = "works" if token.works else "expired" if token.expired else "withdrawn"
    used = "never" if token.last_used_at is None else day(token.last_used_at)
    ends = f"ends {day(token.expires_at)}"
    return tabbed(token.id, owner, token.name, token.scope, state, ends, f"used {used}")
