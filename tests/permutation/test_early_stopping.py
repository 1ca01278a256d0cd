"""When marks are settled: the intervals' promise, and who may stop."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy.stats import binom, false_discovery_control, norm

from grasp_core.analysis.cohesion.columns import Places, cohesion_tests, members, with_dsi
from grasp_core.model.spec import STATISTICS, AnalysisSpec
from grasp_core.permutation.testing import corrections as intervals
from grasp_core.permutation.testing import outcomes as early_stopping
from grasp_core.permutation.testing.deviations import Kept, Tails
from grasp_core.permutation.testing.outcomes import RISK, looks, still_needed
from tests.permutation.two_axes import GAI, GROUPS, by_group_and_axis, kept

SPEC = AnalysisSpec(axes=(("gender",), ("race",)), permutations=100_000, adaptive=True)
MISS = RISK / 3 / len(looks(100_000))

PLACES = Places(5)


def test_looks_are_fixed_and_end_with_the_most() -> None:
    assert looks(100_000) == [
        *(1000, 2000, 3000, 5000, 7000, 10_000, 20_000, 30_000, 50_000, 70_000, 100_000)
    ]
    assert looks(12_345) == [1000, 2000, 3000, 5000, 7000, 10_000, 12_345]
    assert looks(1000) == [1000]
    assert looks(7) == [7]


@pytest.mark.parametrize("share", [0.001, 0.025, 0.05, 0.3, 0.5])
@pytest.mark.parametrize("n", [100, 1000, 20_000])
def test_each_end_of_a_share_misses_as_seldom_as_it_says(share: float, n: int) -> None:
    """Exactly, by the binomial distribution: no simulation."""
    counts = np.arange(n + 1)
    likely = binom.pmf(counts, n, share)
    some = counts[likely > 1e-30]
    ends = np.array([intervals.share_interval(int(count), n, MISS) for count in some])
    assert likely[some][ends[:, 0] > share].sum() <= MISS
    assert likely[some][ends[:, 1] < share].sum() <= MISS
    assert likely[some][ends[:, 0] > share].sum() + likely[some][ends[:, 1] < share].sum() > MISS / 100


def risk(low: float, tie: float, convention, level: float, most: int) -> float:
    """How often, out of 4,000 runs, a test that is settled is settled on the wrong side of `level`."""
    rng = np.random.default_rng(1)
    high = 1 - low - tie
    exact = min(1.0, 2 * min(low + tie, high + tie))
    if convention == "paper":
        exact = low if low + tie < 0.5 else high
    wrong, miss = 0, early_stopping.RISK / 3 / len(looks(most))
    for _ in range(4000):
        counts, before = np.zeros(3, int), 0
        for look in looks(most):
            counts += rng.multinomial(look - before, (low, tie, high))
            before = look
            found = Tails(look, int(counts[0] + counts[1]), int(counts[1] + counts[2]))
            ends = intervals.p_interval(found, convention, miss, False)
            assert ends is not None
            p = found.p(convention)
            assert ends[0] <= p <= ends[1]
            wrong += not ends[0] <= exact <= ends[1]
            if not ends[0] <= exact <= ends[1]:
                break
    return wrong / 4000


@pytest.mark.long
@pytest.mark.parametrize("convention", ["two-sided", "paper"])
@pytest.mark.parametrize(
    ("low", "tie"), [(0.024, 0.0), (0.026, 0.001), (0.02, 0.03), (0.45, 0.1), (0.5, 0.0)]
)
def test_intervals_hold_at_all_looks_but_for_the_risk(monkeypatch, convention, low, tie) -> None:
    """With a risk large enough to be seen: 5 %, and 4,000 runs whose share has a standard error of 0.35 %."""
    monkeypatch.setattr(early_stopping, "RISK", 0.05)
    assert risk(low, tie, convention, 0.05, 20_000) <= 0.05 + 3 * 0.0035


def unsettled(groups, observed, null, spec: AnalysisSpec, **given):
    columns = with_dsi(observed, members(groups, spec))
    tests = cohesion_tests(groups, spec)
    return early_stopping.unsettled(tests, columns, null, spec.permutations, **given)


def run(seed: int, b: int, **analysis):
    rng = np.random.default_rng(seed)
    null = rng.normal(1, 0.2, size=(b, len(GROUPS), len(STATISTICS)))
    observed = rng.normal(1, 0.4, size=(len(GROUPS), len(STATISTICS)))
    spec = dataclasses.replace(SPEC, **analysis)
    return spec, observed, kept(observed, null)


@pytest.mark.parametrize("correction", ["benjamini-hochberg", "benjamini-yekutieli", "max-t"])
@pytest.mark.parametrize("family", ["statistic", "all"])
@pytest.mark.parametrize("seed", range(4))
def test_what_is_settled_is_marked_as_the_exact_p_values_mark_it(seed: int, family, correction) -> None:
    """Shuffled values are normal here, so the exact p-values are known."""
    spec, observed, null = run(seed, 3000, family=family, correction=correction)
    open_marks = set(unsettled(GROUPS, observed, null, spec))
    rows, _ = by_group_and_axis(observed, null, spec)
    exact = 2 * norm.sf(np.abs(observed - 1) / 0.2)
    upper = STATISTICS.index("distance")
    exact[:, upper] = norm.sf((observed[:, upper] - 1) / 0.2)
    checked = 0
    for g, s in np.ndindex(observed.shape):
        outcome = rows[g][STATISTICS[s]]
        if (PLACES.column(g, s), False) not in open_marks:
            assert (outcome.p < 0.05) == (exact[g, s] < 0.05)
            checked += 1
        if correction == "benjamini-hochberg" and (PLACES.column(g, s), True) not in open_marks:
            q = false_discovery_control(exact[:, s] if family == "statistic" else exact.ravel())
            right = q[g] if family == "statistic" else q[g * len(STATISTICS) + s]
            assert (outcome.q < 0.05) == (right < 0.05)
            checked += 1
    assert checked > 20
    assert open_marks  # else nothing was at stake


def test_more_permutations_settle_more() -> None:
    left = [len(unsettled(GROUPS, *run(5, b)[1:], SPEC)) for b in (300, 3000, 30_000)]
    assert left[0] > left[1] > left[2]


def test_a_test_without_p_is_waited_for_only_while_it_may_get_one() -> None:
    spec, observed, null = run(6, 2000)
    values = null.values.copy()
    values[:, PLACES.column(0, 0)] = np.nan  # never estimable
    values[60:, PLACES.column(1, 0)] = np.nan  # not often enough so far
    null = dataclasses.replace(null, values=values)
    found = unsettled(GROUPS, observed, null, spec)
    assert (PLACES.column(0, 0), False) not in found
    assert (PLACES.column(1, 0), False) in found
    assert (PLACES.column(1, 0), False) not in unsettled(GROUPS, observed, null, spec, final=True)
    observed[1, 0] = np.nan
    assert (PLACES.column(1, 0), False) not in unsettled(GROUPS, observed, null, spec)


def test_groups_go_on_for_their_own_tests_and_for_the_maximum_of_their_axis() -> None:
    def needed(*columns: int, **analysis) -> list[bool]:
        spec = dataclasses.replace(SPEC, **analysis)
        return still_needed(cohesion_tests(GROUPS, spec), [(c, False) for c in columns]).tolist()

    race = Places(len(GROUPS)).dsi(1)
    assert needed() == [False] * 5
    assert needed(PLACES.column(1, 3)) == [False, True, False, False, False]
    assert needed(race) == [False, False, True, True, True]
    assert needed(PLACES.column(0, 0), race) == [True, False, True, True, True]
    assert needed(PLACES.column(0, 0), correction="max-t") == [True] * 5
    assert needed(correction="max-t") == [False] * 5


def test_the_largest_gai_has_marks_of_its_own() -> None:
    """One axis, so q is p. The maximum's p is near 0.05: both of its marks are undecided."""
    spec = dataclasses.replace(SPEC, axes=(("race",),), statistics=("gai",))
    groups = GROUPS[2:]
    rng = np.random.default_rng(7)
    null = np.repeat(rng.normal(size=(1000, 3, 1)), len(STATISTICS), axis=2)
    largest = np.sort(null[:, :, GAI].max(axis=1))
    observed = np.full((3, len(STATISTICS)), -0.1)
    observed[0] = largest[-50]
    of_axis = members(groups, spec)
    whole = Kept(with_dsi(observed, of_axis), with_dsi(null, of_axis))
    found = unsettled(groups, observed, whole, spec)
    axis = Places(3).dsi(0)
    assert {(axis, False), (axis, True)} <= set(found)
    _, (dsi,) = by_group_and_axis(observed, whole, spec, groups)
    assert 0.04 < dsi.outcome.p < 0.06
