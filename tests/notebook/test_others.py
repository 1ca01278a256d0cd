"""Models and quality give what the commands write; plans are made and refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import grasp_core as grasp
from grasp_core.model.json_values import to_json
from grasp_core.report.quality import quality_json
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


def test_a_plan_is_made_and_written(tmp_path: Path) -> None:
    planned = grasp.plan(
        assumed=grasp.Assumed(labels=2, agreement=0.5),
        size=40,
        share=0.5,
        range_raters=(20, 22),
        range_items=(10, 12),
        **QUIET,
    )
    planned.save(tmp_path / "plan.json")
    written = json.loads((tmp_path / "plan.json").read_text("utf-8"))
    assert written["plan"]["spec"] == to_json(planned.plan.spec)
    assert planned.plan.whole
    assert (planned.plan.spec.raters, planned.plan.spec.size) == ((20, 22), 40)
    assert planned.answer()
    assert planned.chart().to_dict()["layer"]
    assert "<table" in planned._repr_html_()


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"group": {"rater_gender": "Other"}}, grasp.SpecError, "there are 'Man', 'Woman'"),
        ({"share": 2.0}, grasp.SpecError, "between 0.01 and 0.99; found 2"),
        ({"range_raters": (2, 3)}, grasp.SpecError, "raters range from 4"),
        ({}, grasp.DataError, "A pilot takes 40 annotations or more"),
    ],
)
def test_a_pilot_is_read_and_what_cannot_be_planned_refused(options: Any, error: Any, said: str) -> None:
    votes, raters = few()
    votes = votes.groupby("rater_id").head(1).head(30)
    names = {"item": "item_id", "rater": "rater_id", "label": "label", "group": {"rater_gender": "Man"}}
    with pytest.raises(error, match=said):
        grasp.plan(votes, raters, **{**names, **options, **QUIET})


@pytest.mark.parametrize(
    "asked",
    [{}, {"group": {"rater_gender": "Man"}}, {"assumed": grasp.Assumed(), "group": {"rater_gender": "Man"}}],
)
def test_a_plan_takes_a_pilot_or_assumed_figures(asked: Any) -> None:
    with pytest.raises(grasp.SpecError, match="a plan takes a pilot"):
        grasp.plan(**asked, **QUIET)
