"""The web server: Streamlit's pages, the JSON API, and the middleware in front of both."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import anyio.to_thread
import streamlit as st
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from streamlit import config

from grasp_core.model.errors import SettingsError
from grasp_core.model.logs import set_up_logs
from grasp_core.model.settings import Settings, read_settings
from grasp_core.model.turns import most_held
from grasp_core.reading.sources.allowed import AllowedSources
from grasp_core.server import server
from grasp_core.server.accounts import Accounts
from grasp_core.server.api.app import mount
from grasp_core.server.gate import (
    Gate,
    TabGate,
    UploadGate,
    UploadLedger,
    bound_heads,
    bound_shutdown,
    send_at_once,
)
from grasp_core.server.headers import Headers, Metrics, ReturnToPage, security_headers
from grasp_core.server.identity import BROWSER, BROWSER_HOURS, Visits
from grasp_core.store.database import database_url
from pages._ui.helpers import sessions
from pages._ui.helpers.identity import secrets, sender
from pages._ui.helpers.page_frame import show_error, warm
from pages._ui.helpers.screens import SCREENS
from pages._ui.helpers.sessions import Messages, SignIns, sign_out_route

log = logging.getLogger("grasp.app")

TURN_SECONDS = 0.002
"""Seconds that a drawing thread may run before others get a turn, such as the thread that sends the page.

Python's default of 5 ms is long beside a page's 50. At a tenth of it, threads that draw side by side are
stopped so often while they hold a lock that all of them wait.
"""


def checked_settings(base_path: str) -> Settings:
    """Read and check all settings. If they cannot be used, the process ends with one sentence."""
    try:
        settings = read_settings()
        database_url(settings)
        AllowedSources(settings.data_dir, settings.data_urls)
        if settings.sign_in and settings.base_path != base_path:
            raise SettingsError(
                f"sign-in needs the same path in GRASP_PUBLIC_URL ({settings.base_path or '/'}) and in "
                f"STREAMLIT_SERVER_BASE_URL_PATH ({base_path or '/'})"
            )
    except SettingsError as error:
        sys.exit(f"grasp: {error}")
    return settings


@asynccontextmanager
async def lifespan(_app: st.App) -> AsyncIterator[None]:
    """Warm up while the first visitor reads the first page; at shutdown, hand running work back."""
    set_up_logs(SETTINGS.log_format)
    send_at_once()
    sys.setswitchinterval(TURN_SECONDS)
    anyio.to_thread.current_default_thread_limiter().total_tokens += most_held()
    if SETTINGS.allow_anonymous:
        log.warning("GRASP_ALLOW_ANONYMOUS: whoever can reach this server sees and deletes everything")
    warming = asyncio.get_running_loop().run_in_executor(None, warm)
    beside = [sessions.drop_unused(uploads.is_arriving), sessions.give_up_tables()]
    if SETTINGS.sign_in:
        beside.append(sessions.close_ended(accounts))
    looking = [asyncio.create_task(one) for one in beside]
    try:
        yield
    finally:
        for task in looking:
            task.cancel()
        await warming
        server.shared().close()


def accounts() -> Accounts:
    """Accounts of the shared server: who signs in, and their rights."""
    return server.shared().accounts


def robots(_request: object) -> PlainTextResponse:
    """Ask search engines to stay out."""
    return PlainTextResponse("User-agent: *\nDisallow: /\n")


_path = config.get_option("server.baseUrlPath").strip("/")
BASE_PATH = f"/{_path}" if _path else ""
SETTINGS = checked_settings(BASE_PATH)
if SETTINGS.sign_in:  # it signs sessions too, so that a sign-in may begin at one server and end at another
    config.set_option("server.cookieSecret", SETTINGS.cookie_secret)
identify = partial(sender, settings=SETTINGS)
START_PAGE = (Path(st.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
HEADERS = security_headers(START_PAGE, https=SETTINGS.https)
PAGES = frozenset({"/", *(screen.path for screen in SCREENS)})
OPEN_PAGES = frozenset(screen.path for screen in SCREENS if screen.audience == "everybody")
metrics = Metrics(server.shared)
LARGEST = int(config.get_option("server.maxUploadSize")) * 2**20
uploads = UploadLedger(sessions.waiting_bytes, LARGEST, sessions.whose if SETTINGS.sign_in else None)

bound_heads()
bound_shutdown()
app = st.App(
    "pages/main.py",
    secrets=secrets(SETTINGS),
    lifespan=lifespan,
    routes=[
        mount(server.shared, identify, uploads, BASE_PATH),
        metrics.route(BASE_PATH),
        sign_out_route(accounts, SETTINGS, BASE_PATH),
        Route(f"{BASE_PATH}/robots.txt", robots),
    ],
    middleware=[
        Middleware(Headers, HEADERS, https=SETTINGS.https, count=metrics.count, base_path=BASE_PATH),
        Middleware(Gate, SETTINGS, identify, BASE_PATH),
        Middleware(UploadGate, uploads, server.shared, identify, BASE_PATH),
        Middleware(TabGate, server.shared, identify, PAGES, BASE_PATH),
        Middleware(Messages),
        Middleware(SignIns, accounts, SETTINGS, BASE_PATH),
        Middleware(ReturnToPage, identify, BASE_PATH, OPEN_PAGES),
        Middleware(Visits, BASE_PATH, OPEN_PAGES),
        *([] if SETTINGS.sign_in else [Middleware(Visits, BASE_PATH, PAGES, BROWSER, BROWSER_HOURS)]),
    ],
    on_script_error=show_error,
)
