"""``run --tail``: small p-values from a curve through the tail, from the command line."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from grasp_core import cli
from grasp_core.reading.example import example_files

OPTIONS = [
    *("--annotations", "annotations.csv", "--raters", "raters.csv"),
    *("--item", "item_id", "--rater", "rater_id", "--label", "label"),
    *("--categories", "No,Yes,Unsure", "--axis", "rater_race"),
    "--no-pairs",
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, content in example_files().items():
        (tmp_path / name).write_bytes(content)
    monkeypatch.chdir(tmp_path)


def test_small_p_are_fitted_told_and_kept_beside_the_counted(capsys: pytest.CaptureFixture[str]) -> None:
    files = ["--out", "result.json", "--csv", "table.csv"]
    assert cli.main(["run", *OPTIONS, "--permutations", "1000", "--tail", *files]) == 0
    assert "(fitted)" in capsys.readouterr().out
    found = json.loads(Path("result.json").read_text(encoding="utf-8"))
    assert found["spec"]["analysis"]["tail"] is True
    rows = list(csv.DictReader(io.StringIO(Path("table.csv").read_text(encoding="utf-8"), newline="")))
    fitted = [row for row in rows if row["p_counted"] and row["statistic"] != "dsi"]
    assert fitted
    by_group = {row["group"]["rater_race"]: row for row in found["groups"]}
    for row in fitted:
        one = by_group[row["group"]]
        told = one["label_use"] if row["statistic"] == "label_use" else one["statistics"][row["statistic"]]
        assert (float(row["p"]), float(row["p_counted"])) == (told["p"], told["fit"]["counted"])


def test_the_papers_p_is_not_fitted(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run", *OPTIONS, "--tail", "--preset", "paper"]) != 0
    assert "for a curve through the tail take two-sided" in capsys.readouterr().err
