"""Accounts: sign-ins and their sessions, admins' changes to people, and erasing a person."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import IO, Any

from sqlalchemy import Engine

from grasp_core.model import access
from grasp_core.model.access import Person, Role, User, actor_of
from grasp_core.model.errors import AccessError, LimitError
from grasp_core.model.settings import Settings
from grasp_core.model.text import listed, number
from grasp_core.store.base import RecentReads
from grasp_core.store.people.audit import Action, AuditStore, Details
from grasp_core.store.people.credentials import SessionStore
from grasp_core.store.people.people import PeopleStore, PersonalData, Traces
from grasp_core.store.people.projects import ProjectStore

_BROWSER_LENGTH = 300
_OF_THIS_VISIT = frozenset({"is_logged_in", "origin", "tokens"})
"""Fields that are beside the provider's claims in some places, and not in others."""


def session_key(claims: Mapping[str, Any]) -> str:
    """Return a session's key, SHA-256 of its claims in hexadecimal; their ``nonce`` is used once."""
    said = {name: value for name, value in claims.items() if name not in _OF_THIS_VISIT}
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode("ascii")).hexdigest()


FRESH_SECONDS = 1.0
"""Seconds for which an answer of the database is used: a page asks many times what its visitor may do."""


class Accounts:
    """People's sign-ins and rights."""

    def __init__(self, settings: Settings, engine: Engine) -> None:
        self.settings = settings
        self.people = PeopleStore(engine)
        self.sessions = SessionStore(engine, idle_minutes=settings.session_idle_minutes)
        self.audit = AuditStore(engine)
        self.personal = PersonalData(engine)
        self.projects = ProjectStore(engine)
        self._fresh: RecentReads[User] = RecentReads()

    def sign_in(self, claims: Mapping[str, Any], *, browser: str = "") -> User:
        """Begin a session from the provider's new claims; raises AccessError if they are not admitted."""
        who = ""
        try:
            person = self.people.sign_in(access.identity_of(claims, self.settings))
            who = person.id
            user = access.user_of(person, self.settings)
        except AccessError:
            self.audit.record(who, "refusal", "sign-in")
            raise
        self.sessions.begin(session_key(claims), person.id, browser[:_BROWSER_LENGTH])
        self.audit.record(person.id, "sign-in")
        if person.other_holder is not None:
            self.audit.record(person.id, "refusal", "address", person.other_holder)
        return user

    def user(self, claims: Mapping[str, Any], *, seen: bool = True) -> User | None:
        """Return the session's user with present rights; None if it has ended. `seen` counts this as use.

        Raises AccessError if the person is not admitted (any more).
        """
        key, changes = session_key(claims), self._fresh.changes
        if (fresh := self._fresh.get(key, FRESH_SECONDS)) is not None:
            return fresh
        identity = access.identity_of(claims, self.settings)
        person = self.sessions.person(key, seen=seen)
        if person is not None:
            user = access.user_of(person, self.settings)
            self._fresh.keep(key, user, changes)
            return user
        known = self.people.find(identity)
        if known is not None and known.disabled_at is not None:
            raise AccessError(access.DISABLED)
        return None

    def acting(self, person_id: str) -> User | None:
        """Return a person as a user with present rights, signed in or not; None if they are not admitted."""
        person = self.people.get(person_id)
        try:
            return None if person is None else access.user_of(person, self.settings)
        except AccessError:
            return None

    def sign_out(self, claims: Mapping[str, Any]) -> None:
        """End the session."""
        person = self.sessions.person(session_key(claims), seen=False)
        if person is not None:
            self.end_session(session_key(claims), person.id)

    def end_session(self, key: str, person_id: str) -> None:
        """End a session, if it is that person's."""
        self.sessions.end(person_id, key)
        self.audit.record(person_id, "sign-out")
        self._fresh.forget()

    def sign_out_everywhere(self, person_id: str, *, by: User | None) -> None:
        """End all sessions of a person; `by` None is the command line."""
        self.sessions.end(person_id)
        self._note(by, "sign-out", "person", person_id)

    def set_role(self, person_id: str, role: Role | None, *, by: User | None) -> None:
        """Give a person a role, or None for the settings' one; `by` None is the command line.

        Raises AccessError if `by` may not; LimitError if nobody would be left to administer the server.
        """
        person = self._changeable(person_id, by)
        if role != "admin":
            self._check_not_last(person)
        self.people.set_role(person_id, role)
        self._note(by, "role", "person", person_id, {"role": role})

    def assign_address(self, person_id: str, address: str, *, by: User | None) -> None:
        """Make a person the holder of the mail address that they last signed in with, in place of another.

        Raises AccessError if `by` may not; LimitError if it is not the person's, or they are disabled.
        """
        person = self._changeable(person_id, by)
        if address.strip().casefold() != person.identity.email:
            raise LimitError("This is not the person's mail address, so nothing was assigned.")
        address = person.identity.email
        if by is not None and address in self.settings.admins:
            raise AccessError(
                f"{address} is an admin's by the server's settings (GRASP_ADMINS); whoever runs the server "
                "assigns it, by the command people assign-address."
            )
        if person.disabled_at is not None:
            raise LimitError(f"{person.identity.name} is disabled; enable the account first.")
        before = self.people.assign_address(person_id, address)
        self._note(by, "assign", "address", person_id, {"from": before})

    def disable(self, person_id: str, *, by: User | None) -> None:
        """Keep a person from signing in, and end their sessions; raises as :meth:`set_role`."""
        self._check_not_last(self._changeable(person_id, by))
        self.people.disable(person_id)
        self._note(by, "disable", "person", person_id)

    def enable(self, person_id: str, *, by: User | None) -> None:
        """Let a person sign in again; raises as :meth:`set_role`."""
        self._changeable(person_id, by)
        self.people.enable(person_id)
        self._note(by, "enable", "person", person_id)

    def known(self, user: User) -> User:
        """Return the user with their roles in projects; an admin has all rights in every project."""
        return user if user.may_administer else replace(user, projects=self.projects.roles(user))

    def take_away(self, person_id: str, file: IO[bytes], *, by: User | None) -> None:
        """Write all data that name a person, see :class:`PersonalData`; AccessError if `by` may not."""
        _check_admin(by)
        self.personal.write(person_id, file)
        self._note(by, "export", "person", person_id)

    def erase(self, person_id: str, *, by: User | None, confirm: str, heir: str | None) -> None:
        """Erase a person, confirmed by their mail address; `heir` gets objects in projects, None: deleted.

        Raises as :meth:`set_role`; AccessError also if the heir may not run analyses in all these projects.
        """
        person = self._changeable(person_id, by)
        self._check_not_last(person)
        if confirm.strip().casefold() != person.identity.email:
            raise LimitError("This is not the person's mail address, so nothing was erased.")
        if heir is not None:
            user = None if heir == person_id else self.acting(heir)
            if user is None or not user.may_run:
                raise AccessError("What is handed over needs somebody else who may run analyses.")
            known, where = self.known(user), self.personal.traces(person_id).projects
            if others := [name for one, name in where.items() if not known.may_run_in(one)]:
                told = f"{user.name} is no analyst or owner of {listed(others)}; make them one first."
                raise AccessError(told)
        self.personal.erase(person_id, heir)
        self._note(by, "erase", "person", person_id, {"to": heir})

    def _note(
        self, by: User | None, action: Action, kind: str, person_id: str, details: Details | None = None
    ) -> None:
        """Record a change in the audit log, and forget the rights that were read before."""
        self.audit.record(actor_of(by), action, kind, person_id, details)
        self._fresh.forget()

    def _changeable(self, person_id: str, by: User | None) -> Person:
        _check_admin(by)
        person = self.people.get(person_id)
        if person is None:
            raise AccessError("There is nobody of that id.")
        if by is not None and access.is_admin_by_settings(person, self.settings):
            raise AccessError(
                f"{person.identity.name} is an admin by the server's settings (GRASP_ADMINS) alone."
            )
        return person

    def _check_not_last(self, person: Person) -> None:
        admins = [one.id for one in self.people.enabled() if access.role_of(one, self.settings) == "admin"]
        if admins == [person.id]:
            raise LimitError(f"{person.identity.name} is the only admin; make somebody else one before that.")


