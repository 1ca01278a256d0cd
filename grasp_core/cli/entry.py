"""The command line: choose a command, run it, and turn errors into an exit status."""

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Any

from grasp_core.cli.parser import Command, Parser, add_commands, option
from grasp_core.model.errors import FAULT, GraspError
from grasp_core.model.text import without_places
from grasp_core.version import __version__

BAD_INPUT = 2
FAILED = 70
INTERRUPTED = 130
"""Exit statuses: refused; GRASP itself is at fault; stopped."""


_SERVER: Any = {"extra": "server", "modules": ("sqlalchemy", "alembic", "pyrage", "limits")}
"""Packages that a command on a server's database needs."""
COMMANDS = (
    Command("run", "compute every statistic of every group, with permutation tests", "run", reads=True),
    Command("quality", "check the data: sizes, odd raters, small groups, power", "quality", reads=True),
    Command("items", "which items carry what one group says differently", "items_and_plan", reads=True),
    Command(
        "agreement",
        "how well all raters agree: alpha, kappa, AC1, percent; by batch and over time",
        "agreement",
        reads=True,
    ),
    Command(
        "raters",
        "a row per rater: answers, agreement with the others and with gold, at chance, constant, copies",
        "agreement",
        reads=True,
    ),
    Command("report", "tell a saved result, or write it in another format, without a run", "run"),
    Command("compare", "compare one result with another", "run"),
    Command("example", "write the synthetic example's files", "fetch"),
    Command(
        "fetch",
        "download a published data set and check that it is whole",
        "fetch",
        extra="remote",
        modules=("requests",),
    ),
    Command("backup", "write all that the server keeps to one file", "server", **_SERVER),
    Command("restore", "read such a file into an empty server's database", "server", **_SERVER),
    Command("backup-key", "make a key that encrypts and signs backups", "server", **_SERVER),
    Command("token", "personal tokens of the server's API: make, list, withdraw", "server", **_SERVER),
    Command("log", "the audit log: who did what when; checks that it is whole", "server", **_SERVER),
    Command("people", "list who has signed in; roles, disable, sign out", "server", **_SERVER),
    Command("raft", "few-shot benchmark: check, score and compare submissions", "benchmark.raft"),
    Command(
        "models", "whose judgements models reproduce: each model as one more rater", "models", reads=True
    ),
    Command(
        "rater-map", "raters placed by how they agree, and which axes that follows", "agreement", reads=True
    ),
    Command(
        "plan",
        "how many raters of a group, and how many items, find a difference next time",
        "items_and_plan",
        reads=True,
    ),
    Command("completion", "a script that completes words in bash, zsh or fish", "completion"),
    Command("warm", "compile the kernels now, so that the first run starts at once", "completion"),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Returns the exit status: 0, or the command's own; 2, with one sentence on standard error, if the input
    cannot be used; 70 if GRASP itself is at fault; 130 if the user cancelled.
    """
    try:
        chosen = make_parser().parse_args(arguments)  # this reads files that arguments name
        status = _run(chosen)
    except GraspError as error:
        print(f"grasp: {without_places(str(error))}", file=sys.stderr)
        return BAD_INPUT
    except BrokenPipeError:  # e.g. piped into head, which reads only the first lines
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print("grasp: stopped", file=sys.stderr)
        return INTERRUPTED
    except Exception as error:  # the type alone: a message could quote rater data
        print(f"grasp: {FAULT} ({type(error).__name__})", file=sys.stderr)
        return FAILED
    return status or 0


def _run(chosen: argparse.Namespace) -> int | None:
    """Run the command; its output goes where the options say."""
    quiet, server = vars(chosen).pop("quiet", False), vars(chosen).pop("server")
    if server is not None:
        from grasp_core.cli.on_server import on_server

        chosen.command = on_server(chosen.command, server)
    taken = [name for name in ("out", "csv") if str(getattr(chosen, name, None)) == "-"]
    machine = getattr(chosen, "format", None) not in (None, "text") and chosen.out is None
    if not (quiet or taken or machine):
        status: int | None = chosen.command(chosen)
        return status
    from grasp_core.cli.terminal.messages import saying
    from grasp_core.model.errors import SpecError

    if len(taken) + machine > 1:
        raise SpecError("one thing at a time can go to standard output; name a file for the other")
    with saying(notes=not quiet, text=not (taken or machine)):
        status = chosen.command(chosen)
    return status


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    parser = Parser(
        prog="grasp", description="Which groups of raters see a task differently, and is it real?"
    )
    parser.add_argument("--version", action="version", version=__version__)
    option(
        parser,
        "--server ADDRESS",
        "have `run`, `quality`, `agreement`, `items`, `rater-map`, `plan`, `models` computed by this server, "
        "such as https://grasp.example.org, or `report`, `compare` take its runs; the token stands in "
        "GRASP_TOKEN",
    )
    add_commands(parser, COMMANDS)
    return parser
