"""``grasp rater-map``."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from grasp_core import cli
from grasp_core.analysis.rater_map_values import RaterMap
from grasp_core.model.json_values import from_json
from grasp_core.model.spec import RunSpec
from tests.permutation.simulated import files, simulate

FILES = ["--annotations", "votes.csv", "--raters", "raters.csv"]
OPTIONS = [*FILES, *("--axis", "gender", "--axis", "race", "--permutations", "200")]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, content in zip(("votes.csv", "raters.csv"), files(*simulate(1)), strict=True):
        (tmp_path / name).write_bytes(content)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_sentences_tables_and_files(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = ["--out", "map.json", "--csv", "map.csv", "--chart", "map.svg", "--colour", "race"]
    assert cli.main(["rater-map", *OPTIONS, *out]) == 0
    printed = capsys.readouterr().out
    for words in ("What axes explain", "How far raters differ"):
        assert words in printed
    plain = json.loads((folder / "map.json").read_text(encoding="utf-8"))
    assert (plain["format"], plain["version"]) == ("grasp-rater-map", 1)
    found = from_json(plain["map"], RaterMap)
    assert len(found.points) == 24
    assert found.permutations == 200
    assert RunSpec.from_dict(plain["spec"]).analysis.axes == (("gender",), ("race",))
    assert not any(f'"r{j}"' in json.dumps(plain) for j in range(24))
    rows = list(csv.DictReader((folder / "map.csv").read_text(encoding="utf-8").splitlines()))
    assert [row["group"] for row in rows] == ["Man", "Woman", "Asian", "Black", "White"]
    assert "by race" in (folder / "map.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize(("suffix", "start"), [(".png", b"\x89PNG"), (".pdf", b"%PDF")])
def test_a_picture_of_the_kind_that_its_name_says(folder: Path, suffix: str, start: bytes) -> None:
    assert cli.main(["rater-map", *OPTIONS, "--chart", f"map{suffix}"]) == 0
    assert (folder / f"map{suffix}").read_bytes().startswith(start)


def test_the_same_again(folder: Path) -> None:
    for name in ("one.json", "two.json"):
        assert cli.main(["rater-map", *OPTIONS, "--out", name]) == 0
    assert (folder / "one.json").read_bytes() == (folder / "two.json").read_bytes()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--chart", "map.gif"], "--chart takes a file that ends in .svg, .png, .pdf; found map.gif"),
        (["--colour", "shoe_size"], "--colour takes an axis of the map, 'gender', 'race'; found 'shoe_size'"),
        (["--chart", "no/such/map.svg"], "cannot be written"),
        (["--axis", "shoe_size"], "shoe_size"),
        (["--level", "interval"], "every label to be a number"),
    ],
)
def test_bad_input_gets_one_sentence(
    folder: Path, capsys: pytest.CaptureFixture[str], options: list[str], sentence: str
) -> None:
    assert cli.main(["rater-map", *OPTIONS, *options]) == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert error.startswith("grasp: ")
    assert sentence in error


def test_data_without_a_map_say_why(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, content in zip(("votes.csv", "raters.csv"), files(*simulate(1, missing=0.9)), strict=True):
        (folder / name).write_bytes(content)
    assert cli.main(["rater-map", *OPTIONS, "--chart", "map.svg"]) == 0
    printed = capsys.readouterr().out
    assert "There is no map of raters: only 0 of " in printed
    assert "What axes explain" not in printed
