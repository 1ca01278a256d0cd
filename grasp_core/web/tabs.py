"""Tabs of pages: how many somebody may open, and have open at once."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from html import escape
from http import HTTPStatus

from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketClose

from grasp_core.errors import StoreError, TooOftenError
from grasp_core.rates import Asker
from grasp_core.server import Server
from grasp_core.web.gate import who
from grasp_core.web.identity import Identify, asker

TRY_AGAIN_LATER = 1013


class TabGate:
    """ASGI middleware that counts websockets, each of which is a tab, and refuses too many.

    A page that could open none is refused too, with a sentence and the time after which it asks again. Tabs
    that are open stay so; one whose connection broke off asks again by itself and has lost nothing.

    Parameters
    ----------
    app : ASGI application
    server : callable
        Returns the process's server, which counts.
    identify : callable
        Who makes a request, or None.
    pages : frozenset of str
        Paths of pages.
    base_path : str
    """

    def __init__(
        self,
        app: ASGIApp,
        server: Callable[[], Server],
        identify: Identify,
        pages: frozenset[str],
        base_path: str = "",
    ) -> None:
        self.app = app
        self.server = server
        self.identify = identify
        self.pages = frozenset(base_path + page for page in pages)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        page = scope["type"] == "http" and scope["method"] == "GET" and scope["path"] in self.pages
        if not page and scope["type"] != "websocket":
            await self.app(scope, receive, send)
            return
        try:
            rates = (await run_in_threadpool(self.server)).rates
        except StoreError:  # the page itself says so
            await self.app(scope, receive, send)
            return
        asking = await self._asker(HTTPConnection(scope))
        try:
            rates.before_tab(asking)
            with nullcontext() if page else rates.tab(asking):
                await self.app(scope, receive, send)
        except TooOftenError as error:
            await _refuse(error, scope, receive, send)

    async def _asker(self, connection: HTTPConnection) -> Asker:
        try:
            user = await who(self.identify, connection)
        except StoreError:
            user = None
        return asker(connection, user)


async def _refuse(error: TooOftenError, scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "http":
        await _page(error)(scope, receive, send)
    elif "websocket.http.response" in scope.get("extensions", {}):
        await WebSocket(scope, receive, send).send_denial_response(_page(error))
    else:
        await WebSocketClose(TRY_AGAIN_LATER, str(error))(scope, receive, send)


def _page(error: TooOftenError) -> Response:
    """A page of one sentence that asks again by itself."""
    return HTMLResponse(
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>GRASP: too many tabs</title>'
        '<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">'
        f'<meta http-equiv="refresh" content="{error.seconds}"></head>'
        f"<body><main><h1>One moment</h1><p>{escape(str(error))}</p></main></body></html>",
        HTTPStatus.TOO_MANY_REQUESTS,
        {"Retry-After": str(error.seconds), "Cache-Control": "no-store"},
    )
