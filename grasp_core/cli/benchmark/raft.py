"""``raft``: the few-shot benchmark, with a command for each step, and arguments that the commands share."""

import argparse
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grasp_core.benchmark import submissions
from grasp_core.benchmark.tasks import Task, read_tasks
from grasp_core.cli.parser import Command, add_commands, option, whole
from grasp_core.cli.terminal.messages import note, show_line
from grasp_core.model.errors import DataError
from grasp_core.model.text import meant

TASKS = Path("raft")
COMMANDS = (
    Command("tasks", "list the tasks: classes, rows, fields, licence, difficulty", "benchmark.tasks"),
    Command(
        "example", "write a small made-up task with open gold labels, to try everything on", "benchmark.tasks"
    ),
    Command("validate", "check a submission before it is scored", "benchmark.tasks", reads=True),
    Command("score", "score a submission against gold labels", "benchmark.score", reads=True),
    Command("compare", "test whether one submission is better than another", "benchmark.score", reads=True),
    Command(
        "leaderboard",
        "submissions among the published systems, by task and kind of difficulty",
        "benchmark.score",
        reads=True,
    ),
    Command(
        "baseline",
        "label the rows of a task, or of all, by a baseline, or score it on labelled ones",
        "benchmark.baseline",
        reads=True,
    ),
    Command(
        "tune", "try out settings of a language model, or of AdaBoost, by leave-one-out", "benchmark.baseline"
    ),
    Command("sheet", "write a task's rows for people to vote on, with rows to qualify on", "benchmark.tasks"),
    Command(
        "human",
        "score the plurality of a few raters per item, against right labels or other raters",
        "benchmark.human",
        reads=True,
    ),
)


def fill_raft(raft: argparse.ArgumentParser) -> None:
    """Add the benchmark's commands, one of which has to be given."""
    add_commands(raft, COMMANDS)


def add_submission(parser: argparse.ArgumentParser, name: str) -> None:
    """Add the argument for a submission's folder or archive."""
    parser.add_argument(
        name,
        type=Path,
        metavar=f"{name.upper()}_DIR",
        help="folder, or zip, with data/<task>/predictions.csv",
    )


@dataclass(frozen=True, slots=True, eq=False)
class ScoringData:
    """Tasks, gold labels and the ids that submissions must have."""

    tasks: Mapping[str, Task]
    gold: submissions.Gold
    ids: Mapping[str, tuple[str, ...]]

    def submission(self, source: Path) -> submissions.Submission:
        """Read a submission; raises DataError if it cannot be scored."""
        found = submissions.read_submission(source, self.tasks)
        submissions.require_scorable(found, self.tasks, self.ids)
        for file in found.unexpected:
            note(f"{file.path} belongs to none of the tasks and is left out")
        return found


def open_setting(chosen: argparse.Namespace) -> ScoringData:
    """Read the tasks and gold labels that ``--tasks`` and ``--gold`` name."""
    tasks = read_tasks(chosen.tasks)
    ids = submissions.known_ids(chosen.tasks)
    gold = submissions.read_gold(chosen.gold, tasks, ids)
    return ScoringData(tasks, gold, {**gold.ids, **ids})


def show_task(name: str) -> None:
    """Show which task is being scored, in a line of progress."""
    show_line(f"scoring {name}")


def add_tasks(parser: argparse.ArgumentParser) -> None:
    """Add the option for the folder of tasks."""
    option(
        parser, "--tasks TASKS_DIR", "folder with <task>/task.json; default: the benchmark's 11 tasks", Path
    )


def add_setting(parser: argparse.ArgumentParser, *, gold_required: bool = True) -> None:
    """Add the options for the folders of gold labels and tasks, and for the seed of resampling."""
    words = "folder with <task>/test.csv (ID,Label)"
    option(parser, "--gold GOLD_DIR", words, Path, required=gold_required)
    add_tasks(parser)
    option(parser, "--seed N", "of the resampling", whole, default=1)


def add_all_tasks(parser: argparse.ArgumentParser, how: str) -> None:
    """Add the options for one task, or all tasks of a folder; `how`: words for what is done with all."""
    which = parser.add_mutually_exclusive_group(required=True)
    option(which, "--task TASK_DIR", "folder with task.json", Path)
    option(which, "--all", f"every task of --tasks, {how}")
    option(parser, "--tasks TASKS_DIR", f"for --all: a folder for each; default: {TASKS}", Path)


def table_text(columns: list[str], rows: Sequence[tuple[str, ...]]) -> str:
    """Return a table as text for printing, with a header."""
    import pandas as pd  # which takes long to load

    return pd.DataFrame(rows, columns=columns).to_string(index=False)


def interval(ends: tuple[float, float]) -> str:
    """Return the ends of an interval in words."""
    return f"{ends[0]:.3f} to {ends[1]:.3f}"


def unknown(what: str, name: str, names: Collection[str]) -> DataError:
    """Return the error for an unknown name, with the name that may be meant."""
    there = meant(name, list(names), f"there are {', '.join(names)}")
    return DataError(f"{what}; {there}")
