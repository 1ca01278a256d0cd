"""How often a model is said to side with a group where demographics play no part: seeded simulations."""

from __future__ import annotations

import math

import numpy as np
import pytest

from grasp_core.analysis.models import kernel
from grasp_core.model.groups import form_groups
from grasp_core.model.spec import SIDES, AnalysisSpec
from grasp_core.permutation.testing.deviations import p_value
from tests.permutation.simulated import simulate

DATA_SETS = 400
SPEC = AnalysisSpec(axes=(("race",),), permutations=199)


@pytest.fixture(scope="module")
def p() -> np.ndarray:
    """p of the first group's statistics in every data set, shape (data sets, 5)."""
    found = []
    for seed in range(DATA_SETS):
        annotations, raters = simulate(seed, items=15, raters=20, missing=0.2)
        grouping = form_groups(raters, SPEC.axes, min_raters=2)
        labels = np.random.default_rng(seed).integers(0, 3, (1, 15))
        design = kernel.build_design(annotations, raters, grouping, SPEC, labels, np.ones(3, np.bool_))
        observed, null = kernel.observed(design)[0, 0], kernel.shuffled(design, seed, 0, 199)[:, 0, 0]
        values = [p_value(observed[s], null[:, s][~np.isnan(null[:, s])], "two-sided") for s in range(5)]
        found.append([np.nan if value is None else value for value in values])
    return np.array(found)


@pytest.mark.parametrize("statistic", range(5), ids=SIDES)
@pytest.mark.parametrize("level", [0.01, 0.05, 0.1, 0.2, 0.5])
def test_the_level_is_kept(p: np.ndarray, statistic: int, level: float) -> None:
    column = p[:, statistic][~np.isnan(p[:, statistic])]
    assert column.size > 0.9 * DATA_SETS
    assert (column <= level).mean() <= level + 3 * math.sqrt(level * (1 - level) / column.size)


@pytest.mark.parametrize("statistic", ["xrr", "cross_entropy", "js_divergence"])
def test_it_is_not_needlessly_cautious(p: np.ndarray, statistic: str) -> None:
    """The two others take few values in small data, so their ties make them cautious."""
    column = p[:, SIDES.index(statistic)]
    assert (column <= 0.05).mean() >= 0.05 - 3 * math.sqrt(0.05 * 0.95 / DATA_SETS)
