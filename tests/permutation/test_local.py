"""Data with many labels, or unknown profiles: every way of adding up gives what the plain twin gives."""

import dataclasses
import itertools
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grasp_core.model.annotations import Annotations, Axis, Raters
from grasp_core.model.groups import form_groups
from grasp_core.model.spec import AnalysisSpec, Level
from grasp_core.permutation import compiled
from grasp_core.permutation.design import Design, build_design
from grasp_core.permutation.kernel import digits_layout, local_layout
from grasp_core.permutation.kernel import profiles as profiles_module
from tests.permutation.simulated import (
    AXES,
    CONVENTIONS,
    agrees_with_twin,
    built,
    clustered,
    coded,
    part,
    simulate,
)


def numbered(annotations: Annotations) -> Annotations:
    """With categories that are numbers, unevenly far apart."""
    names = tuple(str(k + k % 3 / 4) for k in range(annotations.n_categories))
    return dataclasses.replace(annotations, categories=names)


def assert_twin_agrees(design: Design, annotations: Annotations, raters: Raters, spec: AnalysisSpec) -> None:
    """Squared differences of a thousand numbers reach 1e5, whose last places are further apart than 1e-10."""
    agrees_with_twin([design], annotations, raters, spec, range(3, 5), rtol=1e-14)


def assert_local_agrees(annotations: Annotations, raters: Raters, spec: AnalysisSpec) -> Design:
    grouping = form_groups(raters, spec.axes, min_raters=spec.min_raters)
    design = build_design(annotations, raters, grouping, spec, dense=False)
    assert design.local is not None
    assert_twin_agrees(design, annotations, raters, spec)
    return design


WAYS = [
    pytest.param(level, *asked, unknown, marks=[] if (a + b + c) % 2 == 0 else [pytest.mark.long])
    for (a, level), (b, asked), (c, unknown) in itertools.product(
        enumerate(get_args(Level)),
        enumerate([("smooth", "first"), ("paper", "random")]),
        enumerate([0.0, 0.2]),
    )
]
"""Levels, conventions and unknown raters: every two of the values meet in every run."""


@pytest.mark.parametrize(("level", "convention", "ties", "unknown"), WAYS)
@pytest.mark.parametrize("categories", [2, 5, 12, 13, 77, pytest.param(1000, marks=pytest.mark.long)])
def test_any_number_of_labels(level, convention, ties, unknown: float, categories: int) -> None:
    items = 12 if categories < 1000 else 4  # pairs of labels take the plain twin long
    annotations, raters = simulate(
        categories, items=items, raters=40, categories=categories, missing=0.5, unknown=unknown
    )
    spec = AnalysisSpec(
        axes=AXES, min_raters=1, seed=3, strata=("region",), level=level, ties=ties, **CONVENTIONS[convention]
    )
    annotations = numbered(annotations)
    design = built(annotations, raters, spec, dense=False)
    assert (design.local is None) == (categories <= (5 if unknown else 12))
    assert_twin_agrees(design, annotations, raters, spec)


def test_a_thousand_labels() -> None:
    test_any_number_of_labels("nominal", "paper", "random", 0.2, 1000)


@pytest.mark.parametrize("by_profile", [False, True])
@pytest.mark.parametrize("unknown", [0.0, 0.2])
def test_labels_are_counted_by_profile_or_one_by_one(monkeypatch, by_profile, unknown) -> None:
    monkeypatch.setattr(digits_layout, "_IN_A_VECTOR", 10**9 if by_profile else 0)
    annotations, raters = simulate(7, items=12, raters=60, categories=30, missing=0.3, unknown=unknown)
    apart = (("gender",), ("race",), ("region",))  # so that each rater counts for several groups
    design = assert_local_agrees(annotations, raters, AnalysisSpec(axes=apart, min_raters=1, seed=3))
    assert design.digits.by_profile == by_profile


@pytest.mark.parametrize("level", get_args(Level))
def test_items_that_thousands_rated(level: Level) -> None:
    """5,000 labels an item of 300 categories: some that one rater gave, most that many did."""
    rng = np.random.default_rng(5)
    n_raters = 5000
    category = np.minimum(rng.geometric(0.02, 2 * n_raters) - 1, 299)
    annotations = coded(
        np.repeat([0, 1], n_raters), np.tile(np.arange(n_raters), 2), category, [*map(str, range(300))]
    )
    axis = Axis.from_values([str(j % 7) if j % 11 else None for j in range(n_raters)])
    people = Raters(annotations.rater_ids, {"axis": axis})
    assert_local_agrees(annotations, people, AnalysisSpec(axes=(("axis",),), level=level))


