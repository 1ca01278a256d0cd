"""Label use tested by leaving raters out."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import t as student

from benchmarks.confounded import CONFOUNDED, drawn
from benchmarks.planted import AXIS
from grasp_core.analysis.cohesion.untested import jackknifed
from grasp_core.model.annotations import Annotations, BoolArray, FloatArray
from grasp_core.model.groups import form_groups
from grasp_core.statistics.items import count
from grasp_core.statistics.label_use import label_use


def without(annotations: Annotations, rater: int) -> Annotations:
    kept = annotations.rater != rater
    return Annotations.from_codes(
        item=annotations.item[kept],
        rater=annotations.rater[kept],
        category=annotations.category[kept],
        item_ids=annotations.item_ids,
        rater_ids=annotations.rater_ids,
        categories=annotations.categories,
    )


def one_by_one(annotations: Annotations, group: BoolArray, others: BoolArray) -> FloatArray:
    """t of each label, from the plain definition on data without each rater."""

    def use(of: Annotations) -> FloatArray:
        return label_use(count(of, group), count(of, others))

    variance = 0.0
    for side in (group, others):
        left = np.stack([use(without(annotations, int(j))) for j in np.flatnonzero(side)])
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
