from dataclasses import replace

from grasp_core.model.outcome import Outcome
from grasp_core.model.remarks.remark import said
from grasp_core.model.result import DsiResult
from grasp_core.report.charts.forest import dsi_chart
from tests.report.charts.drawn import datasets
from tests.results import make_group, make_outcome, make_result, so_far


def test_axes_from_the_largest_dsi():
    rows = datasets(dsi_chart(make_result()))["rows"]
    assert [row["group"] for row in rows] == ["race × gender", "race", "gender", "age"]
    assert [row["x"] for row in rows] == [1.262, 1.139, 1.071, 1.052]
    assert rows[0]["figures"] == "1.262 **"
    assert (rows[2]["p"], rows[2]["q"], rows[2]["verdict"]) == ("0.368", "1.000", "not significant")
    assert (rows[1]["attained"], rows[1]["named"]) == ("Latine", "race: Latine")
    text = dsi_chart(make_result()).to_dict()["description"]
    assert text.startswith(
        "Diversity sensitivity index by axis, largest first: race × gender: White, Man 1.262, after "
        "correction; race: Latine 1.139"
    )


def test_significance_is_the_maximums_own():
    result = make_result()
    top = next(row for row in result.dsi if row.axes == ("race", "gender"))
    weaker = replace(top, outcome=replace(top.outcome, p=0.2, q=0.3, significance="none"))
    rows = datasets(dsi_chart(replace(result, dsi=(weaker,))))["rows"]
    assert rows[0]["significance"] == "not significant"
    assert rows[0]["significance_group"] == "after correction"


def test_axis_that_cannot_be_estimated_keeps_its_row():
    missing = DsiResult(("zodiac",), None, Outcome(None, reason=said("no group has a GAI")), None, "none")
    result = make_result()
    chart = dsi_chart(replace(result, dsi=(missing, *result.dsi)))
    row = datasets(chart)["rows"][-1]
    assert (row["named"], row["verdict"]) == ("zodiac", "not estimable: no group has a GAI")
    assert "Not estimable: zodiac." in chart.to_dict()["description"]
    chart = dsi_chart(replace(make_result(), dsi=(missing,)))
    assert [row["x"] for row in datasets(chart)["rows"]] == [None]


def test_while_a_run_goes_on_the_axis_stays_though_values_widen_it_a_little():
    def axis(high: float) -> object:
        known = make_outcome(1.2, "up")
        null = replace(known.null, low=0.8, high=high)
        row = DsiResult(("race",), None, replace(known, null=null), None, "none")
        layers = dsi_chart(so_far(make_result(dsi=(row,)), 500)).to_dict()["layer"]
        return [layer["encoding"].get("x") for layer in layers]

    assert axis(1.31) == axis(1.32)


def test_what_was_not_tested_or_not_asked_says_so():
    row = make_group(gai=replace(make_outcome(1.2, "up"), p=None, q=None))
    rows = datasets(dsi_chart(make_result((row,), statistics=("gai",))))["rows"]
    assert (rows[0]["p"], rows[0]["q"]) == ("", "")
    chart = dsi_chart(make_result(dsi=()))
    assert datasets(chart)["message"] == [{"text": "This run reports no DSI."}]
