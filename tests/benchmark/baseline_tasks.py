"""Small tasks to learn, and the published ones where they are at hand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from grasp_core.benchmark.tasks import TRAIN_FILE, Rows, Task, read_rows, read_task
from tests.benchmark.folders import write
from tests.shared_data import SHARED

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


def opened(folder: Path) -> tuple[Task, Rows]:
    task = read_task(folder)
    return task, read_rows(folder / TRAIN_FILE, task, labelled=True)


def texts(*lines: str) -> list[dict[str, str]]:
    return [{"Text": line} for line in lines]
