"""Who may do what: one place that pages and the API ask."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from grasp_core.errors import AccessError
from grasp_core.settings import Settings
from grasp_core.store.people.tokens import Scope, Token

Role = Literal["viewer", "analyst", "admin"]
"""A viewer sees every run; an analyst also runs, and manages own runs and links; an admin manages all."""
ROLES: tuple[Role, ...] = get_args(Role)
"""Roles, each of which may all that those before it may."""
_ROLE_OF_SCOPE: Mapping[Scope, Role] = {"read": "viewer", "run": "analyst", "admin": "admin"}


@dataclass(frozen=True, slots=True)
class User:
    """A person who has signed in, or the one at this machine where nobody has to."""

    id: str
    name: str
    role: Role

    @property
    def may_run(self) -> bool:
        """Whether the user may upload data and start runs."""
        return self.role in ("analyst", "admin")

    def may_manage(self, owner: str) -> bool:
        """Whether the user may rename, share, cancel or delete a run of `owner`."""
        return self.role == "admin" or (self.role == "analyst" and owner == self.id)

    def at_most(self, role: Role) -> User:
        """The same person with no more than `role`, as a token lends it."""
        return replace(self, role=min(self.role, role, key=ROLES.index))


LOCAL_USER = User(id="", name="", role="admin")
"""Everybody, where sign-in is off."""


def user_from_claims(claims: Mapping[str, Any], settings: Settings) -> User:
    """The user that an identity token describes.

    Parameters
    ----------
    claims : mapping
        OpenID Connect claims; the mail address is the user's id.
    settings : Settings

    Raises
    ------
    AccessError
        If there is no verified mail address, or its domain is not allowed.
    """
    email = claims.get("email")
    if not isinstance(email, str) or "@" not in email:
        raise AccessError("Your sign-in carries no mail address; ask whoever runs this server.")
    if claims.get("email_verified", True) not in (True, "true"):  # some providers send texts
        raise AccessError("Your mail address is not verified with your sign-in provider.")
    email = email.casefold()
    _check_domain(email, settings)
    name = claims.get("name")
    return User(email, name if isinstance(name, str) and name else email, _role(email, settings))


def user_by_token(token: Token, settings: Settings) -> User | None:
    """The person whose token it is, with no more than its scope; None where they are not admitted any more.

    Parameters
    ----------
    token : Token
        One that works.
    settings : Settings
    """
    role = _ROLE_OF_SCOPE[token.scope]
    if not settings.sign_in:
        return None if token.owner else LOCAL_USER.at_most(role)
    if not token.owner:  # made while nobody had to sign in
        return None
    try:
        _check_domain(token.owner, settings)
    except AccessError:
        return None
    return User(token.owner, token.owner, _role(token.owner, settings)).at_most(role)


def _check_domain(email: str, settings: Settings) -> None:
    domain = email.rpartition("@")[2]
    if settings.allowed_domains and domain not in settings.allowed_domains:
        raise AccessError(f"This server does not admit mail addresses of {domain}.")


def _role(email: str, settings: Settings) -> Role:
    if email in settings.admins:
        return "admin"
    if email in settings.analysts or "*" in settings.analysts:
        return "analyst"
    return "viewer"
