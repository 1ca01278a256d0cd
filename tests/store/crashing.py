"""Servers that can be killed: processes of their own, forked from one that has everything imported.

``python -m tests.store.crashing`` reads one JSON object a line, starts a server as it says, and answers with
the process's id.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from grasp_core.engine import saved_runs
from grasp_core.engine import verdict as findable_module
from grasp_core.engine.pools import schedule as blocks_module
from grasp_core.engine.pools import workers
from grasp_core.engine.pools.pool import Pool
from grasp_core.engine.service import Service
from grasp_core.engine.warm import warm
from grasp_core.store import claims as claims_module
from grasp_core.store.database import connect
from grasp_core.store.files import FileStore
from grasp_core.store.runs import RunStore

ROOT = Path(__file__).resolve().parents[2]
SAVE_S, POLL_S, BLOCK_S = 0.05, 0.02, 0.05
PER_SECOND = 10_000
"""Permutations that a server computes at most, so that a run outlives many servers on any machine."""


class Servers:
    """Starts servers on a database."""

    def __init__(self, parent: subprocess.Popen[str], log: Path) -> None:
        self._parent = parent
        self.log = log
        self._alive: set[int] = set()

    def start(self, url: sa.URL, *, lease: float = claims_module.LEASE_SECONDS) -> int:
        """Start a server whose claims last `lease` seconds; returns its process."""
        order = {"url": url.render_as_string(hide_password=False), "log": str(self.log), "lease": lease}
        print(json.dumps(order), file=self._parent.stdin, flush=True)
        pid = int(self._parent.stdout.readline())
        self._alive.add(pid)
        return pid

    def kill(self, pid: int) -> None:
        """kill -9, and wait until it is gone."""
        os.kill(pid, signal.SIGKILL)
        while Path(f"/proc/{pid}").exists():
            time.sleep(0.001)
        self._alive.remove(pid)

    def end(self) -> None:
        for pid in list(self._alive):
            self.kill(pid)

    def computed(self) -> list[tuple[int, int, int, int]]:
        """What the servers computed: process, the run's seed, start, stop."""
        lines = self.log.read_text().splitlines()
        return [
            (int(pid), int(seed), int(start), int(stop)) for pid, seed, start, stop in map(str.split, lines)
        ]


@contextmanager
def servers(log: Path) -> Iterator[Servers]:
    log.touch()
    parent = subprocess.Popen(
        [sys.executable, "-m", "tests.store.crashing"],
        cwd=ROOT,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "TMPDIR": str(log.parent)},  # the killed tidy nothing
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    started = Servers(parent, log)
    try:
        yield started
    finally:
        started.end()
        parent.communicate()


def main() -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the dead are nobody's to bury
    warm()
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            serve(**json.loads(line))
        print(pid, flush=True)


def serve(url: str, log: str, lease: float) -> None:
    """A server as it is in production, except that it is in a hurry to save and slow to compute."""
    claims_module.LEASE_SECONDS = lease
    saved_runs.SAVE_SECONDS = SAVE_S
    saved_runs.POLL_SECONDS = POLL_S
    blocks_module.BLOCK_SECONDS = BLOCK_S
    findable_module.MOST_ANNOTATIONS = 0  # nothing is planted
    blocks_module.FIRST_LABELS = 1  # many blocks, though the data are small
    compute_block = workers.compute_block
    lines = os.open(log, os.O_WRONLY | os.O_APPEND)

    def slow_block(kind: type, seed: int, start: int, stop: int, *, sent: Any) -> Any:
        time.sleep((stop - start) / PER_SECOND)
        computed = compute_block(kind, seed, start, stop, sent=sent)
        os.write(lines, f"{os.getpid()} {seed} {start} {stop}\n".encode())
        return replace(computed, seconds=computed.seconds + (stop - start) / PER_SECOND)

    workers.compute_block = slow_block
    engine = connect(sa.make_url(url))
    service = Service(RunStore(engine), FileStore(engine), Pool(workers.threads, 1))
    service.start()
    threading.Event().wait()


if __name__ == "__main__":
    main()
