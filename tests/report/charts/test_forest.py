from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from grasp_core.analysis.models.result import ModelsResult
from grasp_core.benchmark.leaderboard import Entry
from grasp_core.model.outcome import Interval, LabelUse, Outcome, Shift
from grasp_core.model.remarks.remark import said
from grasp_core.model.result import DsiResult
from grasp_core.report.charts.forest import (
    dsi_chart,
    forest_plot,
    label_forest_plot,
    leaderboard_chart,
    models_chart,
)
from grasp_core.report.charts.theme import spec_of, to_svg
from grasp_core.report.models import EVERYBODY
from grasp_core.report.words.label_use import shift_outcome
from tests.analysis.models.cases import ask, model
from tests.permutation.simulated import dataset
from tests.report.charts.drawn import COLOURS, datasets, encodings
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
    text = spec_of(forest_plot(result, "gai"))["description"]
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
    assert spec_of(forest_plot(result, "gai"))["height"] == rows[-1]["bottom"]


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
    assert "fewer than 5 raters: A (4)" in spec_of(forest_plot(few, "gai"))["description"]
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


def test_axes_from_the_largest_dsi():
    rows = drawn(dsi_chart(make_result()))
    assert [row["group"] for row in rows] == ["race × gender", "race", "gender", "age"]
    assert [row["x"] for row in rows] == [1.262, 1.139, 1.071, 1.052]
    assert rows[0]["figures"] == "1.262 **"
    assert (rows[2]["p"], rows[2]["q"], rows[2]["verdict"]) == ("0.368", "1.000", "not significant")
    assert (rows[1]["attained"], rows[1]["named"]) == ("Latine", "race: Latine")
    text = spec_of(dsi_chart(make_result()))["description"]
    assert text.startswith(
        "Diversity sensitivity index by axis, largest first: race × gender: White, Man 1.262, after "
        "correction; race: Latine 1.139"
    )


def test_significance_is_the_maximums_own():
    result = make_result()
    top = next(row for row in result.dsi if row.axes == ("race", "gender"))
    weaker = replace(top, outcome=replace(top.outcome, p=0.2, q=0.3, significance="none"))
    rows = drawn(dsi_chart(replace(result, dsi=(weaker,))))
    assert rows[0]["significance"] == "not significant"
    assert rows[0]["significance_group"] == "after correction"


def test_axis_that_cannot_be_estimated_keeps_its_row():
    missing = DsiResult(("zodiac",), None, Outcome(None, reason=said("no group has a GAI")), None, "none")
    result = make_result()
    chart = dsi_chart(replace(result, dsi=(missing, *result.dsi)))
    row = drawn(chart)[-1]
    assert (row["named"], row["verdict"]) == ("zodiac", "not estimable: no group has a GAI")
    assert "Not estimable: zodiac." in spec_of(chart)["description"]
    chart = dsi_chart(replace(make_result(), dsi=(missing,)))
    assert [row["x"] for row in drawn(chart)] == [None]


def test_while_a_run_goes_on_the_axis_stays_though_values_widen_it_a_little():
    def axis(high: float) -> object:
        known = make_outcome(1.2, "up")
        null = replace(known.null, low=0.8, high=high)
        row = DsiResult(("race",), None, replace(known, null=null), None, "none")
        layers = spec_of(dsi_chart(so_far(make_result(dsi=(row,)), 500)))["layer"]
        return [layer["encoding"].get("x") for layer in layers]

    assert axis(1.31) == axis(1.32)


def test_what_was_not_tested_or_not_asked_says_so():
    row = make_group(gai=replace(make_outcome(1.2, "up"), p=None, q=None))
    rows = drawn(dsi_chart(make_result((row,), statistics=("gai",))))
    assert (rows[0]["p"], rows[0]["q"]) == ("", "")
    chart = dsi_chart(make_result(dsi=()))
    assert datasets(chart)["message"] == [{"text": "This run reports no DSI."}]


