"""From observed and shuffled values to outcomes: families, direction, levels, histograms, DSI, label use."""

import dataclasses
import functools
import io
import itertools
import math

import numpy as np
import pytest

from grasp_core.analysis.cohesion.columns import Places
from grasp_core.engine.pools.workers import pack, unpack
from grasp_core.model.annotations import Annotations, Raters
from grasp_core.model.groups import form_groups
from grasp_core.model.remarks.reasons import NoValue
from grasp_core.model.spec import STATISTICS, AnalysisSpec, Level
from grasp_core.permutation import label_use, questions
from grasp_core.permutation.draw import exchange_of, identity, permutation
from grasp_core.permutation.questions import Questions
from grasp_core.permutation.testing.corrections import (
    Evidence,
    combined,
    holding,
    p_of,
    ranks,
    share_interval,
    step_down,
)
from grasp_core.permutation.testing.p_values import BINS
from tests.permutation import reference
from tests.permutation.naive import (
    naive_dsi,
    naive_max_t,
    naive_paper,
    naive_step_up,
    naive_two_sided,
    naive_upper,
)
from tests.permutation.simulated import (
    AXES,
    GAI,
    GROUPS,
    NUMBERS,
    SHAPES,
    SPEC,
    around_one,
    by_group_and_axis,
    clustered,
    kept,
    simulate,
)

PLACES = Places(5)


