"""Arguments that several commands of ``raft`` take."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_submission(parser: argparse.ArgumentParser, name: str) -> None:
    """The place of a submission."""
    parser.add_argument(
        name,
        type=Path,
        metavar=f"{name.upper()}_DIR",
        help="folder, or zip, with data/<task>/predictions.csv",
    )


def add_gold(parser: argparse.ArgumentParser) -> None:
    """The folder of gold labels."""
    parser.add_argument(
        "--gold", type=Path, required=True, metavar="GOLD_DIR", help="folder with <task>/test.csv (ID,Label)"
    )


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
    """A whole number from 0, as seeds are.

    Raises
    ------
    ArgumentTypeError
    """
    if not (text.isascii() and text.isdigit() and int(text) < 2**63):
        raise argparse.ArgumentTypeError(f"must be a whole number from 0 to 2^63 - 1; found {text!r}")
    return int(text)
