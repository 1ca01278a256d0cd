"""A run on a data set in parts: statistics are ratios of sums over items, and the parts' sums are added.

A piece of work is one part under some permutations. Its sums are a small array, whatever the part's size, so
that no process holds more than a part; they are added in the order of the parts, so that the same data give
the same bits with any number of workers and however the permutations are cut.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from grasp_core.annotations import FloatArray
from grasp_core.engine.adaptive import settle, stages, stopping, widened
from grasp_core.engine.blocks import Progress
from grasp_core.engine.compute import Watcher
from grasp_core.engine.part_work import (
    ObservedPart,
    PartTask,
    explain_part,
    observe_part,
    permute_part,
    statistics,
)
from grasp_core.engine.pool import Pool
from grasp_core.engine.run import (
    Prepared,
    checked_groups,
    explain_gai,
    finish,
    new_tally,
    with_gai,
)
from grasp_core.io.part_plan import PartPlan
from grasp_core.io.survey import PartitionedData
from grasp_core.permutation.design import Design, build_design
from grasp_core.permutation.tally import Tally
from grasp_core.result import RunResult
from grasp_core.spec import STATISTICS, RunSpec
from grasp_core.statistics.estimable import (
    NO_ANNOTATION,
    NO_PAIR,
    NO_SHARED_ITEM,
    ONE_LABEL_ACROSS,
    ONE_LABEL_INSIDE,
    ONE_PLURALITY,
)

BATCH_BYTES = 256 * 2**20
"""Room for the sums of the permutations that are computed together: the more, the rarer parts are read."""
FEWEST = 32
"""Permutations of a piece of work at least: together each costs less than alone."""


def compute_in_parts(
    data: PartitionedData,
    spec: RunSpec,
    pool: Pool,
    watcher: Watcher,
    place: str,
    *,
    load_s: float = 0.0,
) -> RunResult:
    """Compute a run whose annotations stay in their parts.

    Parameters
    ----------
    data : PartitionedData
    spec : RunSpec
    pool : Pool
    watcher : Watcher
        Told how far the run is after each piece of work; blocks are not kept.
    place : str
        What the workers share lies here (:func:`~grasp_core.io.part_plan.workplace`).
    load_s : float
        Seconds that the survey took, for the result's timing.

    Raises
    ------
    DataError
        If a part has to be read again and has another number of rows by now.
    SpecError, SelfCheckError
        See :func:`~grasp_core.engine.run.prepare`; each part's IRR is checked.
    WorkerError
        If the workers die again and again.
    """
    PartPlan.of(data, spec, place).save()
    observed = _observed(data, spec, pool, watcher, place)
    started = time.perf_counter()
    tally = _shuffled(observed, pool, watcher, place)
    permutations_s = time.perf_counter() - started
    end = stopping(tally, observed.prepared)
    return finish(observed.prepared, tally, load_s=load_s, permutations_s=permutations_s, stopping=end)


@dataclass(frozen=True, slots=True, eq=False)
class _Observed:
    """The run's observed statistics, a design without items, and the seconds of one permutation per part."""

    prepared: Prepared
    design: Design
    seconds: Sequence[float]


def _observed(data: PartitionedData, spec: RunSpec, pool: Pool, watcher: Watcher, plan: str) -> _Observed:
    started = time.perf_counter()
    dataset, analysis = data.dataset, spec.analysis
    grouping = checked_groups(dataset, analysis)
    design = build_design(dataset.annotations, dataset.raters, grouping, analysis)
    tasks = [PartTask(plan, part, 0, 1) for part in range(len(data.parts.parts))]
    before = Progress(0, analysis.permutations, None)
    found: list[ObservedPart] = []
    for part in pool.each(observe_part, tasks):
        watcher.check(before)
        found.append(part)
    sums = functools.reduce(np.add, [part.sums for part in found])
    observed = with_gai(statistics(design, sums), analysis)
    reasons: list[dict[str, str]] = [{} for _ in grouping.groups]
    if np.isnan(observed).any():
        for of_part in pool.each(explain_part, tasks):
            watcher.check(before)
            _join(reasons, of_part)
        _only_where(reasons, observed)
        explain_gai(reasons, observed, analysis)
    seconds = time.perf_counter() - started
    prepared = Prepared(dataset, spec, grouping, design, observed, reasons, data.annotations_of, seconds)
    return _Observed(prepared, design, [part.seconds for part in found])


def _shuffled(observed: _Observed, pool: Pool, watcher: Watcher, plan: str) -> Tally:
    """The null distributions, batch by batch."""
    prepared, analysis = observed.prepared, observed.prepared.spec.analysis
    tally, total, reached = new_tally(prepared), analysis.permutations, 0
    began, work = time.perf_counter(), sum(observed.seconds)
    batch = max(BATCH_BYTES // (8 * observed.design.n_groups * observed.design.n_sums), 1)
    for stage in stages(analysis):
        while reached < stage and tally.active.any():
            first, reached = reached, min(reached + batch, stage)
            active = None if tally.active.all() else tuple(np.flatnonzero(tally.active).tolist())
            tasks = list(_tasks(plan, observed.seconds, first, reached, pool.task_seconds, active))
            done = first * work

            def told(task: PartTask) -> None:
                nonlocal done
                done += (task.stop - task.start) * observed.seconds[task.part]
                left = (time.perf_counter() - began) * (total * work / done - 1)
                watcher.check(Progress(int(done / work), total, left))

            values = _added_up(tasks, first, observed.design, pool, told)
            tally.add(first, with_gai(widened(values, tally.active), analysis))
        settle(tally, prepared)
    return tally


def _added_up(
    tasks: Sequence[PartTask], first: int, design: Design, pool: Pool, told: Callable[[PartTask], None]
) -> FloatArray:
    """Statistics from the parts' sums, shape (b, groups, 6)."""
    n_groups = design.n_groups if tasks[0].groups is None else len(tasks[0].groups)
    sums = np.zeros((max(task.stop for task in tasks) - first, n_groups, design.n_sums))
    for task, found in zip(tasks, pool.each(permute_part, tasks), strict=True):
        sums[task.start - first : task.stop - first] += found
        told(task)
    return statistics(design, sums)


def _tasks(
    plan: str,
    seconds: Sequence[float],
    first: int,
    last: int,
    task_seconds: float,
    groups: tuple[int, ...] | None,
) -> Iterator[PartTask]:
    """Part after part, so that each is read once per batch and worker."""
    for part, each in enumerate(seconds):
        size = max(int(task_seconds / max(each, 1e-9)), FEWEST)
        for start in range(first, last, size):
            yield PartTask(plan, part, start, min(start + size, last), groups)


_FURTHER = (
    *(NO_ANNOTATION, NO_PAIR, ONE_LABEL_INSIDE),
    *(NO_SHARED_ITEM, ONE_LABEL_ACROSS, ONE_PLURALITY),
)
"""Reasons by how far a statistic comes. Where all parts together do not get further, none does."""


def _join(reasons: list[dict[str, str]], of_part: Sequence[dict[str, str]]) -> None:
    """Keep for each statistic the reason of the part that comes furthest."""
    for known, found in zip(reasons, of_part, strict=True):
        for name, reason in found.items():
            known[name] = max(known.get(name, reason), reason, key=_FURTHER.index)


def _only_where(reasons: list[dict[str, str]], observed: FloatArray) -> None:
    """Drop the reasons of statistics that all parts together determine."""
    for found, row in zip(reasons, observed, strict=True):
        for name in tuple(found):
            if not np.isnan(row[STATISTICS.index(name)]):
                del found[name]
