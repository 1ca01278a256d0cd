"""Whether groups were given the same items, and as many; columns that look like teams."""

import dataclasses
import tracemalloc

import numpy as np
import pandas as pd
import pytest

import grasp_core as grasp
from benchmarks.confounded import CLEAN, CONFOUNDED, Situation, checked, drawn
from benchmarks.planted import AXIS, Effect, independent_shares, labelled, own_view, shifted
from benchmarks.planted import dataset as made
from benchmarks.planted import drawn as drawn_effect
from benchmarks.simulated import d3_size
from benchmarks.study.situations import in_teams
from grasp_core.analysis import overview as module
from grasp_core.analysis.design import (
    MOST_ANNOTATIONS,
    Seen,
    Unmatched,
    check_assignment,
    column_warnings,
    meetings,
    unmatched,
)
from grasp_core.analysis.overview import Team, teams
from grasp_core.model.annotations import Axis, FloatArray, Raters
from grasp_core.model.errors import Problem, SpecError
from grasp_core.model.example import example_files, example_spec
from grasp_core.model.groups import Group, form_groups
from grasp_core.model.outcome import unequal_axes
from grasp_core.model.remarks.cautions import ShuffleCaution
from grasp_core.model.remarks.problems import DataProblem
from grasp_core.model.spec import AnalysisSpec
from grasp_core.permutation.draw import exchange_of
from grasp_core.permutation.testing.tail import check_something_moves
from grasp_core.reading.dataset.load import Dataset, load
from grasp_core.reading.sandbox.read import read_table
from grasp_core.statistics.cross_group import xrr
from grasp_core.statistics.in_group import irr
from grasp_core.statistics.items import count
from tests.permutation.simulated import coded

SETS = 12
AXES = [("side",)]


@pytest.mark.parametrize("situation", CLEAN, ids=lambda one: one.name)
def test_nothing_is_said_of_groups_that_were_given_the_same(situation: Situation) -> None:
    said = sum(checked(drawn(situation, seed)).large for seed in range(SETS))
    assert said <= 1


@pytest.mark.parametrize("situation", CONFOUNDED, ids=lambda one: one.name)
def test_groups_with_items_or_workloads_of_their_own_are_told(situation: Situation) -> None:
    for seed in range(SETS):
        check = checked(drawn(situation, seed))
        assert check.large
        assert check.own_workload == ("times as many" in situation.name)
        assert set(unequal_axes([check])) == {("side",)}
        if check.own_workload:
            assert (check.workload.group.values, check.workload.size) == (("in",), pytest.approx(4.0))


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ([[2, 0], [2, 0], [0, 2]], [0.0, 0.0]),  # pools of their own
        # Two items of 1 and 3: sum n m / (n_i - 1) = 2 x 3 / 3 = 2; W_g (W - W_g) / W = 2 x 6 / 8 = 1.5.
        ([[1, 3], [1, 3]], [4 / 3, 4 / 3]),
        ([[1, 0], [0, 1]], [np.nan, np.nan]),  # nobody meets anybody
    ],
)
def test_meetings_by_hand(counts: list[list[int]], expected: list[float]) -> None:
    np.testing.assert_allclose(meetings(np.array(counts, np.float64)), expected)


def test_groups_at_random_meet_as_often_as_expected() -> None:
    rng = np.random.default_rng(1)
    counts: FloatArray = rng.multinomial(6, [0.2, 0.3, 0.5], size=20_000).astype(np.float64)
    np.testing.assert_allclose(meetings(counts), 1.0, atol=0.02)


