"""Runs from the command line: adaptive, fitted tails, slices, items, reports, scratch folders."""

import csv
import io
import sys
import uuid
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import fsspec
import numpy as np
import pandas as pd
import pytest

from grasp_core import cli
from grasp_core.analysis.items.outcomes import ItemsResult
from grasp_core.cli.run import InCaseOfStop, Scratch
from grasp_core.cli.terminal.results import in_width
from grasp_core.engine.compute import compute
from grasp_core.engine.pools import workers
from grasp_core.engine.pools.pool import Pool
from grasp_core.engine.pools.schedule import Progress
from grasp_core.engine.watching import Watcher
from grasp_core.model.annotations import FloatArray
from grasp_core.model.errors import RunCancelledError
from grasp_core.model.result import RunResult
from grasp_core.model.spec import AnalysisSpec, RunSpec
from grasp_core.permutation.testing.outcomes import looks
from grasp_core.permutation.testing.tally import Tally
from grasp_core.report.contents import brackets
from tests.commands import COLUMNS, ran, refused, write, written
from tests.engine.asking import digits, sliced_files
from tests.permutation.simulated import DATA_SPEC, dataset

# Permutations until all marks are settled
FILES = ["--annotations", "votes.csv", "--raters", "raters.csv"]
DATA = [*FILES, *COLUMNS, "--axis", "race", "--no-pairs"]  # with pairs, progress names stages


def result(folder: Path, permutations: str, *more: str) -> RunResult:
    arguments = ["run", *DATA, "--permutations", permutations, "--out", "result.json", *more]
    assert cli.main(arguments) == 0
    return RunResult.from_dict(written())


@pytest.mark.parametrize(("given", "most"), [("auto", 100_000), ("auto:3000", 3000)])
def test_auto_says_how_many_there_were_and_what_holds(folder: Path, capsys, given: str, most: int) -> None:
    found = result(folder, given)
    assert found.spec.analysis.adaptive
    assert found.spec.analysis.permutations == most
    assert found.stopping is not None
    assert found.permutations in looks(most)
    said = capsys.readouterr().out
    assert f"{found.permutations:,}" in said
    assert "at most 0.1 %" in said
    assert cli.main(["run", *FILES, "--spec", "result.json", "--out", "again.json"]) == 0
    again = written("again.json")
    assert {**again, "timing": None} == {**found.to_dict(), "timing": None}


