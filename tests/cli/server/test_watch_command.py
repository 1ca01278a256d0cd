"""``watch``: added, looked at, listed and removed by whoever has the database; the exit status tells."""

from __future__ import annotations

from pathlib import Path

import pytest

from grasp_core import cli
from grasp_core.cli.server.watch import CHANGED
from tests.empty_store import empty_home
from tests.watches.watching import votes


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = tmp_path / "data"
    made.mkdir()
    (made / "votes.csv").write_bytes(votes())
    monkeypatch.setenv("GRASP_HOME", empty_home(tmp_path))
    monkeypatch.setenv("GRASP_DATA_DIR", str(made))
    monkeypatch.setenv("GRASP_WORKERS", "1")
    return made


def result_file(folder: Path) -> str:
    out = folder.parent / "result.json"
    ask = ["run", "--annotations", str(folder / "votes.csv"), "--axis", "gender", "--permutations", "200"]
    assert cli.main([*ask, "--item", "item", "--rater", "rater", "--label", "label", "--out", str(out)]) == 0
    return str(out)


def test_a_result_file_is_watched_from_then_on(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    result = result_file(folder)
    capsys.readouterr()
    assert cli.main(["watch", "look"]) == 0, "there is none"
    monkeypatch.chdir(folder)
    assert cli.main(["watch", "add", result, "--annotations", "votes.csv", "--every", "hourly"]) == 0
    watch = capsys.readouterr().out.strip()
    assert cli.main(["watch", "look"]) == 0
    assert capsys.readouterr().out == "label by gender: nothing has changed\n"
    (folder / "votes.csv").write_bytes(votes(apart=True))
    assert cli.main(["watch", "look", watch]) == CHANGED
    title, *details = capsys.readouterr().out.splitlines()
    assert "moved further than noise explains" in title
    assert any(line.startswith("  Moved: ") for line in details)
    assert cli.main(["watch", "list"]) == 0
    listed = capsys.readouterr().out.strip().split("\t")
    assert (listed[0], listed[2], listed[4]) == (watch, "hourly", "Up to date with its files.")
    (folder / "votes.csv").unlink()
    assert cli.main(["watch", "look"]) == cli.BAD_INPUT
    said = capsys.readouterr()
    assert "votes.csv cannot be read in this server's folder" in said.out
    assert "1 look of 1 failed" in said.err
    assert cli.main(["watch", "remove", watch]) == 0
    assert cli.main(["watch", "remove", watch]) == cli.BAD_INPUT
    assert "no watch has the id" in capsys.readouterr().err


def test_what_cannot_be_watched_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for ask, sentence in (
        (["nowhere"], "no run has the id nowhere; for a file, add --annotations PLACE"),
        (["nowhere.json", "--annotations", "votes.csv"], "nowhere.json cannot be read"),
        (["x", "--person", "ann@lab.example"], "name who has signed in with --person"),
    ):
        assert cli.main(["watch", "add", *ask]) == cli.BAD_INPUT
        assert sentence in capsys.readouterr().err
