"""Percent agreement, kappa, AC1, and Krippendorff's levels: worked examples, other software, naive pairs."""

import doctest
import itertools
from functools import partial
from typing import get_args

import krippendorff
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import grasp_core as grasp
from grasp_core.model.annotations import Int64Array
from grasp_core.model.errors import SpecError
from grasp_core.model.remarks.reasons import NoValue
from grasp_core.model.spec import Level
from grasp_core.statistics import coefficients
from grasp_core.statistics.coefficients import (
    cohen_kappa,
    cohen_kappa_error,
    fleiss_kappa,
    fleiss_kappa_error,
    gwet_ac1,
    gwet_ac1_error,
    percent_agreement,
    percent_agreement_error,
)
from grasp_core.statistics.cross_group import xrr
from grasp_core.statistics.in_group import irr
from grasp_core.statistics.items import NotEstimableError
from grasp_core.statistics.levels import (
    category_values,
    distance_of,
    nominal,
    possible_levels,
    squared_distances,
)
from tests.engine.asking import planting as planting
from tests.notebook.asking import few
from tests.strategies import counts_of, label_counts

_ = -1
FOUR_RATERS = np.array(
    [
        *([1, 1, _, 1], [2, 2, 3, 2], [3, 3, 3, 3], [3, 3, 3, 3], [2, 2, 2, 2], [1, 2, 3, 4]),
        *([4, 4, 4, 4], [1, 1, 2, 1], [2, 2, 2, 2], [_, 5, 5, 5], [_, _, 1, 1], [_, _, 3, _]),
    ]
)
"""Twelve units and four raters with gaps: cac.raw4raters of Gwet's irrCAC 1.0, from Krippendorff."""
DIAGNOSES = [
    *("444444", "222555", "233335", "555555", "222444", "113333", "333355", "113334", "114444", "555555"),
    *("144444", "124444", "222333", "144444", "224445", "333335", "111455", "111112", "224444", "133555"),
    *("555555", "244444", "224555", "114444", "144445", "222224", "111155", "224444", "133333", "555555"),
]
"""Table 1 of Fleiss (1971): six diagnoses of each of 30 patients."""


def counted(rows: np.ndarray, k: int = 5) -> np.ndarray:
    return np.stack([(rows == one).sum(axis=1) for one in range(1, k + 1)], axis=1)


