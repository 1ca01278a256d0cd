"""People who use a server, and their tokens, as plain values: what stores keep and access is decided by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Role = Literal["viewer", "analyst", "admin"]
"""What somebody may do on a server; see :class:`grasp_core.model.access.User`."""
Scope = Literal["read", "run", "admin"]
"""What a token may do at most: look, also upload and run, or all that its person may."""
COMMAND = "command"
"""Who acts where somebody has the database itself."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who a sign-in provider says somebody is.

    Parameters
    ----------
    issuer, subject : str
        The provider, and its name for the person that never changes.
    email : str
        Verified, in small letters.
    """

    issuer: str
    subject: str
    email: str
    name: str


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who has signed in.

    Parameters
    ----------
    id : str
        What objects name as their owner.
    identity : Identity
        As of the last sign-in.
    role : {"viewer", "analyst", "admin"} or None
        None where the settings decide.
    created_at, signed_in_at : float
        First and last sign-in, seconds since 1970.
    holder : str or None
        Id of who holds the mail address: the first who signed in with it, or whom an admin assigned it to.
        None while nobody does.
    """

    id: str
    identity: Identity
    role: Role | None
    created_at: float
    signed_in_at: float
    disabled_at: float | None
    holder: str | None

    @property
    def holds_address(self) -> bool:
        """Whether the person has what the settings and projects give to their mail address."""
        return self.holder == self.id

    @property
    def other_holder(self) -> str | None:
        """Id of somebody else who holds the person's mail address."""
        return None if self.holds_address else self.holder


@dataclass(frozen=True, slots=True)
class Token:
    """A token as its person sees it; the token itself is shown once and not kept."""

    id: str
    owner: str
    name: str
    scope: Scope
    created_at: float
    expires_at: float
    revoked_at: float | None
    last_used_at: float | None
    expired: bool

    @property
    def works(self) -> bool:
        """Whether requests with it are answered."""
        return self.revoked_at is None and not self.expired
