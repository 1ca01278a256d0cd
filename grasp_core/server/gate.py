"""Admission of connections, tabs and uploads, limited by rates and by room in memory."""

import os
import socket
import stat
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from html import escape
from http import HTTPStatus
from ipaddress import ip_address
from urllib.parse import urlsplit

import uvicorn
from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.status import HTTP_431_REQUEST_HEADER_FIELDS_TOO_LARGE
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketClose
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from grasp_core.model import turns
from grasp_core.model.access import User
from grasp_core.model.errors import StoreError, TooOftenError
from grasp_core.model.settings import Settings
from grasp_core.server.identity import Identify, asker, same_origin
from grasp_core.server.problem import ProblemError, again_after, problem_of
from grasp_core.server.server import Server

MOST_BYTES = 64 * 1024
"""Most bytes of a request's head: as many as proxies allow, and enough for all cookies of a site."""
_REFUSED = (
    f"HTTP/1.1 {HTTP_431_REQUEST_HEADER_FIELDS_TOO_LARGE} Request Header Fields Too Large\r\n"
    "content-length: 0\r\nconnection: close\r\n\r\n"
).encode("ascii")
_IN_HEAD, _CAME = "_grasp_in_head", "_grasp_came"


def send_at_once() -> None:
    """Set ``TCP_NODELAY`` on this process's listening sockets, and so on connections that they accept."""
    for name in os.listdir("/dev/fd"):
        number = int(name)
        try:
            if not stat.S_ISSOCK(os.fstat(number).st_mode):
                continue
            with socket.socket(fileno=os.dup(number)) as found:
                listens = found.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
                if found.family in (socket.AF_INET, socket.AF_INET6) and listens:
                    found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError:  # closed meanwhile, like the descriptor of the folder itself
            continue


def bound_heads() -> None:
    """Make new connections refuse heads above :data:`MOST_BYTES`; the protocol's class is chosen by now."""
    begin, end, receive = (
        HttpToolsProtocol.on_message_begin,
        HttpToolsProtocol.on_headers_complete,
        HttpToolsProtocol.data_received,
    )

    def on_message_begin(self: HttpToolsProtocol) -> None:
        setattr(self, _IN_HEAD, True)
        begin(self)

    def on_headers_complete(self: HttpToolsProtocol) -> None:
        setattr(self, _IN_HEAD, False)
        end(self)

    def data_received(self: HttpToolsProtocol, data: bytes) -> None:
        receive(self, data)
        came = getattr(self, _CAME, 0) + len(data) if getattr(self, _IN_HEAD, False) else 0
        setattr(self, _CAME, came)
        if came > MOST_BYTES:
            self.transport.write(_REFUSED)
            self.transport.close()

    HttpToolsProtocol.on_message_begin = on_message_begin  # type: ignore[method-assign]
    HttpToolsProtocol.on_headers_complete = on_headers_complete  # type: ignore[method-assign]
    HttpToolsProtocol.data_received = data_received  # type: ignore[method-assign]


ENDING_SECONDS = 10
"""Seconds that requests have to end once the server is told to; running work is handed back after that."""


def bound_shutdown() -> None:
    """Make the web server end within a bound, whatever requests are under way.

    By default it waits for all of them: for uploads that never end, and for people who wait for a turn.
    """
    shut_down = uvicorn.Server.shutdown

    async def shutdown(self: uvicorn.Server, sockets: list[socket.socket] | None = None) -> None:
        self.config.timeout_graceful_shutdown = ENDING_SECONDS
        turns.end()
        await shut_down(self, sockets)

    uvicorn.Server.shutdown = shutdown  # type: ignore[method-assign]


LOCAL_ONLY = (
    "This server has no sign-in and so answers only on its own machine, at http://localhost; set up sign-in, "
    "or set GRASP_ALLOW_ANONYMOUS=1 if everybody who can reach it may see and delete everything."
)
POLICY_VIOLATION = 1008
_CLOSED = ("/_stcore/metrics", "/_stcore/agent", "/auth/logout")
"""Closed paths: Streamlit's own metrics and remote control, and its sign-out, which any link could call."""
_HEALTH = "/_stcore/health"  # a proxy that checks this path passes the sentence on, not "no answer"
UPLOADS = "/_stcore/upload_file"
"""Path below which Streamlit takes files: SESSION/FILE."""
_LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
_PROXIED = ("forwarded", "x-forwarded-", "x-real-ip", "via")


