"""The map of raters: what is planted is found, nobody can be told, no order changes it; how it is told."""

import csv
import dataclasses
import io
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.manifold import ClassicalMDS
from threadpoolctl import threadpool_limits

from benchmarks.confounded import Situation, busier, drawn
from benchmarks.planted import run_spec
from grasp_core import cli
from grasp_core.analysis import rater_map as make
from grasp_core.analysis.rater_map import (
    MapTask,
    connected,
    label_distances,
    pair_disagreements,
    place,
    rater_map,
    shown_values,
    squared_distances,
)
from grasp_core.analysis.rater_map_values import NOTHING, RaterMap
from grasp_core.model.annotations import Annotations, FloatArray
from grasp_core.model.json_values import from_json, to_json
from grasp_core.model.remarks.cautions import NoMap
from grasp_core.model.remarks.reasons import NoValue
from grasp_core.model.spec import Level, RunSpec
from grasp_core.report.rater_map import CSV_COLUMNS, axes_table, groups_table, map_csv, sentences
from grasp_core.statistics.between_raters import disagreement
from tests.analysis.cases import ALL, GENDER, divided, matrix, of_labels, task
from tests.commands import ran, refused, write, written
from tests.permutation.simulated import named_files, simulate


def test_a_divide_along_gender_is_seen() -> None:
    found = rater_map(divided(1))
    (gender,) = found.axes
    assert gender.significance == "corrected"
    assert (gender.p, gender.q) == (1 / 1001, 1 / 1001)
    assert (gender.explained or 0) > 4 * (gender.by_chance or 1)
    men, women = ([p.x for p in found.points if p.values == (value,)] for value in ("Man", "Woman"))
    assert np.mean(men) * np.mean(women) < 0  # on either side of the first direction
    for row in gender.groups:
        assert (row.within or 0) < (row.between or 0)
    assert found.variance[0] > 1.5 * found.variance[1]


def test_an_axis_whose_groups_rated_more_items_is_not_tested() -> None:
    busy = Situation("", busier(4), items=60)
    found = rater_map(MapTask.of(drawn(busy, 1), run_spec(1, 199).analysis))
    (axis,) = found.axes
    assert (axis.explained, axis.p, axis.reason) == (None, None, NoValue.OTHER_ITEMS())
    assert [one.n_raters for one in axis.groups] == [15, 45]
    (said, *_) = sentences(found, "nominal")
    assert said.plain.startswith("side: groups of this axis were given other items, or more of them")


@pytest.mark.long
def test_no_divide_is_seen_where_there_is_none() -> None:
    marked = sum(rater_map(task(seed, GENDER)).axes[0].significance != "none" for seed in range(100, 160))
    assert marked <= 7  # of 60 at 5 %: more would have a probability below 0.01


def test_figures_are_those_of_the_pairs() -> None:
    one = task(2, missing=0.4, unknown=0.1)
    found = rater_map(one)
    labels, gender = matrix(one.questions[0]), one.raters.axes["gender"]
    both = [(a, b, (labels[a] >= 0) & (labels[b] >= 0)) for a in range(24) for b in range(a)]
    assert found.pairs == len(both) == 276
    assert found.neutral == sum(seen.sum() < 5 for _, _, seen in both)
    differ = {(a, b): (labels[a] != labels[b])[seen].mean() for a, b, seen in both if seen.sum() >= 5}
    assert found.between == pytest.approx(np.mean([*differ.values()]))
    men = {j for j in range(24) if gender.codes[j] == 0}
    row = found.axes[0].groups[0]
    assert (row.group.values, row.n_raters) == (("Man",), len(men))
    assert row.within == pytest.approx(np.mean([one for pair, one in differ.items() if men.issuperset(pair)]))
    assert found.axes[0].others == int((gender.codes < 0).sum())


def shuffled(one: MapTask, seed: int) -> MapTask:
    """The same data with raters and items in another order."""
    (annotations,) = one.questions
    rng = np.random.default_rng(seed)
    raters, items = rng.permutation(annotations.n_raters), rng.permutation(annotations.n_items)
    moved = Annotations.from_codes(
        item=np.argsort(items)[annotations.item],
        rater=np.argsort(raters)[annotations.rater],
        category=annotations.category,
        item_ids=[annotations.item_ids[i] for i in items],
        rater_ids=[annotations.rater_ids[j] for j in raters],
        categories=annotations.categories,
    )
    return MapTask((moved,), one.raters.some(raters), one.annotations_of[raters], one.spec)


