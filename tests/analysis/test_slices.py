"""Slices and one axis given another: each is the numbers of a run on a part, q over all values."""

import csv
import io
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from benchmarks.planted import dataset, independent_shares, labelled, own_view, run_spec
from grasp_core.analysis.cohesion.panel import CohesionWork
from grasp_core.analysis.overview import associations, overlaps
from grasp_core.analysis.stages import Slices
from grasp_core.engine.pools.workers import pack, unpack
from grasp_core.engine.run import prepare
from grasp_core.model.annotations import Axis, Raters
from grasp_core.model.errors import SpecError
from grasp_core.model.groups import form_groups
from grasp_core.model.outcome import FEWEST_CLEAR
from grasp_core.model.remarks.cautions import GuardCaution
from grasp_core.model.result import GivenResult, GroupResult, RunResult, SliceResult
from grasp_core.model.spec import STATISTICS, AnalysisSpec, RunSpec
from grasp_core.reading.dataset.load import Dataset, load
from grasp_core.report.public_view import public_view
from grasp_core.report.quality import overlap_table
from grasp_core.report.slices import given_sentences, given_table, not_yet_given
from grasp_core.statistics.association import chance_of
from tests.computing import compute_in_threads
from tests.engine.asking import planting as planting
from tests.permutation.naive import naive_step_up
from tests.permutation.simulated import DATA_SPEC, files, simulate
from tests.reading.making import rows_table
from tests.results import make_group, make_outcome, make_result

TOPICS = ("art", "news", "sport")
SPEC = replace(DATA_SPEC, categories=("label 0", "label 1", "label 2"))
AXES = (("gender",), ("gender", "race"))


def rows(seed: int, missing: float = 0.0, unknown: float = 0.1) -> tuple[list[list[str]], list[list[str]]]:
    """A file with a topic for each item, some of which have none, and one of raters."""
    made = files(*simulate(seed, items=31, raters=16, missing=missing, unknown=unknown))
    (head, *votes), people = ([*csv.reader(io.StringIO(one.decode()))] for one in made)
    topics = {f"i{n}": "" if n == 30 else TOPICS[n % 3] for n in range(31)}
    return [[*head, "topic"], *([*vote, topics[vote[0]]] for vote in votes)], people


def dataset_slices(votes: list[list[str]], people: list[list[str]], slices: tuple[str, ...] = ()) -> Dataset:
    raters = rows_table(people, "raters.csv")
    return load(rows_table(votes), raters, SPEC, ["gender", "race"], slices=slices)


def computed(data: Dataset, **analysis) -> RunResult:
    spec = AnalysisSpec(**{"axes": AXES, "permutations": 400, "min_raters": 2, **analysis})
    return compute_in_threads(data, RunSpec(SPEC, spec))


def of_topic(result: RunResult, value: str) -> SliceResult:
    (found,) = result.slices
    return next(one for one in found.values if one.value == value)


def without_corrections(row: GroupResult) -> dict:
    """A row's numbers but for what a correction makes of them."""
    outcomes = {
        name: replace(outcome, q=None, significance="none") for name, outcome in row.statistics.items()
    }
    use = row.label_use and replace(row.label_use, q=None, significance="none")
    return {"group": row.group, "sizes": (row.n_raters, row.n_annotations), "use": use, **outcomes}


