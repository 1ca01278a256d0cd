"""`GET /metrics` for Prometheus: counts only, nothing of anybody's data."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterator

import prometheus_client
from prometheus_client import CollectorRegistry, Counter, PlatformCollector, ProcessCollector
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from grasp_core.model.errors import StoreError, TooOftenError
from grasp_core.server.gate import is_local
from grasp_core.server.identity import asker
from grasp_core.server.problem import ProblemError, problem_of
from grasp_core.server.server import Server


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
        """The route; without a token in the settings it answers this machine only."""

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
