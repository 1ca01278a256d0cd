"""The worked examples of docs/models.md run, one after the other, and print what is shown."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from grasp_core import cli
from grasp_core.benchmark.baselines.registry import BASELINES
from grasp_core.benchmark.submissions import VALIDATED
from grasp_core.model.remarks.benchmark import SubmissionProblem
from tests.benchmark.folders import write
from tests.test_docs import FILES, MODELS, ROOT, Block, blocks, flat

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
            done = subprocess.run(
                ["bash", "-c", python + block.text],
                cwd=folder,
                env={**os.environ, **here},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            printed.append((done.stdout, following.text))
    return folder, printed


@pytest.mark.long
def test_the_examples_print_what_is_shown(shell: tuple[Path, list[tuple[str, str]]]) -> None:
    _, printed = shell
    assert len(printed) == 3
    for found, expected in printed:
        assert [flat(line) for line in found.splitlines()] == [flat(line) for line in expected.splitlines()]


def test_the_scores_fields_are_described(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of what the commands write that lead to the scores; the others take long to start."""
    commands = [block.text for block in examples(tmp_path) if block.language == "sh"]
    monkeypatch.chdir(tmp_path)
    for line in "\n".join(commands).splitlines():
        if line.startswith("grasp raft score"):
            assert cli.main(shlex.split(line)[1:]) == 0
        elif line.startswith(("mkdir", "cp")):
            subprocess.run(["bash", "-c", line], check=True)
    plain = json.loads((tmp_path / "scores.json").read_text(encoding="utf-8"))
    described = set(re.findall(r"`([^`\n]+)`", _FENCE.sub("", section("Scores"))))
    assert {*plain, *plain["tasks"]["mood"]} <= described


def test_the_validators_messages_are_described() -> None:
    text = section("Submissions")
    worded = "\n".join(problem.value for problem in SubmissionProblem)
    messages = re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE)
    assert len(messages) == 4
    assert all(message in worded for message in messages)
    assert f"`{VALIDATED}`" in text


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
    plain = json.loads((tmp_path / "scores.json").read_text("utf-8"))
    assert plain["n"] == 6
    for name in ("macro_f1", "macro_f1_declared", "ci95", "n", "caution"):
        assert name in plain
        assert f"`{name}`" in section("Baselines")
    assert len((tmp_path / "predictions.csv").read_text("utf-8").splitlines()) == 7


def test_every_baseline_is_described() -> None:
    for name in BASELINES:
        assert f"| `{name}` |" in section("Baselines")