def two_raters(table: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    """The answers behind a table of one rater's labels by the other's."""
    first, second = np.indices(np.shape(table)).reshape(2, -1)
    return np.repeat(first, np.ravel(table)), np.repeat(second, np.ravel(table))


def test_as_gwet_published_for_four_raters_with_gaps() -> None:
    """The coefficients and standard errors of irrCAC 1.0 for its data set cac.raw4raters."""
    c = counted(FOUR_RATERS)
    assert percent_agreement(c) == pytest.approx(0.8181818, abs=1e-7)
    assert gwet_ac1(c) == pytest.approx(0.77544, abs=5e-6)
    assert gwet_ac1_error(c) == pytest.approx(0.14295, abs=5e-6)
    assert fleiss_kappa(c) == pytest.approx(0.76117, abs=5e-6)
    assert fleiss_kappa_error(c) == pytest.approx(0.15302, abs=5e-6)


def test_as_published_by_fleiss_and_cohen() -> None:
    c = counted(np.array([[int(one) for one in row] for row in DIAGNOSES]))
    assert fleiss_kappa(c) == pytest.approx(0.430, abs=5e-4)
    assert percent_agreement(c) == pytest.approx(0.556, abs=1e-3)
    # Cohen (1960), table 2: 200 patients, kappa .492.
    assert cohen_kappa(*two_raters([[88, 14, 18], [10, 40, 10], [2, 6, 12]])) == pytest.approx(
        0.492, abs=5e-4
    )


def test_as_gwet_published_for_two_abstractors() -> None:
    """The data set cont3x3abstractors in the overview of irrCAC 1.0."""
    first, second = two_raters([[13, 0, 0], [0, 20, 7], [0, 4, 56]])
    c = np.stack([(first == k).astype(int) + (second == k) for k in range(3)], axis=1)
    assert cohen_kappa(first, second) == pytest.approx(0.7964094, abs=1e-7)
    assert cohen_kappa_error(first, second) == pytest.approx(0.05891072, abs=1e-8)
    assert gwet_ac1(c) == pytest.approx(0.8493305, abs=1e-7)
    assert fleiss_kappa(c) == pytest.approx(0.7962397, abs=1e-7)  # Scott's pi, of two raters
    assert percent_agreement(c) == pytest.approx(0.89)
    assert percent_agreement_error(c) == pytest.approx((0.89 * 0.11 / 99) ** 0.5)


def test_a_rare_label_lowers_kappa_and_not_ac1() -> None:
    c = np.array([[2, 0]] * 95 + [[1, 1]] * 5)
    assert percent_agreement(c) == 0.95
    assert fleiss_kappa(c) < 0
    assert gwet_ac1(c) > 0.9


def test_missing_answers_of_two_raters_do_not_count() -> None:
    first, second = np.array([0, 1, 1, -1, 0]), np.array([0, 1, 0, 1, -1])
    assert cohen_kappa(first, second) == cohen_kappa(first[:3], second[:3])


def test_what_cannot_be_estimated_is_refused() -> None:
    alone, same = np.array([[1, 0], [0, 1]]), np.array([[2, 0], [2, 0]])
    for statistic in (percent_agreement, fleiss_kappa, gwet_ac1, fleiss_kappa_error, gwet_ac1_error):
        with pytest.raises(NotEstimableError):
            statistic(alone)
    for refused in (fleiss_kappa, fleiss_kappa_error):
        with pytest.raises(NotEstimableError):
            refused(same)
    assert gwet_ac1(same) == 1
    with pytest.raises(NotEstimableError):
        gwet_ac1(np.array([[2], [3]]))
    with pytest.raises(NotEstimableError):
        cohen_kappa(np.array([0, -1]), np.array([-1, 1]))
    with pytest.raises(NotEstimableError):
        cohen_kappa(np.array([1, 1]), np.array([1, 1]))


def test_what_has_no_value_is_nan() -> None:
    assert np.isnan(percent_agreement_error(np.array([[2, 0]])))
    assert np.isnan(grasp.statistics.krippendorff_alpha([["a", "b"]]))
    assert np.isnan(grasp.statistics.label_shares([["a", None]], [[None, "a"]])).all()


def test_the_examples_are_true() -> None:
    assert doctest.testmod(coefficients).failed == 0


RNG = np.random.default_rng(5)
LABELS = RNG.integers(1, 5, (6, 40)).astype(float)
LABELS[RNG.random(LABELS.shape) < 0.3] = np.nan
OTHERS = RNG.integers(1, 5, (4, 40)).astype(float)
GIVEN = range(1, 5)
COUNTS, MORE = (np.stack([(one == label).sum(axis=0) for label in GIVEN], axis=1) for one in (LABELS, OTHERS))
TWO = ("xrr", "gai", "gap", "cross_negentropy", "voting_agreement", "distance")


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
def test_alpha_is_that_of_other_software(level) -> None:
    found = grasp.statistics.krippendorff_alpha(LABELS, level=level)
    assert found == pytest.approx(krippendorff.alpha(LABELS, level_of_measurement=level), abs=1e-12)


@pytest.mark.parametrize("name", TWO)
def test_labels_and_counts_give_the_same(name: str) -> None:
    function = getattr(grasp.statistics, name)
    of_labels = function(LABELS, OTHERS)
    assert np.isfinite(of_labels)
    assert function(COUNTS, MORE, counts=True) == of_labels


@pytest.mark.parametrize(
    "name",
    [
        *("negentropy", "plurality_size", "krippendorff_alpha"),
        *("percent_agreement", "fleiss_kappa", "gwet_ac1"),
    ],
)
def test_labels_and_counts_of_one_side_give_the_same(name: str) -> None:
    function = getattr(grasp.statistics, name)
    assert function(COUNTS, counts=True) == function(LABELS)


def test_a_result_has_the_same_values() -> None:
    annotations, raters = few()
    asked = {"axes": ["rater_gender"], "permutations": 20, "pairs": False, "progress": False}
    result = grasp.analyse(annotations, raters, **asked)
    wide = annotations.pivot(index="rater_id", columns="item_id", values="label")
    women = raters.loc[raters["rater_gender"] == "Woman", "rater_id"]
    of_women, of_men = wide.loc[women], wide.drop(women)
    row = result.tidy().query("rater_gender == 'Woman'").set_index("statistic")["value"]
    categories = result.result.data.categories
    for name in ("xrr", "gai", "gap", "cross_negentropy", "distance"):
        function = getattr(grasp.statistics, name)
        assert row[name] == pytest.approx(function(of_women, of_men, categories=categories), abs=1e-12)
    shares = grasp.statistics.label_shares(of_women, of_men, categories=categories)
    told = result.tidy().query("rater_gender == 'Woman' and statistic == 'label_use'").dropna(subset="label")
    np.testing.assert_allclose(told["value"], shares, atol=1e-12)


@pytest.mark.parametrize(
    ("arrays", "options", "sentence"),
    [
        (([1, 2, 3],), {}, "labels are an array of two axes, raters by items"),
        (([[0.5, 1]],), {"counts": True}, "whole numbers from 0"),
        (([["a"]], [["a", "b"]]), {}, "both sides have the same items"),
        (([["a", "b"]],), {"categories": ["a"]}, "which is none of the categories"),
        (([["a", "b"], ["a", "a"]],), {"level": "interval"}, "takes labels that are numbers"),
        (
            ([["a", "b"], ["a", "a"]],),
            {"level": "ordnal"},
            "level is one of nominal, ordinal, interval, ratio",
        ),
        (([[None, None]],), {}, "there is no label"),
    ],
)
def test_bad_input_is_refused_in_words(arrays, options, sentence) -> None:
    function = grasp.statistics.krippendorff_alpha if len(arrays) == 1 else grasp.statistics.xrr
    with pytest.raises(SpecError, match=sentence):
        function(*arrays, **options)


def test_two_raters_agree_beyond_chance_as_in_cohen() -> None:
    """Cohen (1960) divides by hand: 20 and 15 of 50 alike, shares .5 and .6 of the first label."""
    first = ["yes"] * 25 + ["no"] * 25
    second = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    assert grasp.statistics.cohen_kappa(first, second) == pytest.approx(0.4)
    assert grasp.statistics.cohen_kappa([*first, None], [*second, "yes"]) == pytest.approx(0.4)
    with pytest.raises(SpecError, match="both raters have the same items"):
        grasp.statistics.cohen_kappa(first, second[1:])


# Krippendorff's four levels of measurement
LEVELS = get_args(Level)
NUMBERS = ("0", "1", "2.5", "4", "10", "30")
"""Categories that every level takes."""


def at(level: Level, k: int):
    return distance_of(NUMBERS[:k], level)


@st.composite
def sides(draw: st.DrawFn) -> tuple[Int64Array, Int64Array]:
    shape = draw(st.tuples(st.integers(1, 6), st.integers(2, 5)))
    return draw(counts_of(shape)), draw(counts_of(shape))


# Krippendorff's four observers and twelve units (2011, Computing Krippendorff's Alpha-Reliability,
# page 8); alpha to three places by the package krippendorff 0.9.0.
OBSERVERS = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
        [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
    ]
)
FOUR_OBSERVERS = np.array([np.bincount(unit, minlength=6)[1:] for unit in OBSERVERS.T])


