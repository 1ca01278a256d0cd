"""Runs without a server, and results that all test processes share."""

import fcntl
import json
import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from grasp_core.engine.compute import compute
from grasp_core.engine.pools import workers
from grasp_core.engine.pools.pool import Pool
from grasp_core.engine.pools.schedule import Progress
from grasp_core.engine.watching import Checkpoints, Watcher
from grasp_core.model.result import Result, RunResult
from grasp_core.model.spec import RunSpec
from grasp_core.reading.dataset.load import Dataset


class Noted(Watcher):
    """Keeps how far the run is whenever it says so, and what it shows meanwhile."""

    def __init__(self) -> None:
        self.seen: list[Progress] = []
        self.shown: list[Result] = []

    def check(self, progress: Progress) -> None:
        self.seen.append(progress)

    def found(self, provisional: Result) -> None:
        self.shown.append(provisional)


def compute_in_threads(
    dataset: Dataset,
    spec: RunSpec,
    watcher: Watcher | None = None,
    checkpoints: Checkpoints | None = None,
    n_workers: int = 2,
) -> RunResult:
    with closing(Pool(workers.threads, n_workers)) as pool:
        return compute(dataset, spec, pool, watcher or Watcher(), checkpoints)


def once(folders: pytest.TempPathFactory, name: str, make: Callable[[], RunResult]) -> RunResult:
    """A result that one of the test processes makes, and the others read from its file."""
    folder = folders.getbasetemp()
    shared = (folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder) / f"{name}.json"
    with Path(f"{shared}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not shared.exists():
            shared.write_text(json.dumps(make().to_dict()), encoding="utf-8")
    return RunResult.from_dict(json.loads(shared.read_text(encoding="utf-8")))
