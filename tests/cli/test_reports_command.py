"""Reports from the command line: ``run --report``, with the map of raters where it is asked for."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from grasp_core import cli

RUN = ["run", "--annotations", "votes.csv", "--raters", "raters.csv", "--axis", "gender", "--axis", "race"]
FEW = ["--permutations", "100"]


def test_a_report_of_each_kind_with_the_map(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ("report.html", "report.xlsx", "report.tex", "REPORT.MD")
    reports = [word for name in names for word in ("--report", name)]
    assert cli.main([*RUN, *FEW, "--statistics", "irr", *reports, "--rater-map", "--out", "run.json"]) == 0
    assert "\nMap of raters\n\n- " in capsys.readouterr().out
    assert '<section id="raters">' in (folder / "report.html").read_text(encoding="utf-8")
    assert r"\label{tab:grasp-map}" in (folder / "report.tex").read_text(encoding="utf-8")
    assert "## Map of raters" in (folder / "REPORT.MD").read_text(encoding="utf-8")
    with zipfile.ZipFile(folder / "report.xlsx") as book:
        assert b"Groups on the map" in book.read("xl/workbook.xml")
    again = ["run", "--spec", "run.json", *RUN[1:5], "--rater-map", "--report", "again.md"]
    assert cli.main(again) == 0
    assert (folder / "again.md").read_bytes() == (folder / "REPORT.MD").read_bytes()


def test_without_the_map_nothing_is_said_of_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([*RUN, *FEW, "--report", "report.md"]) == 0
    assert "Map of raters" not in capsys.readouterr().out + (folder / "report.md").read_text(encoding="utf-8")
