"""The compiled kernel against its plain twin, for every option and every kind of data."""

import dataclasses
import io
import itertools
from typing import get_args

import numba
import numpy as np
import pytest

from grasp_core.engine.pools.workers import pack, unpack
from grasp_core.model.annotations import Annotations, Axis, Raters
from grasp_core.model.groups import form_groups
from grasp_core.model.spec import AnalysisSpec, Level
from grasp_core.permutation import compiled
from grasp_core.permutation import design as design_module
from grasp_core.permutation.design import Design, build_design
from grasp_core.permutation.draw import exchange_of, permutation
from grasp_core.permutation.kernel import crossed
from tests.permutation.simulated import (
    AXES,
    CONVENTIONS,
    SHAPES,
    agrees_with_twin,
    built,
    by_definition,
    clustered,
    coded,
    simulate,
)

OPTIONS = [
    pytest.param(strata, ties, convention, marks=[] if meets else [pytest.mark.long])
    for (s, strata), (t, ties), (c, convention) in itertools.product(
        enumerate([(), ("region",)]), enumerate(["first", "random"]), enumerate(["smooth", "paper"])
    )
    for meets in [(s + t + c) % 2 == 0]
]
"""Strata, ties and convention: every two of the values meet in every run, all three in `make test-long`."""


def assert_parity(annotations: Annotations, raters: Raters, spec: AnalysisSpec) -> None:
    """Of both layouts."""
    grouping = form_groups(raters, spec.axes, min_raters=spec.min_raters)
    designs = [build_design(annotations, raters, grouping, spec, dense=dense) for dense in (True, False)]
    assert [one.dense for one in designs] == [True, False]
    agrees_with_twin(designs, annotations, raters, spec)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("strata", "ties", "convention"), OPTIONS)
def test_every_option_on_every_shape(shape, strata, ties, convention) -> None:
    annotations, raters = simulate(3, **SHAPES[shape])
    spec = AnalysisSpec(axes=AXES, min_raters=1, seed=9, strata=strata, ties=ties, **CONVENTIONS[convention])
    assert_parity(annotations, raters, spec)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("nested", [True, False])
def test_clusters_on_every_shape(shape, nested: bool) -> None:
    annotations, raters = clustered(3, nested=nested, **SHAPES[shape])
    spec = AnalysisSpec(axes=AXES, min_raters=1, seed=9, strata=("region",), cluster="team")
    assert exchange_of(raters, spec).keeps_sizes is not nested
    assert_parity(annotations, raters, spec)


@pytest.mark.parametrize("categories", [2, 3, 4, 5, 8, 9, 12, 13, 16, 17, 20])
def test_every_number_of_categories(categories: int) -> None:
    annotations, raters = simulate(categories, items=12, categories=categories, missing=0.3, unknown=0.1)
    for convention, ties in (("smooth", "random"), ("paper", "first")):
        spec = AnalysisSpec(axes=AXES[:3], min_raters=1, **CONVENTIONS[convention], ties=ties)
        assert_parity(annotations, raters, spec)


@pytest.mark.parametrize("block", [1, 7, 19, 20, 21])
@pytest.mark.parametrize("ties", ["first", "random"])
def test_items_cut_into_blocks(monkeypatch, block: int, ties: str) -> None:
    monkeypatch.setattr(design_module, "ITEM_BLOCK", block)
    for shape in ({"missing": 0.5}, {"missing": 0.93, "unknown": 0.2}):
        annotations, raters = simulate(4, **shape)
        spec = AnalysisSpec(axes=AXES[:3], min_raters=1, ties=ties)
        assert_parity(annotations, raters, spec)


def test_more_items_than_a_block_holds() -> None:
    annotations, raters = simulate(5, items=1100, missing=0.8, unknown=0.1)
    assert annotations.n_items > 2 * design_module.ITEM_BLOCK
    spec = AnalysisSpec(axes=AXES[:3], min_raters=1, ties="random", **CONVENTIONS["paper"])
    assert_parity(annotations, raters, spec)


