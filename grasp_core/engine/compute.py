"""One run from beginning to end, on a pool; how it is watched differs between a server and a terminal."""

from __future__ import annotations

import time

import numpy as np

from grasp_core.annotations import FloatArray
from grasp_core.engine.blocks import Block, Blocks, Progress
from grasp_core.engine.pool import Pool
from grasp_core.engine.run import finish, prepare
from grasp_core.io.load import Dataset
from grasp_core.result import RunResult
from grasp_core.spec import RunSpec


class Watcher:
    """What happens beside a run; this one lets it go on."""

    def computed_before(self, n_groups: int) -> list[tuple[int, FloatArray]]:
        """Blocks of an earlier attempt, as (start, array of shape (block, `n_groups`, 6))."""
        return []

    def computed(self, start: int, values: FloatArray) -> None:
        """A block was computed."""

    def check(self, progress: Progress) -> None:
        """Called several times a second; what this raises ends the run."""


def compute(
    dataset: Dataset, spec: RunSpec, pool: Pool, watcher: Watcher, *, load_s: float = 0.0
) -> RunResult:
    """Compute a run.

    Parameters
    ----------
    dataset : Dataset
    spec : RunSpec
    pool : Pool
    watcher : Watcher
    load_s : float
        Seconds that reading took, for the result's timing.

    Raises
    ------
    SpecError, SelfCheckError
        See :func:`~grasp_core.engine.run.prepare`.
    WorkerError
        If the workers die again and again.
    """
    prepared = prepare(dataset, spec)
    total, n_groups = spec.analysis.permutations, prepared.design.n_groups
    shuffled = np.empty((total, n_groups, 6))
    done: list[Block] = []
    for start, values in watcher.computed_before(n_groups):
        shuffled[start : start + len(values)] = values
        done.append((start, start + len(values)))
    blocks = Blocks(total, pool.n_workers, done)

    def store(block: Block, values: FloatArray) -> None:
        shuffled[slice(*block)] = values
        watcher.computed(block[0], values)

    started = time.perf_counter()
    pool.permute(
        prepared.design,
        spec.analysis.seed,
        blocks,
        store=store,
        check=lambda: watcher.check(blocks.progress),
    )
    seconds = time.perf_counter() - started
    return finish(prepared, shuffled, load_s=load_s, permutations_s=seconds)
