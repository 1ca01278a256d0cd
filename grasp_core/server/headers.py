"""Headers of every response, the return to a page after a sign-in, and `GET /metrics`: counts, no data."""

import base64
import hashlib
import hmac
import re
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass
from urllib.parse import quote, unquote

import prometheus_client
from prometheus_client import CollectorRegistry, Counter, PlatformCollector, ProcessCollector
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from grasp_core.model.errors import StoreError, TooOftenError
from grasp_core.server.gate import is_local, who
from grasp_core.server.identity import Identify, add_cookie, asker
from grasp_core.server.problem import ProblemError, problem_of
from grasp_core.server.server import Server

_HSTS = f"max-age={365 * 86400}"
_XSRF = b"_streamlit_xsrf="


def security_headers(start_page: str, *, https: bool) -> dict[str, str]:
    """Return the headers of every response; the policy admits Streamlit's own files and nothing else.

    The start page has one inline script, admitted by its hash. Components set inline styles, and Vega draws
    without ``unsafe-eval``. With `https`, browsers never use plain HTTP here again.
    """
    scripts = re.findall(r"<script>(.*?)</script>", start_page, flags=re.DOTALL)
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    policy = {
        "default-src": "'self'",
        "script-src": " ".join(["'self'", *(f"'sha256-{digest}'" for digest in hashes)]),
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "connect-src": "'self'",
        "worker-src": "'self' blob:",
        "object-src": "'none'",
        "base-uri": "'self'",
        "form-action": "'self'",
        "frame-ancestors": "'self'",
    }
    headers = {
        "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in policy.items()),
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "SAMEORIGIN",
        "Cross-Origin-Opener-Policy": "same-origin",  # the sign-in provider's page is not a window of ours
        "Referrer-Policy": "no-referrer",  # addresses of shared results are keys
        "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
        "X-Robots-Tag": "noindex, nofollow",
    }
    return {**headers, "Strict-Transport-Security": _HSTS} if https else headers


@dataclass(eq=False)
class Headers:
    """ASGI middleware that adds headers to every HTTP response, counts it and corrects its cookies.

    The proxy compresses, not this process: Streamlit would, in up to 40 threads at once, which take the cores
    from those that draw pages. Browsers get Streamlit's own token against forged requests for `base_path` and
    no other path here.
    """

    app: ASGIApp
    headers: dict[str, str]
    _: KW_ONLY
    https: bool
    count: Callable[[int], None]
    base_path: str = ""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything through, with the headers on each response's start."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                self.count(message["status"])
                headers = MutableHeaders(scope=message)
                headers.update(self.headers)
                # Also if the header is missing, as for downloads: a proxy or browser would keep them.
                if headers.get("Content-Type", "").startswith("text/html") or "Cache-Control" not in headers:
                    headers["Cache-Control"] = "no-store"
                host = next((value for name, value in scope["headers"] if name == b"host"), b"")
                here = f"{scope.get('scheme', 'http')}://".encode() + host
                message["headers"] = [self._mended(name, value, here) for name, value in message["headers"]]
            await send(message)

        if scope["type"] == "http":
            plain = [(name, value) for name, value in scope["headers"] if name != b"accept-encoding"]
            await self.app({**scope, "headers": plain}, receive, send_with_headers)
        else:
            await self.app(scope, receive, send)

    def _mended(self, name: bytes, value: bytes, here: bytes) -> tuple[bytes, bytes]:
        """Return a header; a cookie is limited to https and to the path below which all pages are.

        A redirect to this server omits the host: a request may claim any host, and proxies would keep it.
        """
        if name.lower() == b"location" and value.startswith(here + b"/"):
            return name, b"/" + value.removeprefix(here).lstrip(b"/")
        if name.lower() != b"set-cookie":
            return name, value
        if self.base_path and value.startswith(_XSRF):
            value = value.replace(b"Path=/;", f"Path={self.base_path};".encode())
        if self.https and b"; secure" not in value.lower():
            value += b"; Secure"
        return name, value


