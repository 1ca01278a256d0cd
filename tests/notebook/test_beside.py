"""What is asked beside a result: items, the map of raters, tables of slices and of axes given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import grasp_core as grasp
from tests.notebook.asking import command, few

AXES = ["rater_gender", "rater_race"]
OPTIONS = ("--axis", "rater_gender", "--axis", "rater_race", "--permutations", "200")


@pytest.fixture(scope="module")
def result() -> grasp.Analysis:
    votes, raters = few()
    votes = votes.assign(topic=votes["item_id"].str[-2])
    asked: Any = {"slices": ["topic"], "given": ["rater_race"], "permutations": 200, "progress": False}
    return grasp.analyse(votes, raters, axes=AXES, **asked)


@pytest.fixture(scope="module")
def plain() -> grasp.Analysis:
    votes, raters = few()
    return grasp.analyse(votes, raters, axes=AXES, permutations=200, progress=False)


def test_slices_and_axes_given_are_tables(result: grasp.Analysis, plain: grasp.Analysis) -> None:
    table = result.slices()
    assert set(table["slice"]) == {"topic"}
    assert {"gai", "label_use", "dsi"} <= set(table["statistic"])
    of_dsi = table[(table["statistic"] == "dsi") & table["low"].notna()]
    assert set(of_dsi["slice_value"]) <= set(table["slice_value"])
    assert (of_dsi["low"] <= of_dsi["value"]).sum() > 2
    given = result.given()
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
