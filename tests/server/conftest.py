"""The API and what stands before it, without Streamlit."""

import functools
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket

from grasp_core.engine.pools import workers
from grasp_core.model.access import User
from grasp_core.model.remarks.cautions import Caution
from grasp_core.model.settings import Settings
from grasp_core.server.api.app import application, described, mount
from grasp_core.server.gate import Gate, TabGate, UploadLedger
from grasp_core.server.headers import Headers, Metrics, ReturnToPage, security_headers
from grasp_core.server.identity import Visits
from grasp_core.server.server import Server
from grasp_core.store.runs import RunRecord
from tests.empty_store import empty_home
from tests.pages.conftest import packages_looked_through_once as packages_looked_through_once
from tests.results import make_result

ANN = User("ann@lab.example", "Ann", "analyst")
BOB = User("bob@lab.example", "Bob", "analyst")
VIEWER = User("vera@lab.example", "Vera", "viewer")
SIGN_IN = {
    "public_url": "https://grasp.example",
    "oidc_metadata_url": "https://id.example/.well-known/openid-configuration",
    "oidc_client_id": "grasp",
    "oidc_client_secret": "the client's secret",
    "cookie_secret": "the secret that signs the cookies",
}

MakeClient = Callable[..., TestClient]


@functools.cache
def _schema() -> dict[str, Any]:
    """That of the API: it follows from the routes alone, and would take each client half a second."""
    return described(application(lambda: None, lambda _: None, UploadLedger(dict, 0)))


@pytest.fixture
def given() -> dict[str, Any]:
    """Settings of the server."""
    return {}


@pytest.fixture
def server(tmp_path: Path, given: dict[str, Any]) -> Iterator[Server]:
    with closing(Server(Settings(home=empty_home(tmp_path), **given), workers.threads)) as made:
        yield made


@pytest.fixture
def done(server: Server) -> RunRecord:
    result = make_result(warnings=("rater 4711 said Yes", Caution.TOO_FEW_FOR_P()))
    return server.runs.add(result, title="A run", owner=ANN.id)


@pytest.fixture
def client(server: Server) -> Iterator[MakeClient]:
    """Build a client of the API and of stand-ins for the pages, behind all middleware.

    The header `X-Test-User` says who has signed in: `user`, where a request says nobody else.
    """
    opened: list[TestClient] = []
    people = {person.id: person for person in (ANN, BOB, VIEWER)}

    def identify(connection: HTTPConnection) -> User | None:
        return people.get(connection.headers.get("X-Test-User", ""))

    def make(
        base_path: str = "", *, came_from: str = "127.0.0.1", user: User | None = None, **changes: Any
    ) -> TestClient:
        settings = Settings(**changes)
        metrics = Metrics(lambda: server)
        api = mount(lambda: server, identify, UploadLedger(dict, 2**20), base_path)
        [version] = [one.app for one in api.routes if isinstance(one, Mount)]
        version.openapi_schema = _schema()
        routes = [
            api,
            metrics.route(base_path),
            WebSocketRoute(f"{base_path}/_stcore/stream", _stream),
            Route(f"{base_path}/oauth2callback", lambda _: RedirectResponse(f"{base_path}/", 302)),
            Route(f"{base_path}/{{rest:path}}", _page, methods=["GET", "PUT", "POST"]),
        ]
        middleware = [
            Middleware(
                Headers,
                security_headers("<script>1</script>", https=settings.https),
                https=settings.https,
                count=metrics.count,
                base_path=base_path,
            ),
            Middleware(Gate, settings, identify, base_path),
            Middleware(TabGate, lambda: server, identify, frozenset({"/", "/results"}), base_path),
            Middleware(ReturnToPage, identify, base_path, frozenset({"/shared"})),
            Middleware(Visits, base_path, frozenset({"/shared"})),
        ]
        made = TestClient(
            Starlette(routes=routes, middleware=middleware),
            base_url="https://grasp.example" if settings.sign_in else "http://localhost:8501",
            client=(came_from, 50000),
            follow_redirects=False,
            headers=None if user is None else {"X-Test-User": user.id},
        )
        opened.append(made)
        return made

    yield make
    for one in opened:
        one.close()


@pytest.fixture
def ann(client: MakeClient) -> TestClient:
    return client(user=ANN)


def _page(_: object) -> Response:
    return HTMLResponse("the page")


async def _stream(websocket: WebSocket) -> None:
    await websocket.accept()
    await websocket.receive()  # until the visitor leaves
