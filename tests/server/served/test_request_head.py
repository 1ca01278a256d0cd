"""A request whose line or headers never end is refused, and the server answers others."""

from __future__ import annotations

import socket
from urllib.parse import urlsplit

import httpx
import pytest

from grasp_core.server.gate import MOST_BYTES
from tests.serving import Served

PIECE = b"x" * 8192


@pytest.mark.parametrize(
    "begun", [b"GET /", b"GET / HTTP/1.1\r\nHost: a\r\nX-Long: "], ids=["line", "header"]
)
def test_a_head_that_never_ends_is_refused_at_its_bound(served: Served, begun: bytes) -> None:
    parts = urlsplit(served.url)
    sent = 0
    with socket.create_connection((parts.hostname, parts.port), timeout=10) as line:
        line.sendall(begun)
        try:
            while sent < 100 * MOST_BYTES:
                line.sendall(PIECE)
                sent += len(PIECE)
        except ConnectionError:
            pass
    assert sent < 100 * MOST_BYTES
    assert httpx.get(f"{served.url}/_stcore/health").status_code == 200


def test_many_headers_below_the_bound_are_read(served: Served) -> None:
    cookies = {f"X-{number}": "c" * 1000 for number in range(50)}
    with httpx.Client() as web:
        for _ in range(3):  # on one connection, each head by itself
            assert web.get(f"{served.url}/_stcore/health", headers=cookies).status_code == 200
        refused = web.get(
            f"{served.url}/_stcore/health", headers={"X": "c" * 16 * MOST_BYTES}
        )  # more than is read at once
        assert refused.status_code == 431
