"""A real Dask scheduler with real worker processes on this machine."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.engine.asking import wait_until
from tests.serving import ROOT


class DaskCluster:
    """Processes that :func:`dask_cluster` ends; without it they end by themselves in a minute or two."""

    def __init__(self, folder: Path, scheme: str, certificates: tuple[str, ...], failures: int) -> None:
        self.workers: list[subprocess.Popen[bytes]] = []
        self._folder = folder
        self._certificates = certificates
        self._scheme = scheme
        self._environment = {
            **os.environ,
            "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": str(failures),
            "PYTHONWARNINGS": "ignore",
        }
        self.start_scheduler("0")

    def start_scheduler(self, port: str, cwd: Path = ROOT) -> None:
        told = self._folder / "scheduler.json"
        told.unlink(missing_ok=True)
        options = ["--host", f"{self._scheme}://127.0.0.1", "--port", port, "--scheduler-file", str(told)]
        options += ["--dashboard-address", "127.0.0.1:0", "--no-dashboard", "--idle-timeout", "120s"]
        self.scheduler = self._start("scheduler", *options, *self._certificates, cwd=cwd)

        def written() -> bool:
            assert self.scheduler.poll() is None, self.log("scheduler")
            return told.exists() and told.read_text().endswith("}")

        wait_until(written)
        self.address: str = json.loads(told.read_text())["address"]

    def start_worker(self, *options: str, cwd: Path = ROOT) -> subprocess.Popen[bytes]:
        """A worker without a nanny: nobody starts it again once it is killed."""
        fixed = ["--no-nanny", "--nthreads", "1", "--no-dashboard", "--dashboard-address", "127.0.0.1:0"]
        fixed += ["--host", "127.0.0.1", "--local-directory", str(self._folder), "--death-timeout", "60"]
        worker = self._start("worker", self.address, *fixed, *self._certificates, *options, cwd=cwd)
        self.workers.append(worker)
        return worker

    def restart(self) -> None:
        """All processes anew, the scheduler at the same address."""
        self.kill()
        self.start_scheduler(self.address.rpartition(":")[2])
        self.start_worker()

    def kill_worker(self, worker: subprocess.Popen[bytes]) -> None:
        self.workers.remove(worker)
        worker.kill()
        worker.wait()

    def kill(self) -> None:
        self.scheduler.kill()
        self.scheduler.wait()
        for worker in list(self.workers):
            self.kill_worker(worker)

    def log(self, role: str) -> str:
        return (self._folder / f"{role}.log").read_text(encoding="utf-8")

    def _start(self, role: str, *options: str, cwd: Path = ROOT) -> subprocess.Popen[bytes]:
        with (self._folder / f"{role}.log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "dask", role, *options],
                cwd=cwd,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )


@contextmanager
def dask_cluster(
    folder: Path, n_workers: int, *, certificates: Mapping[str, Path] | None = None, failures: int = 3
) -> Iterator[DaskCluster]:
    """A cluster of single-threaded workers.

    `certificates` are files by the option of ``dask scheduler`` that names them; `failures` is how many
    deaths of workers Dask lets a task cause.
    """
    options = tuple(text for name, path in (certificates or {}).items() for text in (name, str(path)))
    cluster = DaskCluster(folder, "tls" if certificates else "tcp", options, failures)
    try:
        for _ in range(n_workers):
            cluster.start_worker()
        yield cluster
    finally:
        cluster.kill()
