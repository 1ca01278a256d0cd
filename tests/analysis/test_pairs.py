"""Pairs of groups: held against plain definitions on the two groups' raters alone."""

import dataclasses
from contextlib import closing
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from grasp_core.analysis.cohesion.columns import Places
from grasp_core.analysis.pairs import MOST_GROUPS, PairPlaces, Pairs
from grasp_core.engine.compute import compute, later_stages
from grasp_core.engine.pools import workers
from grasp_core.engine.pools.pool import Pool
from grasp_core.engine.run import prepare
from grasp_core.engine.watching import Watcher
from grasp_core.model.annotations import Annotations, Axis, Raters
from grasp_core.model.errors import SpecError
from grasp_core.model.outcome import PAIR_STATISTICS
from grasp_core.model.remarks.cautions import Caution
from grasp_core.model.remarks.reasons import NoInterval
from grasp_core.model.result import RunResult
from grasp_core.model.spec import AnalysisSpec, ModelSource, RunSpec
from grasp_core.permutation.draw import exchange_of, permutation
from grasp_core.permutation.testing.corrections import q_values
from grasp_core.permutation.testing.p_values import tails
from grasp_core.reading.dataset.load import Dataset
from grasp_core.statistics import cross_group, in_group
from grasp_core.statistics import label_use as of_labels
from grasp_core.statistics.items import NotEstimableError, count
from grasp_core.statistics.label_use import Scale
from grasp_core.statistics.levels import category_values, distance_of
from tests.computing import compute_in_threads
from tests.engine.asking import planting as planting
from tests.permutation.simulated import DATA_SPEC, dataset


