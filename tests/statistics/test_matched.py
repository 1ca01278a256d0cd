"""GAI over the same items."""

from __future__ import annotations

import numpy as np
import pytest

from grasp_core.statistics.cross_group import xrr
from grasp_core.statistics.items import NotEstimableError, matched_gai
from grasp_core.statistics.levels import distance_of

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
