"""The list of runs: found, and told page by page."""

import base64
from http import HTTPStatus

import pytest

from grasp_core.server.server import Server
from grasp_core.store.schema import runs
from tests.results import make_result
from tests.server.api.asking import bearer, failed, problem
from tests.server.conftest import ANN, SIGN_IN, VIEWER, MakeClient
from tests.store.making import change


@pytest.fixture
def titles(server: Server) -> list[str]:
    """Seven runs, five of them of the same time."""
    found = [f"Run {number}" for number in range(7)]
    ids = [server.runs.add(make_result(), title=title, owner=ANN.id).id for title in found]
    change(server.database, runs, runs.c.id.in_(ids[1:6]), created_at=1_700_000_000.125)
    return found


@pytest.mark.parametrize("limit", [2, 7, 50])
def test_pages_hold_every_run_once(client: MakeClient, titles: list[str], limit: int) -> None:
    visitor, seen, cursor = client(user=VIEWER), [], None
    for _ in range(10):
        query = {"limit": limit} if cursor is None else {"limit": limit, "cursor": cursor}
        page = visitor.get("/api/v1/runs", params=query).json()
        assert len(page["runs"]) <= limit
        seen += page["runs"]
        cursor = page["next"]
        if cursor is None:
            break
    assert sorted(one["title"] for one in seen) == titles
    assert [one["created_at"] for one in seen] == sorted((one["created_at"] for one in seen), reverse=True)


def test_runs_are_found_by_words_tag_state_and_owner(client, server, titles: list[str]) -> None:
    run = failed(server)
    server.runs.describe(run.id, tagged=["pilot"])
    visitor = client(user=ANN)

    def found(**query: str) -> set[str]:
        return {one["title"] for one in visitor.get("/api/v1/runs", params=query).json()["runs"]}

    assert found(text="run 3") == {"Run 3"}
    assert found(text="pilot") == found(tag="pilot") == found(state="failed") == {"Fails"}
    assert found(owner=VIEWER.id) == found(text="%") == set()
    assert found(owner=ANN.id) == {*titles, "Fails"}
    told = visitor.get(f"/api/v1/runs/{run.id}/status").json()
    assert (told["state"], told["tags"], told["error"]) == ("failed", ["pilot"], "column secret_name is odd")


def test_what_cannot_be_looked_for_is_refused(client: MakeClient) -> None:
    visitor = client(user=ANN)
    packed = (base64.urlsafe_b64encode(content).decode() for content in (b'[1e999, "a"]', b"[" * 90))
    cursors = [{"cursor": cursor} for cursor in ("x", "", "W10=", "é", *packed)]
    for query in (*({"limit": limit} for limit in (0, 201, "x")), {"state": "odd"}, *cursors):
        answer = visitor.get("/api/v1/runs", params=query)
        problem(answer, HTTPStatus.NOT_FOUND if "cursor" in query else HTTPStatus.UNPROCESSABLE_ENTITY)


def test_strangers_find_nothing(client: MakeClient, server: Server, titles: list[str]) -> None:
    run = server.runs.search("Run 1")[0]
    token = server.links.create(run.id, created_by=ANN.id)
    visitor = client(**SIGN_IN)
    for headers in ({}, bearer(token)):
        for address in ("/api/v1/runs", f"/api/v1/runs/{run.id}/status"):
            problem(visitor.get(address, headers=headers), HTTPStatus.UNAUTHORIZED)


def test_the_reference_needs_nothing_of_others(client: MakeClient) -> None:
    visitor = client("/grasp")
    page = visitor.get("/grasp/api/v1/")
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    for sign in ("<script", "http://", "https://", " src=", "@import"):
        assert sign not in page.text
    schema = visitor.get("/grasp/api/v1/openapi.json").json()
    for path in schema["paths"]:
        assert path in page.text
    assert 'href="openapi.json"' in page.text
