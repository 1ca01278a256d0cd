"""Programs of the tools, started on loopback and stopped afterwards, and a client that keeps its session."""

from __future__ import annotations

import http.cookiejar
import json
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ENVIRONMENTS = Path(__file__).resolve().parent.parent / ".venv-exports"
HOST = "127.0.0.1"
PASSWORD = "only-on-loopback-1"
_START, _JOB = 600.0, 120.0
"""Seconds that a server may take to start, and a job of its to end."""


def python_of(tool: str) -> Path:
    """The interpreter of a tool's environment."""
    return ENVIRONMENTS / tool / "bin" / "python"


def free_port() -> int:
    """A port on loopback that nobody listens on."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def environment(folder: Path, **more: str) -> dict[str, str]:
    """A process's environment whose home is the folder, so that nothing is written elsewhere."""
    return {"PATH": os.environ["PATH"], "HOME": str(folder), "TMPDIR": str(folder), "LANG": "C.UTF-8", **more}


def run(command: Sequence[str | Path], folder: Path, env: Mapping[str, str]) -> None:
    """Run a program to its end; what it says goes to ``log`` in the folder.

    Raises
    ------
    subprocess.CalledProcessError
    """
    with (folder / "log").open("ab") as log:
        subprocess.run(command, cwd=folder, env=env, stdout=log, stderr=log, check=True, timeout=_START)


@contextmanager
def running(
    command: Sequence[str | Path], folder: Path, env: Mapping[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    """A program and all that it starts, for as long as the block lasts."""
    with (folder / "log").open("ab") as log:
        process = subprocess.Popen(
            command, cwd=folder, env=env, stdout=log, stderr=log, start_new_session=True
        )
        try:
            yield process
        finally:
            for how in (signal.SIGTERM, signal.SIGKILL):
                try:
                    os.killpg(process.pid, how)
                    process.wait(10)
                except (ProcessLookupError, subprocess.TimeoutExpired):
                    continue


def until(done: Callable[[], bool], what: str) -> None:
    """Wait until something is done.

    Raises
    ------
    RuntimeError
        If it takes longer than two minutes.
    """
    end = time.monotonic() + _JOB
    while not done():
        if time.monotonic() > end:
            raise RuntimeError(f"{what} did not end within {_JOB:.0f} seconds")
        time.sleep(0.5)


class Client:
    """A person's session with a server: cookies, the token against forged requests, and JSON."""

    def __init__(
        self, port: int, cookie: str = "csrftoken", headers: Mapping[str, str] | None = None
    ) -> None:
        self.root = f"http://{HOST}:{port}"
        self.headers = {**(headers or {})}
        self._cookie = cookie
        self._jar = http.cookiejar.CookieJar()
        proxies = urllib.request.ProxyHandler({})
        self._opener = urllib.request.build_opener(proxies, urllib.request.HTTPCookieProcessor(self._jar))

    @property
    def token(self) -> str:
        """The token that the server gave against forged requests."""
        return next((one.value or "" for one in self._jar if one.name == self._cookie), "")

    def get(self, path: str) -> bytes:
        """What stands at a path.

        Raises
        ------
        RuntimeError
            With the server's answer, where it refuses.
        """
        return self._send(urllib.request.Request(self.root + path))

    def json(self, path: str) -> Any:
        """The same, as JSON."""
        return json.loads(self.get(path))

    def post(self, path: str, value: Any, method: str = "POST") -> Any:
        """Send JSON; the answer as JSON."""
        answer = self._with_body(path, json.dumps(value).encode(), "application/json", method)
        return json.loads(answer or b"null")

    def form(self, path: str, fields: Mapping[str, str]) -> bytes:
        """Send a form, as a browser does."""
        body = urllib.parse.urlencode(fields).encode()
        return self._with_body(path, body, "application/x-www-form-urlencoded", "POST")

    def upload(self, path: str, field: str, name: str, content: bytes) -> bytes:
        """Send a file, as a browser does."""
        edge = uuid.uuid4().hex
        head = f'--{edge}\r\nContent-Disposition: form-data; name="{field}"; filename="{name}"\r\n\r\n'
        body = head.encode() + content + f"\r\n--{edge}--\r\n".encode()
        return self._with_body(path, body, f"multipart/form-data; boundary={edge}", "POST")

    def wait(self, path: str) -> None:
        """Wait until the server answers.

        Raises
        ------
        RuntimeError
            If it does not within ten minutes.
        """
        end = time.monotonic() + _START
        while time.monotonic() < end:
            try:
                self.get(path)
                return
            except (OSError, RuntimeError):
                time.sleep(1)
        raise RuntimeError(f"no answer from {self.root}{path}")

    def _with_body(self, path: str, body: bytes, kind: str, method: str) -> bytes:
        headers = {"Content-Type": kind, "X-CSRFToken": self.token, "Referer": self.root + "/"}
        return self._send(urllib.request.Request(self.root + path, body, headers, method=method))

    def _send(self, request: urllib.request.Request) -> bytes:
        for name, value in self.headers.items():
            request.add_header(name, value)
        try:
            with self._opener.open(request, timeout=120) as answer:
                return bytes(answer.read())
        except urllib.error.HTTPError as error:
            said = error.read()[:300].decode(errors="replace")
            raise RuntimeError(f"{request.get_method()} {request.full_url}: {error.code} {said}") from None
