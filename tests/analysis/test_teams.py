"""Columns that look like teams: found where teams answer alike, not where a column says something else."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import grasp_core as grasp
from benchmarks.planted import AXIS, Effect, drawn, independent_shares, labelled, own_view, shifted
from benchmarks.planted import dataset as made
from benchmarks.study.situations import in_teams
from grasp_core.analysis import overview as module
from grasp_core.analysis.overview import Team, teams
from grasp_core.model.annotations import Axis
from grasp_core.reading.dataset.load import Dataset

SETS = 20


def found(data: Dataset) -> list[Team]:
    axes = dict(data.raters.axes)
    tested = {AXIS: axes.pop(AXIS)}
    return teams(data.annotations, axes, tested)


def with_column(data: Dataset, values: list[str]) -> Dataset:
    axes = {AXIS: list(_texts(data.raters.axes[AXIS])), "column": values}
    labels = np.full((data.annotations.n_raters, data.annotations.n_items), -1)
    labels[data.annotations.rater, data.annotations.item] = data.annotations.category
    return made(labels, data.annotations.n_categories, axes)


def _texts(axis: Axis) -> list[str]:
    return [axis.values[code] for code in axis.codes]


def test_teams_with_views_of_their_own_are_proposed_as_clusters() -> None:
    assert [found(in_teams(seed)) for seed in range(5)] == [[Team("team", AXIS, "cluster")]] * 5


def test_teams_without_views_are_seldom_proposed() -> None:
    # At most .01 of data sets; of 20, more than 2 would have probability below .002.
    effect = Effect("shift", 3, shifted(15))
    clean = [drawn(effect, seed) for seed in range(SETS)]
    team = [f"{'in' if j < 15 else 'out'} {j % 5}" for j in range(60)]
    assert sum(bool(found(with_column(one, team))) for one in clean) <= 2


def test_the_axis_by_another_name_and_a_column_apart_from_it_are_no_teams() -> None:
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


def test_larger_data_are_looked_at_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_ANNOTATIONS", 1800)
    monkeypatch.setattr(module, "MOST_RATERS", 40)
    monkeypatch.setattr(module, "MOST_PAIRS", 50)
    assert found(in_teams(1)) == [Team("team", AXIS, "cluster")]


def test_python_proposes_the_cluster_and_changes_nothing() -> None:
    data = in_teams(2)
    annotations = data.annotations
    texts = {"item": annotations.item_ids, "rater": annotations.rater_ids, "label": annotations.categories}
    codes = (annotations.item, annotations.rater, annotations.category)
    columns = zip(texts.items(), codes, strict=True)
    frame = pd.DataFrame({name: np.array(ids)[code] for (name, ids), code in columns})
    raters = pd.DataFrame({name: _texts(axis) for name, axis in data.raters.axes.items()})
    raters.insert(0, "rater", annotations.rater_ids)
    asked = {"item": "item", "rater": "rater", "label": "label", "axes": [AXIS], "permutations": 200}
    plain = grasp.analyse(frame, raters, **asked)
    (said,) = [note for note in plain.notes if "answer more alike" in note]
    assert "'team'" in said
    assert "cluster='team'" in said
    assert plain.result.spec.analysis.cluster is None
    mended = grasp.analyse(frame, raters, cluster="team", **asked)
    assert not [note for note in mended.notes if "answer more alike" in note]
