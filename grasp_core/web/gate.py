"""Who gets in at all: requests that no page and no route ever sees."""

from __future__ import annotations

from http import HTTPStatus
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from grasp_core.access import User
from grasp_core.errors import StoreError
from grasp_core.settings import Settings
from grasp_core.web.identity import Identify, same_origin
from grasp_core.web.problem import ProblemError

LOCAL_ONLY = (
    "This server has no sign-in and so answers only on its own machine, at http://localhost; set up sign-in, "
    "or set GRASP_ALLOW_ANONYMOUS=1 if everybody who can reach it may see and delete everything."
)
POLICY_VIOLATION = 1008
_CLOSED = ("/_stcore/metrics", "/_stcore/agent", "/auth/logout")
"""Streamlit's own metrics and remote control, and its sign-out, which any link could ask for."""
_HEALTH = "/_stcore/health"  # a proxy that asks here passes the sentence on, instead of "no answer"
UPLOADS = "/_stcore/upload_file"
"""Below it, Streamlit takes files: SESSION/FILE."""
_LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
_PROXIED = ("forwarded", "x-forwarded-", "x-real-ip", "via")


class Gate:
    """ASGI middleware that refuses what must not reach the pages or the API.

    Without sign-in, that is whatever does not come from this machine, unless the settings ask for it. With
    sign-in, it is uploads by people who may not run analyses. In any case it is connections that another
    site's page opens, and what Streamlit offers beside the pages.

    Parameters
    ----------
    app : ASGI application
    settings : Settings
    identify : callable
        Who makes a request, or None.
    base_path : str
    """

    def __init__(self, app: ASGIApp, settings: Settings, identify: Identify, base_path: str = "") -> None:
        self.app = app
        self.settings = settings
        self.identify = identify
        self.base_path = base_path
        self.local_only = settings.own_machine

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it in one sentence."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        connection = HTTPConnection(scope)
        refused = await self._refused(connection)
        if refused is None:
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket":
            await WebSocketClose(POLICY_VIOLATION, refused.detail)(scope, receive, send)
        elif self._below(connection, "/api"):
            await refused.response()(scope, receive, send)
        else:
            answer = PlainTextResponse(refused.detail, int(refused.status), refused.headers)
            await answer(scope, receive, send)

    async def _refused(self, connection: HTTPConnection) -> ProblemError | None:
        local = is_local(connection) and _asks_for_local(connection)
        if self.local_only and not local and not self._below(connection, _HEALTH):
            return ProblemError(HTTPStatus.FORBIDDEN, LOCAL_ONLY)
        if connection.scope["type"] == "websocket" and not same_origin(connection, self.settings):
            return ProblemError(HTTPStatus.FORBIDDEN, "Open GRASP under its own address.")
        if any(self._below(connection, path) for path in _CLOSED):
            return ProblemError(HTTPStatus.NOT_FOUND, "Not found.")
        if self._below(connection, UPLOADS):
            try:
                user = await who(self.identify, connection)
            except StoreError as error:
                return ProblemError(HTTPStatus.SERVICE_UNAVAILABLE, str(error))
            if user is None:
                return ProblemError(HTTPStatus.UNAUTHORIZED, "Sign in first.")
            if not user.may_run:
                return ProblemError(HTTPStatus.FORBIDDEN, "Viewers may not upload.")
        return None

    def _below(self, connection: HTTPConnection, path: str) -> bool:
        asked: str = connection.scope["path"]  # not connection.url, which the Host header has a hand in
        return asked == self.base_path + path or asked.startswith(f"{self.base_path}{path}/")


async def who(identify: Identify, connection: HTTPConnection) -> User | None:
    """Who makes a request, asked where the database may take its time.

    Raises
    ------
    StoreError
        If it cannot be asked.
    """
    return await run_in_threadpool(identify, connection)


def is_local(connection: HTTPConnection) -> bool:
    """Whether a request comes from this machine and not through a proxy on it."""
    if connection.client is None or any(name.startswith(_PROXIED) for name in connection.headers):
        return False
    try:
        return ip_address(connection.client.host).is_loopback
    except ValueError:
        return False


def _asks_for_local(connection: HTTPConnection) -> bool:
    """Whether the address bar names this machine; another name that leads here is somebody's trick."""
    try:
        return urlsplit(f"//{connection.headers.get('Host', '')}").hostname in _LOOPBACK_NAMES
    except ValueError:
        return False
