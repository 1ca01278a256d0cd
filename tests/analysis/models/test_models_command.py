"""The command `models` on small files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grasp_core import cli
from tests.permutation.simulated import files, simulate


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    votes, raters = files(*simulate(3, items=20, raters=24))
    (tmp_path / "raters.csv").write_bytes(raters)
    head, *lines = votes.decode().splitlines()
    gold = [f"{line},label {int(line.split(',')[0][1:]) % 3}" for line in lines]
    (tmp_path / "votes.csv").write_text("\n".join([f"{head},gold", *gold]) + "\n")
    rows = [f"i{i},label {i % 3}" for i in range(19)]
    (tmp_path / "one.csv").write_text("\n".join(["ID,Label", *rows]) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*more: str) -> int:
    files = ["--annotations", "votes.csv", "--raters", "raters.csv"]
    columns = ["--item", "item", "--rater", "rater", "--label", "label", "--axis", "gender"]
    return cli.main(["models", *files, *columns, "--permutations", "200", *more])


def test_files_and_columns_stand_side_by_side(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--model", "one=one.csv", "--model-column", "experts=gold", "--out", "out.json") == 0
    printed = capsys.readouterr()
    assert "one sides with" in printed.out
    assert "experts sides with" in printed.out
    assert "note: one has no label for 1 of the items" in printed.err
    saved = json.loads((folder / "out.json").read_text(encoding="utf-8"))
    assert [model["labelled"] for model in saved["models"]] == [19, 20]
    assert saved["spec"]["analysis"]["permutations"] == 200


def test_labels_of_800_mb_are_refused_by_their_size(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with (folder / "one.csv").open("r+b") as file:
        file.truncate(800 * 10**6)
    assert run("--model", "one=one.csv") == cli.BAD_INPUT
    assert "one.csv is larger than 256 MiB, the most that is read of a model's labels" in (
        capsys.readouterr().err
    )


def test_intersections_strata_and_seed_are_heeded(folder: Path) -> None:
    found = []
    for number, more in enumerate((["--seed", "1"], ["--seed", "2"], ["--within", "region"])):
        more += ["--intersect", "gender:race", "--out", f"{number}.json"]
        assert run("--model", "one=one.csv", *more) == 0
        found.append(json.loads((folder / f"{number}.json").read_text(encoding="utf-8"))["groups"])
    assert len(found[0]) == 8
    p = [[row["models"]["one"]["statistics"]["xrr"]["p"] for row in groups] for groups in found]
    assert p[0] != p[1]
    assert p[0] != p[2]
    values = [[row["models"]["one"]["statistics"]["xrr"]["value"] for row in groups] for groups in found]
    assert values[0] == values[1] == values[2]


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ([], "name at least one model"),
        (["--model", "one=none.csv"], "none.csv does not exist; check the path"),
        (["--model", "one=raters.csv"], "raters.csv needs the columns ID"),
        (["--model", "one=one.csv", "--model", "one=one.csv"], "two models are called 'one'"),
        (["--model-column", "m=none"], "votes.csv has no column 'none'"),
        (["--model", "one=one.csv", "--axis", "zodiac"], "zodiac"),
        (["--model", "one=one.csv", "--out", "no/out.json"], "out.json: cannot be written, there is no"),
        (["--model", "one=one.csv", "--csv", "."], ".: cannot be written, it is a folder"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(folder: Path, capsys, more: list[str], told: str) -> None:
    assert run(*more) == cli.BAD_INPUT
    error = [line for line in capsys.readouterr().err.splitlines() if not line.startswith("note:")]
    assert len(error) == 1
    assert error[0].startswith("grasp: ")
    assert told in error[0]


def test_a_model_without_file_is_refused(folder: Path, capsys) -> None:
    with pytest.raises(SystemExit):
        run("--model", "one.csv")
    assert "write NAME=FILE" in capsys.readouterr().err


def test_permutations_go_on_until_marks_are_settled(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--model", "one=one.csv", "--permutations", "auto:3000", "--out", "out.json") == 0
    printed = capsys.readouterr().out
    saved = json.loads((folder / "out.json").read_text(encoding="utf-8"))
    assert saved["spec"]["analysis"]["adaptive"] is True
    assert f"{saved['stopping']['permutations']:,}" in printed
    assert "Shuffling " in printed


def test_long_runs_stop_early_unless_somebody_says_how_many(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grasp_core.cli.models.models_seconds", lambda *_: 60.0)
    command = ["models", "--annotations", "votes.csv", "--raters", "raters.csv", "--axis", "gender"]
    command += ["--item", "item", "--rater", "rater", "--label", "label", "--model", "one=one.csv"]
    assert cli.main([*command, "--out", "long.json"]) == 0
    said = "10,000 permutations of such data take about 60 s on two cores, so at most 10,000 are taken"
    assert said in capsys.readouterr().err
    assert json.loads((folder / "long.json").read_text(encoding="utf-8"))["spec"]["analysis"]["adaptive"]
    assert run("--model", "one=one.csv", "--out", "told.json") == 0
    assert said not in capsys.readouterr().err
    assert not json.loads((folder / "told.json").read_text(encoding="utf-8"))["spec"]["analysis"]["adaptive"]
