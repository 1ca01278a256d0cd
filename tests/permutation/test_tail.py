"""Curves through the tails of null distributions, and early stopping: what p and marks they give."""

import itertools
import math
import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, false_discovery_control, gamma, norm

from grasp_core.analysis.cohesion.columns import Places, cohesion_tests, members, with_dsi
from grasp_core.model.outcome import Outcome
from grasp_core.model.remarks.reasons import NoFit
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.spec import STATISTICS, AnalysisSpec
from grasp_core.permutation.testing import corrections as intervals
from grasp_core.permutation.testing import families as testing
from grasp_core.permutation.testing import outcomes as early_stopping
from grasp_core.permutation.testing.outcomes import RISK, looks, outcomes, still_needed
from grasp_core.permutation.testing.p_values import MOST, Extremes, Kept, Maximum, Tails
from grasp_core.permutation.testing.tail import ENOUGH, REACH, share_beyond
from grasp_core.permutation.testing.tally import Counted, Tally
from grasp_core.statistics.rater_residuals import evidence
from tests.permutation.simulated import GAI, GROUPS, around_one, by_group_and_axis, kept

B = 5000
MANY = 60.0
"""The logarithm of so many regroupings that they bound nothing."""
NULLS = {
    "normal": lambda rng, n: rng.standard_normal(n),
    "skewed": lambda rng, n: rng.gamma(5, size=n),
    "skewed the other way": lambda rng, n: -rng.gamma(5, size=n),
    "with an end": lambda rng, n: rng.beta(8, 3, size=n),
}


def asked(n: int, tail: str = "two-sided", regroupings: float | None = MANY) -> testing.Tests:
    """One column, a unit, n columns in a family."""
    left = None if regroupings is None else np.full(n, regroupings)
    family = testing.Family(tuple(range(n)), tail, "benjamini-hochberg")
    return testing.Tests((family,), np.eye(n, dtype=np.bool_), regroupings=left)


def outcome_of(observed: float, null: np.ndarray, tail: str = "two-sided", left: float = MANY) -> Outcome:
    one = np.array([observed])
    return outcomes(asked(1, tail, left), one, Kept(one, null[:, None]), {})[0]


def drawn(name: str, seed: int, n: int = B) -> np.ndarray:
    return NULLS[name](np.random.default_rng(seed), n)


@given(
    name=st.sampled_from(sorted(NULLS)),
    seed=st.integers(0, 20),
    steps=st.lists(st.floats(0, 3), min_size=2, max_size=8),
    tail=st.sampled_from(["two-sided", "upper"]),
    down=st.booleans(),
)
def test_p_never_rises_with_the_distance_and_is_never_0(name, seed, steps, tail, down) -> None:
    null = drawn(name, seed)
    sign = -1 if down and tail == "two-sided" else 1
    start = np.quantile(null, 0.99 if sign > 0 else 0.01)
    places = start + sign * null.std() * np.cumsum(steps)
    p = [outcome_of(float(place), null, tail).p for place in places]
    assert all(later <= earlier for earlier, later in itertools.pairwise(p))
    assert min(p) >= 1 / (REACH * B)


@pytest.mark.parametrize("name", sorted(NULLS))
@pytest.mark.parametrize("tail", ["two-sided", "upper"])
def test_where_ten_go_as_far_p_is_counted(name: str, tail: str) -> None:
    null = np.sort(drawn(name, 1))
    for beyond in (ENOUGH, ENOUGH + 1, 100):
        found = outcome_of(float(null[-beyond]), null, tail)
        assert found.fit is None
        assert found.no_fit is None
        assert found.p == (1 if tail == "upper" else 2) * (1 + beyond) / (B + 1)
    found = outcome_of(float(null[-ENOUGH + 1]), null, tail)
    assert found.fit.counted == (1 if tail == "upper" else 2) * ENOUGH / (B + 1)
    assert 0.3 < found.p / found.fit.counted <= 1


