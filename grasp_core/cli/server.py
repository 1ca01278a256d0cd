"""``backup``, ``restore``, ``log``, ``people`` and ``token``: for people with a server's database."""

import argparse
import contextlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, get_args

from sqlalchemy import Engine

from grasp_core.cli.parser import add_quiet, option
from grasp_core.cli.terminal.messages import note, say
from grasp_core.cli.terminal.output import check_target, unwritable, write_text
from grasp_core.model.access import COMMAND, Person, Role, Scope, role_of
from grasp_core.model.errors import DataError, SettingsError
from grasp_core.model.settings import read_settings
from grasp_core.model.text import quoted, tabbed
from grasp_core.server.accounts import STAYS, Accounts, erasing
from grasp_core.store.backup import BackupKey, Contents, head_in, new_key, restore_backup, write_backup
from grasp_core.store.database import connect, database_url
from grasp_core.store.people.audit import AuditStore
from grasp_core.store.people.credentials import TokenStore
from grasp_core.store.people.people import PeopleStore

_MOST = 10_000


def fill_people(people: argparse.ArgumentParser) -> None:
    """Add the actions of ``people``."""
    action = partial(_action, people.add_subparsers(required=True, metavar="ACTION"))
    listing = action("list", "everybody who has signed in", _list_people, who=False)
    listing.add_argument("text", nargs="?", default="", help="part of a name or mail address")
    action("disable", "sign a person out everywhere and let them in no more", _with(Accounts.disable))
    action("enable", "let a person sign in again", _with(Accounts.enable))
    action("sign-out", "end all sessions of a person", _with(Accounts.sign_out_everywhere))
    export = action("export", "write all that names a person to a zip archive of JSON", _export)
    option(export, "--out FILE", kind=Path, required=True)
    erase = action("erase", "erase all that names a person; without --confirm, say what it is", _erase)
    owned = erase.add_mutually_exclusive_group(required=True)
    option(owned, "--to WHO", "who gets what the person owns in projects")
    option(owned, "--delete", "delete what the person owns in projects")
    option(erase, "--confirm ADDRESS", "the person's mail address")
    assign = action(
        "assign-address",
        "let people hold the mail address that they signed in with, and nobody else",
        _assign_address,
        who=False,
    )
    whose = assign.add_mutually_exclusive_group(required=True)
    whose.add_argument("who", nargs="*", default=[], help="id")
    option(whose, "--issuer ISSUER", "all whom this provider names and whose address somebody else holds")
    role = action("role", "give a person a role", _role)
    role.add_argument("role", choices=[*get_args(Role), "settings"], help="settings: as the settings say")


def fill_token(token: argparse.ArgumentParser) -> None:
    """Add the actions of ``token``."""
    action = partial(_action, token.add_subparsers(required=True, metavar="COMMAND"), who=False)
    make = action("make", "make a token for a person; it is printed once", _make_token)
    option(make, "--person MAIL", "whose token it is; without sign-in, leave it out", default="")
    option(make, "--name NAME", "what it is for", required=True)
    option(make, "--scope", "what it may (default: read)", choices=get_args(Scope), default="read")
    option(make, "--days DAYS", "how long it works (default: 90)", float, default=90)
    listing = action("list", "list tokens of everybody, or of one person", _list_tokens)
    option(listing, "--person MAIL", "whose tokens (default: everybody's)")
    withdraw = action("withdraw", "make a token stop working at once", _withdraw_token)
    withdraw.add_argument("id", metavar="ID", help="as `token list` shows it")


def _action(
    actions: Any, name: str, words: str, does: Callable[[argparse.Namespace], None], *, who: bool = True
) -> argparse.ArgumentParser:
    """Add an action to those of a command; `who`: the action is about one person."""
    added: argparse.ArgumentParser = actions.add_parser(name, help=words)
    added.set_defaults(command=does)
    add_quiet(added)
    if who:
        added.add_argument("who", help="mail address or id")
    return added