@pytest.mark.parametrize("missing", [0.0, 0.5])
def test_a_slice_is_the_run_on_a_file_of_its_items(missing: float) -> None:
    votes, people = rows(1, missing)
    first = {"ties": "first"}  # drawn ones follow an item's place in the file
    whole = computed(dataset_slices(votes, people, ("topic",)), slices=("topic",), **first)
    (found,) = whole.slices
    assert (found.column, found.without) == ("topic", 1)
    assert [one.value for one in found.values] == list(TOPICS)
    for value in TOPICS:
        own = [row for row in votes[1:] if row[3] == value]
        alone, one = computed(dataset_slices([votes[0], *own], people), **first), of_topic(whole, value)
        assert (one.items, one.raters, one.annotations) == (10, len({row[1] for row in own}), len(own))
        assert [row.group for row in one.groups] == [row.group for row in alone.groups]
        for row, right in zip(one.groups, alone.groups, strict=True):
            if missing:  # raters stand in another order in the file, so others move where
                assert values(row) == pytest.approx(values(right), rel=1e-12, nan_ok=True)
            else:
                assert without_corrections(row) == without_corrections(right)
        assert [(row.axes, row.group, row.p_group) for row in one.dsi if not missing] == [
            (row.axes, row.group, row.p_group) for row in alone.dsi if not missing
        ]


def values(row: GroupResult) -> list[float]:
    shares = [] if row.label_use is None else [shift.value for shift in row.label_use.labels.values()]
    return [
        float("nan") if value is None else value
        for value in (*(outcome.value for outcome in row.statistics.values()), *shares)
    ]


def test_q_is_over_all_groups_and_values_of_the_column() -> None:
    whole = computed(dataset_slices(*rows(2), ("topic",)), slices=("topic",))
    of_values = [row for one in whole.slices[0].values for row in one.groups]
    tests = [[row.statistics[name] for row in of_values] for name in STATISTICS]
    for family in (*tests, [row.label_use for row in of_values]):
        q = naive_step_up([one.p for one in family], harmonic=False)
        assert [one.q for one in family if one.p is not None] == pytest.approx(
            [v for v in q if v is not None]
        )


def test_the_groups_on_all_items_are_as_without_slices() -> None:
    data = dataset_slices(*rows(3), ("topic",))
    plain, sliced = computed(data), computed(data, slices=("topic",))
    assert sliced.groups == plain.groups
    assert sliced.dsi == plain.dsi
    assert plain.slices == ()


def test_max_t_is_over_all_values() -> None:
    data = dataset_slices(*rows(4), ("topic",))
    spec = AnalysisSpec(axes=AXES, permutations=200, correction="max-t", slices=("topic",), seed=3)
    whole = computed(data, permutations=200, correction="max-t", slices=("topic",), seed=3)
    panel = Slices(data, spec, "topic")
    null = panel.columns(panel.work(np.ones(panel.tests.needs.shape[1], np.bool_)).shuffled(3, 0, 200))
    columns = list(panel.tests.families[STATISTICS.index("irr")].columns)
    centre, scale = null[:, columns].mean(axis=0), null[:, columns].std(axis=0, ddof=1)
    like = np.array(panel.tests.known.of(columns).like)
    for kind in np.unique(like):  # groups of one size, of one axis and slice
        together = null[:, columns][:, like == kind]
        centre[like == kind], scale[like == kind] = together.mean(), together.std()
    largest = np.nanmax(np.abs((null[:, columns] - centre) / scale), axis=1)
    own = np.abs((panel.observed[columns] - centre) / scale)
    q = (1 + (largest[:, None] >= own - 1e-9).sum(axis=0)) / 201
    found = [row.statistics["irr"].q for one in whole.slices[0].values for row in one.groups]
    assert found == pytest.approx(q.tolist(), abs=2 / 201)


def test_work_travels_and_stops_by_group() -> None:
    data = dataset_slices(*rows(5), ("topic",))
    panel = Slices(data, AnalysisSpec(axes=AXES, slices=("topic",)), "topic")
    units = panel.tests.needs.shape[1]
    whole = panel.work(np.ones(units, np.bool_)).shuffled(1, 0, 20)
    assert whole.shape == (20, units, panel.per_unit)
    some = np.zeros(units, np.bool_)
    some[[1, units - 1]] = True
    work = unpack(CohesionWork, io.BytesIO(pack(panel.work(some))))
    assert np.array_equal(work.shuffled(1, 5, 20), whole[5:, some], equal_nan=True)


