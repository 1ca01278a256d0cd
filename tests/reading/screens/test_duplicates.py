"""Near-duplicates: copies are found, honest raters are left in peace."""

from __future__ import annotations

import numpy as np
import pytest

from grasp_core.model.annotations import Annotations
from grasp_core.reading.screens import duplicates
from grasp_core.reading.screens.duplicates import is_instant, is_quick, near_duplicates

LABELS = ("a", "b", "c")


def simulated(
    seed: int,
    *,
    items: int = 200,
    raters: int = 40,
    missing: float = 0.0,
    copies: int = 0,
    slips: float = 0.1,
    community: int = 0,
) -> Annotations:
    """Raters of differing skill; the last `copies` copy the first but for slips; a community shares views."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(3, size=items, p=[0.6, 0.3, 0.1])
    shares = rng.dirichlet([0.7] * 3, size=items)
    own = (rng.random((items, raters, 1)) > shares.cumsum(axis=1)[:, None, :-1]).sum(axis=2)
    labels = np.where(rng.random((items, raters)) < rng.beta(2, 1, raters), truth[:, None], own)
    if community:
        view = rng.choice(3, size=items)[:, None]
        shared = rng.random((items, community)) < 0.8
        labels[:, :community] = np.where(shared, view, labels[:, :community])
    for copy in range(copies):
        slipped = rng.random(items) < slips
        labels[:, -1 - copy] = np.where(slipped, labels[:, -1 - copy], labels[:, community + copy])
    item, rater = np.nonzero(rng.random((items, raters)) >= missing)
    return Annotations.from_codes(
        item=item,
        rater=rater,
        category=labels[item, rater],
        item_ids=[f"i{i}" for i in range(items)],
        rater_ids=[f"r{j}" for j in range(raters)],
        categories=LABELS,
    )


@pytest.mark.long
@pytest.mark.parametrize(
    "shape",
    [{}, {"missing": 0.5, "items": 300}, {"raters": 10, "items": 100}, {"raters": 80, "items": 60}],
    ids=["plain", "gaps", "few raters", "many raters"],
)
def test_honest_raters_are_seldom_accused(shape):
    # The bound is 5 % of data sets; 60 of them, so that more than 7 would have probability below 0.01.
    accused = sum(bool(near_duplicates(simulated(seed, **shape)).pairs) for seed in range(60))
    assert accused <= 7


def test_a_small_community_with_views_of_its_own_is_not_accused():
    found = [near_duplicates(simulated(seed, community=6)) for seed in range(20)]
    assert sum(bool(each.pairs) for each in found) <= 2


def test_copies_are_found():
    named = 0
    for seed in range(10):
        found = near_duplicates(simulated(seed, copies=2))
        named += len({(0, 39), (1, 38)} & {(pair.first, pair.second) for pair in found.pairs})
    assert named >= 14  # of 20; a copy of a rater who says what everybody says cannot be told


def test_counts_are_those_of_the_labels():
    annotations = simulated(3, items=80, raters=12, missing=0.2, copies=1, slips=0)
    found = near_duplicates(annotations)
    label = np.full((80, 12), -1)
    label[annotations.item, annotations.rater] = annotations.category
    assert found.looked_at == 66  # 12 raters, about 51 common items each
    assert found.pairs
    for pair in found.pairs:
        both = (label[:, pair.first] >= 0) & (label[:, pair.second] >= 0)
        assert pair.common == both.sum()
        assert pair.agreed == (both & (label[:, pair.first] == label[:, pair.second])).sum()
        assert 0 < pair.expected < pair.agreed
    assert found.raters == len({rater for pair in found.pairs for rater in (pair.first, pair.second)})


def test_constant_raters_and_short_overlaps_are_not_looked_at():
    rng = np.random.default_rng(1)
    labels = rng.integers(3, size=(40, 4))
    labels[:, 2:] = 0
    item, rater = np.nonzero(np.ones_like(labels))
    annotations = Annotations.from_codes(
        item=item,
        rater=rater,
        category=labels[item, rater],
        item_ids=[str(i) for i in range(40)],
        rater_ids=list("abcd"),
        categories=LABELS,
    )
    assert near_duplicates(annotations).looked_at == 1
    assert near_duplicates(simulated(1, items=19)).looked_at == 0


def test_raters_whom_nobody_can_be_held_against_change_nothing_about_the_others():
    crowd = simulated(5, copies=2, slips=0)
    alone = 25 * 3  # three more, with 25 items each that nobody else has seen
    annotations = Annotations.from_codes(
        item=np.append(crowd.item, 200 + np.arange(alone)),
        rater=np.append(crowd.rater, np.repeat([40, 41, 42], 25)),
        category=np.append(crowd.category, np.arange(alone) % 3),
        item_ids=[f"i{i}" for i in range(200 + alone)],
        rater_ids=[f"r{j}" for j in range(43)],
        categories=LABELS,
    )
    found, before = near_duplicates(annotations), near_duplicates(crowd)
    assert before.pairs
    assert found.looked_at == before.looked_at
    assert [(pair.first, pair.second) for pair in found.pairs] == [
        (pair.first, pair.second) for pair in before.pairs
    ]


def test_blocks_and_thinning_keep_what_they_see(monkeypatch):
    annotations = simulated(5, copies=2, slips=0)
    whole = near_duplicates(annotations)
    assert whole.pairs
    monkeypatch.setattr(duplicates, "BLOCK_BYTES", 64 * 40 * 3)  # three raters a block
    assert near_duplicates(annotations) == whole
    monkeypatch.setattr(duplicates, "MAX_WORK", 100 * 40**2 * 3)
    thinned = near_duplicates(annotations)
    assert thinned.items_used == 0.5
    assert all(pair.common == 100 for pair in thinned.pairs)


@pytest.mark.parametrize(
    ("items", "raters", "instant", "quick"),
    [(350, 104, True, True), (1000, 220, False, True), (3000, 220, False, False)],
    ids=["36,400 annotations", "220,000", "660,000"],
)
def test_how_long_the_search_takes_is_told_from_the_size(items, raters, instant, quick):
    annotations = simulated(1, items=items, raters=raters)
    assert (is_instant(annotations), is_quick(annotations)) == (instant, quick)
