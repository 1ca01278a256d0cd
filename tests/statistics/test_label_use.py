"""Label use, distance and raters' residuals: against other formulas and sums written out, and properties."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from grasp_core.analysis.cohesion import results as spread_module
from grasp_core.analysis.cohesion.results import SpreadTest
from grasp_core.model.annotations import Annotations, Axis, Raters
from grasp_core.model.groups import form_groups
from grasp_core.model.spec import AnalysisSpec
from grasp_core.statistics.between_raters import spread, spread_of_sums, spread_terms
from grasp_core.statistics.items import NotEstimableError
from grasp_core.statistics.label_use import (
    Scale,
    distance,
    enough_paired,
    label_use,
    mean_shift,
    shares_distance,
)
from grasp_core.statistics.rater_residuals import RaterResiduals, ResidualSums, difference, evidence, of_sums
from tests.permutation.simulated import coded

NAMES = Scale("nominal", np.arange(3.0))
NUMBERS = Scale("interval", np.array([1.0, 2.0, 5.0]))
RANKS = Scale("ordinal", np.arange(3.0))
counts = st.lists(st.tuples(*[st.integers(0, 4)] * 6), min_size=1, max_size=8)


def sides(rows: list[tuple[int, ...]]) -> tuple[np.ndarray, np.ndarray]:
    both = np.array(rows)
    return both[:, :3], both[:, 3:]


def test_two_items_by_hand() -> None:
    c, d = np.array([[2, 0, 0], [1, 1, 0]]), np.array([[1, 1, 0], [0, 0, 4]])
    # Weights 2 * 2 / 4 = 1 and 2 * 4 / 6 = 4/3; shares differ by (.5, -.5, 0) and (.5, .5, -1).
    np.testing.assert_allclose(label_use(c, d), np.array([7 / 6, 1 / 6, -4 / 3]) / (7 / 3), rtol=1e-15)
    # Item 1: across 1/2, inside 0 and 1. Item 2: across 1, inside 1 and 0.
    assert distance(c, d, NAMES) == pytest.approx((1 * 0.0 + 4 / 3 * 1.0) / (7 / 3))


@given(counts)
def test_label_use_is_the_sum_over_raters(rows: list[tuple[int, ...]]) -> None:
    """The numerator of docs/methods.md by raters: what each gave less what is expected on the item."""
    c, d = sides(rows)
    n, m = c.sum(axis=1), d.sum(axis=1)
    here = (n > 0) & (m > 0)
    if not here.any():
        with pytest.raises(NotEstimableError):
            label_use(c, d)
        return
    share = (c + d)[here] / (n + m)[here, None]
    numerator = (c[here] - n[here, None] * share).sum(axis=0)
    found = label_use(c, d)
    np.testing.assert_allclose(found, numerator / (n * m / np.maximum(n + m, 1))[here].sum(), atol=1e-12)
    assert found.sum() == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(label_use(d, c), -found, atol=1e-12)
    assert shares_distance(c, d, NAMES) == pytest.approx((found**2).sum(), abs=1e-12)


@given(counts, st.integers(0, 2))
def test_a_label_more_of_the_group_raises_its_use(rows: list[tuple[int, ...]], k: int) -> None:
    c, d = sides(rows)
    here = (c.sum(axis=1) > 0) & (d.sum(axis=1) > 0) & (c[:, k] < c.sum(axis=1))
    if not here.any():
        return
    more = c.copy()
    given_up = [next(j for j in range(3) if j != k and row[j]) for row in c[here]]
    more[here, given_up] -= 1  # a rater of the group changes to this label on each of these items
    more[here, k] += 1
    assert label_use(more, d)[k] > label_use(c, d)[k]


@given(counts)
def test_distance_of_numbers_is_twice_the_squared_difference_of_means_without_noise(rows) -> None:
    c, d = sides(rows)
    n, m = c.sum(axis=1), d.sum(axis=1)
    paired = (n > 1) & (m > 1)
    if not paired.any():
        return
    v, total, weight = NUMBERS.values, 0.0, 0.0
    for inside, outside in zip(c[paired], d[paired], strict=True):
        x, y = np.repeat(v, inside), np.repeat(v, outside)
        w = x.size * y.size / (x.size + y.size)
        total += w * 2 * ((x.mean() - y.mean()) ** 2 - x.var(ddof=1) / x.size - y.var(ddof=1) / y.size)
        weight += w
    assert distance(c, d, NUMBERS) == pytest.approx(total / weight, abs=1e-10)


def test_the_mean_of_ranks_is_the_probability_of_superiority_less_a_half() -> None:
    c, d = np.array([[1, 2, 3]]), np.array([[4, 1, 1]])
    x, y = np.repeat(range(3), c[0]), np.repeat(range(3), d[0])
    superior = np.mean([[1.0 if a > b else 0.5 if a == b else 0.0 for b in y] for a in x])
    assert mean_shift(c, d, RANKS) == pytest.approx(superior - 0.5)
    assert np.isnan(mean_shift(c, d, NAMES))
    assert mean_shift(c, d, NUMBERS) == pytest.approx(NUMBERS.values[x].mean() - NUMBERS.values[y].mean())


def test_ordinal_distance_does_not_depend_on_how_many_items_there_are() -> None:
    c, d = np.array([[3, 1, 0], [0, 2, 2]]), np.array([[1, 1, 2], [1, 0, 3]])
    assert distance(np.tile(c, (9, 1)), np.tile(d, (9, 1)), RANKS) == pytest.approx(distance(c, d, RANKS))


def test_distance_is_unbiased_where_both_sides_answer_alike() -> None:
    rng = np.random.default_rng(1)
    shares = rng.dirichlet(np.ones(3), size=400)
    found = [distance(rng.multinomial(3, shares), rng.multinomial(9, shares), NAMES) for _ in range(200)]
    assert abs(np.mean(found)) < 3 * np.std(found) / np.sqrt(len(found))


def test_what_cannot_be_told_is_refused() -> None:
    none, some = np.array([[0, 0, 0], [1, 1, 0]]), np.array([[2, 1, 0], [0, 0, 0]])
    for statistic in (label_use, enough_paired):
        with pytest.raises(NotEstimableError, match="both by the group and by the others"):
            statistic(none, some)
    with pytest.raises(NotEstimableError, match="two raters of the group and by two others"):
        distance(np.array([[1, 0, 0]]), np.array([[2, 0, 0]]), NAMES)


@pytest.mark.parametrize(("paired", "others", "enough"), [(1, 1, 1), (1, 2, 0), (29, 100, 0), (30, 1000, 1)])
def test_whether_enough_items_have_pairs_is_the_same_for_both_sides(paired, others, enough) -> None:
    c = np.array([[1, 1]] * paired + [[2, 1]] * others)
    d = np.array([[3, 0]] * paired + [[1, 0]] * others)
    assert enough_paired(c, d) == enough_paired(d, c) == enough


POSITIONS = np.array([0.0, 1.0, 4.0])
cells = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 6), st.integers(0, 2)), min_size=2, max_size=40)


def annotations_residuals(rows: list[tuple[int, int, int]], raters: int = 7) -> Annotations:
    """One label of an item by a rater, the last that is named."""
    item, rater, label = np.array([(i, j, k) for (i, j), k in {(i, j): k for i, j, k in rows}.items()]).T
    return coded(item, rater, label, 3, (6, raters))


def drawn(seed: int, raters: int = 7, share: float = 0.6) -> Annotations:
    rng = np.random.default_rng(seed)
    rows = [(i, j, int(rng.integers(3))) for i in range(6) for j in range(raters) if rng.random() < share]
    return annotations_residuals(rows, raters)


def residuals_of(data: Annotations) -> list[list[np.ndarray]]:
    """Each rater's residuals, one by one: of the labels and of the position."""
    found: list[list[np.ndarray]] = [[] for _ in data.rater_ids]
    for i in range(data.n_items):
        here = np.flatnonzero(data.item == i)
        for a in here:
            others = [data.category[b] for b in here if b != a]
            if others:
                shares = np.mean([np.eye(3)[k] for k in others], axis=0)
                k = data.category[a]
                away = POSITIONS[k] - np.mean(POSITIONS[others])
                found[data.rater[a]].append(np.append(np.eye(3)[k] - shares, away))
    return found


