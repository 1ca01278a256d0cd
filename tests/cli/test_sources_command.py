"""Commands and notebooks that read from addresses and databases, and where the result says so."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from pathlib import Path

import pytest

import grasp_core as grasp
from grasp_core import cli
from tests.permutation.simulated import files, simulate
from tests.reading.sources.serving import site


@pytest.fixture
def database(tmp_path: Path) -> str:
    votes, raters = files(*simulate(1, items=30, missing=0.1))
    with sqlite3.connect(tmp_path / "lab.db") as connection:
        for name, content in (("votes", votes), ("raters", raters)):
            head, *rows = csv.reader(io.StringIO(content.decode()))
            connection.execute(f"CREATE TABLE {name} ({', '.join(head)})")
            connection.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(head))})", rows)
    connection.close()
    for name, content in (("votes", votes), ("raters", raters)):
        (tmp_path / f"{name}.csv").write_bytes(content)
    return f"sql:sqlite:///{tmp_path}/lab.db"


OPTIONS = [
    *("--item", "item", "--rater", "rater", "--label", "label"),
    *("--axis", "race", "--permutations", "100"),
]


def test_a_run_on_a_database_is_that_on_the_files(
    tmp_path: Path, database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    results = []
    for given in (
        ["--annotations", f"{tmp_path}/votes.csv", "--raters", f"{tmp_path}/raters.csv"],
        ["--from", f"{database}?table=votes", "--raters", f"{database}?table=raters"],
    ):
        assert cli.main(["run", *given, *OPTIONS, "--out", str(tmp_path / "out.json")]) == 0
        results.append(json.loads((tmp_path / "out.json").read_text("utf-8")))
    said = capsys.readouterr().err
    assert f"votes.parquet is what {database}?table=votes holds now, SHA-256 " in said
    plain, fetched = results
    assert plain["groups"] == fetched["groups"]
    assert [file.get("source") for file in plain["data"]["files"]] == [None, None]
    assert [file["source"] for file in fetched["data"]["files"]] == [
        f"{database}?table={name}" for name in ("votes", "raters")
    ]
    table = grasp.read(f"{database}?table=votes")
    assert table.source == f"{database}?table=votes"
    assert table.sha256 == fetched["data"]["files"][0]["sha256"]


def test_a_tool_without_a_token_says_where_it_goes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("LABEL_STUDIO_API_KEY", raising=False)
    assert cli.main(["quality", "--from", "label-studio:https://labels.example/projects/3"]) == 2
    assert "Label Studio asks for a token: put it into LABEL_STUDIO_API_KEY" in capsys.readouterr().err
    assert cli.main(["quality", "--from", "sql:mysql://labels.example/votes?table=a"]) == 2
    assert "PostgreSQL and SQLite are" in capsys.readouterr().err


def test_a_run_on_addresses_is_that_on_the_files(tmp_path: Path, capsys) -> None:
    votes, raters = files(*simulate(1, items=30, missing=0.1))
    (tmp_path / "votes.csv").write_bytes(votes)
    (tmp_path / "raters.csv").write_bytes(raters)
    results = []
    with site(votes=votes, raters=raters) as web:
        for start in (tmp_path.as_posix(), f"{web.url}/data", tmp_path.as_uri()):
            given = ["--annotations", f"{start}/votes.csv", "--raters", f"{start}/raters.csv"]
            assert cli.main(["run", *given, *OPTIONS, "--out", str(tmp_path / "out.json")]) == 0
            result = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
            del result["timing"]
            results.append(result)
        assert results[0] == results[1] == results[2]
        assert [file["name"] for file in results[0]["data"]["files"]] == ["votes.csv", "raters.csv"]
        capsys.readouterr()
        assert cli.main(["run", "--annotations", f"{web.url}/nowhere.csv", *OPTIONS]) == 2
    said = capsys.readouterr().err
    assert said == "grasp: nowhere.csv is not at that address; check its spelling\n"
    assert cli.main(["run", "--annotations", "s3://team/votes.csv", *OPTIONS]) == 2
    assert "needs the package s3fs: pip install s3fs" in capsys.readouterr().err
