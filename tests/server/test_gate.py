import socket

import pytest
from starlette.websockets import WebSocketDisconnect

from grasp_core.server.gate import LOCAL_ONLY, POLICY_VIOLATION, send_at_once
from tests.server.conftest import ANN, SIGN_IN, VIEWER, MakeClient

STREAM = "/_stcore/stream"
PATHS = [
    *("/", "/results?run=x", "/api/health", "/api/runs/x"),
    *("/metrics", "/_stcore/host-config", "/oauth2callback"),
]


@pytest.mark.parametrize("came_from", ["127.0.0.1", "::1"])
def test_without_sign_in_this_machine_gets_in(client: MakeClient, came_from: str) -> None:
    visitor = client(came_from=came_from)
    for host in ("localhost", "localhost:8501", "127.0.0.1:8501", "[::1]:8501", "LOCALHOST"):
        assert visitor.get("/", headers={"Host": host}).text == "the page"
        with visitor.websocket_connect(STREAM, headers={"Host": host, "Origin": f"http://{host}"}):
            pass


@pytest.mark.parametrize(
    ("came_from", "headers"),
    [
        ("10.0.0.7", {}),
        ("2001:db8::1", {}),
        ("nobody", {}),
        ("127.0.0.1", {"X-Forwarded-For": "127.0.0.1"}),
        ("127.0.0.1", {"X-Forwarded-For": ""}),
        ("127.0.0.1", {"X-Forwarded-Host": "localhost"}),
        ("127.0.0.1", {"X-Real-IP": "127.0.0.1"}),
        ("127.0.0.1", {"Forwarded": "for=127.0.0.1"}),
        ("127.0.0.1", {"Host": "evil.example"}),
        ("127.0.0.1", {"Host": "evil.example:8501"}),
        ("127.0.0.1", {"Host": "localhost.evil.example"}),
        ("127.0.0.1", {"Host": "evil@localhost.example"}),
        ("127.0.0.1", {"Host": "[::1"}),
        ("127.0.0.1", {"Host": ""}),
    ],
)
def test_without_sign_in_others_read_one_sentence(client, came_from: str, headers: dict[str, str]) -> None:
    visitor = client(came_from=came_from)
    for path in PATHS:
        answer = visitor.get(path, headers=headers)
        assert answer.status_code == 403, path
        assert LOCAL_ONLY in answer.text, path
        assert "GRASP_ALLOW_ANONYMOUS=1" in answer.text, path
        kind = "application/problem+json" if path.startswith("/api") else "text/plain"
        assert answer.headers["Content-Type"].startswith(kind), path
    with pytest.raises(WebSocketDisconnect) as closed, visitor.websocket_connect(STREAM, headers=headers):
        pass
    assert closed.value.code == POLICY_VIOLATION


def test_proxies_may_ask_for_health(client: MakeClient) -> None:
    assert client(came_from="10.0.0.7").get("/_stcore/health").status_code == 200


@pytest.mark.parametrize("settings", [{"allow_anonymous": True}, SIGN_IN])
def test_others_get_in_when_asked_for(client: MakeClient, settings: dict[str, object]) -> None:
    visitor = client(came_from="10.0.0.7", **settings)
    headers = {"X-Forwarded-For": "198.51.100.1"}
    assert visitor.get("/", headers=headers).text == "the page"
    with visitor.websocket_connect(STREAM, headers=headers):
        pass


@pytest.mark.parametrize("settings", [{}, {"allow_anonymous": True}, SIGN_IN])
def test_no_other_site_opens_a_connection(client: MakeClient, settings: dict[str, object]) -> None:
    visitor = client(**settings)
    for origin in ("https://evil.example", "http://localhost:9999", "null", "http://[", ""):
        asked = visitor.websocket_connect(STREAM, headers={"Origin": origin})
        with pytest.raises(WebSocketDisconnect) as closed, asked:
            pass
        assert closed.value.code == POLICY_VIOLATION, origin


def test_a_proxy_may_change_the_host(client: MakeClient) -> None:
    headers = {"Host": "internal:8501", "Origin": SIGN_IN["public_url"]}
    with client(**SIGN_IN).websocket_connect(STREAM, headers=headers):
        pass


@pytest.mark.parametrize("base_path", ["", "/grasp"])
def test_streamlits_own_doors_are_closed(client: MakeClient, base_path: str) -> None:
    visitor = client(base_path, **SIGN_IN, user=ANN)
    for door in ("metrics", "agent/interact", "agent/mcp", "agent/openapi.json"):
        for headers in ({}, {"Host": "grasp.example/x"}):
            assert visitor.get(f"{base_path}/_stcore/{door}", headers=headers).status_code == 404


@pytest.mark.parametrize("base_path", ["", "/grasp"])
def test_only_those_who_may_run_upload(client: MakeClient, base_path: str) -> None:
    visitor = client(base_path, **SIGN_IN)
    path = f"{base_path}/_stcore/upload_file/session/file"
    assert visitor.put(path).status_code == 401
    assert visitor.put(path, headers={"X-Test-User": VIEWER.id}).status_code == 403
    assert visitor.put(path, headers={"X-Test-User": ANN.id}).text == "the page"


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_what_is_accepted_sends_at_once(family: socket.AddressFamily) -> None:
    """Of a socket that is bound as Streamlit binds it: without the protocol by which asyncio decides."""
    with socket.socket(family) as listening, socket.socket(family) as visitor:
        try:
            listening.bind(("::1" if family == socket.AF_INET6 else "127.0.0.1", 0))
        except OSError:
            pytest.skip("this machine has no such addresses")
        listening.listen()
        send_at_once()
        visitor.connect(listening.getsockname())
        accepted, _ = listening.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