@pytest.mark.parametrize("dense", [True, False], ids=["dense", "sparse"])
@pytest.mark.parametrize("convention", ["smooth", "paper"])
@pytest.mark.long
def test_64_bit_counters(dense: bool, convention) -> None:
    annotations, raters = simulate(6, missing=0.2, unknown=0.1, categories=4)
    spec = AnalysisSpec(axes=AXES, min_raters=1, ties="random", **CONVENTIONS[convention])
    design = built(annotations, raters, spec, dense=dense, tables=False)
    assert design.ties.dtype == np.int32
    wide = dataclasses.replace(design, ties=design.ties.astype(np.int64))
    agrees_with_twin([wide], annotations, raters, spec)
    np.testing.assert_array_equal(compiled.observed(wide), compiled.observed(design))


@pytest.mark.parametrize(
    ("raters", "categories", "counter", "local_counter"),
    [
        (46_340, 2, np.int32, np.int32),
        pytest.param(46_341, 2, np.int64, np.int64, marks=pytest.mark.long),
        pytest.param(33_000, 200, np.int64, np.int32, marks=pytest.mark.long),
    ],
)
def test_counters_are_wide_enough_for_an_item_that_very_many_rated(
    raters, categories, counter, local_counter
) -> None:
    """46,341 squared passes 2^31; so do 33,000 labels packed with the rank of one of 200, but not of 2."""
    rng = np.random.default_rng(7)
    annotations = coded(
        np.r_[np.zeros(raters, dtype=int), np.ones(40, dtype=int)],
        np.r_[np.arange(raters), np.arange(40)],
        np.r_[np.ones(raters - 9, dtype=int), np.zeros(9, dtype=int), rng.integers(0, 2, 40)],
        categories,
    )
    people = Raters(annotations.rater_ids, {"gender": Axis.from_values(["W"] * (raters - 20) + ["M"] * 20)})
    spec = AnalysisSpec(axes=(("gender",),))
    expected = by_definition(annotations, people, spec)
    design = built(annotations, people, spec, dense=True)
    assert design.ties.dtype == counter
    np.testing.assert_allclose(compiled.observed(design), expected, rtol=0, atol=1e-10)
    design = built(annotations, people, spec, dense=False)
    assert design.local.ties.dtype == local_counter
    np.testing.assert_allclose(compiled.observed(design), expected, rtol=0, atol=1e-10)


def test_a_permutation_does_not_depend_on_its_block() -> None:
    annotations, raters = simulate(9, missing=0.3)
    spec = AnalysisSpec(axes=AXES)
    design = built(annotations, raters, spec)
    whole = compiled.shuffled(design, 1, 0, 40)
    for cuts in ((0, 40), (0, 1, 2, 40), (0, 7, 14, 21, 28, 35, 40)):
        parts = [compiled.shuffled(design, 1, start, stop) for start, stop in itertools.pairwise(cuts)]
        np.testing.assert_array_equal(np.concatenate(parts), whole)
    assert not np.array_equal(whole[0], whole[1], equal_nan=True)


def test_dense_and_sparse_agree_to_the_last_bit_and_the_faster_is_chosen_by_shape() -> None:
    annotations, raters = simulate(10, items=60, raters=70, missing=0.4, unknown=0.1)
    spec = AnalysisSpec(axes=AXES)
    designs = (built(annotations, raters, spec, dense=dense, tables=False) for dense in (True, False))
    np.testing.assert_array_equal(*(compiled.shuffled(one, 1, 0, 20) for one in designs))
    spec = AnalysisSpec(axes=(("gender",),))
    for shape, dense in (({"items": 50, "raters": 100}, True), ({"raters": 2000, "missing": 0.998}, False)):
        annotations, raters = simulate(11, **shape)
        assert built(annotations, raters, spec).dense is dense


@pytest.mark.parametrize("dense", [True, False], ids=["dense", "sparse"])
def test_a_packed_design_computes_the_same(dense: bool) -> None:
    annotations, raters = simulate(12, missing=0.3)
    spec = AnalysisSpec(axes=AXES, strata=("region",), ties="random", **CONVENTIONS["paper"])
    design = built(annotations, raters, spec, dense=dense)
    loaded = unpack(Design, io.BytesIO(pack(design)))
    for field in dataclasses.fields(Design):
        before, after = getattr(design, field.name), getattr(loaded, field.name)
        assert type(before) is type(after)
        many = isinstance(before, tuple)
        for one, other in zip(before, after, strict=True) if many else [(before, after)]:
            np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(compiled.shuffled(loaded, 1, 0, 5), compiled.shuffled(design, 1, 0, 5))
    # Else each worker's first block compiles again for ten seconds, which warming was to save.
    for name in ("order", "bounds", "counting", "conventions", "crossed", "sparse"):
        assert str(numba.typeof(getattr(loaded, name))) == str(numba.typeof(getattr(design, name)))


