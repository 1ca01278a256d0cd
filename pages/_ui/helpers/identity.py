"""Who visits, by which cookie, in which project, and what they may do."""

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
"""Where the sign-in provider sends people back to."""


def signed_in(connection: HTTPConnection, origin: str) -> Mapping[str, Any] | None:
    """The claims of the person who makes a request, or None, as where another site's page makes it."""
    if connection.headers.get("Origin", origin) != origin:
        return None
    return claims_of(connection.cookies, origin)


def just_signed_in(set_cookies: Iterable[str], origin: str) -> Mapping[str, Any] | None:
    """The claims in the cookies that an answer sets, or None."""
    jar: SimpleCookie = SimpleCookie()
    for line in set_cookies:
        jar.load(line)
    return claims_of({name: morsel.value for name, morsel in jar.items()}, origin)


def claims_of(cookies: Mapping[str, str], origin: str) -> Mapping[str, Any] | None:
    """The claims in cookies, or None if they are not whole, not this server's, or too old."""
    raw = starlette_websocket._get_signed_cookie_with_chunks(dict(cookies), USER_COOKIE_NAME)
    claims = starlette_websocket._parse_decoded_user_cookie(raw, origin) if raw else {}
    return claims if claims.get("is_logged_in") is True else None


def current_user() -> User:
    """The person of this session."""
    user = visitor(seen=True)
    if user is None:
        raise AccessError("Sign in first.")
    return user


def visitor(*, seen: bool = False) -> User | None:
    """The person of this session as they may act now, with projects, or None while nobody has signed in."""
    settings = server.shared().settings
    if not settings.sign_in:
        ask_as(asker(LOCAL_USER).name)
        return LOCAL_USER
    claims = session_claims()
    user = None if claims is None else _person(claims, settings, seen=seen)
    ask_as(asker(user).name)
    return None if user is None else server.shared().accounts.known(user)


def note_refusal(place: str) -> None:
    """Have the log say that somebody who has signed in was refused, so many times at most."""
    user = visitor()
    if user is not None:
        server.shared().refusals.record(user.id, "page", place)


def asker(user: User | None) -> Asker:
    """Whose visits are counted together; where nobody has to sign in, that is an address."""
    return Asker("" if user is None or user == LOCAL_USER else user.id, str(st.context.ip_address or ""))


def this_session() -> str | None:
    """Key of this session, or None."""
    claims = session_claims()
    return None if claims is None else session_key(claims)


def owner_names(owners: Iterable[str]) -> dict[str, str]:
    """What those are called whom objects name as owners; nobody's name is empty."""
    return server.shared().accounts.people.names(owners)


def session_claims() -> Mapping[str, Any] | None:
    """The sign-in provider's claims about this session's person, or None."""
    return st.user.to_dict() if st.user.get("is_logged_in") is True else None


def sender(connection: HTTPConnection, settings: Settings) -> User | None:
    """The person who makes a request beside the pages, without their projects; None if not admitted."""
    if not settings.sign_in:
        return LOCAL_USER
    claims = signed_in(connection, settings.origin)
    try:
        return None if claims is None else _person(claims, settings, seen=True)
    except AccessError:
        return None


def _person(claims: Mapping[str, Any], settings: Settings, *, seen: bool) -> User | None:
    """Whose session it is, with the groups that the provider named at the sign-in."""
    user = server.shared().accounts.user(claims, seen=seen)
    return None if user is None else replace(user, groups=groups_of(claims, settings))


def secrets(settings: Settings) -> dict[str, dict[str, str]] | None:
    """Settings of Streamlit's sign-in."""
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
"""Where the session keeps the project that was chosen."""


def current_project(user: User | None = None) -> str:
    """The project that was chosen, in this visit or the person's last one; else Everyone."""
    user = current_user() if user is None else user
    if CURRENT not in st.session_state:
        st.session_state[CURRENT] = server.shared().projects.current(user.id) or EVERYONE
    chosen: str = st.session_state[CURRENT]
    return chosen if user.may_see(chosen) else EVERYONE


def here() -> Stores:
    """What is stored, for this session's person: lists are the current project's, and new things go there."""
    user = current_user()
    return server.shared().seen(user.reach(current_project(user)))


def stores_of(run: RunRecord) -> Stores:
    """What is stored in the project of a run that somebody was let see, as a member or by a link."""
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
    """Why somebody may not add to a project, by default the current one, or start runs; None if they may."""
    if not user.may_run:
        return VIEWERS_LOOK
    return None if user.may_run_in(project or current_project(user)) else PROJECT_VIEWERS_LOOK


def may_run() -> bool:
    """Whether to offer uploads and runs in the current project."""
    return why_not_run(current_user()) is None


def require_run(project: str | None = None) -> User:
    """The person of this session, who may upload data and start runs in a project, by default the current."""
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
"""The person of this session, who may see and change who may do what."""
require_manage = _require(
    User.may_manage, "Only the person whose result this is, an owner of its project or an admin may."
)
"""The person of this session, who may change or delete what is an owner's (id) in a project (id)."""
require_lead = _require(User.may_lead, "Only an owner of the project or an admin may change it.")
"""The person of this session, who may change a project (id) and say who belongs to it."""
require_see = _require(User.may_see, "You do not belong to this result's project any more.")
"""The person of this session, who still sees what belongs to a project (id)."""


def may_manage(owner: str, project: str) -> bool:
    """Whether to offer changes to what is `owner`'s; strangers on a shared result change nothing."""
    user = visitor()
    return user is not None and user.may_manage(owner, project)
