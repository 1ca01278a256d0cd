"""What results give: frames, figures, words, files, a cell's HTML; items, map, slices, axes given."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import altair as alt
import pandas as pd
import pytest

import grasp_core as grasp
from grasp_core.report.writers.registry import EXPORTS
from tests.notebook.asking import command, few

AXES = ["rater_gender", "rater_race"]


@pytest.fixture(scope="module")
def analysis() -> grasp.Analysis:
    votes, raters = few()
    votes = votes.assign(topic=votes["item_id"].str[-2])
    asked: Any = {"slices": ["topic"], "given": ["rater_race"], "permutations": 200, "progress": False}
    return grasp.analyse(votes, raters, axes=AXES, **asked)


def test_tables_hold_the_results_numbers_and_the_answer_a_headline_and_sentences(
    analysis: grasp.Analysis,
) -> None:
    table, result = analysis.table(), analysis.result
    assert len(table) == len(result.groups)
    for (_, row), group in zip(table.iterrows(), result.groups, strict=True):
        assert row["gai"] == group.statistics["gai"].value
        assert row["gai_q"] == group.statistics["gai"].q
    assert list(analysis.table(order="q", by="gai")["gai_q"]) == sorted(table["gai_q"])
    uses = [row.label_use for row in result.groups if row.label_use]
    labels = analysis.label_use()
    of_labels = labels[labels["label"] != "all labels"]
    assert list(of_labels["shift"]) == [s.value for use in uses for s in use.labels.values()]
    assert labels["q"].dropna().tolist() == [use.q for use in uses]
    assert not (labels["q"] < labels["p"]).any()
    assert set(analysis.pairs()["group"]) | set(analysis.pairs()["other_group"]) == set(table["group"])
    assert sorted(analysis.dsi()["dsi"]) == sorted(row.outcome.value or 0 for row in result.dsi)
    headline, *details = analysis.answer().splitlines()
    assert headline
    assert details
    assert all(line.startswith("- ") for line in details)


@pytest.mark.parametrize(
    ("name", "of"),
    [
        ("forest", {}),
        ("forest", {"statistic": "irr", "order": "effect", "theme": "dark"}),
        ("forest", {"label": "Yes"}),
        ("histograms", {"statistic": "xrr"}),
        ("cohesion", {}),
        ("dsi", {}),
        ("label_use", {"group": {"rater_race": "Black"}}),
        ("group", {"group": {"rater_gender": "Man"}}),
        ("pairs", {"axis": "rater_race"}),
        ("pairs", {"axis": ("rater_race",), "label": "Yes"}),
        ("pairs", {"axis": "rater_gender", "statistic": "xrr"}),
        ("slices", {"group": {"rater_gender": "Man"}}),
        ("slices", {"column": "topic", "group": {"rater_gender": "Man"}, "label": "Yes"}),
    ],
)
def test_charts_are_altairs(analysis: grasp.Analysis, name: str, of: Any) -> None:
    chart = analysis.chart(name, **of)
    assert isinstance(chart, alt.LayerChart)
    assert chart.to_dict()["layer"]


@pytest.mark.parametrize(
    ("name", "of", "said"),
    [
        ("pie", {}, "there are 'forest'"),
        ("dsi", {"group": {"rater_gender": "Man"}}, "takes 'theme'; found 'group'"),
        ("label_use", {}, "name one group"),
        ("label_use", {"group": {"rater_gender": "Other"}}, "there are 'Man', 'Woman'"),
        ("forest", {"statistic": "mean"}, "a statistic is one of"),
        ("forest", {"label": "No idea"}, "the label is one of"),
        ("forest", {"order": "size"}, "the order is"),
        ("forest", {"theme": "blue"}, "the theme is"),
        ("pairs", {}, "the axis is one of"),
        ("pairs", {"axis": "rater_race", "label": "No idea"}, "label or statistic is one of"),
        ("slices", {"column": "text", "group": {"rater_gender": "Man"}}, "the column is one of"),
    ],
)
def test_figures_that_are_not_there_are_refused(analysis, name, of, said) -> None:
    with pytest.raises(grasp.SpecError, match=said):
        analysis.chart(name, **of)


@pytest.mark.parametrize("name", [name for name in EXPORTS if name != "html"])
def test_files_are_the_pages_own(analysis: grasp.Analysis, name: str, tmp_path: Path) -> None:
    export = EXPORTS[name]
    target = tmp_path / f"result.{export.extension}"
    analysis.save(target)
    assert target.read_bytes() == export.make(analysis.result)


@pytest.mark.parametrize(
    ("content", "said"),
    [(None, "does not exist"), ("{", "is not JSON"), ('{"format": "x"}', "not a GRASP result")],
)
def test_files_that_are_no_result_are_refused(content: str | None, said: str, tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    if content is not None:
        file.write_text(content, "utf-8")
    with pytest.raises(grasp.DataError, match=said):
        grasp.open(file)


@pytest.mark.parametrize(
    ("place", "said"),
    [("result.docx", r"has to end in one of \.csv"), ("nowhere/result.csv", "cannot be written")],
)
def test_endings_and_places_that_cannot_be_written_are_refused(analysis, tmp_path, place, said) -> None:
    with pytest.raises(grasp.DataError, match=said):
        analysis.save(tmp_path / place)


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.add(tag)


def test_a_cells_html_holds_no_markup_of_the_data() -> None:
    votes, raters = few()
    votes["label"] = votes["label"].replace("Yes", "<script>alert(1)</script>")
    raters["rater_gender"] = raters["rater_gender"].replace("Man", "<img src=x onerror=alert(1)>")
    found = grasp.analyse(votes, raters, axes=["rater_gender"], permutations=100, progress=False)
    shown = found._repr_html_()
    tags = Tags()
    tags.feed(shown)
    assert "&lt;img" in shown
    assert tags.found <= {
        *("div", "p", "strong", "small", "ul", "li", "details", "summary"),
        *("table", "thead", "tbody", "tr", "th", "td"),
    }


def test_nothing_of_a_result_can_be_changed(analysis: grasp.Analysis) -> None:
    before = json.dumps(analysis.result.to_dict())
    table = analysis.table()
    table["gai"] = 0.0
    with pytest.raises(AttributeError):
        analysis.result = None  # type: ignore[misc, assignment]
    assert json.dumps(analysis.result.to_dict()) == before
    assert isinstance(analysis.table(), pd.DataFrame)
    assert not (analysis.table()["gai"] == 0.0).all()


# Beside a result
OPTIONS = ("--axis", "rater_gender", "--axis", "rater_race", "--permutations", "200")


@pytest.fixture(scope="module")
def plain() -> grasp.Analysis:
    votes, raters = few()
    return grasp.analyse(votes, raters, axes=AXES, permutations=200, progress=False)


def test_slices_and_axes_given_are_tables(analysis: grasp.Analysis, plain: grasp.Analysis) -> None:
    table = analysis.slices()
    assert set(table["slice"]) == {"topic"}
    assert {"gai", "label_use", "dsi"} <= set(table["statistic"])
    of_dsi = table[(table["statistic"] == "dsi") & table["low"].notna()]
    assert set(of_dsi["slice_value"]) <= set(table["slice_value"])
    assert (of_dsi["low"] <= of_dsi["value"]).sum() > 2
    given = analysis.given()
    assert set(given["given"]) == {"rater_race"}
    assert set(given["axis"]) == {"gender"}
    assert plain.slices().empty
    assert plain.given().empty


def test_items_are_those_of_the_command(tmp_path: Path, plain: grasp.Analysis) -> None:
    votes, raters = few()
    group = {"rater_gender": "Woman"}
    found = grasp.items(votes, raters, result=plain, group=group, progress=False)
    told = command(tmp_path, "items", votes, raters, *OPTIONS, "--group", "rater_gender=Woman")
    mine = found.result.to_dict()
    assert mine["items"] == told["items"]
    table = found.table()
    assert len(table) == len(told["items"])
    assert table["part"].abs().is_monotonic_decreasing
    assert "raters say" in found.answer()
    assert "raters say" in found._repr_html_()
    for name in ("a.json", "a.csv", "a.xlsx", "a.md"):
        found.save(tmp_path / name)
    with pytest.raises(grasp.SpecError, match="name one group"):
        grasp.items(votes, raters, result=plain, group={"rater_gender": "X"})
    half = votes[votes["item_id"] < "item-200"]
    other = grasp.items(half, raters, result=plain, group=group, progress=False)
    assert "other data" in other.notes[0]


def test_the_map_is_that_of_the_command(tmp_path: Path, plain: grasp.Analysis) -> None:
    votes, raters = few()
    found = grasp.map_raters(votes, raters, result=plain)
    found.save(tmp_path / "map.json")
    told = command(tmp_path, "rater-map", votes, raters, *OPTIONS)
    assert [axis["p"] for axis in told["map"]["axes"]] == [axis.p for axis in found.map.axes]
    assert found.axes()["axis"].tolist() == ["gender", "race"]
    assert len(found.groups()) == 7
    assert found.chart("rater_race").to_dict()
    assert "Explained" in found._repr_html_()
    with pytest.raises(grasp.SpecError, match="the axis is one of"):
        found.chart("rater_age")