@dataclass(eq=False)
class Gate:
    """ASGI middleware that refuses requests that must not reach the pages or the API.

    These are connections from another site's page, Streamlit's own paths beside the pages and, with sign-in,
    uploads by viewers; without sign-in, all requests from elsewhere, unless the settings allow them.
    """

    app: ASGIApp
    settings: Settings
    identify: Identify
    base_path: str = ""

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
            await refused.response(self.base_path)(scope, receive, send)
        else:
            answer = PlainTextResponse(refused.detail, int(refused.status), refused.headers)
            await answer(scope, receive, send)

    async def _refused(self, connection: HTTPConnection) -> ProblemError | None:
        try:  # another host name that leads here may be an attack
            named = urlsplit(f"//{connection.headers.get('Host', '')}").hostname
        except ValueError:
            named = None
        local = is_local(connection) and named in _LOOPBACK_NAMES
        if self.settings.own_machine and not local and not self._below(connection, _HEALTH):
            return ProblemError("forbidden", LOCAL_ONLY)
        if connection.scope["type"] == "websocket" and not same_origin(connection, self.settings):
            return ProblemError("forbidden", "Open GRASP under its own address.")
        if any(self._below(connection, path) for path in _CLOSED):
            return ProblemError("not-found", "Not found.")
        if self._below(connection, UPLOADS):
            try:
                user = await who(self.identify, connection)
            except StoreError as error:
                return problem_of(error)
            if user is None:
                return ProblemError("sign-in", "Sign in first.")
            if not user.may_run:
                return ProblemError("forbidden", "Viewers may not upload.")
        return None

    def _below(self, connection: HTTPConnection, path: str) -> bool:
        asked: str = connection.scope["path"]  # not connection.url, which depends on the Host header
        return asked == self.base_path + path or asked.startswith(f"{self.base_path}{path}/")


async def who(identify: Identify, connection: HTTPConnection) -> User | None:
    """Return the user who makes a request, found in a thread; raises StoreError without the database."""
    return await run_in_threadpool(identify, connection)


def is_local(connection: HTTPConnection) -> bool:
    """Return whether a request comes from this machine, and not through a proxy on it."""
    if connection.client is None or any(name.startswith(_PROXIED) for name in connection.headers):
        return False
    try:
        return ip_address(connection.client.host).is_loopback
    except ValueError:
        return False


TRY_AGAIN_LATER = 1013


@dataclass(eq=False)
class TabGate:
    """ASGI middleware that counts websockets, each of which is a tab, and refuses too many.

    A page that could not open one is refused too, with a sentence and the time after which it tries again.
    """

    app: ASGIApp
    server: Callable[[], Server]
    identify: Identify
    pages: frozenset[str]
    base_path: str = ""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        page = scope["type"] == "http" and scope["method"] == "GET"
        page = page and scope["path"] in {self.base_path + one for one in self.pages}
        if not page and scope["type"] != "websocket":
            await self.app(scope, receive, send)
            return
        try:
            rates = (await run_in_threadpool(self.server)).rates
        except StoreError:  # the page itself reports it
            await self.app(scope, receive, send)
            return
        connection = HTTPConnection(scope)
        try:
            user = await who(self.identify, connection)
        except StoreError:
            user = None
        asking = asker(connection, user)
        try:
            rates.before_tab(asking)
            with nullcontext() if page else rates.tab(asking):
                await self.app(scope, receive, send)
        except TooOftenError as error:
            if scope["type"] == "http":
                await _page(error)(scope, receive, send)
            elif "websocket.http.response" in scope.get("extensions", {}):
                await WebSocket(scope, receive, send).send_denial_response(_page(error))
            else:
                await WebSocketClose(TRY_AGAIN_LATER, str(error))(scope, receive, send)


def _page(error: TooOftenError) -> Response:
    """Return a page with one sentence, which reloads itself."""
    page = small_page("GRASP: too many tabs", "One moment", escape(str(error)), str(error.seconds))
    told = {"Retry-After": str(error.seconds), "Cache-Control": "no-store"}
    return HTMLResponse(page, HTTPStatus.TOO_MANY_REQUESTS, told)


def small_page(title: str, heading: str, body: str, refresh: str) -> str:
    """Return a page that reloads itself: `body` is HTML, `refresh` the seconds and, if needed, an address."""
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        '<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">'
        f'<meta http-equiv="refresh" content="{refresh}"></head>'
        f"<body><main><h1>{heading}</h1><p>{body}</p></main></body></html>"
    )


FOR_ONE = 1.5
"""Most bytes of one person's uploads in memory, in multiples of the largest upload."""
FOR_ALL = 3.0
"""Most bytes of everybody's uploads in memory, in multiples of the largest upload."""
AGAIN_SECONDS = 20
"""Seconds after which to try again if there is no room; waiting uploads are mostly read within seconds."""
Arrived = Callable[[int], None]
"""Takes the number of bytes that have arrived; raises ProblemError if there is no room for them."""


