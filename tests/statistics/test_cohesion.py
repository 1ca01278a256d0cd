"""In-group and cross-group cohesion: by hand, published figures, the xRR library's vector, krippendorff."""

import itertools
import math
from functools import partial

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grasp_core.model.annotations import Int64Array
from grasp_core.model.remarks.reasons import NoValue
from grasp_core.permutation.design import drawn_ranks
from grasp_core.statistics.association import dsi, gai
from grasp_core.statistics.cross_group import cross_negentropy, plurality_agreement, voting_agreement, xrr
from grasp_core.statistics.in_group import irr, negentropy, plurality_size
from grasp_core.statistics.items import NotEstimableError, count, matched_gai
from grasp_core.statistics.levels import distance_of
from tests.permutation.simulated import coded
from tests.strategies import counts_of, label_counts, rated


@pytest.mark.parametrize(
    ("c", "alpha"),
    [
        # The item with one label does not count. N = 6, M = (3, 3).
        # D_o = 1/6 (0/1 + 0/1 + (4 - 2)/1) = 1/3; D_e = (36 - 9 - 9) / (6 * 5) = 3/5.
        # alpha = 1 - (1/3) / (3/5) = 4/9.
        ([[2, 0], [0, 2], [1, 1], [1, 0]], 4 / 9),
        # N = 6, M = (4, 2). D_o = 1/6 ((9 - 9)/2 + (9 - 5)/2) = 1/3; D_e = (36 - 16 - 4) / 30 = 8/15.
        # alpha = 1 - (1/3) (15/8) = 3/8.
        ([[3, 0], [1, 2]], 3 / 8),
        # N = 4, M = (2, 2). D_o = 1/4 (2 + 2) = 1; D_e = (16 - 8) / 12 = 2/3; alpha = 1 - 3/2.
        ([[1, 1], [1, 1]], -0.5),
    ],
    ids=["two raters", "three raters", "negative"],
)
def test_irr_by_hand(c: list[list[int]], alpha: float) -> None:
    assert irr(np.array(c)) == pytest.approx(alpha, abs=1e-15)


def test_irr_as_published_by_irrcac() -> None:
    """Two abstractors' 100 diagnoses (Gwet 2014); irrCAC 1.0 (R), vignette "overview": alpha 0.7972585."""
    both = np.array([[13, 0, 0], [0, 20, 7], [0, 4, 56]])
    first, second = np.divmod(np.repeat(np.arange(9), both.ravel()), 3)
    assert irr(np.eye(3, dtype=np.int64)[first] + np.eye(3, dtype=np.int64)[second]) == pytest.approx(
        0.7972585, abs=5e-8
    )


def test_irr_by_naive_pairs() -> None:
    """The definition without any algebra: mean distances over pairs, items weighted by their labels."""
    c = np.array([[2, 1, 0, 0], [0, 3, 1, 1], [1, 0, 0, 1], [0, 0, 1, 0], [4, 0, 0, 0]])
    units = [[k for k in range(4) for _ in range(row[k])] for row in c]
    units = [unit for unit in units if len(unit) >= 2]
    total = sum(len(unit) for unit in units)
    within = sum(sum(a != b for a, b in itertools.permutations(unit, 2)) / (len(unit) - 1) for unit in units)
    everything = [label for unit in units for label in unit]
    apart = sum(a != b for a, b in itertools.permutations(everything, 2)) / (total * (total - 1))
    assert irr(c) == pytest.approx(1 - within / total / apart, abs=1e-14)


@given(data=rated())
def test_irr_from_annotations_is_krippendorffs_alpha(data) -> None:
    """Through the counting, from a matrix of raters by items with holes."""
    annotations, _ = data
    matrix = np.full((annotations.n_raters, annotations.n_items), np.nan)
    matrix[annotations.rater, annotations.item] = annotations.category
    try:
        value = irr(count(annotations, np.ones(annotations.n_raters, dtype=np.bool_)))
    except NotEstimableError:
        return
    expected = krippendorff.alpha(reliability_data=matrix, level_of_measurement="nominal")
    assert value == pytest.approx(expected, abs=1e-12)


