"""One run from beginning to end, on a pool; how it is watched differs between a server and a terminal."""

from __future__ import annotations

import time

import numpy as np

from grasp_core.annotations import BoolArray, FloatArray
from grasp_core.engine.adaptive import settle, stages, stopping
from grasp_core.engine.blocks import FIRST_LABELS, Block, Blocks, Progress
from grasp_core.engine.partitioned import InParts
from grasp_core.engine.pool import Pool
from grasp_core.engine.run import finish, new_tally, prepare
from grasp_core.io.dataset.load import Dataset
from grasp_core.io.parts.survey import DatasetInParts
from grasp_core.panels.panel import Panel
from grasp_core.permutation.nulls.tally import Tally
from grasp_core.result import Result
from grasp_core.spec import AnalysisSpec, RunSpec


class Watcher:
    """Whoever watches a run; this one lets it go on."""

    def counted_before(self) -> bytes | None:
        """The state of an earlier attempt's tally, if it had begun to count."""
        return None

    def computed_before(self, width: int) -> list[tuple[int, FloatArray]]:
        """Blocks of an earlier attempt, as (start, array of shape (block, `width`))."""
        return []

    def begin(self, tally: Tally) -> None:
        """Nothing is computed yet; once the tally counts, its state is all that was computed."""

    def computed(self, start: int, values: FloatArray) -> None:
        """A block of values (b, ...) was computed, and added to the tally."""

    def check(self, progress: Progress) -> None:
        """Called several times a second; what this raises ends the run."""


def compute(dataset: Dataset, spec: RunSpec, pool: Pool, watcher: Watcher, *, load_s: float = 0.0) -> Result:
    """Compute a run.

    Parameters
    ----------
    dataset : Dataset
        With the spec's models, if it has some; or one in parts.
    spec : RunSpec
    pool : Pool
    watcher : Watcher
    load_s : float
        Seconds that reading took, for the result's timing.

    Raises
    ------
    DataError
        If a part of the data has to be read again and has another number of rows by now.
    SpecError, SelfCheckError
        See :func:`~grasp_core.engine.run.prepare`.
    WorkerError
        If the workers die again and again.
    """
    before = Progress(0, spec.analysis.permutations, None)
    parts = None
    if isinstance(dataset, DatasetInParts):
        parts = InParts(dataset, spec, pool, lambda: watcher.check(before))
    prepared = prepare(dataset, spec, None if parts is None else parts.panel)
    started = time.perf_counter()
    labels = dataset.annotations.n_annotations
    tally = permute(prepared.panel, spec.analysis, parts or pool, watcher, labels=labels)
    seconds = time.perf_counter() - started
    return finish(prepared, tally, load_s=load_s, permutations_s=seconds, stopping=stopping(tally, prepared))


def permute(
    panel: Panel,
    analysis: AnalysisSpec,
    pool: Pool | InParts,
    watcher: Watcher,
    *,
    labels: int = FIRST_LABELS,
) -> Tally:
    """Compute a panel's permutations, stage by stage, from where an earlier attempt ended.

    Parameters
    ----------
    panel : Panel
    analysis : AnalysisSpec
        Number of permutations, seed, and whether they stop early.
    pool : Pool or InParts
    watcher : Watcher
        What of its earlier attempt cannot be read is computed again.
    labels : int
        Annotations that a permutation has to count.
    """
    tally = new_tally(panel, analysis)
    state = watcher.counted_before()
    resumed = state is not None and tally.restore(state)
    before = [] if resumed else watcher.computed_before(tally.active.size * panel.per_unit)
    watcher.begin(tally)
    blocks: Blocks | None = None
    for stop in stages(analysis):
        if not tally.active.any():
            break
        for start, values in before:
            if start < stop and not tally.has(start):
                tally.add(start, panel.columns(values.reshape(len(values), -1, panel.per_unit)))
        if not tally.has_all(stop):
            blocks = Blocks(
                stop, pool.n_workers, tally.done, most=analysis.permutations, after=blocks, labels=labels
            )
            _permute_stage(panel, analysis.seed, tally, blocks, pool, watcher)
        if tally.done == [(0, stop)]:  # else it was settled before, and a later stage has begun
            settle(tally, panel, analysis)
    return tally


def _permute_stage(
    panel: Panel, seed: int, tally: Tally, blocks: Blocks, pool: Pool | InParts, watcher: Watcher
) -> None:
    active = tally.active

    def store(block: Block, values: FloatArray) -> None:
        of_all = widened(values, active)
        tally.add(block[0], panel.columns(of_all))
        watcher.computed(block[0], of_all.reshape(len(values), -1))

    pool.permute(panel.work(active), seed, blocks, store=store, check=lambda: watcher.check(blocks.progress))


def widened(values: FloatArray, active: BoolArray) -> FloatArray:
    """Values of the active units, shape (b, U, V), among those of all units; NaN for the others."""
    if active.all():
        return values
    wide = np.full((len(values), active.size, values.shape[2]), np.nan)
    wide[:, active] = values
    return wide
