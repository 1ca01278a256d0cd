"""The command line: which command was asked for, and how it ended."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from grasp_core import __version__
from grasp_core.cli.example import add_example
from grasp_core.cli.fetch import add_fetch
from grasp_core.cli.in_parts import add_partition
from grasp_core.cli.models import add_models
from grasp_core.cli.quality import add_quality
from grasp_core.cli.raft import add_raft
from grasp_core.cli.run import add_run
from grasp_core.cli.storage import add_storage
from grasp_core.errors import FAULT, GraspError
from grasp_core.permutation.warm import warm

FAILED = 1
BAD_INPUT = 2
INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Returns
    -------
    int
        Exit status: 0; 2 with one sentence on standard error where the input cannot be used; 1 where GRASP
        itself is at fault; 130 where the user cancelled.
    """
    chosen = _parser().parse_args(arguments)
    try:
        chosen.command(chosen)
    except GraspError as error:
        print(f"grasp: {error}", file=sys.stderr)
        return BAD_INPUT
    except BrokenPipeError:  # e.g. piped into head: the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print("grasp: cancelled", file=sys.stderr)
        return INTERRUPTED
    except Exception as error:  # the type alone: a message could quote rater data
        print(f"grasp: {FAULT} ({type(error).__name__})", file=sys.stderr)
        return FAILED
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m grasp_core",
        description="Which groups of raters see a task differently, and is it real?",
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for add in (
        add_run,
        add_partition,
        add_quality,
        add_example,
        add_fetch,
        add_storage,
        add_raft,
        add_models,
    ):
        add(commands)
    warming = commands.add_parser(
        "warm", help="compile the kernels now, so that the first run starts at once"
    )
    warming.set_defaults(command=lambda _: warm())
    return parser
