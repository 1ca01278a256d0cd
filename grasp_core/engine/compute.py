"""One run from beginning to end: its pool, its permutations, which may stop early, and its later stages."""

import itertools
import time
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial

import numpy as np

from grasp_core.analysis.pairs import pairs_of
from grasp_core.analysis.panel import Later, LaterPanel, Panel, RunPanel
from grasp_core.analysis.stages import given_of, slices_of
from grasp_core.engine.pools.pool import Pool
from grasp_core.engine.pools.schedule import FIRST_LABELS, Block, Blocks, Progress
from grasp_core.engine.run import Prepared, agreement_alone, finish, new_tally, prepare
from grasp_core.engine.time_left import GROUPS, VERDICTS, Course, OnCourse
from grasp_core.engine.verdict import explained, findable, too_few_for_verdicts, verdict_open
from grasp_core.engine.watching import Checkpoints, Showing, Watcher
from grasp_core.model.annotations import FloatArray
from grasp_core.model.errors import MissingPackageError, SettingsError
from grasp_core.model.extras import require
from grasp_core.model.groups import Grouping
from grasp_core.model.outcome import Unequal, unequal_axes
from grasp_core.model.result import Result, RunResult, Stopping
from grasp_core.model.settings import Settings
from grasp_core.model.spec import AnalysisSpec, RunSpec
from grasp_core.permutation.testing.outcomes import RISK, looks, still_needed, unsettled
from grasp_core.permutation.testing.tally import Tally
from grasp_core.reading.dataset.load import Dataset


def stopping(tally: Tally, panel: RunPanel | LaterPanel, analysis: AnalysisSpec) -> Stopping | None:
    """Describe how an adaptive run ended for one of its panels; None for a fixed run."""
    if not analysis.adaptive:
        return None
    found = unsettled(panel.tests, panel.observed, tally.null, analysis.permutations, final=True)
    marks = (panel.undecided(column, corrected=corrected) for column, corrected in found)
    return Stopping(tally.permutations, RISK, tuple(marks))


def joined_stopping(first: Stopping | None, then: Stopping | None) -> Stopping | None:
    """Join the endings of a run's panels; they are None for a fixed run."""
    if first is None or then is None:
        return first
    most = max(first.permutations, then.permutations)
    return replace(first, permutations=most, undecided=(*first.undecided, *then.undecided))


Stage = Callable[[Dataset, Grouping, AnalysisSpec, Unequal], Later]

STAGES: tuple[Stage, ...] = (pairs_of, slices_of, given_of)


def later_stages(prepared: Prepared) -> Later:
    """Return the panels of all stages that the spec asks for, and remarks on the parts left out."""
    asked = prepared.dataset, prepared.grouping, prepared.spec.analysis, unequal_axes(prepared.assignment)
    found = [stage(*asked) for stage in STAGES]
    return Later(
        itertools.chain.from_iterable(one.panels for one in found),
        tuple(remark for one in found for remark in one.left_out),
    )


def compute(
    dataset: Dataset,
    spec: RunSpec,
    pool: Pool,
    watcher: Watcher,
    checkpoints: Checkpoints | None = None,
    *,
    load_s: float = 0.0,
) -> Result:
    """Compute a run of a data set, with the spec's models; `load_s`: seconds of reading, for its timing."""
    if not spec.analysis.axes and not spec.models:
        return agreement_alone(dataset, spec, load_s)
    before = Progress(0, spec.analysis.permutations, None)
    prepared = prepare(dataset, spec, lambda: watcher.check(before))
    finished = partial(finish, prepared, load_s=load_s)
    started = time.perf_counter()
    course = Course.of(prepared)
    on_course = OnCourse(watcher, course, GROUPS)
    tally = permute(
        prepared.panel,
        spec.analysis,
        pool,
        on_course,
        checkpoints,
        show=Showing(lambda found, spent: finished(found, permutations_s=spent, provisional=True), on_course),
        labels=dataset.annotations.n_annotations,
        must_continue=partial(verdict_open, prepared),
    )
    seconds = time.perf_counter() - started
    how_it_ended = stopping(tally, prepared.panel, spec.analysis)
    result = finished(tally, permutations_s=seconds, stopping=how_it_ended)
    if not isinstance(result, RunResult):
        return result
    on_verdicts = OnCourse(watcher, course, VERDICTS)
    started = time.perf_counter()

    def again(panel: Panel, analysis: AnalysisSpec, labels: int) -> Tally:
        return permute(panel, analysis, pool, on_verdicts, labels=labels)

    result = explained(result, prepared, tally.n_complete, again)
    seconds += time.perf_counter() - started
    result = replace(result, timing=replace(result.timing, permutations_s=seconds))
    if not any(row.verdict is not None and row.verdict.code == "clear" for row in result.groups):
        check = partial(on_verdicts.check, Progress(0, tally.n_complete, None))
        result = replace(result, findable=findable(prepared, tally, pool, check))
    keeper = checkpoints or Checkpoints()
    return _with_later_stages(result, prepared, pool, partial(OnCourse, watcher, course), keeper)


