"""The visitor: their sign-in cookie, current project and rights."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from http.cookies import SimpleCookie
from typing import Any

import streamlit as st
from starlette.requests import HTTPConnection
from streamlit.web.server.starlette import starlette_websocket
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

from grasp_core.model.access import EVERYONE, LOCAL_USER, User, groups_of, only
from grasp_core.model.errors import AccessError
from grasp_core.model.rates import Asker
from grasp_core.model.settings import Settings
from grasp_core.model.turns import ask_as
from grasp_core.server import server
from grasp_core.server.accounts import session_key
from grasp_core.server.server import Stores
from grasp_core.store.runs import RunRecord

CALLBACK = "/oauth2callback"
"""Path to which the sign-in provider sends people back."""


def signed_in(connection: HTTPConnection, origin: str) -> Mapping[str, Any] | None:
    """Return the claims of a request's person, or None; None too if another site's page makes the request."""
    if connection.headers.get("Origin", origin) != origin:
        return None
    return claims_of(connection.cookies, origin)


def just_signed_in(set_cookies: Iterable[str], origin: str) -> Mapping[str, Any] | None:
    """Return the claims in the cookies that a response sets, or None."""
    jar: SimpleCookie = SimpleCookie()
    for line in set_cookies:
        jar.load(line)
    return claims_of({name: morsel.value for name, morsel in jar.items()}, origin)


def claims_of(cookies: Mapping[str, str], origin: str) -> Mapping[str, Any] | None:
    """Return the claims in cookies, or None if these are incomplete, not this server's, or too old."""
    raw = starlette_websocket._get_signed_cookie_with_chunks(dict(cookies), USER_COOKIE_NAME)
    claims = starlette_websocket._parse_decoded_user_cookie(raw, origin) if raw else {}
    return claims if claims.get("is_logged_in") is True else None


def current_user() -> User:
    """Return the person of this session; raise AccessError if nobody has signed in."""
    user = visitor(seen=True)
    if user is None:
        raise AccessError("Sign in first.")
    return user


def visitor(*, seen: bool = False) -> User | None:
    """Return the person of this session with current rights and projects, or None if nobody has signed in."""
    settings = server.shared().settings
    if not settings.sign_in:
        ask_as(asker(LOCAL_USER).name)
        return LOCAL_USER
    claims = session_claims()
    user = None if claims is None else _person(claims, settings, seen=seen)
    ask_as(asker(user).name)
    return None if user is None else server.shared().accounts.known(user)


def note_refusal(place: str) -> None:
    """Log that a person who has signed in was refused; repetitions are logged only so many times."""
    user = visitor()
    if user is not None:
        server.shared().refusals.record(user.id, "page", place)


def asker(user: User | None) -> Asker:
    """Return the person, or else the address, for which this visitor's requests are counted."""
    return Asker("" if user is None or user == LOCAL_USER else user.id, str(st.context.ip_address or ""))


def this_session() -> str | None:
    """Return the key of this session, or None."""
    claims = session_claims()
    return None if claims is None else session_key(claims)


def owner_names(owners: Iterable[str]) -> dict[str, str]:
    """Return the names of owners by their ids; the name is empty for an object without an owner."""
    return server.shared().accounts.people.names(owners)


def session_claims() -> Mapping[str, Any] | None:
    """Return the sign-in provider's claims about this session's person, or None."""
    return st.user.to_dict() if st.user.get("is_logged_in") is True else None


def sender(connection: HTTPConnection, settings: Settings) -> User | None:
    """Return the person who makes a request outside the pages, without projects; None if not admitted."""
    if not settings.sign_in:
        return LOCAL_USER
    claims = signed_in(connection, settings.origin)
    try:
        return None if claims is None else _person(claims, settings, seen=True)
    except AccessError:
        return None


def _person(claims: Mapping[str, Any], settings: Settings, *, seen: bool) -> User | None:
    """Return the person with these claims, with the groups that the provider named at the sign-in."""
    user = server.shared().accounts.user(claims, seen=seen)
    return None if user is None else replace(user, groups=groups_of(claims, settings))


def secrets(settings: Settings) -> dict[str, dict[str, str]] | None:
    """Return the settings of Streamlit's sign-in, or None without sign-in."""
    if not settings.sign_in:
        return None
    return {
        "auth": {
            "redirect_uri": f"{settings.public_url}/oauth2callback",
            "cookie_secret": settings.cookie_secret,
            "client_id": settings.oidc_client_id,
            "client_secret": settings.oidc_client_secret,
            "server_metadata_url": settings.oidc_metadata_url,
        }
    }


CURRENT = "project"
"""Key under which the session keeps the chosen project."""


def current_project(user: User | None = None) -> str:
    """Return the project chosen in this visit, else in the person's last visit, else Everyone."""
    user = current_user() if user is None else user
    if CURRENT not in st.session_state:
        st.session_state[CURRENT] = server.shared().projects.current(user.id) or EVERYONE
    chosen: str = st.session_state[CURRENT]
    return chosen if user.may_see(chosen) else EVERYONE


def stores() -> Stores:
    """Return the stores for this session's person: lists and new objects belong to the current project."""
    user = current_user()
    return server.shared().seen(user.reach(current_project(user)))


def stores_of(run: RunRecord) -> Stores:
    """Return the stores of a run's project, for somebody allowed to see the run as a member or by a link."""
    return server.shared().seen(only(run.project))


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
    """Return why somebody may not upload or run in a project (default: the current one); None if they may."""
    if not user.may_run:
        return VIEWERS_LOOK
    return None if user.may_run_in(project or current_project(user)) else PROJECT_VIEWERS_LOOK


def may_run() -> bool:
    """Return whether to offer uploads and runs in the current project."""
    return why_not_run(current_user()) is None


def require_run(project: str | None = None) -> User:
    """Return this session's person; raise AccessError if they may not run in a project (default: current)."""
    user = current_user()
    refusal = why_not_run(user, project)
    if refusal is not None:
        raise AccessError(refusal)
    return user


def _require(may: Callable[..., bool], refusal: str) -> Callable[..., User]:
    def require(*of: str) -> User:
        user = current_user()
        if not may(user, *of):
            raise AccessError(refusal)
        return user

    return require


require_admin = _require(lambda user: user.may_administer, ADMINS_ONLY)
"""Return this session's person; raise AccessError if they are no admin."""
require_manage = _require(
    User.may_manage, "Only the person whose result this is, an owner of its project or an admin may."
)
"""Return this session's person; raise AccessError if they may not change an owner's object in a project."""
require_lead = _require(User.may_lead, "Only an owner of the project or an admin may change it.")
"""Return this session's person; raise AccessError if they may not change a project (id) and its members."""
require_see = _require(User.may_see, "You do not belong to this result's project any more.")
"""Return this session's person; raise AccessError if they may not see a project (id)."""


def may_manage(owner: str, project: str) -> bool:
    """Return whether to offer changes to the `owner`'s object; visitors by a share link change nothing."""
    user = visitor()
    return user is not None and user.may_manage(owner, project)
