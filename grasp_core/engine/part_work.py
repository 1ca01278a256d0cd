"""What a worker does in a run on a data set in parts: it reads a part and adds it up under some permutations.

Of all that a worker has read it keeps the last part, which the next pieces of work are mostly about.
"""

from __future__ import annotations

import functools
import threading
import time
from dataclasses import dataclass
from typing import NamedTuple

from grasp_core.annotations import Annotations, FloatArray
from grasp_core.engine.adaptive import some_groups
from grasp_core.engine.self_check import self_check
from grasp_core.groups import Grouping, form_groups
from grasp_core.io.part_plan import PartPlan
from grasp_core.permutation import kernel, reference
from grasp_core.permutation.design import Design, build_design
from grasp_core.permutation.shuffle import identity


class PartTask(NamedTuple):
    """Permutations `start` to `stop` - 1 of one part of the plan in a file; of some groups, or of all."""

    plan: str
    part: int
    start: int
    stop: int
    groups: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ObservedPart:
    """A part under the raters' own profiles: its sums, shape (G, S), and the seconds of one permutation."""

    sums: FloatArray
    seconds: float


def observe_part(task: PartTask) -> ObservedPart:
    """Compute a part under the raters' own profiles, in a worker.

    Raises
    ------
    DataError
        If a part has to be read again and has another number of rows by now.
    SelfCheckError
        If its IRR differs from ``krippendorff.alpha`` by more than 1e-9.
    """
    with _one_at_a_time:
        run, annotations = _run(task.plan), _annotations(task.plan, task.part)
        design = _design(task.plan, task.part)
    analysis = run.plan.spec.analysis
    sums = kernel.observed_sums(design)
    self_check(annotations, run.grouping, analysis.level, statistics(design, sums)[:, 0])
    started = time.perf_counter()
    kernel.sums(design, analysis.seed, task.start, task.stop)
    return ObservedPart(sums, time.perf_counter() - started)


def explain_part(task: PartTask) -> list[dict[str, str]]:
    """Why statistics are not estimable in a part, a mapping per group; in a worker."""
    with _one_at_a_time:
        run, annotations = _run(task.plan), _annotations(task.plan, task.part)
    here = identity(annotations.n_raters)
    _, reasons = reference.evaluate(annotations, run.grouping, run.plan.spec.analysis, here)
    return reasons


def permute_part(task: PartTask) -> FloatArray:
    """A part's sums under each permutation, shape (stop - start, groups, S); in a worker."""
    with _one_at_a_time:
        run, design = _run(task.plan), _design(task.plan, task.part, task.groups)
    return kernel.sums(design, run.plan.spec.analysis.seed, task.start, task.stop)


def statistics(design: Design, sums: FloatArray) -> FloatArray:
    """From sums over all items, shape (..., S), to statistics, shape (..., 6)."""
    return kernel.statistics(kernel.parts(design, sums))


@dataclass(frozen=True, slots=True, eq=False)
class _Run:
    plan: PartPlan
    grouping: Grouping


# Workers that are threads share a part: the second waits until the first has read it.
_one_at_a_time = threading.Lock()


@functools.lru_cache(maxsize=1)
def _run(place: str) -> _Run:
    plan = PartPlan.load(place)
    analysis = plan.spec.analysis
    return _Run(plan, form_groups(plan.raters, analysis.axes, min_raters=analysis.min_raters))


@functools.lru_cache(maxsize=1)
def _annotations(place: str, part: int) -> Annotations:
    return _run(place).plan.annotations(part)


@functools.lru_cache(maxsize=1)
def _design(place: str, part: int, groups: tuple[int, ...] | None = None) -> Design:
    run, annotations = _run(place), _annotations(place, part)
    grouping = run.grouping if groups is None else some_groups(run.grouping, list(groups))
    first = run.plan.first_items[part]
    return build_design(annotations, run.plan.raters, grouping, run.plan.spec.analysis, first_item=first)
