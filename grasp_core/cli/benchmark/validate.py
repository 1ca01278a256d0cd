"""``raft validate``: what is wrong with a submission, before it is scored."""

from __future__ import annotations

import argparse

from grasp_core.benchmark.submissions import VALIDATED, known_ids, read_submission, validate
from grasp_core.benchmark.tasks import read_tasks
from grasp_core.cli.benchmark.arguments import add_submission, add_tasks
from grasp_core.cli.terminal.messages import note
from grasp_core.model.errors import Problem, raise_stopping


def fill_validate(validating: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    validating.set_defaults(command=_validate)
    add_submission(validating, "submission")
    add_tasks(validating)


def _validate(chosen: argparse.Namespace) -> None:
    tasks = read_tasks(chosen.tasks)
    submission = read_submission(chosen.submission, tasks)
    problems = validate(submission, tasks, known_ids(chosen.tasks))
    _remark(problems)
    stopping = [problem for problem in problems if problem.stops]
    if len(stopping) > 1:
        for problem in stopping:
            print(f"- {problem.message}")
    raise_stopping(stopping)
    print(VALIDATED)


def _remark(problems: list[Problem]) -> None:
    for problem in problems:
        if not problem.stops:
            note(problem.message)
