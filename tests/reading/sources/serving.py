"""A web server of the tests' own that redirects, dawdles and sends too much."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@contextmanager
def serve(answer: Callable[[BaseHTTPRequestHandler], None], protocol: str = "HTTP/1.0") -> Iterator[str]:
    """Address of a server each of whose requests `answer` handles."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = protocol

        def do_GET(self) -> None:
            answer(self)

        do_POST = do_HEAD = do_GET  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def send(to: BaseHTTPRequestHandler, status: int, content: bytes, headers: Mapping[str, str] | None = None):
    to.send_response(status)
    for name, value in {"Content-Length": str(len(content)), **(headers or {})}.items():
        to.send_header(name, value)
    to.end_headers()
    if to.command != "HEAD":
        to.wfile.write(content)


@dataclass
class Site:
    """What a server holds, by path, and which paths it was asked for."""

    url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    redirects: dict[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    ends: threading.Event = field(default_factory=threading.Event)


@contextmanager
def site(**files: bytes) -> Iterator[Site]:
    """Serve ``/data/NAME.csv`` for each of `files`.

    ``/data/slow`` trickles, ``/data/endless`` never ends, and what is below ``/cut`` breaks off half way.
    """
    held = Site(files={f"/data/{name}.csv": content for name, content in files.items()})

    def answer(to: BaseHTTPRequestHandler) -> None:
        path = to.path
        held.asked.append(path)
        content = held.files.get(path)
        if path in held.redirects:
            send(to, 302, b"", {"Location": held.redirects[path]})
        elif path.startswith(("/data/slow", "/data/endless")):
            drip(to)
        elif content is not None:
            whole = {"Content-Length": str(len(content))}
            send(to, 200, content[: len(content) // 2] if path.startswith("/cut") else content, whole)
        else:
            to.send_error({"/data/private.csv": 403, "/data/broken.csv": 500}.get(path, 404))

    def drip(to: BaseHTTPRequestHandler) -> None:
        to.send_response(200)
        to.end_headers()
        piece, pause = (b"x", 0.05) if "slow" in to.path else (b"x" * 65536, 0.0)
        try:
            while not held.ends.wait(pause):
                to.wfile.write(piece)
        except OSError:  # the reader has had enough
            pass

    with serve(answer) as held.url:
        try:
            yield held
        finally:
            held.ends.set()
