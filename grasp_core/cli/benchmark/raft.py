"""``raft``: the few-shot benchmark, a command for each of its steps."""

from __future__ import annotations

import argparse

from grasp_core.cli.parser import Command, add_commands

COMMANDS = (
    Command(
        "tasks", "list the tasks: classes, rows, fields, licence, difficulty", "benchmark.tasks:fill_tasks"
    ),
    Command(
        "example",
        "write a small made-up task with open gold labels, to try everything on",
        "benchmark.tasks:fill_example",
    ),
    Command(
        "validate", "check a submission before it is scored", "benchmark.validate:fill_validate", reads=True
    ),
    Command("score", "score a submission against gold labels", "benchmark.score:fill_score", reads=True),
    Command(
        "compare",
        "test whether one submission is better than another",
        "benchmark.score:fill_compare",
        reads=True,
    ),
    Command(
        "leaderboard",
        "submissions among the published systems, by task and kind of difficulty",
        "benchmark.leaderboard:fill_leaderboard",
        reads=True,
    ),
    Command(
        "baseline",
        "label the rows of a task, or of all, by a baseline, or score it on labelled ones",
        "benchmark.baseline:fill_baseline",
        reads=True,
    ),
    Command(
        "tune",
        "try out settings of a language model, or of AdaBoost, by leave-one-out",
        "benchmark.tune:fill_tune",
    ),
    Command(
        "sheet",
        "write a task's rows for people to vote on, with rows to qualify on",
        "benchmark.sheet:fill_sheet",
    ),
    Command(
        "human",
        "score the plurality of a few raters per item, against right labels or other raters",
        "benchmark.human:fill_human",
        reads=True,
    ),
)


def fill_raft(raft: argparse.ArgumentParser) -> None:
    """Let one of the benchmark's commands follow."""
    add_commands(raft, COMMANDS)
