from dataclasses import replace

import pytest

from grasp_core.model.outcome import LabelUse, Outcome, Shift
from grasp_core.model.remarks.remark import said
from grasp_core.report.charts.forest import label_use_chart
from grasp_core.report.charts.histograms import group_histograms
from tests.report.charts.drawn import datasets, encodings
from tests.results import make_group, make_outcome, make_result, saying, so_far


@pytest.fixture
def row():
    return saying("Woman", -0.112, gai=make_outcome(1.3, "up", "*"), irr=make_outcome(0.2, "up"))


def result_of(row):
    return make_result((row,), statistics=("irr", "gai"), dsi=())


def test_all_statistics_of_a_group_are_in_deviations_from_chance(row):
    chart = group_histograms(result_of(row), row)
    drawn = {one["group"]: one for one in datasets(chart)["rows"]}
    assert list(drawn) == ["Label use: “unsafe”", "GAI", "IRR"]
    assert drawn["GAI"]["x"] == pytest.approx(2.3, abs=0.02)  # as tests.results places one star
    assert drawn["GAI"]["value"] == "1.300 ↑"
    assert drawn["Label use: “unsafe”"]["value"] == "−11.2 ↓"
    assert drawn["Label use: “unsafe”"]["interval"] == "[−17.2, −5.2]"
    assert chart.to_dict()["description"].startswith("Histograms of the statistics of Woman")


def test_what_a_group_has_not_is_told():
    row = make_group("Woman")
    assert "No statistic" in datasets(group_histograms(result_of(row), row))["message"][0]["text"]
    row = replace(make_group("Woman"), label_use=LabelUse({"a": Shift(None)}, reason=said("no shared item")))
    assert "no shared item" in datasets(label_use_chart(result_of(row), row))["message"][0]["text"]


def test_where_nothing_is_tested_by_random_groupings_none_are_drawn():
    row = make_group("Woman", irr=Outcome(0.4, reason=said("other items")))
    assert "tested by random" in datasets(group_histograms(result_of(row), row))["message"][0]["text"]
    begun = so_far(result_of(make_group("Woman", irr=Outcome(0.4))), 0)
    assert "rows" in datasets(group_histograms(begun, begun.groups[0]))


def test_a_provisional_axis_stays_while_values_widen_it_a_little(row):
    result = so_far(result_of(row), 200)
    scale = encodings(group_histograms(result, result.groups[0]), "x")[1]["scale"]["domain"]
    assert all(end == pytest.approx(round(end / 0.25) * 0.25) for end in scale)


def test_label_use_has_a_row_per_label_that_differs_most(row):
    chart = label_use_chart(result_of(row), row)
    unsafe, safe = datasets(chart)["rows"]
    assert (unsafe["group"], unsafe["value"], unsafe["interval"]) == ("unsafe", "−11.2", "[−17.2, −5.2]")
    assert [round(unsafe[end], 9) for end in ("x", "low", "high")] == [-11.2, -17.2, -5.2]
    assert (safe["value"], safe["significance"]) == ("+11.2", "after correction")
    assert chart.to_dict()["title"]["subtitle"][-1] == "All labels together: p = 0.002, q = 0.010."
    assert (
        "unsafe −11.2 [−17.2, −5.2], after correction; safe +11.2 [+5.2, +17.2], after correction."
        in chart.to_dict()["description"]
    )
    shifts = {f"L{n}": Shift((-1) ** n * n / 1000) for n in range(60)}
    row = replace(make_group("Woman"), label_use=LabelUse(shifts, most="L59"))
    drawn = datasets(label_use_chart(result_of(row), row))["rows"]
    assert [one["group"] for one in drawn] == [f"L{n}" for n in range(20, 60)]
