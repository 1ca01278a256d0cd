"""Vector-valued annotations: naive vectors, other software, and the compiled way against the plain one."""

from __future__ import annotations

import dataclasses
import itertools
from pathlib import Path

import krippendorff
import numpy as np
import pytest

from grasp_core.model.annotations import Annotations, Axis, Raters
from grasp_core.model.groups import form_groups
from grasp_core.model.spec import AnalysisSpec
from grasp_core.permutation import compiled, questions, reference
from grasp_core.permutation.compiled import KERNEL_STATISTICS
from grasp_core.permutation.draw import exchange_of, identity, permutation
from tests.permutation.simulated import simulate

AXES = (("gender",), ("race",), ("gender", "race"))
SPEC = AnalysisSpec(axes=AXES, min_raters=1, seed=9)


def asked(*categories: int, **shape: float) -> tuple[tuple[Annotations, ...], Raters]:
    """The same items and raters, a question for each number of categories, with gaps of its own."""
    found = [simulate(4, **shape)]
    found += [simulate(5 + q, categories=k, **shape) for q, k in enumerate(categories)]
    return tuple(annotations for annotations, _ in found), found[0][1]


def vectors(answers: tuple[Annotations, ...]) -> np.ndarray:
    """Answers by item, rater and question; -1 where there is none."""
    first = answers[0]
    found = np.full((first.n_items, first.n_raters, len(answers)), -1)
    for q, one in enumerate(answers):
        found[one.item, one.rater, q] = one.category
    return found


def twin(answers, raters: Raters, spec: AnalysisSpec = SPEC, source=None) -> np.ndarray:
    grouping = form_groups(raters, spec.axes, min_raters=1)
    source = identity(len(raters.rater_ids)) if source is None else source
    return reference.evaluate(answers, grouping, spec, source)[0]


def test_irr_is_krippendorffs_alpha_of_vectors_under_hamming_distance() -> None:
    """Every rater answers every question: one distance metric over whole vectors gives the same alpha."""
    answers, raters = asked(2, 4, items=12, raters=9)
    found = vectors(answers)
    domain, codes = np.unique(found.reshape(-1, 3), axis=0, return_inverse=True)
    coded = codes.reshape(found.shape[:2])

    def hamming(v1, v2, i1, i2, n_v, dtype=np.float64):
        return (domain[i1] != domain[i2]).mean(axis=-1).astype(dtype)

    grouping = form_groups(raters, AXES, min_raters=2)
    values, _ = reference.evaluate(answers, grouping, SPEC, identity(9))
    for member, value in zip(grouping.member, values[:, 0], strict=True):
        counts = np.array([np.bincount(row[member], minlength=len(domain)) for row in coded])
        assert value == pytest.approx(
            krippendorff.alpha(value_counts=counts, level_of_measurement=hamming), abs=1e-12
        )


def test_xrr_by_naive_pairs_of_vectors() -> None:
    answers, raters = asked(2, 4, items=6, raters=8)
    found = vectors(answers)
    grouping = form_groups(raters, AXES, min_raters=1)
    values, _ = reference.evaluate(answers, grouping, SPEC, identity(8))
    for g, value in enumerate(values[:, 1]):
        x, y = found[:, grouping.member[g]], found[:, grouping.complement(g)]
        if not x.shape[1] or not y.shape[1]:
            continue
        observed = np.mean([(a != b).mean() for i in range(6) for a, b in itertools.product(x[i], y[i])])
        expected = np.mean(
            [(a != b).mean() for a, b in itertools.product(x.reshape(-1, 3), y.reshape(-1, 3))]
        )
        assert value == pytest.approx(1 - observed / expected, abs=1e-12)


def test_the_others_are_averaged_over_the_questions_that_have_a_value() -> None:
    answers, raters = asked(2, 4, items=10, raters=8, missing=0.8, unknown=0.2)
    own = len(KERNEL_STATISTICS)
    together = twin(answers, raters)[:, :own]
    apart = np.stack([twin(one, raters)[:, :own] for one in answers])
    assert np.isnan(apart[..., 2:]).any()
    for place, value in np.ndenumerate(together[:, 2:]):
        known = apart[:, place[0], place[1] + 2]
        known = known[~np.isnan(known)]
        assert value == pytest.approx(known.mean() if known.size else np.nan, abs=1e-12, nan_ok=True)


