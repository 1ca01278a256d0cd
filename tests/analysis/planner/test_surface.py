"""The smooth surface, the cheapest design on it, and whom that takes."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from grasp_core.analysis.planner.designs import near_lines, rater_steps, steps
from grasp_core.analysis.planner.surface import chance, cheapest, factor_of, fitted, items_needed, recruitment
from grasp_core.analysis.planner.values import Cell, Fit, Have, Plan, PlanSpec, Sizes
from grasp_core.model.errors import SpecError

SPEC = PlanSpec("labels", 0.25, (20, 400), (20, 1000))
TRUE = Fit(1.5, 0.6, 0.5, 0.1, 90.0, 9000.0, two_sided=False, miss=0.0)


def cells(fit: Fit, factor: float = 1.0, spec: PlanSpec = SPEC) -> list[Cell]:
    """What so many data sets would give without chance."""
    designs = [(raters, items) for raters in (20, 60, 180, 400) for items in (20, 100, 400)]
    found = [float(chance(fit, np.array(j), np.array(spec.annotations(j, i)), factor)) for j, i in designs]
    return [Cell(j, i, 1000, round(1000 * share)) for (j, i), share in zip(designs, found, strict=True)]


def plan(spec: PlanSpec = SPEC) -> Plan:
    have = (Have("Woman", 12, True), Have("Man", 30, False), Have("smaller groups", 3, False))
    sizes = Sizes("yes", 10.0, 0.02, 0.4, 0.0, 1.0, 0.4)
    return Plan(spec, None, have, sizes, (), TRUE, (0.7, 1.4), (45, 60, 2700), 10, 10)


@pytest.mark.parametrize("two_sided", [False, True])
def test_the_curve_behind_the_shares_is_found_again(two_sided):
    true = replace(TRUE, two_sided=two_sided)
    spec = replace(SPEC, target="gai") if two_sided else SPEC
    found = fitted(cells(true), spec)
    assert found.miss < 0.01
    raters, annotations = np.array([30.0, 100, 300]), np.array([3000.0, 20_000, 300_000])
    assert chance(found, raters, annotations) == pytest.approx(chance(true, raters, annotations), abs=0.03)


def test_the_chance_grows_with_raters_and_annotations_from_the_level_of_the_test():
    raters, annotations = np.meshgrid(np.geomspace(1, 1e4, 40), np.geomspace(1, 1e7, 40))
    found = chance(TRUE, raters, annotations)
    assert (np.diff(found, axis=0) >= 0).all()
    assert (np.diff(found, axis=1) >= 0).all()
    assert found[0, 0] == pytest.approx(0.05, abs=0.01)


def test_a_factor_is_found_again():
    assert factor_of(TRUE, cells(TRUE, 1.6), SPEC) == pytest.approx(1.6, rel=0.02)


def test_items_needed_are_those_with_which_the_chance_is_reached():
    items = items_needed(TRUE, SPEC, 0.8, 150)
    assert chance(TRUE, np.array(150.0), np.array(150 * items)) == pytest.approx(0.8, abs=0.005)
    assert items_needed(TRUE, SPEC, 0.95, 5) == math.inf
    each = replace(SPEC, each=5)
    assert items_needed(TRUE, each, 0.8, 150) == pytest.approx(items * 30)


def test_designs_near_lines_are_of_the_grid_and_near():
    found = near_lines(TRUE, SPEC, rater_steps(SPEC), steps(SPEC.items), along=3)
    shares = [float(chance(TRUE, np.array(j), np.array(j * i))) for j, i in found]
    assert len(found) == len(set(found)) <= 9
    assert all(min(abs(share - line) for line in (0.5, 0.8, 0.95)) < 0.12 for share in shares)


def test_nothing_that_reaches_the_goal_is_cheaper_than_the_cheapest():
    found = cheapest(plan())
    assert found is not None
    for raters in rater_steps(SPEC):
        needed = items_needed(TRUE, SPEC, SPEC.goal, raters)
        if needed <= SPEC.items[1]:
            assert found.cost <= raters * max(math.ceil(needed), SPEC.items[0])
    dear = cheapest(plan(replace(SPEC, per_rater=2000.0)))
    assert dear is not None
    assert dear.raters < found.raters
    assert cheapest(plan(), factor=0.2) is None


def test_recruitment_adds_up_and_counts_whom_one_has():
    rows = recruitment(plan(replace(SPEC, per_rater=10.0)), 100, 50)
    assert [(row.group, row.have, row.needed, row.recruit) for row in rows] == [
        ("Woman", 12, 25, 13),
        ("Man", 30, 68, 38),
        ("smaller groups", 3, 7, 4),
    ]
    assert rows[0].annotations == 25 * 50
    assert rows[0].cost == 25 * 50 + 130


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"goal": 0.7}, "the goal is a chance of"),
        ({"share": 0.0}, "share of the raters"),
        ({"raters": (20, 20)}, "raters range from 4"),
        ({"items": (1, 20)}, "items range from 4"),
        ({"share": 0.05}, "fewer than 2 on one side"),
        ({"each": 40}, "labels an item are 2 to 20"),
        ({"per_annotation": 0.0}, "one of them is above"),
    ],
)
def test_what_cannot_be_planned_is_refused(changed, said):
    with pytest.raises(SpecError, match=said):
        replace(SPEC, **changed)
