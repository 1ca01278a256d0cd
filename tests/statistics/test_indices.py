"""GAI and DSI."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grasp_core.statistics.association import dsi, gai

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