def shuffled(seed: int, *, lost: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Values of which a share has been lost under shuffling."""
    rng = np.random.default_rng(seed)
    observed, null = around_one(rng, 300)
    null[rng.random(null.shape) < lost] = np.nan
    return observed, null


def of_family(family: str, g: int, s: int) -> list[tuple[int, int]]:
    """The tests that share a correction with group g's statistic s."""
    cells = itertools.product(range(len(GROUPS)), range(len(STATISTICS)))
    if family == "statistic":
        return [(h, t) for h, t in cells if t == s]
    if family == "statistic-axis":
        return [(h, t) for h, t in cells if t == s and GROUPS[h].axes == GROUPS[g].axes]
    return list(cells)


@pytest.mark.parametrize("family", ["statistic", "statistic-axis", "all"])
@pytest.mark.parametrize("correction", ["benjamini-hochberg", "benjamini-yekutieli", "max-t"])
@pytest.mark.parametrize("p_value", ["two-sided", "paper"])
@pytest.mark.parametrize("lost", [0.0, 0.2])
def test_every_cell_by_a_naive_loop(family, correction, p_value, lost: float) -> None:
    observed, null = shuffled(8, lost=lost)
    spec = dataclasses.replace(SPEC, family=family, correction=correction, p_value=p_value)
    rows, _ = by_group_and_axis(observed, kept(observed, null), spec)
    formula = {"two-sided": naive_two_sided, "paper": naive_paper}[p_value]
    upper = STATISTICS.index("distance")

    def estimable(g: int, s: int) -> list[float]:
        return [value for value in null[:, g, s] if value == value]

    p = {
        (g, s): (naive_upper if s == upper else formula)(observed[g, s], estimable(g, s))
        for g, s in itertools.product(range(len(GROUPS)), range(len(STATISTICS)))
    }

    @functools.cache
    def corrected(cells: tuple[tuple[int, int], ...]) -> list[float]:
        if correction == "max-t":
            h, t = (list(index) for index in zip(*cells, strict=True))
            found = naive_max_t(observed[h, t], null[:, h, t], [place == upper for place in t])
            return [max(q, p[cell]) for q, cell in zip(found, cells, strict=True)]
        return naive_step_up([p[cell] for cell in cells], correction == "benjamini-yekutieli")

    levels = set()
    for (g, s), expected in p.items():
        outcome = rows[g][STATISTICS[s]]
        assert outcome.value == observed[g, s]
        assert outcome.p == expected
        assert outcome.null_n == len(estimable(g, s))
        middle = sorted(estimable(g, s))[len(estimable(g, s)) // 2]
        assert outcome.null_median == middle
        assert outcome.direction == ("down" if observed[g, s] < middle else "up")
        cells = tuple(of_family(family, g, s))
        q = corrected(cells)[cells.index((g, s))]
        assert outcome.q == pytest.approx(q, abs=1e-12)
        level = "corrected" if q < 0.05 else "nominal" if expected < 0.05 else "none"
        assert outcome.significance == level
        levels.add(level)
        assert len(outcome.null.counts) == BINS
        assert sum(outcome.null.counts) == outcome.null_n
        assert (outcome.null.low, outcome.null.high) == (min(estimable(g, s)), max(estimable(g, s)))
    assert {"nominal", "none"} <= levels  # else this test has compared too little


def test_only_chosen_statistics_are_tested_and_levels_are_strict() -> None:
    observed, null = shuffled(2)
    spec = dataclasses.replace(SPEC, statistics=("irr", "gai"), family="all")
    rows, _ = by_group_and_axis(observed, kept(observed, null), spec)
    assert all(tuple(row) == ("irr", "gai") for row in rows)
    p = [row[name].p for row in rows for name in row]
    assert [row[name].q for row in rows for name in row] == pytest.approx(naive_step_up(p, harmonic=False))
    null = np.broadcast_to(np.arange(399.0)[:, None, None], (399, 1, len(STATISTICS)))
    for observed, p, level in ((8.0, 0.05, "none"), (7.0, 0.045, "corrected")):
        row = np.full((1, len(STATISTICS)), observed)
        rows, _ = by_group_and_axis(row, kept(row, null, GROUPS[:1]), groups=GROUPS[:1])
        outcome = rows[0]["irr"]
        assert outcome.p == p
        assert outcome.significance == level


def test_a_tie_with_the_median_points_up_and_a_constant_null_has_a_histogram() -> None:
    null = np.zeros((300, 1, len(STATISTICS)))
    for rounding in (0.0, 1e-13, -1e-13):
        observed = null[0] + rounding
        rows, _ = by_group_and_axis(observed, kept(observed, null, GROUPS[:1]), groups=GROUPS[:1])
        assert rows[0]["irr"].direction == "up"
        assert rows[0]["irr"].p == 1
    null = np.full((300, 1, len(STATISTICS)), 0.25)
    found = by_group_and_axis(null[0], kept(null[0], null, GROUPS[:1]), groups=GROUPS[:1])[0][0]["irr"]
    assert sum(found.null.counts) == 300
    assert found.null.low < 0.25 < found.null.high


def test_no_observed_value_keeps_its_reason() -> None:
    observed, null = shuffled(3)
    observed[0, 0] = np.nan
    reasons = {PLACES.column(0, 0): NoValue.NO_PAIR()}
    rows, _ = by_group_and_axis(observed, kept(observed, null), reasons=reasons)
    found = rows[0]["irr"]
    assert (found.value, found.p, found.q, found.significance) == (None, None, None, "none")
    assert found.reason == NoValue.NO_PAIR()
    others = [row["irr"].p for row in rows[1:]]
    assert [row["irr"].q for row in rows[1:]] == pytest.approx(naive_step_up(others, harmonic=False))


@pytest.mark.parametrize(
    ("left", "reason"), [(0, "no shuffled"), (1, "only 1 shuffled"), (99, "only 99 shuffled"), (100, None)]
)
def test_too_few_estimable_shuffled_values(left: int, reason: str | None) -> None:
    observed, null = shuffled(4)
    null[left:, 0, 0] = np.nan
    found = by_group_and_axis(observed, kept(observed, null))[0][0]["irr"]
    assert found.value == observed[0, 0]
    assert found.null_n == left
    assert (found.p is None) == (found.q is None) == (reason is not None)
    assert found.reason is None if reason is None else reason in str(found.reason)


# DSI
@pytest.mark.parametrize("lost", [0.0, 0.3, 0.7])
@pytest.mark.parametrize("seed", range(6))
def test_dsi_by_a_naive_loop(seed: int, lost: float) -> None:
    observed, null = shuffled(seed, lost=lost)
    if lost:
        observed[1 + seed % 2, GAI] = np.nan  # the attaining group is found among the others
    rows, found = by_group_and_axis(observed, kept(observed, null))
    assert [row.axes for row in found] == [("gender",), ("race",)]
    p = []
    for row, of_axis in zip(found, ([0, 1], [2, 3, 4]), strict=True):
        attaining, p_max, left = naive_dsi(observed[:, GAI], null[:, :, GAI], of_axis)
        assert row.group == GROUPS[attaining]
        assert row.outcome.value == observed[attaining, GAI]
        assert row.outcome.p == p_max
        assert row.outcome.null_n == left
        assert row.p_group == rows[attaining]["gai"].p
        assert row.significance_group == rows[attaining]["gai"].significance
        p.append(p_max)
    assert [row.outcome.q for row in found] == pytest.approx(naive_step_up(p, harmonic=False))


def test_dsi_counts_lost_permutations_and_has_none_without_any_estimable_gai() -> None:
    observed, null = shuffled(7)
    null[:220, :2, GAI] = np.nan
    null[220:, 0, GAI] = np.nan
    _, (gender, race) = by_group_and_axis(observed, kept(observed, null))
    assert gender.outcome.null_n == 80
    assert gender.outcome.p is None
    assert "only 80" in str(gender.outcome.reason)
    assert race.outcome.p is not None
    assert race.outcome.q == race.outcome.p  # the only test left in the family
    observed, null = shuffled(8)
    observed[:2, GAI] = np.nan
    _, (gender, race) = by_group_and_axis(observed, kept(observed, null))
    assert (gender.group, gender.outcome.value, gender.outcome.p, gender.p_group) == (None, None, None, None)
    assert gender.outcome.reason == NoValue.NO_GROUP_WITH_GAI()
    assert race.group is not None


def slow_mid_rank(values: list[float], at: int) -> float:
    above = sum(other > values[at] + 1e-12 for other in values)
    equal = sum(abs(other - values[at]) <= 1e-12 for other in values)
    return (above + equal / 2) / len(values)


def slow_p(values: list[float], *, two_sided: bool) -> list[float]:
    known = [value for value in values if not math.isnan(value)]
    largest = 1 - 1 / (2 * len(values))
    found = []
    for value in values:
        if math.isnan(value):
            found.append(largest)
            continue
        upper = slow_mid_rank(known, known.index(value))
        found.append(min(2 * min(upper, 1 - upper) if two_sided else upper, largest))
    return found


def slow_combined(use: list[float], distance: list[float], gais: list[list[float]]) -> list[int]:
    n = len(use)
    fisher = [-sum(math.log(p[b]) for p in (use, distance, *gais)) for b in range(n)]
    joined = [slow_mid_rank(fisher, b) for b in range(n)]
    joins = (joined, use, distance, *gais)
    sums = [sum(max(0.0, math.tan((0.5 - p[b]) * math.pi)) for p in joins) for b in range(n)]
    return [sum(other >= one - 1e-12 * max(1, abs(one)) for other in sums) for one in sums]


def slow_q(reached: np.ndarray) -> list[float]:
    n, hypotheses = reached.shape
    order = sorted(range(hypotheses), key=lambda h: reached[0, h])
    q, before = [0.0] * hypotheses, 0.0
    for place, h in enumerate(order):
        hits = sum(min(reached[b, left] for left in order[place:]) <= reached[0, h] for b in range(n))
        before = q[h] = max(before, hits / n)
    return q


def drawn(seed: int, n: int = 61, *, halves: bool = False) -> tuple[list[list[float]], Evidence]:
    """Values of few distinct sizes, some of them without GAI, and what the program makes of them."""
    rng = np.random.default_rng(seed)
    use, distance = rng.normal(size=n).round(1), rng.normal(size=n)
    gais = [rng.normal(size=n).round(1) for _ in range(1 + halves)]
    gais[0][rng.integers(1, n, size=3)] = np.nan
    slow = [slow_p(one.tolist(), two_sided=False) for one in (use, distance)]
    slow += [slow_p(one.tolist(), two_sided=True) for one in gais]
    return slow, Evidence(p_of(use), p_of(distance), tuple(p_of(one, two_sided=True) for one in gais))


@pytest.mark.parametrize("halves", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_each_p_and_the_sum_are_those_of_the_definition(seed: int, halves: bool) -> None:
    slow, evidence = drawn(seed, halves=halves)
    for ours, theirs in zip((evidence.label_use, evidence.distance, *evidence.cohesion), slow, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)
        assert 0 < ours.min() <= ours.max() < 1
    use, distance, *gais = slow
    assert combined(evidence).tolist() == slow_combined(use, distance, gais)


@pytest.mark.parametrize("seed", range(6))
def test_step_down_is_that_of_the_definition_in_any_order_and_never_below_p(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sums = np.maximum(rng.normal(size=(50, 7)), 0).round(1)  # many are equal
    reached = np.stack([ranks(column).reached for column in sums.T], axis=1)
    found = step_down(reached)
    np.testing.assert_allclose(found.q, slow_q(reached), rtol=1e-12)
    assert (found.q >= reached[0] / 50).all()
    assert (np.diff(found.q[np.argsort(reached[0], kind="stable")]) >= 0).all()
    assert found.bound.tolist() == [share_interval(round(50 * q) - 1, 49, 0.05)[1] for q in found.q]
    order = rng.permutation(7)
    other = step_down(reached[:, order])
    np.testing.assert_array_equal([found.q[order], found.bound[order]], [other.q, other.bound])


def test_values_that_differ_by_rounding_are_equal_and_one_hypothesis_needs_no_correction() -> None:
    found = ranks(np.array([0.1 + 0.2, 0.3, 0.3 - 1e-9]))
    assert found.above.tolist() == [0, 0, 2]
    assert found.reached.tolist() == [2, 2, 3]
    assert found.middle.tolist() == [2 / 6, 2 / 6, 5 / 6]
    reached = ranks(np.array([5.0, 1, 2, 5, 3])).reached
    assert reached.tolist() == [2, 5, 4, 2, 3]
    assert step_down(reached[:, None]).q.tolist() == [0.4]


def test_one_p_near_1_does_not_wipe_out_others_and_a_test_is_named_where_all_it_belongs_to_holds() -> None:
    n = 199
    rising, falling = np.arange(n)[::-1].astype(float), np.arange(n).astype(float)
    evidence = Evidence(p_of(rising), p_of(rising), (p_of(falling),))
    assert combined(evidence)[0] <= 2
    n = 999
    rng = np.random.default_rng(5)

    def extreme(share: float) -> np.ndarray:
        """The observed value lies beyond all but so many."""
        values = rng.normal(size=n)
        return np.concatenate([[np.quantile(values, 1 - share)], values])

    strong, nothing = extreme(0.001), extreme(0.6)
    alone = Evidence(p_of(nothing), p_of(strong), (p_of(extreme(0.6), two_sided=True),))
    assert holding(alone) == ("distance",)
    both = Evidence(p_of(strong), p_of(extreme(0.001)), (p_of(nothing, two_sided=True),))
    assert holding(both) == ("label_use", "distance")
    # Each is below the level by itself, but not beside two others that say nothing.
    weak = Evidence(p_of(extreme(0.04)), p_of(extreme(0.9)), (p_of(extreme(0.5), two_sided=True),))
    assert holding(weak) == ()
    assert holding(Evidence(None, p_of(extreme(0.01)), ())) == ("distance",)


# Label use under permutations
def laid_out(answers: tuple[Annotations, ...], raters: Raters, spec: AnalysisSpec) -> Questions:
    grouping = form_groups(raters, spec.axes, min_raters=spec.min_raters)
    residuals = label_use.residuals_of(answers, spec.level)
    return questions.lay_out(answers, raters, grouping, spec, residuals=residuals)


def assert_parity(answers: tuple[Annotations, ...], raters: Raters, spec: AnalysisSpec) -> None:
    grouping = form_groups(raters, spec.axes, min_raters=spec.min_raters)
    terms = laid_out(answers, raters, spec).terms
    assert terms is not None
    expected = reference.differences(answers, grouping, spec, identity(answers[0].n_raters))
    np.testing.assert_allclose(label_use.observed(terms), expected, rtol=1e-9, atol=1e-10)
    found = label_use.shuffled(terms, spec.seed, NUMBERS.start, NUMBERS.stop)
    for b, values in zip(NUMBERS, found, strict=True):
        source = permutation(spec.seed, b, *exchange_of(raters, spec))
        expected = reference.differences(answers, grouping, spec, source)
        np.testing.assert_allclose(values, expected, rtol=1e-9, atol=1e-10)  # NaN equals NaN only


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("strata", "level"), [((), "nominal"), (("region",), "ordinal")])
def test_every_shape(shape: str, strata: tuple[str, ...], level: Level) -> None:
    annotations, raters = simulate(3, **SHAPES[shape])
    spec = AnalysisSpec(axes=AXES, min_raters=1, seed=9, strata=strata, level=level)
    assert_parity((annotations,), raters, spec)


@pytest.mark.parametrize("nested", [True, False])
def test_clusters(nested: bool) -> None:
    annotations, raters = clustered(3, nested=nested, missing=0.3, unknown=0.1)
    spec = AnalysisSpec(axes=AXES[:2], min_raters=1, seed=9, strata=("region",), cluster="team")
    assert_parity((annotations,), raters, spec)


@pytest.mark.parametrize("level", ["nominal", "ordinal"])
def test_several_questions(level: Level) -> None:
    answers = [simulate(4, missing=0.3), simulate(5, categories=2, missing=0.3), simulate(6, categories=120)]
    spec = AnalysisSpec(axes=AXES, min_raters=1, seed=9, level=level)
    told = tuple(annotations for annotations, _ in answers)
    assert_parity(told, answers[0][1], spec)
    terms = laid_out(told, answers[0][1], spec).terms
    assert terms.n_labels == 5  # of 120 labels nothing is told
    alone = laid_out(told[-1:], answers[0][1], spec)
    assert (alone.terms, questions.observed_differences(alone)) == (None, None)


def test_a_permutation_does_not_depend_on_its_block(monkeypatch: pytest.MonkeyPatch) -> None:
    annotations, raters = simulate(3, missing=0.4, unknown=0.1)
    terms = laid_out((annotations,), raters, AnalysisSpec(axes=AXES, min_raters=1)).terms
    assert terms is not None
    whole = label_use.shuffled(terms, 1, 0, 70)
    monkeypatch.setattr(label_use, "ROOM", 1)
    np.testing.assert_array_equal(label_use.shuffled(terms, 1, 0, 70), whole)
    np.testing.assert_array_equal(label_use.shuffled(terms, 1, 33, 70), whole[33:])


def test_a_packed_design_computes_the_same() -> None:
    annotations, raters = simulate(3, missing=0.4, unknown=0.1)
    design = laid_out((annotations,), raters, AnalysisSpec(axes=AXES, min_raters=1))
    again = unpack(questions.Questions, io.BytesIO(pack(design)))
    expected = questions.shuffled(design, 9, 5, 8)
    np.testing.assert_array_equal(questions.shuffled(again, 9, 5, 8), expected)
    assert expected.shape[-1] == 10 + 3 + 1 + 3
