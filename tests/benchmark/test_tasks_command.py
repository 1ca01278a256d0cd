"""The list of tasks, their instructions in full, and the example task from nothing to a score."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from grasp_core import cli
from grasp_core.benchmark.language_models.prompt import head
from grasp_core.benchmark.submissions import VALIDATED
from grasp_core.benchmark.tasks import builtin_tasks, read_task, read_tasks

PAPER = Path(__file__).parents[3] / "shared" / "papers" / "raft.txt"
CRITERIA = {
    "ade_corpus_v2": ("therap|treatment", "metabolism", "disinfect", "organ", "death", "caused"),
    "neurips_impact_statement_risks": ("own research", "past"),
    "one_stop_english": ("Guardian", "teachers", "second language"),
    "overruling": ("statute", "same or a higher court", "precedent"),
    "semiconductor_org_types": ("IEEE", "25 years", "university"),
    "systematic_review_inclusion": (
        "scoping",
        "money",
        "any people",
        "English",
        "primary research",
        "narrative",
        "marketing",
        "blood",
    ),
    "tai_safety_research": (
        "^1. .*motiv",
        "^2. .*capabilities",
        "^3. .*researchers",
        "^4. .*arXiv",
        "^5. .*preprints",
        "decision theory",
        "self-driving",
        "blog",
    ),
    "terms_of_service": (
        "^1. Jurisdiction",
        "^2. Choice of law",
        "^3. Limitation of liability",
        "^4. Unilateral change",
        "^5. Unilateral termination",
        "^6. Contract by using",
        "^7. Content removal",
        "^8. Arbitration",
        "93/13",
        "clearly unfair counts",
        "gross negligence",
    ),
    "tweet_eval_hate": ("immigrants", "misogynous", "two things must come together", "blasphemy", "animals"),
    "twitter_complaints": ("expected",),
    "banking_77": ("77",),
}


@pytest.mark.parametrize("name", builtin_tasks())
def test_instructions_hold_every_criterion(name: str) -> None:
    text = builtin_tasks()[name].instructions
    for pattern in CRITERIA[name]:
        assert re.search(pattern, text, re.MULTILINE | re.IGNORECASE), pattern


def test_instructions_are_in_words_of_our_own() -> None:
    """No twelve words in a row are the paper's."""
    if not PAPER.is_file():
        pytest.skip("the paper is not here")
    paper = words(PAPER.read_text(encoding="utf-8"))
    runs = {tuple(paper[at : at + 12]) for at in range(len(paper))}
    for name, task in builtin_tasks().items():
        own = words(task.instructions)
        same = [own[at : at + 12] for at in range(len(own) - 11) if tuple(own[at : at + 12]) in runs]
        assert not same, name


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def test_generic_instructions_name_the_classes_alone() -> None:
    task = builtin_tasks()["overruling"]
    assert head(task, instructions=False) == "Possible labels:\n1. not overruling\n2. overruling"
    assert head(task).startswith(task.instructions)


def test_a_task_survives_its_file(tmp_path: Path) -> None:
    for name, task in builtin_tasks().items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "task.json").write_text(task.task_json, encoding="utf-8")
        assert read_task(tmp_path / name) == task


def test_kinds_of_difficulty_are_the_papers() -> None:
    kinds = {kind: [] for task in builtin_tasks().values() for kind in task.difficulty}
    for name, task in builtin_tasks().items():
        for kind in task.difficulty:
            kinds[kind].append(name)
    assert {kind: len(names) for kind, names in kinds.items()} == {
        "expertise": 4,
        "many classes": 1,
        "long inputs": 4,
        "imbalance": 3,
    }


def test_tasks_are_listed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    assert cli.main(["raft", "tasks"]) == 0
    printed = capsys.readouterr()
    lines = printed.out.splitlines()
    assert len(lines) == 12
    assert lines[2].split() == [
        "banking_77",
        "77",
        "5,000",
        "Query",
        "CC",
        "BY",
        "4.0",
        "many",
        "classes",
        "-",
    ]
    assert "tweet_eval_hate: Many of its tweets are offensive" in printed.err
    monkeypatch.setenv("COLUMNS", "60")
    assert cli.main(["raft", "tasks"]) == 0
    narrow = capsys.readouterr().out
    assert max(map(len, narrow.splitlines())) < 80
    assert "  licence: CC BY-NC 4.0" in narrow


def test_one_task_in_full(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "task.json"
    assert cli.main(["raft", "tasks", "terms_of_service", "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    task = builtin_tasks()["terms_of_service"]
    assert task.instructions in printed
    assert "2. potentially unfair" in printed
    assert json.loads(out.read_text(encoding="utf-8"))["terms_of_service"]["classes"] == list(task.classes)
    assert cli.main(["raft", "tasks", "terms_of_servic"]) == cli.BAD_INPUT
    assert "did you mean 'terms_of_service'?" in capsys.readouterr().err


@pytest.mark.parametrize("difficulty", ["long", [1], {"a": 1}])
def test_a_difficulty_that_is_no_list(tmp_path: Path, difficulty: object, capsys) -> None:
    (tmp_path / "mood").mkdir()
    plain = {"classes": ["a", "b"], "fields": ["text"], "difficulty": difficulty}
    (tmp_path / "mood" / "task.json").write_text(json.dumps(plain), encoding="utf-8")
    assert cli.main(["raft", "tasks", "--tasks", str(tmp_path)]) == cli.BAD_INPUT
    assert "`difficulty` must be a list of texts" in capsys.readouterr().err


def test_the_example_leads_to_a_score(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["raft", "example", "shop"]) == 0
    (task,) = read_tasks(Path("shop/tasks")).values()
    mine = Path("mine/data") / task.name
    mine.mkdir(parents=True)
    labelled = str(mine / "predictions.csv")
    assert (
        cli.main(["raft", "baseline", "plurality", "--task", f"shop/tasks/{task.name}", "--out", labelled])
        == 0
    )
    assert cli.main(["raft", "validate", "mine", "--tasks", "shop/tasks"]) == 0
    assert VALIDATED in capsys.readouterr().out
    assert cli.main(["raft", "score", "mine", "--tasks", "shop/tasks", "--gold", "shop/gold"]) == 0
    assert "63 of 100 labelled wrongly" in capsys.readouterr().out
