"""``compare``: two results from files."""

import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest

from grasp_core import cli
from grasp_core.report.saved import result_json
from tests.results import make_group, make_label_use, make_outcome, make_result, with_label_use, with_pairs


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    row = make_group("=Man", gai=make_outcome(1.1, "up"))
    first = with_label_use(row, make_label_use({"No": 40.0, "Yes": -40.0}, "**", sd=1.0))
    second = with_label_use(row, make_label_use({"No": 5.0, "Yes": -5.0}, sd=1.0))
    for name, one in (("a.json", first), ("b.json", second)):
        result = replace(make_result((one,)), pairs=with_pairs().pairs)
        Path(name).write_text(result_json(result), encoding="utf-8")


def test_what_moved_is_printed_and_all_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["compare", "a.json", "b.json", "--csv", "all.csv"]) == 0
    told = capsys.readouterr().out
    assert "1 of 1 value moved further than noise explains" in told
    table = told.split("Moved further than noise explains, or marked otherwise\n")[1]
    assert "Label use (“No”)" in table
    assert "[−0.378, −0.322]" in table
    assert "GAI" not in table
    rows = list(csv.DictReader(io.StringIO(Path("all.csv").read_text(encoding="utf-8"), newline="")))
    assert {row["pair"] for row in rows} == {"", "Asian – Black", "Asian – White", "Black – White"}
    assert next(row["group"] for row in rows) == "'=Man"