def test_progress_is_of_at_most_so_many_and_a_number_says_nothing_of_marks(
    folder, capsys, monkeypatch
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    # That line would come first.
    monkeypatch.setattr("grasp_core.cli.terminal.progress.preparing", lambda: None)
    monkeypatch.setenv("TERM", "xterm")
    result(folder, "auto:3000")
    assert " of at most 3,000 permutations" in capsys.readouterr().err
    assert result(folder, "300").stopping is None
    said = capsys.readouterr()
    assert " of 300 permutations" in said.err
    assert "settled" not in said.out


@pytest.mark.parametrize(
    ("given", "said"),
    [
        *(
            (one, "must be a whole number, auto, or auto:MOST such as auto:1000000")
            for one in ("auto:", "auto:many", "car", "auto5", "1.5")
        ),
        *(
            (one, "`permutations` must be a whole number from 1 to 10000000")
            for one in ("auto:0", "auto:10000001")
        ),
    ],
)
def test_anything_else_is_refused_in_a_sentence(folder: Path, capsys, given: str, said: str) -> None:
    with pytest.raises(SystemExit) as ended:
        sys.exit(cli.main(["run", *DATA, "--permutations", given]))
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


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


class InPairs(After):
    """Cancels once a block of pairs is kept, whose permutations begin anew."""

    def check(self, progress: Progress) -> None:
        if len(self.noted.starts) > len({*self.noted.starts}):
            raise RunCancelledError


@pytest.mark.parametrize(
    ("place", "stop", "asked"),
    [
        ("folder", After, {"permutations": 20_000}),
        ("address", After, {"permutations": 20_000, "adaptive": True}),
        ("folder", InPairs, {"permutations": 2000, "pairs": True}),
    ],
)
def test_what_a_scratch_folder_keeps_is_gone_on_from(tmp_path: Path, place: str, stop, asked) -> None:
    data = dataset(5, items=40, raters=30, missing=0.3)
    spec = RunSpec(DATA_SPEC, AnalysisSpec(axes=(("gender",),), **asked))
    pool = Pool(workers.threads, 1)
    scratch = f"memory://{uuid.uuid4().hex}" if place == "address" else str(tmp_path / "new" / "scratch")
    first, second = Noted(scratch, "key"), Noted(scratch, "key")
    try:
        right = digits(compute(data, spec, pool, Watcher()))
        with pytest.raises(RunCancelledError):
            compute(data, spec, pool, stop(first), first)
        assert digits(compute(data, spec, pool, Watcher(), second)) == right
    finally:
        pool.close()
    assert 0 in first.starts
    assert 0 not in second.starts
    assert stop is InPairs or not {*first.starts} & {*second.starts}
    assert Scratch(scratch, "another").counted_before() is None
    second.forget()
    assert fsspec.core.url_to_fs(scratch)[0].find(scratch) == []


def test_what_is_kept_in_memory_is_written_of_all_stages(tmp_path: Path) -> None:
    kept, tally = InCaseOfStop(), cast(Tally, SimpleNamespace(counting=False))
    for number, stage in enumerate((kept, kept.of_stage(0), kept.of_stage(1))):
        stage.begin(tally)
        stage.computed(number, np.full((2, 3), number))
    scratch = Scratch(str(tmp_path), "key")
    assert kept.keep(scratch)
    for number, stage in enumerate((scratch, scratch.of_stage(0), scratch.of_stage(1))):
        ((start, values),) = stage.computed_before(3)
        assert (start, values.mean()) == (number, number)


# Reports
RUN = ["run", *FILES, "--axis", "gender", "--axis", "race"]
FEW = ["--permutations", "100"]


def test_a_report_of_each_kind_with_the_map_and_without_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
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
    capsys.readouterr()
    assert cli.main([*RUN, *FEW, "--report", "report.md"]) == 0
    assert "Map of raters" not in capsys.readouterr().out + (folder / "report.md").read_text(encoding="utf-8")


# Items
COLUMNS_ITEMS = ["--layout", "long", *COLUMNS]


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
    assert "both sides differ more than luck explains: i2 (“Yes” more often)." in shown
    assert "What is 2?" in shown
    found = ItemsResult.from_dict(written(tmp_path / "items.json"))
    assert (found.group.values, found.permutations, len(found.items)) == (("Woman", "Asian"), 10_000, 12)
    assert "What is" not in (tmp_path / "items.json").read_text(encoding="utf-8")
    assert (tmp_path / "items.csv").read_text(encoding="utf-8").count("\n") == 13


def test_group_of_a_result_is_looked_at_under_its_permutations(files, tmp_path, capsys) -> None:
    run = ["run", *files, *COLUMNS_ITEMS, "--intersect", "race:gender", "--permutations", "auto:3000"]
    assert cli.main([*run, "--out", str(tmp_path / "run.json")]) == 0
    result = written(tmp_path / "run.json")
    asked = [*files, "--spec", str(tmp_path / "run.json"), "--group", "race=Asian,gender=Woman"]
    assert ask(*asked, "--out", str(tmp_path / "items.json")) == 0
    found = written(tmp_path / "items.json")
    assert found["permutations"] == result["stopping"]["permutations"]
    assert found["spec"] == result["spec"]
    assert "leave out --seed" in refused(capsys, "items", *asked, "--seed", "3")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--group", "race=Purple"], "no group 'race=Purple'; there are race=Asian; race=White"),
        (["--group", "Asian"], "--group is written AXIS=VALUE,AXIS=VALUE; found 'Asian'"),
        (["--group", "colour=Blue"], "colour"),
        (["--group", "race=Asian", "--top", "-1"], "--top is a number of items from 0; found -1"),
        (["--group", "race=Asian", "--permutations", "auto"], "write --permutations 10000"),
        (["--group", "race=Asian", "--question", "third"], "there is no question 'third'"),
        (["--group", "race=Asian", "--axis", "gender"], "there are gender=Man; gender=Woman"),
    ],
)
def test_what_cannot_be_asked_is_a_sentence(files, more, said, capsys) -> None:
    assert said in refused(capsys, "items", *files, *COLUMNS_ITEMS, *more)


def test_several_questions_are_looked_at_one_by_one(files, capsys) -> None:
    both = [*files, *COLUMNS_ITEMS, "--label", "second", "--group", "race=Asian", "--permutations", "200"]
    assert "choose one of 'label', 'second' by --question" in refused(capsys, "items", *both)
    assert ask(*both, "--question", "second", "--top", "0") == 0
    assert "raters say “" in capsys.readouterr().out


