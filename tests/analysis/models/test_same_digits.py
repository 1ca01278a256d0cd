"""Figures that stay as they are: `earlier.json` has them in the form of before models were a panel.

Its macro-F1 are over one set of labels for all, and random ties have one order for both sides. Its files have
neither times nor the models' sources in their spec; that they are read is tested here too.
"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from grasp_core.analysis.models.result import ModelsResult
from tests.analysis.models.cases import ask, model, plurality_of, random_labels
from tests.permutation.simulated import dataset

EARLIER = json.loads(Path(__file__).with_name("earlier.json").read_text())


def usual(**analysis) -> ModelsResult:
    analysis = {"ties": "first", **analysis}
    data = dataset(3, items=40, raters=40, missing=0.2)
    half = np.where(np.arange(40) % 2, np.random.default_rng(1).integers(0, 3, 40), -1)
    crowd = plurality_of(data, np.ones(40, dtype=bool))
    return ask(data, [model("crowd", crowd), model("half", half)], **analysis)


def with_gaps() -> ModelsResult:
    gaps = dataset(8, items=30, raters=30, missing=0.7, unknown=0.2)
    labels = random_labels(1, gaps.annotations)
    return ask(
        gaps,
        [model("any", labels[0]), model("one", labels[-1])],
        ties="first",
        p_value="paper",
        axes=(("race",), ("gender", "race")),
        min_raters=1,
        family="statistic-axis",
        correction="benjamini-yekutieli",
        permutations=300,
    )


CASES = {
    "usual": usual,
    "max-T over all tests": lambda: usual(
        correction="max-t", family="all", strata=("region",), ties="random", seed=9
    ),
    "paper's p": with_gaps,
}


@pytest.mark.parametrize("case", CASES)
def test_every_digit_is_the_same(case: str) -> None:
    before, now = ModelsResult.from_dict(EARLIER[case]), CASES[case]()
    assert now.models == before.models
    analysis = dataclasses.replace(now.spec.analysis, statistics=before.spec.analysis.statistics)
    assert dataclasses.replace(now.spec, analysis=analysis) == before.spec  # cohesion has two more by now
    for row, earlier in zip(now.groups, before.groups, strict=True):
        assert (row.group, row.n_raters, row.n_annotations) == (
            earlier.group,
            earlier.n_raters,
            earlier.n_annotations,
        )
        for name, side in earlier.models.items():
            assert row.models[name].members_f1 == side.members_f1
            for statistic, outcome in side.statistics.items():
                same(row.models[name].statistics[statistic], outcome)


def same(now, before) -> None:
    """Logarithms of another processor may differ in the last digit; p and q count, and do not."""
    for field in ("value", "null_median"):
        assert getattr(now, field) == pytest.approx(getattr(before, field), rel=1e-14)
    exact = {"value": None, "null_median": None}
    assert dataclasses.replace(now, **exact) == dataclasses.replace(before, **exact)
