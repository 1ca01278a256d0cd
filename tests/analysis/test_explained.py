"""What axes explain of distances; groups of one size, whose regroupings have mirrors."""

import dataclasses
from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import f_oneway

from grasp_core.analysis.cohesion.panel import Cohesion
from grasp_core.analysis.items.panel import ItemsRequest, look_at_items
from grasp_core.analysis.models.panel import Models
from grasp_core.analysis.pairs import Pairs
from grasp_core.analysis.panel import Panel, groups_asked
from grasp_core.analysis.rater_map import Piece, explained_by_axes, n_permutations, shuffled_shares
from grasp_core.model.annotations import Annotations, Axis, FloatArray, ModelLabels, Raters
from grasp_core.model.remarks.cautions import Caution
from grasp_core.model.spec import STATISTICS, AnalysisSpec, RunSpec
from grasp_core.permutation.draw import Exchange, exchange_of, permutation
from grasp_core.permutation.testing.outcomes import outcomes
from grasp_core.permutation.testing.p_values import Kept
from grasp_core.reading.dataset.load import Dataset
from grasp_core.statistics.between_raters import explained
from grasp_core.statistics.items import ENOUGH_PAIRS
from tests.permutation.simulated import DATA_SPEC, dataset

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
def test_permutations_are_those_of_every_run_with_the_plain_definition(unknown, stratified) -> None:
    squared, group = distances(2), groupings(2, unknown=unknown)
    exchange = everybody(30, "s" if stratified else None)
    found = shuffled_shares(Piece(squared, group, exchange, 7, 0, 40))
    for b in range(40):
        taken = group[:, permutation(7, b, *exchange)]
        np.testing.assert_allclose(found[b], [explained(squared, row) for row in taken], atol=1e-12)
    rest = shuffled_shares(Piece(squared, group, exchange, 7, 13, 27))  # in pieces they are the same
    np.testing.assert_allclose(rest, found[13:], atol=1e-12)


def test_p_counts_the_permutations_that_explain_as_much_and_axes_of_one_group_do_not_count() -> None:
    squared, group = distances(3), groupings(3)
    found, count = explained_by_axes(squared, group, everybody(30), SPEC)
    null = shuffled_shares(Piece(squared, group, everybody(30), 7, 0, 300))
    assert count == 300
    for one, row, shuffled in zip(found, group, null.T, strict=True):
        assert one.share == pytest.approx(explained(squared, row), abs=1e-12)
        assert one.p == (1 + (shuffled >= one.share).sum()) / 301
        assert one.by_chance == pytest.approx(shuffled.mean())
    low, high = sorted(one.p or 0 for one in found)
    assert sorted(one.q or 0 for one in found) == pytest.approx([min(2 * low, high), high])
    group = groupings(3)
    with_one = np.stack([np.zeros(30, np.int64), group[1], np.full(30, -1)])
    found, _ = explained_by_axes(distances(3), with_one, everybody(30), SPEC)
    assert found[0] == found[2] == (None, None, None, None)
    assert found[1].q == found[1].p
    alone, count = explained_by_axes(distances(3), with_one[:1], everybody(30), SPEC)
    assert (alone, count) == ([(None, None, None, None)], 300)


def test_nothing_to_explain_is_no_share_and_few_permutations_give_no_p() -> None:
    (found,), _ = explained_by_axes(np.zeros((30, 30)), groupings(1)[:1], everybody(30), SPEC)
    assert found == (None, None, None, None)
    few = dataclasses.replace(SPEC, permutations=99)
    found, _ = explained_by_axes(distances(3), groupings(3), everybody(30), few)
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
        found, _ = explained_by_axes(distances(seed, 24), groupings(seed, 24)[:1], everybody(24), spec)
        marked += (found[0].p or 1) < 0.05
    assert 2 <= marked <= 19


