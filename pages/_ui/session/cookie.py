"""Who signed in, from Streamlit's signed cookie: the one place that leans on Streamlit's inner parts.

Routes beside the pages get no `st.user`. The cookie is checked by the very functions that check it when a
page connects: signature, age, and that it was issued for this server's address.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.requests import HTTPConnection
from streamlit.web.server.starlette import starlette_websocket
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME


def signed_in(connection: HTTPConnection, origin: str) -> Mapping[str, Any] | None:
    """The claims of the person who makes a request, or None.

    Parameters
    ----------
    connection : HTTPConnection
    origin : str
        Scheme, host and port under which people reach the server.
    """
    if connection.headers.get("Origin", origin) != origin:
        return None
    raw = starlette_websocket._get_signed_cookie_with_chunks(connection.cookies, USER_COOKIE_NAME)
    claims = starlette_websocket._parse_decoded_user_cookie(raw, origin) if raw else {}
    return claims if claims.get("is_logged_in") is True else None
