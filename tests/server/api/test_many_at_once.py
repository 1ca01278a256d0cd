"""Many requests of one person at once: few are answered at a time, and others' beside them."""

import asyncio
import threading
from http import HTTPStatus

import httpx
import pytest
from starlette.types import ASGIApp, Message

from grasp_core.server.api._admission import AT_ONCE
from grasp_core.server.api.app import application
from grasp_core.server.gate import UploadLedger
from grasp_core.server.server import Server
from grasp_core.store.runs import RunRecord, RunStore
from tests.server.conftest import ANN, BOB

MANY = 3 * AT_ONCE
AS_ANN, AS_BOB = {"X-Test-User": ANN.id}, {"X-Test-User": BOB.id}


@pytest.fixture
def app(server: Server) -> ASGIApp:
    """The API; two people come from one address, and a header says whose a request is."""
    people = {one.id: one for one in (ANN, BOB)}
    made = application(
        lambda: server, lambda connection: people[connection.headers["X-Test-User"]], UploadLedger(dict, 0)
    )
    made.openapi_schema = {"paths": {}}
    return made


async def reached(found: list[str], count: int) -> None:
    async with asyncio.timeout(60):
        while len(found) < count:
            await asyncio.sleep(0.01)


def test_of_many_requests_of_one_person_few_are_at_work_and_others_are_answered(
    app: ASGIApp, done: RunRecord, monkeypatch
) -> None:
    asked: list[str] = []
    goes_on, plain = threading.Event(), RunStore.get

    def get(self: RunStore, run_id: str) -> RunRecord | None:
        if run_id == "held":
            asked.append(run_id)
            assert goes_on.wait(60)
        return plain(self, run_id)

    async def come() -> None:
        web = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://here")
        async with web, asyncio.TaskGroup() as at_once:
            of_ann = [at_once.create_task(web.get("/runs/held", headers=AS_ANN)) for _ in range(MANY)]
            await reached(asked, AT_ONCE)
            assert (await web.get(f"/runs/{done.id}", headers=AS_BOB)).status_code == HTTPStatus.OK
            assert len(asked) == AT_ONCE
            goes_on.set()
        assert {one.result().status_code for one in of_ann} == {HTTPStatus.NOT_FOUND}
        assert len(asked) == MANY

    monkeypatch.setattr(RunStore, "get", get)
    asyncio.run(come())


def test_who_is_slow_to_take_an_answer_takes_no_place(app: ASGIApp, done: RunRecord) -> None:
    begun: list[str] = []

    async def come() -> None:
        goes_on = asyncio.Event()

        async def take(message: Message) -> None:
            begun.append(message["type"])
            await goes_on.wait()

        async def bring() -> Message:
            return {"type": "http.request", "body": b""}

        headers = [(name.lower().encode(), value.encode()) for name, value in AS_ANN.items()]
        scope = {"type": "http", "method": "GET", "path": f"/runs/{done.id}", "query_string": b""}
        scope |= {"headers": headers, "client": ("127.0.0.1", 50000), "root_path": "", "scheme": "http"}
        async with asyncio.TaskGroup() as at_once:
            for _ in range(MANY):
                at_once.create_task(app({**scope}, bring, take))
            await reached(begun, MANY)
            assert set(begun) == {"http.response.start"}
            goes_on.set()

    asyncio.run(come())
