"""Where a submission goes wrong: counts by class, and the rows themselves with their texts."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from sklearn.metrics import confusion_matrix

from grasp_core.benchmark.scoring.compare import ERROR_COLUMNS, confusion_table, errors_csv, mistakes_text
from grasp_core.benchmark.scoring.scores import TaskScore
from grasp_core.benchmark.submissions import Gold
from grasp_core.benchmark.tasks import read_tasks
from grasp_core.statistics.f1 import confusion
from tests.benchmark.folders import CLASSES, GOLD, IDS, MOOD, SAID, TONE, write, write_tasks

MANY = tuple(f"class {number}" for number in range(12))


def scored(right: np.ndarray, said: np.ndarray, classes: tuple[str, ...]) -> TaskScore:
    return TaskScore(0.5, 0.5, (0.4, 0.6), right.size, classes, confusion(right, said, len(classes)))


def rows(text: str) -> list[list[str]]:
    return list(csv.reader(text.splitlines()))


def test_the_table_is_that_of_scikit_learn_without_classes_that_never_occur() -> None:
    right, said = np.array([0, 3, 3, 5, 0, 3]), np.array([0, 3, 5, 5, 7, 0])
    found = confusion_table(confusion(right, said, 12), MANY)
    assert list(found.index) == list(found.columns) == [MANY[code] for code in (0, 3, 5, 7)]
    assert (found.to_numpy() == confusion_matrix(right, said)).all()


def test_few_classes_are_told_as_a_matrix() -> None:
    right, said = (np.array([CLASSES.index(label) for label in labels]) for labels in (GOLD, SAID))
    lines = mistakes_text(MOOD, scored(right, said, CLASSES)).splitlines()
    assert lines[0] == "mood: 3 of 8 labelled wrongly (gold class down, predicted class across)"
    assert [line.split()[-3:] for line in lines[2:]] == [["2", "1", "0"], ["1", "2", "0"], ["1", "0", "1"]]


def test_many_classes_are_told_by_what_is_confused_most_often() -> None:
    right = np.concatenate([np.arange(12), np.full(1_200, 4), [2, 2]])
    said = np.concatenate([np.arange(12), np.full(1_200, 1), [0, 9]])
    assert mistakes_text("banking", scored(right, said, MANY)).splitlines() == [
        "banking: 1,202 of 1,214 labelled wrongly; most often (gold > predicted)",
        "  1,200  class 4 > class 1",
        "      1  class 2 > class 0",
        "      1  class 2 > class 9",
    ]
    every = np.arange(12)
    assert len(mistakes_text("x", scored(every, np.roll(every, 1), MANY)).splitlines()) == 11


def test_without_a_mistake_there_is_a_line() -> None:
    assert mistakes_text(MOOD, scored(np.arange(3), np.arange(3), CLASSES)) == "mood: 0 of 3 labelled wrongly"


def test_rows_labelled_wrongly_come_with_their_texts(tmp_path: Path) -> None:
    tasks = read_tasks(write_tasks(tmp_path))
    (tmp_path / TONE / "test_unlabeled.csv").unlink()
    write(tmp_path, {f"{MOOD}/test_unlabeled.csv": 'ID,text\n52,"one,\ntwo"\n55,=1+1\n57,last\n'})
    said, right = dict(zip(IDS, SAID, strict=True)), dict(zip(IDS, GOLD, strict=True))
    gold = Gold({MOOD: right, TONE: {"57": "maybe so", "50": "no"}})
    header, *found = csv.reader(errors_csv({MOOD: said, TONE: said}, tasks, gold, tmp_path).splitlines(True))
    assert tuple(header) == ERROR_COLUMNS
    assert found == [
        [MOOD, "52", "yes", "no", "text: one,\ntwo"],
        [MOOD, "55", "no", "yes", "text: =1+1"],
        [MOOD, "57", "maybe so", "no", "text: last"],
        [TONE, "57", "maybe so", "no", ""],
    ]


def test_what_a_spreadsheet_would_run_is_text(tmp_path: Path) -> None:
    tasks = read_tasks(write_tasks(tmp_path))
    gold = Gold({MOOD: {"=1+1": "yes"}})
    assert rows(errors_csv({MOOD: {"=1+1": "no"}}, tasks, gold))[1:] == [[MOOD, "'=1+1", "yes", "no", ""]]