class UploadLedger:
    """Account of uploads that arrive or wait in memory, by browser session and person.

    `waiting`: returns the bytes that wait in memory, by session.
    `whose`: returns the person who has a session's tab open, or None; by default all tabs are everybody's.
    """

    def __init__(
        self,
        waiting: Callable[[], Mapping[str, int]],
        largest: int,
        whose: Callable[[str], str | None] | None = None,
    ) -> None:
        self._waiting = waiting
        self.largest = largest
        self.whose = whose
        self._owners: dict[str, str] = {}
        self._arriving: Counter[str] = Counter()
        self._under_way: Counter[str] = Counter()

    def is_arriving(self, session: str) -> bool:
        """Return whether an upload of the session is arriving."""
        return session in self._under_way

    @contextmanager
    def admitted(self, session: str, owner: str, size: int, *, quota: int) -> Iterator[Arrived]:
        """Count an upload of a stated size while it arrives; the person may still have `quota` bytes.

        Raises ProblemError if there is no room for it, with the time to try again if there may be room then.
        """
        if size > quota:
            more = "Your files would take more room than you have here; delete some on Data."
            raise ProblemError("too-large", more)
        if size > FOR_ONE * self.largest:
            raise ProblemError("too-large", f"Files of {self.largest / 2**20:,.0f} MiB at most are taken.")
        self._check_room(owner, size, quota)
        self._owners[session] = owner
        self._under_way[session] += 1
        mine = 0

        def arrived(count: int) -> None:
            nonlocal mine
            mine += count
            self._arriving[session] += count
            self._check_room(owner, 0, quota)

        try:
            yield arrived
        finally:
            self._arriving[session] -= mine
            self._under_way[session] -= 1
            if not self._under_way[session]:
                del self._under_way[session], self._arriving[session]

    def _check_room(self, owner: str, size: int, quota: int) -> None:
        """Raise a ProblemError if there is no room for so many more bytes now."""
        held = self._held()
        mine = sum(held[other] for other, whose in self._owners.items() if whose == owner)
        if mine + size > min(quota, FOR_ONE * self.largest):
            raise _not_now("Other uploads of yours wait here")
        if sum(held.values()) + size > FOR_ALL * self.largest:
            raise _not_now("Too many uploads wait in this server's memory")

    def _held(self) -> Counter[str]:
        """Count the bytes of each session, arrived and waiting; forget owners of sessions without any."""
        held = Counter(self._waiting())
        held.update(self._arriving)
        known = held.keys() | self._under_way.keys()
        self._owners = {session: owner for session, owner in self._owners.items() if session in known}
        return held


@dataclass(eq=False)
class UploadGate:
    """ASGI middleware that admits an upload if there is room, of a person whom :class:`Gate` has admitted."""

    app: ASGIApp
    ledger: UploadLedger
    server: Callable[[], Server]
    identify: Identify
    base_path: str = ""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it in one sentence."""
        below = f"{self.base_path}{UPLOADS}/"
        changes = scope["type"] == "http" and scope["method"] in ("PUT", "DELETE")
        if not changes or not scope["path"].startswith(below):
            await self.app(scope, receive, send)
            return
        connection = HTTPConnection(scope)
        session = scope["path"].removeprefix(below).partition("/")[0]
        try:
            user = await who(self.identify, connection)
            whose = self.ledger.whose  # a tab's id is no secret: it may be somebody else's
            if whose is not None and (user is None or await run_in_threadpool(whose, session) != user.id):
                raise ProblemError("forbidden", "This tab is not yours; load the page anew.")
            if scope["method"] == "DELETE":
                await self.app(scope, receive, send)
                return
            self.server().rates.upload(asker(connection, user))
            quota = await run_in_threadpool(room, self.server(), user)
            owner = "" if user is None else user.id
            size = stated_size(connection, self.ledger.largest)
            with self.ledger.admitted(session, owner, size, quota=quota) as arrived:

                async def counted() -> Message:
                    message = await receive()
                    arrived(len(message.get("body", b"")))
                    return message

                await self.app(scope, counted, send)
        except (ProblemError, TooOftenError, StoreError) as error:
            await problem_of(error).response(self.base_path)(scope, receive, send)


def room(server: Server, user: User | None) -> int:
    """Return the number of bytes that the person may still store here."""
    return server.settings.file_quota_mb * 2**20 - (0 if user is None else server.files.used(user.id))


def stated_size(connection: HTTPConnection, largest: int) -> int:
    """Return the size that an upload states, else the largest size, at which the upload is then cut off."""
    said = connection.headers.get("Content-Length", "")
    return int(said) if said.isascii() and said.isdigit() else largest


def _not_now(sentence: str) -> ProblemError:
    return ProblemError(
        "unavailable", f"{sentence}; try again in {AGAIN_SECONDS} seconds.", again_after(AGAIN_SECONDS)
    )
