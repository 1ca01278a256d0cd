"""Who may do what: one place that pages and the API ask."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, get_args

from grasp_core.errors import AccessError
from grasp_core.settings import Settings
from grasp_core.store.people.people import Identity, Person, Role
from grasp_core.store.people.tokens import Scope, Token

ROLES: tuple[Role, ...] = get_args(Role)
"""Roles, each of which may all that those before it may."""
DISABLED = "Your account on this server is disabled; ask whoever runs it."
_ROLE_OF_SCOPE: Mapping[Scope, Role] = {"read": "viewer", "run": "analyst", "admin": "admin"}
_LONGEST = 255
"""Characters of an issuer, a subject (OpenID Connect allows no more) and a name."""


@dataclass(frozen=True, slots=True)
class User:
    """A person who has signed in, or the one at this machine where nobody has to.

    A viewer sees every run; an analyst also runs, and manages own runs and links; an admin manages all.

    Parameters
    ----------
    id : str
        What objects name as their owner; opaque.
    name : str
    role : {"viewer", "analyst", "admin"}
    email : str
    """

    id: str
    name: str
    role: Role
    email: str = ""

    @property
    def may_run(self) -> bool:
        """Whether the user may upload data and start runs."""
        return self.role in ("analyst", "admin")

    @property
    def may_administer(self) -> bool:
        """Whether the user may see and change who may do what on this server."""
        return self.role == "admin"

    def may_manage(self, owner: str) -> bool:
        """Whether the user may rename, share, cancel or delete a run of `owner`."""
        return self.role == "admin" or (self.role == "analyst" and owner == self.id)

    def at_most(self, role: Role) -> User:
        """The same person with no more than `role`, as a token lends it."""
        return replace(self, role=min(self.role, role, key=ROLES.index))


LOCAL_USER = User(id="", name="", role="admin")
"""Everybody, where sign-in is off."""


def identity_of(claims: Mapping[str, Any], settings: Settings) -> Identity:
    """Who an identity token describes.

    Parameters
    ----------
    claims : mapping
        OpenID Connect claims.
    settings : Settings

    Raises
    ------
    AccessError
        If it does not say who somebody is, there is no verified mail address, or its domain is not allowed.
    """
    issuer, subject = claims.get("iss"), claims.get("sub")
    for said in (issuer, subject):
        if not isinstance(said, str) or not 0 < len(said) <= _LONGEST:
            raise AccessError("Your sign-in does not say who you are; ask whoever runs this server.")
    email = claims.get("email")
    if not isinstance(email, str) or "@" not in email or len(email) > _LONGEST:
        raise AccessError("Your sign-in carries no mail address; ask whoever runs this server.")
    verified = claims.get("email_verified", "missing")
    if verified == "missing" and not settings.admit_unverified:
        raise AccessError(
            "Your sign-in does not say whether your mail address is verified; ask whoever runs this server."
        )
    if verified not in (True, "true", "missing"):  # some providers send texts
        raise AccessError("Your mail address is not verified with your sign-in provider.")
    email = email.casefold()
    _check_domain(email, settings)
    name = claims.get("name")
    name = name.strip()[:_LONGEST] if isinstance(name, str) else ""
    return Identity(str(issuer), str(subject), email, name or email)


def user_of(person: Person, settings: Settings) -> User:
    """What a person may do.

    Raises
    ------
    AccessError
        If they are disabled, or their mail address's domain is not allowed (any more).
    """
    if person.disabled_at is not None:
        raise AccessError(DISABLED)
    _check_domain(person.identity.email, settings)
    return User(person.id, person.identity.name, role_of(person, settings), person.identity.email)


def user_by_token(token: Token, owner: User | None, settings: Settings) -> User | None:
    """The person whose token it is, with no more than its scope; None where they are not admitted any more.

    Parameters
    ----------
    token : Token
        One that works.
    owner : User or None
        Who made it, as they may act now; None if they are not admitted.
    settings : Settings
    """
    if not settings.sign_in:
        owner = None if token.owner else LOCAL_USER
    return None if owner is None else owner.at_most(_ROLE_OF_SCOPE[token.scope])


def role_of(person: Person, settings: Settings) -> Role:
    """A person's role: admin where the settings say so, else their own, else what the settings say."""
    email = person.identity.email
    if email in settings.admins:
        return "admin"
    if person.role is not None:
        return person.role
    return "analyst" if email in settings.analysts or "*" in settings.analysts else "viewer"


def _check_domain(email: str, settings: Settings) -> None:
    domain = email.rpartition("@")[2]
    if settings.allowed_domains and domain not in settings.allowed_domains:
        raise AccessError(f"This server does not admit mail addresses of {domain}.")
