"""The way back to the page that somebody wanted before they had to sign in."""

from __future__ import annotations

import re
from urllib.parse import quote, unquote

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from grasp_core.errors import StoreError
from grasp_core.web.gate import who
from grasp_core.web.identity import Identify

COOKIE = "grasp_way_back"
SECONDS = 3600
_CALLBACK = "/oauth2callback"
_PAGE = re.compile(r"/[\w-]{1,64}(\?[\w.~!$&'()*+,;=:@%/?-]{0,1500})?", re.ASCII)
"""A page and its query, nothing that could lead to another server."""


class WayBack:
    """ASGI middleware that remembers a stranger's page and leads there once after the sign-in.

    Streamlit returns everybody to the start page. The page waits in a cookie that scripts cannot read.

    Parameters
    ----------
    app : ASGI application
    identify : callable
        Who makes a request, or None.
    base_path : str
    open_pages : frozenset of str
        Paths that strangers may see; they are not remembered.
    """

    def __init__(
        self, app: ASGIApp, identify: Identify, base_path: str = "", open_pages: frozenset[str] = frozenset()
    ) -> None:
        self.app = app
        self.identify = identify
        self.base_path = base_path
        self.open_pages = open_pages

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything through; change cookies, and where the sign-in leads to."""
        if scope["type"] != "http" or scope["method"] != "GET":
            await self.app(scope, receive, send)
            return
        connection = HTTPConnection(scope)
        path = scope["path"].removeprefix(self.base_path)
        waiting = _page(unquote(connection.cookies.get(COOKIE, "")))

        async def send_on(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if path == _CALLBACK and message["status"] == 302:
                    if waiting:
                        headers["Location"] = self.base_path + waiting
                        self._keep(headers, None)
                elif headers.get("Content-Type", "").startswith("text/html"):
                    await self._remember(connection, path, headers)
            await send(message)

        await self.app(scope, receive, send_on)

    async def _remember(self, connection: HTTPConnection, path: str, headers: MutableHeaders) -> None:
        if path in self.open_pages:
            return
        try:
            if await who(self.identify, connection) is not None:
                return
        except StoreError:  # the page itself says so
            return
        query = connection.scope["query_string"].decode("latin-1")
        wanted = _page(f"{path}?{query}" if query else path)
        if wanted or COOKIE in connection.cookies:
            self._keep(headers, wanted)

    def _keep(self, headers: MutableHeaders, page: str | None) -> None:
        answer = Response()
        path = self.base_path or "/"
        if page is None:
            answer.delete_cookie(COOKIE, path=path, httponly=True, samesite="lax")
        else:
            answer.set_cookie(
                COOKIE, quote(page, safe=""), max_age=SECONDS, path=path, httponly=True, samesite="lax"
            )
        headers.append("Set-Cookie", answer.headers["Set-Cookie"])


def _page(text: str) -> str | None:
    return text if _PAGE.fullmatch(text) else None
