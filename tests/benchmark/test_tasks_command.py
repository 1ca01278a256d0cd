"""The list of tasks, the example from nothing to a score, and the examples of docs/models.md."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from grasp_core import cli
from grasp_core.benchmark.baselines.registry import BASELINES
from grasp_core.benchmark.submissions import VALIDATED
from grasp_core.benchmark.tasks import builtin_tasks, read_task
from grasp_core.model.remarks.benchmark import SubmissionProblem
from tests.benchmark.folders import RAFT
from tests.commands import ran, refused, write, written
from tests.shared_data import needs_shared_data
from tests.test_docs import FILES, MODELS, ROOT, Block, blocks, flat

PAPER = Path(__file__).parents[3] / "shared" / "papers" / "raft.txt"


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


def test_a_task_survives_its_file_and_kinds_of_difficulty_are_the_papers(tmp_path: Path) -> None:
    for name, task in builtin_tasks().items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "task.json").write_text(task.task_json, encoding="utf-8")
        assert read_task(tmp_path / name) == task
    kinds = Counter(kind for task in builtin_tasks().values() for kind in task.difficulty)
    assert kinds == {"expertise": 4, "many classes": 1, "long inputs": 4, "imbalance": 3}


def test_tasks_are_listed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    printed = ran(capsys, "raft", "tasks")
    lines = printed.out.splitlines()
    assert len(lines) == 12
    assert " ".join(lines[2].split()) == "banking_77 77 5,000 Query CC BY 4.0 many classes -"
    assert "tweet_eval_hate: Many of its tweets are offensive" in printed.err
    monkeypatch.setenv("COLUMNS", "60")
    narrow = ran(capsys, "raft", "tasks").out
    assert max(map(len, narrow.splitlines())) < 80
    assert "  licence: CC BY-NC 4.0" in narrow


def test_rows_in_the_folder_that_baselines_take_are_here(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "300")
    assert "no rows are here; `grasp fetch raft --to raft` brings them" in ran(capsys, "raft", "tasks").err
    write(tmp_path, {"raft/overruling/train.csv": "Sentence,Label,ID\n"})
    printed = ran(capsys, "raft", "tasks")
    assert "no rows are here" not in printed.err
    here = [line.split()[0] for line in printed.out.splitlines() if line.endswith("train.csv")]
    assert here == ["overruling"]


def test_one_task_in_full(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "task.json"
    printed = ran(capsys, "raft", "tasks", "terms_of_service", "--out", str(out)).out
    task = builtin_tasks()["terms_of_service"]
    assert task.instructions in printed
    assert "2. potentially unfair" in printed
    assert written(out)["terms_of_service"]["classes"] == list(task.classes)
    assert "did you mean 'terms_of_service'?" in refused(capsys, "raft", "tasks", "terms_of_servic")


@pytest.mark.parametrize(
    ("member", "value", "said"),
    [
        ("difficulty", "long", """`difficulty` must be a list of texts; found '"long"'"""),
        ("difficulty", [1], "`difficulty` must be a list of texts; found '[1]'"),
        ("prompt_fields", 3, "`prompt_fields` must be a list of texts; found '3'"),
        ("instructions", 3, "`instructions` must be a text; found '3'"),
        ("shots", True, "`shots` must be a whole number; found 'true'"),
        ("numeric", 1, "`numeric` must be true or false; found '1'"),
        ("classes", [], "`classes` needs two or more different names"),
        ("fields", [], "`fields` must name the text columns"),
    ],
)
def test_a_description_whose_members_are_of_another_kind(tmp_path, member, value, said, capsys) -> None:
    (tmp_path / "mood").mkdir()
    plain = {"classes": ["a", "b"], "fields": ["text"], member: value}
    (tmp_path / "mood" / "task.json").write_text(json.dumps(plain), encoding="utf-8")
    assert said in refused(capsys, "raft", "tasks", "--tasks", tmp_path)


def test_the_example_leads_to_a_score_in_python(tmp_path: Path, monkeypatch, capsys) -> None:
    """The block of docs/models.md gives what the commands give."""
    monkeypatch.chdir(tmp_path)
    (block,) = (one for one in blocks(MODELS) if one.language == "python")
    assert cli.main(["raft", "example", "shop"]) == 0
    exec(compile(block.text, str(MODELS), "exec"), {})
    assert "Entry(name='by words'" in capsys.readouterr().out
    where = ["--tasks", "shop/tasks", "--gold", "shop/gold"]
    assert cli.main(["raft", "baseline", "tfidf", "--all", *where, "--out", "by-command"]) == 0
    files = (Path(out, "data", "shop_messages", "predictions.csv") for out in ("by-words", "by-command"))
    assert len({file.read_text() for file in files}) == 1


# The worked examples of docs/models.md run, one after the other, and print what is shown
SECTIONS = ("Tasks", "Submissions", "Scores", "Human baseline")
_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def section(name: str) -> str:
    return MODELS.read_text(encoding="utf-8").split(f"## {name}\n")[1].split("\n## ")[0]


def examples(folder: Path) -> list[Block]:
    """Blocks of these sections, of which those with a file's name are written into the folder."""
    found: list[Block] = []
    for name in SECTIONS:
        (folder / "part.md").write_text(section(name), encoding="utf-8")
        found += blocks(folder / "part.md")
    for block in found:
        if block.mark.endswith(FILES):
            (folder / block.mark).write_text(block.text, encoding="utf-8")
    return found


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[tuple[str, str]]]:
    """The folder after all commands, and what each block printed beside what it should."""
    folder = tmp_path_factory.mktemp("models")
    found = examples(folder)
    python = f'python() {{ "{sys.executable}" "$@"; }}\n'
    commands = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    here = {"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1", "PATH": commands}
    printed = []
    for block, following in zip(found, [*found[1:], Block("", "", "")], strict=True):
        if block.language == "sh":
            command, environment = ["bash", "-c", python + block.text], {**os.environ, **here}
            streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
            done = subprocess.run(command, cwd=folder, env=environment, check=False, **streams)
            printed.append((done.stdout, following.text))
    return folder, printed


