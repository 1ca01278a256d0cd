"""Folders of tasks, gold labels and submissions, made for a test; small tasks to learn, published ones."""

import json
from collections.abc import Sequence
from pathlib import Path

from grasp_core.benchmark.tasks import TRAIN_FILE, Task, TaskRows, read_rows, read_task
from tests.commands import write
from tests.shared_data import SHARED

CLASSES = ("no", "yes", "maybe so")
MOOD, TONE = "mood", "tone"
IDS = tuple(str(number) for number in range(50, 58))
GOLD = ("no", "yes", "yes", "maybe so", "no", "no", "yes", "maybe so")
SAID = ("no", "yes", "no", "maybe so", "no", "yes", "yes", "no")


def table(labels: Sequence[str], ids: Sequence[str] = IDS, end: str = "\n") -> str:
    rows = [f"{one},{label}" for one, label in zip(ids, labels, strict=True)]
    return end.join(["ID,Label", *rows, ""])


def write_tasks(folder: Path, names: Sequence[str] = (MOOD, TONE), *, test: bool = True) -> Path:
    """Tasks of eight rows each."""
    task = json.dumps({"classes": CLASSES, "fields": ["text"]})
    rows = "\n".join(["ID,text", *(f"{one},some text {one}" for one in IDS), ""])
    for name in names:
        write(folder, {f"{name}/task.json": task} | ({f"{name}/test_unlabeled.csv": rows} if test else {}))
    return folder


def write_gold(folder: Path, names: Sequence[str] = (MOOD, TONE)) -> Path:
    return write(folder, {f"{name}/test.csv": table(GOLD) for name in names})


def submission_files(names: Sequence[str] = (MOOD, TONE)) -> dict[str, str]:
    return {f"data/{name}/predictions.csv": table(SAID) for name in names}


RAFT = SHARED / "data" / "raft"
OPEN_ROWS = SHARED / "data" / "raft_open" / "banking_77_source" / "not_in_raft.csv"
WEATHER = (
    ("It has rained since the morning", "rain"),
    ("Heavy rain is falling on the roof", "rain"),
    ("Take an umbrella, it will rain", "rain"),
    ("Bright sun all day long", "sun_shine"),
    ("The sun burns in a blue sky", "sun_shine"),
    ("Snow lies on the hills", "snow"),
)
NEW = ("rain and more rain", "the sun is out", "so much snow")


def weather(folder: Path, rows: Sequence[tuple[str, str]] = WEATHER) -> Path:
    """A task of three classes, of which the second has a name of two words."""
    task = json.dumps({"classes": ["rain", "snow", "sun_shine"], "fields": ["Text"]})
    train = "\n".join(["Text,Label", *(f'"{text}",{label}' for text, label in rows), ""])
    test = "\n".join(["ID,Text", *(f'{number},"{text}"' for number, text in enumerate(NEW, 70)), ""])
    return write(folder, {"task.json": task, "train.csv": train, "test_unlabeled.csv": test})


def opened(folder: Path) -> tuple[Task, TaskRows]:
    task = read_task(folder)
    return task, read_rows(folder / TRAIN_FILE, task, labelled=True)


def texts(*lines: str) -> list[dict[str, str]]:
    return [{"Text": line} for line in lines]