def test_several_columns_are_corrected_apart() -> None:
    votes, people = rows(6)
    votes = [[*row, "length" if n == 0 else "ab"[int(row[0][1:]) % 2]] for n, row in enumerate(votes)]
    data = dataset_slices(votes, people, ("topic", "length"))
    both = computed(data, slices=("topic", "length"))
    assert [found.column for found in both.slices] == ["topic", "length"]
    assert both.slices[:1] == computed(data, slices=("topic",)).slices
    assert both.slices[1:] == computed(data, slices=("length",)).slices


def test_runs_that_stop_early_settle_slices_too() -> None:
    data = dataset_slices(*rows(7), ("topic",))
    found = computed(data, permutations=3000, adaptive=True, slices=("topic",))
    fixed = computed(data, permutations=3000, slices=("topic",))
    assert [one.value for one in found.slices[0].values] == list(TOPICS)
    undecided = [mark for mark in found.stopping.undecided if mark.slice is not None]
    assert all(mark.slice[0] == "topic" and mark.slice[1] in TOPICS for mark in undecided)
    named = {(mark.slice[1], mark.group, mark.statistic) for mark in undecided}
    for one, other in zip(found.slices[0].values, fixed.slices[0].values, strict=True):
        for row, right in zip(one.groups, other.groups, strict=True):
            for name, outcome in row.statistics.items():
                assert outcome.value == right.statistics[name].value
                settled = (one.value, row.group, name) not in named
                assert not settled or outcome.significance == right.statistics[name].significance


def test_values_without_a_group_are_empty_and_columns_of_which_no_value_has_one_are_told() -> None:
    votes, people = rows(8)
    few = [row for row in votes if row[3] != "news" or row[1] in ("r0", "r1")]
    found = computed(dataset_slices(few, people, ("topic",)), min_raters=3, slices=("topic",))
    assert of_topic(found, "news").groups == ()
    assert of_topic(found, "news").raters == 2
    assert of_topic(found, "art").groups
    votes, people = rows(9)
    one_each = [[*row[:3], f"topic {int(row[1][1:]) // 2}"] for row in votes[1:]]
    apart = [[f"{row[0]}-{row[3]}", *row[1:]] for row in one_each]
    found = computed(dataset_slices([votes[0], *apart], people, ("topic",)), min_raters=3, slices=("topic",))
    assert found.slices == ()
    assert any("no group has 3 raters or more on the items of any value" in str(w) for w in found.warnings)


def test_slices_travel_in_the_result_file_and_strangers_see_no_single_item() -> None:
    found = computed(dataset_slices(*rows(10), ("topic",)), permutations=100, slices=("topic",))
    assert RunResult.from_dict(found.to_dict()) == found
    (column,) = found.slices
    one = replace(column.values[0], items=1)
    small = replace(found, slices=(replace(column, values=(one, *column.values[1:])),))
    assert [value.value for value in public_view(small, small_groups=True).slices[0].values] == list(
        TOPICS[1:]
    )
    large = replace(found, spec=replace(found.spec, analysis=replace(found.spec.analysis, min_raters=7)))
    seen = [row for value in public_view(large, small_groups=True).slices[0].values for row in value.groups]
    assert seen
    assert min(row.n_raters for row in seen) >= 7


def test_groups_of_a_slice_are_formed_of_its_raters() -> None:
    data = dataset_slices(*rows(11, 0.7), ("topic",))
    prepared = prepare(data, RunSpec(SPEC, AnalysisSpec(axes=AXES)))
    panel = Slices(data, AnalysisSpec(axes=AXES, slices=("topic",)), "topic")
    assert panel.tests.needs.shape[1] <= 3 * len(prepared.grouping.groups)
    codes = data.attributes["topic"].codes
    sizes = []
    for value in range(3):
        chosen = codes[data.annotations.item] == value
        there = np.unique(data.annotations.rater[chosen])
        sizes.append(form_groups(data.raters, AXES).member[:, there].sum(axis=1))
    assert np.stack(sizes).min() < np.stack(sizes).max()


