"""Where sessions begin and end: what the sign-in provider sends back, and `POST /auth/sign-out`."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from http import HTTPStatus
from typing import Any

from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from grasp_core.accounts import Accounts, session_key
from grasp_core.errors import AccessError, StoreError
from grasp_core.settings import Settings
from pages._ui.session.cookie import CALLBACK, claims_of, clear, just_signed_in, provider_sign_out
from pages._ui.session.ended import close_tabs

SIGN_OUT = "/auth/sign-out"


class SignIns:
    """ASGI middleware that begins a session where the sign-in provider has sent somebody back.

    Parameters
    ----------
    app : ASGI application
    accounts : callable
        Returns the accounts of the process's server.
    settings : Settings
    base_path : str
    """

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
    """`POST /auth/sign-out`: ends the session, closes its tabs, clears the cookie.

    Parameters
    ----------
    accounts : callable
        Returns the accounts of the process's server.
    settings : Settings
    base_path : str
    """

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
        next_page = await provider_sign_out(request) or f"{base_path}/"
        answer = HTMLResponse(_signed_out(next_page), background=closing)
        clear(answer, request)
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
