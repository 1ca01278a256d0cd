"""A run on a terminal: the table is there at once and fills in; elsewhere there is plain output alone."""

import contextlib
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from grasp_core.cli.terminal.messages import Lines
from grasp_core.cli.terminal.progress import RunOnTerminal
from grasp_core.engine.pools.schedule import Progress
from grasp_core.model.groups import Group
from grasp_core.model.outcome import Outcome
from grasp_core.model.result import GroupResult
from grasp_core.report.tables import lead_table
from tests.commands import COLUMNS, ROOT

COMMAND = [sys.executable, "-m", "grasp_core", "run", "--annotations", "votes.csv", "--raters", "raters.csv"]
COMMAND += [*COLUMNS, "--axis", "gender", "--axis", "race", "--permutations", "200000"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}


class Screen:
    """What a terminal shows, from the few signs that are used."""

    def __init__(self) -> None:
        self.lines, self.row, self.at = [""], 0, 0

    def feed(self, text: str) -> None:
        for part in re.split(r"(\x1b\[\d*[AKJ]|\r|\n)", text):
            if part == "\n":
                self.row += 1
                self.lines += [""] * (self.row + 1 - len(self.lines))
                self.at = 0
            elif part == "\r":
                self.at = 0
            elif part.endswith("A") and part.startswith("\x1b"):
                self.row -= int(part[2:-1])
                assert self.row >= 0
            elif part == "\x1b[K":
                self.lines[self.row] = self.lines[self.row][: self.at]
            elif part == "\x1b[J":
                self.lines[self.row] = self.lines[self.row][: self.at]
                del self.lines[self.row + 1 :]
            elif part:
                line = self.lines[self.row].ljust(self.at)
                self.lines[self.row] = line[: self.at] + part + line[self.at + len(part) :]
                self.at += len(part)


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Screen:
    shown = Screen()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr("sys.stderr.write", shown.feed)
    return shown


def test_lines_are_written_in_place_of_those_before(screen: Screen) -> None:
    lines = Lines()
    lines.show(["one", "two and more", "three"])
    assert screen.lines == ["one", "two and more", "three"]
    lines.show(["1", "2"])
    assert screen.lines == ["1", "2"]
    lines.show(["a", "b", "c", "d"])
    assert screen.lines == ["a", "b", "c", "d"]
    lines.clear()
    assert screen.lines == [""]


def test_lines_fit_the_terminal(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grasp_core.cli.terminal.messages._room", lambda: (10, 4))
    lines = Lines()
    lines.show(["0123456789ABC", "日本語日本語日本語", "e\u0301" * 20, "d", "e", "last"])
    assert screen.lines == ["012345678", "日本語日", "... and 3", "last"]


@pytest.mark.long
def test_on_a_terminal_the_table_is_there_before_its_p_values(folder: Path) -> None:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 160, 0, 0))
    running = subprocess.Popen(COMMAND, cwd=folder, env=ENVIRONMENT, stdout=theirs, stderr=theirs)
    os.close(theirs)
    said = b""
    with contextlib.suppress(OSError):  # Linux's way to say that nobody writes any more
        while more := os.read(ours, 65536):
            said += more
    os.close(ours)
    assert running.wait() == 0
    text = said.decode()
    first = Screen()
    first.feed(text[: text.index("come with the first permutations")])
    heads = [line.split()[:4] for line in first.lines if "Negentropy" in line]
    assert heads == [["Axis", "Group", "Raters", "GAI"]]
    rows = [line for line in first.lines if line.strip().startswith(("gender", "race"))]
    assert len(rows) == 5
    assert all(re.search(r"\d\.\d{3} +… +\S*\d\.\d{3}", row) for row in rows)
    final = Screen()
    final.feed(text)
    shown = "\n".join(final.lines)
    assert "Provisional" not in shown
    assert "permutations" not in final.lines[-1]
    assert shown.count("Negentropy") == 1
    assert "Voting agreement" in shown


@pytest.mark.long
def test_elsewhere_there_is_plain_output_alone(folder: Path) -> None:
    run = subprocess.run(COMMAND, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=True)
    assert "\x1b" not in run.stdout + run.stderr
    assert "Provisional" not in run.stdout + run.stderr
    assert run.stdout.count("Negentropy") == 1


def test_it_fills_in(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each p with its interval, in the place of the dots."""
    monkeypatch.setattr(
        "grasp_core.cli.terminal.progress.preparing", lambda: None
    )  # another test may compile
    group = GroupResult(Group(("race",), ("A",)), 3, 30, {"gai": Outcome(1.25)})
    result = SimpleNamespace(
        groups=(group,),
        permutations=0,
        provisional=True,
        later=None,
        spec=SimpleNamespace(analysis=SimpleNamespace(statistics=("gai",))),
    )
    terminal = RunOnTerminal(lead_table, adaptive=True)
    terminal.found(result)
    terminal.check(Progress(0, 5000, None))
    assert screen.lines[1].split() == ["race", "A", "3", "1.250", "…"]
    assert screen.lines[-1] == "0 of at most 5,000 permutations"
    found = Outcome(
        1.25, 1.0, "up", 0.031, 0.06, "nominal", null_n=500, p_interval=(0.02, 0.051), q_interval=(0.03, 0.1)
    )
    result.groups, result.permutations = (replace(group, statistics={"gai": found}),), 500
    terminal.found(result)
    terminal.check(Progress(500, 5000, 4.2))
    assert screen.lines[1].split() == ["race", "A", "3", "1.250", "↑*?", "about", "0.031", "(0.020–0.051)"]
    assert screen.lines[-2].startswith("Provisional, after 500 permutations")
    assert screen.lines[-1] == "500 of at most 5,000 permutations, 4 s left"
    terminal.clear()
    assert screen.lines == [""]