RATERS, ITEMS = 60, 60


def of_race(seed: int, strength: float = 0.5) -> Dataset:
    """One race has a view of its own; age goes with race, three in four raters being on the same side."""
    rng = np.random.default_rng(seed)
    shares = independent_shares(rng, RATERS, ITEMS, 3)
    half = np.arange(RATERS) < RATERS // 2
    shares[half] = own_view(strength)(shares[half], rng)
    turned = np.arange(RATERS) % 4 == 0
    axes = {
        "race": ["one" if one else "other" for one in half],
        "age": ["old" if one else "young" for one in half ^ turned],
        "hand": ["left" if j % 2 else "right" for j in range(RATERS)],
    }
    return dataset(labelled(rng, shares, np.ones((RATERS, ITEMS), bool)), 3, axes)


def run(data: Dataset, **changes: object) -> RunResult:
    spec = run_spec(1, FEWEST_CLEAR)
    asked = {"axes": (("race",), ("age",), ("hand",)), **changes}
    return compute_in_threads(data, replace(spec, analysis=replace(spec.analysis, **asked)))


@pytest.fixture(scope="module")
def result() -> RunResult:
    return run(of_race(3), given=("race", "age"))


def test_given_an_axis_is_the_run_within_its_values(result: RunResult) -> None:
    given = next(found for found in result.given if found.column == "race")
    within = run(of_race(3), axes=(("age",), ("hand",)), strata=("race",))
    bare = [[replace(row, verdict=None) for row in found.groups] for found in (given, within)]
    assert bare[0] == bare[1]
    tested = [
        [row.verdict and (row.verdict.p, row.verdict.q) for row in one.groups] for one in (given, within)
    ]
    assert tested[0] == tested[1]
    assert None not in tested[0]
    assert given.dsi == within.dsi
    assert {row.group.axes for row in given.groups} == {("age",), ("hand",)}


def test_the_data_speak_for_what_was_planted_and_both_p_values_stand_side_by_side(result: RunResult) -> None:
    said = [sentence.plain for sentence in given_sentences(result)]
    assert (
        "The data favour race: its groups differ among raters of the same age, but not the other way round."
    ) in said
    assert any(
        one.startswith("Among raters of the same race no difference is left for old, young: race may be")
        for one in said
    )
    assert "Among raters of the same age there is still a difference for one, other." in said
    table = given_table(result, next(found for found in result.given if found.column == "race"))
    assert list(table["Group"]) == ["old (age)", "young (age)", "left (hand)", "right (hand)"]
    distance = table[["Distance: p", "Distance: p given race"]].iloc[0]
    assert distance.iloc[0].endswith("**")
    assert not distance.iloc[1].endswith("*")


def test_what_would_hold_only_given_an_axis_is_named_in_the_order_of_the_groups() -> None:
    names = "ABCDEFGH"
    held = tuple(make_group(name, gai=make_outcome(1.3, "up", "**")) for name in names)
    before = make_result(tuple(make_group(name) for name in names), statistics=("gai",), dsi=())
    (said,) = given_sentences(replace(before, given=(GivenResult("age", held, ()),)))
    assert said.plain == (
        f"Only among raters of the same age would there be a difference for {', '.join(names)}, which is a "
        "hint, no finding."
    )


def test_axes_that_go_together_are_told_until_both_are_given(result: RunResult) -> None:
    (pair,) = result.associations
    assert (pair.first, pair.second) == ("race", "age")
    assert 0.45 < pair.v < 0.55
    assert not not_yet_given(result)
    assert GuardCaution.AXES_TOGETHER not in {one.code for one in result.warnings}
    one_given = run(of_race(3), permutations=20, given=("race",))
    assert GuardCaution.AXES_TOGETHER in {one.code for one in one_given.warnings}
    assert not_yet_given(replace(result, given=result.given[:1])) == (pair,)
    assert associations(of_race(1).raters, ("race", "hand")) == ()