def _check_admin(by: User | None) -> None:
    if by is not None and not by.may_administer:
        raise AccessError("Only an admin may change who may do what.")


_WORDS: Mapping[str, tuple[str, str | None]] = {
    "addresses": ("mail address held", "mail addresses held"),
    "current_projects": ("choice of a project", "choices of a project"),
    "files": ("uploaded file", None),
    "drafts": ("draft", None),
    "links": ("share link", None),
    "outcomes": ("answer to a program", "answers to programs"),
    "project_members": ("membership", None),
    "readings": ("remembered reading", None),
    "runs": ("run", None),
    "scorings": ("counted scoring", None),
    "sessions": ("session", None),
    "source_tokens": ("kept token of a tool", "kept tokens of tools"),
    "submissions": ("submission", None),
    "tokens": ("token", None),
    "watches": ("watch", "watches"),
    "webhooks": ("webhook", None),
}
"""Words for a row of each table, and for several rows if these take more than an s."""
STAYS = (
    "The log keeps its entries, under an id that nothing explains any more.",
    "Backups made before still hold the person: delete them, or erase again after one is restored.",
    "Titles, notes, tags and labels that people wrote are not searched for names.",
    "A mail address that the person held is free: whoever signs in with it next has what GRASP_ADMINS and "
    "GRASP_ANALYSTS give to it.",
    "Whoever signs in again is somebody new; the sign-in provider or GRASP_ALLOWED_DOMAINS keeps people out.",
)
"""Sentences to read before a person is erased."""


def erasing(traces: Traces, *, handed_over: bool) -> tuple[str, ...]:
    """Return sentences on what erasing does; `handed_over`: whether somebody gets the person's objects."""
    held, own, led = _counted(traces.held), _counted(traces.own), list(traces.led.values())
    found = []
    if held:
        found.append(f"{'Handed over' if handed_over else 'Deleted for everybody'}: {held}.")
    found.append(f"Deleted: the person{f', {own}' if own else ''}.")
    if led:
        then = (
            "get the new owner"
            if handed_over
            else "are left to admins; those with nothing in them are deleted"
        )
        found.append(f"Projects that nobody else owns {then}: {listed(led)}.")
    return tuple(found)


def _counted(rows: Mapping[str, int]) -> str:
    return ", ".join(
        number(count, *_WORDS.get(table, (f"row of {table}", None))) for table, count in rows.items()
    )
