"""The command line: permutations until all marks are settled."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grasp_core import cli
from grasp_core.model.result import RunResult
from grasp_core.permutation.testing.outcomes import looks
from tests.cli.test_commands import COLUMNS

DATA = ["--annotations", "votes.csv", "--raters", "raters.csv", *COLUMNS, "--axis", "race"]


def result(folder: Path, permutations: str, *more: str) -> RunResult:
    arguments = ["run", *DATA, "--permutations", permutations, "--out", "result.json", *more]
    assert cli.main(arguments) == 0
    return RunResult.from_dict(json.loads((folder / "result.json").read_text(encoding="utf-8")))


@pytest.mark.parametrize(("given", "most"), [("auto", 100_000), ("auto:3000", 3000)])
def test_auto_says_how_many_there_were_and_what_holds(folder: Path, capsys, given: str, most: int) -> None:
    found = result(folder, given)
    assert found.spec.analysis.adaptive
    assert found.spec.analysis.permutations == most
    assert found.stopping is not None
    assert found.permutations in looks(most)
    said = capsys.readouterr().out
    assert f"{found.permutations:,}" in said
    assert "for each test the risk that it is not is at most 0.1 %" in said
    assert cli.main(["run", *DATA[:4], "--spec", "result.json", "--out", "again.json"]) == 0
    again = json.loads((folder / "again.json").read_text(encoding="utf-8"))
    assert {**again, "timing": None} == {**found.to_dict(), "timing": None}


def test_progress_is_of_at_most_so_many(folder: Path, capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    result(folder, "auto:3000", "--no-pairs")  # with pairs the line names stages
    assert " of at most 3,000 permutations" in capsys.readouterr().err
    result(folder, "300", "--no-pairs")
    assert " of 300 permutations" in capsys.readouterr().err


def test_a_number_says_nothing_of_it(folder: Path, capsys) -> None:
    assert result(folder, "300").stopping is None
    assert "settled" not in capsys.readouterr().out


@pytest.mark.parametrize("given", ["auto:", "auto:many", "car", "auto5", "1.5"])
def test_anything_else_is_refused_in_a_sentence(folder: Path, capsys, given: str) -> None:
    with pytest.raises(SystemExit):
        cli.main(["run", *DATA, "--permutations", given])
    assert "must be a whole number, auto, or auto:MOST such as auto:1000000" in capsys.readouterr().err


@pytest.mark.parametrize("given", ["auto:0", "auto:10000001"])
def test_numbers_out_of_range_are_refused(folder: Path, capsys, given: str) -> None:
    assert cli.main(["run", *DATA, "--permutations", given]) == 2
    assert "`permutations` must be a whole number from 1 to 10000000" in capsys.readouterr().err