def test_order_and_names_of_raters_and_threads_change_nothing() -> None:
    one = task(3, missing=0.3)
    found, again = rater_map(one), rater_map(shuffled(one, 1))
    assert [point.values for point in found.points] == [point.values for point in again.points]
    for before, after in zip(found.points, again.points, strict=True):
        assert (before.x, before.y) == pytest.approx((after.x, after.y), abs=2e-5)
    assert [axis.explained for axis in found.axes] == pytest.approx([axis.explained for axis in again.axes])
    one = task(4, raters=300, items=30)
    with threadpool_limits(1):
        alone = rater_map(one)
    with threadpool_limits(2):
        assert rater_map(one) == alone


def test_of_too_many_raters_some_are_drawn_from_the_seed_and_none_of_few_answers(monkeypatch) -> None:
    monkeypatch.setattr(make, "MOST_RATERS", 50)
    one = task(5, raters=80, items=15, missing=0.2)
    found = rater_map(one)
    assert (found.n_raters, found.n_drawn, found.n_placed) == (80, 50, 50)
    assert rater_map(one) == found
    other = dataclasses.replace(one, spec=dataclasses.replace(ALL, seed=2))
    assert rater_map(other).points != found.points
    monkeypatch.setattr(make, "MOST_RATERS", 30)
    labels = np.random.default_rng(6).integers(0, 2, (20, 60))
    labels[4:, ::2] = -1
    found = rater_map(of_labels(labels, np.arange(60) % 4 < 2))
    assert (found.n_drawn, found.n_placed) == (30, 30)


@pytest.mark.parametrize(
    ("labels", "code"),
    [
        (np.random.default_rng(1).integers(0, 2, (20, 9)), NoMap.FEW_PLACED),
        (np.random.default_rng(1).integers(0, 2, (4, 40)), NoMap.FEW_PLACED),
        (np.zeros((20, 40), np.int64), NoMap.NO_DISAGREEMENT),
    ],
    ids=["nine raters", "four items", "one label"],
)
def test_no_map_has_a_reason(labels: np.ndarray, code: NoMap) -> None:
    found = rater_map(of_labels(labels, np.arange(labels.shape[1]) % 2 == 0))
    assert found.reason.code is code
    assert (found.points, found.axes, found.columns) == ((), (), ())
    assert found.n_raters == labels.shape[1]


def test_small_groups_are_others_and_points_tell_nothing_of_fewer_raters() -> None:
    labels = np.random.default_rng(7).integers(0, 2, (20, 30))
    spec = dataclasses.replace(GENDER, min_raters=5)
    (axis,) = rater_map(of_labels(labels, np.arange(30) < 4, spec)).axes
    assert [row.group.values for row in axis.groups] == [("Man",)]
    assert (axis.others, axis.explained, axis.p) == (4, None, None)
    assert str(axis.reason) == "fewer than two of its groups have 5 raters or more on the map"
    one = task(8, dataclasses.replace(ALL, min_raters=4), raters=40, unknown=0.2)
    found = rater_map(one)
    shown_values = Counter(point.values for point in found.points)
    assert min(shown_values.values()) >= 4
    assert len(found.points) > 36
    assert 0 < found.n_reduced < 40
    assert found.columns == ("gender", "race")
    assert [(p.x, p.y) for p in found.points] == sorted((p.x, p.y) for p in found.points)


@pytest.mark.parametrize("one", [task(9, unknown=0.2), of_labels(np.zeros((9, 12), np.int64), np.ones(12))])
def test_it_comes_back_from_json_without_any_id(one: MapTask) -> None:
    found = rater_map(one)
    plain = json.dumps(to_json(found), allow_nan=False)
    assert from_json(json.loads(plain), RaterMap) == found
    assert not any(f'"{name}"' in plain for name in one.questions[0].rater_ids)


def points(seed: int, n: int = 30, dimensions: int = 5) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, dimensions)) * np.arange(dimensions, 0, -1)


