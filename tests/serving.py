"""A real server process, served as in production."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
READY_S = 90


@dataclass(frozen=True)
class Served:
    """A server that is up."""

    url: str
    log: Path
    process: "subprocess.Popen[bytes]"

    def said(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")


_PORTS: set[int] = set()


def free_port() -> int:
    """Another one each time."""
    while True:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port: int = free.getsockname()[1]
        if port not in _PORTS:
            _PORTS.add(port)
            return port


@contextmanager
def serving(
    folder: Path,
    environment: Mapping[str, str] | None = None,
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    base_path: str = "",
    before: str = "",
) -> Iterator[Served]:
    """Start the app with what lasts in `folder`; SIGTERM ends it. `before` is run in its process first."""
    port = port or free_port()
    streamlit = (
        ["-c", f"{before}\nfrom streamlit.web.cli import main\nmain()"] if before else ["-m", "streamlit"]
    )
    command = [sys.executable, *streamlit, "run", "app.py", "--server.port", str(port)]
    command += ["--server.headless", "true", "--server.fileWatcherType", "none"]
    command += ["--browser.gatherUsageStats", "false", "--server.baseUrlPath", base_path]
    log = folder / "log"
    # One worker: most of these servers compute little, and each worker takes two seconds to start.
    env = {**os.environ, "GRASP_HOME": str(folder / "home"), "GRASP_WORKERS": "1", **(environment or {})}
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, cwd=ROOT, env=env, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
    served = Served(f"http://{host}:{port}{base_path}", log, process)
    try:
        try:
            wait_for(f"{served.url}/_stcore/health", process)
        except TimeoutError:
            pytest.fail(f"the server did not start:\n{served.said()[-3000:]}")
        yield served
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(20)


def wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    """Wait until a server answers.

    Raises
    ------
    TimeoutError
        If it does not, or its process has ended.
    """
    deadline = time.monotonic() + READY_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=2) as answer:
                if answer.status == 200:
                    return
        except OSError:
            time.sleep(0.2)
    raise TimeoutError(url)


def memory_of(url: str) -> float:
    """Bytes that a server's own process has in memory, as its metrics say."""
    with urllib.request.urlopen(f"{url}/metrics") as answer:
        told = re.search(r"^process_resident_memory_bytes (\S+)", answer.read().decode(), re.MULTILINE)
    assert told
    return float(told[1])
