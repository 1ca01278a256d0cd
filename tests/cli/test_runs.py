"""Runs from the command line: adaptive, fitted tails, slices, items, reports, scratch folders."""

from __future__ import annotations

import json
import uuid
import zipfile
from pathlib import Path

import fsspec
import numpy as np
import pytest

from grasp_core import cli
from grasp_core.analysis.items.outcomes import ItemsResult
from grasp_core.cli.scratch import Scratch
from grasp_core.engine.compute import compute
from grasp_core.engine.pools import workers
from grasp_core.engine.pools.blocks import Progress
from grasp_core.engine.pools.pool import Pool
from grasp_core.engine.watching import Watcher
from grasp_core.model.annotations import FloatArray
from grasp_core.model.errors import RunCancelledError
from grasp_core.model.result import RunResult
from grasp_core.model.spec import AnalysisSpec, RunSpec
from grasp_core.permutation.testing.outcomes import looks
from tests.cli.test_commands import COLUMNS
from tests.engine.asking import digits
from tests.permutation.simulated import DATA_SPEC, dataset

# Permutations until all marks are settled


DATA = ["--annotations", "votes.csv", "--raters", "raters.csv", *COLUMNS, "--axis", "race"]


def result(folder: Path, permutations: str, *more: str) -> RunResult:
    arguments = ["run", *DATA, "--permutations", permutations, "--out", "result.json", *more]
    assert cli.main(arguments) == 0
    return RunResult.from_dict(json.loads((folder / "result.json").read_text(encoding="utf-8")))


@pytest.mark.parametrize(("given", "most"), [("auto", 100_000), ("auto:3000", 3000)])
def test_auto_says_how_many_there_were_and_what_holds(folder: Path, capsys, given: str, most: int) -> None:
    found = result(folder, given)
    assert found.spec.analysis.adaptive
    assert found.spec.analysis.permutations == most
    assert found.stopping is not None
    assert found.permutations in looks(most)
    said = capsys.readouterr().out
    assert f"{found.permutations:,}" in said
    assert "for each test the risk that it is not is at most 0.1 %" in said
    assert cli.main(["run", *DATA[:4], "--spec", "result.json", "--out", "again.json"]) == 0
    again = json.loads((folder / "again.json").read_text(encoding="utf-8"))
    assert {**again, "timing": None} == {**found.to_dict(), "timing": None}


