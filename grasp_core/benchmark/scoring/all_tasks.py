"""A baseline on every task of a folder, written as a submission; a later call continues it."""

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from grasp_core.analysis.models.labels import ID, LABEL
from grasp_core.benchmark.baselines.classical import Baseline
from grasp_core.benchmark.language_models.answers import Usage
from grasp_core.benchmark.scoring.evaluate import BLOCK, label_rows, work_key
from grasp_core.benchmark.scoring.scores import Scores
from grasp_core.benchmark.submissions import PREDICTIONS
from grasp_core.benchmark.tasks import TEST_FILE, TRAIN_FILE, Task, TaskRows, read_rows, read_tasks
from grasp_core.model.errors import DataError
from grasp_core.model.json_values import FormError, from_json
from grasp_core.model.text import csv_text
from grasp_core.reading.table.parsed import Watch, unwatched

RUN_FILE = "run.json"
"""Name of the file beside ``data`` with the settings of the run, and its time and costs."""
_FORMAT = {"format": "grasp-baseline", "version": 1}


@dataclass(frozen=True, slots=True, eq=False)
class TaskFiles:
    """A task with its labelled rows and the rows to be labelled."""

    task: Task
    train: TaskRows
    test: TaskRows


def read_files(folder: Path) -> tuple[list[TaskFiles], list[str]]:
    """Return the tasks of a folder, and the names of tasks that lack one of the files with rows."""
    if not folder.is_dir():
        raise DataError(
            f"there is no folder {folder}; name that of the tasks with --tasks, or fetch it: "
            "grasp fetch raft --to raft"
        )
    found, without = [], []
    for name, task in read_tasks(folder).items():
        train, test = (folder / name / file for file in (TRAIN_FILE, TEST_FILE))
        if train.is_file() and test.is_file():
            rows = [read_rows(train, task, labelled=True), read_rows(test, task, labelled=False)]
            found.append(TaskFiles(task, *rows))
        else:
            without.append(name)
    if not found:
        raise DataError(f"no task in {folder} has both a {TRAIN_FILE} and a {TEST_FILE}")
    return found, without


@dataclass(frozen=True, slots=True)
class TaskRun:
    """Time and cost of labelling a task; `key` is the hash of everything that decides the labels."""

    key: str
    labels_sha256: str
    rows: int
    seconds: float
    questions: int = 0
    tokens: int = 0
    cost: float = 0.0


def label_all(
    found: Sequence[TaskFiles],
    fit: Callable[[TaskFiles], Baseline],
    name: str,
    out: Path,
    *,
    seed: int = 1,
    usage: Usage | None = None,
    watch: Watch = unwatched,
    block: int = BLOCK,
) -> Iterator[tuple[str, TaskRun, bool]]:
    """Label and write every task that this baseline has not labelled; yield the run, and True if new."""
    known = read_run(out)
    for files in found:
        key = work_key(name, files.task, [files.train, files.test], "submission", seed)
        path = out / "data" / files.task.name / PREDICTIONS
        run = known.get(files.task.name)
        new = run is None or run.key != key or run.labels_sha256 != _sha256(path)
        if run is None or new:
            before = Usage() if usage is None else replace(usage)
            started = time.perf_counter()
            labels = label_rows(
                fit(files), files.train, files.task, files.test.texts, seed=seed, watch=watch, block=block
            )
            after = before if usage is None else usage
            content = predictions_csv(files.test.ids, labels).encode()
            _write(path, content)
            run = TaskRun(
                key=key,
                labels_sha256=hashlib.sha256(content).hexdigest(),
                rows=len(labels),
                seconds=round(time.perf_counter() - started, 3),
                questions=after.asked - before.asked,
                tokens=after.tokens - before.tokens,
                cost=after.cost - before.cost,
            )
            known = {**known, files.task.name: run}
            write_run(out, known)
        yield files.task.name, run, new


def read_run(out: Path) -> dict[str, TaskRun]:
    """Return an earlier call's runs by task; empty if there was none."""
    path = out / RUN_FILE
    try:
        plain: Any = json.loads(path.read_bytes())
        if {name: plain[name] for name in _FORMAT} != _FORMAT:
            raise KeyError
        return {name: from_json(one, TaskRun) for name, one in plain["tasks"].items()}
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror})") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, FormError):
        raise DataError(f"{path} is not what a baseline writes; name another folder with --out") from None


def write_run(out: Path, runs: Mapping[str, TaskRun], scores: Scores | None = None) -> None:
    """Write ``run.json``, with the scores if there are any."""
    plain: dict[str, Any] = {**_FORMAT, "tasks": {name: asdict(run) for name, run in runs.items()}}
    if scores is not None:
        plain["scores"] = {
            name: {"macro_f1": one.macro_f1, "ci95": list(one.ci95), "n": one.n}
            for name, one in scores.tasks.items()
        }
        plain["overall"] = scores.overall
    _write(out / RUN_FILE, (json.dumps(plain, ensure_ascii=False, indent=2) + "\n").encode())


def predictions_csv(ids: Sequence[str], labels: Sequence[str]) -> str:
    """Return a task's file for a submission."""
    return csv_text((ID, LABEL), zip(ids, labels, strict=True))


def _write(path: Path, content: bytes) -> None:
    """Write a whole file or none: the old one stays until the new one is complete."""
    part = path.with_name(f"{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(content)
        part.replace(path)
    except OSError as error:
        raise DataError(f"{path}: cannot be written ({error.strerror})") from None


def _sha256(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""
