"""Share links: opened without an account, told to the audit log, withdrawn many at once."""

from __future__ import annotations

from dataclasses import dataclass

from grasp_core.model.access import User, actor_of
from grasp_core.model.errors import AccessError, LimitError
from grasp_core.model.rates import Asker, Rates
from grasp_core.store.links import SECONDS, LinkStore, Target, Terms, TryStore, matches
from grasp_core.store.people.audit import AuditStore

CLOSED = (
    "This link does not work: it may be incomplete, its password may be wrong, or it has ended. Ask whoever "
    "sent it for another one."
)
"""The one sentence for links that are unknown, withdrawn, expired or used up, and for wrong passwords."""
TOO_MANY_TRIES = f"There were too many wrong passwords; try again in {SECONDS / 60:.0f} minutes."


class PasswordError(AccessError):
    """The link takes a password, and none was given, or a wrong one."""


@dataclass(frozen=True, slots=True)
class Visitor:
    """Somebody with a link; `visit` is what their browser carries, by which a visit that goes on is known."""

    visit: str
    address: str
    password: str | None = None


@dataclass(frozen=True, slots=True)
class Visitors:
    """Who comes by a link, and whether it opens to them."""

    links: LinkStore
    tries: TryStore
    audit: AuditStore
    rates: Rates

    def open(self, token: str, visitor: Visitor, only: Target | None = None) -> Target:
        """Open a link to a visitor, if it opens what is asked for, and count the visit once.

        Raises PasswordError if the link's password is missing or wrong; LimitError after too many wrong ones;
        AccessError if the link opens nothing (any more); TooOftenError if too many such links were tried.
        """
        stranger = Asker("", visitor.address)
        lock = self.links.lock(token, visitor.visit)
        if lock is None:
            self.rates.guess(stranger, token)
            raise AccessError(CLOSED)
        if only is not None and lock.target != only:
            return lock.target
        if lock.password is not None:
            if visitor.password is None:
                raise PasswordError(CLOSED)
            if not self.tries.count(lock.link_id, token, visitor.address):
                raise LimitError(TOO_MANY_TRIES)
            if not matches(visitor.password, lock.password):
                self.audit.record("", "refusal", "link", lock.link_id)
                raise PasswordError(CLOSED)
            self.tries.forget(lock.link_id, token, visitor.address)
        target = self.links.use(token, visit=visitor.visit)
        if target is None:  # another visitor took the last use meanwhile
            raise AccessError(CLOSED)
        return target


def told_of(terms: Terms) -> dict[str, str | int | float | bool | None]:
    """Terms of a link as the audit log has them: neither label nor password."""
    return {
        "days": terms.get("days"),
        "password": terms.get("password") is not None,
        "uses": terms.get("max_uses"),
        "small groups": terms.get("small_groups", False),
    }


def withdraw_of_run(links: LinkStore, audit: AuditStore, run_id: str, *, by: User | None) -> int:
    """Withdraw a run's links, which `by` manages; returns how many worked. `by` None has the database."""
    withdrawn = links.revoke_of_run(run_id)
    audit.record(actor_of(by), "withdraw", "run's links", run_id, {"links": withdrawn})
    return withdrawn


def withdraw_of_person(links: LinkStore, audit: AuditStore, person_id: str, *, by: User | None) -> int:
    """As :func:`withdraw_of_run`, those that a person made; raises AccessError if only an admin may."""
    if by is not None and by.id != person_id and not by.may_administer:
        raise AccessError("Only an admin may withdraw links that others made.")
    withdrawn = links.revoke_of_person(person_id)
    audit.record(actor_of(by), "withdraw", "person's links", person_id, {"links": withdrawn})
    return withdrawn
