"""Differences of label use under permutations: sums over raters against the definition, for every option."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from grasp_core.model.annotations import Annotations, Raters
from grasp_core.model.groups import form_groups
from grasp_core.model.spec import AnalysisSpec, Level
from grasp_core.permutation import label_use, questions, reference
from grasp_core.permutation.draw import exchange_of, identity, permutation
from grasp_core.permutation.questions import Questions
from tests.permutation.simulated import clustered, simulate

AXES = (("gender",), ("race",), ("gender", "race"), ("gender", "race", "region"))
SHAPES = {
    "crossed": {},
    "missing": {"missing": 0.7, "items": 30},
    "nearly empty": {"missing": 0.96, "items": 30},
    "one label": {"categories": 3, "unused": 2},
    "unknown": {"unknown": 0.3, "missing": 0.1},
    "never used": {"categories": 6, "unused": 3, "missing": 0.3, "unknown": 0.1},
    "few raters": {"raters": 4, "items": 12, "missing": 0.2},
}
NUMBERS = range(5, 8)
"""Permutations compared; not from 0, so that an offset would show."""


def laid_out(answers: tuple[Annotations, ...], raters: Raters, spec: AnalysisSpec) -> Questions:
    grouping = form_groups(raters, spec.axes, min_raters=spec.min_raters)
    residuals = label_use.residuals_of(answers, spec.level)
    return questions.lay_out(answers, raters, grouping, spec, residuals=residuals)


def assert_parity(answers: tuple[Annotations, ...], raters: Raters, spec: AnalysisSpec) -> None:
    grouping = form_groups(raters, spec.axes, min_raters=spec.min_raters)
    terms = laid_out(answers, raters, spec).terms
    assert terms is not None
    expected = reference.differences(answers, grouping, spec, identity(answers[0].n_raters))
    np.testing.assert_allclose(label_use.observed(terms), expected, rtol=1e-9, atol=1e-10)
    found = label_use.shuffled(terms, spec.seed, NUMBERS.start, NUMBERS.stop)
    for b, values in zip(NUMBERS, found, strict=True):
        source = permutation(spec.seed, b, *exchange_of(raters, spec))
        expected = reference.differences(answers, grouping, spec, source)
        np.testing.assert_allclose(values, expected, rtol=1e-9, atol=1e-10)  # NaN equals NaN only


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("strata", "level"), [((), "nominal"), (("region",), "ordinal")])
def test_every_shape(shape: str, strata: tuple[str, ...], level: Level) -> None:
    annotations, raters = simulate(3, **SHAPES[shape])
    spec = AnalysisSpec(axes=AXES, min_raters=1, seed=9, strata=strata, level=level)
    assert_parity((annotations,), raters, spec)


@pytest.mark.parametrize("nested", [True, False])
def test_clusters(nested: bool) -> None:
    annotations, raters = clustered(3, nested=nested, missing=0.3, unknown=0.1)
    spec = AnalysisSpec(axes=AXES[:2], min_raters=1, seed=9, strata=("region",), cluster="team")
    assert_parity((annotations,), raters, spec)


@pytest.mark.parametrize("level", ["nominal", "ordinal"])
def test_several_questions(level: Level) -> None:
    answers = [simulate(4, missing=0.3), simulate(5, categories=2, missing=0.3), simulate(6, categories=120)]
    spec = AnalysisSpec(axes=AXES, min_raters=1, seed=9, level=level)
    told = tuple(annotations for annotations, _ in answers)
    assert_parity(told, answers[0][1], spec)
    terms = laid_out(told, answers[0][1], spec).terms
    assert terms is not None
    assert terms.n_labels == 5  # of 120 labels nothing is told


def test_too_many_labels_are_not_tested() -> None:
    annotations, raters = simulate(4, categories=120)
    design = laid_out((annotations,), raters, AnalysisSpec(axes=AXES, min_raters=1))
    assert design.terms is None
    assert questions.observed_differences(design) is None


def test_a_permutation_does_not_depend_on_its_block(monkeypatch: pytest.MonkeyPatch) -> None:
    annotations, raters = simulate(3, missing=0.4, unknown=0.1)
    terms = laid_out((annotations,), raters, AnalysisSpec(axes=AXES, min_raters=1)).terms
    assert terms is not None
    whole = label_use.shuffled(terms, 1, 0, 70)
    monkeypatch.setattr(label_use, "ROOM", 1)
    np.testing.assert_array_equal(label_use.shuffled(terms, 1, 0, 70), whole)
    np.testing.assert_array_equal(label_use.shuffled(terms, 1, 33, 70), whole[33:])


def test_a_stored_design_computes_the_same(tmp_path: Path) -> None:
    annotations, raters = simulate(3, missing=0.4, unknown=0.1)
    design = laid_out((annotations,), raters, AnalysisSpec(axes=AXES, min_raters=1))
    np.savez(tmp_path / "design.npz", **questions.arrays(design))
    again = questions.of_arrays(dict(np.load(tmp_path / "design.npz")))
    expected = questions.shuffled(design, 9, 5, 8)
    np.testing.assert_array_equal(questions.shuffled(again, 9, 5, 8), expected)
    assert expected.shape[-1] == 10 + 3 + 1 + 3
