"""Whoever asks too often is told so, and when to come again; nobody else is."""

from http import HTTPStatus

import httpx
import pytest
from starlette.testclient import WebSocketDenialResponse

from grasp_core.server.server import Server
from grasp_core.store.runs import RunRecord
from tests.server.api.asking import bearer, problem
from tests.server.conftest import ANN, SIGN_IN, VIEWER, MakeClient

STREAM = "/_stcore/stream"


def told(answer: httpx.Response) -> str:
    """The sentence of a page or the API that says when to come again."""
    assert answer.status_code == HTTPStatus.TOO_MANY_REQUESTS
    assert 1 <= int(answer.headers["Retry-After"]) <= 2 * 86400
    return answer.text


def test_guesses_learn_nothing_and_are_cut_short(client: MakeClient, server: Server, done: RunRecord) -> None:
    object.__setattr__(server.settings, "guess_rate", "30/day")  # on a slow machine, too
    stranger, right = client(**SIGN_IN), server.links.create(done.id, created_by=ANN.id)
    statuses = [
        stranger.get(f"/api/v1/runs/{done.id}", headers=bearer(f"{kind}{number}")).status_code
        for kind in ("", "grasp_")
        for number in range(40)
    ]
    assert statuses == [401] * 30 + [429] * 50
    refused = stranger.get(f"/api/v1/runs/{done.id}", headers=bearer("another"))
    assert "30 links or tokens that open nothing per day" in problem(refused, HTTPStatus.TOO_MANY_REQUESTS)
    told(refused)
    assert stranger.get(f"/api/v1/runs/{done.id}", headers=bearer(right)).status_code == 200
    token = server.tokens.create(owner="", name="n", scope="read", days=1)
    assert client().get("/api/v1/runs", headers=bearer(token)).status_code == 200
    elsewhere = client(came_from="203.0.113.9", **SIGN_IN)
    assert elsewhere.get(f"/api/v1/runs/{done.id}", headers=bearer(right)).status_code == 200
    assert elsewhere.get("/api/v1/runs", headers={"X-Test-User": ANN.id}).status_code == 200
    assert stranger.get("/api/v1/runs", headers={"X-Test-User": ANN.id}).status_code == 200


def test_guessed_metrics_tokens_count_too(client: MakeClient, server: Server) -> None:
    object.__setattr__(server.settings, "metrics_token", "the token")
    object.__setattr__(server.settings, "guess_rate", "30/day")
    inside = client(allow_anonymous=True)
    assert inside.get("/metrics", headers=bearer("the token")).status_code == 200
    statuses = [inside.get("/metrics", headers=bearer(f"guess {one}")).status_code for one in range(40)]
    assert statuses == [401] * 30 + [429] * 10


def test_an_expired_token_that_a_program_keeps_bringing_shuts_nobody_out(client, server, done) -> None:
    office, right = client(**SIGN_IN), server.links.create(done.id, created_by=ANN.id)
    for _ in range(100):
        assert office.get("/api/v1/runs", headers=bearer("grasp_expired")).status_code == 401
    assert office.get(f"/api/v1/runs/{done.id}", headers=bearer(right)).status_code == 200


@pytest.mark.parametrize("headers", [{}, {"X-Test-User": ANN.id}])
def test_tabs_are_counted(client: MakeClient, server: Server, headers: dict[str, str]) -> None:
    object.__setattr__(server.settings, "tab_rate", "20/hour" if headers else "2/hour")
    visitor = client(**SIGN_IN)
    for _ in range(20):
        assert visitor.get("/results", headers=headers).text == "the page"
        with visitor.websocket_connect(STREAM, headers=dict(headers)):
            pass
    with (
        pytest.raises(WebSocketDenialResponse) as refused,
        visitor.websocket_connect(STREAM, headers=dict(headers)),
    ):
        pass
    told(refused.value)
    page = visitor.get("/results", headers=headers)
    assert "may have 20 pages opened per hour" in told(page)
    assert f'content="{page.headers["Retry-After"]}"' in page.text
    assert visitor.get("/_stcore/health", headers=headers).status_code == 200
    other = {"X-Test-User": VIEWER.id}
    assert visitor.get("/results", headers=other).status_code == (200 if headers else 429)


def test_open_tabs_are_counted_until_they_are_closed(client: MakeClient, server: Server) -> None:
    object.__setattr__(server.settings, "tabs", 2)
    visitor, ann = client(**SIGN_IN), {"X-Test-User": ANN.id}
    with visitor.websocket_connect(STREAM, headers=dict(ann)) as one:
        with visitor.websocket_connect(STREAM, headers=dict(ann)) as other:
            assert "2 tabs open at once" in told(visitor.get("/", headers=ann))
            other.close()
        assert visitor.get("/", headers=ann).status_code == 200
        one.close()


def test_uploads_by_the_api_are_counted(client: MakeClient, server: Server) -> None:
    object.__setattr__(server.settings, "upload_rate", "2/hour")
    ann = client()
    for content in (b"1", b"2"):
        asked = ann.post("/api/v1/files?name=a.csv", content=content, headers={"X-Test-User": ANN.id})
        assert asked.status_code == HTTPStatus.CREATED
    refused = ann.post("/api/v1/files?name=a.csv", content=b"3", headers={"X-Test-User": ANN.id})
    assert "2 uploads per hour" in problem(refused, HTTPStatus.TOO_MANY_REQUESTS)
    told(refused)