def test_counts_only_the_chosen_raters() -> None:
    annotations = coded([1, 0, 0, 1, 2], [0, 1, 0, 2, 2], [1, 0, 1, 0, 1], 3, (4, 3))
    found = count(annotations, np.array([True, True, False]))
    assert found.tolist() == [[1, 1, 0], [0, 1, 0], [0, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize(
    ("statistic", "c", "value"),
    [
        (plurality_size, [[3, 1], [1, 1], [0, 0]], 5 / 8),  # (3/4 + 1/2) / 2; no labels, no item
        # Item 1: ln 2 - 0. Item 2: ln 2 - ln 2 = 0. Item 3 does not count.
        (negentropy, [[2, 0], [1, 1], [0, 0]], math.log(2) / 2),
        # H(1/2, 1/4, 1/4) = 1/2 ln 2 + 2 (1/4) ln 4 = 3/2 ln 2.
        (negentropy, [[2, 1, 1]], math.log(3) - 1.5 * math.log(2)),
        *((plurality_size, [[0, 1]], 1), (negentropy, [[0, 1]], math.log(2))),  # n = 1 is unanimous
    ],
)
def test_plurality_size_and_negentropy_by_hand(statistic, c, value: float) -> None:
    assert statistic(np.array(c)) == pytest.approx(value, abs=1e-15)


@given(c=label_counts())
def test_ranges(c: Int64Array) -> None:
    k = c.shape[1]
    if not c.any():
        return
    assert 1 / k - 1e-12 <= plurality_size(c) <= 1
    assert -1e-12 <= negentropy(c) <= math.log(k) + 1e-12


@given(c=label_counts())
def test_an_item_without_labels_changes_nothing(c: Int64Array) -> None:
    longer = np.vstack([c, np.zeros_like(c[:1])])
    for statistic in (irr, negentropy, plurality_size):
        assert _value(statistic, longer) == pytest.approx(_value(statistic, c), abs=1e-12, nan_ok=True)


@given(c=label_counts())
def test_an_unused_category_counts_in_K_only(c: Int64Array) -> None:  # noqa: N802
    wider = np.hstack([c, np.zeros_like(c[:, :1])])
    k = c.shape[1]
    for statistic, gain in ((irr, 0), (plurality_size, 0), (negentropy, math.log((k + 1) / k))):
        assert _value(statistic, wider) == pytest.approx(_value(statistic, c) + gain, abs=1e-12, nan_ok=True)


C = np.array([[2, 0], [1, 1], [0, 2]])
D = np.array([[2, 1], [0, 3], [1, 2]])


def test_matched_gai_by_hand_whatever_items_lack_two_labels_of_a_side() -> None:
    # n = 2 and m = 3 everywhere, so weights are equal. p = (1/2, 1/2), q = (1/3, 2/3).
    # Din = 0, 1, 0; IRR = 1 - (1/3) / (1/2) = 1/3. Dx = 1/3, 1/2, 1/3; XRR = 1 - (7/18) / (1/2) = 2/9.
    assert matched_gai(C, D) == pytest.approx((1 / 3) / (2 / 9))
    c = np.vstack([C, [[1, 0], [9, 0]]])
    d = np.vstack([D, [[0, 9], [0, 1]]])
    assert matched_gai(c, d) == pytest.approx(matched_gai(C, D))


def test_levels_weigh_distances() -> None:
    c = np.array([[4, 0, 0], [1, 3, 0], [0, 1, 3]])
    d = np.array([[3, 1, 0], [1, 2, 1], [0, 0, 4]])
    distance = distance_of(["1", "2", "5"], "interval")
    found = matched_gai(c, d, distance)
    assert found != pytest.approx(matched_gai(c, d))
    assert found * xrr(c, d, distance) == pytest.approx(  # equal sizes: the weights are those of XRR
        1 - _inside(c, distance(np.ones(3, np.int64)))
    )


def _inside(c: np.ndarray, apart: np.ndarray) -> float:
    n = c.sum(axis=1)
    p = (c / n[:, None]).mean(axis=0)
    return float((((c @ apart) * c).sum(axis=1) / (n * (n - 1))).mean() / (p @ apart @ p))


@pytest.mark.parametrize(
    ("c", "d"),
    [
        ([[1, 0]], [[2, 0]]),  # no item with two of the group
        ([[2, 0]], [[2, 0]]),  # one same label
        ([[2, 0], [0, 2]], [[0, 2], [2, 0]]),  # XRR below 0
    ],
)
def test_where_there_is_none(c: list[list[int]], d: list[list[int]]) -> None:
    with pytest.raises(NotEstimableError):
        matched_gai(np.array(c), np.array(d))


NAN = math.nan
VALUES = st.floats(-1, 1) | st.sampled_from([NAN, 0.0, -0.0, 2e-16, -2e-16])


def test_gai_by_hand_in_its_shape() -> None:
    # White men of DICES-350 (Table 5 of the paper): 0.218 / 0.173 = 1.2601.
    assert gai(np.array([0.218]), np.array([0.173]))[0] == pytest.approx(1.26, abs=5e-4)
    # A group with less agreement than chance has a negative index; the ratio is still defined.
    assert gai(np.array([-0.1]), np.array([0.2]))[0] == pytest.approx(-0.5)
    assert np.isnan(gai(np.array([0.6]), np.array([2e-16]))[0])
    assert gai(np.ones((3, 2, 5)), np.full((3, 2, 5), 2.0)).shape == (3, 2, 5)


@given(inside=VALUES, across=VALUES)
def test_gai_has_no_value_just_where_cross_cohesion_is_not_positive(inside: float, across: float) -> None:
    value = gai(np.array([inside]), np.array([across]))[0]
    assert np.isnan(value) == (np.isnan(inside) or np.isnan(across) or across <= 1e-12)
    if not np.isnan(value):
        assert value == inside / across


def test_dsi_is_the_largest_estimable_gai() -> None:
    gais = np.array([[0.5, NAN, 1.25], [NAN, NAN, NAN], [-2.0, NAN, -3.0]])
    assert dsi(gais) == pytest.approx([1.25, NAN, -2.0], nan_ok=True)
    assert np.isnan(dsi(np.empty(0)))


# Cross-group cohesion
# The official xRR library's own test (Wong, Paritosh & Aroyo 2021).
# X = (BB, BBB, AA, AAA, AB) plus items 6 and 7 that Y lacks (AAA, AAB); Y = (BB, AB, AB, AB, AA).
OFFICIAL_X = np.array([[0, 2], [0, 3], [2, 0], [3, 0], [1, 1], [3, 0], [2, 1]])
OFFICIAL_Y = np.array([[0, 2], [1, 1], [1, 1], [1, 1], [2, 0], [0, 0], [0, 0]])


def first(c: Int64Array) -> Int64Array:
    return np.tile(np.arange(c.shape[1])[::-1], (2, len(c), 1))


@st.composite
def sides(draw: st.DrawFn) -> tuple[Int64Array, Int64Array]:
    shape = draw(st.tuples(st.integers(1, 6), st.integers(2, 4)))
    return draw(counts_of(shape)), draw(counts_of(shape))


@pytest.mark.parametrize("items", [5, 6, 7])
def test_xrr_is_the_official_librarys(items: int) -> None:
    # By hand: R = 12, S = 10; D_o = (0 + 5/2 + 4/2 + 5/2 + 4/2) / 22 = 9/22; D_e = 1/2; 1 - 18/22 = 2/11.
    value = xrr(OFFICIAL_X[:items], OFFICIAL_Y[:items])
    assert value == pytest.approx(0.1818182, abs=5e-8)
    assert value == pytest.approx(2 / 11, abs=1e-15)


def test_xrr_by_hand() -> None:
    # R = 4, S = 3. Item 1: 3 labels, distance 0; item 2: 4 labels, distance 1 - (1*0 + 1*2)/4 = 1/2.
    # D_o = (4/2)/7 = 2/7; D_e = 1 - (3/4 1/3 + 1/4 2/3) = 7/12; XRR = 1 - 24/49.
    assert xrr(np.array([[2, 0], [1, 1]]), np.array([[1, 0], [0, 2]])) == pytest.approx(25 / 49, abs=1e-15)


def test_cross_negentropy_smooth_by_hand() -> None:
    # p = (1/2, 1/2), q = (5/2, 1/2) / 3; H(p, q) = 1/2 ln(6/5) + 1/2 ln 6 = 1/2 ln(36/5).
    value = cross_negentropy(np.array([[1, 1]]), np.array([[2, 0]]))
    assert value == pytest.approx(math.log(2) - math.log(36 / 5) / 2, abs=1e-15)
    # The other way round: p = (1, 0), q = (3/2, 3/2) / 3; H = ln 2.
    assert cross_negentropy(np.array([[2, 0]]), np.array([[1, 1]])) == pytest.approx(0, abs=1e-15)


def test_cross_negentropy_paper_by_hand() -> None:
    # Item 1: q_2 = 0 < p_2, so its cross-entropy counts as 0. Item 2: H((1, 0), (1/2, 1/2)) = ln 2.
    # Item 3 is not shared. On item 4 the group left the label unused too; it still counts as 0.
    # Mean of ln 2 - 0, ln 2 - ln 2 and ln 2 - 0.
    c, d = np.array([[1, 1], [2, 0], [0, 3], [2, 0]]), np.array([[2, 0], [1, 1], [0, 0], [3, 0]])
    assert cross_negentropy(c, d, "paper") == pytest.approx(math.log(2) * 2 / 3, abs=1e-15)
    # H((1/2, 1/2, 0), (1/4, 1/2, 1/4)) = 1/2 ln 4 + 1/2 ln 2 = 3/2 ln 2.
    value = cross_negentropy(np.array([[1, 1, 0]]), np.array([[1, 2, 1]]), "paper")
    assert value == pytest.approx(math.log(3) - 1.5 * math.log(2), abs=1e-15)


def test_voting_agreement_by_hand() -> None:
    # Ties go to the first label: X votes A, A, B; Y votes A, B, B. Three votes each for A and B.
    # D_o = 1/3; D_e = (36 - 9 - 9) / (6 * 5) = 3/5; alpha = 1 - 5/9.
    c, d = np.array([[2, 0], [1, 1], [0, 1]]), np.array([[1, 0], [0, 1], [0, 3]])
    assert voting_agreement(c, d, first(c)) == pytest.approx(4 / 9, abs=1e-15)
    to_first, to_last = np.tile([1, 0], (3, 1)), np.tile([0, 1], (3, 1))
    # X's tie on item 2 now goes to B: X votes A, B, B as Y does.
    assert voting_agreement(c, d, (to_last, to_first)) == 1
    # Only the other side's ranks differ: Y has no tie, so nothing changes.
    assert voting_agreement(c, d, (to_first, to_last)) == pytest.approx(4 / 9, abs=1e-15)
    # As kappa: X has 2 A of 3, Y has 1. D_e = 1 - 2/3 1/3 - 1/3 2/3 = 5/9; 1 - 3/5.
    assert voting_agreement(c, d, first(c), "kappa") == pytest.approx(2 / 5, abs=1e-15)
    # By hand, but for how often each side gives a label they agree as chance has it: 0.
    x, y = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    assert plurality_agreement(x, y, 3, "kappa") == 0
    with pytest.raises(NotEstimableError, match=str(NoValue.ONE_PLURALITY())):
        plurality_agreement(np.zeros(4, int), np.zeros(4, int), 3, "kappa")


def in_declared_order(c: np.ndarray) -> np.ndarray:
    return np.tile(np.arange(c.shape[1]), (len(c), 1))


@given(pair=sides(), seed=st.integers(0, 3), ties=st.sampled_from(["first", "random"]))
def test_voting_agreement_is_krippendorffs_alpha_of_the_pluralities(pair, seed: int, ties: str) -> None:
    c, d = pair
    ranks = first(c) if ties == "first" else drawn_ranks(seed, in_declared_order(c))
    votes: list[list[int]] = [[], []]
    for i in range(len(c)):
        if not (c[i].any() and d[i].any()):
            continue
        for side, counts in enumerate((c, d)):
            tied = [k for k in range(c.shape[1]) if counts[i, k] == counts[i].max()]
            votes[side].append(max(tied, key=lambda k: ranks[side][i][k]))
            if ties == "first":
                assert votes[side][-1] == tied[0]
    if not votes[0] or len({*votes[0], *votes[1]}) == 1:
        with pytest.raises(NotEstimableError):
            voting_agreement(c, d, (ranks[0], ranks[1]))
        return
    expected = krippendorff.alpha(reliability_data=votes, level_of_measurement="nominal")
    assert voting_agreement(c, d, (ranks[0], ranks[1])) == pytest.approx(expected, abs=1e-12)


def test_random_ties_are_a_function_of_the_seed() -> None:
    places = in_declared_order(np.zeros((200, 3)))
    ranks = drawn_ranks(7, places)
    assert np.array_equal(ranks, drawn_ranks(7, places))
    assert not np.array_equal(ranks, drawn_ranks(8, places))
    assert np.array_equal(ranks[:, :50], drawn_ranks(7, places[:50]))  # whatever items follow
    assert np.array_equal(ranks[0], ranks[1])  # else a group's votes would be others seen from its complement
    assert (np.sort(ranks, axis=2) == np.arange(3)).all()
    # Each of three categories wins a third of 400 draws; 4 standard deviations either side.
    wins = np.bincount(ranks.argmax(axis=2).ravel(), minlength=3)
    assert np.abs(wins - 400 / 3).max() < 4 * math.sqrt(400 * 2 / 9)


def voted(c: Int64Array, d: Int64Array) -> float:
    return voting_agreement(c, d, first(c))


NOTHING, NOTHING_SHARED = ([[0, 0], [0, 0]],), ([[1, 1], [0, 0]], [[0, 0], [2, 0]])


@pytest.mark.parametrize(
    ("statistic", "counts", "reason"),
    [
        *((irr, NOTHING, NoValue.NO_PAIR), (irr, ([[1, 0], [0, 1]],), NoValue.NO_PAIR)),
        (irr, ([[2, 0], [3, 0]],), NoValue.ONE_LABEL_INSIDE),
        (irr, ([[2, 0], [0, 1]],), NoValue.ONE_LABEL_INSIDE),  # the other label cannot be paired
        *((one, NOTHING, NoValue.NO_ANNOTATION) for one in (negentropy, plurality_size)),
        *((one, NOTHING_SHARED, NoValue.NO_SHARED_ITEM) for one in (xrr, cross_negentropy, voted)),
        (partial(cross_negentropy, convention="paper"), NOTHING_SHARED, NoValue.NO_SHARED_ITEM),
        (xrr, ([[2, 0], [1, 0]], [[1, 0], [3, 0]]), NoValue.ONE_LABEL_ACROSS),
        (xrr, ([[2, 0], [0, 5]], [[1, 0], [0, 0]]), NoValue.ONE_LABEL_ACROSS),  # the other is not shared
        (voted, ([[2, 1], [1, 0]], [[2, 1], [3, 0]]), NoValue.ONE_PLURALITY),
    ],
)
def test_not_estimable_says_why(statistic, counts, reason: NoValue) -> None:
    with pytest.raises(NotEstimableError) as caught:
        statistic(*map(np.array, counts))
    assert (caught.value.reason.code, str(caught.value)) == (reason, reason.value)


def _with_unused(pair: tuple[Int64Array, Int64Array]) -> tuple[Int64Array, Int64Array]:
    return tuple(np.hstack([side, np.zeros_like(side[:, :1])]) for side in pair)  # type: ignore[return-value]


def voted_on(c: Int64Array, d: Int64Array) -> bool:
    return bool((c.any(axis=1) & d.any(axis=1)).any())


@given(pair=sides())
def test_an_unused_category_counts_in_K_only_cross(pair) -> None:  # noqa: N802
    c, d = pair
    wide_c, wide_d = _with_unused(pair)
    k = c.shape[1]
    assert _value(xrr, wide_c, wide_d) == pytest.approx(_value(xrr, c, d), abs=1e-12, nan_ok=True)
    assert _value(voted, wide_c, wide_d) == pytest.approx(_value(voted, c, d), abs=1e-12, nan_ok=True)
    # By the paper's convention it makes every item count 0: the others left a label unused.
    by_paper = _value(cross_negentropy, wide_c, wide_d, "paper")
    assert by_paper == pytest.approx(math.log(k + 1) if voted_on(c, d) else math.nan, abs=1e-12, nan_ok=True)


@given(pair=sides())
def test_smoothing_adds_half_a_label_of_each_category(pair) -> None:
    """`smooth` item by item, unused categories and all."""
    c, d = _with_unused(pair)
    k = c.shape[1]
    terms = []
    for x, y in zip(c, d, strict=True):
        if x.any() and y.any():
            q = [(count + 0.5) / (y.sum() + k / 2) for count in y]
            assert sum(q) == pytest.approx(1)
            terms.append(
                math.log(k) + sum(n / x.sum() * math.log(share) for n, share in zip(x, q, strict=True))
            )
    expected = np.mean(terms) if terms else math.nan
    assert _value(cross_negentropy, c, d, "smooth") == pytest.approx(expected, abs=1e-12, nan_ok=True)


@given(pair=sides())
def test_an_item_of_one_side_only_changes_nothing(pair) -> None:
    c, d = pair
    more_c, more_d = np.vstack([c, c[:1] + 1]), np.vstack([d, np.zeros_like(d[:1])])
    for statistic in (xrr, cross_negentropy, partial(cross_negentropy, convention="paper"), voted):
        value, more = _value(statistic, c, d), _value(statistic, more_c, more_d)
        assert more == pytest.approx(value, abs=1e-12, nan_ok=True)


def _value(statistic, *arguments) -> float:
    try:
        return statistic(*arguments)
    except NotEstimableError:
        return math.nan