def with_teams(data: Dataset) -> Dataset:
    """The data with an axis of teams of three."""
    teams = Axis.from_values([str(j // 3) for j in range(data.annotations.n_raters)])
    raters = dataclasses.replace(data.raters, axes={**data.raters.axes, "team": teams})
    return dataclasses.replace(data, raters=raters)


AXES = (("gender",), ("race",), ("gender", "race"))
CROSSED = with_teams(dataset(1, items=30))
SPARSE = with_teams(dataset(2, items=60, raters=40, missing=0.7, unknown=0.1))


def asked(**analysis: object) -> RunSpec:
    return RunSpec(DATA_SPEC, AnalysisSpec(**{"axes": AXES, "permutations": 200, "pairs": True, **analysis}))


def panels(data, spec: RunSpec) -> list[Pairs]:
    return list(later_stages(prepare(data, spec)).panels)  # type: ignore[arg-type]


def members(data, spec: RunSpec) -> list[tuple[np.ndarray, np.ndarray]]:
    """The raters of each pair's groups, in the order of the result."""
    found = prepare(data, spec).grouping
    return [
        (found.member[a], found.member[b])
        for axes in spec.analysis.axes
        for a, b in combinations([g for g, group in enumerate(found.groups) if group.axes == axes], 2)
    ]


def plain(
    annotations: Annotations, a: np.ndarray, b: np.ndarray, level: str, *, shares: bool = False
) -> dict[str, float]:
    """The statistics of a pair, and its use of each label, by their plain definitions."""
    distance = distance_of(annotations.categories, level)  # type: ignore[arg-type]
    scale = Scale(level, category_values(annotations.categories, level))  # type: ignore[arg-type]
    c, d = count(annotations, a), count(annotations, b)

    def value(function, *args) -> float:
        try:
            return function(*args)
        except NotEstimableError:
            return np.nan

    irr_a, irr_b = (value(in_group.irr, counts, distance) for counts in (c, d))
    xrr = value(cross_group.xrr, c, d, distance)
    gai_a, gai_b = (irr / xrr if xrr > 0 else np.nan for irr in (irr_a, irr_b))
    return {
        "distance": value(of_labels.shares_distance if shares else of_labels.distance, c, d, scale),
        "xrr": xrr,
        "gap_a": irr_a - xrr,
        "gap_b": irr_b - xrr,
        "irr_difference": irr_a - irr_b,
        "gai_difference": gai_a - gai_b,
        **{f"label {k}": one for k, one in enumerate(of_labels.label_use(c, d))},
    }


def in_order(columns: np.ndarray, n_pairs: int) -> np.ndarray:
    """Columns of pairs, shape (..., C), as those of :func:`plain`, shape (..., U, 6 + 3)."""
    places = PairPlaces(Places(n_pairs, 3))
    found = [
        [*(places.column(u, name) for name in PAIR_STATISTICS), *places.of_first.labels(u)]
        for u in range(n_pairs)
    ]
    return columns[..., np.array(found)]


def shuffled(a: np.ndarray, b: np.ndarray, raters: Raters, spec: AnalysisSpec, n: int):
    """The groups' raters under permutations of the two groups alone."""
    chosen = np.flatnonzero(a | b)
    exchange = exchange_of(raters.some(chosen), spec)
    for number in range(n):
        source = permutation(spec.seed, number, *exchange)
        new_a, new_b = np.zeros_like(a), np.zeros_like(b)
        new_a[chosen], new_b[chosen] = a[chosen][source], b[chosen][source]
        yield new_a, new_b


@pytest.mark.parametrize("data", [CROSSED, SPARSE], ids=["crossed", "sparse"])
@pytest.mark.parametrize(
    ("level", "strata", "cluster"),
    [("nominal", (), None), ("ordinal", ("region", "workload"), None), ("nominal", (), "team")],
)
def test_values_and_shuffled_values_are_those_of_the_definitions(data, level, strata, cluster) -> None:
    spec = asked(level=level, strata=strata, cluster=cluster)
    of_pairs = iter(members(data, spec))
    for panel in panels(data, spec):
        n_pairs = panel.tests.needs.shape[1]
        values = panel.work(np.ones(n_pairs, np.bool_)).shuffled(1, 0, 6)
        null, observed = in_order(panel.columns(values), n_pairs), in_order(panel.observed, n_pairs)
        for u in range(n_pairs):
            a, b = next(of_pairs)
            few = of_labels.enough_paired(count(data.annotations, a), count(data.annotations, b))
            shares = few == 0  # too few items have two labels of both groups
            expected = list(plain(data.annotations, a, b, level, shares=shares).values())
            np.testing.assert_allclose(observed[u], expected, rtol=1e-12, atol=1e-12)
            for number, sides in enumerate(shuffled(a, b, data.raters, spec.analysis, 6)):
                expected = list(plain(data.annotations, *sides, level, shares=shares).values())
                np.testing.assert_allclose(null[number, u], expected, rtol=1e-12, atol=1e-12)


@pytest.fixture(scope="module")
def result() -> RunResult:
    return compute_in_threads(CROSSED, asked())


def test_a_result_has_the_pairs_of_each_axis_with_p_of_the_shuffled_values_and_q_of_the_axis(result) -> None:
    found = [(row.a.axes, row.a.label, row.b.label) for row in result.pairs]
    groups = [row.group for row in result.groups]
    assert found == [(a.axes, a.label, b.label) for a, b in combinations(groups, 2) if a.axes == b.axes]
    sizes = {row.group: row.n_raters for row in result.groups}
    for row in result.pairs:
        assert (row.n_raters_a, row.n_raters_b) == (sizes[row.a], sizes[row.b])
        assert tuple(row.statistics) == tuple(PAIR_STATISTICS)
    assert RunResult.from_dict(result.to_dict()) == result
    rows = list(result.pairs)
    for panel in panels(CROSSED, asked()):
        n_pairs = panel.tests.needs.shape[1]
        null = panel.columns(panel.work(np.ones(n_pairs, np.bool_)).shuffled(1, 0, 200))
        tests = [list(PairPlaces(Places(n_pairs, 3)).of_first.label_tests(u)) for u in range(n_pairs)]
        far, chance = (np.abs(values[..., tests]).max(axis=-1) for values in (panel.observed, null))
        observed, null = in_order(panel.observed, n_pairs), in_order(null, n_pairs)
        of_axis, rows = rows[:n_pairs], rows[n_pairs:]
        for s, name in enumerate(PAIR_STATISTICS):
            tail = "upper" if name == "distance" else "two-sided"
            p = [tails(float(observed[u, s]), null[:, u, s]).p(tail) for u in range(n_pairs)]
            found = [row.statistics[name] for row in of_axis]
            assert [outcome.p for outcome in found] == p
            assert [outcome.q for outcome in found] == q_values(
                p, np.empty(0), np.empty((0, 0)), "benjamini-hochberg"
            )
        p = list((1 + (chance >= far - 1e-9).sum(axis=0)) / (len(null) + 1))
        uses = [row.label_use for row in of_axis]
        assert [use.p for use in uses] == p
        assert [use.q for use in uses] == q_values(p, np.empty(0), np.empty((0, 0)), "benjamini-hochberg")


def test_pairs_change_nothing_of_the_groups_and_a_spec_without_them_keeps_its_hash(result: RunResult) -> None:
    alone = compute_in_threads(CROSSED, asked(pairs=False))
    assert (alone.groups, alone.dsi, alone.warnings) == (result.groups, result.dsi, result.warnings)
    assert alone.pairs == ()
    without = asked(pairs=False)
    assert "pairs" in without.to_dict()["analysis"]
    plain_form = without.to_dict()
    del plain_form["analysis"]["pairs"]
    assert RunSpec.from_dict(plain_form).sha256() == without.sha256()
    assert asked().sha256() != without.sha256()


def test_intervals_are_those_of_leaving_each_unit_out_of_both_groups() -> None:
    data = dataset(3, items=8, raters=16)
    spec = asked(axes=(("gender",),), interval="raters")
    row = compute_in_threads(data, spec).pairs[0]
    ((a, b),) = members(data, spec)
    whole = plain(data.annotations, a, b, "nominal")
    variances = np.zeros(len(whole))
    shares = np.zeros(len(whole))
    for side in (a, b):
        without = []
        for j in np.flatnonzero(side):
            left = np.arange(a.size) != j
            without.append(list(plain(data.annotations, a & left, b & left, "nominal").values()))
        n = len(without)
        variance = (n - 1) / n * ((without - np.mean(without, axis=0)) ** 2).sum(axis=0)
        variances += variance
        apart = np.abs(without - np.mean(without, axis=0))
        kurtosis = n * (apart**4).sum(axis=0) / (apart**2).sum(axis=0) ** 2
        shares += variance**2 / np.clip(2 * n / (kurtosis - 1), 1, n - 1)
    reach = stats.t.ppf(0.975, variances**2 / shares) * np.sqrt(variances)
    shifts = iter(row.label_use.labels.values())
    for place, (name, value) in enumerate(whole.items()):
        interval = next(shifts) if name.startswith("label") else row.statistics[name].interval
        assert interval is not None
        if name in ("xrr", "distance"):  # on scales of their own
            assert interval.low < value < interval.high
            continue
        assert interval.low == pytest.approx(value - reach[place], abs=1e-9)
        assert interval.high == pytest.approx(value + reach[place], abs=1e-9)


def test_small_groups_have_no_interval_and_many_are_not_compared_and_that_is_said() -> None:
    found = compute_in_threads(dataset(4, items=10, raters=12), asked(axes=(("gender", "race"),)))
    few = [row for row in found.pairs if min(row.n_raters_a, row.n_raters_b) < 5]
    assert few
    codes = (NoInterval.FEW_RATERS_INSIDE, NoInterval.FEW_RATERS_OUTSIDE)
    for one in (one for row in few for one in row.statistics.values() if one.value is not None):
        assert one.interval is None
        assert one.no_interval.code in codes
    data = dataset(5, items=4, raters=2 * MOST_GROUPS + 2)
    codes = np.arange(2 * MOST_GROUPS + 2, dtype=np.int32) // 2
    many = dataclasses.replace(
        data.raters.axes["region"], values=tuple(f"{k:02}" for k in range(MOST_GROUPS + 1)), codes=codes
    )
    raters = dataclasses.replace(data.raters, axes={**data.raters.axes, "region": many})
    found = compute_in_threads(
        dataclasses.replace(data, raters=raters), asked(axes=(("region",), ("gender",)), permutations=10)
    )
    assert {row.a.axes for row in found.pairs} == {("gender",)}
    assert Caution.TOO_MANY_PAIRS(groups=MOST_GROUPS + 1, most=MOST_GROUPS) in found.warnings


def test_label_use_of_pairs_is_always_told_and_models_are_not_held_against_them() -> None:
    found = compute_in_threads(CROSSED, asked(statistics=("negentropy",), permutations=10)).pairs
    assert found
    assert all(row.statistics == {} and row.label_use is not None for row in found)
    with pytest.raises(SpecError, match="leave `pairs` out"):
        dataclasses.replace(asked(), models=(ModelSource("model", "0" * 64),))


def test_adaptive_runs_stop_pair_by_pair() -> None:
    """Women give the last label to every other item, so that pairs of them and men are soon settled."""
    gender = CROSSED.raters.axes["gender"]
    women = gender.codes[CROSSED.annotations.rater] == gender.values.index("Woman")
    turned = np.where(women & (CROSSED.annotations.item % 2 == 0), 2, CROSSED.annotations.category)
    data = dataclasses.replace(
        CROSSED, annotations=dataclasses.replace(CROSSED.annotations, category=turned.astype(np.int32))
    )
    early = compute_in_threads(data, asked(permutations=5000, adaptive=True))
    whole = compute_in_threads(data, asked(permutations=5000))
    taken = {one.null_n for row in early.pairs for one in row.statistics.values()}
    assert min(taken) < max(taken)
    undecided = {(mark.group, mark.other, mark.statistic) for mark in early.stopping.undecided}
    for one, other in zip(early.pairs, whole.pairs, strict=True):
        for name, outcome in one.statistics.items():
            if outcome.null_n < 5000 and (one.a, one.b, name) not in undecided:
                assert outcome.significance == other.statistics[name].significance


def test_watchers_hear_of_the_groups_first_and_then_of_the_pairs() -> None:
    class Listening(Watcher):
        def __init__(self) -> None:
            self.heard: list[RunResult] = []
            self.of: list[str | None] = []

        def check(self, progress) -> None:
            self.of.append(progress.of)

        def found(self, provisional) -> None:
            self.heard.append(provisional)

    listening = Listening()
    with closing(Pool(workers.threads, 2)) as pool:
        final = compute(CROSSED, asked(), pool, listening)
    assert list(dict.fromkeys(listening.of)) == [None, "pairs"]
    later = [one for one in listening.heard if one.later is not None]
    assert later
    assert all(one.later == "pairs" and not one.provisional for one in later)
    assert all(one.groups == final.groups for one in later)
    assert later[0].pairs
    first = later[0].pairs[0].statistics["xrr"]
    assert (first.value, first.p) == (final.pairs[0].statistics["xrr"].value, None)
