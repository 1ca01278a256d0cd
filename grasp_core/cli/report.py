"""``report``: a saved result told, or written in another format, without running it again."""

from __future__ import annotations

import argparse
from pathlib import Path

from grasp_core.analysis.results import read_result
from grasp_core.cli.entry import CLEAR
from grasp_core.cli.run import FORMATS, add_telling, check_files, write_files
from grasp_core.cli.terminal.messages import note
from grasp_core.cli.terminal.output import add_output
from grasp_core.cli.terminal.results import say_result, something_clear
from grasp_core.model.errors import DataError
from grasp_core.model.result import RunResult
from grasp_core.report.findings.mending import warned
from grasp_core.report.saved import json_in


def fill_report(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.set_defaults(command=_report, csv=None, report=None)
    parser.add_argument(
        "result", type=Path, metavar="RESULT", help="a result that `run --out` or the page wrote as JSON"
    )
    output = parser.add_argument_group("output")
    add_output(output, FORMATS)
    add_telling(output)


def _report(chosen: argparse.Namespace) -> int:
    check_files(chosen)
    result = read_result(json_in(chosen.result))
    if not isinstance(result, RunResult):
        raise DataError(f"{chosen.result} is {result.kind}; this command tells the results of `run`")
    write_files(chosen, result, None)
    if chosen.out is None:
        say_result(result, brief=chosen.brief)
    for warning in warned(result).others:
        note(str(warning))
    return CLEAR if chosen.exit_code and something_clear(result) else 0
