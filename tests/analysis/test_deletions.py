"""Statistics without each unit, against computing them anew from the data that are left."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import t as student

from benchmarks.confounded import CONFOUNDED, drawn
from benchmarks.planted import AXIS
from grasp_core.analysis.cohesion.columns import group_columns
from grasp_core.analysis.cohesion.untested import jackknifed
from grasp_core.analysis.intervals import Sides, Spreads, answers_of, lay_out, spreads
from grasp_core.model.annotations import Annotations, Axis, BoolArray, FloatArray, Raters
from grasp_core.model.groups import Grouping, form_groups
from grasp_core.model.spec import AnalysisSpec
from grasp_core.permutation import questions as of_questions
from grasp_core.permutation.draw import identity
from grasp_core.permutation.reference import evaluate
from grasp_core.statistics.items import count
from grasp_core.statistics.label_use import label_use
from tests.permutation.simulated import coded, part, simulate

SPEC = AnalysisSpec(axes=(("gender",),), ties="first")  # drawn ones follow who is there


def found(questions: Sequence[Annotations], raters: Raters, spec: AnalysisSpec, g: int) -> Spreads:
    grouping = form_groups(raters, spec.axes)
    design = lay_out(questions, raters, grouping, spec)
    sides = Sides(grouping.member[g], grouping.complement(g))
    designs = design.designs
    answers = [answers_of(one, of_one, sides) for one, of_one in zip(questions, designs, strict=True)]

    def statistics(sums: FloatArray) -> FloatArray:
        return group_columns(of_questions.together(of_questions.components(design, sums)), spec)

    return spreads(answers, sides, statistics)


def naive(questions: Sequence[Annotations], grouping: Grouping, spec: AnalysisSpec, g: int) -> list:
    """The jackknife's variances, each value computed anew: raters of both sides, items, annotations."""
    everybody = identity(questions[0].n_raters)

    def without(out: Sequence[np.ndarray]) -> FloatArray:
        left = [part(one, ~gone) for one, gone in zip(questions, out, strict=True)]
        return group_columns(evaluate(left, grouping, spec, everybody)[0], spec)[g]

    def variance(units: list) -> FloatArray:
        values = np.array([without(unit) for unit in units])
        return (len(values) - 1) / len(values) * ((values - values.mean(axis=0)) ** 2).sum(axis=0)

    sides = (grouping.member[g], grouping.complement(g))
    pairs = {
        (item, rater)
        for one in questions
        for item, rater in zip(one.item, one.rater, strict=True)
        if sides[0][rater] or sides[1][rater]
    }
    present = {rater for _, rater in pairs}
    by_rater = [
        [[one.rater == j for one in questions] for j in np.flatnonzero(side) if j in present]
        for side in sides
    ]
    by_item = [[one.item == i for one in questions] for i in {item for item, _ in pairs}]
    by_pair = [[(one.item == i) & (one.rater == j) for one in questions] for i, j in pairs]
    return [variance(units) for units in (*by_rater, by_item, by_pair)]


def agree(questions: Sequence[Annotations], raters: Raters, spec: AnalysisSpec, g: int) -> None:
    ours = found(questions, raters, spec, g)
    right = naive(questions, form_groups(raters, spec.axes), spec, g)
    for spread, variance in zip((ours.group, ours.others, ours.items, ours.annotations), right, strict=True):
        np.testing.assert_allclose(spread.variance, variance, rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"level": "ordinal"},
        {"cross_negentropy": "paper", "voting_agreement": "kappa"},
        {"gai": ("irr", "voting_agreement"), "voting_agreement": "kappa"},
        {"gai": ("negentropy", "voting_agreement")},
    ],
    ids=str,
)
@pytest.mark.parametrize("shape", [{"missing": 0.3, "unknown": 0.2}, {}], ids=["gaps", "crossed"])
def test_variances_are_those_of_values_computed_anew(shape, changed) -> None:
    spec = dataclasses.replace(SPEC, **changed)
    annotations, raters = simulate(5, items=8, raters=13, **shape)
    agree([annotations], raters, spec, 1)