def between(places: np.ndarray) -> np.ndarray:
    return ((places[:, None] - places) ** 2).sum(axis=2)


def test_places_are_those_of_scikit_learn_and_of_both_signs_that_of_the_larger_coordinate() -> None:
    squared = between(points(1))
    places, _ = place(squared)
    expected = ClassicalMDS(n_components=2, metric="precomputed").fit_transform(np.sqrt(squared))
    np.testing.assert_allclose(np.abs(places), np.abs(expected), atol=1e-5)
    np.testing.assert_allclose(between(places), between(expected), atol=1e-3)
    places, _ = place(between(points(4)))
    turned, _ = place(between(-points(4)))
    assert (places == turned).all()
    assert (np.abs(places).max(axis=0) == places.max(axis=0)).all()


def test_a_plane_is_found_again_and_shares_of_variance_are_those_of_principal_components() -> None:
    squared = between(points(2, dimensions=2))
    places, variance = place(squared)
    np.testing.assert_allclose(between(places), squared, atol=1e-3)
    assert sum(variance) == pytest.approx(1)
    assert variance[0] > variance[1]
    cloud = points(3)
    of_all = np.linalg.eigvalsh(np.cov(cloud.T))[::-1]
    _, variance = place(between(cloud))
    assert variance == pytest.approx(tuple(of_all[:2] / of_all.sum()))
    places, variance = place(np.zeros((4, 4)))  # of raters who never differ
    assert not places.any()
    assert variance == (0, 0)


def test_a_pair_without_a_distance_counts_as_unrelated() -> None:
    squared = between(points(5, n=200))
    known = np.ones_like(squared, dtype=bool)
    np.fill_diagonal(known, False)
    known[0, 1] = known[1, 0] = False
    filled = squared_distances(squared, known)
    means = filled.mean(axis=0)
    centred = -0.5 * (filled - means[:, None] - means + means.mean())
    assert abs(centred[0, 1]) < 0.01 * np.abs(np.diag(centred)).mean()
    filled[0, 1] = filled[1, 0] = squared[0, 1]
    np.testing.assert_array_equal(filled, squared)


def test_strays_are_left_out_and_the_rest_is_kept_in_any_order() -> None:
    """60 raters of all items, and 70 of few: those lack most, though they are more than half."""
    common = np.zeros((130, 130), np.int32)
    common[:60, :60] = 50
    common[60:, 60:] = np.random.default_rng(1).integers(0, 5, (70, 70))
    common = np.tril(common, -1) + np.tril(common, -1).T
    assert connected(common).tolist() == list(range(60))
    order = np.random.default_rng(2).permutation(130)
    assert sorted(order[connected(common[np.ix_(order, order)])]) == list(range(60))


@pytest.mark.parametrize(
    ("common", "left"),
    [
        *((np.full((12, 12), 5, np.int32), 12), (np.full((12, 12), 4, np.int32), 0)),
        (np.kron(np.eye(10, dtype=np.int32), np.full((8, 8), 30, np.int32)), 0),
    ],
    ids=["five answers", "four answers", "batches that share nothing"],
)
def test_a_distance_takes_five_answers(common: np.ndarray, left: int) -> None:
    np.fill_diagonal(common, 0)
    assert connected(common).size == left


def plainly(questions: Sequence[Annotations], deltas: Sequence[FloatArray]) -> tuple[FloatArray, FloatArray]:
    """Pair by pair; several questions weigh as many answers as two raters share."""
    raters = questions[0].n_raters
    common, total = np.zeros((raters, raters)), np.zeros((raters, raters))
    for one, delta in zip(questions, deltas, strict=True):
        labels = matrix(one)
        for a in range(raters):
            for b in range(raters):
                shared = int(((labels[a] >= 0) & (labels[b] >= 0)).sum())
                if a != b and shared:
                    common[a, b] += shared
                    total[a, b] += shared * disagreement(labels[a], labels[b], delta)
    return common, np.divide(total, common, out=np.zeros_like(total), where=common > 0)


@pytest.mark.parametrize("missing", [0.0, 0.6, 0.95])
@pytest.mark.parametrize("n_questions", [1, 3])
def test_as_defined(missing: float, n_questions: int) -> None:
    questions = [simulate(seed, missing=missing)[0] for seed in range(n_questions)]
    common, mean = pair_disagreements(questions, np.arange(24), "nominal")
    shared, expected = plainly(questions, [1 - np.eye(3)] * n_questions)
    assert (common == shared).all()
    np.testing.assert_allclose(mean, expected, atol=1e-12)
    assert (common == common.T).all()


