"""``raft tasks``, ``example``, ``sheet`` and ``validate``: tasks, rows for people to label, submissions."""

import argparse
import json
import shutil
import textwrap
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from grasp_core.benchmark.submissions import VALIDATED, known_ids, read_submission, validate
from grasp_core.benchmark.tasks import (
    TASK_FILE,
    TEST_FILE,
    TRAIN_FILE,
    Task,
    example_task_files,
    read_rows,
    read_task,
    read_tasks,
    voting_sheet,
)
from grasp_core.cli.benchmark.raft import TASKS, add_submission, add_tasks, unknown
from grasp_core.cli.fetch import write_files
from grasp_core.cli.parser import option, whole
from grasp_core.cli.terminal.messages import note
from grasp_core.cli.terminal.output import check_target, write_text
from grasp_core.model.errors import SpecError, raise_stopping
from grasp_core.model.text import number


def fill_tasks(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``raft tasks``."""
    parser.set_defaults(command=_tasks)
    parser.add_argument(
        "name", nargs="?", metavar="TASK", help="one task in full: instructions, classes, fields"
    )
    add_tasks(parser)
    option(parser, "--out FILE", "the same as JSON, as task.json has it", Path)


def fill_example(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``raft example``."""

    def command(chosen: argparse.Namespace) -> None:
        write_files(chosen.directory, example_task_files())
        print(chosen.directory)

    parser.set_defaults(command=command)
    parser.add_argument("directory", type=Path, metavar="DIR")


def _tasks(chosen: argparse.Namespace) -> None:
    check_target(chosen.out)
    tasks = read_tasks(chosen.tasks)
    if chosen.name is not None:
        if chosen.name not in tasks:
            what = f"{chosen.name} is none of the {number(len(tasks), 'task')}"
            raise unknown(what, chosen.name, tasks)
        tasks = {chosen.name: tasks[chosen.name]}
        _print_one(tasks[chosen.name], chosen.tasks)
    else:
        _print_all(tasks, chosen.tasks)
    if chosen.out is not None:
        plain = {
            name: {**task.description, "here": _here(task, chosen.tasks)} for name, task in tasks.items()
        }
        write_text(chosen.out, json.dumps(plain, ensure_ascii=False, indent=2) + "\n")


def _print_all(tasks: Mapping[str, Task], folder: Path | None) -> None:
    rows = [
        (
            name,
            f"{len(task.classes)}",
            "" if task.test_rows is None else f"{task.test_rows:,}",
            ", ".join(task.fields),
            task.licence or "not told",
            ", ".join(task.difficulty) or "-",
            ", ".join(_here(task, folder)) or "-",
        )
        for name, task in tasks.items()
    ]
    columns = ["task", "classes", "rows to label", "fields", "licence", "difficulty", "here"]
    _print_table(pd.DataFrame(rows, columns=columns))
    for name, task in tasks.items():
        if task.warning:
            note(f"{name}: {task.warning}")
    if folder is None and not any(_here(task, folder) for task in tasks.values()):
        note(f"no rows are here; `grasp fetch raft --to {TASKS}` brings them")


def _print_table(table: pd.DataFrame) -> None:
    """Print columns of text, left-aligned; on a narrow terminal a block for each row."""
    lines = [list(table.columns), *table.to_numpy().tolist()]
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    if sum(widths) + 2 * len(widths) <= shutil.get_terminal_size((200, 24)).columns:
        for line in lines:
            print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
        return
    for line in lines[1:]:
        print(line[0])
        for name, cell in zip(lines[0][1:], line[1:], strict=True):
            if cell not in ("", "-"):
                print(textwrap.fill(f"{name}: {cell}", 78, initial_indent="  ", subsequent_indent="    "))


def _print_one(task: Task, folder: Path | None) -> None:
    if task.warning:
        note(f"{task.name}: {task.warning}")
    print(f"{task.name}\n\n{task.instructions or 'No instructions: a model is told the classes alone.'}\n")
    print("Possible labels:")
    for position, name in enumerate(task.classes, 1):
        print(f"{position}. {name}")
    rows = "" if task.test_rows is None else f"{task.test_rows:,}"
    facts = {
        "fields": ", ".join(task.fields),
        "shown to a language model": ", ".join(task.prompt_fields),
        "examples in its prompt": f"{task.shots}",
        "rows to label": rows,
        "difficulty": ", ".join(task.difficulty),
        "licence": task.licence,
        "source": task.source,
        "here": ", ".join(_here(task, folder)),
    }
    print()
    for name, value in facts.items():
        if value:
            print(f"{name}: {value}")


def _here(task: Task, folder: Path | None) -> list[str]:
    """Return the task's files with rows that the folder has; default: the folder that baselines use."""
    place = (folder or TASKS) / task.name
    return [name for name in (TRAIN_FILE, TEST_FILE) if (place / name).is_file()]


def fill_sheet(sheet: argparse.ArgumentParser) -> None:
    """Add the command ``sheet`` to those of ``raft``."""
    sheet.set_defaults(command=_sheet)
    option(sheet, "--task TASK_DIR", kind=Path, required=True)
    option(sheet, "--voters NAME,...", "default: 1,2,3,4,5", default="1,2,3,4,5")
    option(sheet, "--items N", "rows to vote on (default: 100)", whole, default=100)
    option(sheet, "--asked N", "labelled rows to qualify on (default: 10)", whole, default=10)
    option(sheet, "--seed N", "of the rows drawn", whole, default=1)
    option(sheet, "--out FILE", "default: votes.csv", Path, default=Path("votes.csv"))
    option(
        sheet,
        "--right FILE",
        "right labels of the rows to qualify on, not for the voters; default: qualification.csv",
        Path,
        default=Path("qualification.csv"),
    )


def _sheet(chosen: argparse.Namespace) -> None:
    for target in (chosen.out, chosen.right):
        check_target(target)
        if target.exists():  # once filled in, it is somebody's work
            raise SpecError(f"{target} is there already; name another file, so that no votes are lost")
    task = read_task(chosen.task)
    train = read_rows(chosen.task / TRAIN_FILE, task, labelled=True)
    test = read_rows(chosen.task / TEST_FILE, task, labelled=False)
    if task.warning:
        note(f"{task.name}: {task.warning}")
    voters = [name.strip() for name in chosen.voters.split(",")]
    sheet, right = voting_sheet(
        task, train, test, voters, items=chosen.items, asked=chosen.asked, seed=chosen.seed
    )
    write_text(chosen.out, sheet)
    write_text(chosen.right, right)
    print(f"{chosen.out}: each voter fills in Label, one of {', '.join(task.classes[:5])}", end="")
    print(", ..." if len(task.classes) > 5 else "")
    note(
        f"then: grasp raft human --annotations {chosen.out} --layout long --item ID --rater rater --label "
        f"Label --categories {chosen.task / TASK_FILE} --qualification {chosen.right} --bar 0.6"
    )


def fill_validate(validating: argparse.ArgumentParser) -> None:
    """Add the arguments of ``raft validate``."""
    validating.set_defaults(command=_validate)
    add_submission(validating, "submission")
    add_tasks(validating)


def _validate(chosen: argparse.Namespace) -> None:
    tasks = read_tasks(chosen.tasks)
    submission = read_submission(chosen.submission, tasks)
    problems = validate(submission, tasks, known_ids(chosen.tasks))
    for problem in problems:
        if not problem.stops:
            note(problem.message)
    stopping = [problem for problem in problems if problem.stops]
    if len(stopping) > 1:
        for problem in stopping:
            print(f"- {problem.message}")
    raise_stopping(stopping)
    print(VALIDATED)
