"""People who have signed in, without a provider: sessions in the store, and their cookies."""

from __future__ import annotations

import asyncio
import time
from http.cookies import SimpleCookie

from starlette.responses import Response
from streamlit import config
from streamlit.web.server.starlette import starlette_auth_routes

from grasp_core.model.settings import variable
from grasp_core.server.server import Server
from pages._ui.helpers.identity import claims_of

_ISSUER = "https://id.example"


def environment(address: str) -> dict[str, str]:
    """Return a server's settings that require a sign-in; its provider is never asked."""
    secret = "the benchmark's own secret, of no use elsewhere"
    settings = {
        "public_url": address,
        "oidc_metadata_url": f"{_ISSUER}/.well-known/openid-configuration",
        "oidc_client_id": "benchmark",
        "oidc_client_secret": secret,
        "cookie_secret": secret,
    }
    return {variable(name): value for name, value in settings.items()}


def cookies(store: Server, number: int) -> dict[str, str]:
    """Begin a session of the person with this number; return its cookies."""
    settings = store.settings
    config.set_option("server.cookieSecret", settings.cookie_secret)
    told = {
        "iss": _ISSUER,
        "sub": str(number),
        "email": f"{number}@lab.example",
        "email_verified": True,
        "name": f"Reader {number}",
        "nonce": f"{number} {time.time_ns()}",
        "origin": settings.origin,
        "is_logged_in": True,
        "provider": "default",
    }
    answer = Response()
    asyncio.run(starlette_auth_routes._set_auth_cookie(answer, told, {"id_token": "none"}))
    jar: SimpleCookie = SimpleCookie()
    for line in answer.headers.getlist("Set-Cookie"):
        jar.load(line)
    given = {name: morsel.value for name, morsel in jar.items() if morsel.value}
    claims = claims_of(given, settings.origin)
    if claims is None:
        raise RuntimeError("Streamlit does not read the cookie that it made")
    store.accounts.sign_in(claims)
    return given
