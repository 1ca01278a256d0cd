"""Percent agreement, kappa and AC1 against worked examples of those who published them."""

from __future__ import annotations

import doctest

import numpy as np
import pytest

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
