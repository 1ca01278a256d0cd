"""Percent agreement, kappa and AC1 against worked examples of those who published them."""

from __future__ import annotations

import doctest

import krippendorff
import numpy as np
import pytest

import grasp_core as grasp
from grasp_core.model.errors import SpecError
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
from grasp_core.statistics.items import NotEstimableError

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


def test_as_fleiss_published_for_thirty_patients() -> None:
    c = counted(np.array([[int(one) for one in row] for row in DIAGNOSES]))
    assert fleiss_kappa(c) == pytest.approx(0.430, abs=5e-4)
    assert percent_agreement(c) == pytest.approx(0.556, abs=1e-3)


def test_as_cohen_published_for_two_raters() -> None:
    """Cohen (1960), table 2: 200 patients, kappa .492."""
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


def test_of_one_item_no_error_is_known() -> None:
    assert np.isnan(percent_agreement_error(np.array([[2, 0]])))


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
    annotations, raters = grasp.load_example()
    result = grasp.analyse(annotations, raters, axes=["rater_gender"], permutations=100, progress=False)
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


def test_without_a_value_it_is_nan() -> None:
    assert np.isnan(grasp.statistics.krippendorff_alpha([["a", "b"]]))
    assert np.isnan(grasp.statistics.label_shares([["a", None]], [[None, "a"]])).all()


@pytest.mark.parametrize(
    ("arrays", "options", "sentence"),
    [
        (([1, 2, 3],), {}, "labels are an array of two axes, raters by items"),
        (([[0.5, 1]],), {"counts": True}, "whole numbers from 0"),
        (([["a"]], [["a", "b"]]), {}, "both sides have the same items"),
        (([["a", "b"]],), {"categories": ["a"]}, "which is none of the categories"),
        (([["a", "b"], ["a", "a"]],), {"level": "interval"}, "takes labels that are numbers"),
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
