"""The simulated power is what runs on such data show."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

from grasp_core.analysis import power
from grasp_core.analysis.power import PowerTask, estimate, group_gai, power_tasks
from grasp_core.model.annotations import Annotations, BoolArray, Raters
from grasp_core.model.groups import Grouping
from grasp_core.model.remarks.reasons import NoValue
from grasp_core.model.spec import AnalysisSpec
from grasp_core.permutation import compiled
from grasp_core.permutation.design import build_design
from grasp_core.permutation.testing.deviations import p_value
from grasp_core.report.quality import quality_json, quality_report
from grasp_core.statistics.association import gai
from grasp_core.statistics.cross_group import xrr
from grasp_core.statistics.in_group import irr
from grasp_core.statistics.items import count
from tests.permutation.simulated import dataset, simulate

RUNS = 200


@pytest.fixture(scope="module")
def task() -> PowerTask:
    annotations, raters = simulate(3, items=80, raters=48, missing=0.3, unknown=0.1)
    return next(
        task for task in power_tasks(annotations, raters, [("race",)]) if task.group.values == ("Black",)
    )


def planted(
    rng: np.random.Generator, annotations: Annotations, member: BoolArray, strength: float, direction: str
) -> Annotations:
    """The effect of docs/quality.md, written once more: a shared view, or labels that ignore the item."""
    k = annotations.n_categories
    counts = np.bincount(annotations.item * k + annotations.category, minlength=annotations.n_items * k)
    counts = counts.reshape(-1, k)
    view = np.array([rng.choice(k, p=row / row.sum()) for row in counts])
    any_item = rng.choice(k, p=counts.sum(axis=0) / counts.sum(), size=annotations.n_annotations)
    new = view[annotations.item] if direction == "up" else any_item
    change = member[annotations.rater] & (rng.random(annotations.n_annotations) < strength)
    return dataclasses.replace(
        annotations, category=np.where(change, new, annotations.category).astype(np.int32)
    )


def runs(task: PowerTask, strength: float, direction: str) -> tuple[float, float]:
    """Share of whole runs with p < 0.05, and their median GAI: every data set with a null of its own."""
    rng = np.random.default_rng(5)
    detected, values = 0, []
    for run in range(RUNS):
        source = rng.permutation(task.member.size)
        known, member = task.known[source][None], task.member[source][None]
        grouping = Grouping((task.group,), member, known, np.zeros(1, dtype=np.intp))
        data = planted(rng, task.annotations, member[0], strength, direction)
        design = build_design(
            data, Raters(data.rater_ids, {}), grouping, AnalysisSpec(axes=(task.group.axes,))
        )
        counted = np.concatenate([compiled.observed(design)[None], compiled.shuffled(design, run, 0, 399)])[
            :, 0
        ]
        index = gai(counted[:, 0], counted[:, 1])
        values.append(index[0])
        p = None if np.isnan(index[0]) else p_value(index[0], index[1:][~np.isnan(index[1:])], "two-sided")
        detected += p is not None and p < 0.05
    return detected / RUNS, float(np.nanmedian(values))


@pytest.mark.parametrize("direction", ["up", pytest.param("down", marks=pytest.mark.long)])
def test_about_four_in_five_runs_detect_the_reported_shift(task, direction):
    shift = getattr(estimate(task), direction)
    share, middle = runs(task, shift.strength, direction)
    # Binomial error of 200 runs 0.028; the estimate's own, from 200 replicates and 6 null sets, about 0.04.
    assert share == pytest.approx(0.8, abs=0.13)
    assert middle == pytest.approx(shift.gai, abs=4 * shift.error + 0.01)


def test_without_a_shift_one_run_in_twenty_is_marked(task):
    share, middle = runs(task, 0.0, "up")
    assert share <= 0.05 + 3 * 0.016  # binomial error of 200 runs at 0.05
    assert middle == pytest.approx(estimate(task).expected, abs=0.03)


def test_directions_and_order(task):
    found = estimate(task)
    assert found.up.change > 0 > found.down.change
    assert found.up.gai == pytest.approx(found.expected + found.up.change)
    assert found == estimate(task)


def test_more_raters_find_smaller_shifts():
    annotations, raters = simulate(4, items=80, raters=60)
    small, large = (
        dataclasses.replace(task, member=np.arange(60) < size)
        for size in (4, 30)
        for task in power_tasks(annotations, raters, [("gender",)])[:1]
    )
    assert estimate(large).up.change < estimate(small).up.change
    assert estimate(large).n_raters == 30


def test_what_cannot_be_found_is_none():
    annotations, raters = simulate(1, items=6, raters=8)
    task = power_tasks(annotations, raters, [("gender",)])[0]
    found = estimate(dataclasses.replace(task, member=np.arange(8) < 2))
    assert found.reason is not None or found.down is None


def test_a_group_without_a_gai_has_a_reason():
    data = dataset(1, items=20, raters=20, categories=2, unused=1)  # one label only
    found = estimate(power_tasks(data.annotations, data.raters, [("gender",)])[0])
    assert found.reason == NoValue.GAI_RARELY_ESTIMABLE()
    assert found.expected is found.up is found.down is None
    (written,) = json.loads(quality_json(quality_report(data, power=[found])))["power"]
    assert written["reason"]["text"] == "GAI has no value in most random groupings of this size"


def test_group_gai_is_that_of_the_definitions():
    annotations, _ = simulate(2, items=30, raters=20, missing=0.6)
    rng = np.random.default_rng(1)
    members = [rng.random(20) < 0.4 for _ in range(8)]
    c = np.stack([count(annotations, member) for member in members])
    d = np.stack([count(annotations, ~member) for member in members])
    expected = [gai(np.array(irr(x)), np.array(xrr(x, y))) for x, y in zip(c, d, strict=True)]
    np.testing.assert_allclose(group_gai(c.astype(float), d.astype(float)), expected, rtol=1e-12)


def test_large_data_are_thinned_to_whole_items_and_say_so(monkeypatch):
    annotations, raters = simulate(2, items=100, raters=30)
    monkeypatch.setattr(power, "MAX_ANNOTATIONS", 1_000)
    task = power_tasks(annotations, raters, [("gender",)])[0]
    assert task.annotations.n_annotations <= 1_000
    assert task.annotations.n_items == 33
    assert (np.diff(task.annotations.indptr) == 30).all()
    assert task.all_items == 100