@pytest.mark.parametrize(
    ("draw", "point"),
    [
        (lambda rng: rng.standard_normal(10_000), norm.isf),
        (lambda rng: rng.gamma(8, size=10_000), gamma(8).isf),
        (lambda rng: -rng.gamma(8, size=10_000), lambda p: -gamma(8).ppf(p)),
    ],
)
@pytest.mark.parametrize("p", [1e-3, 1e-4, 1e-5, 1e-6])
def test_known_tails_are_met_within_a_factor_of_1_5(draw, point, p: float) -> None:
    """In the middle of 40 null distributions; points from SciPy's own distributions."""
    nulls = (draw(np.random.default_rng([7, seed])) for seed in range(40))
    found = [share_beyond(float(point(p)), Extremes.of(null, upper=True)) for null in nulls]
    fitted = [one[0] for one in found if not isinstance(one, Remark)]
    assert len(fitted) >= 36
    assert abs(math.log(float(np.median(fitted)) / p)) < math.log(1.5)


@pytest.mark.parametrize("p", [1e-4, 1e-5, 1e-6])
def test_logarithms_of_p_are_met_too(p: float) -> None:
    """As label use has it, of two labels whose differences are each other's mirror."""
    fitted = []
    for seed in range(40):
        z = np.random.default_rng([7, seed]).standard_normal((10_000, 1))
        null = evidence(np.concatenate([z, -z], axis=1), np.full(10_000, np.nan), 1)
        found = share_beyond(-math.log10(p), Extremes.of(null, upper=True))
        fitted += [] if isinstance(found, Remark) else [found[0]]
    assert len(fitted) >= 36
    assert abs(math.log(float(np.median(fitted)) / p)) < math.log(1.5)


def test_no_p_is_below_what_regroupings_allow_and_few_or_equal_values_are_counted() -> None:
    null = drawn("normal", 2)
    few = math.log(700)
    assert outcome_of(9.0, null, "upper", few).p == pytest.approx(1 / 700)
    assert outcome_of(9.0, null, "two-sided", few).p == pytest.approx(2 / 700)
    found = outcome_of(9.0, null)
    assert found.fit.limit
    assert found.p == 2 / (REACH * B)
    skewed = drawn("skewed", 3)  # both directions are each other's mirror
    assert outcome_of(-30.0, -skewed).p == outcome_of(30.0, skewed).p
    few = outcome_of(5.0, drawn("normal", 1, 600))
    assert (few.fit, few.p) == (None, 2 / 601)
    assert few.no_fit == NoFit.FEW_FOR_TAIL(shuffled=600, least=620)
    coarse = outcome_of(5.0, np.round(drawn("normal", 1), 1))
    assert (coarse.fit, coarse.p) == (None, 2 / (B + 1))
    assert coarse.no_fit == NoFit.NO_CURVE()
    constant = outcome_of(1.0, np.zeros(B))
    assert constant.no_fit == NoFit.NO_CURVE()


def test_without_the_option_p_is_counted_and_q_follows_from_the_p_used() -> None:
    null, one = drawn("normal", 1), np.array([5.0])
    for tests, so_far in ((asked(1, regroupings=None), False), (asked(1), True)):
        found = outcomes(tests, one, Kept(one, null[:, None]), {}, so_far=so_far)[0]
        assert (found.p, found.fit, found.no_fit) == (2 / (B + 1), None, None)
    null = np.stack([drawn("normal", seed) for seed in range(20)], axis=1)
    observed = np.where(np.arange(20) == 3, 5.5, 0.3)
    tests = asked(20)
    found = outcomes(tests, observed, Kept(observed, null), {})
    assert found[3].fit is not None
    assert found[3].q == pytest.approx(20 * found[3].p)
    strict = replace(tests, families=(replace(tests.families[0], correction="max-t"),))
    held = outcomes(strict, observed, Kept(observed, null), {})[3]
    assert held.p == found[3].p
    assert held.q == 1 / (B + 1)


