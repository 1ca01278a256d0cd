"""The model of a pilot, and differences planted in it."""

from __future__ import annotations

import numpy as np
import pytest

from grasp_core.analysis.planner._fitting import LEAN, assumed_model, fit, measured, planted, size_of
from grasp_core.analysis.planner.designs import observed_difference
from grasp_core.analysis.planner.make import model_of
from grasp_core.analysis.planner.values import Assumed, PlanSpec, Target
from grasp_core.model.errors import SpecError
from tests.analysis.planner.pilots import LABELS, drawn, known_model, with_odd_raters

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
