"""Who is looking."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import streamlit as st
from starlette.requests import HTTPConnection

from grasp_core import server
from grasp_core.access import LOCAL_USER, User, groups_of
from grasp_core.accounts import session_key
from grasp_core.errors import AccessError
from grasp_core.rates import Asker
from grasp_core.settings import Settings
from grasp_core.turns import ask_as
from pages._ui.session.cookie import signed_in


def current_user() -> User:
    """The person of this session.

    Raises
    ------
    AccessError
        If nobody has signed in, or whoever has is not admitted.
    """
    user = visitor(seen=True)
    if user is None:
        raise AccessError("Sign in first.")
    return user


def visitor(*, seen: bool = False) -> User | None:
    """The person of this session as they may act now, with projects, or None while nobody has signed in.

    Parameters
    ----------
    seen : bool
        Count this as use of the session: somebody opens or does something.

    Raises
    ------
    AccessError
        If the person who has signed in is not admitted.
    """
    settings = server.shared().settings
    if not settings.sign_in:
        ask_as(asker(LOCAL_USER).name)
        return LOCAL_USER
    claims = session_claims()
    user = None if claims is None else _person(claims, settings, seen=seen)
    ask_as(asker(user).name)
    return None if user is None else server.shared().known(user)


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
    """The person who makes a request beside the pages, without their projects.

    None for strangers and those not admitted.
    """
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
