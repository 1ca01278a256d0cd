"""Streamlit's sessions from inside: sign-in, sign-out, closed tabs, waiting uploads, accepted messages."""

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterator, Mapping
from contextlib import suppress
from functools import partial
from html import escape
from http import HTTPStatus
from typing import Any, cast

import pyarrow as pa
from google.protobuf.message import DecodeError
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketDisconnect
from streamlit import runtime
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.runtime.app_session import AppSessionState
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.state.session_state import Serialized
from streamlit.runtime.uploaded_file_manager import UploadedFile
from streamlit.web.server.starlette import starlette_auth_routes

from grasp_core.model.errors import AccessError, StoreError
from grasp_core.model.settings import Settings
from grasp_core.server import server
from grasp_core.server.accounts import Accounts, session_key
from grasp_core.server.gate import small_page
from pages._ui.helpers.identity import CALLBACK, claims_of, just_signed_in
from pages._ui.helpers.state import KEY, VisitorSession

log = logging.getLogger("grasp.sessions")

ENDED_SECONDS = 4.0
"""Seconds between two checks for sessions that have ended, here or at another server."""
CLOSED_SECONDS = 2.0
"""Seconds between two checks for closed tabs."""
REDRAW_SECONDS = 1.5
"""Seconds that a tab has to show its sign-in page before it is closed."""
POLICY_VIOLATION = 1008


async def _for_ever(seconds: float, look: Callable[[], Awaitable[None] | None], failed: str) -> None:
    while True:
        await asyncio.sleep(seconds)
        try:
            looking = look()
            if looking is not None:
                await looking
        except StoreError as error:
            log.warning("%s: %s", failed, error)
        except Exception as error:  # from Streamlit's private parts
            log.error("%s: %s", failed, type(error).__name__)


def close_ended(accounts: Callable[[], Accounts]) -> Coroutine[Any, Any, None]:
    """Return a coroutine that closes, again and again, the tabs whose session has ended."""

    async def look() -> None:
        open_keys = set(_open_tabs())
        if open_keys:
            going_on = run_in_threadpool(lambda keys: accounts().sessions.going_on(keys), open_keys)
            await close_tabs(open_keys - await going_on)

    return _for_ever(ENDED_SECONDS, look, "not looked which sessions have ended")  # each request still checks


async def close_tabs(keys: Collection[str]) -> None:
    """Close the tabs of these sessions, and drop their files, answers and choices.

    Each is redrawn first and then asks to sign in, because a reconnecting browser keeps the last page shown.
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
            with suppress(RuntimeError, WebSocketDisconnect):  # it was closed or left at the same moment
                await tab.client._websocket.close(POLICY_VIOLATION)


def give_up_tables() -> Coroutine[Any, Any, None]:
    """Return a coroutine that drops, again and again, the tables of sessions that no tab shows."""
    return _for_ever(CLOSED_SECONDS, give_up_closed, "closed tabs were not looked at")


def give_up_closed() -> None:
    """Drop the tables of sessions that no tab shows now."""
    manager = runtime.get_instance()._session_mgr
    shown = {info.session.id for info in manager.list_active_sessions()}
    given_up = False
    for info in manager.list_sessions():
        state = info.session.session_state
        held = state[KEY] if info.session.id not in shown and KEY in state else None
        if isinstance(held, VisitorSession):
            given_up |= held.give_up_tables()
    if given_up:
        pa.default_memory_pool().release_unused()


def _open_tabs() -> dict[str, list[Any]]:
    """Return Streamlit's records of signed-in tabs by session key, including tabs closed a moment ago."""
    if not runtime.exists():
        return {}
    found = defaultdict(list)
    for tab in runtime.get_instance()._session_mgr.list_sessions():
        if tab.session._user_info.get("is_logged_in") is True:
            found[session_key(tab.session._user_info)].append(tab)
    return found


SIGN_OUT = "/auth/sign-out"


class SignIns:
    """ASGI middleware that begins a session when the sign-in provider has sent somebody back."""

    def __init__(
        self, app: ASGIApp, accounts: Callable[[], Accounts], settings: Settings, base_path: str = ""
    ) -> None:
        self.app = app
        self.accounts = accounts
        self.settings = settings
        self.callback = base_path + CALLBACK

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything on; if no session could be begun, the sign-in cookie gives no access."""

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
            return  # the next page says why, or asks them to sign in again


def sign_out_route(accounts: Callable[[], Accounts], settings: Settings, base_path: str = "") -> Route:
    """`POST /auth/sign-out`: ends the session, closes its tabs and clears the cookie."""

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
        # The response to a form may not redirect to the provider (form-action).
        there = escape(next_page, quote=True)
        page = ("Signed out of GRASP", "Signed out", f'<a href="{there}">Continue</a>', f"0; url={there}")
        answer = HTMLResponse(small_page(*page), background=closing)
        starlette_auth_routes._clear_auth_cookie(answer, request)
        return answer

    return Route(base_path + SIGN_OUT, sign_out, methods=["POST"])


def _from_our_page(request: Request, settings: Settings) -> bool:
    """Return whether our page sent a form; ``Origin`` is ``null`` even then, as pages send no referrer."""
    if request.headers.get("Sec-Fetch-Site") is not None:
        return request.headers["Sec-Fetch-Site"] == "same-origin"
    return request.headers.get("Origin") == settings.origin


LOOK_SECONDS = 5.0
"""Seconds between two checks of waiting uploads."""
UNUSED_SECONDS = 40.0
"""Seconds that an upload may stay before a widget takes it, or after the widget has dropped it."""

_BUSY = AppSessionState.APP_IS_RUNNING
"""State of a session whose script runs: the files that it takes meanwhile are seen when it ends."""
_File = tuple[str, str]
"""Ids of session and file."""


def waiting_bytes() -> Mapping[str, int]:
    """Return the bytes of uploads in memory, by session."""
    manager = _manager()
    with manager._lock:
        return {
            session: sum(len(file.data) for file in files.values())
            for session, files in manager.file_storage.items()
            if files
        }


def whose(session: str) -> str | None:
    """Return the id of the person signed in at a session's tab; None if there is none."""
    found = runtime.get_instance()._session_mgr.get_session_info(session)
    claims = {} if found is None else found.session._user_info
    if claims.get("is_logged_in") is not True:
        return None
    try:
        user = server.shared().accounts.user(claims, seen=False)
    except AccessError:
        return None
    return None if user is None else user.id


