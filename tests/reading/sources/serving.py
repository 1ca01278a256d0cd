"""A web server of the tests' own that redirects, dawdles and sends too much."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


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
    """Serve ``/data/NAME.csv`` for each of `files`; ``/slow`` trickles, ``/endless`` never ends."""
    held = Site(files={f"/data/{name}.csv": content for name, content in files.items()})

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            held.asked.append(self.path)
            if self.path in held.redirects:
                self.send_response(302)
                self.send_header("Location", held.redirects[self.path])
                self.send_header("Content-Length", "0")
                self.end_headers()
            elif self.path.startswith(("/data/slow", "/data/endless")):
                self.drip()
            elif self.path in held.files:
                self.send_response(200)
                self.send_header("Content-Length", str(len(held.files[self.path])))
                self.end_headers()
                self.wfile.write(held.files[self.path])
            else:
                self.send_error({"/data/private.csv": 403, "/data/broken.csv": 500}.get(self.path, 404))

        def drip(self) -> None:
            self.send_response(200)
            self.end_headers()
            piece, pause = (b"x", 0.05) if "slow" in self.path else (b"x" * 65536, 0.0)
            try:
                while not held.ends.wait(pause):
                    self.wfile.write(piece)
            except OSError:  # the reader has had enough
                pass

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    held.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield held
    finally:
        held.ends.set()
        server.shutdown()
        thread.join()
        server.server_close()
