"""A web server of the tests' own that answers as tools do; what it was asked is kept."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

Answer = tuple[int, bytes, dict[str, str]]


@dataclass
class Asked:
    """A request."""

    method: str
    path: str
    query: dict[str, list[str]]
    authorization: str


@dataclass
class Tool:
    """A server: where it is, and what it was asked."""

    url: str = ""
    asked: list[Asked] = field(default_factory=list)
    ends: threading.Event = field(default_factory=threading.Event)

    @property
    def host(self) -> str:
        return urlsplit(self.url).netloc


def as_json(value: Any, status: int = 200) -> Answer:
    return status, json.dumps(value).encode(), {"Content-Type": "application/json"}


@contextmanager
def tool(answer: Callable[[Asked], Answer | None]) -> Iterator[Tool]:
    """Serve what `answer` gives; None is 404."""
    served = Tool()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            self.rfile.read(size)
            parts = urlsplit(self.path)
            asked = Asked(
                self.command, parts.path, parse_qs(parts.query), self.headers.get("Authorization") or ""
            )
            served.asked.append(asked)
            status, content, headers = answer(asked) or as_json({"detail": "not found"}, 404)
            begin, end = 0, len(content) - 1
            if (wanted := self.headers.get("Range")) and status == 200:
                first, _, last = wanted.removeprefix("bytes=").partition("-")
                begin, end = int(first), min(int(last or end), end)
                headers = {**headers, "Content-Range": f"bytes {begin}-{end}/{len(content)}"}
                status, content = 206, content[begin : end + 1]
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

        def do_POST(self) -> None:
            self.do_GET()

        def do_HEAD(self) -> None:
            self.do_GET()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    served.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield served
    finally:
        served.ends.set()
        server.shutdown()
        thread.join()
        server.server_close()
