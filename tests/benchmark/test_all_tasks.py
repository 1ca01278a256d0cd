"""A baseline on all tasks goes on where a call ended; texts that a program finds for each row."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from grasp_core.benchmark.retrieval import FIELD, Command, kept_texts, with_retrieved
from grasp_core.benchmark.scoring.all_tasks import read_run
from grasp_core.benchmark.tasks import Task
from grasp_core.cli import main
from grasp_core.model.errors import DataError, SpecError
from tests.benchmark.baseline_tasks import NEW, opened, weather
from tests.benchmark.folders import write
from tests.benchmark.language_models.completions_server import says, serving


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two tasks in the folder that is looked for without an option."""
    for name in ("first", "second"):
        weather(tmp_path / "raft" / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def gold(folder: Path, *names: str) -> Path:
    rows = "\n".join(["ID,Label", "70,rain", "71,sun_shine", "72,snow", ""])
    return write(folder / "gold", {f"{name}/test.csv": rows for name in names})


def test_every_task_is_labelled_and_scored(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    held = gold(here, "first", "second")
    assert main(["raft", "baseline", "tfidf", "--all", "--gold", str(held)]) == 0
    shown = capsys.readouterr().out
    assert "first: 3 rows" in shown
    assert "2 tasks labelled: tfidf" in shown
    assert "overall 1.000" in shown
    plain = json.loads((here / "tfidf" / "run.json").read_text())
    assert {name: one["rows"] for name, one in plain["tasks"].items()} == {"first": 3, "second": 3}
    assert plain["scores"]["first"]["macro_f1"] == plain["overall"] == 1
    assert all(one["seconds"] >= 0 for one in plain["tasks"].values())
    assert main(["raft", "validate", "tfidf", "--tasks", "raft"]) == 0
    assert main(["raft", "score", "tfidf", "--tasks", "raft", "--gold", "gold"]) == 0


def test_what_the_same_baseline_has_labelled_is_not_labelled_again(here: Path, capsys) -> None:
    command = ["raft", "baseline", "adaboost", "--all", "--out", "boosted"]
    assert main([*command, "--trees", "5"]) == 0
    first = read_run(Path("boosted"))
    (here / "boosted" / "data" / "second" / "predictions.csv").unlink()
    capsys.readouterr()
    assert main([*command, "--trees", "5"]) == 0
    assert [line.endswith("from before") for line in capsys.readouterr().out.splitlines()] == [
        True,
        False,
        False,
    ]
    assert read_run(Path("boosted"))["first"] == first["first"]
    assert main([*command, "--trees", "6"]) == 0
    assert "from before" not in capsys.readouterr().out
    write(here / "raft" / "first", {"train.csv": "Text,Label\nsnow,snow\nrain,rain\n"})
    assert main([*command, "--trees", "6"]) == 0
    assert [line.endswith("from before") for line in capsys.readouterr().out.splitlines()[:2]] == [
        False,
        True,
    ]


def test_an_endpoint_that_dies_loses_nothing(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(here / "raft" / "second", {"test_unlabeled.csv": "ID,Text\n70,ice\n71,more ice\n72,no ice\n"})
    with serving() as server:
        server.top = lambda prompt: {" snow": -0.1}
        command = ["raft", "baseline", "lm", "--all", "--endpoint", server.url, "--model", "m"]
        command += ["--random-examples", "--retries", "0", "--price-in", "10", "--out", "asked"]
        server.before = [lambda: None] * 4 + [says(503)] * 2
        assert main(command) == 2
        found = capsys.readouterr()
        assert "1 of 2 tasks are done and kept in asked; the same command goes on from there" in found.err
        assert "refused with status 503" in found.err
        assert "first has no instructions; the model is told the classes alone" in found.err
        assert list(read_run(Path("asked"))) == ["first"]
        asked = len(server.requests)
        assert main(command) == 0
        found = capsys.readouterr()
        assert "first: 3 rows, from before, 3 questions, 303 tokens, price 0.0030" in found.out
        assert len(server.requests) == asked + 2  # one of the second task's three was known
    labels = (here / "asked" / "data" / "second" / "predictions.csv").read_text().splitlines()
    assert labels == ["ID,Label", "70,snow", "71,snow", "72,snow"]


def test_tasks_without_rows_are_left_out_and_named(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "raft" / "second" / "test_unlabeled.csv").unlink()
    held = gold(here, "first")
    assert main(["raft", "baseline", "plurality", "--all", "--gold", str(held)]) == 0
    found = capsys.readouterr()
    assert "left out, for want of train.csv or test_unlabeled.csv: 'second'" in found.err
    assert "no overall score, without gold labels: 'second'" in found.err


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["--all", "--tasks", "nowhere"], "there is no folder nowhere"),
        (["--all", "--evaluate", "loo"], "--evaluate looks at one task"),
        (["--task", "raft/first", "--gold", "gold"], "--tasks and --gold go with --all"),
        (["--all", "--depth", "2"], "--depth is a setting of adaboost, not of plurality"),
        (["--all", "--out", "file"], "file is a file; with --all, --out names the submission's folder"),
        (["--all", "--out", "other"], "other/run.json is not what a baseline writes"),
    ],
)
def test_what_cannot_be_asked(here: Path, command: list[str], said: str, capsys) -> None:
    write(here, {"file": "x", "other/run.json": "[]"})
    assert main(["raft", "baseline", "plurality", *command]) == 2
    assert said in capsys.readouterr().err


