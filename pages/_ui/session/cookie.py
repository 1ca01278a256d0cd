"""Who signed in, from Streamlit's signed cookie: here and in `ended`, on Streamlit's inner parts.

Routes beside the pages get no `st.user`. The cookie is checked by the very functions that check it when a
page connects: signature, age, and that it was issued for this server's address.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from http.cookies import SimpleCookie
from typing import Any

from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from streamlit.web.server.starlette import starlette_auth_routes, starlette_websocket
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

CALLBACK = "/oauth2callback"
"""Where the sign-in provider sends people back to."""


def signed_in(connection: HTTPConnection, origin: str) -> Mapping[str, Any] | None:
    """The claims of the person who makes a request, or None, as where another site's page makes it.

    Parameters
    ----------
    connection : HTTPConnection
    origin : str
        Scheme, host and port under which people reach the server.
    """
    if connection.headers.get("Origin", origin) != origin:
        return None
    return claims_of(connection.cookies, origin)


def just_signed_in(set_cookies: Iterable[str], origin: str) -> Mapping[str, Any] | None:
    """The claims in the cookies that an answer sets, or None.

    Parameters
    ----------
    set_cookies : iterable of str
        ``Set-Cookie`` headers.
    origin : str
    """
    jar: SimpleCookie = SimpleCookie()
    for line in set_cookies:
        jar.load(line)
    return claims_of({name: morsel.value for name, morsel in jar.items()}, origin)


async def provider_sign_out(request: Request) -> str | None:
    """The address at which the sign-in provider lets people sign out of it, too, where it has one."""
    return await starlette_auth_routes._get_provider_logout_url(request)


def clear(response: Response, request: Request) -> None:
    """Take the cookie out of the browser."""
    starlette_auth_routes._clear_auth_cookie(response, request)


def claims_of(cookies: Mapping[str, str], origin: str) -> Mapping[str, Any] | None:
    """The claims in cookies, or None if they are not whole, not this server's, or too old."""
    raw = starlette_websocket._get_signed_cookie_with_chunks(dict(cookies), USER_COOKIE_NAME)
    claims = starlette_websocket._parse_decoded_user_cookie(raw, origin) if raw else {}
    return claims if claims.get("is_logged_in") is True else None
