"""Measure a server behind its proxy while others keep connections open: ``python -m benchmarks.idle``.

The proxy is a real Caddy with deploy/Caddyfile, in front of the app as it is served. Thousands of
connections ask once and then stay silent, or send a request's headers a line at a time without end. A
connection that the proxy closes is opened again. Meanwhile a page, the health check and the API are asked for
each second. All of them share the machine.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import resource
import ssl
import statistics
import sys
import tempfile
import time
from pathlib import Path

import httpx

from benchmarks.figures import peak_mib, tell
from benchmarks.served import free_port, proxying, serving

LINE_SECONDS = 5.0
"""Seconds between two lines of a slow connection, too few for a timeout."""
REQUEST = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n"
"""A request that the proxy answers itself."""


class Held:
    """Open connections, and the counts of opened, refused and closed ones."""

    def __init__(self, port: int, trusting: ssl.SSLContext) -> None:
        self.port = port
        self.trusting = trusting
        self.opened = self.refused = self.closed = 0

    async def hold(self, until: float, *, slow: bool) -> None:
        """Open a connection, keep it until the time is over or the proxy closes it, and open the next."""
        while time.perf_counter() < until:
            try:
                reader, writer = await asyncio.open_connection(
                    "127.0.0.1", self.port, ssl=self.trusting, server_hostname="localhost"
                )
            except OSError:
                self.refused += 1
                await asyncio.sleep(1)
                continue
            self.opened += 1
            with contextlib.suppress(OSError):
                await (_trickle(writer, reader, until) if slow else _wait(writer, reader, until))
                self.closed += time.perf_counter() < until
            writer.transport.abort()


async def _wait(writer: asyncio.StreamWriter, reader: asyncio.StreamReader, until: float) -> None:
    """Ask once, then keep the connection silent."""
    writer.write(REQUEST + b"\r\n")
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(until - time.perf_counter()):
            while await reader.read(4096):
                pass


async def _trickle(writer: asyncio.StreamWriter, reader: asyncio.StreamReader, until: float) -> None:
    """Send headers that never end, a line every few seconds, until the proxy closes the connection."""
    writer.write(REQUEST)
    while time.perf_counter() < until:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LINE_SECONDS):
                await reader.read(1)
                return
        writer.write(b"X-Slow: 1\r\n")
        await writer.drain()


async def pages(address: str, until: float, taken: list[float], wrong: list[str]) -> None:
    """Ask for the start page, its health and the API once a second, on a new connection each time."""
    while time.perf_counter() < until:
        started = time.perf_counter()
        try:
            async with httpx.AsyncClient(
                base_url=address, verify=False, timeout=30
            ) as web:  # our own authority
                for path in ("/", "/_stcore/health", "/api/health"):
                    answer = await web.get(path)
                    if answer.status_code != 200:
                        wrong.append(f"{path}: {answer.status_code}")
            taken.append(time.perf_counter() - started)
        except httpx.HTTPError as error:
            wrong.append(type(error).__name__)
        await asyncio.sleep(max(0.0, 1 - (time.perf_counter() - started)))


async def measure(address: str, port: int, connections: int, seconds: float) -> dict[str, float]:
    """Measure pages alone, beside idle connections, and beside slow ones."""
    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    figures: dict[str, float] = {}
    for name, idle, slow in (("alone", 0, 0), ("idle", connections, 0), ("slow headers", 0, connections)):
        held, taken, wrong = Held(port, trusting), [], []  # type: ignore[var-annotated]
        until = time.perf_counter() + (seconds if idle or slow else min(seconds, 15))
        async with asyncio.TaskGroup() as everybody:
            everybody.create_task(pages(address, until, taken, wrong))
            for number in range(idle + slow):
                everybody.create_task(held.hold(until, slow=number >= idle))
                if number % 100 == 99:
                    await asyncio.sleep(0.1)
        if not taken:
            sys.exit(f"no page was answered beside {name}: {wrong[:3]}")
        figures[f"{name}: connections opened"] = held.opened
        figures[f"{name}: closed by the proxy"] = held.closed
        figures[f"{name}: refused"] = held.refused
        figures[f"{name}: pages answered"] = len(taken)
        figures[f"{name}: pages not answered"] = len(wrong)
        figures[f"{name}: page, median, s"] = statistics.median(taken)
        figures[f"{name}: page, slowest, s"] = max(taken)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.idle", description=__doc__)
    parser.add_argument("--connections", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--json", type=Path, help="write the figures here too")
    chosen = parser.parse_args()
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(files, 65536), files))
    before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="grasp-idle-") as folder:
        environment = {"GRASP_HOME": folder, "GRASP_ALLOW_ANONYMOUS": "1"}
        port = free_port()
        with (
            serving(environment, free_port()) as (upstream, server),
            proxying([upstream], port, Path(folder)) as (address, proxy),
        ):
            figures = asyncio.run(measure(address, port, chosen.connections, chosen.seconds))
            figures["proxy's peak memory, MiB"] = peak_mib(proxy.pid)
            figures["server's peak memory, MiB"] = peak_mib(server.pid)
    figures["load average before"] = before
    tell(figures, chosen.json)


if __name__ == "__main__":
    main()
