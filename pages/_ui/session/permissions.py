"""Permissions of this session's person; asked where something is done, whatever the page shows."""

from __future__ import annotations

from grasp_core.access import User
from grasp_core.errors import AccessError
from pages._ui.session.identity import current_user, visitor
from pages._ui.session.projects import current_project

VIEWERS_LOOK = (
    "Your role on this server is viewer: you may look at every run of your projects, but not upload data or "
    "start runs. Whoever runs this server can make you an analyst."
)
PROJECT_VIEWERS_LOOK = (
    "In this project you are a viewer: you may look at its runs, but not upload data or start runs. Its "
    "owners can make you an analyst; or choose another project."
)
ADMINS_ONLY = "This page is for admins of this server."


def why_not_run(user: User, project: str | None = None) -> str | None:
    """Why somebody may not add to a project, by default the current one, or start runs; None if they may."""
    if not user.may_run:
        return VIEWERS_LOOK
    return None if user.may_run_in(project or current_project(user)) else PROJECT_VIEWERS_LOOK


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


def may_run() -> bool:
    """Whether to offer uploads and runs in the current project."""
    return why_not_run(current_user()) is None


def require_run(project: str | None = None) -> User:
    """The person of this session, who may upload data and start runs in a project, by default the current.

    Raises
    ------
    AccessError
        If they may not.
    """
    user = current_user()
    refusal = why_not_run(user, project)
    if refusal is not None:
        raise AccessError(refusal)
    return user


def require_manage(owner: str, project: str) -> User:
    """The person of this session, who may rename, share, cancel or delete what is `owner`'s in a project.

    Raises
    ------
    AccessError
        If they may not.
    """
    user = current_user()
    if not user.may_manage(owner, project):
        raise AccessError("Only the person whose result this is, an owner of its project or an admin may.")
    return user


def may_manage(owner: str, project: str) -> bool:
    """Whether to offer changes to what is `owner`'s; strangers on a shared result change nothing."""
    user = visitor()
    return user is not None and user.may_manage(owner, project)


def require_lead(project: str) -> User:
    """The person of this session, who may rename, archive and delete a project and say who belongs to it.

    Raises
    ------
    AccessError
        If they may not.
    """
    user = current_user()
    if not user.may_lead(project):
        raise AccessError("Only an owner of the project or an admin may change it.")
    return user


def require_see(project: str) -> User:
    """The person of this session, who still sees what belongs to a project.

    Raises
    ------
    AccessError
        If they do not any more.
    """
    user = current_user()
    if not user.may_see(project):
        raise AccessError("You do not belong to this result's project any more.")
    return user
