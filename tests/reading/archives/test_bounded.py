from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from grasp_core import cli
from grasp_core.benchmark.language_models.answers import Answers
from grasp_core.benchmark.language_models.prompt import FileTokens
from grasp_core.benchmark.tasks import builtin_tasks, read_rows, read_task
from grasp_core.model.errors import DataError
from grasp_core.reading.archives.members import MIB, read_at_most

TASK = next(iter(builtin_tasks().values()))


def test_a_file_of_just_the_size_is_read(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"x" * MIB)
    assert read_at_most(file, MIB, "anything") == b"x" * MIB
    file.write_bytes(b"x" * (MIB + 1))
    with pytest.raises(DataError, match="file is larger than 1 MiB, the most that is read of anything"):
        read_at_most(file, MIB, "anything")
    with pytest.raises(OSError, match="directory"):
        read_at_most(tmp_path, MIB, "anything")


@pytest.mark.parametrize(
    ("name", "read", "what"),
    [
        ("task.json", lambda path: read_task(path.parent), "a task's description"),
        ("train.csv", lambda path: read_rows(path, TASK, labelled=True), "a task's rows"),
        ("tokenizer.json", FileTokens, "a tokenizer"),
        ("answers.jsonl", Answers, "answers"),
    ],
)
def test_files_of_the_benchmark_are_read_up_to_a_size(
    tmp_path: Path, name: str, read: Callable[[Path], object], what: str
) -> None:
    file = tmp_path / name
    with file.open("wb") as empty:
        empty.truncate(1024 * MIB + 1)  # a sparse file: it takes no room
    with pytest.raises(DataError, match=rf"larger than [\d,]+ MiB, the most that is read of {what}"):
        read(file)


def test_a_list_of_ids_is_read_up_to_a_size(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ids = tmp_path / "ids.txt"
    with ids.open("wb") as empty:
        empty.truncate(65 * MIB)
    assert cli.main(["run", "--annotations", "a.csv", "--exclude-rater", f"@{ids}"]) == cli.BAD_INPUT
    assert "is larger than 64 MiB, the most that is read of a list of ids" in capsys.readouterr().err
    assert cli.main(["run", "--annotations", "a.csv", "--exclude-rater", "@no-such-file"]) == cli.BAD_INPUT
    assert "'no-such-file' cannot be read as a list of ids" in capsys.readouterr().err
