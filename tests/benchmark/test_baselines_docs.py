"""The example on baselines runs, and every baseline and every field of the scores is described."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from grasp_core import cli
from grasp_core.benchmark.baselines.registry import BASELINES
from tests.benchmark.folders import write
from tests.benchmark.test_docs_models import section
from tests.test_docs import FILES, MODELS, blocks


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
