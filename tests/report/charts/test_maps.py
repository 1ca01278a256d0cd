from collections import Counter
from dataclasses import replace
from itertools import combinations

import pytest

from grasp_core.analysis.rater_map import rater_map
from grasp_core.analysis.rater_map_values import NOTHING, RaterMap
from grasp_core.model.groups import Group
from grasp_core.model.outcome import Outcome
from grasp_core.model.remarks.cautions import NoMap
from grasp_core.report.charts.maps import (
    OTHERS,
    WIDTHS,
    LabelledPoint,
    cohesion_map,
    label_box,
    mark_box,
    place_labels,
    rater_map_chart,
)
from grasp_core.report.charts.theme import spec_of, to_svg
from tests.analysis.cases import ALL, task
from tests.report.charts.drawn import datasets, encodings
from tests.results import make_group, make_outcome, make_result, without_gai


def test_a_point_per_group_at_xrr_and_irr():
    rows = {row["group"]: row for row in datasets(cohesion_map(make_result()))["groups"]}
    assert len(rows) == 20
    row = rows["White, Man"]
    assert (row["x"], row["y"], row["raters"]) == (0.173, 0.218, 12)
    assert (row["gai"], row["p"], row["verdict"]) == ("1.262", "< 0.001", "after correction")
    assert rows["Woman"]["area"] > rows["Multiracial, Woman"]["area"]


def test_axes_follow_the_runs_pair():
    chart = cohesion_map(make_result(gai=("negentropy", "cross_negentropy")))
    row = next(row for row in datasets(chart)["groups"] if row["group"] == "Man")
    assert (row["x"], row["y"]) == (0.394, 0.419)
    titles = {encoding["axis"]["title"] for encoding in encodings(chart, "x") if "axis" in encoding}
    assert titles == {"Cross-negentropy (nats) →"}


def test_groups_that_stand_out_are_labelled_first_and_long_names_are_shortened():
    labels = {row["text"] for row in datasets(cohesion_map(make_result()))["labels"]}
    assert {"White, Man", "Latine, Woman", "Latine", "Asian, Woman", "White, Woman"} <= labels
    assert len(labels) < 20
    name = "Someone whose self-description is long"
    row = make_group(name, irr=Outcome(0.2), xrr=Outcome(0.2), gai=make_outcome(1.0, "up"))
    found = datasets(cohesion_map(make_result((row,))))
    assert found["labels"][0]["text"] == "Someone whose self-descri…"
    assert found["groups"][0]["group"] == name


def test_line_where_gai_is_1_and_the_pair_has_a_common_range():
    ends = datasets(cohesion_map(make_result()))["line"]
    assert [row["x"] for row in ends] == [row["y"] for row in ends]
    row = make_group(irr=Outcome(0.9), xrr=Outcome(0.1), gai=make_outcome(9.0, "up"))
    assert "line" not in datasets(cohesion_map(make_result((row,))))


def test_what_has_no_gai_is_said():
    rows = list(make_result().groups)
    rows[0] = without_gai(rows[0], "XRR is not above 0")
    found = {row["group"]: row for row in datasets(cohesion_map(make_result(tuple(rows))))["groups"]}
    assert found["gen x+"]["verdict"] == "p not tested"
    chart = cohesion_map(make_result(statistics=("irr", "xrr")))
    assert "GAI was not part of this run" in spec_of(chart)["title"]["subtitle"][1]
    rows = [*make_result().groups, make_group("X", irr=Outcome(None), xrr=Outcome(0.1), gai=Outcome(None))]
    chart = cohesion_map(make_result(tuple(rows)))
    assert len(datasets(chart)["groups"]) == 20
    assert "Not estimable, so not shown: 1 group." in spec_of(chart)["title"]["subtitle"][1]
    assert spec_of(chart)["description"].endswith("Not estimable: 1 group.")


def test_groups_of_few_raters_have_no_point():
    given = {"irr": Outcome(0.2), "xrr": Outcome(0.1), "gai": make_outcome(2.0, "up")}
    chart = cohesion_map(make_result((make_group("A", raters=4, **given), make_group("B", **given))))
    assert [row["group"] for row in datasets(chart)["groups"]] == ["B"]
    assert "fewer than 5 raters: A (4)" in spec_of(chart)["description"]


@pytest.mark.parametrize("groups", [(), (make_group(irr=Outcome(None), xrr=Outcome(None)),)])
def test_nothing_to_draw(groups):
    found = datasets(cohesion_map(make_result(groups, statistics=("irr", "xrr"))))
    assert found["message"] == [{"text": "IRR and XRR are not estimable for any group."}]


@pytest.mark.parametrize("count", [2, 10, 60])
def test_labels_never_collide(count):
    points = [
        LabelledPoint(
            x=(37 * n % 100) / 100, y=10 + (53 * n % 400), radius=4 + n % 7, text=f"Group number {n}"
        )
        for n in range(count)
    ]
    placed = place_labels(points, range(count), height=420)
    assert placed
    for width in WIDTHS:
        boxes = {index: label_box(points[index], spot, width) for index, spot in placed.items()}
        for one, other in combinations(boxes.values(), 2):
            assert not one.overlaps(other)
        for index, box in boxes.items():
            assert box.left >= 0
            assert box.right <= width
            assert not any(
                box.overlaps(mark_box(point, width)) for n, point in enumerate(points) if n != index
            )


def test_labels_leave_a_line_free_if_they_can():
    point = LabelledPoint(x=0.5, y=200, radius=5, text="Group")
    (right,) = place_labels([point], [0], height=420).values()
    (other,) = place_labels([point], [0], height=420, avoid=[(0.52, 200.0), (0.54, 200.0)]).values()
    assert right.align == "left"
    assert other != right


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
    assert drawn(replace(found, least=others), RACE)[OTHERS] == others
    assert drawn(replace(found, least=others + 1), RACE)[OTHERS] == 0


def test_of_many_groups_the_largest_have_a_look_of_their_own() -> None:
    one = task(2, raters=120)
    axes = one.raters.axes
    axis = axes["race"]
    values = tuple(f"country {n:02}" for n in range(12))
    codes = (axis.codes * 4 + axes["gender"].codes * 2 + axes["region"].codes).astype("int32")
    many = rater_map(
        replace(
            one, raters=replace(one.raters, axes={**axes, "race": replace(axis, values=values, codes=codes)})
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
    chart = rater_map_chart(replace(NOTHING, reason=NoMap.NO_DISAGREEMENT()), RACE)
    assert spec_of(chart)["description"] == f"{NoMap.NO_DISAGREEMENT()}."