def test_progress_is_of_at_most_so_many(folder: Path, capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    result(folder, "auto:3000", "--no-pairs")  # with pairs the line names stages
    assert " of at most 3,000 permutations" in capsys.readouterr().err
    result(folder, "300", "--no-pairs")
    assert " of 300 permutations" in capsys.readouterr().err


def test_a_number_says_nothing_of_it(folder: Path, capsys) -> None:
    assert result(folder, "300").stopping is None
    assert "settled" not in capsys.readouterr().out


@pytest.mark.parametrize("given", ["auto:", "auto:many", "car", "auto5", "1.5"])
def test_anything_else_is_refused_in_a_sentence(folder: Path, capsys, given: str) -> None:
    with pytest.raises(SystemExit):
        cli.main(["run", *DATA, "--permutations", given])
    assert "must be a whole number, auto, or auto:MOST such as auto:1000000" in capsys.readouterr().err


@pytest.mark.parametrize("given", ["auto:0", "auto:10000001"])
def test_numbers_out_of_range_are_refused(folder: Path, capsys, given: str) -> None:
    assert cli.main(["run", *DATA, "--permutations", given]) == 2
    assert "`permutations` must be a whole number from 1 to 10000000" in capsys.readouterr().err


# A run that was interrupted
class Noted(Scratch):
    """Notes the blocks that are computed."""

    def __init__(self, folder: str, key: str) -> None:
        super().__init__(folder, key)
        self.starts: list[int] = []

    def computed(self, start: int, values: FloatArray) -> None:
        super().computed(start, values)
        self.starts.append(start)


class After(Watcher):
    """Cancels once a block is kept."""

    def __init__(self, noted: Noted) -> None:
        self.noted = noted

    def check(self, progress: Progress) -> None:
        if self.noted.starts:
            raise RunCancelledError


@pytest.mark.parametrize("place", ["folder", "address"])
@pytest.mark.parametrize("adaptive", [False, True], ids=["fixed", "adaptive"])
def test_what_a_scratch_folder_keeps_is_gone_on_from(tmp_path: Path, place: str, adaptive: bool) -> None:
    data = dataset(5, items=40, raters=30, missing=0.3)
    analysis = AnalysisSpec(axes=(("gender",),), permutations=20_000, adaptive=adaptive)
    spec, pool = RunSpec(DATA_SPEC, analysis), Pool(workers.threads, 1)
    scratch = f"memory://{uuid.uuid4().hex}" if place == "address" else str(tmp_path / "new" / "scratch")
    first, second = Noted(scratch, "key"), Noted(scratch, "key")
    try:
        right = digits(compute(data, spec, pool, Watcher()))
        with pytest.raises(RunCancelledError):
            compute(data, spec, pool, After(first), first)
        assert first.starts
        assert digits(compute(data, spec, pool, Watcher(), second)) == right
    finally:
        pool.close()
    assert not {*first.starts} & {*second.starts}
    assert Scratch(scratch, "another").counted_before() is None
    second.forget()
    assert fsspec.core.url_to_fs(scratch)[0].find(scratch) == []


# Reports
RUN = ["run", "--annotations", "votes.csv", "--raters", "raters.csv", "--axis", "gender", "--axis", "race"]
FEW = ["--permutations", "100"]


def test_a_report_of_each_kind_with_the_map(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ("report.html", "report.xlsx", "report.tex", "REPORT.MD")
    reports = [word for name in names for word in ("--report", name)]
    assert cli.main([*RUN, *FEW, "--statistics", "irr", *reports, "--rater-map", "--out", "run.json"]) == 0
    assert "\nMap of raters\n\n- " in capsys.readouterr().out
    assert '<section id="raters">' in (folder / "report.html").read_text(encoding="utf-8")
    assert r"\label{tab:grasp-map}" in (folder / "report.tex").read_text(encoding="utf-8")
    assert "## Map of raters" in (folder / "REPORT.MD").read_text(encoding="utf-8")
    with zipfile.ZipFile(folder / "report.xlsx") as book:
        assert b"Groups on the map" in book.read("xl/workbook.xml")
    again = ["run", "--spec", "run.json", *RUN[1:5], "--rater-map", "--report", "again.md"]
    assert cli.main(again) == 0
    assert (folder / "again.md").read_bytes() == (folder / "REPORT.MD").read_bytes()


def test_without_the_map_nothing_is_said_of_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([*RUN, *FEW, "--report", "report.md"]) == 0
    assert "Map of raters" not in capsys.readouterr().out + (folder / "report.md").read_text(encoding="utf-8")


# Items
COLUMNS_ITEMS = ["--layout", "long", "--item", "item", "--rater", "rater", "--label", "label"]


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Thirty raters; the 12 Asian women among them see item i2 the other way round."""
    rng = np.random.default_rng(4)
    votes, raters = ["item,rater,label,words,second"], ["rater,race,gender"]
    for j in range(30):
        raters.append(f"r{j},{'Asian' if j < 15 else 'White'},{'Woman' if j < 12 or j > 20 else 'Man'}")
        for i in range(12):
            yes = rng.random() < 0.15
            yes = yes if i != 2 or j >= 12 else not yes
            votes.append(f"i{i},r{j},{'Yes' if yes else 'No'},What is {i}?,{'ab'[rng.integers(2)]}")
    for name, lines in (("votes.csv", votes), ("raters.csv", raters)):
        (tmp_path / name).write_text("\n".join(lines), encoding="utf-8")
    return ["--annotations", str(tmp_path / "votes.csv"), "--raters", str(tmp_path / "raters.csv")]


def ask(*arguments: str) -> int:
    return cli.main(["items", *arguments])


def test_planted_item_is_named_with_its_text(files, tmp_path, capsys) -> None:
    group = ["--group", "gender=Woman, race=Asian", "--text", "words", "--top", "2"]
    targets = ["--out", str(tmp_path / "items.json"), "--csv", str(tmp_path / "items.csv")]
    assert ask(*files, *COLUMNS_ITEMS, *group, *targets) == 0
    shown = capsys.readouterr().out
    assert "1 of 12 items" in shown
    assert "holds after correction, by label use or distance: i2 (“Yes” more often)." in shown
    assert "What is 2?" in shown
    found = ItemsResult.from_dict(json.loads((tmp_path / "items.json").read_text(encoding="utf-8")))
    assert (found.group.values, found.permutations, len(found.items)) == (("Woman", "Asian"), 10_000, 12)
    assert "What is" not in (tmp_path / "items.json").read_text(encoding="utf-8")
    assert (tmp_path / "items.csv").read_text(encoding="utf-8").count("\n") == 13


def test_group_of_a_result_is_looked_at_under_its_permutations(files, tmp_path, capsys) -> None:
    run = ["run", *files, *COLUMNS_ITEMS, "--intersect", "race:gender", "--permutations", "auto:3000"]
    assert cli.main([*run, "--out", str(tmp_path / "run.json")]) == 0
    result = json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))
    asked = [*files, "--spec", str(tmp_path / "run.json"), "--group", "race=Asian,gender=Woman"]
    assert ask(*asked, "--out", str(tmp_path / "items.json")) == 0
    found = json.loads((tmp_path / "items.json").read_text(encoding="utf-8"))
    assert found["permutations"] == result["stopping"]["permutations"]
    assert found["spec"] == result["spec"]
    capsys.readouterr()
    assert ask(*asked, "--seed", "3") == cli.BAD_INPUT
    assert "--spec says all of what to run: leave out --seed" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--group", "race=Purple"], "no group 'race=Purple'; there are race=Asian; race=White"),
        (["--group", "Asian"], "--group is written AXIS=VALUE,AXIS=VALUE; found 'Asian'"),
        (["--group", "colour=Blue"], "colour"),
        (["--group", "race=Asian", "--top", "-1"], "--top is a number of items from 0; found -1"),
        (["--group", "race=Asian", "--permutations", "auto"], "write --permutations 10000"),
        (["--group", "race=Asian", "--question", "third"], "there is no 'third'"),
        (["--group", "race=Asian", "--axis", "gender"], "there are gender=Man; gender=Woman"),
    ],
)
def test_what_cannot_be_asked_is_a_sentence(files, more, said, capsys) -> None:
    assert ask(*files, *COLUMNS_ITEMS, *more) == cli.BAD_INPUT
    error = capsys.readouterr().err
    assert said in error
    assert "Traceback" not in error


def test_several_questions_are_looked_at_one_by_one(files, capsys) -> None:
    both = [*files, *COLUMNS_ITEMS, "--label", "second", "--group", "race=Asian", "--permutations", "200"]
    assert ask(*both) == cli.BAD_INPUT
    assert "name one of them of label, second" in capsys.readouterr().err
    assert ask(*both, "--question", "second", "--top", "0") == 0
    assert "raters say “" in capsys.readouterr().out
