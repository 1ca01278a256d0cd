from dataclasses import replace
from itertools import pairwise

import pytest

from grasp_core.model.outcome import Interval, LabelUse, Outcome, Shift
from grasp_core.model.remarks.remark import said
from grasp_core.report.charts.forest import forest_plot, label_forest_plot
from grasp_core.report.words.label_use import shift_outcome
from tests.report.charts.drawn import datasets
from tests.results import make_group, make_label_use, make_outcome, make_result, so_far, with_label_use


def drawn(chart):
    return datasets(chart)["rows"]


@pytest.fixture
def result():
    known = replace(make_outcome(1.2, "up", "**"), interval=Interval(1.05, 1.35, "both"))
    missing = Outcome(None, reason=said("XRR is 0"))
    use = make_label_use({"No": 12.0, "Yes": -9.0, "?": -3.0}, "**")
    return make_result(
        (
            with_label_use(make_group("A", gai=known), use),
            with_label_use(
                make_group("B", axis="age", gai=missing),
                LabelUse({"No": Shift(None)}, reason=said("no shared items")),
            ),
            make_group("C", axis="age", gai=replace(make_outcome(0.9, "down"), no_interval=said("too few"))),
        ),
        dsi=(),
    )


def test_value_interval_and_the_middle_of_chance(result):
    first, missing, without = drawn(forest_plot(result, "gai"))
    assert (first["x"], first["low"], first["high"]) == (1.2, 1.05, 1.35)
    assert first["chance"] == pytest.approx(result.groups[0].statistics["gai"].null_median)
    assert first["figures"] == "1.200 [1.050, 1.350] **"
    assert first["named"] == "A (12)"
    assert (missing["x"], missing["figures"]) == (None, "not estimable")
    assert missing["verdict"] == "not estimable: XRR is 0"
    assert (without["low"], without["interval"], without["figures"]) == (None, "too few", "0.900")
    text = forest_plot(result, "gai").to_dict()["description"]
    assert text == (
        "GAI with its 95 % interval for 3 groups: A 1.200 [1.050, 1.350], after correction; C 0.900. "
        "Not estimable: B."
    )


def test_the_line_of_no_difference_is_drawn_where_it_has_a_place(result):
    assert datasets(forest_plot(result, "gai"))["nothing"] == [{"x": 1.0}]
    assert "nothing" not in datasets(forest_plot(make_result(), "negentropy"))
    high = make_group("A", gai=replace(make_outcome(9.0, "up"), interval=Interval(8.0, 10.0, "both")))
    assert "nothing" not in datasets(forest_plot(make_result((high,)), "gai"))


def test_axes_are_headed_only_in_their_own_order(result):
    assert [row["text"] for row in datasets(forest_plot(result, "gai"))["headings"]] == ["gender", "age"]
    by_q = forest_plot(result, "gai", order="q")
    assert datasets(by_q)["headings"] == []
    assert [row["group"] for row in drawn(by_q)] == ["A", "C", "B"]


def test_every_row_has_its_own_place(result):
    rows = drawn(forest_plot(result, "gai"))
    assert all(row["top"] < row["text_y"] < row["mark_y"] < row["bottom"] for row in rows)
    assert all(above["bottom"] <= below["top"] for above, below in pairwise(rows))
    assert forest_plot(result, "gai").to_dict()["height"] == rows[-1]["bottom"]


def test_one_label_in_points(result):
    a, b = drawn(label_forest_plot(result, "No"))
    assert (a["group"], a["x"], a["low"], a["high"]) == ("A", 12.0, 4.0, 20.0)
    assert a["figures"] == "+12.0 [+4.0, +20.0] **"
    assert (b["figures"], b["verdict"]) == ("not estimable", "not estimable: no shared items")


def test_a_label_is_marked_only_where_its_group_is():
    use = make_label_use({"No": 12.0, "Yes": -9.0, "?": -3.0}, "**")
    row = with_label_use(make_group(), use)
    marks = [shift_outcome(row.label_use, label).significance for label in use.labels]
    assert marks == ["corrected", "nominal", "none"]
    less = make_label_use({"No": -12.0, "Yes": 11.0, "?": 1.0}, "**")  # sentences speak of what is said more
    assert [shift_outcome(less, label).significance for label in less.labels][:2] == ["corrected"] * 2
    none = replace(row, label_use=replace(use, significance="none"))
    assert [shift_outcome(none.label_use, label).significance for label in use.labels] == ["none"] * 3
    two = with_label_use(make_group(), make_label_use({"No": 12.0, "Yes": -12.0}, "*"))
    assert [shift_outcome(two.label_use, label).significance for label in ("No", "Yes")] == ["nominal"] * 2
    assert shift_outcome(make_group().label_use, "No") == Outcome(None)
    assert shift_outcome(
        with_label_use(make_group(), make_label_use({"No": 1.0})).label_use, "Yes"
    ) == Outcome(None)


def test_groups_of_few_raters_have_no_row(result):
    few = replace(result, groups=(replace(result.groups[0], n_raters=4), *result.groups[1:]))
    assert [row["group"] for row in drawn(label_forest_plot(few, "No"))] == ["B"]
    assert [row["group"] for row in drawn(forest_plot(few, "gai"))] == ["B", "C"]
    assert "fewer than 5 raters: A (4)" in forest_plot(few, "gai").to_dict()["description"]
    assert [row["group"] for row in drawn(forest_plot(few, "gai", of="A by topic"))] == ["A", "B", "C"]


def test_one_wild_interval_does_not_squash_the_rest():
    rows = [
        make_group(str(g), gai=replace(make_outcome(1.0, "up"), interval=Interval(0.9, 1.1, "both")))
        for g in range(9)
    ]
    rows.append(make_group("9", gai=replace(make_outcome(1.0, "up"), interval=Interval(-50, 52, "both"))))
    wild = drawn(forest_plot(make_result(tuple(rows)), "gai"))[-1]
    assert wild["interval"] == "[−50.000, 52.000]"
    assert -5 < wild["low"] < wild["high"] < 7


def test_marks_that_may_change_have_a_question_mark():
    provisional = so_far(make_result((make_group(gai=make_outcome(1.0, "up", "*")),)), 500)
    assert drawn(forest_plot(provisional, "gai"))[0]["figures"].endswith(("*?", "*"))
    begun = so_far(make_result((make_group(gai=make_outcome(1.0, "up", "*")),)), 50)
    assert (drawn(forest_plot(begun, "gai"))[0]["p"], drawn(forest_plot(begun, "gai"))[0]["q"]) == ("…", "")


def test_no_groups_and_unknown_statistics():
    nothing = [{"text": "There is no group to show."}]
    assert datasets(forest_plot(make_result(()), "gai"))["message"] == nothing
    assert datasets(label_forest_plot(make_result(), "No"))["message"] == nothing
    with pytest.raises(ValueError, match="`statistic` must be one of irr"):
        forest_plot(make_result(), "kappa")
