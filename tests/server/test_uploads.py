"""Room for uploads, by person and altogether, and which messages of tabs are heard."""

import os
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket
from streamlit.proto.BackMsg_pb2 import BackMsg

from grasp_core.model.access import User
from grasp_core.server.gate import UploadGate, UploadLedger
from grasp_core.server.problem import ProblemError
from grasp_core.server.server import Server
from pages._ui.helpers.sessions import SMALL, Messages

LARGEST = 1000
PEOPLE = {name: User(name, name, "analyst") for name in ("ann", "bob", "carl")}


class Site:
    """A stand-in for Streamlit that keeps what it is sent."""

    def __init__(self, server: Server) -> None:
        self.kept: dict[str, int] = {}
        self.heard: list[str | None] = []
        self.ledger = UploadLedger(lambda: self.kept, LARGEST)
        routes = [
            Route("/_stcore/upload_file/{session}/{file}", self._keep, methods=["PUT", "DELETE"]),
            WebSocketRoute("/_stcore/stream", self._hear),
        ]
        identify = lambda connection: PEOPLE.get(connection.headers.get("X-Test-User", ""))  # noqa: E731
        middleware = [Middleware(UploadGate, self.ledger, lambda: server, identify), Middleware(Messages)]
        self.client = TestClient(Starlette(routes=routes, middleware=middleware))

    def put(self, who: str, size: int, *, session: str | None = None, chunked: bool = False) -> Response:
        content = iter([bytes(size)]) if chunked else bytes(size)
        return self.client.put(
            f"/_stcore/upload_file/{session or who}/f", content=content, headers={"X-Test-User": who}
        )

    async def _keep(self, request: Request) -> Response:
        session = request.path_params["session"]
        if request.method == "DELETE":
            return Response(status_code=204)
        assert self.ledger.is_arriving(session)
        content = await request.body()
        self.kept[session] = self.kept.get(session, 0) + len(content)
        return Response(status_code=204)

    async def _hear(self, websocket: WebSocket) -> None:
        await websocket.accept()
        while True:
            said = BackMsg.FromString(await websocket.receive_bytes()).WhichOneof("type")
            self.heard.append(said)
            if said == "app_heartbeat":
                await websocket.close()
                return


@pytest.fixture
def site(server: Server) -> Iterator[Site]:
    made = Site(server)
    with made.client:
        yield made


def test_one_person_has_room_for_one_upload_and_a_half(site: Site) -> None:
    assert [site.put("ann", 500).status_code for _ in range(4)] == [204, 204, 204, 503]
    refused = site.put("ann", 500, session="another tab")
    assert refused.status_code == 503
    assert int(refused.headers["Retry-After"]) > 0
    assert site.put("bob", 500).status_code == 204
    site.kept.clear()
    assert site.put("ann", 500).status_code == 204


def test_everybody_together_has_room_for_three(site: Site) -> None:
    for who in ("ann", "bob"):
        assert [site.put(who, 750).status_code for _ in range(2)] == [204, 204]
    refused = site.put("carl", 1)
    assert refused.status_code == 503, "it passes, and is no fault of the file"
    assert int(refused.headers["Retry-After"]) > 0


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
def test_nobody_changes_what_waits_for_another_persons_tab(site: Site, method: str) -> None:
    site.ledger.whose = {"anns tab": "ann", "nobodys tab": None}.get
    for who, session, status in (
        *(("ann", "anns tab", 204), ("bob", "anns tab", 403), ("", "anns tab", 403)),
        *(("ann", "nobodys tab", 403), ("ann", "made up", 403)),
    ):
        address, headers = f"/_stcore/upload_file/{session}/f", {"X-Test-User": who}
        assert site.client.request(method, address, content=b"x", headers=headers).status_code == status
    assert set(site.kept) <= {"anns tab"}


