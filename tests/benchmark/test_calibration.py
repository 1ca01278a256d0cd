"""Calibration: equal to scikit-learn's, and files of probabilities with everything wrong about them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import log_loss

from grasp_core import cli
from grasp_core.benchmark.scoring.scores import calibration, read_probabilities
from grasp_core.benchmark.tasks import Task
from grasp_core.model.errors import DataError

TASK = Task("mood", ("angry", "calm", "sad"), ("text",), ("text",))


def test_scores_equal_scikit_learns_and_a_hand_count() -> None:
    generator = np.random.default_rng(8)
    values = generator.dirichlet([1, 1, 1], 300)
    right = generator.integers(0, 3, 300)
    gold = {str(row): TASK.classes[code] for row, code in enumerate(right)}
    found = calibration(TASK, gold, {str(row): one for row, one in enumerate(values)})
    assert found.log_loss == pytest.approx(log_loss(right, values, labels=[0, 1, 2]), abs=1e-12)
    aim = np.eye(3)[right]
    assert found.brier == pytest.approx(((values - aim) ** 2).sum() / 300, abs=1e-12)
    assert sum(one.n for one in found.bins) == 300
    assert [one.n for one in found.bins[:3]] == [0, 0, 0]  # the most probable of three has a third or more


def test_probabilities_that_come_true_have_no_error() -> None:
    gold = {str(row): "angry" if row < 8 else "calm" for row in range(10)}
    sure = {one: np.array([0.8, 0.2, 0.0]) for one in gold}
    found = calibration(TASK, gold, sure)
    assert found.ece == pytest.approx(0, abs=1e-12)
    boasting = {one: np.array([1.0, 0.0, 0.0]) for one in gold}
    found = calibration(TASK, gold, boasting)
    assert found.ece == pytest.approx(0.2)
    assert found.bins[-1].accuracy == pytest.approx(0.8)
    with pytest.raises(DataError, match="has no row for 1 ID: '11'"):
        calibration(TASK, {"11": "calm"}, sure)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ID,angry,calm,Sad\n1,1,0,0\n", "no column 'sad', as mood needs; did you mean 'Sad'"),
        ("ID,angry,calm,sad\n1,0.5,0.5,x\n", "row 2, column 'sad': 'x' is no number from 0 to 1"),
        ("ID,angry,calm,sad\n1,0.5,0.5,\n", "is no number from 0 to 1"),
        ("ID,angry,calm,sad\n1,nan,0.5,0.5\n", "'nan' is no number from 0 to 1"),
        ("ID,angry,calm,sad\n1,0.5,0.7,0\n", "row 2: the probabilities add up to 1.2"),
        ("ID,angry,calm,sad\n1,1,0,0\n1,1,0,0\n", "row 3: the ID '1' occurs twice"),
    ],
)
def test_faults_are_told_with_their_place(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "mood" / "probabilities.csv"
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError) as caught:
        read_probabilities(path, TASK)
    assert said in str(caught.value)
    assert "mood/probabilities.csv" in str(caught.value)


def test_the_command_tells_it_beside_the_scores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["raft", "example", "shop"]) == 0
    gold = Path("shop/gold/shop_messages/test.csv").read_text(encoding="utf-8")
    for folder in ("mine/data/shop_messages", "sure/shop_messages"):
        Path(folder).mkdir(parents=True)
    Path("mine/data/shop_messages/predictions.csv").write_text(gold, encoding="utf-8")
    rows = [line.split(",") for line in gold.splitlines()[1:]]
    names = ("complaint", "praise", "question")
    lines = [",".join([one, *("0.9" if name == label else "0.05" for name in names)]) for one, label in rows]
    content = "\n".join(["ID,complaint,praise,question", *lines]) + "\n"
    Path("sure/shop_messages/probabilities.csv").write_text(content, encoding="utf-8")
    command = [
        "raft",
        "score",
        "mine",
        "--tasks",
        "shop/tasks",
        "--gold",
        "shop/gold",
        "--details",
        "out.json",
    ]
    assert cli.main([*command, "--probabilities", "sure"]) == 0
    assert "log loss 0.105, expected calibration error 0.100" in capsys.readouterr().out
    plain = json.loads(Path("out.json").read_text(encoding="utf-8"))
    assert plain["tasks"]["shop_messages"]["calibration"]["brier"] == pytest.approx(0.015)
    assert cli.main([*command, "--probabilities", "shop"]) == cli.BAD_INPUT
    assert "shop has no <task>/probabilities.csv" in capsys.readouterr().err
