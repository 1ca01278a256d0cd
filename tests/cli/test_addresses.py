"""The command line reads addresses as it reads paths."""

from __future__ import annotations

import json
from pathlib import Path

from grasp_core import cli
from tests.permutation.simulated import files, simulate
from tests.reading.sources.serving import site

OPTIONS = [
    "--item",
    "item",
    "--rater",
    "rater",
    "--label",
    "label",
    "--axis",
    "race",
    "--permutations",
    "100",
]


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
