"""What could have been found: shifts planted in data, and the verdict's rule applied to them."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from benchmarks.planted import NOTHING, drawn
from grasp_core.engine import verdict as findable_module
from grasp_core.engine.verdict import odds_of, shift_of, shifted_by
from grasp_core.model.outcome import FEWEST_CLEAR
from grasp_core.model.result import Findable, RunResult
from grasp_core.model.spec import AnalysisSpec
from grasp_core.report.public_view import public_view
from tests.computing import compute_in_threads as run
from tests.engine.asking import question


def test_a_planted_shift_is_as_large_as_asked() -> None:
    data = drawn(NOTHING, 2, items=200)
    inside = np.arange(60) < 30
    odds = odds_of(data.annotations, 1)
    found = shifted_by(data.annotations, odds, inside, 1, 0.12, np.random.default_rng(1))

    def share(of) -> float:
        return float((of.category[inside[of.rater]] == 1).mean())

    assert share(found) - share(data.annotations) == pytest.approx(0.12, abs=0.01)
    others = ~inside[found.rater]
    np.testing.assert_array_equal(found.category[others], data.annotations.category[others])


def test_the_shift_is_read_off_a_curve_of_power() -> None:
    shifts, sets = np.array([0.05, 0.1, 0.15, 0.2, 0.3]), 10_000
    hits = np.round(sets * norm.cdf(-2 + 20 * shifts))
    assert shift_of(shifts, hits, sets) == pytest.approx((2 + norm.ppf(0.8)) / 20, rel=0.01)
    assert shift_of(shifts, np.array([0, 0, 1, 2, 3]), 40) is None


@pytest.fixture(scope="module", autouse=True)
def planting() -> None:
    """Here it is."""


@pytest.fixture(scope="module")
def nothing() -> RunResult:
    spec = replace(question(), analysis=AnalysisSpec((("side",),), permutations=FEWEST_CLEAR, pairs=False))
    return run(drawn(NOTHING, 5, items=30, raters=30, inside=8), spec)


def test_where_nothing_is_clear_it_says_what_could_have_been_found_by_the_seed(nothing: RunResult) -> None:
    (one,) = nothing.findable
    assert one.n_raters in (8, 22)
    assert 0.05 < one.shift < 0.6
    assert RunResult.from_dict(json.loads(json.dumps(nothing.to_dict()))).findable == (one,)
    spec = replace(question(), analysis=nothing.spec.analysis)
    again = run(drawn(NOTHING, 5, items=30, raters=30, inside=8), spec, n_workers=1)
    assert again.findable == nothing.findable


def test_too_few_permutations_and_too_large_data_have_none(nothing: RunResult, monkeypatch) -> None:
    data = drawn(NOTHING, 5, items=30, raters=30, inside=8)
    spec = replace(question(), analysis=replace(nothing.spec.analysis, permutations=500))
    assert run(data, spec).findable == ()
    monkeypatch.setattr(findable_module, "MOST_ANNOTATIONS", 100)
    assert run(data, replace(spec, analysis=nothing.spec.analysis)).findable == ()


def test_strangers_read_no_size_of_a_hidden_group_in_it(nothing: RunResult) -> None:
    few = tuple(replace(row, n_raters=2) for row in nothing.groups[:1]) + nothing.groups[1:]
    shown = public_view(replace(nothing, groups=few, findable=(Findable(2, 0.3),)))
    assert shown.findable == ()