# Slices
ITEMS = ["--items", "items.csv"]
SETTINGS = [*COLUMNS, "--axis", "gender", "--permutations", "150"]


@pytest.fixture
def sliced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The working folder, with the three files."""
    write(tmp_path, dict(zip(("votes.csv", "raters.csv", "items.csv"), sliced_files(), strict=True)))
    monkeypatch.chdir(tmp_path)


def test_slices_are_printed_recorded_and_found_again(sliced, capsys) -> None:
    targets = ["--out", "result.json", "--csv", "table.csv"]
    told = ran(capsys, "run", *FILES, *ITEMS, *SETTINGS, "--slice", "topic", *targets).out
    assert brackets(AnalysisSpec(axes=(("gender",),))) in told
    assert "*: may be luck, p < 0.05; **: after correction" in told
    of_slices = told.split("Slices by topic")[1]
    for name in ("GAI", "Distance", "Label use"):
        head, *rows = of_slices.split(f"\n{name}\n")[1].split("\n\n")[0].splitlines()
        assert "art (14 items)" in head
        assert sum("[" in row for row in rows) >= 2
    found = written()
    (topic,) = found["slices"]
    assert (topic["column"], topic["without"]) == ("topic", 1)
    assert [(one["value"], one["items"]) for one in topic["values"]] == [("art", 14), ("news", 15)]
    assert found["spec"]["data"]["items_id"] == "id"
    assert ",slice,slice_value" in Path("table.csv").read_text(encoding="utf-8").splitlines()[0]
    recorded = ["--spec", "result.json", "--out", "again.json"]
    assert cli.main(["run", *FILES, *ITEMS, *recorded]) == 0
    again = written("again.json")
    for name in ("spec", "data", "groups", "slices"):
        assert again[name] == found[name]
    assert "items" in refused(capsys, "run", *FILES, *recorded)  # such a spec needs the items' file


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ([*ITEMS, *SETTINGS, "--slice", "colour"], "colour"),
        ([*SETTINGS, "--slice", "topic"], "topic"),
        ([*ITEMS, *SETTINGS, "--items-id", "nothing", "--slice", "topic"], "nothing"),
    ],
)
def test_what_cannot_be_sliced_is_a_sentence(sliced, more, said, capsys) -> None:
    assert said in refused(capsys, "run", *FILES, *more)


def test_tables_go_on_below_where_they_are_wider_than_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    table = pd.DataFrame([["Black", "x" * 30, "y" * 60]], columns=["Group", "a", "b"])
    first, second = in_width(table, 1, 80).split("\n\n")
    assert [line.split() for line in first.splitlines()] == [["Group", "a"], ["Black", "x" * 30]]
    assert [line.split() for line in second.splitlines()] == [["Group", "b"], ["Black", "y" * 60]]
    assert in_width(table, 1, 100).count("Group") == 1
    monkeypatch.setenv("COLUMNS", "80")
    assert in_width(table, 1, 100).count("Group") == 2


# Fitted tails
OF_EXAMPLE = [
    *("--annotations", "annotations.csv", "--raters", "raters.csv"),
    *("--item", "item_id", "--rater", "rater_id", "--label", "label"),
    *("--categories", "No,Yes,Unsure", "--axis", "rater_race"),
    "--no-pairs",
]


def test_small_p_are_fitted_told_and_kept_beside_the_counted(few_example, capsys) -> None:
    files = ["--out", "result.json", "--csv", "table.csv"]
    assert "†: p fitted" in ran(capsys, "run", *OF_EXAMPLE, "--permutations", "1000", "--tail", *files).out
    found = written()
    assert found["spec"]["analysis"]["tail"] is True
    rows = list(csv.DictReader(io.StringIO(Path("table.csv").read_text(encoding="utf-8"), newline="")))
    fitted = [row for row in rows if row["p_counted"] and row["statistic"] != "dsi"]
    assert fitted
    by_group = {row["group"]["rater_race"]: row for row in found["groups"]}
    for row in fitted:
        one = by_group[row["group"]]
        told = one["label_use"] if row["statistic"] == "label_use" else one["statistics"][row["statistic"]]
        assert (float(row["p"]), float(row["p_counted"])) == (told["p"], told["fit"]["counted"])
