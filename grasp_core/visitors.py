"""Share links as people without an account open them, on the page and by the API."""

from __future__ import annotations

from dataclasses import dataclass

from grasp_core.model.errors import AccessError, LimitError
from grasp_core.model.rates import Asker, Rates
from grasp_core.store.links import LinkStore, Lock, Target
from grasp_core.store.people.audit import AuditStore
from grasp_core.store.visiting import SECONDS, TryStore, matches

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
    """Somebody with a link.

    Parameters
    ----------
    visit : str
        What their browser carries, by which a visit that goes on is known; "" where it carries nothing.
    address : str
        Where they ask from.
    password : str, optional
        What they gave as the link's.
    """

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
        """Open a link to a visitor, and count the visit once.

        Parameters
        ----------
        only : Target, optional
            What is asked for; a link that opens something else is not counted as used.

        Raises
        ------
        PasswordError
            If the link's password is missing or wrong.
        LimitError
            If there were too many wrong ones.
        AccessError
            If the link opens nothing for this visitor (any more).
        TooOftenError
            If too many links that open nothing were tried from their address.
        """
        stranger = Asker("", visitor.address)
        lock = self.links.lock(token, visitor.visit)
        if lock is None:
            self.rates.guess(stranger, token)
            raise AccessError(CLOSED)
        if only is not None and lock.target != only:
            return lock.target
        if lock.password is not None:
            self._check_password(token, lock, lock.password, visitor)
        target = self.links.use(token, visit=visitor.visit)
        if target is None:  # another visitor took the last use meanwhile
            raise AccessError(CLOSED)
        return target

    def _check_password(self, token: str, lock: Lock, kept: str, visitor: Visitor) -> None:
        if visitor.password is None:
            raise PasswordError(CLOSED)
        if not self.tries.count(lock.link_id, token, visitor.address):
            raise LimitError(TOO_MANY_TRIES)
        if not matches(visitor.password, kept):
            self.audit.record("", "refusal", "link", lock.link_id)
            raise PasswordError(CLOSED)
        self.tries.forget(lock.link_id, token, visitor.address)
