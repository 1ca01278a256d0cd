import logging
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.datastructures import URL
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.routing import Mount
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from grasp_core.model.logs import JsonLines, without_query
from grasp_core.server.headers import Headers
from grasp_core.server.server import Server
from tests.server.conftest import SIGN_IN, MakeClient


@pytest.mark.parametrize(
    "path", ["/", "/results?run=x", "/shared?token=x", "/api/health", "/api/x", "/metrics"]
)
def test_every_response_carries_them(client: MakeClient, path: str) -> None:
    headers = client(**SIGN_IN).get(path).headers
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Robots-Tag"] == "noindex, nofollow"
    assert headers["Strict-Transport-Security"].startswith("max-age=")
    assert "default-src 'self'" in headers["Content-Security-Policy"]
    if headers["Content-Type"].startswith("text/html"):
        assert headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("path", ["/grasp/metrics/", "/grasp/leads-on", "/grasp/leads-away"])
def test_a_redirect_names_no_server_that_a_request_made_up(path: str) -> None:
    """A proxy might keep it for others."""

    async def leads(scope: Scope, receive: Receive, send: Send) -> None:
        away = scope["path"].endswith("away")
        there = "https://id.example/authorize" if away else f"{URL(scope=scope).replace(path='//evil/x?y=1')}"
        await RedirectResponse(there)(scope, receive, send)

    inner = Starlette(routes=[Mount("/grasp", leads)])
    visitor = TestClient(Headers(inner, {}, https=False, count=lambda _: None), follow_redirects=False)
    led = visitor.get(path, headers={"Host": "evil.example"}).headers["Location"]
    assert led == ("https://id.example/authorize" if path.endswith("away") else "/evil/x?y=1")


def test_the_proxy_compresses_not_the_process_that_draws_pages() -> None:
    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        await PlainTextResponse("long " * 100_000)(scope, receive, send)

    inner = GZipMiddleware(answer)
    asked = {"Accept-Encoding": "gzip"}
    assert TestClient(inner).get("/", headers=asked).headers["Content-Encoding"] == "gzip"
    here = TestClient(Headers(inner, {}, https=False, count=lambda _: None)).get("/", headers=asked)
    assert "Content-Encoding" not in here.headers


def test_no_https_no_hsts(client: MakeClient) -> None:
    assert "Strict-Transport-Security" not in client().get("/").headers


def test_cookies_by_https_only(client: MakeClient) -> None:
    cookie = client(**SIGN_IN).get("/results?run=x").headers["Set-Cookie"]
    assert cookie.endswith("; Secure")


def test_metrics_answer_this_machine_and_the_token(client: MakeClient, server: Server) -> None:
    near = client()
    near.get("/api/nothing")
    text = near.get("/metrics").text
    assert 'grasp_http_responses_total{status="404"} 1.0' in text
    assert "grasp_store_up 1.0" in text
    assert "grasp_computing_up 0.0" in text  # nobody started it
    server.service.start()
    assert "grasp_computing_up 1.0" in near.get("/metrics").text
    far = client(came_from="10.0.0.7", **SIGN_IN)
    assert far.get("/metrics").status_code == 401
    object.__setattr__(server.settings, "metrics_token", "right")
    for token, status in (("wrong", 401), ("", 401), ("r\u00efght", 401), ("right", 200)):
        answer = far.get("/metrics", headers={"Authorization": f"Bearer {token}".encode()})
        assert answer.status_code == status


def test_metrics_tell_that_the_database_file_is_gone(client: MakeClient, server: Server) -> None:
    Path(server.database.url.database or "").unlink()
    text = client().get("/metrics").text
    assert "grasp_store_up 0.0" in text
    assert "grasp_runs{" not in text


def test_access_lines_have_no_queries() -> None:
    record = logging.LogRecord(
        "uvicorn.access",
        logging.INFO,
        "",
        0,
        '%s - "%s %s HTTP/%s" %d',
        ("127.0.0.1:1", "GET", "/shared?token=key", "1.1", 200),
        None,
    )
    assert without_query(record)
    assert record.getMessage() == '127.0.0.1:1 - "GET /shared HTTP/1.1" 200'


def test_json_lines_name_the_error_and_quote_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        raise KeyError("rater 4711")
    except KeyError as error:
        record = logging.LogRecord(
            "grasp", logging.ERROR, "", 0, "no\nluck", (), (KeyError, error, error.__traceback__)
        )
    line = JsonLines().format(record)
    assert "\n" not in line
    assert '"error": "KeyError"' in line
    assert "4711" not in line
