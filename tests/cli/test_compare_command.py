"""``compare``: two results from files."""

import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest

from grasp_core.model.outcome import Verdict
from grasp_core.report.saved import result_json
from tests.commands import ran
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
    told = ran(capsys, "compare", "a.json", "b.json", "--csv", "all.csv").out
    assert "1 of 1 value moved further than noise explains" in told
    table = told.split("Moved further than noise explains, or marked otherwise\n")[1]
    assert "Label use (“No”)" in table
    assert "[−0.378, −0.322]" in table
    assert "GAI" not in table
    rows = list(csv.DictReader(io.StringIO(Path("all.csv").read_text(encoding="utf-8"), newline="")))
    assert {row["pair"] for row in rows} == {"", "Asian – Black", "Asian – White", "Black – White"}
    assert next(row["group"] for row in rows) == "'=Man"


def test_verdicts_are_told_first_and_stand_in_every_file(capsys: pytest.CaptureFixture[str]) -> None:
    row = make_group("=Man", gai=make_outcome(1.1, "up"))
    for name, code in (("a.json", "clear"), ("b.json", "none")):
        verdict = Verdict(code, p=0.001, q=0.01 if code == "clear" else 0.3)
        Path(name).write_text(result_json(make_result((replace(row, verdict=verdict),))), encoding="utf-8")
    told = ran(capsys, "compare", "a.json", "b.json", "--csv", "all.csv", "-o", "told.md").out
    assert told.strip().startswith("The verdict changed: =Man: clear → no difference found.")
    first = next(csv.DictReader(io.StringIO(Path("all.csv").read_text(encoding="utf-8"), newline="")))
    assert [first[name] for name in ("statistic", "mark_a", "mark_b")] == ["verdict", "clear", "none"]
    assert [float(first[name]) for name in ("q_a", "q_b")] == [0.01, 0.3]
    assert Path("told.md").read_text(encoding="utf-8").startswith("## Verdicts\n")
