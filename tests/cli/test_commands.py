"""The command line: the run command's contract, the example, and bad input in one sentence."""

import csv
import os
import subprocess
import sys
from pathlib import Path

import pytest

from grasp_core import cli
from grasp_core.model import example
from grasp_core.model.errors import GraspError
from grasp_core.model.result import RunResult
from grasp_core.model.spec import STATISTICS
from grasp_core.permutation import questions
from tests.commands import COLUMNS, ROOT, refused, write, written
from tests.permutation.simulated import named_files, simulate

RUN = ["run", "--annotations", "votes.csv", "--raters", "raters.csv", *COLUMNS, "--permutations", "200"]


def run(*arguments: str) -> int:
    return cli.main([*RUN, *arguments])


def result(folder: Path, *arguments: str) -> dict:
    assert run(*arguments, "--out", "result.json") == 0
    return written()


def values(plain: dict) -> list:
    return [
        (row["group"], name, cell["value"], cell["p"])
        for row in plain["groups"]
        for name, cell in row["statistics"].items()
    ]


def test_the_contract_of_result_json(folder: Path) -> None:
    plain = result(folder, "--axis", "gender", "--axis", "race", "--intersect", "race:gender")
    assert plain["format"] == "grasp-run"
    assert plain["version"] == 3
    assert plain.keys() >= {"data", "spec", "groups", "dsi", "warnings", "timing"}
    assert plain["data"].keys() >= {"items", "raters", "annotations", "categories", "sha256"}
    assert (plain["data"]["items"], plain["data"]["raters"]) == (30, 24)
    assert plain["data"]["categories"] == ["label 0", "label 1", "label 2"]
    assert len(plain["data"]["sha256"]) == 64
    assert plain["timing"].keys() == {"load_s", "observed_s", "permutations_s"}
    assert [row["axis"] for row in plain["dsi"]] == [["gender"], ["race"], ["race", "gender"]]
    assert all(row.keys() >= {"axis", "group", "value", "p", "p_max"} for row in plain["dsi"])
    for row in plain["groups"]:
        told = {"statistics", "label_use", "verdict"}
        assert row.keys() == {"axis", "group", "n_raters", "n_annotations", *told}
        assert list(row["group"]) == row["axis"]
        assert row["n_raters"] >= 2
        assert tuple(row["statistics"]) == STATISTICS
        for cell in row["statistics"].values():
            wanted = {"value", "null_median", "direction", "p", "q", "significance", "reason"}
            assert cell.keys() >= wanted
            assert (cell["value"] is None) <= bool(cell["reason"])
            assert cell["reason"] is None or cell["reason"].keys() == {"code", "numbers", "text"}
            assert cell["direction"] in ("up", "down", None)
            assert cell["significance"] in ("none", "nominal", "corrected")
            assert cell["p"] is None or 0 < cell["p"] <= cell["q"] <= 1
    assert RunResult.from_dict(plain).spec.analysis.permutations == 200


def test_options_and_presets_reach_the_spec(folder: Path) -> None:
    options = [
        *("--axis", "gender", "--seed", "7", "--min-raters", "3", "--gai", "negentropy,cross_negentropy"),
        *("--within", "region,workload", "--statistics", "irr,gai", "--p-value", "paper"),
        *("--cross-negentropy", "paper", "--voting-agreement", "kappa", "--ties", "random"),
        *("--correction", "max-t", "--family", "all", "--level", "ordinal", "--interval", "items"),
        *("--categories", "label 2,label 1,label 0,label 9", "--missing", "NA", "--exclude", "race=Asian"),
    ]
    spec = result(folder, *options)["spec"]
    expected = {"axes": [["gender"]], "statistics": ["irr", "gai"], "gai": ["negentropy", "cross_negentropy"]}
    expected |= {"min_raters": 3, "permutations": 200, "seed": 7, "strata": ["region", "workload"]}
    expected |= {"p_value": "paper", "cross_negentropy": "paper", "voting_agreement": "kappa"}
    expected |= {"ties": "random", "correction": "max-t", "family": "all", "level": "ordinal"}
    expected |= {"interval": "items", "adaptive": False, "pairs": True, "slices": []}
    assert spec["analysis"] == expected
    assert spec["data"]["categories"] == ["label 2", "label 1", "label 0", "label 9"]
    assert "NA" in spec["data"]["missing"]
    assert spec["data"]["exclude"] == [["race", "Asian"]]
    default = result(folder, "--axis", "race")["spec"]["analysis"]
    assert (default["p_value"], default["cross_negentropy"]) == ("two-sided", "smooth")
    paper = result(folder, "--axis", "race", "--preset", "paper")["spec"]["analysis"]
    assert (paper["p_value"], paper["cross_negentropy"]) == ("paper", "paper")
    assert (paper["voting_agreement"], paper["ties"]) == ("kappa", "first")
    paper_but = ["--axis", "race", "--preset", "paper", "--p-value", "two-sided"]
    mixed = result(folder, *paper_but)["spec"]["analysis"]
    assert (mixed["p_value"], mixed["cross_negentropy"]) == ("two-sided", "paper")


def test_not_estimable_is_null_with_a_reason(folder: Path) -> None:
    write(folder, named_files(*simulate(2, items=8, raters=14, missing=0.9)))
    plain = result(folder, "--axis", "race", "--min-raters", "1")
    cells = [cell for row in plain["groups"] for cell in row["statistics"].values()]
    missing = [cell for cell in cells if cell["value"] is None]
    assert missing
    assert all(cell["reason"] and cell["p"] is cell["q"] is None for cell in missing)
    assert "NaN" not in (folder / "result.json").read_text(encoding="utf-8")