@pytest.mark.parametrize(
    ("level", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)]
)
def test_irr_is_krippendorffs_own_example(level: Level, alpha: float) -> None:
    assert irr(FOUR_OBSERVERS, distance_of("12345", level)) == pytest.approx(alpha, abs=5e-4)


@pytest.mark.parametrize("level", LEVELS)
@given(c=label_counts(items=(1, 8), categories=(2, 6)))
@example(c=np.array([[2, 0], [2, 0], [0, 1]]))
def test_irr_is_the_package_krippendorffs(level: Level, c: Int64Array) -> None:
    k = c.shape[1]
    try:
        value = irr(c, at(level, k))
    except NotEstimableError:
        assert (c[c.sum(axis=1) >= 2].sum(axis=0) > 0).sum() <= 1
        return
    expected = krippendorff.alpha(
        value_counts=c, value_domain=category_values(NUMBERS[:k], level), level_of_measurement=level
    )
    assert value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("level", LEVELS)
@given(pair=sides())
def test_xrr_by_naive_pairs(level: Level, pair: tuple[Int64Array, Int64Array]) -> None:
    """One pair of labels after the other, with distances from their definitions."""
    c, d = pair
    x, y = ([[k for k in range(c.shape[1]) for _ in range(row[k])] for row in side] for side in pair)
    shared = [(a, b) for a, b in zip(x, y, strict=True) if a and b]
    if not shared:
        with pytest.raises(NotEstimableError, match=str(NoValue.NO_SHARED_ITEM())):
            xrr(c, d, at(level, c.shape[1]))
        return
    all_x, all_y = [s for a, _ in shared for s in a], [t for _, b in shared for t in b]
    pooled = all_x + all_y
    values = [float(number) for number in NUMBERS]

    def squared(s: int, t: int) -> float:
        low, high = min(s, t), max(s, t)
        if level == "nominal" or s == t:
            return float(s != t)
        if level == "ordinal":
            ends = (pooled.count(low) + pooled.count(high)) / 2
            return (sum(low <= label <= high for label in pooled) - ends) ** 2
        apart = values[high] - values[low]
        return (apart if level == "interval" else apart / (values[high] + values[low])) ** 2

    size = len(pooled)
    expected = np.mean([squared(s, t) for s, t in itertools.product(all_x, all_y)])
    if expected == 0:
        with pytest.raises(NotEstimableError, match=str(NoValue.ONE_LABEL_ACROSS())):
            xrr(c, d, at(level, c.shape[1]))
        return
    observed = sum(
        (len(a) + len(b)) * np.mean([squared(s, t) for s, t in itertools.product(a, b)]) for a, b in shared
    )
    assert xrr(c, d, at(level, c.shape[1])) == pytest.approx(1 - observed / size / expected, abs=1e-11)


