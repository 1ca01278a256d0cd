"""Sign-ins and sign-outs, and the tabs that end with them."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Collection
from contextlib import suppress
from html import escape
from http import HTTPStatus
from typing import Any

import pyarrow as pa
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketDisconnect
from streamlit import runtime
from streamlit.web.server.starlette import starlette_auth_routes

from grasp_core.model.errors import AccessError, StoreError
from grasp_core.model.settings import Settings
from grasp_core.server.accounts import Accounts, session_key
from pages._ui.helpers.identity import CALLBACK, claims_of, just_signed_in
from pages._ui.helpers.state import KEY, Work

log = logging.getLogger("grasp.sessions")

LOOK_SECONDS = 4.0
"""How often is asked which sessions have ended, here or at another server."""
CLOSED_SECONDS = 2.0
"""How often is looked which tabs were closed."""
REDRAW_SECONDS = 1.5
"""How long a tab that is going to be closed has to show that it asks to sign in."""
POLICY_VIOLATION = 1008


async def close_ended(accounts: Callable[[], Accounts]) -> None:
    """Close, for ever, tabs whose session has ended."""
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        try:
            open_keys = set(_open_tabs())
            if open_keys:
                going_on = run_in_threadpool(lambda keys: accounts().sessions.going_on(keys), open_keys)
                await close_tabs(open_keys - await going_on)
        except StoreError as error:
            log.warning("not looked which sessions have ended: %s", error)
        except Exception as error:  # of Streamlit's inner parts: each rerun and request still asks
            log.error("tabs were not looked at: %s", type(error).__name__)


async def close_tabs(keys: Collection[str]) -> None:
    """Close the tabs of these sessions, and forget what they held: files, answers, what was chosen.

    Each is drawn anew first, and so asks to sign in: a browser that comes back keeps what was shown last.
    """
    tabs = [tab for key, found in _open_tabs().items() if key in keys for tab in found]
    for tab in tabs:
        if tab.client is not None:
            tab.session.request_rerun(None)
    if tabs:
        await asyncio.sleep(REDRAW_SECONDS)
    for tab in tabs:
        runtime.get_instance().close_session(tab.session.id)
        if tab.client is not None:
            with suppress(RuntimeError, WebSocketDisconnect):  # closed, or left, at this very moment
                await tab.client._websocket.close(POLICY_VIOLATION)


async def give_up_tables() -> None:
    """Give up, for ever, the tables of sessions that no tab shows."""
    while True:
        await asyncio.sleep(CLOSED_SECONDS)
        try:
            give_up_closed()
        except Exception as error:  # of Streamlit's inner parts: sessions still end by themselves
            log.error("closed tabs were not looked at: %s", type(error).__name__)


def give_up_closed() -> None:
    """Give up the tables of sessions that no tab shows now."""
    manager = runtime.get_instance()._session_mgr
    shown = {info.session.id for info in manager.list_active_sessions()}
    given_up = False
    for info in manager.list_sessions():
        state = info.session.session_state
        held = state[KEY] if info.session.id not in shown and KEY in state else None
        if isinstance(held, Work):
            given_up |= held.give_up_tables()
    if given_up:
        pa.default_memory_pool().release_unused()


def _open_tabs() -> dict[str, list[Any]]:
    """What Streamlit knows of people's tabs, also of those closed a moment ago, by session key."""
    if not runtime.exists():
        return {}
    found = defaultdict(list)
    for tab in runtime.get_instance()._session_mgr.list_sessions():
        if tab.session._user_info.get("is_logged_in") is True:
            found[session_key(tab.session._user_info)].append(tab)
    return found


SIGN_OUT = "/auth/sign-out"


class SignIns:
    """ASGI middleware that begins a session where the sign-in provider has sent somebody back."""

    def __init__(
        self, app: ASGIApp, accounts: Callable[[], Accounts], settings: Settings, base_path: str = ""
    ) -> None:
        self.app = app
        self.accounts = accounts
        self.settings = settings
        self.callback = base_path + CALLBACK

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything through; without a session that could be begun, the cookie opens nothing."""

        async def send_on(message: Message) -> None:
            if message["type"] == "http.response.start":
                set_cookies = Headers(raw=message["headers"]).getlist("Set-Cookie")
                claims = just_signed_in(set_cookies, self.settings.origin)
                if claims is not None:
                    await run_in_threadpool(self._begin, claims, HTTPConnection(scope))
            await send(message)

        here = scope["type"] == "http" and scope["path"] == self.callback and self.settings.sign_in
        await self.app(scope, receive, send_on if here else send)

    def _begin(self, claims: Any, connection: HTTPConnection) -> None:
        try:
            self.accounts().sign_in(claims, browser=connection.headers.get("User-Agent", ""))
        except (AccessError, StoreError):
            return  # the page that they come to says why, or asks them to sign in again


def sign_out_route(accounts: Callable[[], Accounts], settings: Settings, base_path: str = "") -> Route:
    """`POST /auth/sign-out`: ends the session, closes its tabs, clears the cookie."""

    async def sign_out(request: Request) -> Response:
        if not _from_our_page(request, settings):
            return PlainTextResponse("Sign out on this server's own page.", HTTPStatus.FORBIDDEN)
        claims = claims_of(request.cookies, settings.origin)
        if claims is not None:
            try:
                await run_in_threadpool(accounts().sign_out, claims)
            except StoreError as error:
                return PlainTextResponse(str(error), HTTPStatus.SERVICE_UNAVAILABLE)
        closing = BackgroundTask(close_tabs, [] if claims is None else [session_key(claims)])
        next_page = await starlette_auth_routes._get_provider_logout_url(request) or f"{base_path}/"
        answer = HTMLResponse(_signed_out(next_page), background=closing)
        starlette_auth_routes._clear_auth_cookie(answer, request)
        return answer

    return Route(base_path + SIGN_OUT, sign_out, methods=["POST"])


def _from_our_page(request: Request, settings: Settings) -> bool:
    """Whether a page of this server sends the form; a browser says so in one of two ways.

    Pages here tell nobody where people come from, so that ``Origin`` is ``null`` even on our own forms.
    """
    if request.headers.get("Sec-Fetch-Site") is not None:
        return request.headers["Sec-Fetch-Site"] == "same-origin"
    return request.headers.get("Origin") == settings.origin


def _signed_out(next_page: str) -> str:
    """A page that leads on by itself: a form's answer may not redirect to the provider (form-action)."""
    address = escape(next_page, quote=True)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Signed out of GRASP</title>'
        '<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">'
        f'<meta http-equiv="refresh" content="0; url={address}"></head>'
        f'<body><main><h1>Signed out</h1><p><a href="{address}">Continue</a></p></main></body></html>'
    )
