"""``run --items --slice``: slices from the command line, and again from what was recorded."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from grasp_core import cli
from grasp_core.cli.terminal.results import in_width
from grasp_core.model.spec import AnalysisSpec
from grasp_core.report.contents import brackets
from tests.engine.asking import sliced_files

FILES = ["--annotations", "votes.csv", "--raters", "raters.csv"]
ITEMS = ["--items", "items.csv"]
SETTINGS = [
    "--item",
    "item",
    "--rater",
    "rater",
    "--label",
    "label",
    "--axis",
    "gender",
    "--permutations",
    "150",
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The working folder, with the three files."""
    for name, content in zip(("votes.csv", "raters.csv", "items.csv"), sliced_files(), strict=True):
        (tmp_path / name).write_bytes(content)
    monkeypatch.chdir(tmp_path)


def result(name: str) -> dict:
    return json.loads(Path(name).read_text(encoding="utf-8"))


def test_slices_are_printed_recorded_and_found_again(capsys: pytest.CaptureFixture[str]) -> None:
    written = ["--out", "result.json", "--csv", "table.csv"]
    assert cli.main(["run", *FILES, *ITEMS, *SETTINGS, "--slice", "topic", *written]) == 0
    told = capsys.readouterr().out
    assert brackets(AnalysisSpec(axes=(("gender",),))) in told
    of_slices = told.split("Slices by topic")[1]
    for name in ("GAI", "Distance", "Label use"):
        head, *rows = of_slices.split(f"\n{name}\n")[1].split("\n\n")[0].splitlines()
        assert "art (14 items)" in head
        assert sum("[" in row for row in rows) >= 2
    found = result("result.json")
    (topic,) = found["slices"]
    assert (topic["column"], topic["without"]) == ("topic", 1)
    assert [(one["value"], one["items"]) for one in topic["values"]] == [("art", 14), ("news", 15)]
    assert found["spec"]["data"]["items_id"] == "id"
    assert ",slice,slice_value" in Path("table.csv").read_text(encoding="utf-8").splitlines()[0]
    recorded = ["--spec", "result.json", "--out", "again.json"]
    assert cli.main(["run", *FILES, *ITEMS, *recorded]) == 0
    again = result("again.json")
    for name in ("spec", "data", "groups", "slices"):
        assert again[name] == found[name]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ([*ITEMS, *SETTINGS, "--slice", "colour"], "colour"),
        ([*SETTINGS, "--slice", "topic"], "topic"),
        ([*ITEMS, *SETTINGS, "--items-id", "nothing", "--slice", "topic"], "nothing"),
    ],
)
def test_what_cannot_be_sliced_is_a_sentence(more, said, capsys) -> None:
    assert cli.main(["run", *FILES, *more]) == cli.BAD_INPUT
    error = capsys.readouterr().err
    assert error.splitlines()[-1].startswith("grasp: ")
    assert said in error


def test_a_spec_that_reads_an_items_file_needs_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run", *FILES, *ITEMS, *SETTINGS, "--slice", "topic", "--out", "result.json"]) == 0
    capsys.readouterr()
    assert cli.main(["run", *FILES, "--spec", "result.json"]) == cli.BAD_INPUT
    assert "items" in capsys.readouterr().err


def test_tables_go_on_below_where_they_are_wider_than_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    table = pd.DataFrame([["Black", "x" * 30, "y" * 60]], columns=["Group", "a", "b"])
    first, second = in_width(table, 1, 80).split("\n\n")
    assert [line.split() for line in first.splitlines()] == [["Group", "a"], ["Black", "x" * 30]]
    assert [line.split() for line in second.splitlines()] == [["Group", "b"], ["Black", "y" * 60]]
    assert in_width(table, 1, 100).count("Group") == 1
    monkeypatch.setenv("COLUMNS", "80")
    assert in_width(table, 1, 100).count("Group") == 2
