"""Intervals beside the outcomes of a run, or why there is none."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.special import expit, logit

from grasp_core.analysis.cohesion.columns import Places, group_columns
from grasp_core.analysis.intervals import Scales, intervals
from grasp_core.model.groups import form_groups
from grasp_core.model.remarks.reasons import NoInterval
from grasp_core.model.result import RunResult
from grasp_core.model.spec import IN_GROUP, STATISTICS, AnalysisSpec, RunSpec
from grasp_core.reading.dataset.load import load
from grasp_core.reading.sandbox.read import read_table
from tests.computing import compute_in_threads
from tests.permutation.simulated import DATA_SPEC, dataset

AXES = (("gender",), ("race",))


def asked(seed: int, **analysis: object) -> RunResult:
    spec = RunSpec(DATA_SPEC, AnalysisSpec(axes=AXES, permutations=120, **analysis))  # type: ignore[arg-type]
    return compute_in_threads(dataset(seed, raters=30), spec)


@pytest.mark.parametrize("target", ["both", "raters", "items"])
def test_every_value_has_the_interval_asked_for(target) -> None:
    result = asked(1, interval=target)
    data, analysis = dataset(1, raters=30), result.spec.analysis
    grouping = form_groups(data.raters, AXES, min_raters=2)
    right = intervals(
        data.questions,
        data.raters,
        grouping,
        analysis,
        lambda of, g: group_columns(of, analysis),
        Places(len(grouping.groups), data.annotations.n_categories).names,
    )
    for row, ends in zip(result.groups, right, strict=True):
        for outcome, (low, high) in zip(row.statistics.values(), ends, strict=False):
            assert outcome.no_interval is None
            assert outcome.interval is not None
            assert (outcome.interval.low, outcome.interval.high) == (low, high)
            assert outcome.interval.low < outcome.value < outcome.interval.high
            assert outcome.interval.target == target
    for axis in result.dsi:
        (row,) = (row for row in result.groups if row.group == axis.group)
        assert axis.outcome.interval == row.statistics["gai"].interval


def test_results_with_intervals_are_read_back() -> None:
    result = asked(1)
    assert RunResult.from_dict(json.loads(json.dumps(result.to_dict()))) == result


def test_small_groups_and_small_remainders_have_a_reason() -> None:
    spec = RunSpec(DATA_SPEC, AnalysisSpec(axes=(("gender",),), permutations=120))
    sizes = {}
    for seed in range(40):  # until one side has fewer than five of eleven raters
        result = compute_in_threads(dataset(seed, raters=11), spec)
        sizes = {row.n_raters: row for row in result.groups}
        if min(sizes) < 5:
            break
    small, large = sizes[min(sizes)], sizes[max(sizes)]
    for outcome in small.statistics.values():
        assert outcome.interval is None
        assert outcome.no_interval == NoInterval.FEW_RATERS_INSIDE(raters=small.n_raters, least=5)
    for name, outcome in large.statistics.items():
        if name in IN_GROUP:
            assert outcome.interval is not None
        else:
            assert outcome.no_interval == NoInterval.FEW_RATERS_OUTSIDE(raters=small.n_raters, least=5)


def test_a_value_that_hangs_on_one_unit_has_no_interval() -> None:
    """Of items with two labels of the group there is one alone, so IRR has no value without it."""
    votes = [("i0", f"r{j}", "yes" if j % 2 else "no") for j in range(12)]
    votes += [(f"i{j}", f"r{j}", "yes") for j in range(1, 6)]
    annotations = "\n".join(["item,rater,label", *map(",".join, votes)]).encode()
    raters = "\n".join(["rater,gender", *(f"r{j},{'in' if j < 6 else 'out'}" for j in range(12))]).encode()
    data = load(read_table(annotations, "a.csv"), read_table(raters, "r.csv"), DATA_SPEC, ("gender",))
    result = compute_in_threads(data, RunSpec(DATA_SPEC, AnalysisSpec(axes=(("gender",),), permutations=120)))
    outcomes = result.groups[0].statistics
    assert outcomes["irr"].value is not None
    assert outcomes["irr"].no_interval == NoInterval.NO_VALUE_WITHOUT_ONE()
    assert outcomes["plurality_size"].interval is not None


def test_other_raters_on_these_items_vary_less_than_both() -> None:
    widths = {
        target: np.mean(
            [
                row.statistics[name].interval.high - row.statistics[name].interval.low
                for row in asked(3, interval=target).groups
                for name in STATISTICS
            ]
        )
        for target in ("both", "raters", "items")
    }
    assert widths["both"] > max(widths["raters"], widths["items"])


NAMES = ("irr", "xrr", "voting_agreement", "distance", "mean")
SCALES = Scales.of(NAMES)


def ends(
    whole: list[float], plain: list[tuple[float, float]], logits: list[tuple[float, float]]
) -> np.ndarray:
    return SCALES.ends(np.array([*plain, *logits]), np.array(whole))


def test_logits_stand_behind_the_statistics_where_there_are_any() -> None:
    found = SCALES.with_scaled(np.array([[0.2, -0.1, 0.9, 0.0, 3.0], [1.0, 0.5, 0.9, 0.0, 3.0]]))
    assert found[:, :5].tolist() == [[0.2, -0.1, 0.9, 0.0, 3.0], [1.0, 0.5, 0.9, 0.0, 3.0]]
    assert found[0, 5] == pytest.approx(logit(0.2))
    assert found[1, 6] == pytest.approx(0)
    assert np.isnan(found[[0, 1, 0], [6, 5, 7]]).all()


def test_no_interval_goes_beyond_what_a_statistic_may_be() -> None:
    plain = [(0.5, 1.3), (-1.4, -0.2), (0.7, 1.2), (-0.1, 0.2), (-9.0, 9.0)]
    found = ends([0.9, -0.8, 0.95, 0.05, 0.0], plain, [(np.nan, np.nan)] * 3)
    assert found.tolist() == [[0.5, 1.0], [-1.0, -0.2], [0.7, 1.0], [-0.1, 0.2], [-9.0, 9.0]]


def test_clear_agreement_has_the_ends_of_its_logit_and_chance_keeps_its_own() -> None:
    plain = [(0.05, 0.25), (-0.02, 0.22), (0.7, 0.9), (0.0, 0.2), (0.0, 1.0)]
    of_logit = [(-3.0, -0.5), (-4.0, 0.0), (-5.0, -1.0)]
    clear = ends([0.15, 0.1, 0.8, 0.1, 0.5], plain, of_logit)
    assert clear[0] == pytest.approx(expit(of_logit[0]))
    assert clear[1] == pytest.approx([-0.02, expit(0.0)])
    assert clear[3] == pytest.approx([0.0, np.exp(-1)])
    hardly = ends([0.15, 0.02, 0.8, 0.1, 0.5], plain, of_logit)
    assert hardly[1].tolist() == [-0.02, 0.22]
