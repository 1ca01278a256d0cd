"""`GET /metrics` for Prometheus: counts only, nothing of anybody's data."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterator
from http import HTTPStatus
from ipaddress import ip_address

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from grasp_core.errors import StoreError
from grasp_core.server import Server
from grasp_core.web.problem import ProblemError

REGISTRY = CollectorRegistry()
PERMUTATIONS = Counter("grasp_permutations", "Permutations computed by this process", registry=REGISTRY)
REQUESTS = Counter("grasp_http_requests", "HTTP requests answered, by status", ["status"], registry=REGISTRY)


def route(server: Callable[[], Server]) -> Route:
    """The route; without a token in the settings it answers this machine only."""
    ProcessCollector(registry=REGISTRY)
    PlatformCollector(registry=REGISTRY)
    REGISTRY.register(_Runs(server))

    def metrics(request: Request) -> Response:
        if not _allowed(request, server().settings.metrics_token):
            return ProblemError(HTTPStatus.UNAUTHORIZED, "Bring the metrics token.").response()
        return Response(generate_latest(REGISTRY), media_type=CONTENT_TYPE_LATEST)

    return Route("/metrics", metrics)


class _Runs(Collector):
    def __init__(self, server: Callable[[], Server]) -> None:
        self._server = server

    def describe(self) -> Iterator[GaugeMetricFamily]:
        yield GaugeMetricFamily("grasp_runs", "Saved runs, by state", labels=["state"])

    def collect(self) -> Iterator[GaugeMetricFamily]:
        family = next(self.describe())
        reachable = GaugeMetricFamily("grasp_store_up", "Whether the database answers", value=1)
        try:
            for state, count in self._server().runs.counts().items():
                family.add_metric([state], count)
        except StoreError:
            reachable = GaugeMetricFamily("grasp_store_up", "Whether the database answers", value=0)
        yield family
        yield reachable


def _allowed(request: Request, token: str) -> bool:
    if token:
        brought = request.headers.get("Authorization", "").removeprefix("Bearer ")
        return hmac.compare_digest(brought.encode(), token.encode())
    return is_local(request)


def is_local(request: Request) -> bool:
    """Whether a request comes from this machine and not through a proxy on it."""
    if request.client is None or any(name in request.headers for name in ("X-Forwarded-For", "Forwarded")):
        return False
    try:
        return ip_address(request.client.host).is_loopback
    except ValueError:
        return False
