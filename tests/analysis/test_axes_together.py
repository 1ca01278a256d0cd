"""Axes that go together: told where one may stand behind the other, hardly ever where independent."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from grasp_core.analysis.overview import associations, overlaps
from grasp_core.model.annotations import Axis, Raters
from grasp_core.report.quality import overlap_table
from grasp_core.statistics.association import chance_of

SETS = 200
VALUES = (2, 3, 4, 5)


def raters_of(columns: dict[str, list[str]]) -> Raters:
    n = len(next(iter(columns.values())))
    axes = {name: Axis.from_values(values) for name, values in columns.items()}
    return Raters(tuple(f"r{j}" for j in range(n)), axes)


def independent(seed: int, n: int) -> Raters:
    rng = np.random.default_rng(seed)
    return raters_of({f"axis {k}": [str(v) for v in rng.integers(k, size=n)] for k in VALUES})


@pytest.mark.long
@pytest.mark.parametrize("n", [20, 104])
def test_independent_axes_are_told_in_at_most_6_percent_of_data_sets(n: int) -> None:
    told = [associations(one, tuple(one.axes)) for one in (independent(seed, n) for seed in range(SETS))]
    assert np.mean([bool(found) for found in told]) <= 0.06
    by_size = [[row.p is not None for row in overlaps(independent(seed, n))] for seed in range(SETS)]
    assert np.mean([any(found) for found in by_size]) > 0.1  # what V alone would tell


def test_axes_that_go_together_are_told() -> None:
    first = ["a"] * 52 + ["b"] * 52
    second = ["x"] * 40 + ["y"] * 12 + ["x"] * 14 + ["y"] * 38
    raters = raters_of({"first": first, "second": second, "third": ["l", "r"] * 52})
    (found,) = associations(raters, tuple(raters.axes))
    assert (found.first, found.second) == ("first", "second")
    assert found.p is not None
    assert found.p < 0.001 * 3
    assert overlap_table(overlaps(raters))["verdict"].tolist() == ["go together", "", ""]


def test_p_is_that_of_chi_square_where_raters_are_many() -> None:
    table = np.array([[60, 50, 45], [40, 55, 50]])
    assert chance_of(table) == pytest.approx(chi2_contingency(table).pvalue, abs=0.015)
