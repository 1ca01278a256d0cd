import csv
import io
from dataclasses import replace

import pytest

from grasp_core.model.outcome import LabelUse, Shift
from grasp_core.model.remarks.cautions import Caution, GuardCaution
from grasp_core.model.remarks.remark import said
from grasp_core.model.text import safe_cell
from grasp_core.report.tidy import CSV_COLUMNS, PAIR_COLUMNS, SLICE_COLUMNS, table_csv
from tests.results import (
    make_group,
    make_label_use,
    make_outcome,
    make_result,
    with_label_use,
    with_pairs,
    with_slices,
)


def named(*columns):
    return tuple(one.name for one in columns)


def read(result):
    return list(csv.DictReader(io.StringIO(table_csv(result), newline="")))


def test_csv_has_every_number_at_full_precision(three):
    rows = read(three)
    assert tuple(rows[0]) == named(*CSV_COLUMNS)
    assert len(rows) == 3 * 2 + 1
    outcome = three.groups[2].statistics["gai"]
    row = rows[5]
    assert (row["axis"], row["group"], row["statistic"]) == ("gender", "C", "gai")
    assert float(row["value"]) == outcome.value
    assert float(row["p"]) == outcome.p
    assert float(row["q"]) == outcome.q
    assert float(row["null_median"]) == outcome.null_median
    assert (row["direction"], row["significance"], row["reason"]) == ("down", "corrected", "")


def test_text_that_a_spreadsheet_would_run_is_neutralised_and_other_text_left_alone():
    group = make_group("@SUM(A1)", axis="=1+1", irr=make_outcome(-0.25, "down"))
    row = read(make_result((group,), statistics=("irr",)))[0]
    assert (row["axis"], row["group"], row["value"]) == ("'=1+1", "'@SUM(A1)", "-0.25")
    for text in ("gen x+", "(18,30)", ""):
        assert safe_cell(text) == text


def test_no_group_is_the_header_alone_and_what_cannot_be_estimated_empty(three):
    assert table_csv(make_result(())) == ",".join(named(*CSV_COLUMNS)) + "\r\n"
    row = read(three)[3]
    assert (row["group"], row["value"], row["p"], row["q"]) == ("B", "", "", "")
    assert (row["significance"], row["reason"]) == ("none", "no shared items")
    use = LabelUse({"No": Shift(None), "Yes": Shift(None)}, reason=said("no shared items"))
    rows = read(make_result((with_label_use(make_group("A"), use),)))
    (test, no, _) = [row for row in rows if row["statistic"] == "label_use"]
    assert (test["p"], test["reason"], no["value"]) == ("", "no shared items", "")


@pytest.mark.parametrize("sign", [*"=+-@\t\r\n", *"\uff1d\uff0b\uff0d\uff20"])
def test_what_a_spreadsheet_would_run_is_text(sign: str) -> None:
    """At a line's beginning, and behind a semicolon, where spreadsheets of many countries begin a cell."""
    assert safe_cell(f"{sign}1+1") == f"'{sign}1+1"
    assert safe_cell(f"yes;{sign}1+1;no;{sign}2") == f"yes;'{sign}1+1;no;'{sign}2"
    assert safe_cell(f"a {sign} b; c") == f"a {sign} b; c"


def test_label_use_follows_the_statistics_of_its_group():
    use = make_label_use({"No": 12.0, "=Yes": -12.0}, "**")
    use = replace(use, mean=Shift(0.2, 0.1, 0.3, p=0.04))
    groups = (with_label_use(make_group("A", irr=make_outcome(0.3, "up")), use), make_group("B"))
    rows = read(make_result(groups, statistics=("irr",)))
    assert [(row["group"], row["statistic"], row["label"]) for row in rows] == [
        ("A", "irr", ""),
        ("A", "label_use", ""),
        ("A", "label_use", "No"),
        ("A", "label_use", "'=Yes"),
        ("A", "mean_shift", ""),
        ("B", "irr", ""),
    ]
    test, no, yes, mean = rows[1:5]
    assert (float(test["p"]), float(test["q"]), test["significance"]) == (use.p, use.q, "corrected")
    assert test["value"] == no["q"] == no["significance"] == ""
    shift = use.labels["No"]
    assert [float(no[name]) for name in ("value", "low", "high")] == [0.12, shift.low, shift.high]
    assert float(yes["value"]) == -0.12
    assert [float(mean[name]) for name in ("value", "low", "high")] == [0.2, 0.1, 0.3]
    assert no["p"] == mean["p"] == ""  # they are tested together


