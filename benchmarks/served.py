"""Servers and their proxy, as shipped, on free ports of this machine."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import httpx

ROOT = Path(__file__).resolve().parents[1]
READY_S = 120


def free_port() -> int:
    """Return a port of this machine on which nothing listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


@contextlib.contextmanager
def serving(environment: dict[str, str], port: int) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Serve the app as in production, on a port of this machine."""
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    address = f"http://127.0.0.1:{port}"
    try:
        if not _up(f"{address}/_stcore/health", process):
            sys.exit("the server did not start; its lines are above")
        yield address, process
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(40)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(20)


@contextlib.contextmanager
def proxying(
    upstreams: Sequence[str], port: int, folder: Path
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Run Caddy with the shipped configuration before these servers; yield its address and process."""
    caddy = subprocess.run(
        ["tools/caddy.sh"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    ).stdout.strip()
    if not caddy:
        sys.exit("there is no Caddy: install Debian's package caddy")
    environment = {
        "HOME": str(folder),
        "XDG_DATA_HOME": str(folder / "data"),
        "XDG_CONFIG_HOME": str(folder / "config"),
        "GRASP_UPSTREAMS": " ".join(one.removeprefix("http://") for one in upstreams),
        "GRASP_HTTP_PORT": str(free_port()),
        "GRASP_HTTPS_PORT": str(port),
        "GRASP_HEALTH_PORT": str(free_port()),
    }
    command = [caddy, "run", "--config", "deploy/Caddyfile", "--adapter", "caddyfile"]
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    address = f"https://localhost:{port}"
    try:
        if not _up(f"{address}/api/health", process):
            sys.exit("the proxy did not start")
        yield address, process
    finally:
        process.terminate()
        process.wait(20)


def _up(address: str, process: subprocess.Popen[bytes]) -> bool:
    """Wait until an address answers; return whether it did before its process ended or the time was over."""
    deadline = time.monotonic() + READY_S
    while process.poll() is None and time.monotonic() < deadline:
        with contextlib.suppress(httpx.HTTPError):
            # Not verified, because the proxy has its own certificate authority.
            if httpx.get(address, verify=False, trust_env=False).is_success:
                return True
        time.sleep(0.2)
    return False
