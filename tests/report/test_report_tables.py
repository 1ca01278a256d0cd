import csv
import io
import math
from dataclasses import replace

import pytest

from grasp_core.model.errors import SpecError
from grasp_core.model.outcome import Interval, LabelUse, Outcome, Shift
from grasp_core.model.remarks.cautions import Caution, GuardCaution
from grasp_core.model.remarks.remark import said
from grasp_core.model.result import DsiResult
from grasp_core.model.text import safe_cell
from grasp_core.report import tables
from grasp_core.report.charts.forest import dsi_chart, forest_plot
from grasp_core.report.charts.histograms import null_histograms
from grasp_core.report.charts.maps import cohesion_map
from grasp_core.report.comparison import compare
from grasp_core.report.contents import marks_legend
from grasp_core.report.document import dsi_in_numbers, statistics_in_numbers
from grasp_core.report.findings.selection import evidence
from grasp_core.report.tidy import CSV_COLUMNS, PAIR_COLUMNS, SLICE_COLUMNS, table_csv
from grasp_core.report.words.names import shown_outcome
from tests.report.charts.drawn import datasets
from tests.results import (
    make_group,
    make_label_use,
    make_outcome,
    make_result,
    with_label_use,
    with_pairs,
    with_slices,
    without_gai,
)


def names(rows):
    return [row.group.label for row in rows]


def test_results_table(three):
    table = tables.results_table(three)
    parts = ["", "_low", "_high", "_interval", "_arrow", "_stars", "_p", "_q", "_form", "_reason"]
    assert list(table.columns) == [
        *("axis", "group", "raters", "annotations"),
        *(f"irr{part}" for part in parts),
        *(f"gai{part}" for part in parts),
    ]
    assert table["group"].tolist() == ["A", "B", "C"]
    assert table["irr"].tolist() == [0.3, 0.2, 0.1]
    assert table["gai_arrow"].tolist() == ["↑", "", "↓"]
    assert table["gai_stars"].tolist() == ["*", "", "**"]
    assert math.isnan(table["gai"][1])
    assert math.isnan(table["gai_q"][1])
    assert table["gai_reason"].tolist() == ["", "no shared items", ""]
    labels = [tables.column_label(column) for column in tables.results_table(three).columns]
    assert labels[:12] == [
        *("Axis", "Group", "Raters", "Annotations"),
        *("IRR", "IRR from", "IRR to", "IRR 95 % interval", "IRR ↑↓", "IRR *", "IRR p", "IRR q"),
    ]
    assert len(set(labels)) == len(labels)
    rows = list(make_result().groups)
    rows[0] = without_gai(rows[0], "XRR is not above 0")
    table = tables.results_table(make_result(tuple(rows)))
    assert table["irr"][0] == 0.166
    assert table["gai_reason"][0] == "XRR is not above 0"


def test_rows_sort_by_the_lead_statistic_whichever_is_shown(three):
    assert names(tables.ordered_groups(three)) == ["A", "B", "C"]
    assert names(tables.ordered_groups(three, "effect")) == ["C", "A", "B"]
    assert names(tables.ordered_groups(three, "q")) == ["C", "A", "B"]
    assert names(tables.ordered_groups(three, "q", by="irr")) == ["B", "C", "A"]
    assert tables.results_table(three, order="q")["group"].tolist() == ["C", "A", "B"]
    with pytest.raises(SpecError, match="axis, effect or q; found 'p'"):
        tables.ordered_groups(three, "p")


def test_wide_table_is_table_5():
    table = tables.wide_table(make_result())
    assert list(table.columns) == [
        *("Axis", "Group", "Raters", "Annotations"),
        *("IRR", "XRR", "Negentropy", "Cross-negentropy", "Plurality size", "Voting agreement", "GAI"),
    ]
    row = table.set_index("Group").loc["White, Man"]
    assert row["Axis"] == "race × gender"
    assert row["GAI"] == "1.262 ↑**"
    assert row["XRR"] == "0.173 ↓"
    assert row["IRR"] == "0.218 ↑*"
    assert tables.cell_text(Outcome(None, reason=said("whatever"))) == "not estimable"


