"""Arguments that several commands of ``raft`` take."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from grasp_core.benchmark.gold import Gold, read_gold
from grasp_core.benchmark.submissions import Submission, known_ids, read_submission, require_scorable
from grasp_core.benchmark.tasks import Task, read_tasks
from grasp_core.cli.terminal.messages import note, show_line


def add_submission(parser: argparse.ArgumentParser, name: str) -> None:
    """The place of a submission."""
    parser.add_argument(
        name,
        type=Path,
        metavar=f"{name.upper()}_DIR",
        help="folder, or zip, with data/<task>/predictions.csv",
    )


def add_gold(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    """The folder of gold labels."""
    parser.add_argument(
        "--gold",
        type=Path,
        required=required,
        metavar="GOLD_DIR",
        help="folder with <task>/test.csv (ID,Label)",
    )


@dataclass(frozen=True, slots=True, eq=False)
class Setting:
    """Tasks, gold and the ids that submissions must have."""

    tasks: Mapping[str, Task]
    gold: Gold
    ids: Mapping[str, tuple[str, ...]]

    def submission(self, source: Path) -> Submission:
        """A submission that can be scored."""
        found = read_submission(source, self.tasks)
        require_scorable(found, self.tasks, self.ids)
        for file in found.unexpected:
            note(f"{file.path} belongs to none of the tasks and is left out")
        return found


def open_setting(chosen: argparse.Namespace) -> Setting:
    """What ``--tasks`` and ``--gold`` name."""
    tasks = read_tasks(chosen.tasks)
    ids = known_ids(chosen.tasks)
    gold = read_gold(chosen.gold, tasks, ids)
    return Setting(tasks, gold, {**gold.ids, **ids})


def show_task(name: str) -> None:
    """Say which task is being scored, in a line that is written over."""
    show_line(f"scoring {name}")


def add_tasks(parser: argparse.ArgumentParser) -> None:
    """The folder of tasks."""
    parser.add_argument(
        "--tasks",
        type=Path,
        metavar="TASKS_DIR",
        help="folder with <task>/task.json; default: the benchmark's 11 tasks",
    )


def add_seed(parser: argparse.ArgumentParser) -> None:
    """The seed of resampling."""
    parser.add_argument("--seed", type=whole, default=1, metavar="N", help="of the resampling")


def whole(text: str) -> int:
    """A whole number from 0, as seeds are."""
    if not (text.isascii() and text.isdigit() and int(text) < 2**63):
        raise argparse.ArgumentTypeError(f"must be a whole number from 0 to 2^63 - 1; found {text!r}")
    return int(text)