COOKIE = "grasp_way_back"
SECONDS = 3600
_CALLBACK = "/oauth2callback"
_PAGE = re.compile(r"/[\w-]{1,64}(\?[\w.~!$&'()*+,;=:@%/?-]{0,1500})?", re.ASCII)
"""Pattern of a page and its query, which cannot lead to another server."""


@dataclass(eq=False)
class ReturnToPage:
    """ASGI middleware that returns people to the page that they asked for before they had to sign in.

    Streamlit returns everybody to the start page. Pages not open to all wait in a cookie hidden from scripts.
    """

    app: ASGIApp
    identify: Identify
    base_path: str = ""
    open_pages: frozenset[str] = frozenset()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything through; change cookies, and the redirect after the sign-in."""
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
                        add_cookie(headers, COOKIE, None, 0, self.base_path)
                elif headers.get("Content-Type", "").startswith("text/html"):
                    query = scope["query_string"].decode("latin-1")
                    wanted = _page(f"{path}?{query}" if query else path)
                    if await stranger() and (wanted or COOKIE in connection.cookies):
                        kept = None if wanted is None else quote(wanted, safe="")
                        add_cookie(headers, COOKIE, kept, SECONDS, self.base_path)
            await send(message)

        async def stranger() -> bool:
            """Return whether the page is not open to all, and its visitor has not signed in."""
            try:
                return path not in self.open_pages and await who(self.identify, connection) is None
            except StoreError:  # the page itself reports it
                return False

        await self.app(scope, receive, send_on)


def _page(text: str) -> str | None:
    return text if _PAGE.fullmatch(text) else None


class Metrics:
    """Counts of one server process."""

    def __init__(self, server: Callable[[], Server]) -> None:
        self._server = server
        self._registry = CollectorRegistry()
        self._responses = Counter(
            "grasp_http_responses", "HTTP responses, by status", ["status"], registry=self._registry
        )
        ProcessCollector(registry=self._registry)
        PlatformCollector(registry=self._registry)
        self._registry.register(_Runs(server))

    def count(self, status: int) -> None:
        """Count a response."""
        self._responses.labels(str(status)).inc()

    def route(self, base_path: str = "") -> Route:
        """Return the route; without a token in the settings, it answers only this machine."""

        def metrics(request: Request) -> Response:
            server, asking = self._server(), asker(request, None)
            token, brought = server.settings.metrics_token, request.headers.get("Authorization", "")
            try:
                server.rates.before_guess(asking)
                given = brought.removeprefix("Bearer ").encode()
                if not (hmac.compare_digest(given, token.encode()) if token else is_local(request)):
                    server.rates.guess(asking, brought)
                    raise ProblemError("sign-in", "Bring the metrics token.")
            except (ProblemError, TooOftenError) as error:
                return problem_of(error).response(base_path)
            return Response(
                prometheus_client.generate_latest(self._registry),
                media_type=prometheus_client.CONTENT_TYPE_LATEST,
            )

        return Route(f"{base_path}/metrics", metrics)


class _Runs(Collector):
    def __init__(self, server: Callable[[], Server]) -> None:
        self._server = server

    def describe(self) -> Iterator[GaugeMetricFamily]:
        yield GaugeMetricFamily("grasp_runs", "Saved runs, by state", labels=["state"])

    def collect(self) -> Iterator[GaugeMetricFamily]:
        family = next(self.describe())
        reachable = 1
        try:
            self._server().check()
            for state, count in self._server().runs.counts().items():
                family.add_metric([state], count)
        except StoreError:
            reachable = 0
        yield family
        yield GaugeMetricFamily("grasp_store_up", "Whether the database answers", value=reachable)
        computes = self._server().service.computes
        yield GaugeMetricFamily("grasp_computing_up", "Whether this server computes runs", value=computes)