def test_dsi_table_with_what_cannot_be_estimated_last():
    table = tables.numbers(tables.DSI, tables.ordered_dsi(make_result()))
    assert table["axis"].tolist() == ["race × gender", "race", "gender", "age"]
    assert table["dsi"].tolist() == [1.262, 1.139, 1.071, 1.052]
    assert table["group"].tolist() == ["White, Man", "Latine", "Man", "millenial"]
    assert table["stars"].tolist() == ["**", "*", "", ""]
    missing = DsiResult(("zodiac",), None, Outcome(None, reason=said("no group")), None, "none")
    result = make_result()
    table = tables.numbers(tables.DSI, tables.ordered_dsi(replace(result, dsi=(missing, *result.dsi))))
    assert table.iloc[-1]["axis"] == "zodiac"
    assert math.isnan(table.iloc[-1]["dsi"])
    assert table.iloc[-1]["reason"] == "no group"
    empty = make_result(())
    assert tables.results_table(empty).empty
    assert tables.wide_table(empty).empty
    assert tables.numbers(tables.DSI, tables.ordered_dsi(empty)).empty


@pytest.fixture
def near_0():
    """Groups of one axis, of which A has an XRR near 0."""
    gap = replace(make_outcome(0.12, "up", "**"), interval=Interval(0.04, 0.2, "both"))
    rows = (
        make_group("A", gai=make_outcome(17.3, "up", "*"), gap=gap, irr=make_outcome(0.127, "up")),
        make_group("B", gai=make_outcome(0.8, "down"), gap=make_outcome(-0.02, "down")),
    )
    dsi = DsiResult(("gender",), rows[0].group, make_outcome(17.3, "up", "*"), 0.02, "nominal")
    return make_result(rows, dsi=(dsi,), statistics=("irr", "xrr", "gai", "gap"))


def test_a_gai_beyond_5_gives_way_to_the_gap_where_people_read(near_0):
    assert tables.wide_table(near_0)["GAI"].tolist() == ["0.120 ↑** (gap)", "0.800 ↓"]
    of_gai = statistics_in_numbers(near_0, ["gai"])
    assert of_gai["Value"].tolist() == ["0.120 ↑ (gap)", "0.800 ↓"]
    gap = near_0.groups[0].statistics["gap"]
    assert of_gai.loc[0, ["95 % interval", "p"]].tolist() == ["[0.040, 0.200]", "< 0.001"]
    assert dsi_in_numbers(near_0)["DSI"].tolist() == ["0.120 (gap)"]
    assert "(gap): IRR − XRR in the place of a GAI beyond 5" in marks_legend(near_0)
    assert "(gap)" not in marks_legend(replace(near_0, groups=near_0.groups[1:]))
    page = tables.results_table(near_0, of=shown_outcome)
    assert (page["gai"][0], page["gai_q"][0], page["gai_form"][0]) == (0.12, gap.q, " (gap)")
    assert [one.what for one in evidence(near_0.groups[0], "A")] == ["gap", "irr"]
    changed = compare(near_0, near_0).changes
    assert [one.group.label for one in changed if one.statistic == "gai"] == ["B"]


def test_programs_keep_the_ratio_and_so_do_runs_without_a_gap(near_0):
    assert tables.results_table(near_0)["gai"].tolist() == [17.3, 0.8]
    assert tables.numbers(tables.DSI, tables.ordered_dsi(near_0))["dsi"].tolist() == [17.3]
    alone = replace(near_0.groups[0], statistics={"gai": near_0.groups[0].statistics["gai"]})
    assert tables.wide_table(replace(near_0, groups=(alone,)))["GAI"].tolist() == ["17.300 ↑*"]


def test_charts_of_gai_have_no_place_for_a_gap(near_0):
    a, b = datasets(forest_plot(near_0, "gai"))["rows"]
    assert (a["x"], a["value"], a["figures"]) == (None, "0.120 (gap)", "0.120 [0.040, 0.200] ** (gap)")
    assert b["x"] == 0.8
    a, b = datasets(null_histograms(near_0, "gai"))["rows"]
    assert (a["x"], a["value"], b["value"]) == (None, "0.120 ↑ (gap)", "0.800 ↓")
    assert datasets(dsi_chart(near_0))["rows"][0]["value"] == "0.120 (gap)"
    near = replace(near_0.groups[0].statistics["irr"], value=0.007)
    rows = [replace(row, statistics={**row.statistics, "xrr": near, "irr": near}) for row in near_0.groups]
    points = datasets(cohesion_map(replace(near_0, groups=tuple(rows))))
    told = {row["group"]: row["gai"] for rows in points.values() for row in rows if "gai" in row}
    assert told["A"] == "0.120 (gap)"


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
