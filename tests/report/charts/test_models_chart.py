"""The chart of models against groups."""

import dataclasses

import numpy as np
import pytest

from grasp_core.analysis.models.result import ModelsResult
from grasp_core.model.outcome import Outcome
from grasp_core.report.charts.models import models_chart
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
    rows = datasets(models_chart(result))["models"]
    assert len(rows) == 6 * 2
    assert [row["name"] for row in rows[:4]] == [EVERYBODY, "", "Man", ""]
    assert [row["model"] for row in rows[:2]] == ["one", "two"]
    assert rows[0]["x"] == result.models[0].overall_f1
    assert rows[2]["x"] == result.groups[0].models["one"].statistics["macro_f1"].value
    assert rows[2]["members"] == result.groups[0].models["one"].members_f1
    heights = [row["y"] for row in rows]
    assert heights == sorted(set(heights))
    assert heights[-1] < models_chart(result).to_dict()["height"]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_significance_is_colour_shape_and_words(result: ModelsResult, theme) -> None:
    found = Outcome(0.9, 0.5, "up", 0.002, 0.004, "corrected", null_n=499)
    chart = models_chart(with_outcome(result, found), theme)
    assert encodings(chart, "color")[0]["scale"]["range"] == COLOURS[theme]
    assert encodings(chart, "shape")[0]["scale"]["range"] == ["diamond", "triangle-up", "circle"]
    row = datasets(chart)["models"][2]
    assert row["words"] == "one 0.900, q = 0.004, after correction"
    assert "one 0." in chart.to_dict()["description"]
    assert "Man 0.900 (after correction)" in chart.to_dict()["description"]


def test_long_names_keep_both_ends(result: ModelsResult) -> None:
    first = result.groups[0]
    group = dataclasses.replace(first.group, values=("LatinX, Latino, Hispanic or Spanish Origin, Woman",))
    longer = dataclasses.replace(result, groups=(dataclasses.replace(first, group=group), *result.groups[1:]))
    name = datasets(models_chart(longer))["models"][2]["name"]
    assert name.startswith("LatinX, Latino")
    assert name.endswith("Woman")
    assert len(name) == 34


def test_it_can_be_drawn_and_says_where_nothing_is(result: ModelsResult) -> None:
    drawn = to_svg(models_chart(result))
    assert "Whose judgements" in drawn
    assert "All raters together" in drawn
    rows = datasets(models_chart(dataclasses.replace(result, groups=())))
    assert rows["message"] == [{"text": "There is no group or no model to show."}]
    row = datasets(models_chart(with_outcome(result, Outcome(None, reason="no item"))))["models"][2]
    assert row["x"] is None
    assert row["words"] == "one not estimable: no item"
