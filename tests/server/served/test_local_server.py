"""A server without sign-in, as it really listens: uvicorn believes proxies on this machine."""

import os
import signal
import socket
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from grasp_core.server.gate import LOCAL_ONLY, MOST_BYTES
from tests.serving import READY_S, Served, serving


@pytest.mark.parametrize(
    "headers",
    [
        {"X-Forwarded-For": "198.51.100.7"},
        {"X-Forwarded-For": "127.0.0.1"},
        {"Forwarded": "for=127.0.0.1"},
        {"Host": "rebound.example"},
        {"Host": "rebound.example", "Origin": "http://rebound.example"},
    ],
)
def test_others_are_refused(served: Served, headers: dict[str, str]) -> None:
    for path in ("/", "/results", "/api/health", "/metrics", "/_stcore/host-config"):
        answer = httpx.get(served.url + path, headers=headers, timeout=READY_S)
        assert answer.status_code == 403
        assert LOCAL_ONLY in answer.text
    with pytest.raises(InvalidStatus) as refused:
        open_stream(served, **headers)
    assert refused.value.response.status_code == 403


def test_this_machine_is_served(served: Served) -> None:
    assert httpx.get(f"{served.url}/api/health", timeout=READY_S).json()["status"] == "ok"
    assert "grasp_http_responses_total" in httpx.get(f"{served.url}/metrics", timeout=READY_S).text
    assert httpx.get(f"{served.url}/api/v1/runs/guessed", timeout=READY_S).status_code == 404
    open_stream(served, Origin=f"http://{urlsplit(served.url).netloc}")
    with pytest.raises(InvalidStatus):
        open_stream(served, Origin="http://127.0.0.1:9")


def open_stream(served: Served, **headers: str) -> None:
    """Connect as a page does."""
    address = urlsplit(served.url)
    host = headers.pop("Host", address.netloc)
    sock = socket.create_connection((address.hostname, address.port))
    with connect(
        f"ws://{host}{address.path}/_stcore/stream", sock=sock, additional_headers=headers, proxy=None
    ):
        pass


# A request whose line or headers never end is refused, and the server answers others
PIECE = b"x" * 8192


@pytest.mark.parametrize(
    "begun", [b"GET /", b"GET / HTTP/1.1\r\nHost: a\r\nX-Long: "], ids=["line", "header"]
)
def test_a_head_that_never_ends_is_refused_at_its_bound(served: Served, begun: bytes) -> None:
    parts = urlsplit(served.url)
    sent = 0
    with socket.create_connection((parts.hostname, parts.port), timeout=READY_S) as line:
        line.sendall(begun)
        try:
            while sent < 100 * MOST_BYTES:
                line.sendall(PIECE)
                sent += len(PIECE)
        except ConnectionError:
            pass
    assert sent < 100 * MOST_BYTES
    assert httpx.get(f"{served.url}/_stcore/health", timeout=READY_S).status_code == 200


def test_many_headers_below_the_bound_are_read(served: Served) -> None:
    cookies = {f"X-{number}": "c" * 1000 for number in range(50)}
    with httpx.Client(timeout=READY_S) as web:
        for _ in range(3):  # on one connection, each head by itself
            assert web.get(f"{served.url}/_stcore/health", headers=cookies).status_code == 200
        refused = web.get(
            f"{served.url}/_stcore/health", headers={"X": "c" * 16 * MOST_BYTES}
        )  # more than is read at once
        assert refused.status_code == 431


def test_it_ends_when_it_is_told_to_whatever_is_under_way(tmp_path: Path) -> None:
    with serving(tmp_path) as one:
        parts = urlsplit(one.url)
        with socket.create_connection((parts.hostname, parts.port)) as line:
            head = f"POST /api/v1/files?name=x HTTP/1.1\r\nHost: {parts.netloc}\r\nOrigin: {one.url}\r\n"
            line.sendall(f"{head}Content-Length: 500000000\r\n\r\nnever any more".encode())
            assert httpx.get(f"{one.url}/api/health", timeout=READY_S).status_code == 200
            os.kill(one.process.pid, signal.SIGTERM)
            assert one.process.wait(READY_S) is not None