def test_a_task_is_written_whole_or_not_at_all(here: Path) -> None:
    write(here, {"out/data": "a file where a folder should be"})
    assert main(["raft", "baseline", "plurality", "--all", "--out", "out"]) == 2
    with pytest.raises(DataError, match="cannot be read"):
        read_run(_folder_as_run(here))


def _folder_as_run(here: Path) -> Path:
    (here / "strange" / "run.json").mkdir(parents=True)
    return here / "strange"


def test_unlabelled_rows_of_the_task_are_learnt_from(here: Path) -> None:
    assert main(["raft", "baseline", "minilm-spreading", "--all"]) == 0
    labels = (here / "minilm-spreading" / "data" / "first" / "predictions.csv").read_text().splitlines()
    assert [line.split(",")[1] for line in labels[1:]] == ["rain", "sun_shine", "snow"]
    assert len(labels) == 1 + len(NEW)
    assert main(["raft", "baseline", "minilm-spreading", "--task", "raft/first", "--evaluate", "loo"]) == 0


# Retrieved texts
PROGRAM = """
import json, sys
from pathlib import Path
row = json.load(sys.stdin)
with Path("asked.txt").open("a") as file:
    file.write(row["Text"] + "\\n")
print("found for", row["Text"].upper())
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "search.py").write_text(PROGRAM)
    return f"{sys.executable} search.py"


def test_texts_are_one_more_field(program: str, tmp_path: Path) -> None:
    task, train = opened(weather(tmp_path / "task"))
    rows, wider = with_retrieved(train, task, Command(program, {}))
    assert rows.texts[0] == {**train.texts[0], FIELD: f"found for {train.texts[0]['Text'].upper()}"}
    assert (wider.fields, wider.prompt_fields) == (("Text", FIELD), ("Text", FIELD))
    assert (rows.ids, rows.labels) == (train.ids, train.labels)


def test_nothing_is_retrieved_twice(program: str, tmp_path: Path) -> None:
    kept = kept_texts(tmp_path / "kept.jsonl")
    retrieve = Command(program, kept)
    assert retrieve({"Text": "a"}) == retrieve({"Text": "a"}) == "found for A"
    again = Command(program, kept_texts(tmp_path / "kept.jsonl"))
    assert again({"Text": "a"}) == "found for A"
    assert again({"Text": "b"}) == "found for B"
    assert (tmp_path / "asked.txt").read_text().splitlines() == ["a", "b"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("no-such-program-here", "no-such-program-here cannot be started"),
        (f'"{sys.executable}" -c "import sys; sys.exit(3)"', "ended with status 3 for a row; what it found"),
        (f'"{sys.executable}" -c "import time; time.sleep(60)"', "took more than 0.5 seconds"),
        (
            f'"{sys.executable}" -c "import sys; sys.stdout.buffer.write(b\'\\xff\')"',
            "wrote something that is no UTF-8",
        ),
    ],
)
def test_programs_that_fail(line: str, said: str) -> None:
    with pytest.raises(DataError, match=said):
        Command(line, {}, timeout_s=0.5 if "sleep" in line else 60)({"Text": "a"})


@pytest.mark.parametrize("line", ["", '"open'])
def test_a_line_without_a_program(line: str) -> None:
    with pytest.raises(SpecError, match="takes a program"):
        Command(line, {})


def test_a_task_may_have_such_a_field_already(tmp_path: Path) -> None:
    task, train = opened(weather(tmp_path))
    with pytest.raises(SpecError, match="has a field Retrieved of its own"):
        with_retrieved(train, Task("t", task.classes, (FIELD,), (FIELD,)), lambda _: "")


def test_a_language_model_is_shown_it_last(program: str, tmp_path: Path) -> None:
    weather(tmp_path / "raft" / "task")
    with serving() as server:
        server.top = lambda prompt: {" snow": -0.1}
        command = ["raft", "baseline", "lm", "--all", "--retrieve", program, "--shots", "1"]
        command += ["--endpoint", server.url, "--model", "m", "--random-examples"]
        assert main(command) == 0
        last = server.prompts[0].split("\n\n")[-1]
    assert last == "Text: rain and more rain\nRetrieved: found for RAIN AND MORE RAIN\nLabel:"
    assert (tmp_path / "retrieved.jsonl").is_file()