def _with_later_stages(
    result: RunResult, prepared: Prepared, pool: Pool, stage: Callable[[str], OnCourse], keeper: Checkpoints
) -> RunResult:
    """Add the results of later stages to the result of the groups."""
    analysis, started = prepared.spec.analysis, time.perf_counter()
    later = later_stages(prepared)
    for number, panel in enumerate(later.panels):
        within = stage(panel.name)
        tally = permute(
            panel,
            analysis,
            pool,
            within,
            keeper.of_stage(number),
            show=Showing(partial(_so_far, result, panel), within),
            labels=panel.labels,
            must_continue=partial(too_few_for_verdicts, panel),
        )
        how_it_ended = joined_stopping(result.stopping, stopping(tally, panel, analysis))
        result = replace(panel.into(result, tally, so_far=False), stopping=how_it_ended)
    seconds = result.timing.permutations_s + time.perf_counter() - started
    return replace(
        result,
        warnings=(*result.warnings, *later.left_out),
        timing=replace(result.timing, permutations_s=seconds),
    )


def _so_far(result: RunResult, panel: LaterPanel, tally: Tally, _: float) -> RunResult:
    return panel.into(result, tally, so_far=True)


def permute(
    panel: Panel,
    analysis: AnalysisSpec,
    pool: Pool,
    watcher: Watcher,
    checkpoints: Checkpoints | None = None,
    *,
    show: Callable[[Tally], None] = lambda _: None,
    labels: int = FIRST_LABELS,
    must_continue: Callable[[Tally], bool] = lambda _: False,
) -> Tally:
    """Compute a panel's permutations, stage by stage, from where an earlier attempt ended.

    `show`: called with the tally before the first permutation and several times a second.
    `must_continue`: returns True if no unit of an adaptive run may stop yet, because all are needed together.
    """
    keeper = checkpoints or Checkpoints()
    tally = new_tally(panel, analysis)
    state = keeper.counted_before()
    resumed = state is not None and tally.restore(state)
    before = [] if resumed else keeper.computed_before(tally.active.size * panel.per_unit)
    keeper.begin(tally)
    show(tally)
    blocks: Blocks | None = None

    def check() -> None:
        if blocks is not None:
            watcher.check(blocks.progress)
        show(tally)

    # A run may stop after each of these numbers of permutations.
    for stop in looks(analysis.permutations) if analysis.adaptive else [analysis.permutations]:
        if not tally.active.any():
            break
        for start, values in before:
            if start < stop and not tally.has(start):
                tally.add(start, panel.columns(values.reshape(len(values), -1, panel.per_unit)))
        if not tally.has_all(stop):
            blocks = Blocks(stop, tally.done, most=analysis.permutations, after=blocks, labels=labels)
            _permute_stage(panel, analysis.seed, tally, blocks, pool, keeper, check)
        settled = tally.done != [(0, stop)]  # by an earlier attempt, which began a later stage
        if analysis.adaptive and not settled and not must_continue(tally):
            found = unsettled(panel.tests, panel.observed, tally.null, analysis.permutations)
            tally.active = tally.active & still_needed(panel.tests, found)
    return tally


def _permute_stage(
    panel: Panel,
    seed: int,
    tally: Tally,
    blocks: Blocks,
    pool: Pool,
    keeper: Checkpoints,
    check: Callable[[], None],
) -> None:
    active = tally.active

    def store(block: Block, values: FloatArray) -> None:
        of_all = values
        if not active.all():  # inactive units have no values
            of_all = np.full((len(values), active.size, values.shape[2]), np.nan)
            of_all[:, active] = values
        tally.add(block[0], panel.columns(of_all))
        keeper.computed(block[0], of_all.reshape(len(values), -1))

    pool.permute(panel.work(active), seed, blocks, store=store, check=check)


def server_pool(settings: Settings, make_executor: Callable[[int], Executor]) -> Pool:
    """Make a server's pool: GRASP_WORKERS is the number of this machine's; a cluster has its own number."""
    return make_pool(settings, make_executor, None if settings.dask_address else settings.workers or None)


def make_pool(
    settings: Settings, make_executor: Callable[[int], Executor], n_workers: int | None = None
) -> Pool:
    """Make the pool that the settings ask for, not started yet; raise SettingsError if Dask is unusable."""
    if not settings.dask_address:
        return Pool(make_executor, n_workers)
    try:
        require("GRASP_DASK_ADDRESS", "cluster")
    except MissingPackageError as error:  # a server reports it before its first page
        raise SettingsError(str(error)) from None
    from grasp_core.engine.pools.cluster import ClusterPool, certificates  # importing Dask takes a second

    return ClusterPool(settings.dask_address, certificates(settings), n_workers)
