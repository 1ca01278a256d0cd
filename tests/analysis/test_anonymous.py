"""What is told of a point is told of enough others, and true."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from grasp_core.analysis.rater_map_axes import told

CODES = st.tuples(st.integers(1, 40), st.integers(1, 4)).flatmap(
    lambda shape: arrays(np.int64, shape, elements=st.integers(-1, 3))
)


@given(codes=CODES, least=st.integers(1, 6))
def test_never_of_fewer_than_enough_and_never_wrong(codes: np.ndarray, least: int) -> None:
    found, shown = told(codes, least)
    assert ((found == codes) | (found == -1)).all()
    for row in found[shown]:
        assert (found[shown] == row).all(axis=1).sum() >= least
    assert (found[~shown] == -1).all()
    assert (~shown).sum() < least


@given(codes=CODES)
def test_all_is_told_where_one_rater_is_enough(codes: np.ndarray) -> None:
    found, shown = told(codes, 1)
    assert (found == codes).all()
    assert shown.all()


def test_the_last_value_goes_first() -> None:
    codes = np.array([[0, 0], [0, 0], [0, 1], [0, -1], [1, 0]])
    found, shown = told(codes, 2)
    assert found.tolist() == [[0, 0], [0, 0], [0, -1], [0, -1], [-1, -1]]
    assert shown.tolist() == [True, True, True, True, False]