@given(cells)
def test_sums_are_those_of_residuals_from_everybody_else(rows: list[tuple[int, int, int]]) -> None:
    data = annotations_residuals(rows)
    sums = ResidualSums.of(data)
    each = [one for of_rater in residuals_of(data) for one in of_rater]
    found = RaterResiduals.of(sums, POSITIONS)
    for j, of_rater in enumerate(residuals_of(data)):
        assert sums.n[j] == len(of_rater)
        expected = np.sum(of_rater, axis=0) if of_rater else np.zeros(4)
        np.testing.assert_allclose(sums.total[j], expected[:3], atol=1e-12)
        np.testing.assert_allclose(found.mean[j] * max(len(of_rater), 1), expected, atol=1e-12)
    products = sum(np.outer(one[:3], one[:3]) for one in each)
    np.testing.assert_allclose(sums.products, products, atol=1e-12)
    assert sums.given.tolist() == np.bincount(data.category, minlength=3).tolist()


def test_weights_are_inverse_variances_between_and_within_raters() -> None:
    data = drawn(5)
    found = RaterResiduals.of(ResidualSums.of(data), POSITIONS)
    each = [np.array(one) for one in residuals_of(data)]
    n = np.array([len(one) for one in each])
    for c in range(4):
        within = sum(((one[:, c] - one[:, c].mean()) ** 2).sum() for one in each) / (n - 1).sum()
        mean = np.array([one[:, c].mean() for one in each])
        w = n / within
        centre = np.average(mean, weights=w)
        between = max(0, ((w * (mean - centre) ** 2).sum() - 6) / (w.sum() - (w**2).sum() / w.sum()))
        np.testing.assert_allclose(found.weight[:, c], 1 / (between + within / n))
        np.testing.assert_allclose(found.mean[:, c], mean)


