"""Runs without a server."""

from __future__ import annotations

from grasp_core.engine.compute import compute
from grasp_core.engine.pools import workers
from grasp_core.engine.pools.pool import Pool
from grasp_core.engine.watching import Watcher
from grasp_core.io.dataset.load import Dataset
from grasp_core.result import RunResult
from grasp_core.spec import RunSpec


def compute_in_threads(dataset: Dataset, spec: RunSpec) -> RunResult:
    pool = Pool(workers.threads, 2)
    try:
        return compute(dataset, spec, pool, Watcher())
    finally:
        pool.close()