@pytest.mark.parametrize("level", ["ordinal", "interval", "ratio"])
def test_distances_of_other_levels_are_in_units_of_two_random_labels(level: Level) -> None:
    annotations, _ = simulate(3, missing=0.4, categories=4)
    annotations = dataclasses.replace(annotations, categories=("1", "2", "5", "9"))
    delta = label_distances(annotations, level)
    rng = np.random.default_rng(1)
    first, second = (annotations.category[rng.integers(0, annotations.n_annotations, 200_000)] for _ in "ab")
    assert delta[first, second].mean() == pytest.approx(1, abs=0.02)  # drawn with replacement
    if level == "interval":  # by hand: (9 - 1)^2 is four times (5 - 1)^2
        assert delta[0, 3] / delta[0, 2] == pytest.approx(4)
    _, mean = pair_disagreements([annotations], np.arange(24), level)
    np.testing.assert_allclose(mean, plainly([annotations], [delta])[1], atol=1e-12)


def test_some_raters_have_what_they_have_among_all_and_one_label_alone_is_never_apart() -> None:
    annotations, _ = simulate(4, missing=0.3)
    chosen = np.array([1, 5, 6, 20])
    of_all = pair_disagreements([annotations], np.arange(24), "nominal")
    of_some = pair_disagreements([annotations], chosen, "nominal")
    for some, whole in zip(of_some, of_all, strict=True):
        assert (some == whole[np.ix_(chosen, chosen)]).all()
    annotations, _ = simulate(5, categories=3, unused=2)
    annotations = dataclasses.replace(annotations, categories=("1", "2", "3"))
    for level in ("nominal", "ordinal", "interval", "ratio"):
        _, mean = pair_disagreements([annotations], np.arange(24), level)
        assert not mean.any()


# Told: size before significance, and who is not on it
# Sentences
def said(found: RaterMap, level: str = "nominal") -> str:
    return "\n".join(sentence.plain for sentence in sentences(found, level))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def followed() -> RaterMap:
    return rater_map(divided(1))


def test_an_axis_that_holds_is_named_with_its_size_and_else_the_most_is_told(followed: RaterMap) -> None:
    words = said(followed)
    share = f"{100 * followed.axes[0].explained:.1f} %"
    assert words.startswith(f"gender explains {share} of the disagreement between raters, ")
    assert "points more than random groupings do (p < 0.001, q < 0.001)." in words
    assert "The verdicts say which groups differ." in words
    assert f"Two raters differ on average on {100 * followed.between:.1f} % of what both answered" in words
    words = said(rater_map(task(1)))
    none = "No axis explains more of the disagreement between raters than luck would; most of all "
    assert words.startswith(none)
    assert "Recruit" not in words


def test_who_is_not_drawn_is_counted_and_other_levels_are_told_in_units_of_random_labels(followed) -> None:
    assert "left out" not in said(followed)
    counts = {"n_raters": 5000, "n_drawn": 2000, "n_placed": 1999, "n_reduced": 1, "neutral": 3}
    words = said(dataclasses.replace(followed, **counts, points=followed.points[:-1]))
    for sentence in (
        "Of 5,000 raters, 2,000 were drawn at random.",
        "1 rater shares 5 answers with fewer than half of the others and is left out.",
        f"3 of {followed.pairs} pairs share fewer than 5 answers",
        "1 rater is shown with some values only, since fewer than 2 raters have all of them.",
    ):
        assert sentence in words
    assert "times as far apart as two labels drawn at random" in said(followed, "ordinal")
    nothing = dataclasses.replace(NOTHING, reason=NoMap.NO_DISAGREEMENT())
    assert said(nothing) == "There is no map of raters: raters never differ on what they share."


