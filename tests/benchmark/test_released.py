"""Models' answers and leaderboards that released versions wrote can be read for good.

Answers: `grasp models` of that version on the example, rater_gender and rater_race x
rater_gender, 1,000 permutations, seed 1; the model "planted" gives every item Black women's plurality, of
equally frequent labels the first of No, Yes, Unsure. Leaderboards: *All figures (JSON)* of the published
systems and two invented ones of 150 rows a task, wrong on every fifth, one on all tasks, one on one alone.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grasp_core.analysis.models.result import ModelsResult
from grasp_core.analysis.results import read_result
from grasp_core.benchmark.leaderboard import leaderboard_dict, leaderboard_table, read_leaderboard
from grasp_core.report.models import plurality_table, sentences, sides_csv, statistic_table

FOLDER = Path(__file__).parents[1] / "released"
ANSWERS = sorted(FOLDER.glob("models-*.json"))
LEADERBOARDS = sorted(FOLDER.glob("leaderboard-*.json"))


def test_there_are_files() -> None:
    assert ANSWERS
    assert LEADERBOARDS


@pytest.mark.parametrize("path", ANSWERS, ids=lambda path: path.name)
def test_an_answer_about_models_is_read_and_shown(path: Path) -> None:
    content = json.loads(path.read_bytes())
    result = ModelsResult.from_dict(content)
    assert len(result.groups) == 12
    planted = next(row for row in result.groups if row.group.values == ("Black", "Woman"))
    side = planted.models["planted"]
    assert side.members_f1 == pytest.approx(0.431, abs=5e-4)
    assert side.statistics["macro_f1"].value == 1.0
    assert side.statistics["macro_f1"].significance == "corrected"
    said = "\n".join(sentence.plain for sentence in sentences(result))
    assert "planted sides with Black, Woman (macro-F1 1.000, random groups 0.5" in said
    assert len(plurality_table(result)) == 13
    assert len(statistic_table(result, "xrr")) == 12
    assert sides_csv(result).count("\n") == 1 + 12 * 5
    assert read_result(content) == result


@pytest.mark.parametrize("path", LEADERBOARDS, ids=lambda path: path.name)
def test_a_leaderboard_is_read_and_shown(path: Path) -> None:
    content = json.loads(path.read_bytes())
    entries, tasks = read_leaderboard(content)
    assert len(tasks) == 11
    assert [entry.name for entry in entries if entry.own] == ["four of five right", "overruling alone"]
    assert len(entries) == 11
    whole, *_, half = entries
    assert whole.overall == pytest.approx(0.798, abs=5e-4)
    assert half.overall is None
    assert half.tasks == {"overruling": pytest.approx(0.8)}
    low, high = half.ci95["overruling"]
    assert low < 0.8 < high
    human = next(entry for entry in entries if entry.name == "Human (crowd)")
    assert (human.overall, human.tasks["overruling"]) == (0.735, 0.917)
    assert "arXiv:2109.14076" in human.source
    assert leaderboard_table(entries, tasks)["scored"].tolist().count("here") == 2
    assert leaderboard_dict(entries, tasks)["systems"] == content["systems"]