@pytest.mark.parametrize(("convention", "ties"), [("smooth", "first"), ("paper", "random")])
@pytest.mark.parametrize("level", get_args(Level))
@pytest.mark.parametrize("categories", [2, 3, 5])
def test_tables_of_crossed_data_give_the_same_statistics(monkeypatch, convention, ties, level, categories):
    """Every rater on every item, also where the last block is filled up, and a batch of permutations ends."""
    people = 70 if categories < 4 else 14
    annotations, raters = simulate(11, items=33, raters=people, missing=0.0, categories=categories)
    annotations = dataclasses.replace(annotations, categories=("0", "1", "3", "4.5", "9")[:categories])
    spec = AnalysisSpec(axes=AXES, ties=ties, min_raters=1, **CONVENTIONS[convention], level=level)
    expected = [
        by_definition(annotations, raters, spec, permutation(5, b, *exchange_of(raters, spec)))
        for b in range(2)
    ]
    for block in (7, 10, 512):
        monkeypatch.setattr(design_module, "ITEM_BLOCK", block)
        design = built(annotations, raters, spec)
        assert design.crossed is not None
        plain = built(annotations, raters, spec, tables=False)
        assert plain.crossed is None
        found = compiled.shuffled(design, 5, 0, 6)
        np.testing.assert_allclose(found, compiled.shuffled(plain, 5, 0, 6), rtol=0, atol=1e-12)
        np.testing.assert_array_equal(found[4:], compiled.shuffled(design, 5, 4, 6))
        np.testing.assert_allclose(found[:2], expected, rtol=0, atol=1e-10)


def test_a_group_has_the_same_digits_beside_its_complement_and_alone() -> None:
    annotations, raters = simulate(13, items=9, missing=0.0)
    spec = AnalysisSpec(axes=AXES[:1], min_raters=1)
    grouping = form_groups(raters, spec.axes, min_raters=1)
    both = build_design(annotations, raters, grouping, spec)
    assert both.crossed is not None
    assert both.crossed.complement.tolist() == [1, -1]
    for g in (0, 1):
        alone = build_design(annotations, raters, grouping.some([g]), spec)
        found = compiled.shuffled(alone, 1, 0, 9)
        np.testing.assert_array_equal(compiled.shuffled(both, 1, 0, 9)[:, [g]], found)


def test_more_permutations_than_a_table_serves_or_an_item_is_visited_for() -> None:
    tabled = built(*simulate(12, items=5, raters=12, missing=0.0), AnalysisSpec(axes=AXES[:1]))
    assert tabled.crossed is not None
    visited = built(*simulate(22, items=9, raters=30, missing=0.6), AnalysisSpec(axes=AXES[:2]), dense=False)
    for design, batch in ((tabled, crossed.BATCH), (visited, *visited.sparse.batch)):
        many = compiled.shuffled(design, 1, 0, batch + 3)
        np.testing.assert_array_equal(many[-5:], compiled.shuffled(design, 1, batch - 2, batch + 3))


def test_an_axis_that_nobody_is_known_on_has_no_group_and_one_of_everybody_nobody_to_differ_from() -> None:
    annotations, raters = simulate(8)
    nobody, everybody = (Axis.from_values([value] * annotations.n_raters) for value in (None, "x"))
    raters = Raters(raters.rater_ids, {**raters.axes, "race": nobody})
    assert_parity(annotations, raters, AnalysisSpec(axes=AXES[:3]))
    assert {group.axes for group in form_groups(raters, AXES[:3]).groups} == {("gender",)}
    people, spec = Raters(raters.rater_ids, {"axis": everybody}), AnalysisSpec(axes=(("axis",),))
    design, expected = (of(annotations, people, spec) for of in (built, by_definition))
    assert design.crossed is not None
    np.testing.assert_allclose(compiled.shuffled(design, 1, 0, 1)[0], expected, rtol=0, atol=1e-12)
    assert np.isnan(expected[0, 1])


