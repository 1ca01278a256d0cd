import math
from dataclasses import replace

import pytest

from grasp_core.model.errors import SpecError
from grasp_core.model.outcome import Outcome
from grasp_core.model.remarks.remark import said
from grasp_core.model.result import DsiResult
from grasp_core.report.tables import (
    cell_text,
    column_label,
    dsi_table,
    ordered_groups,
    results_table,
    wide_table,
)
from tests.results import make_result, without_gai


def names(rows):
    return [row.group.label for row in rows]


def test_results_table(three):
    table = results_table(three)
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
    labels = [column_label(column) for column in results_table(three).columns]
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
    table = results_table(make_result(tuple(rows)))
    assert table["irr"][0] == 0.166
    assert table["gai_reason"][0] == "XRR is not above 0"


def test_rows_sort_by_the_lead_statistic_whichever_is_shown(three):
    assert names(ordered_groups(three)) == ["A", "B", "C"]
    assert names(ordered_groups(three, "effect")) == ["C", "A", "B"]
    assert names(ordered_groups(three, "q")) == ["C", "A", "B"]
    assert names(ordered_groups(three, "q", by="irr")) == ["B", "C", "A"]
    assert results_table(three, order="q")["group"].tolist() == ["C", "A", "B"]
    with pytest.raises(SpecError, match="axis, effect or q; found 'p'"):
        ordered_groups(three, "p")


def test_wide_table_is_table_5():
    table = wide_table(make_result())
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
    assert cell_text(Outcome(None, reason=said("whatever"))) == "not estimable"


def test_dsi_table_with_what_cannot_be_estimated_last():
    table = dsi_table(make_result())
    assert table["axis"].tolist() == ["race × gender", "race", "gender", "age"]
    assert table["dsi"].tolist() == [1.262, 1.139, 1.071, 1.052]
    assert table["group"].tolist() == ["White, Man", "Latine", "Man", "millenial"]
    assert table["stars"].tolist() == ["**", "*", "", ""]
    missing = DsiResult(("zodiac",), None, Outcome(None, reason=said("no group")), None, "none")
    result = make_result()
    table = dsi_table(replace(result, dsi=(missing, *result.dsi)))
    assert table.iloc[-1]["axis"] == "zodiac"
    assert math.isnan(table.iloc[-1]["dsi"])
    assert table.iloc[-1]["reason"] == "no group"
    empty = make_result(())
    assert results_table(empty).empty
    assert wide_table(empty).empty
    assert dsi_table(empty).empty
