"""``raft``: the few-shot benchmark, a command for each of its steps."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from grasp_core.cli.raft_arguments import add_submission, add_tasks
from grasp_core.cli.raft_baseline import add_baseline
from grasp_core.cli.raft_human import add_human
from grasp_core.cli.raft_lm import add_tune
from grasp_core.cli.raft_score import add_compare, add_score
from grasp_core.errors import Problem
from grasp_core.io.problems import raise_stopping
from grasp_core.raft.submissions import read_submission
from grasp_core.raft.tasks import read_tasks
from grasp_core.raft.validation import VALIDATED, known_ids, validate


def add_raft(commands: Any) -> None:
    """Add the command and those below it to the parser."""
    raft = commands.add_parser("raft", help="few-shot benchmark: check, score and compare submissions")
    raft_commands = raft.add_subparsers(required=True, metavar="COMMAND")
    for add in (_add_validate, add_score, add_compare, add_baseline, add_tune, add_human):
        add(raft_commands)


def _add_validate(commands: Any) -> None:
    validating = commands.add_parser("validate", help="check a submission before it is scored")
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
            print(f"note: {problem.message}", file=sys.stderr)
