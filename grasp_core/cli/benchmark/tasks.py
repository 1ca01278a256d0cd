"""``raft tasks`` and ``raft example``: what there is to be classified, and a task to try everything on."""

from __future__ import annotations

import argparse
import json
import shutil
import textwrap
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from grasp_core.benchmark.example import example_task_files
from grasp_core.benchmark.tasks import TEST_FILE, TRAIN_FILE, Task, read_tasks
from grasp_core.cli.benchmark.arguments import add_tasks
from grasp_core.cli.terminal.messages import note
from grasp_core.cli.terminal.output import check_target, write_text
from grasp_core.model.errors import DataError
from grasp_core.model.wording import closest, listed, number


def fill_tasks(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``raft tasks``."""
    parser.set_defaults(command=_tasks)
    parser.add_argument(
        "name", nargs="?", metavar="TASK", help="one task in full: instructions, classes, fields"
    )
    add_tasks(parser)
    parser.add_argument("--out", type=Path, metavar="FILE", help="the same as JSON, as task.json has it")


def fill_example(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``raft example``."""
    parser.set_defaults(command=_example)
    parser.add_argument("directory", type=Path, metavar="DIR")


def _tasks(chosen: argparse.Namespace) -> None:
    check_target(chosen.out)
    tasks = read_tasks(chosen.tasks)
    if chosen.name is not None:
        if chosen.name not in tasks:
            close = closest(chosen.name, list(tasks))
            hint = f"did you mean {listed(close)}?" if close else f"there are {', '.join(tasks)}"
            raise DataError(f"{chosen.name} is none of the {number(len(tasks), 'task')}; {hint}")
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
    if folder is None:
        note("no rows are here; `grasp fetch raft --to raft` brings them, then add --tasks raft")


def _print_table(table: pd.DataFrame) -> None:
    """Columns of text, left-aligned; on a narrow terminal a block a row."""
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
    """Which of a task's files with rows the folder has."""
    if folder is None:
        return []
    return [name for name in (TRAIN_FILE, TEST_FILE) if (folder / task.name / name).is_file()]


def _example(chosen: argparse.Namespace) -> None:
    try:
        for name, content in example_task_files().items():
            path = chosen.directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    except OSError as error:
        raise DataError(f"{chosen.directory}: cannot be written ({error.strerror})") from None
    print(chosen.directory)
