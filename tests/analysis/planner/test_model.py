"""The model of a pilot, the smooth surface of power, and the cheapest design on it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from grasp_core.analysis.planner._fitting import LEAN, assumed_model, fit, measured, planted, size_of
from grasp_core.analysis.planner.designs import (
    chance,
    cheapest,
    factor_of,
    fitted,
    items_needed,
    near_lines,
    observed_difference,
    rater_steps,
    recruitment,
    steps,
)
from grasp_core.analysis.planner.make import model_of
from grasp_core.analysis.planner.values import Assumed, Cell, Fit, Have, Plan, PlanSpec, Sizes, Target
from grasp_core.model.errors import SpecError
from tests.analysis.planner.pilots import LABELS, drawn, known_model, with_odd_raters

# The model


SPEC = PlanSpec("labels", 0.3, (20, 200), (20, 200), size=10.0, label="yes")


def test_the_model_that_drew_a_pilot_is_found_again():
    found = fit(drawn(known_model(lean=0.9, sharp=0.6)))
    assert found.centres[0] == pytest.approx([0.0, 0.0, 0.0, 0.0], abs=0.2)
    assert found.centres[1] == pytest.approx([np.log(0.6), -0.3, -0.3, 0.6], abs=0.2)
    assert found.scatter == pytest.approx(np.full(4, 0.3), abs=0.16)
    assert found.overall == pytest.approx([0.5, 0.2, 0.3], abs=0.08)
    # Items spread a little less: raters who differ blur them.
    assert 1.7 < found.spread < 4.0


def test_raters_who_say_mostly_what_others_hardly_say_are_fitted():
    """Whole Newton steps go too far for them, further each time, until nothing is a number any more."""
    found = fit(with_odd_raters())
    assert np.isfinite(found.centres).all()
    assert (found.scatter < 8).all()
    assert found.scatter.argmax() == LEAN + 1  # to "unsure", which they lean to or away from


@pytest.mark.parametrize("own", [0.0, 0.3])
def test_a_view_of_its_own_is_found_where_there_is_one(own):
    assert fit(drawn(known_model(own=own))).own == pytest.approx(own, abs=0.1)


@pytest.mark.parametrize(
    ("target", "size"),
    [
        *(("labels", 12.0), ("labels", -12.0), ("distance", 0.04), ("gap", 0.05), ("gap", -0.03)),
        *(("gai", 1.3), ("gai", 0.8), ("dsi", 1.2)),
    ],
)
def test_what_is_planted_has_the_size_that_was_asked(target: Target, size: float):
    spec = PlanSpec(target, 0.3, (20, 200), (20, 200), size=size, label="yes")
    found = measured(planted(known_model(lean=2.0, own=0.5), spec, LABELS), spec, LABELS)
    assert size_of(found, spec) == pytest.approx(size, rel=0.05)


def test_no_difference_is_in_what_only_has_the_labels_shifted():
    found = measured(planted(known_model(own=0.5), SPEC, LABELS), SPEC, LABELS)
    assert found.points == pytest.approx(10, abs=0.2)
    assert found.gai == pytest.approx(1, abs=0.12)


def test_a_size_out_of_reach_is_refused_with_what_can_be_had():
    spec = PlanSpec("distance", 0.3, (20, 200), (20, 200), size=3.0)
    with pytest.raises(SpecError, match=r"can be planned for from .* to .*; found 3"):
        planted(known_model(), spec, LABELS)
    with pytest.raises(SpecError, match="the DSI to be found is above 1"):
        planted(known_model(), PlanSpec("dsi", 0.3, (20, 200), (20, 200), size=0.9), LABELS)


def test_without_a_size_the_group_differs_as_in_the_pilot():
    pilot = drawn(known_model(lean=0.8, own=0.25))
    spec = PlanSpec("labels", 0.3, (20, 200), (20, 200), label="yes")
    use, more, distance = observed_difference(pilot, spec, LABELS)
    found = measured(model_of(pilot, spec, LABELS), spec, LABELS)
    assert found.points == pytest.approx(100 * use[2], abs=1.5)
    assert found.within - found.agreement == pytest.approx(more, abs=0.02)
    assert found.distance == pytest.approx(distance, abs=0.01)


@pytest.mark.parametrize("agreement", [0.1, 0.4, 0.7])
def test_assumed_raters_agree_as_assumed(agreement):
    spec = PlanSpec("labels", 0.3, (20, 200), (20, 200), size=10.0)
    model = assumed_model(Assumed(3, agreement), seed=1)
    assert measured(model, spec, ("a", "b", "c")).agreement == pytest.approx(agreement, abs=0.01)


def test_what_cannot_be_assumed_is_refused():
    with pytest.raises(SpecError, match="2 to 20 labels"):
        Assumed(labels=1)
    with pytest.raises(SpecError, match=r"between 0\.02 and 0\.9"):
        Assumed(agreement=0.99)


# The surface
SPEC_SURFACE = PlanSpec("labels", 0.25, (20, 400), (20, 1000))
TRUE = Fit(1.5, 0.6, 0.5, 0.1, 90.0, 9000.0, two_sided=False, miss=0.0)


def cells(fit: Fit, factor: float = 1.0, spec: PlanSpec = SPEC_SURFACE) -> list[Cell]:
    """What so many data sets would give without chance."""
    designs = [(raters, items) for raters in (20, 60, 180, 400) for items in (20, 100, 400)]
    found = [float(chance(fit, np.array(j), np.array(spec.annotations(j, i)), factor)) for j, i in designs]
    return [Cell(j, i, 1000, round(1000 * share)) for (j, i), share in zip(designs, found, strict=True)]


def plan(spec: PlanSpec = SPEC_SURFACE) -> Plan:
    have = (Have("Woman", 12, True), Have("Man", 30, False), Have("smaller groups", 3, False))
    sizes = Sizes("yes", 10.0, 0.02, 0.4, 0.0, 1.0, 0.4)
    return Plan(spec, None, have, sizes, (), TRUE, (0.7, 1.4), (45, 60, 2700), 10, 10)


@pytest.mark.parametrize("two_sided", [False, True])
def test_the_curve_behind_the_shares_is_found_again(two_sided):
    true = replace(TRUE, two_sided=two_sided)
    spec = replace(SPEC_SURFACE, target="gai") if two_sided else SPEC_SURFACE
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
    assert factor_of(TRUE, cells(TRUE, 1.6), SPEC_SURFACE) == pytest.approx(1.6, rel=0.02)


def test_items_needed_are_those_with_which_the_chance_is_reached():
    items = items_needed(TRUE, SPEC_SURFACE, 0.8, 150)
    assert chance(TRUE, np.array(150.0), np.array(150 * items)) == pytest.approx(0.8, abs=0.005)
    assert items_needed(TRUE, SPEC_SURFACE, 0.95, 5) == math.inf
    each = replace(SPEC_SURFACE, each=5)
    assert items_needed(TRUE, each, 0.8, 150) == pytest.approx(items * 30)


def test_designs_near_lines_are_of_the_grid_and_near():
    found = near_lines(TRUE, SPEC_SURFACE, rater_steps(SPEC_SURFACE), steps(SPEC_SURFACE.items), along=3)
    shares = [float(chance(TRUE, np.array(j), np.array(j * i))) for j, i in found]
    assert len(found) == len(set(found)) <= 9
    assert all(min(abs(share - line) for line in (0.5, 0.8, 0.95)) < 0.12 for share in shares)


def test_nothing_that_reaches_the_goal_is_cheaper_than_the_cheapest():
    found = cheapest(plan())
    assert found is not None
    for raters in rater_steps(SPEC_SURFACE):
        needed = items_needed(TRUE, SPEC_SURFACE, SPEC_SURFACE.goal, raters)
        if needed <= SPEC_SURFACE.items[1]:
            assert found.cost <= raters * max(math.ceil(needed), SPEC_SURFACE.items[0])
    dear = cheapest(plan(replace(SPEC_SURFACE, per_rater=2000.0)))
    assert dear is not None
    assert dear.raters < found.raters
    assert cheapest(plan(), factor=0.2) is None


def test_recruitment_adds_up_and_counts_whom_one_has():
    rows = recruitment(plan(replace(SPEC_SURFACE, per_rater=10.0)), 100, 50)
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
        replace(SPEC_SURFACE, **changed)