OURS = Entry("ours", {"one": 0.8}, 0.8, ci95={"one": (0.7, 0.9)}, id="1")
THEIRS = Entry("theirs", {"one": 0.6}, 0.6, source="a paper")


def test_ticks_are_as_fine_as_their_labels() -> None:
    """With one digit after the point, ticks at 0.05 would read 0.1, 0.1, 0.2, 0.2."""
    axes = [x["axis"] for x in encodings(leaderboard_chart([OURS, THEIRS]), "x") if "axis" in x]
    assert axes
    assert all((axis["format"], axis["tickMinStep"]) == (".1f", 0.1) for axis in axes)


def test_rows_are_best_first() -> None:
    rows = drawn(leaderboard_chart([THEIRS, OURS], "one"))
    assert [(row["named"], row["figures"], row["low"]) for row in rows] == [
        ("ours (scored here)", "0.800 [0.700, 0.900]", 0.7),
        ("theirs (published)", "0.600", None),
    ]


@pytest.mark.parametrize(("column", "promised"), [("one", True), ("overall", False)])
def test_intervals_are_promised_where_there_are_some(column, promised) -> None:
    subtitle = leaderboard_chart([OURS, THEIRS], column).to_dict()["title"]["subtitle"]
    assert ("interval" in subtitle) is promised


@pytest.fixture(scope="module")
def of_models() -> ModelsResult:
    labels = np.random.default_rng(2).integers(0, 3, (2, 30))
    return ask(dataset(3, items=30, raters=30), [model("one", labels[0]), model("two", labels[1])])


def with_outcome(result: ModelsResult, outcome: Outcome) -> ModelsResult:
    """The first group's macro-F1 of model "one" replaced."""
    first = result.groups[0]
    side = first.models["one"]
    side = replace(side, statistics={**side.statistics, "macro_f1": outcome})
    changed = replace(first, models={**first.models, "one": side})
    return replace(result, groups=(changed, *result.groups[1:]))


def test_a_row_per_group_and_model_and_everybody_first(of_models: ModelsResult) -> None:
    found = datasets(models_chart(of_models))
    rows = found["rows"]
    assert len(rows) == 6 * 2
    assert [row["of"] for row in rows[:4]] == [EVERYBODY, EVERYBODY, "Man", "Man"]
    assert [row["group"] for row in rows[:2]] == ["one", "two"]
    assert [row["text"].partition(" (")[0] for row in found["headings"]][:2] == [EVERYBODY, "Man"]
    assert rows[0]["x"] == of_models.models[0].overall_f1
    assert rows[2]["x"] == of_models.groups[0].models["one"].statistics["macro_f1"].value
    assert rows[2]["members"] == of_models.groups[0].models["one"].members_f1
    heights = [row["bottom"] for row in rows]
    assert heights == sorted(set(heights))
    assert heights[-1] == models_chart(of_models).to_dict()["height"]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_significance_is_colour_shape_and_words(of_models: ModelsResult, theme) -> None:
    found = Outcome(0.9, 0.5, "up", 0.002, 0.004, "corrected", null_n=499)
    chart = models_chart(with_outcome(of_models, found), theme)
    assert encodings(chart, "color")[0]["scale"]["range"] == COLOURS[theme]
    assert encodings(chart, "shape")[0]["scale"]["range"] == ["diamond", "triangle-up", "circle"]
    row = drawn(chart)[2]
    assert (row["figures"], row["q"]) == ("0.900 **", "0.004")
    assert "Man: one 0.900, after correction" in spec_of(chart)["description"]


def test_it_can_be_drawn_and_says_where_nothing_is(of_models: ModelsResult) -> None:
    svg = to_svg(models_chart(of_models))
    assert "Whose judgements" in svg
    assert "All raters together" in svg
    nothing = datasets(models_chart(replace(of_models, groups=())))
    assert nothing["message"] == [{"text": "There is no group or no model to show."}]
    row = drawn(models_chart(with_outcome(of_models, Outcome(None, reason="no item"))))[2]
    assert row["x"] is None
    assert row["verdict"] == "not estimable: no item"