def test_what_is_done_is_told_and_may_be_ended() -> None:
    squared, group = distances(3), groupings(3)
    told: list[float] = []
    explained_by_axes(squared, group, everybody(30), SPEC, progress=told.append)
    assert told == sorted(set(told))
    assert told[-1] == 1

    def end(_: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        explained_by_axes(squared, group, everybody(30), SPEC, progress=end)


SEEDS = range(1, 4)
DRAWN = 20_000
"""Permutations of a seed: enough for p of half or twice the exact one to lie far outside the error."""
PLANTED = 0.8
SMALL = 0.3


def halves(n: int, *, strata: bool = False) -> Dataset:
    """Twice n raters of three labels, of whom the first half gives the first one more often."""
    data = dataset(3, raters=2 * n, items=14, categories=3)
    drawn = np.random.default_rng(n)
    changed = (data.annotations.rater < n) & (drawn.random(data.annotations.category.size) < PLANTED / 2)
    category = np.where(changed, 0, data.annotations.category)
    annotations = dataclasses.replace(data.annotations, category=category.astype(np.int32))
    axes = {"side": Axis(("a", "b"), np.repeat([0, 1], n).astype(np.int32))}
    if strata:
        axes["batch"] = Axis(("x", "y"), np.tile([0, 1], n).astype(np.int32))
    return dataclasses.replace(data, annotations=annotations, raters=Raters(data.raters.rater_ids, axes))


def regrouped(data: Dataset, analysis: AnalysisSpec) -> Iterator[Dataset]:
    """All ways in which the profiles can be handed out, each once."""
    n = len(data.raters.rater_ids)
    batch = data.raters.axes["batch"].codes if analysis.strata else np.zeros(n)
    own = data.raters.axes["side"]
    for chosen in combinations(range(n), n // 2):
        codes = np.ones(n, np.int32)
        codes[list(chosen)] = 0
        if all(codes[batch == one].sum() == own.codes[batch == one].sum() for one in np.unique(batch)):
            axes = {**data.raters.axes, "side": Axis(own.values, codes)}
            yield dataclasses.replace(data, raters=Raters(data.raters.rater_ids, axes))


def p_and_q(panel: Panel, values: FloatArray) -> dict[int, tuple[float, float]]:
    """Of every test that has a p."""
    found = outcomes(panel.tests, panel.observed, Kept(panel.observed, values), {})
    return {c: (one.p, one.q) for c, one in found.items() if one.p is not None and one.q is not None}


def holds(panel_of: Callable[[Dataset], Panel], data: Dataset, analysis: AnalysisSpec) -> None:
    """Hold each seed's p and q against those of all regroupings, where these are small.

    A centre that is estimated has an error of its own, by which values on either side of it that lie about
    equally far from it may change places.
    """
    panel = panel_of(data)
    every = np.stack([panel_of(one).observed for one in regrouped(data, analysis)])
    exact = p_and_q(panel, np.tile(every, (100_000 // len(every), 1)))
    small = [
        (c, place, value) for c, both in exact.items() for place, value in enumerate(both) if value < SMALL
    ]
    upwards = {c for family in panel.tests.families for c in family.columns if family.tail_of(c) == "upper"}
    active = np.ones(panel.tests.needs.shape[1], np.bool_)
    assert small
    for seed in SEEDS:
        found = p_and_q(panel, panel.columns(panel.work(active).shuffled(seed, 0, DRAWN)))
        for c, place, right in small:
            error = 8 * np.sqrt(right / 2 * (1 - right / 2) / DRAWN)  # four standard errors of both tails
            of_centre = 0.02 if place == 1 and c not in upwards else 0.0
            assert abs(found[c][place] - right) <= 2 / DRAWN + error + of_centre, (c, place, seed)


def asked(correction: str, *, strata: bool = False) -> AnalysisSpec:
    within = ("batch",) if strata else ()
    return AnalysisSpec(axes=(("side",),), correction=correction, family="statistic", strata=within)


@pytest.mark.parametrize("strata", [False, True], ids=["freely", "within strata"])
def test_groups(strata: bool) -> None:
    """By max-T: the p of each test, DSI's and label use's among them, and that of the largest of a family."""
    data, analysis = halves(4, strata=strata), asked("max-t", strata=strata)
    holds(lambda of: Cohesion(of, groups_asked(of.raters, analysis), analysis), data, analysis)


def test_pairs_and_models() -> None:
    data, analysis = halves(4), asked("max-t")
    holds(lambda of: Pairs(of, groups_asked(of.raters, analysis), analysis, [0, 1], {}, []), data, analysis)
    labels = data.annotations.category[data.annotations.rater == 0].astype(np.int32)
    data = dataclasses.replace(data, models=(ModelLabels("first", labels, "first.csv", "5" * 64),))
    holds(lambda of: Models(of, groups_asked(of.raters, analysis), analysis), data, analysis)


def test_items() -> None:
    """Label use of items: in mirrors each item's difference has the opposite sign."""
    data, analysis = halves(4), asked("max-t")
    group = groups_asked(data.raters, analysis).groups[0]
    shares = np.stack([_differences(one) for one in regrouped(data, analysis)])
    own = _differences(data)
    scale = shares.std(axis=0)
    moves = scale > 1e-9
    far = np.where(moves, np.abs(shares) / np.where(moves, scale, 1), 0).max(axis=2)  # (N, I)
    observed = np.where(moves, np.abs(own) / np.where(moves, scale, 1), 0).max(axis=1)
    exact = (far >= observed - 1e-9).mean(axis=0)
    exact_q = (far.max(axis=1)[:, None] >= observed - 1e-9).mean(axis=0)
    for seed in SEEDS[:1]:
        spec = RunSpec(DATA_SPEC, dataclasses.replace(analysis, seed=seed))
        found = look_at_items(data, ItemsRequest(spec, group, DRAWN), map)
        for i, row in enumerate(found.items):
            for value, right in ((row.label_use.p, exact[i]), (row.label_use.q, exact_q[i])):
                if value is not None and right < SMALL:
                    assert abs(value - right) <= 2 / DRAWN + 4 * np.sqrt(right * (1 - right) / DRAWN)


def _differences(data: Dataset) -> FloatArray:
    """Share of each label in the group less that among the others, shape (I, K)."""
    answers: Annotations = data.annotations
    inside = data.raters.axes["side"].codes[answers.rater] == 0
    counts = np.zeros((2, answers.n_items, answers.n_categories))
    np.add.at(counts, (inside.astype(int), answers.item, answers.category), 1)
    shares = counts / counts.sum(axis=2, keepdims=True)
    return np.asarray(shares[1] - shares[0])


@pytest.mark.parametrize(("missing", "told"), [(0.0, False), (0.93, True)])
def test_a_group_and_its_complement_have_one_distance_and_it_is_told_of_which_kind(missing, told) -> None:
    data = dataset(3, items=60, raters=40, missing=missing)
    analysis = AnalysisSpec(axes=(("gender",),))
    panel = Cohesion(data, groups_asked(data.raters, analysis), analysis)
    one, other = (panel.observed[panel.places.column(g, STATISTICS.index("distance"))] for g in (0, 1))
    assert one == pytest.approx(other, abs=1e-12)
    expected = Caution.DISTANCE_OF_SHARES(few=2, groups=2, least=ENOUGH_PAIRS)
    assert panel.notes == ((expected,) if told else ())