def test_the_table(folder: Path, capsys) -> None:
    assert run("--axis", "race", "--csv", "table.csv") == 0
    with (folder / "table.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    rows = [row for row in rows if not row["other_group"]]  # of groups, not of pairs
    assert [row["axis"] for row in rows if row["statistic"] == "dsi"] == ["race"]
    labels = {row["label"] for row in rows} - {""}
    assert len(labels) > 1
    assert len(rows) == 3 * (len(STATISTICS) + len(labels) + 1) + 1
    printed = capsys.readouterr().out
    assert "Asian" in printed
    assert "IRR" in printed
    first = result(folder, "--axis", "race")["groups"][0]["statistics"][rows[0]["statistic"]]
    numbers = (first["value"], first["interval"]["low"], first["interval"]["high"])
    assert tuple(float(rows[0][name]) for name in ("value", "low", "high")) == numbers


BAD = {
    "missing file": ["--annotations", "nowhere.csv", "--axis", "race"],
    "missing raters file": ["--raters", "nowhere.csv", "--axis", "race"],
    "an empty folder": ["--annotations", "nothing", "--axis", "race"],
    "empty file": ["--annotations", "empty.csv", "--axis", "race"],
    "unknown label column": ["--label", "verdict", "--axis", "race"],
    "unknown axis": ["--axis", "height"],
    "unknown intersection": ["--intersect", "race:height"],
    "empty name in an intersection": ["--intersect", "race:"],
    "an axis twice": ["--axis", "race", "--axis", "race"],
    "an axis with itself": ["--intersect", "race:race"],
    "unknown strata": ["--axis", "race", "--within", "height"],
    "unknown column to exclude": ["--axis", "race", "--exclude", "height=1"],
    "labels that are not declared": ["--axis", "race", "--categories", "a,b"],
    "one category": ["--axis", "race", "--categories", "label 0"],
    "no folder for the result": ["--axis", "race", "--out", "nowhere/result.json"],
    "a folder as result": ["--axis", "race", "--out", "."],
    "a folder as table": ["--axis", "race", "--csv", "."],
    "a report of no known kind": ["--axis", "race", "--report", "report.docx"],
    "no folder for a report": ["--axis", "race", "--report", "nowhere/report.html"],
    "no permutations": ["--axis", "race", "--permutations", "0"],
    "too many permutations": ["--axis", "race", "--permutations", "10000001"],
    "negative seed": ["--axis", "race", "--seed", "-1"],
    "seed out of range": ["--axis", "race", "--seed", str(2**63)],
    "groups too small": ["--axis", "race", "--min-raters", "25"],
    "unknown statistic": ["--axis", "race", "--statistics", "alpha"],
    "half a ratio": ["--axis", "race", "--gai", "irr"],
    "a ratio upside down": ["--axis", "race", "--gai", "xrr,irr"],
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_sentence(folder: Path, capsys, monkeypatch, case: str) -> None:
    """And it is found before any permutation is computed."""
    computed: list[object] = []
    monkeypatch.setattr(questions, "shuffled", lambda *arguments: computed.append(arguments))
    (folder / "empty.csv").touch()
    (folder / "nothing").mkdir()
    assert len(refused(capsys, *RUN, *BAD[case])) > 30
    assert not computed


def test_a_failing_run_is_one_sentence(folder: Path, capsys, monkeypatch) -> None:
    def fail(*arguments):
        raise ZeroDivisionError("rater r7 said Yes")

    monkeypatch.setattr(questions, "shuffled", fail)
    assert run("--axis", "race", "--out", "result.json") == cli.FAILED == 70
    said = capsys.readouterr().err
    assert "r7" not in said
    assert said.splitlines()[-1].startswith("grasp: The run stopped because of an error in GRASP itself")
    assert not (folder / "result.json").exists()


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [(KeyboardInterrupt(), 130, "grasp: stopped\n"), (GraspError("not today"), 2, "grasp: not today\n")],
    ids=["Ctrl-C", "refusal"],
)
def test_every_end_is_one_sentence(capsys, monkeypatch, tmp_path, error, status, said) -> None:
    def end(*arguments):
        raise error

    monkeypatch.setattr("grasp_core.cli.fetch.example_files", end)
    assert cli.main(["example", str(tmp_path)]) == status
    assert capsys.readouterr().err == said


def test_example_writes_its_files_where_that_can_be(tmp_path: Path, capsys) -> None:
    assert cli.main(["example", str(tmp_path / "new" / "folder")]) == 0
    for name, content in example.example_files().items():
        assert (tmp_path / "new" / "folder" / name).read_bytes() == content
    (tmp_path / "file").touch()
    assert "cannot be written" in refused(capsys, "example", tmp_path / "file")


# As a process of its own
def in_shell(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    measured = {name: value for name, value in os.environ.items() if name.startswith("COVERAGE_")}
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "grasp_core", *arguments],
        cwd=cwd,
        env={"PYTHONPATH": str(ROOT), "PATH": "", **measured},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_run_and_a_refusal_as_a_process(folder: Path) -> None:
    asked = ["--axis", "race", "--no-pairs"]
    arguments = ["run", "--annotations", "votes.csv", "--raters", "raters.csv", *COLUMNS, *asked]
    ended = in_shell(*arguments, "--permutations", "200", "--out", "shell.json", cwd=folder)
    assert ended.returncode == 0, ended.stderr
    assert "IRR" in ended.stdout
    assert "Traceback" not in ended.stderr
    assert values(written("shell.json")) == values(result(folder, *asked))
    ended = in_shell("run", "--annotations", "nowhere.csv", *COLUMNS, "--axis", "race", cwd=folder)
    assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (2, "", 1)
    assert "nowhere.csv" in ended.stderr