def test_tables_and_csv_hold_every_axis_and_group() -> None:
    found = rater_map(task(2, dataclasses.replace(ALL, min_raters=7), raters=40, unknown=0.1))
    axes = axes_table(found)
    assert axes["Axis"].tolist() == ["gender", "race", "gender × race"]
    groups = groups_table(found, "nominal")
    assert len(groups) == sum(len(axis.groups) for axis in found.axes)
    none = rater_map(task(2, dataclasses.replace(ALL, min_raters=24)))
    assert groups_table(none, "nominal").empty
    assert set(axes_table(none)["Result"]) == {str(none.axes[0].reason)}
    assert map_csv(none).count("\n") == 4
    rows = list(csv.DictReader(io.StringIO(map_csv(found))))
    assert tuple(rows[0]) == CSV_COLUMNS
    assert {row["axis"] for row in rows} == {"gender", "race", "gender × race"}
    first = found.axes[0].groups[0]
    assert float(rows[0]["within"]) == first.within
    assert groups["Two of the group"].iloc[0] == f"{100 * first.within:.1f} %"


CODES = st.tuples(st.integers(1, 40), st.integers(1, 4)).flatmap(
    lambda shape: arrays(np.int64, shape, elements=st.integers(-1, 3))
)


@given(codes=CODES, least=st.integers(1, 6))
def test_never_of_fewer_than_enough_and_never_wrong(codes: np.ndarray, least: int) -> None:
    found, shown = shown_values(codes, least)
    assert ((found == codes) | (found == -1)).all()
    for row in found[shown]:
        assert (found[shown] == row).all(axis=1).sum() >= least
    assert (found[~shown] == -1).all()
    assert (~shown).sum() < least
    whole, everybody = shown_values(codes, 1)  # one rater is enough
    assert (whole == codes).all()
    assert everybody.all()


def test_the_last_value_goes_first() -> None:
    codes = np.array([[0, 0], [0, 0], [0, 1], [0, -1], [1, 0]])
    found, shown = shown_values(codes, 2)
    assert found.tolist() == [[0, 0], [0, 0], [0, -1], [0, -1], [-1, -1]]
    assert shown.tolist() == [True, True, True, True, False]


# The command
FILES = ["--annotations", "votes.csv", "--raters", "raters.csv"]
OPTIONS = [*FILES, *("--axis", "gender", "--axis", "race", "--permutations", "200")]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write(tmp_path, named_files(*simulate(1)))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_sentences_tables_and_files_or_why_there_is_no_map(folder, capsys) -> None:
    out = ["--csv", "map.csv", "--chart", "map.svg", "--colour", "race"]
    for name in ("map.json", "again.json"):
        assert cli.main(["rater-map", *OPTIONS, "--out", name, *out]) == 0
    assert (folder / "map.json").read_bytes() == (folder / "again.json").read_bytes()
    printed = capsys.readouterr().out
    for words in ("What axes explain", "How far raters differ"):
        assert words in printed
    plain = written("map.json")
    assert (plain["format"], plain["version"]) == ("grasp-rater-map", 1)
    found = from_json(plain["map"], RaterMap)
    assert len(found.points) == 24
    assert found.permutations == 200
    assert RunSpec.from_dict(plain["spec"]).analysis.axes == (("gender",), ("race",))
    assert not any(f'"r{j}"' in json.dumps(plain) for j in range(24))
    rows = list(csv.DictReader((folder / "map.csv").read_text(encoding="utf-8").splitlines()))
    assert [row["group"] for row in rows] == ["Man", "Woman", "Asian", "Black", "White"]
    assert "by race" in (folder / "map.svg").read_text(encoding="utf-8")
    write(folder, named_files(*simulate(1, missing=0.9)))
    printed = ran(capsys, "rater-map", *OPTIONS, "--chart", "map.svg").out
    assert "There is no map of raters: only 0 of " in printed
    assert "What axes explain" not in printed


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--chart", "map.gif"], "--chart takes a file that ends in .svg, .png, .pdf; found map.gif"),
        (["--colour", "shoe_size"], "--colour takes an axis of the map, 'gender', 'race'; found 'shoe_size'"),
        (["--chart", "no/such/map.svg"], "cannot be written"),
        (["--axis", "shoe_size"], "shoe_size"),
        (["--level", "interval"], "every label to be a number"),
    ],
)
def test_bad_input_gets_one_sentence(folder, capsys, options, sentence) -> None:
    assert sentence in refused(capsys, "rater-map", *OPTIONS, *options)
