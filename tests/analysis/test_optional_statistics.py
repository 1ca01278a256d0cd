"""Gwet's AC1, which only those runs compute that ask for it, counted where kernels lack it."""

from __future__ import annotations

import numpy as np
import pytest

from grasp_core.engine.run import prepare
from grasp_core.model.annotations import Annotations, Axis, Raters
from grasp_core.model.errors import SpecError
from grasp_core.model.groups import form_groups
from grasp_core.model.spec import STATISTICS, AnalysisSpec, RunSpec
from grasp_core.permutation import compiled, questions
from grasp_core.permutation.design import Design, build_design
from grasp_core.permutation.draw import permutation
from grasp_core.permutation.further import further
from grasp_core.statistics.coefficients import gwet_ac1, gwet_ac1_error
from grasp_core.statistics.items import NotEstimableError, count
from tests.computing import compute_in_threads
from tests.permutation.simulated import DATA_SPEC, dataset, simulate
from tests.statistics.test_coefficients import FOUR_RATERS

AC1 = further(["ac1"])


def test_a_run_gives_what_gwet_published() -> None:
    """irrCAC 1.0 for its data set cac.raw4raters: 0.77544; a fifth rater stands outside the group."""
    labels = np.hstack([FOUR_RATERS, np.ones((12, 1), int)])
    item, rater = np.nonzero(labels > 0)
    annotations = Annotations.from_codes(
        item=item,
        rater=rater,
        category=labels[item, rater] - 1,
        item_ids=[f"u{i}" for i in range(12)],
        rater_ids=list("abcde"),
        categories=list("12345"),
    )
    raters = Raters(annotations.rater_ids, {"side": Axis.from_values(["in"] * 4 + ["out"])})
    spec = AnalysisSpec(axes=(("side",),), min_raters=1)
    grouping = form_groups(raters, spec.axes, min_raters=1)
    design = build_design(annotations, raters, grouping, spec, lacking=AC1)
    assert compiled.observed(design)[0, -1] == pytest.approx(0.77544, abs=5e-6)
    assert np.isnan(compiled.observed(design)[1, -1])  # one rater has no pair


@pytest.mark.parametrize("shape", [{"missing": 0.0}, {"missing": 0.3, "unknown": 0.1}, {"categories": 20}])
def test_every_permutation_is_that_of_the_plain_definition(shape) -> None:
    annotations, raters = simulate(3, items=20, **shape)
    spec = AnalysisSpec(axes=(("gender",), ("race",)))
    grouping = form_groups(raters, spec.axes, min_raters=2)
    built = build_design(annotations, raters, grouping, spec, lacking=AC1)
    sent = {name: np.asarray(value) for name, value in built.arrays().items()}
    found = compiled.shuffled(Design.of_arrays(sent), 7, 0, 5)
    plain = compiled.shuffled(build_design(annotations, raters, grouping, spec), 7, 0, 5)
    np.testing.assert_array_equal(found[..., :-1], plain)
    for b in range(5):
        source = permutation(7, b, built.order, built.bounds)
        for g, member in enumerate(grouping.member):
            try:
                right = gwet_ac1(count(annotations, member[source]))
            except NotEstimableError:
                right = np.nan
            assert found[b, g, -1] == pytest.approx(right, abs=1e-12, nan_ok=True)


def test_several_questions_are_averaged() -> None:
    answers, raters = zip(*(simulate(seed, items=15, missing=0.2) for seed in (1, 2)), strict=True)
    spec = AnalysisSpec(axes=(("gender",),))
    grouping = form_groups(raters[0], spec.axes, min_raters=2)
    design = questions.lay_out(answers, raters[0], grouping, spec, lacking=AC1)
    found = questions.together(questions.observed_components(design), 1)[:, -1]
    right = [np.mean([gwet_ac1(count(one, member)) for one in answers]) for member in grouping.member]
    np.testing.assert_allclose(found, right)


def test_a_run_reports_it_with_its_test_and_interval_and_changes_nothing_else() -> None:
    data = dataset(1, items=60, raters=40, missing=0.1)
    asked = {"axes": (("gender",),), "permutations": 200, "interval": "items", "pairs": True}
    plain = compute_in_threads(data, RunSpec(DATA_SPEC, AnalysisSpec(**asked)))
    spec = RunSpec(DATA_SPEC, AnalysisSpec(**asked, statistics=("ac1", *STATISTICS)))
    result = compute_in_threads(data, spec)
    grouping = prepare(data, spec).grouping
    assert result.pairs == plain.pairs
    for row, other, member in zip(result.groups, plain.groups, grouping.member, strict=True):
        assert tuple(row.statistics) == (*STATISTICS, "ac1")
        assert {name: row.statistics[name] for name in STATISTICS} == other.statistics
        assert row.label_use == other.label_use
        found, c = row.statistics["ac1"], count(data.annotations, member)
        assert found.value == pytest.approx(gwet_ac1(c))
        assert 0 < found.p <= found.q <= 1
        reach = (found.interval.high - found.interval.low) / 2
        assert reach == pytest.approx(2 * gwet_ac1_error(c), rel=0.1)


def test_a_run_does_not_compute_it_unless_it_is_asked() -> None:
    assert "ac1" not in AnalysisSpec(axes=(("gender",),)).statistics
    assert "ac1" in AnalysisSpec(axes=(("gender",),), statistics=("ac1",)).statistics
    with pytest.raises(SpecError, match="ac1"):
        AnalysisSpec(axes=(("gender",),), statistics=("ac2",))
