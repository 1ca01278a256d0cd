"""A worker's task in a run on a data set in parts: a part is read and added up under some permutations.

What several tasks need, such as the permutations drawn for all parts, a worker makes once and keeps for as
long as the next tasks are about it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from grasp_core.annotations import Annotations, FloatArray
from grasp_core.engine import part_raters
from grasp_core.engine.latest import Latest
from grasp_core.groups import Grouping, form_groups
from grasp_core.guards.check import Seen
from grasp_core.io.parts.plan import PartPlan
from grasp_core.panels.cohesion.self_check import self_check
from grasp_core.permutation import compiled, questions
from grasp_core.permutation.compiled import Profiles
from grasp_core.permutation.kernel.profiles import Membership
from grasp_core.permutation.questions import AnyDesign

RUNS = 4
"""Runs whose plans a worker keeps: those that a server computes side by side."""


RATERS = -1
"""In place of a part: what raters add in all of them (:mod:`~grasp_core.engine.part_raters`)."""


class PartTask(NamedTuple):
    """Permutations `start` to `stop` - 1 of one part of the plan in a file; of some groups, () being all."""

    plan: str
    part: int
    start: int
    stop: int
    groups: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class ObservedPart:
    """A part under the raters' own profiles.

    Parameters
    ----------
    sums : float64 array, shape (G, S)
    seen : Seen
        Of its annotations, to the first question.
    of_raters : tuple of int
        The questions of which the part's raters say what they add to their groups' use of labels.
    seconds : float
        Of one permutation; 0 where that was not measured, which it is of the first part alone.
    """

    sums: FloatArray
    seen: Seen
    of_raters: tuple[int, ...]
    seconds: float


def observe_part(task: PartTask) -> ObservedPart:
    """Compute a part under the raters' own profiles, in a worker.

    Raises
    ------
    DataError
        If a part has to be read again and is another one by now.
    SelfCheckError
        If its IRR differs from ``krippendorff.alpha`` by more than 1e-9.
    """
    run = _run(task.plan)
    answers = run.plan.annotations(task.part)
    design = _design(task, answers, by_rater=True)
    analysis = run.plan.spec.analysis
    fit = part_raters.fit(len(run.plan.raters.rater_ids), run.plan.categories)
    of_raters = part_raters.keep(run.plan.place, task.part, design) if fit else ()
    sums = questions.observed_sums(design)
    for one, found in zip(answers, questions.components(design, sums), strict=True):
        self_check(one, run.grouping, analysis.level, compiled.statistics(found)[:, 0])
    seen = Seen.of(answers[0], run.plan.first_items[task.part])
    return ObservedPart(sums, seen, of_raters, _seconds(task, design) if task.part == 0 else 0.0)


def _seconds(task: PartTask, design: AnyDesign) -> float:
    profiles, seed = _profiles(task, design), _run(task.plan).plan.spec.analysis.seed
    started = time.perf_counter()
    questions.sums(design, seed, task.start, task.stop, profiles)
    return time.perf_counter() - started


def permute_part(task: PartTask) -> FloatArray:
    """A part's sums under each permutation, shape (stop - start, groups, S); in a worker."""
    plan = _run(task.plan).plan
    by_rater = not part_raters.fit(len(plan.raters.rater_ids), plan.categories)

    def make() -> AnyDesign:
        answers = plan.no_annotations() if task.part == RATERS else plan.annotations(task.part)
        return _design(task, answers, by_rater=by_rater)

    design = _designs.get((task.plan, task.part, task.groups), make)
    if task.part == RATERS:
        return _sums_of_raters(task, design)
    profiles = _profiles(task, design)
    return questions.sums(design, plan.spec.analysis.seed, task.start, task.stop, profiles)


def _sums_of_raters(task: PartTask, design: AnyDesign) -> FloatArray:
    """What raters add in all parts."""
    _, membership = _membership(task)
    designs = questions.designs_of(design)
    every = part_raters.of_all(_run(task.plan).plan.place, len(designs))
    sums = [
        compiled.sums_of_raters(one, membership, of_raters, _drawn_profiles(task))
        for one, of_raters in zip(designs, every, strict=True)
    ]
    return np.concatenate(sums, axis=-1)


@dataclass(frozen=True, slots=True, eq=False)
class _Run:
    plan: PartPlan
    grouping: Grouping


_runs = Latest[_Run](RUNS)
_memberships = Latest[tuple[Grouping, Membership]](RUNS)
# Of tasks in a row, those of the same part are many where there are few parts.
_designs = Latest[AnyDesign](2)
# Tasks in a row are about the same permutations, part after part.
_drawn = Latest[Profiles](2)


def _run(place: str) -> _Run:
    def make() -> _Run:
        plan = PartPlan.load(place)
        analysis = plan.spec.analysis
        return _Run(plan, form_groups(plan.raters, analysis.axes, min_raters=analysis.min_raters))

    return _runs.get(place, make)


def _membership(task: PartTask) -> tuple[Grouping, Membership]:
    """The task's groups, and all raters laid out by them."""

    def make() -> tuple[Grouping, Membership]:
        run = _run(task.plan)
        grouping = run.grouping.some(task.groups) if task.groups else run.grouping
        return grouping, Membership(run.plan.raters, grouping, run.plan.spec.analysis)

    return _memberships.get((task.plan, task.groups), make)


def _design(task: PartTask, answers: tuple[Annotations, ...], *, by_rater: bool) -> AnyDesign:
    plan = _run(task.plan).plan
    grouping, membership = _membership(task)
    first, analysis = plan.first_items[task.part], plan.spec.analysis
    return questions.lay_out(answers, plan.raters, grouping, analysis, first, membership, by_rater=by_rater)


def _profiles(task: PartTask, design: AnyDesign) -> Profiles | None:
    """Everybody's profiles under the task's permutations, whatever the part, if the design takes them."""
    return _drawn_profiles(task) if questions.takes_profiles(design) else None


def _drawn_profiles(task: PartTask) -> Profiles:
    _, membership = _membership(task)
    seed = _run(task.plan).plan.spec.analysis.seed
    make = partial(compiled.draw, membership, seed, task.start, task.stop)
    return _drawn.get((task.plan, task.groups, task.start, task.stop), make)
