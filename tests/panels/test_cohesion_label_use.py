"""Label use in results: values, the test of all labels together, intervals, and when there is none."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from grasp_core.groups import form_groups
from grasp_core.io.dataset.load import Dataset
from grasp_core.outcome import LabelUse
from grasp_core.permutation import design
from grasp_core.permutation.draw import permutation
from grasp_core.permutation.exchange import over_all
from grasp_core.remarks.reasons import NoInterval, NoValue
from grasp_core.result import RunResult
from grasp_core.spec import AnalysisSpec, RunSpec
from grasp_core.statistics.counts import count
from grasp_core.statistics.label_use import label_use
from tests.computing import compute_in_threads
from tests.permutation.simulated import DATA_SPEC, dataset

AXES = (("gender",), ("race",))
SHAPES = {"crossed": {}, "sparse": {"items": 60, "missing": 0.7}, "unknown": {"missing": 0.4, "unknown": 0.2}}


def asked(data: Dataset, **analysis: object) -> RunResult:
    spec = RunSpec(DATA_SPEC, AnalysisSpec(**{"axes": AXES, "permutations": 150, "pairs": False, **analysis}))  # type: ignore[arg-type]
    return compute_in_threads(data, spec)


def uses(result: RunResult) -> list[LabelUse]:
    found = [row.label_use for row in result.groups]
    assert all(use is not None for use in found)
    return found  # type: ignore[return-value]


@pytest.mark.parametrize("shape", SHAPES)
def test_values_and_p_by_a_naive_loop(shape: str) -> None:
    """p of a group: how often the largest deviation of any label, in its own chance units, is as large."""
    data = dataset(3, raters=30, **SHAPES[shape])
    result = asked(data)
    grouping = form_groups(data.raters, AXES, min_raters=2)
    layout = over_all(len(data.raters.rater_ids))
    for g, use in enumerate(uses(result)):
        member, others = grouping.member[g], grouping.complement(g)

        def shares(source: np.ndarray, member=member, others=others) -> np.ndarray:
            return label_use(count(data.annotations, member[source]), count(data.annotations, others[source]))

        observed = shares(np.arange(member.size))
        null = np.array([shares(permutation(1, b, *layout)) for b in range(150)])
        np.testing.assert_allclose([one.value for one in use.labels.values()], observed, atol=1e-12)
        deviations, deviation = (np.abs(x) / null.std(axis=0) for x in (null, observed))
        reached = (deviations.max(axis=1) >= deviation.max() - 1e-9).sum()
        assert use.p == pytest.approx((1 + reached) / 151)
        most = list(use.labels).index(use.most)
        assert deviation[most] == pytest.approx(deviation.max(), rel=0.3)
        for k, one in enumerate(use.labels.values()):
            tails = [(null[:, k] <= observed[k] + 1e-12).sum(), (null[:, k] >= observed[k] - 1e-12).sum()]
            assert one.p == pytest.approx(min(1.0, 2 * (1 + min(tails)) / 151))
            assert (one.null is not None) == (k == most)
            assert one.low < one.value < one.high
        assert use.mean is None


def test_labels_are_a_family_of_their_own() -> None:
    found = uses(asked(dataset(1, raters=30)))
    p = np.array([use.p for use in found])
    order = np.argsort(p)
    ranked = np.minimum.accumulate((p[order] * p.size / np.arange(1, p.size + 1))[::-1])[::-1]
    q = np.empty(p.size)
    q[order] = np.minimum(ranked, 1)
    np.testing.assert_allclose([use.q for use in found], q)


@pytest.mark.parametrize("level", ["ordinal", "interval", "ratio"])
def test_the_mean_shifts_where_labels_have_an_order(level) -> None:
    data = dataset(2, raters=30)
    numbers = dataclasses.replace(data.annotations, categories=("1", "2", "4"))
    for use in uses(asked(dataclasses.replace(data, annotations=numbers), level=level)):
        assert use.mean is not None
        assert use.mean.low < use.mean.value < use.mean.high
        if level == "interval":
            shares = np.array([one.value for one in use.labels.values()])
            assert use.mean.value == pytest.approx(shares @ [1, 2, 4])


def test_adaptive_runs_and_max_t_have_it_too() -> None:
    data = dataset(4, raters=30)
    plain = [use.labels for use in uses(asked(data))]
    for analysis in ({"adaptive": True}, {"correction": "max-t"}, {"correction": "max-t", "family": "all"}):
        found = uses(asked(data, **analysis))
        assert [{name: one.value for name, one in use.labels.items()} for use in found] == [
            {name: one.value for name, one in labels.items()} for labels in plain
        ]
        assert all(use.q is not None and use.p is not None and use.q >= use.p for use in found)


def test_small_groups_have_no_interval_and_many_labels_no_label_use(monkeypatch: pytest.MonkeyPatch) -> None:
    small = [use for use in uses(asked(dataset(1, raters=12))) if use.no_interval is not None]
    assert small
    for use in small:
        assert use.no_interval.code in (NoInterval.FEW_RATERS_INSIDE, NoInterval.FEW_RATERS_OUTSIDE)
        assert all(one.low is None and one.high is None for one in use.labels.values())
    monkeypatch.setattr(design, "MOST_TOLD", 2)
    monkeypatch.setattr("grasp_core.panels.cohesion.label_use.MOST_TOLD", 2)
    result = asked(dataset(1, raters=30))
    assert {use.reason for use in uses(result)} == {NoValue.MANY_LABELS(most=2)}
    assert result.groups[0].statistics["distance"].p is not None


def test_where_most_items_have_one_label_of_the_group_shares_are_compared() -> None:
    data = dataset(5, items=200, raters=40, missing=0.93)
    result = asked(data, axes=(("race",),))
    compared = 0
    for row in result.groups:
        assert row.label_use is not None
        shares = np.array([one.value for one in row.label_use.labels.values()])
        alike = row.statistics["distance"].value == pytest.approx((shares**2).sum(), abs=1e-12)
        compared += alike
    assert compared > 0