def test_one_question_is_itself() -> None:
    answers, raters = asked(missing=0.3)
    assert np.array_equal(twin(answers, raters), twin(answers[0], raters), equal_nan=True)
    twice = twin((*answers, *answers), raters)
    own = len(KERNEL_STATISTICS)
    np.testing.assert_allclose(twice[:, :own], twin(answers, raters)[:, :own], rtol=0, atol=1e-12)
    np.testing.assert_array_equal(twice[:, own:], np.tile(twin(answers, raters)[:, own:], 2))


@pytest.mark.parametrize("strata", [(), ("region",)])
@pytest.mark.parametrize("ties", ["first", "random"])
@pytest.mark.parametrize(
    "shape",
    [{}, {"missing": 0.3}, {"missing": 0.85, "items": 12, "unknown": 0.2}, {"raters": 130, "items": 6}],
    ids=["crossed", "gaps", "sparse", "many raters"],
)
def test_compiled_and_plain_agree(tmp_path: Path, shape, ties: str, strata: tuple[str, ...]) -> None:
    answers, raters = asked(2, 5, **shape)
    teams = Axis.from_values([str(j // 2 if j < 8 else j) for j in range(len(raters.rater_ids))])
    raters = dataclasses.replace(raters, axes={**raters.axes, "team": teams})
    cluster = None if strata else "team"
    spec = AnalysisSpec(axes=AXES, min_raters=1, seed=9, ties=ties, strata=strata, cluster=cluster)
    design = questions.lay_out(answers, raters, form_groups(raters, AXES, min_raters=1), spec)
    assert len(design.designs) == 3
    observed = questions.together(questions.observed_components(design))
    np.testing.assert_allclose(observed, twin(answers, raters, spec), rtol=0, atol=1e-12)
    found = questions.shuffled(design, 9, 5, 8)
    drawn = exchange_of(raters, spec)
    for b, values in zip(range(5, 8), found, strict=True):
        expected = twin(answers, raters, spec, permutation(9, b, *drawn))
        np.testing.assert_allclose(values, expected, rtol=0, atol=1e-12)
    np.savez(tmp_path / "design.npz", **questions.arrays(design))
    again = questions.shuffled(questions.of_arrays(dict(np.load(tmp_path / "design.npz"))), 9, 5, 8)
    assert again.tobytes() == found.tobytes()


def test_a_single_question_has_the_values_of_its_design(tmp_path: Path) -> None:
    answers, raters = asked(missing=0.3)
    grouping = form_groups(raters, AXES, min_raters=1)
    design = questions.lay_out(answers, raters, grouping, SPEC)
    (only,) = design.designs
    expected = compiled.shuffled(only, 1, 0, 3)
    assert questions.shuffled(design, 1, 0, 3).tobytes() == expected.tobytes()
    np.savez(tmp_path / "design.npz", **questions.arrays(design))
    stored = questions.of_arrays(dict(np.load(tmp_path / "design.npz")))
    assert questions.shuffled(stored, 1, 0, 3).tobytes() == expected.tobytes()
    observed = questions.together(questions.observed_components(stored))
    assert observed.tobytes() == compiled.observed(only).tobytes()


@pytest.mark.parametrize("level", ["nominal", "ordinal", "ratio"])
@pytest.mark.parametrize("further", [(), (2, 4)], ids=["one", "several"])
@pytest.mark.parametrize("seed", range(8))
def test_reasons_follow_from_the_sums(seed: int, further: tuple[int, ...], level: str) -> None:
    """As the plain twin finds them, of few and lopsided answers."""
    rng = np.random.default_rng(seed)
    shape = {"items": 5, "raters": 7, "missing": rng.choice([0.5, 0.8, 0.9]), "unknown": 0.2}
    answers, raters = asked(*further, **shape)
    answers = tuple(
        dataclasses.replace(
            one,
            category=np.where(rng.random(one.category.size) < 0.8, 0, one.category).astype(np.int32),
            categories=tuple(map(str, range(one.n_categories))),
        )
        for one in answers
    )
    spec = AnalysisSpec(axes=AXES, min_raters=1, seed=9, level=level)
    grouping = form_groups(raters, AXES, min_raters=1)
    _, expected = reference.evaluate(answers, grouping, spec, identity(answers[0].n_raters))
    components = questions.observed_components(questions.lay_out(answers, raters, grouping, spec))
    assert any(expected)
    assert questions.reasons(components) == expected