def test_difference_by_hand() -> None:
    mean, weight = np.array([[0.1, 0.4, -0.2, 0.0, -0.1]]).T, np.array([[1.0, 3.0, 2.0, 2.0, 1.0]]).T
    found = RaterResiduals(np.ones(5, np.int64), mean, weight)
    inside = np.array([True, True, False, False, False])
    # m = (.1 + 1.2) / 4; n = 16 / 10; (n - 1) U = (.225^2 + 9 * .075^2) / 10.
    first = ((0.225**2 + 9 * 0.075**2) / 10 + 4 / 4) / (1.6 - 1 + 4)
    # m = -.5 / 5; n = 25 / 9; (n - 1) U = (4 * .1^2 + 4 * .1^2 + 0) / 9.
    second = (0.08 / 9 + 4 / 5) / (25 / 9 - 1 + 4)
    assert difference(found, inside, ~inside)[0] == pytest.approx((0.325 + 0.1) / np.sqrt(first + second))


@pytest.mark.parametrize("seed", range(5))
def test_sums_give_the_difference_of_every_regrouping(seed: int) -> None:
    found = RaterResiduals.of(ResidualSums.of(drawn(seed, 8)), POSITIONS)
    for chosen in combinations(range(7), 3):  # nobody knows of the last
        inside = np.isin(np.arange(8), chosen)
        outside = ~inside & (np.arange(8) < 7)
        sums = (found.terms[side].sum(axis=0) for side in (inside, outside))
        np.testing.assert_allclose(of_sums(*sums), difference(found, inside, outside), rtol=1e-9, atol=1e-12)


def test_mirrored_sides_are_opposite_to_rounding() -> None:
    found = RaterResiduals.of(ResidualSums.of(drawn(1, 8, 1.0)))
    whole = found.terms.sum(axis=0)
    for chosen in combinations(range(8), 4):
        inside = found.terms[list(chosen)].sum(axis=0)
        t, mirrored = of_sums(inside, whole - inside), of_sums(whole - inside, inside)
        np.testing.assert_allclose(t, -mirrored, rtol=1e-13)


def test_one_rater_is_measured_by_what_all_spread() -> None:
    found = RaterResiduals.of(ResidualSums.of(drawn(2)))
    one = np.arange(7) == 0
    assert np.isfinite(difference(found, one, ~one)).all()
    alone = RaterResiduals(found.n, found.mean, np.ones_like(found.weight))
    two = np.arange(7) < 2
    expected = (alone.mean[0] - alone.mean[1]) / np.sqrt(1 + 1)
    np.testing.assert_allclose(difference(alone, one, two & ~one), expected)


def test_a_label_that_nobody_gives_and_one_that_all_give_make_no_difference() -> None:
    data = annotations_residuals([(i, j, (i + j) % 2) for i in range(6) for j in range(7)])
    found = RaterResiduals.of(ResidualSums.of(data))
    side = np.arange(7) < 3
    assert np.isnan(difference(found, side, ~side)).tolist() == [False, False, True]
    assert np.isnan(of_sums(found.terms[side].sum(axis=0), found.terms[~side].sum(axis=0)))[2]
    same = annotations_residuals([(i, j, 0) for i in range(6) for j in range(7)])
    found = RaterResiduals.of(ResidualSums.of(same))
    assert np.isnan(difference(found, side, ~side)).all()
    assert np.isnan(evidence(difference(found, side, ~side), np.array(np.nan), 2))


