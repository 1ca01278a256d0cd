"""Predictions of plans against the truth: ``python -m benchmarks.planner``.

Pilots are drawn from a known generator (:mod:`benchmarks.planted`), whose group differs in a known way. From
each pilot the planner predicts how often a larger data set would show the difference. Data sets from the
generator itself then show how often it does.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np

from benchmarks import planted
from grasp_core.analysis.planner.simulation import (
    SimulatedDesign,
    Trials,
    count_hits,
    model_of,
    significant,
    task_of,
)
from grasp_core.analysis.planner.values import PlanSpec, Target
from grasp_core.model.groups import Group, form_groups
from grasp_core.model.spec import AnalysisSpec
from grasp_core.permutation import questions
from grasp_core.permutation.label_use import residuals_of

GROUP = Group((planted.AXIS,), ("in",))
ANALYSIS = AnalysisSpec(axes=((planted.AXIS,),))
OF_PILOT = 100
"""Data sets simulated from each pilot."""


@dataclass(frozen=True, slots=True)
class Case:
    """A difference, its test, and the design to predict: raters, raters of the group, items."""

    effect: planted.Effect
    target: Target
    raters: int
    inside: int
    items: int


CASES = (
    Case(planted.EFFECTS[0], "distance", 120, 30, 60),
    Case(planted.EFFECTS[2], "gai", 60, 15, 60),
    Case(planted.EFFECTS[3], "gap", 60, 15, 60),
    Case(planted.EFFECTS[4], "labels", 60, 15, 30),
    Case(planted.EFFECTS[1], "gai", 120, 24, 60),
)


def truth(case: Case, sets: int) -> float:
    """Return how often the generator's own data sets of the design show the difference."""
    hits = 0
    for number in range(sets):
        data = planted.drawn(
            case.effect, 10_000 + number, items=case.items, raters=case.raters, inside=case.inside
        )
        grouping = form_groups(data.raters, ANALYSIS.axes)
        one = grouping.some([grouping.groups.index(GROUP)])
        residuals = residuals_of(data.questions, ANALYSIS.level)
        design = questions.lay_out(data.questions, data.raters, one, ANALYSIS, residuals=residuals)
        hits += significant(design, ANALYSIS, case.target, number)
    return hits / sets


def predicted(case: Case, pilot: int, sets: int) -> float:
    """Return the planner's prediction for the design, from one pilot of 60 raters and 60 items."""
    data = planted.drawn(case.effect, 1 + pilot)
    label = data.annotations.categories[-1]
    spec = PlanSpec(case.target, case.inside / case.raters, (20, 400), (20, 400), label=label)
    task = task_of(data, GROUP, spec, min_raters=2)
    if task.pilot is None:
        raise ValueError("a data set is a pilot")
    model = model_of(task.pilot, task.spec, task.categories)
    trial = SimulatedDesign((case.inside, case.raters - case.inside), case.items, None)
    work = Trials(model, trial, case.target, task.categories, "nominal", (1, pilot), 0, sets)
    return count_hits(work) / sets


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=400)
    parser.add_argument("--pilots", type=int, default=16)
    chosen = parser.parse_args()
    misses = []
    print("effect | test | raters (group) x items | truth | predicted, mean | median | SD between pilots")
    for case in CASES:
        true = truth(case, chosen.sets)
        found = np.array([predicted(case, pilot, OF_PILOT) for pilot in range(chosen.pilots)])
        misses.append(abs(found.mean() - true))
        print(
            f"{case.effect.name} | {case.target} | {case.raters} ({case.inside}) x {case.items} | "
            f"{true:.3f} | {found.mean():.3f} | {np.median(found):.3f} | {found.std():.3f}",
            flush=True,
        )
    print(f"missed by {np.mean(misses):.3f} on average over {len(CASES)} cases")


if __name__ == "__main__":
    main()