def test_pairs_follow_the_groups_and_name_both():
    rows = read(with_pairs())
    assert tuple(rows[0]) == named(*CSV_COLUMNS, *PAIR_COLUMNS)
    groups, pairs = rows[: -3 * 8], rows[-3 * 8 :]
    assert {row["other_group"] for row in groups} == {row["n_raters_other"] for row in groups} == {""}
    assert [(row["group"], row["other_group"]) for row in pairs[::8]] == [
        ("Asian", "Black"),
        ("Asian", "White"),
        ("Black", "White"),
    ]
    last = pairs[-8:]
    assert {(row["n_raters"], row["n_raters_other"], row["n_annotations"]) for row in last} == {
        ("9", "10", "")
    }
    assert [row["statistic"] for row in last[:5]] == ["xrr", "gap_a", "gap_b", "irr_difference", "label_use"]
    assert [float(row["value"]) for row in last[:4]] == [0.05, 0.02, -0.01, -0.1]
    assert [(row["label"], float(row["value"])) for row in last[5:]] == [
        ("No", pytest.approx(-0.136)),
        ("Yes", pytest.approx(0.142)),
        ("Unsure", pytest.approx(-0.006)),
    ]


def test_slices_follow_all_items_and_name_column_and_value():
    rows = read(with_slices())
    assert tuple(rows[0]) == named(*CSV_COLUMNS, *SLICE_COLUMNS)
    assert [(row["slice"], row["slice_value"]) for row in rows[::4]] == [
        ("", ""),
        ("topic", "news"),
        ("topic", "sport"),
    ]
    assert [(row["statistic"], row["label"]) for row in rows[:4]] * 3 == [
        (row["statistic"], row["label"]) for row in rows
    ]
    assert [float(row["value"]) for row in rows[::4]] == [0.1, 0.4, 0.1]


def test_pairs_and_slices_have_columns_side_by_side():
    both = replace(with_slices(), pairs=with_pairs().pairs)
    rows = read(both)
    assert tuple(rows[0]) == named(*CSV_COLUMNS, *PAIR_COLUMNS, *SLICE_COLUMNS)
    assert len(rows) == len(read(with_slices())) + 3 * 8
    assert not [row for row in rows if row["other_group"] and row["slice"]]


def test_rows_have_the_codes_of_the_warnings_that_concern_them():
    warnings = (Caution.TOO_FEW_FOR_P(), GuardCaution.OWN_WORKLOAD(axis="race", group="Black", times=1.5))
    rows = read(replace(with_pairs(), warnings=warnings))
    assert {row["caution"] for row in rows if row["axis"] == "race"} == {"own-workload too-few-for-p"}
    assert {row["caution"] for row in rows if row["axis"] != "race"} == {"too-few-for-p"}
    assert {row["caution"] for row in read(with_pairs())} == {""}
    together = GuardCaution.AXES_TOGETHER(first="race", second="age", v=0.4, p="p = 0.001")
    rows = read(replace(with_pairs(), warnings=(together, Caution.TOO_MANY_PAIRS(groups=90, most=64))))
    assert {row["caution"] for row in rows if row["axis"] == "race"} == {"axes-together"}
    assert {row["caution"] for row in rows if not {"race", "age"} & {*row["axis"].split(" x ")}} <= {""}


def test_dsi_has_a_row_for_each_axis():
    rows = [row for row in read(make_result()) if row["statistic"] == "dsi"]
    (race,) = [row for row in rows if row["axis"] == "race"]
    assert len(rows) == 4
    assert (race["group"], race["n_raters"], float(race["value"])) == ("Latine", "22", 1.139)
    assert (race["significance"], race["direction"]) == ("nominal", "up")
