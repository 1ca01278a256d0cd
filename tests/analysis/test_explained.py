"""What axes explain of the distances between raters: definition, permutations, size and power."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy.stats import f_oneway

from grasp_core.analysis.rater_map_axes import hold_against, n_permutations, shuffled_shares
from grasp_core.model.annotations import Axis, Raters
from grasp_core.model.spec import AnalysisSpec
from grasp_core.permutation.draw import Exchange, exchange_of, permutation
from grasp_core.statistics.between_raters import explained

SPEC = AnalysisSpec(axes=(("a",), ("b",)), permutations=300, seed=7)


def everybody(n: int, strata: str | None = None) -> Exchange:
    """Raters in three strata, or all in one."""
    raters = Raters(("",) * n, {"s": Axis.from_values([str(j % 3) for j in range(n)])})
    return exchange_of(raters, dataclasses.replace(SPEC, strata=() if strata is None else (strata,)))


def distances(seed: int, n: int = 30) -> np.ndarray:
    cloud = np.random.default_rng(seed).normal(size=(n, 4))
    return ((cloud[:, None] - cloud) ** 2).sum(axis=2)


def groupings(seed: int, n: int = 30, unknown: float = 0.2) -> np.ndarray:
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, size, n) for size in (2, 4)])
    return np.where(rng.random(codes.shape) < unknown, -1, codes)


def test_of_one_number_it_is_the_share_of_an_analysis_of_variance() -> None:
    """R^2 = F (G - 1) / (F (G - 1) + J - G), with scipy's F."""
    rng = np.random.default_rng(1)
    group, values = rng.integers(0, 3, 40), rng.normal(size=40)
    f = f_oneway(*(values[group == g] for g in range(3))).statistic
    squared = (values[:, None] - values) ** 2
    assert explained(squared, group) == pytest.approx(2 * f / (2 * f + 37))
    assert explained(np.zeros((3, 3)), np.arange(3)) != explained(squared, group)


@pytest.mark.parametrize("unknown", [0.0, 0.3])
@pytest.mark.parametrize("stratified", [False, True])
def test_permutations_are_those_of_every_run_with_the_plain_definition(
    unknown: float, stratified: bool
) -> None:
    squared, group = distances(2), groupings(2, unknown=unknown)
    exchange = everybody(30, "s" if stratified else None)
    found = shuffled_shares(squared, group, exchange, 7, 40)
    for b in range(40):
        taken = group[:, permutation(7, b, *exchange)]
        np.testing.assert_allclose(found[b], [explained(squared, row) for row in taken], atol=1e-12)


def test_p_counts_the_permutations_that_explain_as_much() -> None:
    squared, group = distances(3), groupings(3)
    found, count = hold_against(squared, group, everybody(30), SPEC)
    null = shuffled_shares(squared, group, everybody(30), 7, 300)
    assert count == 300
    for one, row, shuffled in zip(found, group, null.T, strict=True):
        assert one.share == pytest.approx(explained(squared, row), abs=1e-12)
        assert one.p == (1 + (shuffled >= one.share).sum()) / 301
        assert one.by_chance == pytest.approx(shuffled.mean())
    low, high = sorted(one.p or 0 for one in found)
    assert sorted(one.q or 0 for one in found) == pytest.approx([min(2 * low, high), high])


def test_an_axis_of_one_group_is_not_held_against_them_and_does_not_count() -> None:
    group = groupings(3)
    with_one = np.stack([np.zeros(30, np.int64), group[1], np.full(30, -1)])
    found, _ = hold_against(distances(3), with_one, everybody(30), SPEC)
    assert found[0] == found[2] == (None, None, None, None)
    assert found[1].q == found[1].p
    alone, count = hold_against(distances(3), with_one[:1], everybody(30), SPEC)
    assert (alone, count) == ([(None, None, None, None)], 300)


def test_nothing_to_explain_is_no_share() -> None:
    (found,), _ = hold_against(np.zeros((30, 30)), groupings(1)[:1], everybody(30), SPEC)
    assert found == (None, None, None, None)


def test_few_permutations_give_no_p() -> None:
    found, _ = hold_against(
        distances(3), groupings(3), everybody(30), dataclasses.replace(SPEC, permutations=99)
    )
    assert [one.p for one in found] == [None, None]
    assert found[0].share is not None


def test_of_many_raters_as_many_permutations_as_the_work_allows() -> None:
    assert n_permutations(104, 20, 10_000) == 10_000
    assert n_permutations(2000, 60, 10_000) == 1000
    assert n_permutations(2000, 60, 500) == 500
    assert 1000 < n_permutations(1000, 20, 10_000) < 10_000


@pytest.mark.long
def test_size_is_five_percent() -> None:
    """Of 200 data sets without any effect, 2 to 19 are marked, but for a probability of 0.01."""
    spec = dataclasses.replace(SPEC, permutations=199)
    marked = 0
    for seed in range(200):
        found, _ = hold_against(distances(seed, 24), groupings(seed, 24)[:1], everybody(24), spec)
        marked += (found[0].p or 1) < 0.05
    assert 2 <= marked <= 19


def test_permutations_are_the_same_in_pieces() -> None:
    squared, group = distances(3), groupings(3)
    whole = shuffled_shares(squared, group, everybody(30), 7, 40)
    rest = shuffled_shares(squared, group, everybody(30), 7, 27, first=13)
    np.testing.assert_allclose(rest, whole[13:], atol=1e-12)


def test_what_is_done_is_told_and_may_be_ended() -> None:
    squared, group = distances(3), groupings(3)
    told: list[float] = []
    hold_against(squared, group, everybody(30), SPEC, progress=told.append)
    assert told == sorted(set(told))
    assert told[-1] == 1

    def end(_: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        hold_against(squared, group, everybody(30), SPEC, progress=end)