@pytest.mark.parametrize("seed", range(4))
def test_blocks_and_their_order_change_nothing_where_values_are_counted(seed: int) -> None:
    columns = 3
    rng = np.random.default_rng(5)
    null = rng.standard_normal((B, columns)) * [1, 2, 1] + [0, 1, 0]
    null[:, 2] = np.abs(null[:, :2]).max(axis=1)
    null[rng.random(B) < 0.1] = np.nan
    observed = np.array([4.5, -9.0, 9.5])
    largest = {2: Maximum((0, 1), within=2)}
    families = (testing.Family((0, 1, 2), "two-sided", "max-t", (2,)),)
    tests = replace(asked(columns), largest=largest, families=families)

    def fed(cuts: list[int], kept: int) -> list[Outcome]:
        tally = Tally(observed, tests.needs, B, tests.maxima, kept=kept, extremes=True)
        blocks = list(zip(cuts, [*cuts[1:], B], strict=True))
        random.Random(seed).shuffle(blocks)
        for start, stop in blocks:
            tally.add(start, null[start:stop].copy())
        again = Tally(observed, tests.needs, B, tests.maxima, kept=kept, extremes=True)
        if tally.counting:
            assert again.restore(tally.state())
            tally = again
        found = outcomes(tests, observed, tally.null, {}).values()
        return [replace(one, null=None, null_median=None) for one in found]

    cuts = [0, *sorted(random.Random(seed).sample(range(1, B), 12))]
    assert fed(cuts, 2000) == fed([0], 2000)
    whole = fed([0], B)
    assert fed(cuts, B) == whole
    for ours, right in zip(fed(cuts, 2000), whole, strict=True):
        assert ours.fit is not None
        assert abs(math.log(ours.p / right.p)) < 1  # moments are those of the first values


def test_the_extremes_that_are_kept_are_those_of_all_values() -> None:
    values = np.random.default_rng(1).standard_normal((3000, 2))
    values[::7, 1] = np.nan
    counted = Counted(np.zeros(2), values[:400], [], extremes=True)
    for block in (values[1000:], values[:1000]):
        counted.add(block)
    whole = Kept(np.zeros(2), values)
    for column in range(2):
        for upper in (True, False):
            ours, right = (null.extremes(column, upper=upper) for null in (counted, whole))
            assert ours.values.tolist() == right.values.tolist()
            assert (ours.n, ours.values.size) == (right.n, MOST)


# When marks are settled, and who may stop
SPEC = AnalysisSpec(axes=(("gender",), ("race",)), permutations=100_000, adaptive=True)
MISS = RISK / 3 / len(looks(100_000))

PLACES = Places(5)


def test_looks_are_fixed_and_end_with_the_most() -> None:
    first = [1000, 2000, 3000, 5000, 7000, 10_000]
    assert looks(100_000) == [*first, 20_000, 30_000, 50_000, 70_000, 100_000]
    assert looks(12_345) == [*first, 12_345]
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
    observed, null = around_one(np.random.default_rng(seed), b, apart=0.4)
    spec = replace(SPEC, **analysis)
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
    null = replace(null, values=values)
    found = unsettled(GROUPS, observed, null, spec)
    assert (PLACES.column(0, 0), False) not in found
    assert (PLACES.column(1, 0), False) in found
    assert (PLACES.column(1, 0), False) not in unsettled(GROUPS, observed, null, spec, final=True)
    observed[1, 0] = np.nan
    assert (PLACES.column(1, 0), False) not in unsettled(GROUPS, observed, null, spec)


def test_groups_go_on_for_their_own_tests_and_for_the_maximum_of_their_axis() -> None:
    def needed(*columns: int, **analysis) -> list[bool]:
        spec = replace(SPEC, **analysis)
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
    spec = replace(SPEC, axes=(("race",),), statistics=("gai",))
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