@pytest.mark.long
def test_the_examples_print_what_is_shown(shell: tuple[Path, list[tuple[str, str]]]) -> None:
    _, printed = shell
    assert len(printed) == 3
    for found, expected in printed:
        assert [flat(line) for line in found.splitlines()] == [flat(line) for line in expected.splitlines()]


@needs_shared_data
def test_banking77_goes_from_labels_to_votes_to_the_models_sides(tmp_path, monkeypatch, capsys) -> None:
    """As docs/models.md writes it, on 120 of the open queries, with votes that are mostly right."""
    (block,) = (one for one in blocks(MODELS) if "open/banking_77" in one.text)
    commands = [shlex.split(line)[1:] for line in block.text.replace("\\\n", " ").splitlines()]
    source = pd.read_csv(RAFT.parent / "raft_open" / "banking_77_source" / "not_in_raft.csv", dtype=str)
    rows = source.sample(120, random_state=1).assign(ID=[str(50 + row) for row in range(120)])
    shutil.copytree(RAFT / "banking_77", tmp_path / "open" / "banking_77")
    (tmp_path / "gold" / "banking_77").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    rows[["ID", "Query"]].to_csv("open/banking_77/test_unlabeled.csv", index=False)
    rows[["ID", "Label"]].to_csv("gold/banking_77/test.csv", index=False)
    assert [cli.main(command) for command in commands[:3]] == [0, 0, 0]
    votes, asked = (pd.read_csv(name, dtype=str) for name in ("votes.csv", "qualification.csv"))
    right = pd.concat([rows, asked]).set_index("ID")["Label"]
    wrong = votes.groupby("rater").cumcount() % np.where(votes["rater"].str[0] == "n", 7, 4) == 3
    votes["Label"] = votes["ID"].map(right).where(~wrong, asked["Label"][0])
    votes.to_csv("votes.csv", index=False)
    people = votes[["rater"]].drop_duplicates()
    people.assign(region=people["rater"].str[0]).to_csv("raters.csv", index=False)
    capsys.readouterr()
    assert [cli.main(command) for command in (commands[3], [*commands[4], "--permutations", "200"])] == [0, 0]
    told = capsys.readouterr()
    assert "10 raters qualified" in told.out
    assert "names sides with n (" in told.out
    assert "names has no label for 10 of the items" in told.err
    assert "20 labels of names are of items that the data do not hold" in told.err


def test_the_scores_fields_are_described(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of what the commands write that lead to the scores; the others take long to start."""
    commands = [block.text for block in examples(tmp_path) if block.language == "sh"]
    monkeypatch.chdir(tmp_path)
    for line in "\n".join(commands).splitlines():
        if line.startswith("grasp raft score"):
            assert cli.main(shlex.split(line)[1:]) == 0
        elif line.startswith(("mkdir", "cp")):
            subprocess.run(["bash", "-c", line], check=True)
    plain = written("scores.json")
    described = set(re.findall(r"`([^`\n]+)`", _FENCE.sub("", section("Scores"))))
    assert {*plain, *plain["tasks"]["mood"]} <= described


def test_the_validators_messages_and_every_baseline_are_described() -> None:
    text = section("Submissions")
    worded = "\n".join(problem.value for problem in SubmissionProblem)
    messages = re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE)
    assert len(messages) == 4
    assert all(message in worded for message in messages)
    assert f"`{VALIDATED}`" in text
    for name in BASELINES:
        assert f"| `{name}` |" in section("Baselines")


def test_the_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    task = {block.mark: block.text for block in blocks(MODELS) if block.mark.endswith(FILES)}
    write(
        tmp_path / "tasks" / "mood",
        {name: task[name] for name in ("task.json", "test_unlabeled.csv", "train.csv")},
    )
    write(tmp_path, {"part.md": section("Baselines")})
    lines = next(block.text for block in blocks(tmp_path / "part.md") if block.language == "sh").splitlines()
    commands = [shlex.split(line)[1:] for line in lines if line.startswith("grasp ")]
    assert [cli.main(command) for command in commands] == [0, 0]
    plain = written("scores.json")
    assert plain["n"] == 6
    for name in ("macro_f1", "macro_f1_declared", "ci95", "n", "caution"):
        assert name in plain
        assert f"`{name}`" in section("Baselines")
    assert len((tmp_path / "predictions.csv").read_text("utf-8").splitlines()) == 7


def test_the_journey_without_a_network_runs(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    _, second, *_ = (block.text for block in blocks(MODELS) if block.language == "sh")
    assert [cli.main(shlex.split(line)[1:]) for line in second.splitlines()] == [0] * 5  # of 6 at most
    told = capsys.readouterr()
    assert [line.split()[0] for line in told.out.splitlines()[-2:]] == ["words", "plain"]
    assert "belongs to none" not in told.err