def test_evidence_is_the_smallest_normal_p() -> None:
    labels, shift = np.array([[1.0, -2.5, np.nan], [0.1, 0.2, 0.0]]), np.array([np.nan, -3.0])
    expected = [-np.log10(2 * 2 * norm.sf(2.5)), -np.log10(2 * norm.sf(3.0))]
    np.testing.assert_allclose(evidence(labels, shift, 2), expected)


INSIDE, RATERS, ITEMS = 10, 40, 60


def leaning(sd_inside: float, seed: int = 1) -> Annotations:
    """Everybody labels everything; raters lean to "yes" by a normal amount, wider in the group."""
    rng = np.random.default_rng(seed)
    lean = rng.normal(0, 1, RATERS) * np.where(np.arange(RATERS) < INSIDE, sd_inside, 0.3)
    chance = 1 / (1 + np.exp(-(rng.normal(0, 0.5, ITEMS)[None] + lean[:, None])))
    rater, item = np.divmod(np.arange(RATERS * ITEMS), ITEMS)
    return coded(item, rater, (rng.random((RATERS, ITEMS)) < chance).ravel().astype(np.int64), ["no", "yes"])


def spread_test(data: Annotations, permutations: int = 499) -> SpreadTest:
    side = Axis(("in", "out"), (np.arange(RATERS) >= INSIDE).astype(np.int32))
    raters = Raters(data.rater_ids, {"side": side})
    spec = AnalysisSpec((("side",),), permutations=permutations)
    return SpreadTest([data], raters, form_groups(raters, spec.axes), spec, permutations)


def test_of_raters_who_rated_alike_it_is_the_ratio_of_variances() -> None:
    """Everybody labelled as much, so all weigh the same: the ratio of the plain variances of means."""
    data = leaning(1.2)
    residuals = RaterResiduals.of(ResidualSums.of(data))
    inside = np.arange(RATERS) < INSIDE
    plain = residuals.mean[inside, 0].var(ddof=1) / residuals.mean[~inside, 0].var(ddof=1)
    assert spread(residuals, inside, ~inside) == pytest.approx(plain)
    assert spread(residuals, ~inside, inside) == pytest.approx(1 / plain)


def test_fewer_than_three_raters_on_a_side_have_none() -> None:
    terms = spread_terms(RaterResiduals.of(ResidualSums.of(leaning(1.2))))
    few, others = terms[:2].sum(axis=0), terms[2:].sum(axis=0)
    assert np.isnan(spread_of_sums(few, others))
    assert np.isfinite(spread_of_sums(terms[:3].sum(axis=0), others))


def test_a_group_that_spreads_more_is_found_and_one_that_does_not_is_not() -> None:
    wide = spread_test(leaning(1.5))(0, alike=False)
    same = spread_test(leaning(0.3))(0, alike=False)
    assert (wide.ratio > 3, wide.p < 0.02) == (True, True)
    assert same.p > 0.05


def test_both_sides_say_the_same_and_blocks_change_nothing(monkeypatch) -> None:
    first, second = (spread_test(leaning(1.0))(g, alike=False) for g in (0, 1))
    assert second.ratio == pytest.approx(1 / first.ratio)
    assert second.p == pytest.approx(first.p)
    monkeypatch.setattr(spread_module, "_AT_ONCE", 7)
    assert spread_test(leaning(1.0))(0, alike=False) == first


@pytest.mark.parametrize("seed", range(1, 5))
def test_p_of_spread_counts_equal_regroupings_whole(seed: int) -> None:
    """Of 70 regroupings of 4 + 4 raters the observed one spreads most, and its mirror least: p is 2 of 70."""
    said = np.random.default_rng(0).random((8, 40)) < np.array([0.05, 0.95, 0.1, 0.9, *[0.5] * 4])[:, None]
    rater, item = np.divmod(np.arange(8 * 40), 40)
    data = coded(item, rater, said.ravel().astype(np.int64), ["no", "yes"])
    raters = Raters(data.rater_ids, {"side": Axis(("in", "out"), np.repeat([0, 1], 4).astype(np.int32))})
    spec = AnalysisSpec((("side",),), permutations=10_000, seed=seed)
    found = SpreadTest([data], raters, form_groups(raters, spec.axes), spec, 10_000)(0, alike=True)
    assert found.p == pytest.approx(2 / 70, abs=4 * np.sqrt(2 / 70 / 10_000))
