"""A worker's task in a run on a data set in parts: a part is read and added up under some permutations.

Of all that a worker has read it keeps the last part, which the next pieces of work are mostly about.
"""

from __future__ import annotations

import functools
import threading
import time
from dataclasses import dataclass
from typing import NamedTuple

from grasp_core.annotations import Annotations, FloatArray
from grasp_core.groups import Grouping, form_groups
from grasp_core.io.parts.plan import PartPlan
from grasp_core.panels.cohesion.self_check import self_check
from grasp_core.permutation import compiled, questions
from grasp_core.permutation.questions import AnyDesign


class PartTask(NamedTuple):
    """Permutations `start` to `stop` - 1 of one part of the plan in a file; of some groups, () being all."""

    plan: str
    part: int
    start: int
    stop: int
    groups: tuple[int, ...] = ()


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
        run, answers = _run(task.plan), _annotations(task.plan, task.part)
        design = _design(task.plan, task.part, task.groups)
    analysis = run.plan.spec.analysis
    sums = questions.observed_sums(design)
    for one, found in zip(answers, questions.parts(design, sums), strict=True):
        self_check(one, run.grouping, analysis.level, compiled.statistics(found)[:, 0])
    started = time.perf_counter()
    questions.sums(design, analysis.seed, task.start, task.stop)
    return ObservedPart(sums, time.perf_counter() - started)


def permute_part(task: PartTask) -> FloatArray:
    """A part's sums under each permutation, shape (stop - start, groups, S); in a worker."""
    with _one_at_a_time:
        run, design = _run(task.plan), _design(task.plan, task.part, task.groups)
    return questions.sums(design, run.plan.spec.analysis.seed, task.start, task.stop)


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
def _annotations(place: str, part: int) -> tuple[Annotations, ...]:
    return _run(place).plan.annotations(part)


@functools.lru_cache(maxsize=1)
def _design(place: str, part: int, groups: tuple[int, ...]) -> AnyDesign:
    run, answers = _run(place), _annotations(place, part)
    grouping = run.grouping.some(groups) if groups else run.grouping
    first = run.plan.first_items[part]
    return questions.lay_out(answers, run.plan.raters, grouping, run.plan.spec.analysis, first)
