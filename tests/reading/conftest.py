"""The command beside files, as tests of reading start it."""

import shlex
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from grasp_core import cli
from grasp_core.reading.guess import look, recognise
from tests.reading.making import csv_bytes

Rows = Sequence[Sequence[str]]
Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def _large_from_a_thousand_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Guessing looks at a part of files of more rows than that."""
    for module in (look, recognise):
        monkeypatch.setattr(module, "MAX_ROWS", 1_000)


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs a line in a folder of CSV files of these rows: its exit code, and what it printed."""
    monkeypatch.chdir(tmp_path)

    def run(line: str, **files: Rows) -> tuple[int, str, str]:
        for name, rows in files.items():
            Path(f"{name}.csv").write_bytes(csv_bytes(rows))
        code = cli.main(shlex.split(line))
        return code, *capsys.readouterr()

    return run
