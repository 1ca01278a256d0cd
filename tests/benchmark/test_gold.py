"""Gold labels are read, checked, and never repeated."""

from __future__ import annotations

from pathlib import Path

import pytest

from grasp_core.benchmark.submissions import read_gold
from grasp_core.benchmark.tasks import Task
from grasp_core.model.errors import DataError
from tests.benchmark.folders import CLASSES, GOLD, IDS, MOOD, TONE, table, write, write_gold

TASKS = {name: Task(name, CLASSES, ("text",), ("text",)) for name in (MOOD, TONE)}
FILE = f"{MOOD}/test.csv"


def test_gold_of_some_tasks(tmp_path: Path) -> None:
    found = read_gold(write_gold(tmp_path, [MOOD]), TASKS)
    assert dict(found.labels) == {MOOD: dict(zip(IDS, GOLD, strict=True))}
    assert found.ids == {MOOD: IDS}


def test_further_columns_do_not_matter(tmp_path: Path) -> None:
    lines = [f"{line},text" for line in table(GOLD, end="\n").splitlines()]
    write(tmp_path, {FILE: "\r\n".join(lines)})
    assert read_gold(tmp_path, TASKS).ids == {MOOD: IDS}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (table([*GOLD[:-1], "secret"]), f"{FILE}, row 9: the gold label is none of the 3 classes of mood"),
        (table([*GOLD[:-1], "Unlabeled"]), f"{FILE}, row 9: the gold label is none"),
        (table(GOLD, [*IDS[:-1], "50"]), f"{FILE}, row 9: the ID occurs twice"),
        (table(GOLD).replace("Label", "secret"), f"{FILE}: the gold labels need the columns ID and Label"),
        (table(GOLD) + "58,no,secret\n", f"{FILE}: the gold labels cannot be read as CSV"),
        ("secret", f"{FILE}: the gold labels cannot be read as CSV"),
        (table(GOLD, ["1", *IDS[1:]]), f"{FILE}: 1 ID of the gold labels belongs to no row of mood: '1'"),
    ],
)
def test_errors_name_the_place_and_no_label(content: str, said: str, tmp_path: Path) -> None:
    write(tmp_path, {FILE: content})
    with pytest.raises(DataError) as raised:
        read_gold(tmp_path, TASKS, {MOOD: IDS})
    whole = str(raised.value) + "".join(str(problem) for problem in raised.value.problems)
    assert whole.startswith(said)
    assert "secret" not in whole
    assert "'no'" not in whole
    assert raised.value.__cause__ is None


def test_without_any_gold(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="has no gold labels of any task"):
        read_gold(tmp_path, TASKS)
