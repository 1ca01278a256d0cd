"""In-group cohesion against hand computations, published figures and the package krippendorff."""

from __future__ import annotations

import itertools
import math

import krippendorff
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from grasp_core.model.annotations import Annotations, Int64Array
from grasp_core.model.remarks.reasons import NoValue
from grasp_core.statistics.association import dsi, gai
from grasp_core.statistics.cross_group import xrr
from grasp_core.statistics.in_group import irr, negentropy, plurality_size
from grasp_core.statistics.items import NotEstimableError, count, matched_gai
from grasp_core.statistics.levels import distance_of
from tests.strategies import label_counts, rated


def test_irr_by_hand_with_two_raters() -> None:
    # The item with one label does not count. N = 6, M = (3, 3).
    # D_o = 1/6 (0/1 + 0/1 + (4 - 2)/1) = 1/3; D_e = (36 - 9 - 9) / (6 * 5) = 3/5.
    # alpha = 1 - (1/3) / (3/5) = 4/9.
    c = np.array([[2, 0], [0, 2], [1, 1], [1, 0]])
    assert irr(c) == pytest.approx(4 / 9, abs=1e-15)


def test_irr_by_hand_with_three_raters() -> None:
    # N = 6, M = (4, 2). D_o = 1/6 ((9 - 9)/2 + (9 - 5)/2) = 1/3; D_e = (36 - 16 - 4) / 30 = 8/15.
    # alpha = 1 - (1/3) (15/8) = 3/8.
    assert irr(np.array([[3, 0], [1, 2]])) == pytest.approx(3 / 8, abs=1e-15)


def test_irr_by_hand_can_be_negative() -> None:
    # N = 4, M = (2, 2). D_o = 1/4 (2 + 2) = 1; D_e = (16 - 8) / 12 = 2/3; alpha = 1 - 3/2.
    assert irr(np.array([[1, 1], [1, 1]])) == pytest.approx(-0.5, abs=1e-15)


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


@given(c=label_counts(items=(1, 8), categories=(2, 6)))
@example(c=np.array([[2, 0], [2, 0], [0, 1]]))
def test_irr_is_krippendorffs_alpha(c: Int64Array) -> None:
    try:
        value = irr(c)
    except NotEstimableError:
        pairable = c[c.sum(axis=1) >= 2]
        assert (pairable.sum(axis=0) > 0).sum() <= 1
        return
    used = c[:, c.any(axis=0)]
    expected = krippendorff.alpha(value_counts=used, level_of_measurement="nominal")
    assert value == pytest.approx(expected, abs=1e-12)


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
    annotations = Annotations.from_codes(
        item=[1, 0, 0, 1, 2],
        rater=[0, 1, 0, 2, 2],
        category=[1, 0, 1, 0, 1],
        item_ids=list("abcd"),
        rater_ids=list("xyz"),
        categories=["No", "Yes", "Unsure"],
    )
    assert count(annotations, np.array([True, True, False])).tolist() == [
        [1, 1, 0],
        [0, 1, 0],
        [0, 0, 0],
        [0, 0, 0],
    ]


def test_plurality_size_by_hand() -> None:
    # (3/4 + 1/2) / 2; the item without labels does not count.
    assert plurality_size(np.array([[3, 1], [1, 1], [0, 0]])) == pytest.approx(5 / 8, abs=1e-15)


def test_negentropy_by_hand() -> None:
    # Item 1: ln 2 - 0. Item 2: ln 2 - ln 2 = 0. Item 3 does not count.
    assert negentropy(np.array([[2, 0], [1, 1], [0, 0]])) == pytest.approx(math.log(2) / 2, abs=1e-15)


def test_negentropy_by_hand_with_three_categories() -> None:
    # H(1/2, 1/4, 1/4) = 1/2 ln 2 + 2 (1/4) ln 4 = 3/2 ln 2.
    expected = math.log(3) - 1.5 * math.log(2)
    assert negentropy(np.array([[2, 1, 1]])) == pytest.approx(expected, abs=1e-15)


def test_single_labels_count_for_negentropy_and_plurality_size() -> None:
    """n = 1 is enough: the item is unanimous."""
    assert plurality_size(np.array([[0, 1]])) == 1
    assert negentropy(np.array([[0, 1]])) == pytest.approx(math.log(2), abs=1e-15)


@pytest.mark.parametrize(
    ("statistic", "c", "reason"),
    [
        (irr, [[0, 0], [0, 0]], NoValue.NO_PAIR),
        (irr, [[1, 0], [0, 1]], NoValue.NO_PAIR),
        (irr, [[2, 0], [3, 0]], NoValue.ONE_LABEL_INSIDE),
        (irr, [[2, 0], [0, 1]], NoValue.ONE_LABEL_INSIDE),  # the other label cannot be paired
        (negentropy, [[0, 0], [0, 0]], NoValue.NO_ANNOTATION),
        (plurality_size, [[0, 0], [0, 0]], NoValue.NO_ANNOTATION),
    ],
)
def test_not_estimable_says_why(statistic, c, reason: NoValue) -> None:
    with pytest.raises(NotEstimableError) as caught:
        statistic(np.array(c))
    assert (caught.value.reason.code, str(caught.value)) == (reason, reason.value)


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


def _value(statistic, c: Int64Array) -> float:
    try:
        return statistic(c)
    except NotEstimableError:
        return math.nan


C = np.array([[2, 0], [1, 1], [0, 2]])
D = np.array([[2, 1], [0, 3], [1, 2]])


def test_by_hand() -> None:
    # n = 2 and m = 3 everywhere, so weights are equal. p = (1/2, 1/2), q = (1/3, 2/3).
    # Din = 0, 1, 0; IRR = 1 - (1/3) / (1/2) = 1/3. Dx = 1/3, 1/2, 1/3; XRR = 1 - (7/18) / (1/2) = 2/9.
    assert matched_gai(C, D) == pytest.approx((1 / 3) / (2 / 9))


def test_items_without_two_labels_of_either_side_do_not_count() -> None:
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


def test_gai_by_hand() -> None:
    # White men of DICES-350 (Table 5 of the paper): 0.218 / 0.173 = 1.2601.
    assert gai(np.array([0.218]), np.array([0.173]))[0] == pytest.approx(1.26, abs=5e-4)
    # A group with less agreement than chance has a negative index; the ratio is still defined.
    assert gai(np.array([-0.1]), np.array([0.2]))[0] == pytest.approx(-0.5)


@given(inside=VALUES, across=VALUES)
def test_gai_has_no_value_just_where_cross_cohesion_is_not_positive(inside: float, across: float) -> None:
    value = gai(np.array([inside]), np.array([across]))[0]
    assert np.isnan(value) == (np.isnan(inside) or np.isnan(across) or across <= 1e-12)
    if not np.isnan(value):
        assert value == inside / across


def test_a_cross_cohesion_of_0_but_for_rounding_has_no_huge_ratio() -> None:
    assert np.isnan(gai(np.array([0.6]), np.array([2e-16]))[0])


def test_gai_keeps_the_shape() -> None:
    assert gai(np.ones((3, 2, 5)), np.full((3, 2, 5), 2.0)).shape == (3, 2, 5)


def test_dsi_is_the_largest_estimable_gai() -> None:
    gais = np.array([[0.5, NAN, 1.25], [NAN, NAN, NAN], [-2.0, NAN, -3.0]])
    assert dsi(gais) == pytest.approx([1.25, NAN, -2.0], nan_ok=True)
    assert np.isnan(dsi(np.empty(0)))