@pytest.mark.long
def test_more_profiles_than_sixteen_bits_number() -> None:
    rng = np.random.default_rng(6)
    n_raters = 140_000
    values = rng.integers(0, 2, (18, n_raters))
    assert np.unique(values, axis=1).shape[1] > 70_000
    annotations = coded(np.arange(n_raters) // 2000, np.arange(n_raters), rng.integers(0, 3, n_raters), 3)
    axes = {f"axis {a}": Axis(("x", "y"), codes.astype(np.int32)) for a, codes in enumerate(values)}
    people = Raters(annotations.rater_ids, axes)
    assert_local_agrees(annotations, people, AnalysisSpec(axes=tuple((name,) for name in axes)))


@pytest.mark.long
def test_an_item_of_a_hundred_thousand_different_labels() -> None:
    """All labels differ: both sides disagree as much as by chance, and pluralities are 1 / n."""
    n = 100_000
    annotations = coded(np.zeros(n, int), np.arange(n), np.arange(n), n)
    people = Raters(annotations.rater_ids, {"axis": Axis.from_values(["x"] * 1000 + ["y"] * (n - 1000))})
    spec = AnalysisSpec(axes=(("axis",),))
    design = built(annotations, people, spec)
    for found in (compiled.observed(design), compiled.shuffled(design, 1, 0, 1)[0]):
        np.testing.assert_allclose(found[:, [0, 1, 5]], 0, rtol=0, atol=1e-9)
        np.testing.assert_allclose(found[:, 2], np.log([n / 1000, n / (n - 1000)]), rtol=0, atol=1e-9)
        np.testing.assert_allclose(found[:, 4], [1 / 1000, 1 / (n - 1000)], rtol=1e-12)


def test_one_label_an_item_pairs_with_nothing_and_items_of_too_many_are_counted_otherwise() -> None:
    annotations, raters = simulate(7, items=30, raters=30, categories=40)
    alone = annotations.item == annotations.rater
    annotations = part(annotations, alone)
    design = assert_local_agrees(annotations, raters, AnalysisSpec(axes=AXES[:3], min_raters=1))
    assert np.isnan(compiled.observed(design)[:, :2]).all()
    n_raters = digits_layout.MOST_ANNOTATIONS + 1
    annotations = coded(np.zeros(n_raters, int), np.arange(n_raters), np.arange(n_raters) % 20, 20)
    people = Raters(annotations.rater_ids, {"axis": Axis.from_values([str(j % 3) for j in range(n_raters)])})
    assert assert_local_agrees(annotations, people, AnalysisSpec(axes=(("axis",),))).digits is None


@pytest.mark.parametrize("size", [8, 9, 40])
@pytest.mark.parametrize("passed", [1, 5])
@pytest.mark.parametrize("level", ["nominal", "interval"])
def test_what_is_done_at_a_time_changes_no_bit(monkeypatch, size: int, passed: int, level: Level) -> None:
    annotations, raters = simulate(9, items=40, categories=30, missing=0.4, unknown=0.1)
    annotations = numbered(annotations)
    spec = AnalysisSpec(axes=AXES, min_raters=1, level=level)
    expected = compiled.shuffled(built(annotations, raters, spec, dense=False), 1, 0, 50)
    monkeypatch.setattr(local_layout, "_COLUMNS", size)
    monkeypatch.setattr(local_layout, "_PASS", passed)
    monkeypatch.setattr(profiles_module, "MOST_BATCH", 16)
    monkeypatch.setattr(digits_layout, "_BATCH", size)
    monkeypatch.setattr(digits_layout, "_FEWEST", passed)
    design = built(annotations, raters, spec, dense=False)
    assert design.local is not None
    assert (design.digits is not None) == (level == "nominal")
    np.testing.assert_array_equal(compiled.shuffled(design, 1, 0, 50), expected)
    found = [compiled.shuffled(design, 1, *cut) for cut in itertools.pairwise((0, 3, 36, 50))]
    np.testing.assert_array_equal(np.concatenate(found), expected)


def test_digits_give_what_counting_by_label_gives() -> None:
    """Where tables of an item would be too large, labels are counted one by one."""
    annotations, raters = simulate(11, items=30, raters=60, categories=40, missing=0.3, unknown=0.1)
    spec = AnalysisSpec(axes=AXES, min_raters=1)
    design = built(annotations, raters, spec, dense=False)
    assert design.digits is not None
    by_label = dataclasses.replace(design, digits=None, given=None)
    found, expected = compiled.sums(design, 1, 0, 40), compiled.sums(by_label, 1, 0, 40)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-10)


@st.composite
def shapes(draw: st.DrawFn) -> tuple[Annotations, Raters, AnalysisSpec]:
    """Data of any shape, and options."""
    categories = draw(st.sampled_from([1, 2, 3, 5, 12, 13, 20, 77, 300]))
    annotations, raters = clustered(
        draw(st.integers(0, 2**32 - 1)),
        nested=draw(st.booleans()),
        items=draw(st.integers(1, 40)),
        raters=draw(st.integers(2, 140)),
        categories=categories,
        unused=draw(st.integers(0, categories - 1)),
        missing=draw(st.sampled_from([0.0, 0.05, 0.3, 0.7, 0.9, 0.97])),
        unknown=draw(st.sampled_from([0.0, 0.0, 0.03, 0.3, 0.9])),
    )
    spec = AnalysisSpec(
        axes=tuple(draw(st.lists(st.sampled_from(AXES), min_size=1, unique=True))),
        min_raters=draw(st.integers(1, 6)),
        level=draw(st.sampled_from(get_args(Level))),
        ties=draw(st.sampled_from(["first", "random"])),
        **CONVENTIONS[draw(st.sampled_from(list(CONVENTIONS)))],
        strata=draw(st.sampled_from([(), ("region",)])),
        cluster=draw(st.sampled_from([None, "team"])),
        seed=draw(st.integers(0, 2**32)),
    )
    return numbered(annotations), raters, spec


@given(shape=shapes())
def test_every_way_agrees_with_the_twin_on_any_shape(shape) -> None:
    annotations, raters, spec = shape
    grouping = form_groups(raters, spec.axes, min_raters=spec.min_raters)
    few = annotations.n_categories <= 20
    ways = [(None, None), (False, None), *([(True, None), (True, False), (False, False)] if few else [])]
    designs = [build_design(annotations, raters, grouping, spec, dense=one, tables=two) for one, two in ways]
    agrees_with_twin(designs, annotations, raters, spec, range(2, 3))
    for design in designs:
        whole, part_of_it = (compiled.shuffled(design, spec.seed, start, 5) for start in (0, 2))
        np.testing.assert_array_equal(whole[2:], part_of_it)
