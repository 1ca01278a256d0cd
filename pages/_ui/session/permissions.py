"""Permissions of this session's person; asked where something is done, whatever the page shows."""

from __future__ import annotations

from grasp_core.access import User
from grasp_core.errors import AccessError
from pages._ui.session.identity import current_user, visitor

VIEWERS_LOOK = (
    "Your role on this server is viewer: you may look at every run, but not upload data or start runs. "
    "Whoever runs this server can make you an analyst."
)
ADMINS_ONLY = "This page is for admins of this server."


def require_run() -> User:
    """The person of this session, who may upload data and start runs.

    Raises
    ------
    AccessError
        If they may not.
    """
    user = current_user()
    if not user.may_run:
        raise AccessError(VIEWERS_LOOK)
    return user


def require_admin() -> User:
    """The person of this session, who may see and change who may do what.

    Raises
    ------
    AccessError
        If they may not.
    """
    user = current_user()
    if not user.may_administer:
        raise AccessError(ADMINS_ONLY)
    return user


def require_manage(owner: str) -> User:
    """The person of this session, who may rename, share, cancel or delete what is `owner`'s.

    Raises
    ------
    AccessError
        If they may not.
    """
    user = current_user()
    if not user.may_manage(owner):
        raise AccessError("Only the person whose result this is, or an admin, may change it.")
    return user


def may_manage(owner: str) -> bool:
    """Whether to offer changes to what is `owner`'s; strangers on a shared result change nothing."""
    user = visitor()
    return user is not None and user.may_manage(owner)
