"""Ends of intervals stay within what a statistic may be, and those of agreement are the logit's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, logit

from grasp_core.analysis.intervals import Scales

NAMES = ("irr", "xrr", "voting_agreement", "distance", "mean")
SCALES = Scales.of(NAMES)


def ends(
    whole: list[float], plain: list[tuple[float, float]], logits: list[tuple[float, float]]
) -> np.ndarray:
    return SCALES.ends(np.array([*plain, *logits]), np.array(whole))


def test_logits_stand_behind_the_statistics_where_there_are_any() -> None:
    found = SCALES.with_scaled(np.array([[0.2, -0.1, 0.9, 0.0, 3.0], [1.0, 0.5, 0.9, 0.0, 3.0]]))
    assert found[:, :5].tolist() == [[0.2, -0.1, 0.9, 0.0, 3.0], [1.0, 0.5, 0.9, 0.0, 3.0]]
    assert found[0, 5] == pytest.approx(logit(0.2))
    assert found[1, 6] == pytest.approx(0)
    assert np.isnan(found[[0, 1, 0], [6, 5, 7]]).all()


def test_no_interval_goes_beyond_what_a_statistic_may_be() -> None:
    plain = [(0.5, 1.3), (-1.4, -0.2), (0.7, 1.2), (-0.1, 0.2), (-9.0, 9.0)]
    found = ends([0.9, -0.8, 0.95, 0.05, 0.0], plain, [(np.nan, np.nan)] * 3)
    assert found.tolist() == [[0.5, 1.0], [-1.0, -0.2], [0.7, 1.0], [-0.1, 0.2], [-9.0, 9.0]]


def test_clear_agreement_has_the_ends_of_its_logit_and_chance_keeps_its_own() -> None:
    plain = [(0.05, 0.25), (-0.02, 0.22), (0.7, 0.9), (0.0, 0.2), (0.0, 1.0)]
    of_logit = [(-3.0, -0.5), (-4.0, 0.0), (-5.0, -1.0)]
    clear = ends([0.15, 0.1, 0.8, 0.1, 0.5], plain, of_logit)
    assert clear[0] == pytest.approx(expit(of_logit[0]))
    assert clear[1] == pytest.approx([-0.02, expit(0.0)])
    assert clear[3] == pytest.approx([0.0, np.exp(-1)])
    hardly = ends([0.15, 0.02, 0.8, 0.1, 0.5], plain, of_logit)
    assert hardly[1].tolist() == [-0.02, 0.22]
