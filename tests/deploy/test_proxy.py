"""The proxy alone, in front of servers that repeat what they are sent."""

import json
import threading
from collections.abc import Iterator
from http.client import HTTPSConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.deploy.proxy import ask, proxying, trusting_anybody, wait_for
from tests.serving import free_port

FORGED = {
    "X-Forwarded-For": "203.0.113.7",
    "X-Forwarded-Proto": "http",
    "X-Forwarded-Host": "elsewhere.example",
}


class Echo(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        content = json.dumps(dict(self.headers.items())).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def do_PUT(self) -> None:
        chunked = self.headers.get("Transfer-Encoding") == "chunked"
        while size := int(self.rfile.readline(), 16) if chunked else int(self.headers["Content-Length"]):
            self.rfile.read(size)
            if not chunked:
                break
            self.rfile.readline()
        self.do_GET()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def echo() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Echo) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_servers_learn_from_the_proxy_who_asks_not_from_visitors(echo: str, tmp_path: Path) -> None:
    with proxying(tmp_path, [echo], free_port()) as url:
        sent = json.loads(wait_for(url, 200).body)
        forged = json.loads(ask(url, headers=FORGED).body)
    for headers in (sent, forged):
        assert headers["X-Forwarded-For"] in ("127.0.0.1", "::1")
        assert headers["X-Forwarded-Proto"] == "https"
        assert headers["X-Forwarded-Host"] == headers["Host"] == url.removeprefix("https://")


def test_a_server_that_is_away_is_passed_over(echo: str, tmp_path: Path) -> None:
    away = f"127.0.0.1:{free_port()}"
    with proxying(tmp_path, [away, echo], free_port()) as url:
        assert {ask(url).status for _ in range(6)} == {200}


@pytest.mark.long
def test_without_any_server_there_is_a_sentence(tmp_path: Path) -> None:
    with proxying(tmp_path, [f"127.0.0.1:{free_port()}"], free_port()) as url:
        answer = ask(url)
    assert answer.status in (502, 503)
    assert answer.body.startswith(b"GRASP does not answer.")


def test_plain_http_leads_to_https(echo: str, tmp_path: Path) -> None:
    port = free_port()
    with proxying(tmp_path, [echo], free_port(), {"GRASP_HTTP_PORT": str(port)}):
        answer = ask(f"http://localhost:{port}/results?run=x")
    assert answer.status == 308
    assert answer.values("Location")[0].startswith("https://localhost")
    assert answer.values("Location")[0].endswith("/results?run=x")


def test_what_says_it_is_too_large_is_refused_at_once(echo: str, tmp_path: Path) -> None:
    with proxying(tmp_path, [echo], free_port(), {"GRASP_UPLOAD_MB": "1"}) as url:
        connection = HTTPSConnection(urlsplit(url).netloc, timeout=30, context=trusting_anybody())
        connection.putrequest("PUT", "/")
        connection.putheader("Content-Length", str(2**20 + 1))
        connection.endheaders()
        connection.send(b"x" * 2**19)  # the rest never comes
        answer = connection.getresponse()
        assert answer.status == 413
        assert answer.read() == b"The file is larger than this server accepts (1 MB)."
        connection.close()


def test_what_becomes_too_large_is_refused(echo: str, tmp_path: Path) -> None:
    with proxying(tmp_path, [echo], free_port(), {"GRASP_UPLOAD_MB": "1"}) as url:
        assert ask(url, method="PUT", body=b"x" * 2**20).status == 200
        assert ask(url, method="PUT", body=iter([b"x" * (2**20 + 1)])).status == 413