@pytest.mark.parametrize("level", ["nominal", "ordinal"])
def test_many_labels_of_which_items_have_few(level) -> None:
    spec = dataclasses.replace(SPEC, level=level)
    annotations, raters = simulate(4, items=9, raters=30, categories=40, missing=0.8)
    agree([annotations], raters, spec, 0)


def test_an_annotation_of_several_questions_is_left_out_whole() -> None:
    first, raters = simulate(2, items=7, raters=12, missing=0.2)
    second, _ = simulate(3, items=7, raters=12, missing=0.4, categories=2)
    agree([first, second], raters, SPEC, 0)


def test_a_published_item_left_out() -> None:
    """Krippendorff's nominal example, alpha .743; krippendorffsalpha (R) gives -.114 as dfbeta of unit 6."""
    labels = (
        (1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0),
        (1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3),
        (0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0),
        (1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0),
    )
    rater, item = np.nonzero(labels)
    annotations = coded(item, rater, np.array(labels)[rater, item] - 1, 5)
    raters = Raters(annotations.rater_ids, {"gender": Axis.from_values(["x"] * 4)})
    grouping = form_groups(raters, SPEC.axes)
    design = lay_out([annotations], raters, grouping, SPEC)
    (only,) = design.designs
    answers = answers_of(annotations, only, Sides(grouping.member[0], grouping.complement(0)))
    added = answers.added(np.arange(12))
    sums = np.stack([added.sum(axis=0), added.sum(axis=0) - added[5]])
    alpha, without_6 = of_questions.together(of_questions.components(design, sums))[:, 0]
    assert alpha == pytest.approx(0.743, abs=5e-4)
    assert alpha - without_6 == pytest.approx(-0.114, abs=5e-4)


def one_by_one(annotations: Annotations, group: BoolArray, others: BoolArray) -> FloatArray:
    """t of each label, from the plain definition on data without each rater."""

    def use(of: Annotations) -> FloatArray:
        return label_use(count(of, group), count(of, others))

    variance = 0.0
    for side in (group, others):
        left = np.stack([use(part(annotations, annotations.rater != j)) for j in np.flatnonzero(side)])
        variance = variance + (len(left) - 1) / len(left) * ((left - left.mean(axis=0)) ** 2).sum(axis=0)
    return np.asarray(use(annotations) / np.sqrt(variance))


def test_it_is_the_jackknife_of_the_plain_definition() -> None:
    data = drawn(replace(CONFOUNDED[0], raters=20, inside=6, items=30, each=12), 3)
    grouping = form_groups(data.raters, [(AXIS,)])
    group, others = grouping.member[0], grouping.complement(0)
    found = jackknifed(data.questions, group, others, [np.array([0.0, 1.0, 2.0])])
    assert found is not None
    expected = 2 * student.sf(np.abs(one_by_one(data.annotations, group, others)), 5)
    np.testing.assert_allclose(found.of_labels, expected, rtol=1e-9)
    assert found.p == pytest.approx(min(1.0, 3 * expected.min()))
    assert 0 < found.of_mean < 1


def test_two_labels_are_one_test() -> None:
    data = drawn(CONFOUNDED[1], 1, categories=2)
    grouping = form_groups(data.raters, [(AXIS,)])
    found = jackknifed(data.questions, grouping.member[0], grouping.complement(0))
    assert found is not None
    assert found.of_labels[0] == pytest.approx(found.of_labels[1])
    assert found.p == pytest.approx(found.of_labels[0])
    assert math.isnan(found.of_mean)


@pytest.mark.parametrize("inside", [4, 56])
def test_few_raters_on_either_side_are_too_few(inside: int) -> None:
    data = drawn(replace(CONFOUNDED[0], inside=inside), 1)
    grouping = form_groups(data.raters, [(AXIS,)])
    assert jackknifed(data.questions, grouping.member[0], grouping.complement(0)) is None


def test_labels_that_nobody_else_could_vary_have_no_test() -> None:
    data = drawn(CONFOUNDED[0], 1)
    same = replace(data.annotations, category=np.zeros_like(data.annotations.category))
    grouping = form_groups(data.raters, [(AXIS,)])
    found = jackknifed([same], grouping.member[0], grouping.complement(0))
    assert found is not None
    assert np.isnan(found.of_labels).all()
    assert found.p == 1.0
