"""The chart of models against groups."""

import dataclasses

import numpy as np
import pytest

from grasp_core.analysis.models.result import ModelsResult
from grasp_core.model.outcome import Outcome
from grasp_core.report.charts.forest import models_chart
from grasp_core.report.charts.theme import to_svg
from grasp_core.report.models import EVERYBODY
from tests.analysis.models.cases import ask, model
from tests.permutation.simulated import dataset
from tests.report.charts.drawn import COLOURS, datasets, encodings


@pytest.fixture(scope="module")
def result() -> ModelsResult:
    labels = np.random.default_rng(2).integers(0, 3, (2, 30))
    return ask(dataset(3, items=30, raters=30), [model("one", labels[0]), model("two", labels[1])])


def with_outcome(result: ModelsResult, outcome: Outcome) -> ModelsResult:
    """The first group's macro-F1 of model "one" replaced."""
    first = result.groups[0]
    side = first.models["one"]
    side = dataclasses.replace(side, statistics={**side.statistics, "macro_f1": outcome})
    changed = dataclasses.replace(first, models={**first.models, "one": side})
    return dataclasses.replace(result, groups=(changed, *result.groups[1:]))


def test_a_row_per_group_and_model_and_everybody_first(result: ModelsResult) -> None:
    drawn = datasets(models_chart(result))
    rows = drawn["rows"]
    assert len(rows) == 6 * 2
    assert [row["of"] for row in rows[:4]] == [EVERYBODY, EVERYBODY, "Man", "Man"]
    assert [row["group"] for row in rows[:2]] == ["one", "two"]
    assert [row["text"].partition(" (")[0] for row in drawn["headings"]][:2] == [EVERYBODY, "Man"]
    assert rows[0]["x"] == result.models[0].overall_f1
    assert rows[2]["x"] == result.groups[0].models["one"].statistics["macro_f1"].value
    assert rows[2]["members"] == result.groups[0].models["one"].members_f1
    heights = [row["bottom"] for row in rows]
    assert heights == sorted(set(heights))
    assert heights[-1] == models_chart(result).to_dict()["height"]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_significance_is_colour_shape_and_words(result: ModelsResult, theme) -> None:
    found = Outcome(0.9, 0.5, "up", 0.002, 0.004, "corrected", null_n=499)
    chart = models_chart(with_outcome(result, found), theme)
    assert encodings(chart, "color")[0]["scale"]["range"] == COLOURS[theme]
    assert encodings(chart, "shape")[0]["scale"]["range"] == ["diamond", "triangle-up", "circle"]
    row = datasets(chart)["rows"][2]
    assert (row["figures"], row["q"]) == ("0.900 **", "0.004")
    assert "Man: one 0.900, after correction" in chart.to_dict()["description"]


def test_it_can_be_drawn_and_says_where_nothing_is(result: ModelsResult) -> None:
    drawn = to_svg(models_chart(result))
    assert "Whose judgements" in drawn
    assert "All raters together" in drawn
    rows = datasets(models_chart(dataclasses.replace(result, groups=())))
    assert rows["message"] == [{"text": "There is no group or no model to show."}]
    row = datasets(models_chart(with_outcome(result, Outcome(None, reason="no item"))))["rows"][2]
    assert row["x"] is None
    assert row["verdict"] == "not estimable: no item"
