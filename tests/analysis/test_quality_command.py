"""``grasp quality``."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from grasp_core import cli
from grasp_core.reading.example import example_files
from tests.batches import in_batches
from tests.few_items import ANNOTATIONS, few_items

FILES = ["--annotations", "annotations.csv", "--raters", "raters.csv"]
COLUMNS = ["--item", "item_id", "--rater", "rater_id", "--label", "label"]
GENDER = ["--axis", "rater_gender"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, content in example_files().items():
        (tmp_path / name).write_bytes(content)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_tables_and_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "annotations.csv").write_bytes(few_items()["annotations.csv"])
    options = ["--axis", "rater_race", "--power", "--out", "quality.json"]
    assert cli.main(["quality", *FILES, *COLUMNS, *options]) == 0
    printed = capsys.readouterr().out
    for words in ("Annotations per rater", "fewer than 5 raters", "up to be found", "8 of 10 runs"):
        assert words in printed
    plain = json.loads((folder / "quality.json").read_text(encoding="utf-8"))
    assert (plain["format"], plain["version"]) == ("grasp-quality", 1)
    assert plain["overview"]["annotations"] == ANNOTATIONS
    assert plain["near_duplicates"]["pairs_looked_at"] == 104 * 103 // 2
    # The example's own sizes, RATERS_PER_GROUP.
    assert sorted(row["n_raters"] for row in plain["power"]) == [13, 21, 22, 23, 25]
    by_size = sorted(plain["power"], key=lambda row: row["n_raters"])
    assert by_size[0]["up"]["change"] > by_size[-1]["up"]["change"] > 0
    assert "R001" not in json.dumps(plain)


def test_files_are_recognised_and_ids_shown_only_when_asked(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    votes = (folder / "annotations.csv").read_text(encoding="utf-8").splitlines()
    copied = [line.replace(",R001,", ",twin,") for line in votes if ",R001," in line]
    (folder / "annotations.csv").write_text("\n".join([*votes, *copied]) + "\n", encoding="utf-8")
    assert cli.main(["quality", *FILES]) == 0
    printed = capsys.readouterr().out
    assert "1 pair of raters (2 raters) agree far more" in printed
    assert "twin" not in printed
    assert cli.main(["quality", *FILES, "--show-ids"]) == 0
    assert "R001, twin, 350, 350" in capsys.readouterr().out


def test_who_rated_what_is_held_against_the_shuffles_of_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    votes, raters = in_batches()
    votes.to_csv("annotations.csv", index=False)
    raters.to_csv("raters.csv", index=False)
    options = ["quality", *FILES, *COLUMNS, "--axis", "gender", "--out", "quality.json"]

    def codes() -> list[str]:
        plain = json.loads(Path("quality.json").read_text(encoding="utf-8"))
        return [one["code"] for one in plain["warnings"]]

    assert cli.main(options) == 0
    assert "own-items" in codes()
    said = capsys.readouterr()
    assert "--within and the column that holds them" in said.out
    assert "could hold batches: 'batch'; --within batch shuffles within" in said.err
    assert cli.main([*options, "--within", "batch"]) == 0
    assert "own-items" not in codes()
    assert cli.main([*options, "--within", "gender"]) == 2
    assert "for gender: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ([*COLUMNS, *GENDER, "--out", "no/such/file.json"], "cannot be written"),
        ([*COLUMNS, "--axis", "shoe_size"], "shoe_size"),
    ],
)
def test_bad_input_gets_one_sentence(
    folder: Path, capsys: pytest.CaptureFixture[str], options: list[str], sentence: str
) -> None:
    assert cli.main(["quality", *FILES, *options]) == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert error.startswith("grasp: ")
    assert sentence in error


def test_power_needs_groups(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where the files hold no axis; else those that are recognised count."""
    assert cli.main(["quality", *FILES[:2], *COLUMNS, "--power"]) == 2
    assert "--power needs groups" in capsys.readouterr().err.splitlines()[-1]


def test_every_option_of_its_own_is_described(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["quality", "--help"])
    shown = capsys.readouterr().out.partition("quality:\n")[2]
    options = set(re.findall(r"--[a-z][a-z-]+", shown))
    assert options == {
        "--axis",
        "--intersect",
        "--within",
        "--cluster",
        "--power",
        "--show-ids",
        "--out",
        "--format",
    }
    document = (Path(__file__).resolve().parents[2] / "docs" / "quality.md").read_text(encoding="utf-8")
    assert all(option in document for option in options)
