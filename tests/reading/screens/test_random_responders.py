"""Random responders: raters at chance are found, who has a view of their own is left in peace."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.clickers import crowd
from grasp_core.model.annotations import Annotations
from grasp_core.reading.screens.random_responders import is_quick_search, random_responders


def named(annotations: Annotations) -> set[int]:
    return set(np.flatnonzero(random_responders(annotations).random))


@pytest.mark.parametrize(
    "shape",
    [{}, {"raters": 10, "items": 200}, {"categories": 2}, {"categories": 7}, {"items": 600, "each": 50}],
    ids=["crossed", "few raters", "two labels", "seven labels", "sparse"],
)
def test_honest_raters_are_seldom_named(shape):
    # The bound is 5 % of data sets; of 20, more than 3 would have probability below 0.02.
    assert sum(bool(named(crowd(seed, **shape))) for seed in range(20)) <= 3


def test_random_responders_are_found():
    found = [named(crowd(seed, items=200, clickers=4)) for seed in range(10)]
    assert sum(len(each & {0, 1, 2, 3}) for each in found) >= 34  # of 40
    found = [named(crowd(seed, raters=10, items=200, clickers=4, sharp=2.0)) for seed in range(10)]
    assert sum(len(each & {0, 1, 2, 3}) for each in found) >= 32


def test_nobody_is_named_where_everybody_agrees_little():
    for seed in range(5):
        found = random_responders(crowd(seed, items=200, clickers=4, sharp=0.3))
        assert found.agreement is not None
        assert found.agreement < 0.1
        assert not found.random.any()


@pytest.mark.parametrize("turned", [1.0, 0.5], ids=["inverted", "half of the items"])
def test_a_minority_with_a_view_of_its_own_is_not_named(turned):
    crowds = [crowd(seed, items=200, categories=2, minority=6, turned=turned) for seed in range(8)]
    assert sum(len(named(one) & set(range(6))) for one in crowds) <= 2  # of 48


def test_short_overlaps_constant_raters_and_tiny_crowds_are_not_looked_at():
    assert random_responders(crowd(1, items=19)).agreement is None
    assert random_responders(crowd(1, raters=4)).agreement is None
    annotations = crowd(1, items=100, clickers=1)
    constant = annotations.category.copy()
    constant[annotations.rater == 0] = 0
    found = random_responders(
        Annotations.from_codes(
            item=annotations.item,
            rater=annotations.rater,
            category=constant,
            item_ids=annotations.item_ids,
            rater_ids=annotations.rater_ids,
            categories=annotations.categories,
        )
    )
    assert found.looked_at.sum() == 59
    assert not found.looked_at[0]


def test_how_long_the_search_takes_is_told_from_the_size():
    assert is_quick_search(crowd(1, items=1000))
    assert not is_quick_search(crowd(1, items=3000))