def test_strata_that_decided_who_rates_what_leave_nothing_to_tell() -> None:
    data = drawn(CONFOUNDED[2], 1)  # batches
    groups = form_groups(data.raters, [("side",)])
    first_item = np.full(data.annotations.n_raters, data.annotations.n_items)
    np.minimum.at(first_item, data.annotations.rater, data.annotations.item)
    batch = Axis.from_values([str(one < data.annotations.n_items // 4) for one in first_item])
    raters = dataclasses.replace(data.raters, axes={**data.raters.axes, "batch": batch})
    within = exchange_of(raters, AnalysisSpec(axes=(("side",),), strata=("batch",)))
    (check,) = check_assignment(Seen.of(data.annotations), data.annotations_of, groups, AXES, within)
    assert not check.large


def test_the_example_is_silent_and_where_no_value_is_known_there_is_nothing_to_check() -> None:
    spec = example_spec()
    files = {name: read_table(content, name) for name, content in example_files().items()}
    data = load(files["annotations.csv"], files["raters.csv"], spec.data, spec.analysis.columns)
    grouping = form_groups(data.raters, spec.analysis.axes, min_raters=2)
    seen = Seen.of(data.annotations)
    assert not unequal_axes(check_assignment(seen, data.annotations_of, grouping, spec.analysis.axes))
    annotations = coded([0, 0], [0, 1], [0, 0], 1)
    nobody = form_groups(Raters(("a", "b"), {"side": Axis.from_values([None, None])}), AXES)
    (check,) = check_assignment(Seen.of(annotations), np.ones(2, np.int64), nobody, AXES)
    assert (check.items, check.workload, check.large) == (None, None, False)


def test_large_data_are_looked_at_by_items_drawn_at_random() -> None:
    annotations, raters, spec = d3_size(2)
    grouping = form_groups(raters, spec.axes[:1], min_raters=2)
    seen, given = Seen.of(annotations), np.bincount(annotations.rater, minlength=annotations.n_raters)
    assert MOST_ANNOTATIONS * 0.99 < seen.rater.size <= MOST_ANNOTATIONS < annotations.n_annotations
    (check,) = check_assignment(seen, given, grouping, spec.axes[:1])
    assert not check.large
    assert check.items.size == pytest.approx(1.0, abs=0.02)


def test_memory_does_not_grow_with_the_permutations() -> None:
    """Profiles of all of them at once would take 300 MB for these raters."""
    rng = np.random.default_rng(1)
    n_raters = 100_000
    codes = rng.integers(0, 10, n_raters).astype(np.int32)
    people = Raters(("",) * n_raters, {"side": Axis(tuple("abcdefghij"), codes)})
    seen = Seen(np.full(100, 30), np.arange(3000, dtype=np.int32))
    given = rng.integers(1, 9, n_raters)
    grouping = form_groups(people, AXES)
    check_assignment(seen, given, grouping, AXES)
    tracemalloc.start()
    check_assignment(seen, given, grouping, AXES)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 40e6


UNKNOWN = DataProblem.UNKNOWN_ON_AXIS(unknown=2, raters=6, axis="some")
OF_TWO = Problem(False, UNKNOWN, axis="some")


def raters(**values: str) -> Raters:
    """One letter a rater; a blank is unknown."""
    axes = {name: Axis.from_values([one.strip() or None for one in text]) for name, text in values.items()}
    return Raters(("",) * len(next(iter(values.values()))), axes)


def test_raters_unknown_on_a_stratum_or_cluster_take_part_and_are_said_to() -> None:
    of = raters(x="ababab", some="uu vv ")
    told = {"unknown": 2, "raters": 6, "column": "some"}
    within = AnalysisSpec(axes=(("x",),), strata=("some",))
    assert column_warnings(of, within, [OF_TWO]) == [ShuffleCaution.UNKNOWN_STRATUM(**told)]
    clustered = AnalysisSpec(axes=(("x",),), cluster="some")
    assert column_warnings(of, clustered, [OF_TWO]) == [ShuffleCaution.UNKNOWN_CLUSTER(**told)]
    tested = AnalysisSpec(axes=(("some",),), strata=("some",))
    assert column_warnings(of, tested, [OF_TWO]) == [UNKNOWN]
    assert column_warnings(of, AnalysisSpec(axes=(("x",),)), [OF_TWO]) == []
    alone = Problem(False, DataProblem.AXIS_WITHOUT_VALUE(axis="some"), axis="some")
    for values in ("uuuuuu", "      "):  # a stratum of everybody changes nothing
        everybody = raters(x="ababab", some=values)
        assert column_warnings(everybody, within, [alone]) == [ShuffleCaution.ONE_STRATUM(column="some")]


def test_an_axis_that_differs_inside_clusters_is_said_to_hold_the_others_up() -> None:
    of = raters(x="aabbbb", y="abbaab", team="rrssss")
    spec = AnalysisSpec(axes=(("x",), ("y",)), cluster="team")
    (told,) = column_warnings(of, spec, [])
    assert told == ShuffleCaution.MIXED_CLUSTERS(cluster="team", clusters=2, mixed=("y",), whole=("x",))
    assert "test x in a run without y" in str(told)
    assert column_warnings(of, AnalysisSpec(axes=(("x",),), cluster="team"), []) == []
    assert column_warnings(of, AnalysisSpec(axes=(("y",),), cluster="team"), []) == []
    own = raters(x="ababab", team="rrssst")  # clusters each of its own size
    with pytest.raises(SpecError, match=r"each team has a size of its own.* shuffle within team"):
        check_something_moves(own, form_groups(own, [("x",)]), AnalysisSpec(axes=(("x",),), cluster="team"))


POOL, HARDER = CONFOUNDED[:2]
SETS_MATCHED = 20


def told(situation: object, seed: int) -> list[Unmatched]:
    data = drawn(situation, seed)  # type: ignore[arg-type]
    grouping = form_groups(data.raters, [(AXIS,)])
    gai: dict[Group, float] = {}
    for g, group in enumerate(grouping.groups):
        c, d = (count(data.annotations, side) for side in (grouping.member[g], grouping.complement(g)))
        gai[group] = irr(c) / xrr(c, d)
    return unmatched(data.annotations, grouping, gai, [checked(data)], "nominal")


def test_pools_of_unequal_difficulty_are_told() -> None:
    found = [told(HARDER, seed) for seed in range(SETS_MATCHED)]
    assert sum(map(len, found)) >= SETS_MATCHED - 3
    of_group = [one for some in found for one in some if one.group.values == ("in",)]
    assert all(one.gai < one.matched for one in of_group)


@pytest.mark.parametrize("situation", [POOL, CONFOUNDED[-1]], ids=lambda one: one.name)
def test_pools_alike_and_workloads_are_not(situation: object) -> None:
    assert sum(len(told(situation, seed)) for seed in range(SETS_MATCHED)) <= 2


# Teams: found where they answer alike, not where a column says something else
SETS_OF_TEAMS = 20


def found(data: Dataset) -> list[Team]:
    axes = dict(data.raters.axes)
    tested = {AXIS: axes.pop(AXIS)}
    told = teams(data.annotations, axes, tested)
    # Nor are raters who failed a check a team, though they answer more alike than others.
    assert teams(data.annotations, {f"failed {name}": one for name, one in axes.items()}, tested) == []
    return told


def with_column(data: Dataset, values: list[str]) -> Dataset:
    axes = {AXIS: list(_texts(data.raters.axes[AXIS])), "column": values}
    labels = np.full((data.annotations.n_raters, data.annotations.n_items), -1)
    labels[data.annotations.rater, data.annotations.item] = data.annotations.category
    return made(labels, data.annotations.n_categories, axes)


def _texts(axis: Axis) -> list[str]:
    return [axis.values[code] for code in axis.codes]


def test_teams_with_views_of_their_own_are_proposed_as_clusters_of_larger_data_too(monkeypatch) -> None:
    assert [found(in_teams(seed)) for seed in range(5)] == [[Team("team", AXIS, "cluster")]] * 5
    monkeypatch.setattr(module, "MOST_ANNOTATIONS", 1800)
    monkeypatch.setattr(module, "MOST_RATERS", 40)
    monkeypatch.setattr(module, "MOST_PAIRS", 50)
    assert found(in_teams(1)) == [Team("team", AXIS, "cluster")]


def test_what_is_no_team_is_seldom_proposed() -> None:
    # At most .01 of data sets; of 20, more than 2 would have probability below .002.
    effect = Effect("shift", 3, shifted(15))
    clean = [drawn_effect(effect, seed) for seed in range(SETS_OF_TEAMS)]
    team = [f"{'in' if j < 15 else 'out'} {j % 5}" for j in range(60)]
    assert sum(bool(found(with_column(one, team))) for one in clean) <= 2
    data = in_teams(1)
    same = [{"in": "a", "out": "b"}[value] for value in _texts(data.raters.axes[AXIS])]
    for column in (same, [f"{j}" for j in range(60)], [f"{j % 2}" for j in range(60)]):
        assert found(with_column(data, column)) == []


def test_batches_that_lean_to_a_group_are_to_be_shuffled_within() -> None:
    rng = np.random.default_rng(1)
    shares = independent_shares(rng, 60, 60, 3)
    batch = np.where(np.arange(60) % 20 < 15, np.arange(60) // 20, (np.arange(60) // 20 + 1) % 3)
    for one in range(3):
        shares[batch == one] = own_view(0.3)(shares[batch == one], rng)
    labels = labelled(rng, shares, np.ones((60, 60), bool))
    sides = ["in" if j < 20 else "out" for j in range(60)]
    data = made(labels, 3, {AXIS: sides, "batch": [str(one) for one in batch]})
    assert found(data) == [Team("batch", AXIS, "within")]


def test_python_proposes_the_cluster_and_changes_nothing() -> None:
    data = in_teams(2)
    annotations = data.annotations
    texts = {"item": annotations.item_ids, "rater": annotations.rater_ids, "label": annotations.categories}
    codes = (annotations.item, annotations.rater, annotations.category)
    columns = zip(texts.items(), codes, strict=True)
    frame = pd.DataFrame({name: np.array(ids)[code] for (name, ids), code in columns})
    raters = pd.DataFrame({name: _texts(axis) for name, axis in data.raters.axes.items()})
    raters.insert(0, "rater", annotations.rater_ids)
    asked = {"item": "item", "rater": "rater", "label": "label", "axes": [AXIS]}
    asked |= {"permutations": 200, "pairs": False}
    plain = grasp.analyse(frame, raters, **asked)
    (said,) = [note for note in plain.notes if "answer more alike" in note]
    assert "'team'" in said
    assert "cluster='team'" in said
    assert plain.result.spec.analysis.cluster is None
    mended = grasp.analyse(frame, raters, cluster="team", **asked)
    assert not [note for note in mended.notes if "answer more alike" in note]
