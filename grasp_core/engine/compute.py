"""One run from beginning to end, on a pool; how it is watched differs between a server and a terminal."""

from __future__ import annotations

import time

from grasp_core.annotations import FloatArray
from grasp_core.engine.adaptive import narrowed, settle, stages, stopping, widened
from grasp_core.engine.blocks import Block, Blocks, Progress
from grasp_core.engine.pool import Pool
from grasp_core.engine.run import Prepared, finish, new_tally, prepare, with_gai
from grasp_core.io.load import Dataset
from grasp_core.permutation.tally import Tally
from grasp_core.result import RunResult
from grasp_core.spec import RunSpec


class Watcher:
    """What happens beside a run; this one lets it go on."""

    def counted_before(self) -> bytes | None:
        """The state of an earlier attempt's tally, if it had begun to count."""
        return None

    def computed_before(self, n_groups: int) -> list[tuple[int, FloatArray]]:
        """Blocks of an earlier attempt, as (start, array of shape (block, `n_groups`, 6))."""
        return []

    def begin(self, tally: Tally) -> None:
        """Nothing is computed yet; once the tally counts, its state is all that was computed."""

    def computed(self, start: int, values: FloatArray) -> None:
        """A block was computed, and added to the tally."""

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
    tally = new_tally(prepared)
    started = time.perf_counter()
    _permute(prepared, tally, pool, watcher)
    seconds = time.perf_counter() - started
    return finish(prepared, tally, load_s=load_s, permutations_s=seconds, stopping=stopping(tally, prepared))


def _permute(prepared: Prepared, tally: Tally, pool: Pool, watcher: Watcher) -> None:
    """Stage by stage, from where an earlier attempt ended; what of it cannot be read is computed again."""
    analysis = prepared.spec.analysis
    state = watcher.counted_before()
    resumed = state is not None and tally.restore(state)
    before = [] if resumed else watcher.computed_before(len(prepared.grouping.groups))
    watcher.begin(tally)
    blocks: Blocks | None = None
    for stop in stages(analysis):
        if not tally.active.any():
            return
        for start, values in before:
            if start < stop and not tally.has(start):
                tally.add(start, with_gai(values, analysis))
        if not tally.has_all(stop):
            blocks = Blocks(
                stop,
                pool.n_workers,
                tally.done,
                most=analysis.permutations,
                after=blocks,
                labels=prepared.dataset.annotations.n_annotations,
            )
            _permute_stage(prepared, tally, blocks, pool, watcher)
        if tally.done == [(0, stop)]:  # else it was settled before, and a later stage has begun
            settle(tally, prepared)


def _permute_stage(prepared: Prepared, tally: Tally, blocks: Blocks, pool: Pool, watcher: Watcher) -> None:
    analysis, active = prepared.spec.analysis, tally.active

    def store(block: Block, values: FloatArray) -> None:
        wide = widened(values, active)
        tally.add(block[0], with_gai(wide, analysis))
        watcher.computed(block[0], wide)

    pool.permute(
        narrowed(prepared, active),
        analysis.seed,
        blocks,
        store=store,
        check=lambda: watcher.check(blocks.progress),
    )
