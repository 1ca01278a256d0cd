"""The benchmark that this server holds; its gold labels are read in worker processes alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

import streamlit as st

from grasp_core import server, submitting
from grasp_core.benchmark.jobs import Benchmark
from grasp_core.benchmark.leaderboard import Entry, published
from grasp_core.benchmark.tasks import Task, builtin_tasks, read_tasks
from grasp_core.errors import DataError
from grasp_core.report.words.text import escape_markdown
from grasp_core.store.submissions import SubmissionRecord
from pages._ui.session.projects import here

A = TypeVar("A")
B = TypeVar("B")


def tasks_folder() -> Path | None:
    """Where the tasks' own files are; None for the built-in tasks."""
    return submitting.tasks_folder(server.shared().settings)


def benchmark() -> Benchmark | None:
    """The benchmark with its gold labels; None where this server has none."""
    return submitting.benchmark_of(server.shared().settings)


def tasks() -> Mapping[str, Task]:
    """The benchmark's tasks.

    Raises
    ------
    DataError
        If the folder that the settings name cannot be used.
    """
    return read_tasks(tasks_folder())


def benchmark_or_say() -> bool:
    """Whether the tasks can be used; else why not, in a sentence."""
    try:
        tasks()
    except DataError as error:
        st.error(escape_markdown(f"The benchmark cannot be used: {error}."))
        return False
    return True


def in_a_worker(function: Callable[[A], B], job: A, doing: str) -> B | None:
    """The job's result, computed beside the pages; None after saying what was wrong."""
    try:
        with st.spinner(doing):
            return next(server.shared().service.pool.each(function, [job]))
    except DataError as error:
        st.error(escape_markdown(f"{error}."))
        return None


def entries() -> list[Entry]:
    """Systems scored here; published ones beside them where the tasks are RAFT's."""
    own = [_entry(record) for record in here().submissions.all()]
    return own + (list(published()) if tasks().keys() == builtin_tasks().keys() else [])


def _entry(record: SubmissionRecord) -> Entry:
    scored = record.scores["tasks"]
    return Entry(
        name=record.name,
        tasks={task: score["macro_f1"] for task, score in scored.items()},
        overall=record.scores["overall"],
        ci95={task: (score["ci95"][0], score["ci95"][1]) for task, score in scored.items()},
        id=record.id,
    )
