"""Caddy with the configuration that is shipped, on free ports and with certificates of its own."""

import shutil
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.programs import named
from tests.serving import ROOT, free_port

CADDYFILE = ROOT / "deploy" / "Caddyfile"
READY_S = 60


@dataclass(frozen=True)
class Answer:
    """What came back; headers as pairs, so that doubled ones show."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def values(self, name: str) -> list[str]:
        return [value for found, value in self.headers if found.lower() == name.lower()]


def program() -> str | None:
    """GRASP_CADDY, else the one on the path."""
    return named("GRASP_CADDY") or shutil.which("caddy")


@contextmanager
def proxying(
    folder: Path, upstreams: list[str], https_port: int, settings: Mapping[str, str] | None = None
) -> Iterator[str]:
    """Start the proxy; yields its address."""
    caddy = program()
    if caddy is None:
        pytest.skip("needs Caddy: install Debian's package caddy")
    folder.mkdir(parents=True, exist_ok=True)
    health_port = free_port()
    environment = {
        "HOME": str(folder),
        "XDG_DATA_HOME": str(folder / "data"),
        "XDG_CONFIG_HOME": str(folder / "config"),
        "GRASP_SITE": "localhost",
        "GRASP_TLS": "internal",
        "GRASP_UPSTREAMS": " ".join(upstreams) + " ",  # as compose.yaml writes it
        "GRASP_HTTP_PORT": str(free_port()),
        "GRASP_HTTPS_PORT": str(https_port),
        "GRASP_HEALTH_PORT": str(health_port),
        **(settings or {}),
    }
    command = [caddy, "run", "--config", str(CADDYFILE), "--adapter", "caddyfile"]
    log = folder / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(command, env=environment, stdout=output, stderr=subprocess.STDOUT)
    try:
        url = f"https://localhost:{https_port}"
        for waiting in (f"http://127.0.0.1:{health_port}", url):  # the certificate may take a moment longer
            _wait_until_up(waiting, process, log)
        yield url
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(20)


def ask(
    url: str,
    *,
    method: str = "GET",
    headers: Mapping[str, str] | None = None,
    body: bytes | Iterator[bytes] | None = None,
) -> Answer:
    """One request, whoever signed the certificate; redirects are not followed."""
    opener = urllib.request.build_opener(
        urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=trusting_anybody()), _Stay
    )
    request = urllib.request.Request(url, data=body, headers=dict(headers or {}), method=method)
    try:
        with opener.open(request, timeout=30) as answer:
            return Answer(answer.status, answer.headers.items(), answer.read())
    except urllib.error.HTTPError as answer:
        with answer:
            return Answer(answer.code, answer.headers.items(), answer.read())


def trusting_anybody() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def wait_for(url: str, status: int) -> Answer:
    """Ask until this status comes."""
    deadline = time.monotonic() + READY_S
    answer = ask(url)
    while answer.status != status and time.monotonic() < deadline:
        time.sleep(0.2)
        answer = ask(url)
    assert answer.status == status, answer
    return answer


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        return None


def _wait_until_up(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + READY_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            ask(url)
            return
        except OSError:
            time.sleep(0.1)
    pytest.fail(f"the proxy did not start:\n{log.read_text(errors='replace')[-3000:]}")
