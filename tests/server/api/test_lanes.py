"""Many requests of one caller at once: few are answered at a time, and others' beside them."""

import asyncio
from http import HTTPStatus

import httpx
from starlette.types import Message, Receive, Scope, Send

from grasp_core.server.api._admission import AT_ONCE, Admission
from grasp_core.server.server import Server
from tests.server.conftest import ANN, BOB

MANY = 3 * AT_ONCE
AS_ANN, AS_BOB = {"X-Test-User": ANN.id}, {"X-Test-User": BOB.id}


class Answers:
    """Answers requests to /held once it is told to, begins those to /begun before, and all others at once."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.goes_on = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        self.asked.append(path)
        start: Message = {"type": "http.response.start", "status": HTTPStatus.OK, "headers": []}
        if path == "/held":
            await self.goes_on.wait()
        await send(start)
        if path == "/begun":
            await self.goes_on.wait()
        await send({"type": "http.response.body", "body": b""})


def visiting(server: Server, answers: Answers) -> httpx.AsyncClient:
    """The browsers of two people at one address; a header says whose a request is."""
    people = {one.id: one for one in (ANN, BOB)}
    admission = Admission(
        answers, lambda: server, lambda connection: people[connection.headers["X-Test-User"]]
    )
    return httpx.AsyncClient(transport=httpx.ASGITransport(admission), base_url="http://here")


async def reached(answers: Answers, path: str, count: int) -> None:
    async with asyncio.timeout(60):
        while answers.asked.count(path) < count:
            await asyncio.sleep(0.01)


def test_of_many_requests_of_one_person_few_are_at_work_and_others_are_answered(server: Server) -> None:
    async def come() -> None:
        answers = Answers()
        async with visiting(server, answers) as web, asyncio.TaskGroup() as at_once:
            of_ann = [at_once.create_task(web.get("/held", headers=AS_ANN)) for _ in range(MANY)]
            await reached(answers, "/held", AT_ONCE)
            assert (await web.get("/free", headers=AS_BOB)).status_code == HTTPStatus.OK
            assert answers.asked == ["/held"] * AT_ONCE + ["/free"]
            answers.goes_on.set()
        assert {one.result().status_code for one in of_ann} == {HTTPStatus.OK}
        assert answers.asked.count("/held") == MANY

    asyncio.run(come())


def test_who_is_slow_to_take_an_answer_takes_no_place(server: Server) -> None:
    async def come() -> None:
        answers = Answers()
        async with visiting(server, answers) as web, asyncio.TaskGroup() as at_once:
            for _ in range(MANY):
                at_once.create_task(web.get("/begun", headers=AS_ANN))
            await reached(answers, "/begun", MANY)
            answers.goes_on.set()

    asyncio.run(come())
