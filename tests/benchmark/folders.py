"""Folders of tasks, gold labels and submissions, made for a test."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

CLASSES = ("no", "yes", "maybe so")
MOOD, TONE = "mood", "tone"
IDS = tuple(str(number) for number in range(50, 58))
GOLD = ("no", "yes", "yes", "maybe so", "no", "no", "yes", "maybe so")
SAID = ("no", "yes", "no", "maybe so", "no", "yes", "yes", "no")


def table(labels: Sequence[str], ids: Sequence[str] = IDS, end: str = "\n") -> str:
    rows = [f"{one},{label}" for one, label in zip(ids, labels, strict=True)]
    return end.join(["ID,Label", *rows, ""])


def write(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    for path, content in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


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
