"""Start-up time of commands from the shell, beside ``python -c "import pandas"``."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.figures import Figure, medians, seconds
from grasp_core.model.example import AXES, example_files

ROUNDS = 5
_BESIDE = "import pandas"
_COMMAND = ("-m", "grasp_core")
_RUN = (
    *("run", "--annotations", "annotations.csv", "--raters", "raters.csv", "--item", "item_id"),
    *("--rater", "rater_id", "--label", "label", "--categories", "No,Yes,Unsure"),
    *(word for axis in AXES for word in ("--axis", axis)),
    *("--intersect", "rater_race:rater_gender"),
)
_COMMANDS: Mapping[str, Sequence[str]] = {
    "--version": ("--version",),
    "run, on the example": _RUN,
}


def start_up() -> list[Figure]:
    """Return medians of each command, against importing pandas."""
    with TemporaryDirectory() as folder:
        for name, content in example_files().items():
            (Path(folder) / name).write_bytes(content)
        sides = {
            name: partial(_seconds, arguments, folder)
            for name, arguments in {
                _BESIDE: ("-c", _BESIDE),
                **{name: (*_COMMAND, *arguments) for name, arguments in _COMMANDS.items()},
            }.items()
        }
        taken = medians(sides, ROUNDS)
    beside = taken.pop(_BESIDE)
    return [Figure(name, each / beside, _BESIDE, each, "s") for name, each in taken.items()]


def _seconds(arguments: Sequence[str], folder: str) -> float:
    return seconds(
        lambda: subprocess.run(
            [sys.executable, *arguments],
            cwd=folder,
            env={"PYTHONPATH": str(Path(__file__).parents[1])},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
    )
