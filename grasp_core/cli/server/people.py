"""``people``: who has signed in on a server, for whoever has its database."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

from grasp_core.cli.server.storage import open_database
from grasp_core.cli.terminal.messages import note
from grasp_core.cli.terminal.output import check_target
from grasp_core.model.access import Person, Role, role_of
from grasp_core.model.errors import DataError
from grasp_core.model.settings import read_settings
from grasp_core.model.wording import quoted, tabbed
from grasp_core.server.accounts import STAYS, Accounts, accounts_of, erasing
from grasp_core.store.people.people import PeopleStore

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
    export = actions.add_parser("export", help="write all that names a person to a zip archive of JSON")
    export.add_argument("who", help="mail address or id")
    export.add_argument("--out", type=Path, metavar="FILE", required=True)
    export.set_defaults(command=_export)
    erase = actions.add_parser(
        "erase", help="erase all that names a person; without --confirm, say what it is"
    )
    erase.add_argument("who", help="mail address or id")
    owned = erase.add_mutually_exclusive_group(required=True)
    owned.add_argument("--to", metavar="WHO", help="who gets what the person owns in projects")
    owned.add_argument("--delete", action="store_true", help="delete what the person owns in projects")
    erase.add_argument("--confirm", metavar="ADDRESS", help="the person's mail address")
    erase.set_defaults(command=_erase)
    assign = actions.add_parser(
        "assign-address", help="let people hold the mail address that they signed in with, and nobody else"
    )
    whose = assign.add_mutually_exclusive_group(required=True)
    whose.add_argument("who", nargs="*", default=[], help="id")
    whose.add_argument("--issuer", help="all whom this provider names and whose address somebody else holds")
    assign.set_defaults(command=_assign_address)
    role = actions.add_parser("role", help="give a person a role")
    role.add_argument("who", help="mail address or id")
    role.add_argument("role", choices=[*get_args(Role), "settings"], help="settings: as the settings say")
    role.set_defaults(command=_role)


def _list(chosen: argparse.Namespace) -> None:
    with _accounts() as accounts:
        found, _ = accounts.people.search(chosen.text, limit=_MOST)
    if not found:
        note(
            f"nobody whose name or address has {quoted(chosen.text)}"
            if chosen.text
            else "nobody has signed in"
        )
    for person in found:
        day = datetime.fromtimestamp(person.signed_in_at, UTC).date()
        state = role_of(person, accounts.settings) if person.disabled_at is None else "disabled"
        held = () if person.other_holder is None else (f"address held by {person.other_holder}",)
        print(tabbed(person.id, state, str(day), person.identity.email, person.identity.name, *held))


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


def _assign_address(chosen: argparse.Namespace) -> None:
    with _accounts() as accounts:
        found = [_person(accounts, who) for who in chosen.who]
        if chosen.issuer is not None:
            waiting = (one for one in accounts.people.enabled() if one.other_holder is not None)
            of_it = (one for one in waiting if one.identity.issuer == chosen.issuer)
            found = sorted(of_it, key=lambda one: one.signed_in_at)
            if not found:
                note("nobody of this provider waits for an address that somebody else holds")
        for person in found:
            accounts.assign_address(person.id, person.identity.email, by=None)
            print(tabbed(person.id, person.identity.email))


def _export(chosen: argparse.Namespace) -> None:
    check_target(chosen.out)
    with _accounts() as accounts:
        person_id = _one(accounts, chosen.who)
        try:
            with chosen.out.open("wb") as file:
                accounts.take_away(person_id, file, by=None)
        except OSError as error:
            raise DataError(f"{chosen.out}: cannot be written ({error.strerror})") from None
    print(f"{chosen.out}: all that names {chosen.who}")


def _erase(chosen: argparse.Namespace) -> None:
    with _accounts() as accounts:
        person_id = _one(accounts, chosen.who)
        heir = None if chosen.to is None else _one(accounts, chosen.to)
        if chosen.confirm is None:
            person = _person(accounts, person_id)
            traces = accounts.personal.traces(person_id)
            print("\n".join((*erasing(traces, handed_over=heir is not None), *STAYS)))
            print(f"Nothing was erased. To do it: --confirm {person.identity.email}")
            return
        accounts.erase(person_id, by=None, confirm=chosen.confirm or "", heir=heir)
    print(f"erased; the log names {person_id}, and nothing says whose that was")


@contextlib.contextmanager
def _accounts() -> Iterator[Accounts]:
    with open_database() as engine:
        yield accounts_of(read_settings(), engine)


def _one(accounts: Accounts, who: str) -> str:
    return _person(accounts, who).id


def _person(accounts: Accounts, who: str) -> Person:
    person = accounts.people.get(person_id_of(accounts.people, who)) if who else None
    if person is None:
        raise DataError("Name a person by mail address or id; see people list")
    return person


def person_id_of(people: PeopleStore, who: str) -> str:
    """The id of who is named by mail address or id; of nobody, where nobody signs in, it is empty."""
    if not who or people.get(who) is not None:
        return who
    found, _ = people.search(who, limit=_MOST)
    same = [one.id for one in found if one.identity.email == who.casefold()]
    if len(same) > 1:
        raise DataError(f"{who}: {len(same)} people signed in with it; name one by the id in people list")
    if not same:
        raise DataError(f"{who}: nobody of that mail address or id has signed in; see people list")
    return same[0]
