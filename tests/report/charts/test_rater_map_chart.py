"""The map of raters as a chart: whose marks have which look, and who is drawn as others or not at all."""

import dataclasses
from collections import Counter

import pytest

from grasp_core.analysis.rater_map import rater_map
from grasp_core.analysis.rater_map_values import NOTHING, RaterMap
from grasp_core.model.groups import Group
from grasp_core.model.remarks.cautions import NoMap
from grasp_core.report.charts.maps import OTHERS, rater_map_chart
from grasp_core.report.charts.theme import to_svg
from tests.analysis.cases import ALL, task
from tests.report.charts.drawn import datasets, encodings

RACE = ("race",)


@pytest.fixture(scope="module")
def found() -> RaterMap:
    return rater_map(task(1, ALL, unknown=0.1, raters=60))


def drawn(found: RaterMap, *more) -> Counter[str]:
    return Counter(row["group"] for row in datasets(rater_map_chart(found, *more))["raters"])


def test_a_mark_for_every_point_with_its_group(found: RaterMap) -> None:
    marks = drawn(found, RACE)
    told = Counter(point.values[1] or OTHERS for point in found.points)
    assert marks == told
    assert set(marks) == {"Asian", "Black", "White", OTHERS}


def test_groups_differ_in_colour_and_shape_in_either_theme(found: RaterMap) -> None:
    for theme in ("light", "dark"):
        chart = rater_map_chart(found, ("gender", "race"), theme)
        colour, shape = encodings(chart, "color")[0], encodings(chart, "shape")[0]
        names = colour["scale"]["domain"]
        assert names == shape["scale"]["domain"]
        assert len(names) == 7
        for look in (colour, shape):
            assert len(look["scale"]["range"]) == 7
        assert len(set(zip(colour["scale"]["range"], shape["scale"]["range"], strict=True))) == 7


def test_one_group_is_drawn_against_all_others_where_these_are_enough(found: RaterMap) -> None:
    marks = drawn(found, RACE, "light", Group(RACE, ("Black",)))
    assert marks["Black"] == sum(point.values[1] == "Black" for point in found.points)
    assert marks[OTHERS] == len(found.points) - marks["Black"]
    others = drawn(found, RACE)[OTHERS]
    assert drawn(dataclasses.replace(found, least=others), RACE)[OTHERS] == others
    assert drawn(dataclasses.replace(found, least=others + 1), RACE)[OTHERS] == 0


def test_of_many_groups_the_largest_have_a_look_of_their_own() -> None:
    one = task(2, raters=120)
    axes = one.raters.axes
    axis = axes["race"]
    values = tuple(f"country {n:02}" for n in range(12))
    codes = (axis.codes * 4 + axes["gender"].codes * 2 + axes["region"].codes).astype("int32")
    many = rater_map(
        dataclasses.replace(
            one,
            raters=dataclasses.replace(
                one.raters, axes={**axes, "race": dataclasses.replace(axis, values=values, codes=codes)}
            ),
        )
    )
    marks = drawn(many, RACE)
    assert len(marks) == 9
    told = Counter(point.values[1] for point in many.points if point.values[1] is not None)
    smallest_named = min(count for name, count in marks.items() if name != OTHERS)
    assert all(told[name] <= smallest_named for name in told if name not in marks)


def test_it_is_told_in_words_and_can_be_written(found: RaterMap) -> None:
    chart = rater_map_chart(found, RACE)
    said = chart.to_dict()["description"]
    assert f"Map of {len(found.points)} raters by race" in said
    assert "of the variance" in said
    assert "<svg" in to_svg(chart)
    chart = rater_map_chart(dataclasses.replace(NOTHING, reason=NoMap.NO_DISAGREEMENT()), RACE)
    assert chart.to_dict()["description"] == "raters never differ on what they share."
