import math
from dataclasses import replace

import pytest

from grasp_core.model.errors import SpecError
from grasp_core.model.outcome import Interval, Outcome
from grasp_core.model.remarks.remark import said
from grasp_core.model.result import DsiResult
from grasp_core.report import tables
from grasp_core.report.charts.forest import dsi_chart, forest_plot
from grasp_core.report.charts.histograms import null_histograms
from grasp_core.report.charts.maps import cohesion_map
from grasp_core.report.comparison import compare
from grasp_core.report.contents import marks_legend
from grasp_core.report.document import dsi_in_numbers, statistics_in_numbers
from grasp_core.report.findings.selection import evidence
from grasp_core.report.words.names import shown_outcome
from tests.report.charts.drawn import datasets
from tests.results import make_group, make_outcome, make_result, without_gai


def names(rows):
    return [row.group.label for row in rows]


def test_results_table(three):
    table = tables.results_table(three)
    parts = ["", "_low", "_high", "_interval", "_arrow", "_stars", "_p", "_q", "_form", "_reason"]
    assert list(table.columns) == [
        "axis",
        "group",
        "raters",
        "annotations",
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
        "Axis",
        "Group",
        "Raters",
        "Annotations",
        "IRR",
        "IRR from",
        "IRR to",
        "IRR 95 % interval",
        "IRR ↑↓",
        "IRR *",
        "IRR p",
        "IRR q",
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
        "Axis",
        "Group",
        "Raters",
        "Annotations",
        "IRR",
        "XRR",
        "Negentropy",
        "Cross-negentropy",
        "Plurality size",
        "Voting agreement",
        "GAI",
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
