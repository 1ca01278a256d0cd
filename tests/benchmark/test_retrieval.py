"""Retrieved texts: a program is asked once for each row, and its texts become one more field."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from grasp_core.benchmark.checkpoints import FIELD, Command, kept_texts, with_retrieved
from grasp_core.benchmark.tasks import Task
from grasp_core.cli import main
from grasp_core.model.errors import DataError, SpecError
from tests.benchmark.baseline_tasks import opened, weather
from tests.benchmark.language_models.completions_server import serving

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
