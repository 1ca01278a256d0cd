"""``people``: who has signed in on a server, for whoever has its database."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import get_args

from grasp_core.access import role_of
from grasp_core.accounts import Accounts, accounts_of
from grasp_core.cli.storage import open_database
from grasp_core.errors import DataError
from grasp_core.settings import read_settings
from grasp_core.store.people.people import PeopleStore, Role

_MOST = 10_000


def fill_people(people: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    actions = people.add_subparsers(required=True, metavar="ACTION")
    listing = actions.add_parser("list", help="everybody who has signed in")
    listing.add_argument("text", nargs="?", default="", help="part of a name or mail address")
    listing.set_defaults(command=_list)
    for name, help_text, does in (
        ("disable", "sign a person out everywhere and let them in no more", _disable),
        ("enable", "let a person sign in again", _enable),
        ("sign-out", "end all sessions of a person", _sign_out),
    ):
        action = actions.add_parser(name, help=help_text)
        action.add_argument("who", help="mail address or id")
        action.set_defaults(command=does)
    role = actions.add_parser("role", help="give a person a role")
    role.add_argument("who", help="mail address or id")
    role.add_argument("role", choices=[*get_args(Role), "settings"], help="settings: as the settings say")
    role.set_defaults(command=_role)


def _list(chosen: argparse.Namespace) -> None:
    with _accounts() as accounts:
        found, _ = accounts.people.search(chosen.text, limit=_MOST)
    for person in found:
        day = datetime.fromtimestamp(person.signed_in_at, UTC).date()
        state = role_of(person, accounts.settings) if person.disabled_at is None else "disabled"
        print(f"{person.id}\t{state}\t{day}\t{person.identity.email}\t{person.identity.name}")


def _disable(chosen: argparse.Namespace) -> None:
    with _accounts() as accounts:
        accounts.disable(_one(accounts, chosen.who), by=None)


def _enable(chosen: argparse.Namespace) -> None:
    with _accounts() as accounts:
        accounts.enable(_one(accounts, chosen.who), by=None)


def _sign_out(chosen: argparse.Namespace) -> None:
    with _accounts() as accounts:
        accounts.sign_out_everywhere(_one(accounts, chosen.who), by=None)


def _role(chosen: argparse.Namespace) -> None:
    with _accounts() as accounts:
        role = None if chosen.role == "settings" else chosen.role
        accounts.set_role(_one(accounts, chosen.who), role, by=None)


@contextlib.contextmanager
def _accounts() -> Iterator[Accounts]:
    with open_database() as engine:
        yield accounts_of(read_settings(), engine)


def _one(accounts: Accounts, who: str) -> str:
    person_id = person_id_of(accounts.people, who)
    if accounts.people.get(person_id) is None:
        raise DataError(f"{who}: nobody of that mail address or id has signed in; see people list")
    return person_id


def person_id_of(people: PeopleStore, who: str) -> str:
    """The id of who is named by mail address or id; an address that nobody signed in with stays one.

    Raises
    ------
    DataError
        If several people signed in with the address.
    """
    if people.get(who) is not None:
        return who
    found, _ = people.search(who, limit=_MOST)
    same = [one.id for one in found if one.identity.email == who.casefold()]
    if len(same) > 1:
        raise DataError(f"{who}: {len(same)} people signed in with it; name one by the id in people list")
    return same[0] if same else who.casefold()