def test_stored_files_count_too(site: Site, server: Server) -> None:
    object.__setattr__(server.settings, "file_quota_mb", 1)
    server.files.put(bytes(2**20 - 600), owner="ann")
    assert site.put("ann", 500).status_code == 204
    assert site.put("ann", 500).status_code == 503, "the other one waits, and may be let go of"
    refused = site.put("ann", 700)
    assert refused.status_code == 413
    assert refused.json()["detail"].startswith("Your files would take more room")
    assert site.put("bob", 500).status_code == 204


def test_an_upload_of_unknown_size_counts_as_the_largest_while_it_arrives(site: Site) -> None:
    assert site.put("ann", 400, chunked=True).status_code == 204
    assert site.put("ann", 400).status_code == 204
    assert site.put("ann", 1, chunked=True).status_code == 503
    assert not site.ledger.is_arriving("ann")


def test_what_is_larger_than_any_is_refused_for_good(site: Site) -> None:
    assert site.put("ann", 2 * LARGEST).status_code == 413


def test_uploads_that_send_nothing_hold_nobodys_room(site: Site) -> None:
    with ExitStack() as stalled:
        for n in range(8):
            arrived = stalled.enter_context(site.ledger.admitted(f"tab {n}", "bob", 900, quota=10**6))
            arrived(17)
        assert site.put("ann", 900).status_code == 204
        assert site.put("bob", 900).status_code == 204


def test_what_arrives_beyond_the_room_is_refused_on_its_way(site: Site) -> None:
    with ExitStack() as sending:
        told = [
            sending.enter_context(site.ledger.admitted(who, who, 900, quota=10**6))
            for who in ("ann", "bob", "carl", "dora")
        ]
        for arrived in told[:3]:
            arrived(900)
        with pytest.raises(ProblemError) as refused:
            told[3](900)
        assert refused.value.status == 503
    assert site.put("ann", 900).status_code == 204


def test_a_database_that_is_away_is_a_sentence(site: Site, server: Server) -> None:
    server.database.dispose()
    path = server.database.url.database
    assert path
    os.unlink(path)
    refused = site.put("ann", 1)
    assert refused.status_code == 503
    assert "database" in refused.json()["detail"]


def test_a_large_message_is_heard_only_where_it_asks_for_a_page(site: Site) -> None:
    page = BackMsg()
    page.rerun_script.query_string = "x" * SMALL
    large = page.SerializeToString()
    clear = BackMsg(clear_cache=True).SerializeToString()
    for size in (2**7, 2**14, 2**21, 2**21 + 1):  # lengths of one byte more each
        page.rerun_script.query_string = "x" * size
        assert BackMsg.FromString(page.SerializeToString()).WhichOneof("type") == "rerun_script"
        with site.client.websocket_connect("/_stcore/stream") as socket:
            socket.send_bytes(page.SerializeToString())
            for hidden in (large + clear, clear + large, bytes(SMALL + 1), b"\xff" * (SMALL + 1)):
                socket.send_bytes(hidden)
            socket.send_bytes(BackMsg(app_heartbeat=True).SerializeToString())
            socket.receive()
        assert site.heard == ["rerun_script", "app_heartbeat"]
        site.heard.clear()


def test_what_no_page_asks_for_is_not_heard(site: Site) -> None:
    operation = BackMsg()
    operation.backend_operation_request.install_skills.SetInParent()
    download = BackMsg()
    download.backend_operation_request.deferred_file.file_id = "f"
    page = BackMsg()
    page.rerun_script.page_name = "data"
    said = [
        BackMsg(clear_cache=True),
        BackMsg(load_git_info=True),
        BackMsg(set_run_on_save=True),
        BackMsg(debug_shutdown_runtime=True),
        operation,
        page,
        download,
        BackMsg(stop_script=True),
        BackMsg(app_heartbeat=True),
    ]
    with site.client.websocket_connect("/_stcore/stream") as socket:
        for message in said:
            socket.send_bytes(message.SerializeToString())
        socket.receive()
    assert site.heard == ["rerun_script", "backend_operation_request", "stop_script", "app_heartbeat"]