def let_go(upload: UploadedFile) -> None:
    """Drop a file that this session uploaded: it is stored elsewhere now."""
    context = get_script_run_ctx()
    manager = None if context is None else context.uploaded_file_mgr
    if context is not None and isinstance(manager, MemoryUploadedFileManager):
        manager.remove_file(context.session_id, upload.file_id)


def drop_unused(arriving: Callable[[str], bool]) -> Coroutine[Any, Any, None]:
    """Return a coroutine that drops, again and again, uploads that no widget takes."""
    needed: dict[_File, float] = {}
    look = partial(_drop_old, needed, arriving)
    return _for_ever(LOOK_SECONDS, look, "what waits was not looked at")  # their total size is still bounded


def _drop_old(needed: dict[_File, float], arriving: Callable[[str], bool]) -> None:
    """Drop uploads that nothing has needed for `UNUSED_SECONDS`."""
    manager, now = _manager(), time.monotonic()
    with manager._lock:
        there = [(session, file) for session, files in manager.file_storage.items() for file in files]
    sessions = {info.session.id: info.session for info in runtime.get_instance()._session_mgr.list_sessions()}
    in_use = {name for name, session in sessions.items() if arriving(name) or session._state == _BUSY}
    taken = {(name, file) for name, session in sessions.items() for file in _taken_up(session)}
    for file in needed.keys() - there:
        del needed[file]
    new = {session for session, file in there if (session, file) not in needed}
    for file in there:
        if file in taken or file[0] in in_use or file[0] in new:
            needed[file] = now
        elif now - needed[file] >= UNUSED_SECONDS:
            manager.remove_file(*file)
            del needed[file]


def _taken_up(session: Any) -> Iterator[str]:
    """Yield ids of files in the session's widgets, as the browser sent them or a script read them."""
    state = session.session_state
    for known in list(state._new_widget_state.states.values()):  # a copy: a script's thread may change it
        if isinstance(known, Serialized):
            for file in known.value.file_uploader_state_value.uploaded_file_info:
                yield file.file_id
        else:
            yield from _held(known.value)
    for value in list(state._old_state.values()):
        yield from _held(value)


def _held(value: object) -> Iterator[str]:
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, UploadedFile):
            yield one.file_id


def _manager() -> MemoryUploadedFileManager:
    return cast(MemoryUploadedFileManager, runtime.get_instance().uploaded_file_mgr)


ANSWERED = frozenset({"rerun_script", "stop_script", "app_heartbeat", "file_urls_request"})
"""Accepted types; refused: clearing every visitor's caches, the repository's state, watching the code."""
OPERATIONS = frozenset({"deferred_file", "dataframe_chunk"})
"""Operations that are accepted; refused is writing files, which Streamlit offers to developers."""


SMALL = 2**16
"""Largest message in bytes, apart from those that report values of a page's widgets.

Larger ones are not parsed: a few megabytes of hostile bytes would take hundreds in memory.
"""
_RERUN = BackMsg.RERUN_SCRIPT_FIELD_NUMBER << 3 | 2


class Messages:
    """ASGI middleware that drops messages that our pages never send."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything else through."""

        async def receive_answered() -> Message:
            while True:
                message = await receive()
                if message["type"] != "websocket.receive" or _is_answered(message.get("bytes")):
                    return message

        await self.app(scope, receive_answered if scope["type"] == "websocket" else receive, send)


def _is_answered(content: bytes | None) -> bool:
    if content is not None and len(content) > SMALL:
        return _is_one_rerun(content)
    try:
        said = BackMsg.FromString(content or b"")
    except DecodeError:  # Streamlit closes the connection
        return True
    kind = said.WhichOneof("type")
    if kind == "backend_operation_request":
        return said.backend_operation_request.WhichOneof("payload") in OPERATIONS
    return kind is None or kind in ANSWERED


def _is_one_rerun(content: bytes) -> bool:
    """Return whether a message is one rerun field only: its tag, its length, and nothing after it."""
    size, at = 0, 1
    for at in range(1, 6):
        size |= (content[at] & 0x7F) << 7 * (at - 1)
        if content[at] < 0x80:
            break
    return content[0] == _RERUN and at + 1 + size == len(content)
