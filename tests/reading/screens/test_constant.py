"""Constant raters: named where a rare label explains fewer of them, and only those it does not explain."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.rare_labels import rare
from grasp_core.analysis.design import screen_cautions
from grasp_core.model.annotations import Annotations, Axis, BoolArray, Raters
from grasp_core.model.groups import Grouping, form_groups
from grasp_core.model.remarks.cautions import Caution, ScreenCaution
from grasp_core.reading.screens.constant import find_constant, too_constant
from grasp_core.reading.screens.duplicates import near_duplicates
from grasp_core.reading.screens.random_responders import random_responders
from grasp_core.reading.screens.screens import screened

SETS = 20


@pytest.mark.parametrize("prevalence", [0.03, 0.1, 0.3])
def test_no_screen_names_anybody_for_a_rare_label(prevalence: float) -> None:
    # At most .05 of data sets have somebody named; of 20, more than 3 would have probability below .02.
    crowds = [rare(seed, prevalence=prevalence) for seed in range(SETS)]
    assert sum(bool(too_constant(one).named.any()) for one in crowds) <= 3
    assert sum(bool(random_responders(one).raters) for one in crowds) <= 3
    assert sum(bool(near_duplicates(one).pairs) for one in crowds) <= 3


def test_a_label_of_3_percent_makes_many_constant_and_leaves_all_in() -> None:
    crowd = rare(3, prevalence=0.03)
    assert find_constant(crowd)[0].sum() > 5
    assert not screened("constant", crowd).any()


def test_six_who_always_say_one_thing_are_found_unless_the_other_label_is_rare() -> None:
    found = [too_constant(rare(seed, prevalence=0.3, constant=6)).named for seed in range(SETS)]
    assert sum(bool(one[:6].all()) for one in found) >= 19
    assert sum(int(one[6:].sum()) for one in found) <= 2
    rarer = [too_constant(rare(seed, prevalence=0.1, constant=6)).named for seed in range(SETS)]
    assert sum(bool(one[:6].all()) for one in rarer) >= 5


def test_who_gave_few_labels_is_not_named_with_who_gave_many() -> None:
    crowd = rare(5, prevalence=0.2, items=200, constant=6)
    few = (crowd.rater == 6) & (crowd.item < 10)
    kept = few | (crowd.rater != 6)
    category = np.where(few, 0, crowd.category)[kept]
    found = too_constant(_of(crowd, category, kept))
    assert found.named[:6].all()
    assert found.looked_at[6]
    assert not found.named[6]


def test_several_labels_count_as_the_most_frequent_against_the_rest() -> None:
    crowd = rare(2, prevalence=0.4, constant=5)
    other = np.random.default_rng(2).integers(1, 4, crowd.category.size)
    three = np.where(crowd.category > 0, other, 0)
    three[crowd.rater == 5] = 2  # one of the rest, always
    found = too_constant(_of(crowd, three, np.ones(three.size, bool), labels=4))
    assert set(np.flatnonzero(found.named)) == {0, 1, 2, 3, 4, 5}


def test_what_a_whole_group_says_is_its_label_use() -> None:
    crowd = rare(4, prevalence=0.3)
    quiet = rare(5, prevalence=0.03)
    group = np.arange(60) < 15
    category = np.where(group[crowd.rater], quiet.category, crowd.category)
    both = _of(crowd, category, np.ones(category.size, bool))
    assert not too_constant(both, group[None]).named.any()
    silent = _of(crowd, np.where(group[crowd.rater], 0, crowd.category), np.ones(category.size, bool))
    assert too_constant(silent).named[group].all()
    assert not too_constant(silent, group[None]).named.any()
    assert not _cautions(silent, group)
    clicking = _of(crowd, np.where(crowd.rater < 6, 0, crowd.category), np.ones(category.size, bool))
    assert set(np.flatnonzero(too_constant(clicking, group[None]).named)) == set(range(6))
    assert _cautions(clicking, group) == [Caution.CONSTANT_RATERS, ScreenCaution.SCREENED_IN_GROUPS]


def _cautions(annotations: Annotations, group: BoolArray) -> list[object]:
    return [one.code for one in screen_cautions(annotations, _grouping(group))]


def _grouping(group: BoolArray) -> Grouping:
    values = ["in" if one else "out" for one in group]
    return form_groups(
        Raters([f"r{j}" for j in range(group.size)], {"side": Axis.from_values(values)}), [("side",)]
    )


def _of(crowd: Annotations, category: np.ndarray, kept: BoolArray, labels: int = 2) -> Annotations:
    return Annotations.from_codes(
        item=crowd.item[kept],
        rater=crowd.rater[kept],
        category=category if category.size == kept.sum() else category[kept],
        item_ids=crowd.item_ids,
        rater_ids=crowd.rater_ids,
        categories=[f"label {k}" for k in range(labels)],
    )
