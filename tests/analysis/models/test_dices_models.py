"""DICES-350: the experts' gold labels and a planted model that copies Asian women's plurality."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import f1_score

from grasp_core import cli
from grasp_core.analysis.models.labels import read_model
from grasp_core.analysis.models.result import ModelsResult
from grasp_core.model.annotations import ModelLabels
from grasp_core.model.groups import form_groups
from grasp_core.model.spec import AnalysisSpec, RunSpec
from grasp_core.reading.sandbox.read import read_table
from grasp_core.report.models import sentences
from tests.analysis.models.cases import compute_models, plurality_of, sided
from tests.analysis.models.dices import ASIAN_WOMEN, AXES, SPEC, data, planted_labels
from tests.shared_data import DICES350, needs_shared_data

pytestmark = needs_shared_data


def models() -> list[ModelLabels]:
    gold = read_model(read_table(DICES350 / "items.csv"), "gold", data(), SPEC)
    planted = ModelLabels("planted", planted_labels().astype(np.int32), "planted.csv", "0" * 64)
    return [gold, planted]


@pytest.fixture(scope="module")
def result() -> ModelsResult:
    spec = RunSpec(SPEC, AnalysisSpec(axes=AXES, permutations=10_000, seed=1, ties="first"))
    return compute_models(data(), models(), spec)


def test_there_are_the_twenty_groups(result: ModelsResult) -> None:
    assert len(result.groups) == 20
    assert [model.labelled for model in result.models] == [350, 350]


def test_the_planted_model_sides_with_asian_women(result: ModelsResult) -> None:
    near, far = sided(result, "planted")
    assert near == {ASIAN_WOMEN}
    (row,) = (row for row in result.groups if row.group.values == ASIAN_WOMEN)
    outcome = row.models["planted"].statistics["macro_f1"]
    assert outcome.value == 1.0
    assert outcome.q is not None
    assert outcome.q < 0.01
    assert "planted sides with Asian/Asian subcontinent, Woman (macro-F1 1.000" in words(result)
    # White raters and White men among them are those whose pluralities differ most from Asian women's.
    assert far == {("White",), ("White", "Man")}


def test_it_is_said_with_whom_the_gold_sides(result: ModelsResult) -> None:
    """With nobody after correction."""
    assert sided(result, "gold") == (set(), set())
    text = words(result)
    assert "gold sides with no group and against none, after correction for testing 20 groups" in text
    assert "it may be luck that it leans away from White (macro-F1 0.360" in text


def test_a_model_of_two_labels_is_held_against_members_over_the_same_two() -> None:
    spec = RunSpec(SPEC, AnalysisSpec(axes=(("rater_race",),), permutations=100, ties="first"))
    result = compute_models(data(), models()[:1], spec)
    assert result.classes == ("No", "Yes")
    (white,) = (row for row in result.groups if row.group.values == ("White",))
    assert white.models["gold"].statistics["macro_f1"].value == pytest.approx(0.540, abs=5e-4)
    assert white.models["gold"].members_f1 == pytest.approx(0.612, abs=5e-4)  # 0.408 over three
    assert words(result).endswith("Every macro-F1 here is over the same labels: No, Yes.")


def test_the_golds_figures_by_scikit_learn(result: ModelsResult) -> None:
    """Every group, by scikit-learn 1.9.1 on the same files."""
    gold = models()[0].labels
    grouping = form_groups(data().raters, AXES)
    for row, member in zip(result.groups, grouping.member, strict=True):
        plurality, labels = (
            plurality_of(data(), member),
            [SPEC.categories.index(one) for one in result.classes],
        )
        expected = f1_score(plurality, gold, labels=labels, average="macro", zero_division=0)
        assert row.models["gold"].statistics["macro_f1"].value == pytest.approx(expected, abs=1e-12)


def test_the_command_finds_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str], result) -> None:
    categories = np.array(SPEC.categories)
    lines = [
        f"{item},{label}"
        for item, label in zip(data().annotations.item_ids, categories[planted_labels()], strict=True)
    ]
    (tmp_path / "planted.csv").write_text("ID,Label\n" + "\n".join(lines) + "\n")
    out, table = tmp_path / "models.json", tmp_path / "models.csv"
    status = cli.main(
        ["models", "--annotations", str(DICES350 / "ratings_long.csv")]
        + ["--raters", str(DICES350 / "raters.csv"), "--categories", "No,Yes,Unsure", "--ties", "first"]
        + ["--recommended"]
        + ["--model", f"gold={DICES350 / 'items.csv'}", "--model", f"planted={tmp_path / 'planted.csv'}"]
        + [part for names in AXES if len(names) == 1 for part in ("--axis", *names)]
        + ["--intersect", "rater_race:rater_gender", "--out", str(out), "--csv", str(table)]
    )
    printed = capsys.readouterr()
    assert status == 0, printed.err
    assert "planted sides with Asian/Asian subcontinent, Woman (macro-F1 1.000" in printed.out
    saved = ModelsResult.from_dict(json.loads(out.read_text(encoding="utf-8")))
    assert saved.groups == result.groups
    assert len(table.read_text(encoding="utf-8").splitlines()) == 1 + 2 * 20 * 5


def words(result: ModelsResult) -> str:
    return "\n".join(sentence.plain for sentence in sentences(result))