def _list_people(chosen: argparse.Namespace) -> None:
    with _accounts() as accounts:
        found, _ = accounts.people.search(chosen.text, limit=_MOST)
    if not found:
        named = f"nobody whose name or address has {quoted(chosen.text)}"
        note(named if chosen.text else "nobody has signed in")
    for person in found:
        state = role_of(person, accounts.settings) if person.disabled_at is None else "disabled"
        held = () if person.other_holder is None else (f"address held by {person.other_holder}",)
        one = person.identity
        print(tabbed(person.id, state, _day(person.signed_in_at), one.email, one.name, *held))


def _with(does: Callable[..., None]) -> Callable[[argparse.Namespace], None]:
    """Return a command that does something with the account of one person."""

    def command(chosen: argparse.Namespace) -> None:
        with _accounts() as accounts:
            does(accounts, _person(accounts, chosen.who).id, by=None)

    return command


def _role(chosen: argparse.Namespace) -> None:
    with _accounts() as accounts:
        role = None if chosen.role == "settings" else chosen.role
        accounts.set_role(_person(accounts, chosen.who).id, role, by=None)


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
        person_id = _person(accounts, chosen.who).id
        with unwritable(chosen.out), chosen.out.open("wb") as file:
            accounts.take_away(person_id, file, by=None)
    print(f"{chosen.out}: all that names {chosen.who}")


def _erase(chosen: argparse.Namespace) -> None:
    with _accounts() as accounts:
        person = _person(accounts, chosen.who)
        heir = None if chosen.to is None else _person(accounts, chosen.to).id
        if chosen.confirm is None:
            traces = accounts.personal.traces(person.id)
            print("\n".join((*erasing(traces, handed_over=heir is not None), *STAYS)))
            print(f"Nothing was erased. To do it: --confirm {person.identity.email}")
            return
        accounts.erase(person.id, by=None, confirm=chosen.confirm or "", heir=heir)
    print(f"erased; the log names {person.id}, and nothing says whose that was")


def _make_token(chosen: argparse.Namespace) -> None:
    with open_database() as engine:
        owner = _person_id(PeopleStore(engine), chosen.person)
        token = TokenStore(engine).create(owner=owner, name=chosen.name, scope=chosen.scope, days=chosen.days)
        told = {"scope": chosen.scope, "days": chosen.days}
        AuditStore(engine).record(COMMAND, "token", "token", "", told)
    print(token)


def _list_tokens(chosen: argparse.Namespace) -> None:
    with open_database() as engine:
        store = TokenStore(engine)
        people = PeopleStore(engine)
        whose = None if chosen.person is None else _person_id(people, chosen.person)
        found = store.all() if whose is None else store.of(whose)
        names = people.names(token.owner for token in found)
    if not found:
        note("there are no tokens; `grasp token make` makes one")
    for token in found:
        state = "works" if token.works else "expired" if token.expired else "withdrawn"
        used = "never" if token.last_used_at is None else _day(token.last_used_at)
        ends = f"ends {_day(token.expires_at)}"
        print(tabbed(token.id, names[token.owner], token.name, token.scope, state, ends, f"used {used}"))


def _withdraw_token(chosen: argparse.Namespace) -> None:
    with open_database() as engine:
        if not TokenStore(engine).revoke(chosen.id):
            raise DataError(f"no token that works has the id {chosen.id}; `token list` lists them")
        AuditStore(engine).record(COMMAND, "withdraw", "token", chosen.id)


@contextlib.contextmanager
def _accounts() -> Iterator[Accounts]:
    with open_database() as engine:
        yield Accounts(read_settings(), engine)


def _person(accounts: Accounts, who: str) -> Person:
    person = accounts.people.get(_person_id(accounts.people, who)) if who else None
    if person is None:
        raise DataError("Name a person by mail address or id; see people list")
    return person


