"""Who may do what: one place that pages and the API ask."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from grasp_core.errors import AccessError
from grasp_core.settings import Settings

Role = Literal["viewer", "analyst", "admin"]
"""A viewer sees every run; an analyst also runs, and manages own runs and links; an admin manages all."""


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
    domain = email.rpartition("@")[2]
    if settings.allowed_domains and domain not in settings.allowed_domains:
        raise AccessError(f"This server does not admit mail addresses of {domain}.")
    name = claims.get("name")
    return User(email, name if isinstance(name, str) and name else email, _role(email, settings))


def _role(email: str, settings: Settings) -> Role:
    if email in settings.admins:
        return "admin"
    if email in settings.analysts or "*" in settings.analysts:
        return "analyst"
    return "viewer"