def assert_tables_agree(annotations: Annotations, raters: Raters, spec: AnalysisSpec, n: int = 70) -> Design:
    """Of sparse data: what is looked up is what is computed, also from the 41st permutation on."""
    design = built(annotations, raters, spec, dense=False)
    plain = built(annotations, raters, spec, dense=False, tables=False)
    assert plain.sparse is None
    found = compiled.shuffled(design, 5, 0, n)
    np.testing.assert_allclose(found, compiled.shuffled(plain, 5, 0, n), rtol=0, atol=1e-12)
    if n > 40:
        np.testing.assert_array_equal(found[40:], compiled.shuffled(design, 5, 40, n))
    expected = by_definition(annotations, raters, spec, permutation(5, 1, design.order, design.bounds))
    np.testing.assert_allclose(found[1], expected, rtol=0, atol=1e-10)
    return design


@pytest.mark.parametrize("level", get_args(Level))
@pytest.mark.parametrize(("convention", "ties"), [("smooth", "first"), ("paper", "random")])
@pytest.mark.parametrize("categories", [2, 3, 5])
def test_remembered_counts_of_sparse_data_give_the_same_statistics(level, convention, ties, categories):
    """More labels than packed sums hold, more counts than are remembered, groups that are unions."""
    annotations, raters = simulate(21, items=203, raters=150, missing=0.5, categories=categories)
    annotations = dataclasses.replace(annotations, categories=("0", "1", "3", "4.5", "9")[:categories])
    assert annotations.n_annotations > 2**13  # what one packed field holds
    spec = AnalysisSpec(axes=AXES, ties=ties, min_raters=1, **CONVENTIONS[convention], level=level)
    design = assert_tables_agree(annotations, raters, spec)
    assert design.sparse.union.size


@pytest.mark.parametrize("unknown", [0.0, 0.1])
def test_groups_that_few_items_meet_are_looked_up_where_they_are_met(unknown: float) -> None:
    annotations, raters = simulate(27, items=203, raters=150, missing=0.985, unknown=unknown)
    design = assert_tables_agree(annotations, raters, AnalysisSpec(axes=AXES, min_raters=1, ties="random"))
    assert 0 < 2 * design.sparse.n_often < design.n_groups


@pytest.mark.parametrize(("raters", "fits"), [(2100, True), (2200, False)])
def test_four_items_that_very_many_rated_stay_within_what_is_packed(raters: int, fits: bool) -> None:
    """About 2,045 and 2,140 labels an item: four times that is just below, and above, 2^13."""
    annotations, people = simulate(24, items=8, raters=raters, categories=2, missing=0.03)
    design = assert_tables_agree(annotations, people, AnalysisSpec(axes=AXES[:3]), 3)
    assert (design.sparse is not None) == fits


@pytest.mark.parametrize(("raters", "categories"), [(9000, 2), (150, 40)])
def test_counts_that_do_not_fit_into_one_number_are_counted_one_by_one(raters: int, categories: int) -> None:
    annotations, people = simulate(23, items=3, raters=raters, categories=categories, missing=0.05)
    spec = AnalysisSpec(axes=AXES[:1])
    design = built(annotations, people, spec, dense=False)
    assert design.sparse is None
    expected = by_definition(annotations, people, spec, permutation(1, 0, design.order, design.bounds))
    np.testing.assert_allclose(compiled.shuffled(design, 1, 0, 1)[0], expected, rtol=0, atol=1e-10)


def test_without_groups_there_is_nothing_to_compute() -> None:
    annotations, raters = simulate(25, items=3, raters=5)
    spec = AnalysisSpec(axes=AXES[:1])
    design = build_design(annotations, raters, form_groups(raters, spec.axes, min_raters=6), spec)
    assert compiled.observed(design).shape == (0, len(compiled.KERNEL_STATISTICS) + annotations.n_categories)
    assert compiled.shuffled(design, 1, 0, 2).shape == (2, *compiled.observed(design).shape)
