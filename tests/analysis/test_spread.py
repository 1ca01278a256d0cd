"""Variances put together, and intervals of them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from grasp_core.analysis._deletions import Spread, Spreads


def spread(values: list[float], whole: float = 0.5) -> Spread:
    found = Spread.around(np.array([whole]))
    found.add(np.array(values)[:, None])
    return found


GROUP, OTHERS = spread([0.4, 0.5, 0.6, 0.55]), spread([0.5, 0.52, 0.47])
ITEMS, ANNOTATIONS = spread([0.45, 0.5, 0.58, 0.51, 0.5]), spread([0.5, 0.51, 0.49])


def test_variance_is_the_jackknifes() -> None:
    values = np.array([0.4, 0.5, 0.6, 0.55])
    assert GROUP.variance[0] == pytest.approx(3 * np.var(values))  # (n - 1) / n times the sum of squares


def test_units_that_are_alike_are_added_once() -> None:
    together = Spread.around(np.array([0.5]))
    together.add(np.array([[0.4], [0.6]]), np.array([3.0, 2.0]))
    assert together.variance == pytest.approx(spread([0.4, 0.4, 0.4, 0.6, 0.6]).variance)
    assert together.n == 5


@pytest.mark.parametrize(
    ("target", "used"), [("raters", (GROUP, OTHERS)), ("items", (ITEMS,)), ("both", (GROUP, OTHERS, ITEMS))]
)
def test_students_interval_by_its_formula(target, used) -> None:
    variances = [float(one.variance[0]) for one in used]
    total = sum(variances) - (ANNOTATIONS.variance[0] if target == "both" else 0.0)
    assert total > max(GROUP.variance[0] + OTHERS.variance[0], ITEMS.variance[0]) or target != "both"
    freedom = sum(variances) ** 2 / sum(
        v**2 / float(one.freedom[0]) for v, one in zip(variances, used, strict=True)
    )
    reach = stats.t.ppf(0.975, freedom) * np.sqrt(total)
    found = Spreads(GROUP, OTHERS, ITEMS, ANNOTATIONS).interval(target)
    assert found == pytest.approx(np.array([[0.5 - reach, 0.5 + reach]]))


def test_few_units_that_carry_all_that_varies_have_few_degrees_of_freedom() -> None:
    values = np.random.default_rng(1).normal(0.5, 0.1, 400)
    assert 300 < spread(values.tolist()).freedom[0] <= 399
    kurtosis = stats.kurtosis([0.4] * 3 + [0.5] * 97, fisher=False)
    found = spread([0.4] * 3 + [0.5] * 97).freedom[0]
    assert found == pytest.approx(200 / (kurtosis - 1))
    assert found < 8
    assert spread([0.4, 0.6, 0.4, 0.6]).freedom[0] == 3  # never more than without one


def test_both_is_never_narrower_than_either_source() -> None:
    noisy = spread([0.2, 0.9, 0.1, 0.8])
    variance = Spreads(GROUP, OTHERS, ITEMS, noisy)
    raters, items, both = (np.diff(variance.interval(target))[0, 0] for target in ("raters", "items", "both"))
    assert noisy.variance > GROUP.variance + OTHERS.variance + ITEMS.variance
    assert both == max(raters, items)


def test_without_a_value_for_some_unit_there_is_no_interval() -> None:
    lost = spread([0.4, np.nan, 0.6])
    assert np.isnan(Spreads(lost, OTHERS, ITEMS, ANNOTATIONS).interval("both")).all()
    assert not np.isnan(Spreads(lost, OTHERS, ITEMS, ANNOTATIONS).interval("items")).any()


def test_what_never_varies_has_an_interval_of_no_width() -> None:
    still = spread([0.5, 0.5, 0.5])
    assert Spreads(still, still, still, still).interval("both").tolist() == [[0.5, 0.5]]
