"""The leaderboard's chart."""

import pytest

from grasp_core.benchmark.leaderboard import Entry
from grasp_core.report.charts.forest import leaderboard_chart
from tests.report.charts.drawn import datasets, encodings

OURS = Entry("ours", {"one": 0.8}, 0.8, ci95={"one": (0.7, 0.9)}, id="1")
THEIRS = Entry("theirs", {"one": 0.6}, 0.6, source="a paper")


def test_ticks_are_as_fine_as_their_labels() -> None:
    """With one digit after the point, ticks at 0.05 would read 0.1, 0.1, 0.2, 0.2."""
    axes = [x["axis"] for x in encodings(leaderboard_chart([OURS, THEIRS]), "x") if "axis" in x]
    assert axes
    assert all((axis["format"], axis["tickMinStep"]) == (".1f", 0.1) for axis in axes)


def test_rows_are_best_first() -> None:
    rows = datasets(leaderboard_chart([THEIRS, OURS], "one"))["rows"]
    assert [(row["named"], row["figures"], row["low"]) for row in rows] == [
        ("ours (scored here)", "0.800 [0.700, 0.900]", 0.7),
        ("theirs (published)", "0.600", None),
    ]


@pytest.mark.parametrize(("column", "promised"), [("one", True), ("overall", False)])
def test_intervals_are_promised_where_there_are_some(column, promised) -> None:
    subtitle = leaderboard_chart([OURS, THEIRS], column).to_dict()["title"]["subtitle"]
    assert ("interval" in subtitle) is promised
