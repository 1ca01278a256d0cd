"""How often nothing is taken for something, and that a middling effect of DSI is found: seeded data."""

from __future__ import annotations

import math

import numpy as np
import pytest

from grasp_core.analysis.cohesion.columns import group_columns, members
from grasp_core.model.annotations import Annotations, Axis, FloatArray, Raters
from grasp_core.model.groups import Grouping, form_groups
from grasp_core.model.spec import STATISTICS, AnalysisSpec
from grasp_core.permutation import compiled
from grasp_core.permutation.design import build_design
from grasp_core.permutation.testing.deviations import p_value, tails
from tests.permutation.simulated import GAI, coded, dsi_p, simulate

# Data without any effect


DATA_SETS = 1000
SPEC = AnalysisSpec(axes=(("race",),), permutations=199, min_raters=2)


def values(
    annotations: Annotations, raters: Raters, seed: int, n: int
) -> tuple[Grouping, FloatArray, FloatArray]:
    """The groups, and their statistics: observed ones, and under n permutations."""
    grouping = form_groups(raters, SPEC.axes, min_raters=2)
    design = build_design(annotations, raters, grouping, SPEC)
    counted = (compiled.observed(design), compiled.shuffled(design, seed, 0, n))
    return grouping, *(group_columns(one, SPEC)[..., : len(STATISTICS)] for one in counted)


def three_errors(rate: float, size: int) -> float:
    return 3 * math.sqrt(rate * (1 - rate) / size)


@pytest.fixture(scope="module")
def tested() -> dict[str, np.ndarray]:
    """p-values of one group's IRR under both conventions, and of DSI, in every data set."""
    found: dict[str, list[float]] = {"two-sided": [], "paper": [], "dsi": []}
    for seed in range(DATA_SETS):
        annotations, raters = simulate(seed, items=12, raters=20, missing=0.2)
        grouping, observed, null = values(annotations, raters, seed, SPEC.permutations)
        irr = null[:, 0, 0][~np.isnan(null[:, 0, 0])]
        for convention in ("two-sided", "paper"):
            found[convention].append(p_value(observed[0, 0], irr, convention))  # type: ignore[arg-type]
        found["dsi"].append(dsi_p(grouping, observed, null, SPEC))
    return {name: np.array(p, dtype=float) for name, p in found.items()}


@pytest.mark.long
@pytest.mark.parametrize("test", ["two-sided", "dsi"])
@pytest.mark.parametrize("level", [0.01, 0.05, 0.1, 0.2, 0.5])
def test_a_valid_test_keeps_its_level(tested, test: str, level: float) -> None:
    p = tested[test][~np.isnan(tested[test])]
    assert p.size > 0.9 * DATA_SETS
    assert (p <= level).mean() <= level + three_errors(level, p.size)


@pytest.mark.long
def test_two_sided_is_not_needlessly_cautious(tested) -> None:
    assert (tested["two-sided"] <= 0.05).mean() >= 0.05 - three_errors(0.05, DATA_SETS)


@pytest.mark.long
def test_the_papers_p_rejects_about_ten_percent_at_five(tested) -> None:
    """The sentence that the report puts beside it."""
    rate = (tested["paper"] < 0.05).mean()
    assert abs(rate - 0.1) <= three_errors(0.1, DATA_SETS)


@pytest.mark.long
def test_dsi_keeps_its_level_where_half_of_all_gais_have_no_value() -> None:
    """Pure noise among ten groups: XRR is below 0 about every other time.

    Taking the null's maximum over the groups that happen to be estimable in the data, instead of over
    all of them, rejected 8 % at 0.05 and 32 % at 0.2 here.
    """
    rng = np.random.default_rng(0)
    items, raters, found = 12, 30, []
    for seed in range(600):
        annotations = coded(
            *np.indices((items, raters)).reshape(2, -1), rng.integers(0, 3, items * raters), 3
        )
        race = Axis.from_values([str(j % 10) for j in range(raters)])
        people = Raters(annotations.rater_ids, {"race": race})
        grouping, observed, null = values(annotations, people, seed, 199)
        found.append(dsi_p(grouping, observed, null, SPEC))
    p = np.array(found)
    p = p[~np.isnan(p)]
    assert p.size > 400
    for level in (0.05, 0.1, 0.2):
        assert (p <= level).mean() <= level + three_errors(level, p.size)


# An effect beside small groups whose GAI varies
SIZES, ITEMS, DATA_SETS_POWER = (2, 3, 10, 25), 60, 60


def planted(seed: int) -> tuple[Annotations, Raters]:
    """Of the ten raters three in ten labels follow a view of their own; of all, a third are noise."""
    rng = np.random.default_rng(seed)
    raters = sum(SIZES)
    group = np.repeat(np.arange(len(SIZES)), SIZES)
    common, own = rng.integers(0, 2, (2, ITEMS, 1))
    view = np.where((rng.random((ITEMS, raters)) < 0.3) & (group == 2), own, common)
    labels = np.where(rng.random(view.shape) < 0.35, rng.integers(0, 2, view.shape), view)
    annotations = coded(*np.indices(labels.shape).reshape(2, -1), labels.ravel(), 2)
    return annotations, Raters(annotations.rater_ids, {"race": Axis.from_values(group.astype(str).tolist())})


@pytest.mark.long
def test_a_group_of_two_does_not_hide_what_ten_raters_show() -> None:
    """The largest GAI as it is, the test of earlier versions, found the effect in 8 of 60 data sets here."""
    found = as_it_is = 0
    for seed in range(DATA_SETS_POWER):
        grouping, observed, null = values(*planted(seed), seed, 399)
        assert members(grouping.groups, SPEC) == [[0, 1, 2, 3]]
        found += dsi_p(grouping, observed, null, SPEC) < 0.05
        largest = tails(np.nanmax(observed[:, GAI]), np.nanmax(null[:, :, GAI], axis=1))
        as_it_is += (largest.p("upper") or 1) < 0.05
    assert found >= 0.8 * DATA_SETS_POWER
    assert as_it_is <= 0.3 * DATA_SETS_POWER
