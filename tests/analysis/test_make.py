"""Whole maps: what is planted is found, nobody can be told, and no order or core changes anything."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from grasp_core.analysis import rater_map as make
from grasp_core.analysis.rater_map import MapTask, rater_map
from grasp_core.analysis.rater_map_values import RaterMap
from grasp_core.model.annotations import Annotations
from grasp_core.model.json_values import from_json, to_json
from grasp_core.model.remarks.cautions import NoMap
from tests.analysis.cases import ALL, GENDER, divided, matrix, of_labels, task


def test_a_divide_along_gender_is_seen() -> None:
    found = rater_map(divided(1))
    (gender,) = found.axes
    assert gender.significance == "corrected"
    assert (gender.p, gender.q) == (1 / 1001, 1 / 1001)
    assert (gender.explained or 0) > 4 * (gender.by_chance or 1)
    by_value = {
        value: np.mean([point.x for point in found.points if point.values == (value,)])
        for value in ("Man", "Woman")
    }
    assert by_value["Man"] * by_value["Woman"] < 0  # on either side of the first direction
    for row in gender.groups:
        assert (row.within or 0) < (row.between or 0)
    assert found.variance[0] > 1.5 * found.variance[1]


@pytest.mark.long
def test_no_divide_is_seen_where_there_is_none() -> None:
    marked = sum(rater_map(task(seed, GENDER)).axes[0].significance != "none" for seed in range(100, 160))
    assert marked <= 7  # of 60 at 5 %: more would have a probability below 0.01


def test_figures_are_those_of_the_pairs() -> None:
    one = task(2, missing=0.4, unknown=0.1)
    found = rater_map(one)
    labels, gender = matrix(one.questions[0]), one.raters.axes["gender"]
    both = [(labels[a] >= 0) & (labels[b] >= 0) for a in range(24) for b in range(a)]
    differ = [(labels[a] != labels[b])[seen].mean() for a, b, seen in _pairs(labels) if seen.sum() >= 5]
    assert found.pairs == len(both) == 276
    assert found.neutral == sum(seen.sum() < 5 for seen in both)
    assert found.between == pytest.approx(np.mean(differ))
    men = [j for j in range(24) if gender.codes[j] == 0]
    inside = [
        (labels[a] != labels[b])[seen].mean()
        for a, b, seen in _pairs(labels)
        if a in men and b in men and seen.sum() >= 5
    ]
    row = found.axes[0].groups[0]
    assert (row.group.values, row.n_raters) == (("Man",), len(men))
    assert row.within == pytest.approx(np.mean(inside))
    assert found.axes[0].others == int((gender.codes < 0).sum())


def _pairs(labels):
    for a in range(len(labels)):
        for b in range(a):
            yield a, b, (labels[a] >= 0) & (labels[b] >= 0)


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


def test_order_and_names_of_raters_change_no_place_and_no_share() -> None:
    one = task(3, missing=0.3)
    found, again = rater_map(one), rater_map(shuffled(one, 1))
    assert [point.values for point in found.points] == [point.values for point in again.points]
    for before, after in zip(found.points, again.points, strict=True):
        assert (before.x, before.y) == pytest.approx((after.x, after.y), abs=2e-5)
    assert [axis.explained for axis in found.axes] == pytest.approx([axis.explained for axis in again.axes])


def test_the_same_on_any_number_of_threads() -> None:
    one = task(4, raters=300, items=30)
    with threadpool_limits(1):
        alone = rater_map(one)
    with threadpool_limits(2):
        assert rater_map(one) == alone


def test_of_too_many_raters_some_are_drawn_from_the_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(make, "MOST_RATERS", 50)
    one = task(5, raters=80, items=15, missing=0.2)
    found = rater_map(one)
    assert (found.n_raters, found.n_drawn, found.n_placed) == (80, 50, 50)
    assert rater_map(one) == found
    other = dataclasses.replace(one, spec=dataclasses.replace(ALL, seed=2))
    assert rater_map(other).points != found.points


def test_raters_of_few_answers_are_not_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
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
    assert found.reason is not None
    assert found.reason.code is code
    assert (found.points, found.axes, found.columns) == ((), (), ())
    assert found.n_raters == labels.shape[1]


def test_small_groups_are_others_and_an_axis_of_one_group_says_so() -> None:
    labels = np.random.default_rng(7).integers(0, 2, (20, 30))
    spec = dataclasses.replace(GENDER, min_raters=5)
    (axis,) = rater_map(of_labels(labels, np.arange(30) < 4, spec)).axes
    assert [row.group.values for row in axis.groups] == [("Man",)]
    assert (axis.others, axis.explained, axis.p) == (4, None, None)
    assert str(axis.reason) == "fewer than two of its groups have 5 raters or more on the map"


def test_points_tell_nothing_of_fewer_raters_than_the_smallest_group() -> None:
    one = task(8, dataclasses.replace(ALL, min_raters=4), raters=40, unknown=0.2)
    found = rater_map(one)
    told = Counter(point.values for point in found.points)
    assert min(told.values()) >= 4
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