def both(pair: tuple[Int64Array, Int64Array], distance) -> list[float]:
    values = []
    for statistic in (partial(irr, pair[0]), partial(xrr, *pair)):
        try:
            values.append(statistic(distance))
        except NotEstimableError:
            values.append(np.nan)
    return values


@given(pair=sides(), shift=st.sampled_from([-7.5, 3.0]), scale=st.sampled_from([-2.0, 0.25, 100.0]))
def test_where_a_scale_begins_and_its_unit_mean_nothing(pair, shift: float, scale: float) -> None:
    values = category_values(NUMBERS[: pair[0].shape[1]], "interval")
    moved = both(pair, partial(squared_distances, "interval", values * scale + shift))
    found = both(pair, partial(squared_distances, "interval", values))
    assert moved == pytest.approx(found, abs=1e-9, nan_ok=True)
    scaled = both(pair, partial(squared_distances, "ratio", values * abs(scale)))
    assert scaled == pytest.approx(
        both(pair, partial(squared_distances, "ratio", values)), abs=1e-12, nan_ok=True
    )


@given(pair=sides())
def test_ordinal_knows_only_the_order(pair) -> None:
    k = pair[0].shape[1]
    assert both(pair, distance_of(NUMBERS[:k], "ordinal")) == pytest.approx(
        both(pair, distance_of("abcdef"[:k], "ordinal")), abs=0, nan_ok=True
    )
    turned = tuple(side[:, ::-1] for side in pair)
    assert both(turned, at("ordinal", k)) == pytest.approx(
        both(pair, at("ordinal", k)), abs=1e-12, nan_ok=True
    )


@pytest.mark.parametrize("level", LEVELS)
@given(data=st.data())
def test_an_unused_category_and_the_sides_order_mean_nothing(level: Level, data) -> None:
    pair = data.draw(sides())
    k = pair[0].shape[1]
    found = both(pair, at(level, k))
    wider = tuple(np.hstack([side, np.zeros_like(side[:, :1])]) for side in pair)
    assert both(wider, at(level, k + 1)) == pytest.approx(found, abs=1e-12, nan_ok=True)
    assert both(pair[::-1], at(level, k))[1] == pytest.approx(found[1], abs=1e-12, nan_ok=True)


@given(c=label_counts(categories=(2, 2)), data=st.data())
def test_two_categories_have_one_distance(c: Int64Array, data) -> None:
    pair = (c, data.draw(counts_of((len(c), 2))))
    found = both(pair, nominal)
    for level in LEVELS:
        assert both(pair, distance_of(("2", "5"), level)) == pytest.approx(found, abs=1e-12, nan_ok=True)


def test_distances_by_hand() -> None:
    values, marginals = category_values(("0", "1", "3"), "ratio"), np.array([2, 4, 6])
    ratio = [[0, 1, 1], [1, 0, 1 / 4], [1, 1 / 4, 0]]  # (1 - 3) / (1 + 3), and 0 / 0 = 0
    assert squared_distances("ratio", values, marginals).tolist() == ratio
    # Middle ranks 2/2, 2 + 4/2 and 6 + 6/2: 1, 4, 9.
    assert squared_distances("ordinal", values, marginals).tolist() == [[0, 9, 64], [9, 0, 25], [64, 25, 0]]
    assert category_values(("-1", "0", "1"), "interval").tolist() == [-1, 0, 1]
    with pytest.raises(SpecError, match=r"'-1' is below 0, which interval takes"):
        category_values(("-1", "0", "1"), "ratio")


@pytest.mark.parametrize("level", ["interval", "ratio"])
@pytest.mark.parametrize(
    ("categories", "named"),
    [
        *((("No", "Yes"), "'No'"), (("1", "2", "Unsure"), "'Unsure'"), (("1", "nan"), "'nan'")),
        *((("1", "inf"), "'inf'"), (("1", "1.0"), "'1' and '1.0'")),
    ],
)
def test_labels_that_are_no_numbers_are_named(level: Level, categories, named: str) -> None:
    with pytest.raises(SpecError) as caught:
        category_values(categories, level)
    assert named in str(caught.value)
    assert "recode" in str(caught.value)


@pytest.mark.parametrize(
    ("categories", "levels"), [(("0", "4.5"), LEVELS), (("-1", "1"), LEVELS[:3]), (("1", "many"), LEVELS[:2])]
)
def test_levels_that_are_possible(categories, levels) -> None:
    assert possible_levels(categories) == levels


@pytest.mark.parametrize("level", ["nominal", "ordinal"])
def test_other_levels_take_any_label(level: Level) -> None:
    assert category_values(("low", "high"), level).tolist() == [0, 1]
