"""Models, quality and plans give what the commands write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import grasp_core as grasp
from grasp_core.data_quality.report import quality_json
from tests.notebook.asking import command, few, found

QUIET: Any = {"progress": False}


def test_models_are_those_of_the_command(tmp_path: Path) -> None:
    votes, raters = few()
    items = votes.drop_duplicates("item_id")
    votes = votes.assign(gold="No")
    labels = items[["item_id", "label"]].rename(columns={"item_id": "ID", "label": "Label"})
    labels.to_csv(tmp_path / "gpt.csv", index=False)
    asked = ("--label", "label", "--item", "item_id", "--rater", "rater_id", "--axis", "rater_gender")
    asked = (*asked, "--model", f"gpt={tmp_path / 'gpt.csv'}", "--model-column", "expert=gold")
    of_command = found(command(tmp_path, "models", votes, raters, *asked, "--permutations", "100"))
    analysis = grasp.models(
        votes,
        raters,
        axes=["rater_gender"],
        labels={"gpt": labels},
        columns={"expert": "gold"},
        item="item_id",
        rater="rater_id",
        label="label",
        permutations=100,
        **QUIET,
    )
    ours = found(analysis.result.to_dict())
    for plain in (of_command, ours):
        for model in (*plain["models"], *plain["spec"]["models"]):
            model.pop("sha256")
            model.pop("source", None)
    assert ours == of_command
    table = analysis.table()
    assert set(table["model"]) == {"gpt", "expert"}
    assert len(table) == 2 * 2 * 5
    assert analysis.chart().to_dict()["layer"]
    assert "<table" in analysis._repr_html_()
    analysis.save(tmp_path / "models.json")
    opened = grasp.open(tmp_path / "models.json")
    assert isinstance(opened, grasp.ModelsAnalysis)
    assert opened.answer() == analysis.answer()


def test_models_without_any_are_refused() -> None:
    votes, raters = few()
    with pytest.raises(grasp.DataError, match="there is no model"):
        grasp.models(votes, raters, axes=["rater_gender"], **QUIET)


def test_quality_is_the_commands(tmp_path: Path) -> None:
    votes, raters = few()
    of_command = command(tmp_path, "quality", votes, raters, "--axis", "rater_gender")
    quality = grasp.quality(votes, raters, axes=["rater_gender"], **QUIET)
    assert found(quality.report.to_dict()) == found(of_command)
    assert "Overview" in quality.tables()
    assert "<table" in quality._repr_html_()
    quality.save(tmp_path / "quality.json")
    assert (tmp_path / "quality.json").read_text("utf-8") == quality_json(quality.report)


def test_power_needs_groups() -> None:
    votes, _ = few()
    with pytest.raises(grasp.SpecError, match="name an axis with axes="):
        grasp.quality(votes, power=True, **QUIET)


def test_plans_are_the_commands(tmp_path: Path) -> None:
    votes, raters = few()
    ranges = ("--range-raters", "40:60", "--range-items", "20:30", "--each", "4", "--seed", "3")
    of_command = command(tmp_path, "plan", votes, raters, "--group", "rater_gender=Man", *ranges)
    planned = grasp.plan(
        votes,
        raters,
        group={"rater_gender": "Man"},
        range_raters=(40, 60),
        range_items=(20, 30),
        each=4,
        seed=3,
        **QUIET,
    )
    planned.save(tmp_path / "plan.json")
    assert json.loads((tmp_path / "plan.json").read_text("utf-8")) == of_command
    assert planned.answer()
    assert planned.chart().to_dict()["layer"]
    assert "<table" in planned._repr_html_()


@pytest.mark.parametrize(
    "asked",
    [{}, {"group": {"rater_gender": "Man"}}, {"assumed": grasp.Assumed(), "group": {"rater_gender": "Man"}}],
)
def test_a_plan_takes_a_pilot_or_assumed_figures(asked: Any) -> None:
    with pytest.raises(grasp.SpecError, match="a plan takes a pilot"):
        grasp.plan(**asked, **QUIET)
