"""What must not change a statistic, and what must: the definitions as properties."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grasp_core.model.annotations import Annotations, Axis, Raters
from grasp_core.model.groups import form_groups
from grasp_core.model.spec import AnalysisSpec
from grasp_core.permutation import compiled, reference
from grasp_core.permutation.compiled import KERNEL_STATISTICS
from grasp_core.permutation.design import build_design
from grasp_core.permutation.draw import identity
from tests.strategies import rated

SPEC = AnalysisSpec(axes=(("gender",), ("race",), ("gender", "race")), min_raters=1, ties="first")
VOTING = KERNEL_STATISTICS.index("voting_agreement")


def values_by_group(annotations: Annotations, raters: Raters, spec: AnalysisSpec = SPEC) -> dict:
    grouping = form_groups(raters, spec.axes, min_raters=spec.min_raters)
    values, _ = reference.evaluate(annotations, grouping, spec, identity(annotations.n_raters))
    return dict(zip(grouping.groups, values, strict=True))


def assert_same(one: dict, other: dict, *, but: tuple[int, ...] = ()) -> None:
    assert one.keys() == other.keys()
    kept = [s for s in range(6) if s not in but]
    for group in one:
        assert one[group][kept] == pytest.approx(other[group][kept], abs=1e-12, nan_ok=True)


def rebuilt(annotations: Annotations, **codes) -> Annotations:
    fields = {
        "item": annotations.item,
        "rater": annotations.rater,
        "category": annotations.category,
        "item_ids": annotations.item_ids,
        "rater_ids": annotations.rater_ids,
        "categories": annotations.categories,
    }
    return Annotations.from_codes(**{**fields, **codes})


@given(data=rated(), random=st.randoms(use_true_random=False))
def test_order_of_raters_items_and_rows_changes_nothing(data, random) -> None:
    annotations, raters = data
    to_item = np.array(random.sample(range(annotations.n_items), annotations.n_items))
    to_rater = np.array(random.sample(range(annotations.n_raters), annotations.n_raters))
    rows = random.sample(range(annotations.n_annotations), annotations.n_annotations)
    shuffled = rebuilt(
        annotations,
        item=to_item[annotations.item][rows],
        rater=to_rater[annotations.rater][rows],
        category=annotations.category[rows],
    )
    axes = {}
    for name, axis in raters.axes.items():
        codes = np.empty_like(axis.codes)
        codes[to_rater] = axis.codes
        axes[name] = Axis(axis.values, codes)
    moved = Raters(raters.rater_ids, axes)
    assert_same(values_by_group(annotations, raters), values_by_group(shuffled, moved))


@given(data=rated(), random=st.randoms(use_true_random=False))
def test_order_and_names_of_labels_change_nothing_but_who_wins_a_tie(data, random) -> None:
    annotations, raters = data
    to_label = np.array(random.sample(range(annotations.n_categories), annotations.n_categories))
    renamed = rebuilt(
        annotations,
        category=to_label[annotations.category],
        categories=[f"renamed {k}" for k in range(annotations.n_categories)],
    )
    assert_same(values_by_group(annotations, raters), values_by_group(renamed, raters), but=(VOTING,))


@given(data=rated())
def test_an_item_that_nobody_rated_changes_nothing(data) -> None:
    annotations, raters = data
    longer = rebuilt(annotations, item_ids=(*annotations.item_ids, "nobody's"))
    assert_same(values_by_group(annotations, raters), values_by_group(longer, raters))


@given(data=rated(sides=2, unknown=False))
def test_a_group_and_its_complement_swap_roles(data) -> None:
    """Where nobody's gender is unknown and there are two, men are the complement of women."""
    annotations, raters = data
    values = values_by_group(annotations, raters, AnalysisSpec(axes=(("gender",),), min_raters=1))
    if len(values) < 2:
        return
    one, other = values.values()
    for name in ("xrr", "voting_agreement"):
        s = KERNEL_STATISTICS.index(name)
        assert one[s] == pytest.approx(other[s], abs=1e-12, nan_ok=True)


@given(data=rated(), p=st.sampled_from(["smooth", "paper"]), ties=st.sampled_from(["first", "random"]))
def test_kernel_and_twin_agree_on_the_observed_data(data, p, ties) -> None:
    annotations, raters = data
    spec = dataclasses.replace(SPEC, cross_negentropy=p, ties=ties)
    grouping = form_groups(raters, spec.axes, min_raters=1)
    expected, _ = reference.evaluate(annotations, grouping, spec, identity(annotations.n_raters))
    for dense in (True, False):
        found = compiled.observed(build_design(annotations, raters, grouping, spec, dense=dense))
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)


@given(data=rated(), seed=st.integers(0, 2**63 - 1), b=st.integers(0, 2**62))
def test_permuting_with_the_identity_gives_the_observed_values(data, seed: int, b: int) -> None:
    """Shuffled within strata of one rater each, everybody keeps their profile."""
    annotations, raters = data
    own = Axis.from_values([f"{j:03d}" for j in range(annotations.n_raters)])
    raters = Raters(raters.rater_ids, {**raters.axes, "own": own})
    spec = dataclasses.replace(SPEC, strata=("own",))
    design = build_design(annotations, raters, form_groups(raters, spec.axes, min_raters=1), spec)
    found = compiled.shuffled(design, seed, b, b + 1)[0]  # observed values come by the plainest way
    np.testing.assert_allclose(found, compiled.observed(design), rtol=0, atol=1e-12)


@given(data=rated(sides=2))
def test_unknown_raters_are_in_neither_group_nor_complement(data) -> None:
    """Leaving a rater of unknown gender out altogether changes nothing on that axis."""
    annotations, raters = data
    spec = AnalysisSpec(axes=(("gender",),), min_raters=1, ties="first")
    keep = raters.axes["gender"].codes[annotations.rater] >= 0
    without = rebuilt(
        annotations,
        item=annotations.item[keep],
        rater=annotations.rater[keep],
        category=annotations.category[keep],
    )
    assert_same(values_by_group(annotations, raters, spec), values_by_group(without, raters, spec))
