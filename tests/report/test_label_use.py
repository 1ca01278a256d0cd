import math
from dataclasses import replace

import pytest

from grasp_core.model.outcome import LabelUse, Shift
from grasp_core.model.remarks.remark import said
from grasp_core.model.text import Sentence
from grasp_core.report.tables import label_use_by_group, label_use_numbers, numbers
from grasp_core.report.tidy import LABEL_USE, label_use_lines, lines, tidy
from grasp_core.report.words import label_use
from grasp_core.report.words.printable import printable_result
from tests.results import make_group, make_label_use, make_outcome, make_result, with_label_use

NONE = LabelUse({"No": Shift(None), "Yes": Shift(None)}, reason=said("no shared items"))


def words(use):
    return Sentence.of(*label_use.manner(use)).plain


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.1134, "+11.3"), (-0.004, "−0.4"), (0.0004, "0.0"), (-0.0004, "0.0"), (None, "not estimable")],
)
def test_points(share, text):
    assert label_use.format_points(share) == text


def test_intervals_and_what_is_missing_in_words():
    assert label_use.format_points_interval(Shift(0.1, -0.02, 0.22)) == "[−2.0, +22.0]"
    assert label_use.format_points_interval(Shift(0.1)) == ""
    assert label_use.foremost(NONE) is None
    assert label_use.manner(NONE) == ()
    use = make_label_use({"Yes": 12.0})
    use = replace(use, labels={"Yes": replace(use.labels["Yes"], low=None, high=None)})
    assert words(use).endswith("on the same items")
    use = replace(make_label_use({"Yes": 12.0}), p=0.0123, q=None)
    assert label_use.p_and_q(use, make_result()) == "p = 0.012, q not tested"


@pytest.mark.parametrize(
    ("points", "said"),
    [
        ({"unsafe": 11.3, "safe": -11.3}, "say “unsafe” 11 points more often [3, 19]"),
        ({"safe": -12.6}, "say “safe” 13 points less often [5, 21]"),
        ({"Yes": 1.04}, "say “Yes” 1.0 point more often [−7.0, 9.0]"),
        ({"Yes": 9.96}, "say “Yes” 10 points more often [2, 18]"),
        ({"Yes": 8.0}, "say “Yes” 8.0 points more often [0.0, 16.0]"),
    ],
)
def test_size_and_direction_in_words(points, said):
    assert words(make_label_use(points)).replace(" than the others on the same items", "") == said


def test_which_label_leads():
    use = replace(make_label_use({"No": -12.0, "Yes": 9.0, "Unsure": 3.0}), most="Yes")
    assert label_use.foremost(use)[0] == "Yes"
    assert words(use).startswith("say “Yes” 9.0 points more often")
    assert label_use.foremost(replace(use, most=None))[0] == "No"
    assert words(make_label_use({"No": -12.0, "Yes": 11.0, "Unsure": 1.0})).startswith("say “Yes” 11 points")
    assert words(make_label_use({"No": -12.0, "Yes": 8.0, "Unsure": 4.0})).startswith(
        "say “No” 12 points less"
    )


def test_names_of_labels_stay_inert():
    (_, label, *_) = label_use.manner(make_label_use({"*a*\n<b>": 12.0}))
    assert label.strong
    assert Sentence.of(label).markdown == r"**\*a\* \<b\>**"


@pytest.mark.parametrize(
    ("level", "mean", "said"),
    [
        (
            "interval",
            Shift(-0.4, -0.7, -0.1, p=0.02),
            "0.40 points of the scale lower on average than the others’ on the same items [0.10, 0.70].",
        ),
        (
            "ordinal",
            Shift(-0.04, p=0.3),
            "0.12 steps of the scale lower on average than the others’ on the same items.",
        ),
    ],
)
def test_mean_shift_in_words(level, mean, said):
    use = replace(make_label_use({"1": 12.0, "2": -12.0}), mean=mean)
    assert label_use.mean_words(use, make_result(level=level)) == f"Their labels lie {said}"
    result = make_result((with_label_use(make_group("A"), use),), level=level)
    frame = tidy(result, lines(result)).set_index("statistic")
    assert frame.loc["mean_shift", "unit"] == {"interval": "scale", "ordinal": "ranks"}[level]
    assert label_use.mean_words(replace(use, mean=None), make_result(level=level)) == ""


