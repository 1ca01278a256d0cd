"""How long commands take from the shell, beside ``python -c "import pandas"``."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from grasp_core.example import AXES, example_files

ROUNDS = 9
_BESIDE = ("-c", "import pandas")
_COMMAND = ("-m", "grasp_core")
_RUN = (
    *("run", "--annotations", "annotations.csv", "--raters", "raters.csv", "--item", "item_id"),
    *("--rater", "rater_id", "--label", "label", "--categories", "No,Yes,Unsure"),
    *(word for axis in AXES for word in ("--axis", axis)),
    *("--intersect", "rater_race:rater_gender"),
)
_COMMANDS: Mapping[str, Sequence[str]] = {
    "--version": ("--version",),
    "--help": ("--help",),
    "raft validate": ("raft", "validate", "nowhere"),
    "run, on the example": _RUN,
}


def start_up() -> dict[str, object]:
    """Medians of alternating pairs, one of each after a first that is not counted."""
    found: dict[str, object] = {}
    with TemporaryDirectory() as folder:
        for name, content in example_files().items():
            (Path(folder) / name).write_bytes(content)
        for name, arguments in _COMMANDS.items():
            pairs = [
                (_seconds((*_COMMAND, *arguments), folder), _seconds(_BESIDE, folder))
                for _ in range(1 + ROUNDS)
            ][1:]
            found[f"{name}: s"] = statistics.median(command for command, _ in pairs)
            found[f"{name} / import pandas"] = statistics.median(
                command / beside for command, beside in pairs
            )
    return found


def _seconds(arguments: Sequence[str], folder: str) -> float:
    started = time.perf_counter()
    subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={"PYTHONPATH": str(Path(__file__).parents[1])},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    return time.perf_counter() - started
