"""Annotations, axes, groups and their complements."""

import subprocess
import sys
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grasp_core.model.annotations import Annotations, Axis, Raters
from grasp_core.model.groups import Group, count_groups, form_groups, spoken
from tests.strategies import rated


def codes(**changes):
    fields = {
        "item": [1, 0, 1],
        "rater": [0, 1, 1],
        "category": [0, 1, 1],
        "item_ids": ["a", "b"],
        "rater_ids": ["x", "y"],
        "categories": ["No", "Yes"],
    }
    return Annotations.from_codes(**{**fields, **changes})


def test_annotations_are_sorted_by_item_and_read_only() -> None:
    annotations = codes()
    assert annotations.indptr.tolist() == [0, 1, 3]
    assert annotations.rater.tolist() == [1, 0, 1]
    assert annotations.category.tolist() == [1, 0, 1]
    assert annotations.item.tolist() == [0, 1, 1]
    shape = annotations.n_items, annotations.n_raters, annotations.n_categories, annotations.n_annotations
    assert shape == (2, 2, 2, 3)
    with pytest.raises(ValueError, match="read-only"):
        annotations.category[0] = 0


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"item": [0, 0, 2]}, "item"),
        ({"rater": [0, -1, 1]}, "rater"),
        ({"category": [0, 1, 2]}, "category"),
        ({"category": [0, 1]}, "category"),
    ],
)
def test_codes_outside_their_lists_are_refused(changes, name: str) -> None:
    with pytest.raises(ValueError, match=name):
        codes(**changes)


def test_no_annotations_at_all() -> None:
    annotations = codes(item=[], rater=[], category=[])
    assert annotations.n_annotations == 0
    assert annotations.indptr.tolist() == [0, 0, 0]


def test_axis_values_are_in_display_order() -> None:
    axis = Axis.from_values(["b", "10", None, "9", "A", "nan"])
    assert axis.values == ("9", "10", "A", "b", "nan")
    assert axis.codes.tolist() == [3, 1, -1, 0, 2, 4]


def test_order_of_look_alike_values_does_not_depend_on_the_hash_seed() -> None:
    values = ["man", "Man", "MAN", "1", "1.0"]
    script = f"from grasp_core.model.annotations import Axis; print(Axis.from_values({values}).values)"
    said = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert said == {"('1', '1.0', 'MAN', 'Man', 'man')\n"}


PEOPLE = Raters(
    tuple("abcdef"),
    {
        "gender": Axis.from_values(["W", "M", "W", "M", None, "W"]),
        "race": Axis.from_values(["A", "A", "B", None, "B", "A"]),
    },
)


def test_groups_and_complements_by_hand() -> None:
    grouping = form_groups(PEOPLE, [("gender",), ("race",), ("race", "gender")])
    members = {
        group.label: ("".join(np.array(PEOPLE.rater_ids)[grouping.member[g]]), "".join(
            np.array(PEOPLE.rater_ids)[grouping.complement(g)]
        ))
        for g, group in enumerate(grouping.groups)
    }  # fmt: skip
    assert members == {
        "M": ("bd", "acf"),
        "W": ("acf", "bd"),
        "A": ("abf", "ce"),
        "B": ("ce", "abf"),
        "A, M": ("b", "acf"),  # d's race and e's gender are unknown: in neither
        "A, W": ("af", "bc"),
        "B, W": ("c", "abf"),  # nobody is B, M
    }
    assert grouping.groups[-1] == Group(("race", "gender"), ("B", "W"))
    assert grouping.n_raters.tolist() == [2, 3, 3, 2, 1, 2, 1]


def test_small_groups_are_left_out_but_stay_in_complements() -> None:
    grouping = form_groups(PEOPLE, [("gender",)], min_raters=3)
    assert [group.label for group in grouping.groups] == ["W"]
    assert grouping.complement(0).sum() == 2
    assert grouping.too_small == 1
    assert form_groups(PEOPLE, [("race", "gender")], min_raters=9).too_small == 3  # nobody is B, M
    assert form_groups(PEOPLE, [("race", "gender")]).too_small == 0


def test_two_axes_of_as_many_values_as_raters_take_no_more_steps_than_raters() -> None:
    """Of all values together there are 400,000,000."""
    many = 20_000
    codes = np.arange(many, dtype=np.int32)
    values = tuple(map(str, range(many)))
    raters = Raters(tuple(values), {name: Axis(values, codes) for name in ("a", "b")})
    assert count_groups(raters, [("a", "b")]) == many
    assert form_groups(raters, [("a", "b")], min_raters=2).too_small == many


def test_an_unknown_axis_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        form_groups(PEOPLE, [("age",)])


@given(data=rated(), min_raters=st.integers(1, 4))
def test_groups_are_those_of_all_values_together_in_their_order(data, min_raters) -> None:
    _, raters = data
    sets = [("gender",), ("race",), ("race", "gender")]
    grouping = form_groups(raters, sets, min_raters=min_raters)
    sizes = {}
    for axes in sets:
        columns = [raters.axes[name] for name in axes]
        for codes in product(*(range(len(axis.values)) for axis in columns)):
            rows = [axis.codes == code for axis, code in zip(columns, codes, strict=True)]
            values = tuple(axis.values[code] for axis, code in zip(columns, codes, strict=True))
            sizes[Group(axes, values)] = np.logical_and.reduce(rows)
    large = {group: member for group, member in sizes.items() if member.sum() >= min_raters}
    assert grouping.groups == tuple(large)
    assert grouping.member.tolist() == [member.tolist() for member in large.values()]
    assert grouping.too_small == sum(0 < member.sum() < min_raters for member in sizes.values())
    assert count_groups(raters, sets, min_raters=min_raters) == len(large)


@given(data=rated())
def test_group_complement_and_unknown_partition_the_raters(data) -> None:
    _, raters = data
    grouping = form_groups(raters, [("gender",), ("race",), ("gender", "race")])
    for g, group in enumerate(grouping.groups):
        known = np.logical_and.reduce([raters.axes[name].codes >= 0 for name in group.axes])
        assert not (grouping.member[g] & grouping.complement(g)).any()
        assert ((grouping.member[g] | grouping.complement(g)) == known).all()


def test_values_that_say_nothing_alone_are_spoken_with_their_axis():
    assert spoken(Group(("race", "gender"), ("Black", "Woman"))) == "Black Woman"
    assert spoken(Group(("rater_college_plus", "race"), ("1", "Black"))) == "college plus 1 Black"
    assert spoken(Group(("student",), ("Yes",))) == "student Yes"
    assert spoken(Group(("age",), ("25-34",))) == "25-34"
