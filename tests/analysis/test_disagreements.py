"""How far two raters differ, held against the plain definition."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import pytest

from grasp_core.analysis.rater_map_axes import label_distances, pair_disagreements
from grasp_core.model.annotations import Annotations, FloatArray
from grasp_core.model.spec import Level
from grasp_core.statistics.between_raters import disagreement
from tests.analysis.cases import matrix
from tests.permutation.simulated import simulate


def plainly(questions: Sequence[Annotations], deltas: Sequence[FloatArray]) -> tuple[FloatArray, FloatArray]:
    """Pair by pair; several questions weigh as many answers as two raters share."""
    raters = questions[0].n_raters
    common, total = np.zeros((raters, raters)), np.zeros((raters, raters))
    for one, delta in zip(questions, deltas, strict=True):
        labels = matrix(one)
        for a in range(raters):
            for b in range(raters):
                shared = int(((labels[a] >= 0) & (labels[b] >= 0)).sum())
                if a != b and shared:
                    common[a, b] += shared
                    total[a, b] += shared * disagreement(labels[a], labels[b], delta)
    return common, np.divide(total, common, out=np.zeros_like(total), where=common > 0)


@pytest.mark.parametrize("missing", [0.0, 0.6, 0.95])
@pytest.mark.parametrize("n_questions", [1, 3])
def test_as_defined(missing: float, n_questions: int) -> None:
    questions = [simulate(seed, missing=missing)[0] for seed in range(n_questions)]
    common, mean = pair_disagreements(questions, np.arange(24), "nominal")
    shared, expected = plainly(questions, [1 - np.eye(3)] * n_questions)
    assert (common == shared).all()
    np.testing.assert_allclose(mean, expected, atol=1e-12)
    assert (common == common.T).all()


@pytest.mark.parametrize("level", ["ordinal", "interval", "ratio"])
def test_distances_of_other_levels_are_in_units_of_two_random_labels(level: Level) -> None:
    annotations, _ = simulate(3, missing=0.4, categories=4)
    annotations = dataclasses.replace(annotations, categories=("1", "2", "5", "9"))
    delta = label_distances(annotations, level)
    rng = np.random.default_rng(1)
    first, second = (annotations.category[rng.integers(0, annotations.n_annotations, 200_000)] for _ in "ab")
    assert delta[first, second].mean() == pytest.approx(1, abs=0.02)  # drawn with replacement
    if level == "interval":  # by hand: (9 - 1)^2 is four times (5 - 1)^2
        assert delta[0, 3] / delta[0, 2] == pytest.approx(4)
    _, mean = pair_disagreements([annotations], np.arange(24), level)
    np.testing.assert_allclose(mean, plainly([annotations], [delta])[1], atol=1e-12)


def test_some_raters_have_what_they_have_among_all() -> None:
    annotations, _ = simulate(4, missing=0.3)
    chosen = np.array([1, 5, 6, 20])
    of_all = pair_disagreements([annotations], np.arange(24), "nominal")
    of_some = pair_disagreements([annotations], chosen, "nominal")
    for some, whole in zip(of_some, of_all, strict=True):
        assert (some == whole[np.ix_(chosen, chosen)]).all()


def test_one_label_alone_is_never_apart() -> None:
    annotations, _ = simulate(5, categories=3, unused=2)
    annotations = dataclasses.replace(annotations, categories=("1", "2", "3"))
    for level in ("nominal", "ordinal", "interval", "ratio"):
        _, mean = pair_disagreements([annotations], np.arange(24), level)
        assert not mean.any()