def test_axes_given_which_nothing_is_left_are_refused_before_the_run() -> None:
    data = of_race(1)
    axes = {**data.raters.axes, "finer": data.raters.axes["race"]}
    data = replace(data, raters=replace(data.raters, axes=axes))
    with pytest.raises(SpecError, match="given finer nothing is left to shuffle for race: "):
        run(data, axes=(("race",),), given=("finer",))
    with pytest.raises(SpecError, match="given race nothing is left to test: "):
        run(data, axes=(("race",),), given=("race",))
    with pytest.raises(SpecError, match="within age already"):
        run(data, axes=(("race",),), given=("age",), strata=("age",))


def test_result_files_keep_it_and_strangers_see_no_small_groups_of_it(result: RunResult) -> None:
    again = RunResult.from_dict(result.to_dict())
    assert (again.given, again.associations) == (result.given, result.associations)
    least = replace(result.spec, analysis=replace(result.spec.analysis, min_raters=32))
    shown = public_view(replace(result, spec=least), small_groups=True)
    assert all(not found.groups for found in shown.given)


SETS = 200
VALUES = (2, 3, 4, 5)


def raters_of(columns: dict[str, list[str]]) -> Raters:
    n = len(next(iter(columns.values())))
    axes = {name: Axis.from_values(values) for name, values in columns.items()}
    return Raters(tuple(f"r{j}" for j in range(n)), axes)


def independent(seed: int, n: int) -> Raters:
    rng = np.random.default_rng(seed)
    return raters_of({f"axis {k}": [str(v) for v in rng.integers(k, size=n)] for k in VALUES})


@pytest.mark.long
@pytest.mark.parametrize("n", [20, 104])
def test_independent_axes_are_told_in_at_most_6_percent_of_data_sets(n: int) -> None:
    told = [associations(one, tuple(one.axes)) for one in (independent(seed, n) for seed in range(SETS))]
    assert np.mean([bool(found) for found in told]) <= 0.06
    by_size = [[row.p is not None for row in overlaps(independent(seed, n))] for seed in range(SETS)]
    assert np.mean([any(found) for found in by_size]) > 0.1  # what V alone would tell


def test_axes_that_go_together_are_told_with_the_p_of_chi_square() -> None:
    first = ["a"] * 52 + ["b"] * 52
    second = ["x"] * 40 + ["y"] * 12 + ["x"] * 14 + ["y"] * 38
    raters = raters_of({"first": first, "second": second, "third": ["l", "r"] * 52})
    (found,) = associations(raters, tuple(raters.axes))
    assert (found.first, found.second) == ("first", "second")
    assert found.p is not None
    assert found.p < 0.001 * 3
    assert overlap_table(overlaps(raters))["verdict"].tolist() == ["go together", "", ""]
    second = ["x"] * 34 + ["y"] * 18 + ["x"] * 20 + ["y"] * 32
    raters = raters_of({"first": first, "second": second, "third": ["l", "r"] * 52})
    of_three, of_one = overlaps(raters)[0], overlaps(raters, ("first", "second"))[0]
    assert 0 < of_one.p < 1 / 3
    assert of_three.p == pytest.approx(3 * of_one.p)  # corrected for the pairs of axes
    many = np.array([[60, 50, 45], [40, 55, 50]])
    assert chance_of(many) == pytest.approx(chi2_contingency(many).pvalue, abs=0.015)
    # Of 12 and 12 raters, hypergeometric: as far or farther with 13 of [0, 12] to [12, 0], by hand.
    table = np.array([[9, 3], [4, 8]])
    exact = sum(math.comb(13, k) * math.comb(11, 12 - k) for k in range(1, 13) if k <= 4 or k >= 9)
    assert chance_of(table) == pytest.approx(exact / math.comb(24, 12), abs=0.01)