@pytest.fixture
def result():
    use = make_label_use({"No": 12.0, "Yes": -9.0, "Unsure": -3.0}, "**")
    rows = (
        with_label_use(make_group("White", gai=make_outcome(1.0, "up")), use),
        with_label_use(make_group("Black", gai=make_outcome(1.0, "up")), NONE),
        make_group("Asian", gai=make_outcome(1.0, "up")),
    )
    return make_result(rows)


def test_a_row_for_each_group_and_label(result):
    table = numbers(LABEL_USE, label_use_lines(result))
    assert table[["group", "label"]].to_numpy().tolist() == [
        ["White", "all labels"],
        ["White", "No"],
        ["White", "Yes"],
        ["White", "Unsure"],
        ["Black", "all labels"],
        ["Black", "No"],
        ["Black", "Yes"],
    ]
    assert table["shift"].tolist()[1:4] == [0.12, -0.09, -0.03]
    assert math.isnan(table["shift"][5])
    # The test is of all labels together: no label's own p stands beside its q.
    assert table["stars"].tolist() == ["**"] + [""] * 6
    assert table["p"].notna().tolist() == table["q"].notna().tolist() == [True] + [False] * 6
    with_mean = replace(result.groups[0].label_use, mean=Shift(0.2, p=0.4))
    result = make_result((with_label_use(result.groups[0], with_mean),))
    table = numbers(LABEL_USE, label_use_lines(result))
    assert table.iloc[-1][["label", "shift"]].tolist() == ["mean", 0.2]


def test_a_row_for_each_group(result):
    table = label_use_by_group(result)
    assert list(table.columns) == ["Axis", "Group", "Raters", "No", "Yes", "Unsure", "p", "q"]
    assert table.to_numpy().tolist() == [
        ["gender", "White", 12, "+12.0", "−9.0", "−3.0", "< 0.001", "< 0.001 **"],
        ["gender", "Black", 12, *["not estimable"] * 3, *["not tested"] * 2],
    ]


def test_of_many_labels_the_one_that_differs_most():
    use = make_label_use({**{f"l{k}": -2.0 for k in range(7)}, "l7": 14.0}, "*")
    table = label_use_by_group(make_result((with_label_use(make_group("A"), use),), statistics=("irr",)))
    assert list(table.columns) == ["Axis", "Group", "Raters", "Label", "Points", "95 % interval", "p", "q"]
    assert table.to_numpy().tolist()[0][3:] == ["l7", "+14.0", "[+6.0, +22.0]", "0.021", "0.086 *"]


def test_numbers_in_place_of_texts_sort(result):
    table, points = label_use_numbers(result)
    assert points == ["No", "Yes", "Unsure"]
    assert table[points].to_numpy()[0].tolist() == pytest.approx([12, -9, -3])
    assert table.loc[1, [*points, "p", "q"]].isna().all()
    assert table["Marked"].tolist() == ["after correction", ""]
    many = make_label_use({**{f"l{k}": -2.0 for k in range(7)}, "l7": 14.0}, "*")
    table, points = label_use_numbers(make_result((with_label_use(make_group("A"), many),)))
    assert (points, table["Points"].tolist()) == (["Points"], pytest.approx([14]))
    assert table["Label"].tolist() == ["l7"]


def test_labels_that_would_look_alike_stay_apart():
    use = make_label_use({"a\tb": 12.0, "a b": -12.0})
    shown = printable_result(make_result((with_label_use(make_group("A"), use),)))
    labels = shown.groups[0].label_use.labels
    assert {name: shift.value for name, shift in labels.items()} == {"1: a b": 0.12, "2: a b": -0.12}
    assert shown.groups[0].label_use.most == "1: a b"
    row = with_label_use(make_group("A"), make_label_use({"p": 12.0, "a\nb": -6.0, "a b": -6.0}))
    heads = label_use_by_group(make_result((row,), statistics=("irr",))).columns
    assert list(heads) == ["Axis", "Group", "Raters", "1 “p”", "2 “a b”", "3 “a b”", "p", "q"]
