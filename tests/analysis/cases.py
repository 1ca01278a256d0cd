"""Tasks for tests of the map of raters."""

import dataclasses
from typing import Any

import numpy as np

from grasp_core.analysis.rater_map import MapTask
from grasp_core.model.annotations import Annotations, Axis, Int64Array, Raters
from grasp_core.model.spec import AnalysisSpec
from tests.permutation.simulated import coded, simulate

GENDER = AnalysisSpec(axes=(("gender",),), permutations=1000)
ALL = dataclasses.replace(GENDER, axes=(("gender",), ("race",), ("gender", "race")))


def task(seed: int = 1, spec: AnalysisSpec = ALL, **shape: Any) -> MapTask:
    """Raters who differ by chance alone, unless a shape says otherwise."""
    annotations, raters = simulate(seed, **shape)
    given = np.bincount(annotations.rater, minlength=annotations.n_raters)
    return MapTask((annotations,), raters, given, spec)


def divided(seed: int, *, raters: int = 40, items: int = 60, apart: float = 0.4) -> MapTask:
    """Women who give, on a share of the items, the opposite label of what men give."""
    rng = np.random.default_rng(seed)
    women = np.arange(raters) % 2 == 0
    labels = rng.random((items, raters)) < rng.beta(1, 1, (items, 1))
    turned = (rng.random(items) < apart)[:, None] & women
    return of_labels(np.where(turned, ~labels, labels).astype(np.int64), women)


def of_labels(labels: Int64Array, women: np.ndarray, spec: AnalysisSpec = GENDER) -> MapTask:
    """The labels, shape (I, J), of women and men; -1 where there is none."""
    item, rater = np.nonzero(labels >= 0)
    annotations = coded(
        item, rater, labels[item, rater], list(map(str, range(labels.max() + 1))), labels.shape
    )
    gender = Axis.from_values(["Woman" if woman else "Man" for woman in women])
    given = np.bincount(annotations.rater, minlength=annotations.n_raters)
    return MapTask((annotations,), Raters(annotations.rater_ids, {"gender": gender}), given, spec)


def matrix(annotations: Annotations) -> Int64Array:
    """Labels by rater and item, shape (J, I); -1 where there is none."""
    labels = np.full((annotations.n_raters, annotations.n_items), -1)
    labels[annotations.rater, annotations.item] = annotations.category
    return labels
