"""Spread: the ratio of the variances of raters' mean residuals, and its test under the run's permutations."""

from __future__ import annotations

import numpy as np
import pytest

from grasp_core.analysis.cohesion import label_use as spread_module
from grasp_core.analysis.cohesion.label_use import SpreadTest
from grasp_core.model.annotations import Annotations, Axis, Raters
from grasp_core.model.groups import form_groups
from grasp_core.model.spec import AnalysisSpec
from grasp_core.statistics.between_raters import spread, spread_of_sums, spread_terms
from grasp_core.statistics.rater_residuals import RaterResiduals, ResidualSums

INSIDE, RATERS, ITEMS = 10, 40, 60


def annotations(sd_inside: float, seed: int = 1) -> Annotations:
    """Everybody labels everything; raters lean to "yes" by a normal amount, wider in the group."""
    rng = np.random.default_rng(seed)
    lean = rng.normal(0, 1, RATERS) * np.where(np.arange(RATERS) < INSIDE, sd_inside, 0.3)
    chance = 1 / (1 + np.exp(-(rng.normal(0, 0.5, ITEMS)[None] + lean[:, None])))
    rater, item = np.divmod(np.arange(RATERS * ITEMS), ITEMS)
    return Annotations.from_codes(
        item=item,
        rater=rater,
        category=(rng.random((RATERS, ITEMS)) < chance).ravel().astype(np.int64),
        item_ids=[f"i{i}" for i in range(ITEMS)],
        rater_ids=[f"r{j}" for j in range(RATERS)],
        categories=("no", "yes"),
    )


def spread_test(data: Annotations, permutations: int = 499) -> SpreadTest:
    side = Axis(("in", "out"), (np.arange(RATERS) >= INSIDE).astype(np.int32))
    raters = Raters(data.rater_ids, {"side": side})
    spec = AnalysisSpec((("side",),), permutations=permutations)
    return SpreadTest([data], raters, form_groups(raters, spec.axes), spec, permutations)


def spread_test_raters_who_rated_alike_it_is_the_ratio_of_variances() -> None:
    """Everybody labelled as much, so all weigh the same: the ratio of the plain variances of means."""
    data = annotations(1.2)
    residuals = RaterResiduals.of(ResidualSums.of(data))
    inside = np.arange(RATERS) < INSIDE
    plain = residuals.mean[inside, 0].var(ddof=1) / residuals.mean[~inside, 0].var(ddof=1)
    assert spread(residuals, inside, ~inside) == pytest.approx(plain)
    assert spread(residuals, ~inside, inside) == pytest.approx(1 / plain)


def test_fewer_than_three_raters_on_a_side_have_none() -> None:
    terms = spread_terms(RaterResiduals.of(ResidualSums.of(annotations(1.2))))
    few, others = terms[:2].sum(axis=0), terms[2:].sum(axis=0)
    assert np.isnan(spread_of_sums(few, others))
    assert np.isfinite(spread_of_sums(terms[:3].sum(axis=0), others))


def test_a_group_that_spreads_more_is_found_and_one_that_does_not_is_not() -> None:
    wide = spread_test(annotations(1.5))(0, alike=False)
    same = spread_test(annotations(0.3))(0, alike=False)
    assert wide is not None
    assert same is not None
    assert (wide.ratio > 3, wide.p < 0.02) == (True, True)
    assert same.p > 0.05


def test_both_sides_say_the_same_and_blocks_change_nothing(monkeypatch) -> None:
    first, second = (spread_test(annotations(1.0))(g, alike=False) for g in (0, 1))
    assert first is not None
    assert second is not None
    assert second.ratio == pytest.approx(1 / first.ratio)
    assert second.p == pytest.approx(first.p)
    monkeypatch.setattr(spread_module, "_AT_ONCE", 7)
    assert spread_test(annotations(1.0))(0, alike=False) == first
