"""What a manager asks first: does a group say one label more often? Planted, it is found and told."""

from __future__ import annotations

import pytest

from benchmarks.planted import EFFECTS, NOTHING, Effect, drawn, run_spec
from grasp_core.model.result import GroupResult
from grasp_core.model.text import Sentence
from grasp_core.report.words.label_use import manner
from tests.computing import compute_in_threads

DATA_SETS, WITH_SHIFT, PERMUTATIONS = 100, 40, 199
SHIFT = next(effect for effect in EFFECTS if "15 points" in effect.name)


def inside(effect: Effect, seed: int) -> GroupResult:
    result = compute_in_threads(drawn(effect, seed), run_spec(seed, PERMUTATIONS))
    return next(row for row in result.groups if row.group.values == ("in",))


@pytest.mark.long
def test_a_shift_of_15_points_is_found_and_told_with_label_and_direction() -> None:
    """It is in 86 of 100 data sets; of 40 fewer than 28 would then be found once in 300 times."""
    told = 0
    for seed in range(WITH_SHIFT):
        use = inside(SHIFT, seed).label_use
        words = Sentence.of(*manner(use)).plain
        said = words.startswith("say “label c” ") and " points more often than the others" in words
        told += use.significance == "corrected" and said
    assert told >= 28


@pytest.mark.long
def test_nothing_is_rarely_taken_for_a_shift() -> None:
    """Of 100 data sets without any difference at most 11 are called at .05, but for a chance of .4 %."""
    called = sum(inside(NOTHING, seed).label_use.p < 0.05 for seed in range(DATA_SETS))
    assert called <= 11
