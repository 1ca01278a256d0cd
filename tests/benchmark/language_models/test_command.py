"""The options for language models, on the command line and over a real connection."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest

from grasp_core.benchmark.baselines import embedding
from grasp_core.benchmark.language_models.in_context import Setting
from grasp_core.benchmark.tasks import read_rows, read_task
from grasp_core.cli import main
from grasp_core.cli.benchmark.lm import add_lm_options, make_lm
from grasp_core.model.errors import SpecError
from tests.benchmark.language_models.completions_server import Completions, says, serving
from tests.benchmark.language_models.making import ROWS, TASK

needs_minilm = pytest.mark.skipif(not embedding.available(), reason="needs MiniLM, of the extra models")
SECRET = "sk-test-0123456789abcdef"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "orders"
    path.mkdir()
    task = {"classes": TASK.classes, "fields": TASK.fields, "instructions": TASK.instructions, "shots": 2}
    (path / "task.json").write_text(json.dumps(task))
    lines = [f"{at},{title},http://x,{words},{label}" for at, (title, words, label) in enumerate(ROWS)]
    (path / "train.csv").write_text("\n".join(["ID,Title,Link,Text,Label", *lines]) + "\n")
    return path


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers are kept in the working folder unless an option names another place."""
    monkeypatch.chdir(tmp_path)


def parsed(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_lm_options(parser)
    return parser.parse_args(arguments)


def bread(server: Completions) -> None:
    server.top = lambda prompt: {" yes": -0.1} if "please" in prompt.split("\n\n")[-1] else {" no": -0.2}


def test_the_options_make_the_baseline(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setenv("SOME_KEY", SECRET)
    task = read_task(folder)
    train = read_rows(folder / "train.csv", task, labelled=True)
    with serving() as server:
        bread(server)
        options = ["--endpoint", server.url, "--model", "m", "--key-variable", "SOME_KEY", "--shots", "3"]
        options += ["--no-instructions", "--random-examples", "--price-in", "10", "--price-out", "20"]
        with make_lm(parsed(*options), task) as baseline:
            assert baseline.setting == Setting(3, instructions=False, semantic=False)
            label = baseline(train, task, 1)
            assert label([train.texts[0], train.texts[1]]) == ["yes", "no"]
    assert all(prompt.startswith("Possible labels:\n1. yes\n2. no\n\n") for prompt in server.prompts)
    assert all(prompt.count("Label: ") == 3 for prompt in server.prompts)
    shown = capsys.readouterr().err
    # By hand: 2 answers of 100 and 1 tokens; (200 * 10 + 2 * 20) / 1e6.
    assert (
        "2 questions asked, 0 known from before; 200 tokens sent, 2 received, at a price of 0.0020" in shown
    )
    assert "answers are kept in lm-answers.jsonl and are not asked for again" in shown
    assert SECRET not in shown


@needs_minilm
def test_without_options_the_task_decides(folder: Path) -> None:
    with make_lm(
        parsed("--endpoint", "http://localhost:1/v1", "--model", "m"), read_task(folder)
    ) as baseline:
        assert baseline.setting == Setting(2, instructions=True, semantic=True)
        assert baseline.similarity is not None
        cosines = baseline.similarity(["tea", "rain"], ["tea", "a storm"])
        assert cosines.shape == (2, 2)
        assert cosines[0, 0] == pytest.approx(1, abs=1e-6)
        assert cosines[1, 1] > cosines[0, 1]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ([], "name one language model"),
        (["--endpoint", "http://localhost/v1", "--gguf", "m.gguf"], "name one language model"),
        (["--endpoint", "http://localhost/v1"], "--model NAME"),
        (["--endpoint", "localhost", "--model", "m"], "must be an address"),
        (["--endpoint", "http://localhost/v1", "--model", "m", "--timeout", "0"], "positive numbers"),
    ],
)
def test_options_that_do_not_name_a_model(folder: Path, options: list[str], sentence: str) -> None:
    with (
        pytest.raises(SpecError, match=sentence),
        make_lm(parsed("--random-examples", *options), read_task(folder)),
    ):
        pass


@pytest.mark.parametrize("price", ["-1", "nan", "inf", "x"])
def test_a_price_is_a_number(price: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parsed("--price-in", price)
    assert "--price-in" in capsys.readouterr().err


@needs_minilm
def test_tuning_is_resumed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serving() as server:
        bread(server)
        command = ["raft", "tune", "--task", str(folder), "--endpoint", server.url, "--model", "m"]
        command += ["--retries", "0"]
        server.before = [lambda: None] * 4 + [says(401)]
        assert main(command) == 2
        error = capsys.readouterr().err
        assert "4 of 6 rows got an answer" in error
        assert "asked again, only what is missing is sent" in error
        assert main(command) == 0
        output = capsys.readouterr()
        # By hand: two of three rows with "yes" hold "please": F1 is 2*2/(3+2) for yes, 2*3/(3+4) for no.
        assert output.out.splitlines()[1].split() == ["0.829", "5", "yes", "yes"]
        assert len(output.out.splitlines()) == 1 + 4
        assert len(server.requests) == len(set(server.prompts)) + 1


def test_as_a_baseline_of_the_benchmark(folder: Path, tmp_path: Path, capsys) -> None:
    out, kept = tmp_path / "scores.json", tmp_path / "answers.jsonl"
    with serving() as server:
        bread(server)
        command = ["raft", "baseline", "lm", "--task", str(folder), "--evaluate", "loo", "--out", str(out)]
        command += ["--endpoint", server.url, "--model", "m", "--random-examples", "--resume", str(kept)]
        command += ["--retries", "0"]
        server.before = [lambda: None, lambda: None, says(200, b"{garbage")]
        assert main(command) == 2
        error = capsys.readouterr().err
        assert "answered something that is no JSON. Answers so far are kept" in error
        assert main(command) == 0
    assert len(server.requests) == len(ROWS) + 1
    # By hand, as in the test of tuning: (2*2/(3+2) + 2*3/(3+4)) / 2.
    assert json.loads(out.read_text())["macro_f1"] == pytest.approx((4 / 5 + 6 / 7) / 2, abs=1e-12)
    assert "4 questions asked, 2 known from before" in capsys.readouterr().err
