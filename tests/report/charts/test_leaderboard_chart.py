"""The leaderboard's chart."""

import pytest

from grasp_core.benchmark.leaderboard import Entry
from grasp_core.report.charts.bars import HERE, PUBLISHED, leaderboard_chart
from tests.report.charts.drawn import datasets, encodings

OURS = Entry("ours", {"one": 0.8}, 0.8, ci95={"one": (0.7, 0.9)}, id="1")
THEIRS = Entry("theirs", {"one": 0.6}, 0.6, source="a paper")


def points(chart):
    """Of each layer of points, whether it draws systems scored here or published ones."""
    layers = [layer for layer in chart.to_dict()["layer"] if layer["mark"]["type"] == "point"]
    return [HERE if layer["mark"]["filled"] else PUBLISHED for layer in layers]


@pytest.mark.parametrize(
    ("entries", "expected"), [([OURS, THEIRS], [HERE, PUBLISHED]), ([THEIRS], [PUBLISHED]), ([OURS], [HERE])]
)
def test_no_layer_is_empty(entries, expected) -> None:
    """A group of marks without marks is an image without a name (axe: svg-img-alt)."""
    assert points(leaderboard_chart(entries)) == expected


def test_ticks_are_as_fine_as_their_labels() -> None:
    """With one digit after the point, ticks at 0.05 would read 0.1, 0.1, 0.2, 0.2."""
    axes = [x["axis"] for x in encodings(leaderboard_chart([OURS, THEIRS]), "x") if "axis" in x]
    assert axes
    assert all((axis["format"], axis["tickMinStep"]) == (".1f", 0.1) for axis in axes)


def test_rows_are_best_first() -> None:
    rows = datasets(leaderboard_chart([THEIRS, OURS], "one"))["systems"]
    assert [(row["system"], row["shown"], row["low"]) for row in rows] == [
        ("ours", "0.800", 0.7),
        ("theirs", "0.600", None),
    ]


@pytest.mark.parametrize(("column", "promised"), [("one", True), ("overall", False)])
def test_intervals_are_promised_where_there_are_some(column, promised) -> None:
    subtitle = leaderboard_chart([OURS, THEIRS], column).to_dict()["title"]["subtitle"]
    assert ("interval" in subtitle) is promised