def _person_id(people: PeopleStore, who: str) -> str:
    """Return the id of a person who is named by mail address or id; an empty name stays empty."""
    if not who or people.get(who) is not None:
        return who
    found, _ = people.search(who, limit=_MOST)
    same = [one.id for one in found if one.identity.email == who.casefold()]
    if len(same) > 1:
        raise DataError(f"{who}: {len(same)} people signed in with it; name one by the id in people list")
    if not same:
        raise DataError(f"{who}: nobody of that mail address or id has signed in; see people list")
    return same[0]


def _day(moment: float) -> str:
    """Return the day of a moment, in seconds since 1970, such as ``2026-11-24``."""
    return f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d}"


NOT_RESTORED = (
    "Not in any backup: personal tokens, kept tokens of sources, webhooks and sign-ins."
    " People sign in again and make new ones."
)


def fill_backup(backup: argparse.ArgumentParser) -> None:
    """Add the arguments of ``backup``."""
    backup.set_defaults(command=_backup)
    backup.add_argument("file", type=Path, metavar="FILE")
    words = "write it so that whoever has the file reads it, and can change it"
    option(backup, "--unencrypted", words)


def fill_restore(restore: argparse.ArgumentParser) -> None:
    """Add the arguments of ``restore``."""
    restore.set_defaults(command=_restore)
    restore.add_argument("file", type=Path, metavar="FILE")
    words = "restore one that is not encrypted and signed; its share links are withdrawn"
    option(restore, "--unencrypted", words)


def fill_backup_key(backup_key: argparse.ArgumentParser) -> None:
    """Set the command."""
    backup_key.set_defaults(command=lambda _: print(new_key()))


def fill_log(log: argparse.ArgumentParser) -> None:
    """Add the arguments of ``log``."""
    log.set_defaults(command=_log)
    option(log, "--out FILE", "write every entry there, one JSON object a line", Path)
    option(
        log,
        "--since BACKUP",
        "check, too, that the log goes on from where it ended when this backup was written",
        Path,
    )
    option(log, "--seal", "check it, then seal its end by GRASP_SECRET_KEY")


def _key(chosen: argparse.Namespace) -> BackupKey | None:
    if chosen.unencrypted:
        return None
    text = read_settings().backup_key
    if not text:
        raise SettingsError(
            "GRASP_BACKUP_KEY is not set: the command backup-key makes one; --unencrypted does without"
        )
    return BackupKey(text)


def _backup(chosen: argparse.Namespace) -> None:
    key = _key(chosen)
    with open_database() as engine:
        contents = write_backup(engine, chosen.file, key)
    print(f"{chosen.file}: {_counted(contents)}")


def _restore(chosen: argparse.Namespace) -> None:
    key = _key(chosen)
    with open_database() as engine:
        contents = restore_backup(engine, chosen.file, key)
        details = {"runs": contents.runs, "encrypted": key is not None}
        AuditStore(engine).record(COMMAND, "restore", "backup", "", details)
    print(f"restored {_counted(contents)}")
    print(NOT_RESTORED)


def _log(chosen: argparse.Namespace) -> None:
    check_target(chosen.out)
    with open_database() as engine:
        store = AuditStore(engine)
        if chosen.out is not None:
            write_text(chosen.out, "".join(store.lines()))
        if chosen.seal:
            store.seal()
        secret = read_settings().backup_key
        key = BackupKey(secret) if secret else None
        since = None if chosen.since is None else head_in(chosen.since, key)
        say(f"{store.check(since):,} entries, each as it was written")


@contextlib.contextmanager
def open_database() -> Iterator[Engine]:
    """Open the database that the settings name, and close it at the end."""
    settings = read_settings()
    engine = connect(database_url(settings), settings.secret_key)
    try:
        yield engine
    finally:
        engine.dispose()


def _counted(contents: Contents) -> str:
    return f"{contents.runs:,} runs, {contents.files:,} files, {contents.links:,} links"
