"""``run --spec``: a saved spec or result gives the same digits, and nothing else may say what to run."""

import json
import shutil
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from grasp_core import cli
from grasp_core.model.data_spec import Filters, MapValues
from grasp_core.model.result import RunResult
from grasp_core.model.spec import AnalysisSpec, RunSpec
from grasp_core.reading.dataset.load import load
from grasp_core.reading.sandbox.read import read_table
from grasp_core.report.saved import spec_json
from tests.cli.conftest import write_data
from tests.commands import refused, written
from tests.computing import compute_in_threads
from tests.permutation.simulated import DATA_SPEC

FILES = ["--annotations", "votes.csv", "--raters", "raters.csv"]
SETTINGS = [
    *["--item", "item", "--rater", "rater", "--label", "label", "--categories", "label 2,label 0,label 1"],
    *["--axis", "gender", "--intersect", "race:gender", "--permutations", "150", "--seed", "7"],
    *["--exclude", "race=race 0", "--missing", "?", "--min-raters", "3", "--ties", "random", "--gai"],
    *["plurality_size,xrr", "--preset", "paper", "--correction", "max-t", "--within", "region"],
]


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the data, a result and its spec file."""
    folder = tmp_path_factory.mktemp("saved")
    write_data(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        arguments = [*SETTINGS, "--out", "result.json", "--csv", "table.csv"]
        assert cli.main(["run", *FILES, *arguments]) == 0
    result = RunResult.from_dict(written(folder / "result.json"))
    (folder / "spec.json").write_text(spec_json(result), encoding="utf-8")
    return folder


@pytest.fixture
def folder(saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder: a copy of those files."""
    shutil.copytree(saved, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def again(*arguments: str) -> int:
    return cli.main(["run", *FILES, "--spec", *arguments])


def refusal(capsys, *arguments: str) -> str:
    return refused(capsys, "run", *FILES, "--spec", *arguments)


@pytest.mark.parametrize("name", ["spec.json", "result.json"])
def test_the_same_digits(folder: Path, capsys, name: str) -> None:
    assert again(name, "--out", "again.json", "--csv", "again.csv") == 0
    assert "other data" not in capsys.readouterr().err
    first, second = written(), written("again.json")
    assert first.pop("timing").keys() == second.pop("timing").keys()
    assert second == first
    assert (folder / "again.csv").read_bytes() == (folder / "table.csv").read_bytes()


def test_parts_recoding_and_filters_give_the_digits_of_the_page_members_as_well(folder, capsys) -> None:
    with zipfile.ZipFile("both.zip", "w") as archive:
        archive.writestr("notes.csv", "a,b\n1,2\n")
        archive.write("votes.csv")
        archive.write("raters.csv")
    recode = (MapValues(None, (("label 2", "label 1"),)), MapValues("race", (("race 0", ""),)))
    filters = Filters(drop=(("label", "?"),), raters=("r1",), min_per_rater=5, min_per_item=2)
    data = replace(DATA_SPEC, missing=("", "?"), recode=recode, filters=filters)
    data = replace(data, member="votes.csv", raters_member="raters.csv")
    spec = RunSpec(data, AnalysisSpec(axes=(("race",), ("race", "gender")), permutations=150, seed=7))
    tables = [read_table(Path("both.zip"), member=member) for member in (data.member, data.raters_member)]
    shown = compute_in_threads(load(*tables, data), spec)  # the page reads all columns that can be axes
    assert shown.data.categories == ("label 0", "label 1")
    Path("page.json").write_text(spec_json(shown), encoding="utf-8")
    files = ["--annotations", "both.zip", "--raters", "both.zip"]
    assert cli.main(["run", *files, "--spec", "page.json", "--out", "again.json"]) == 0
    again, page = written("again.json"), shown.to_dict()
    for part in ("spec", "data", "groups", "dsi"):
        assert again[part] == page[part]
    capsys.readouterr()
    said = []
    for option in ("member", "part"):
        files = ["--annotations", "both.zip", f"--{option}", "votes.csv", "--raters", "both.zip"]
        assert cli.main(["quality", *files, f"--raters-{option}", "raters.csv", "--label", "label"]) == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1] != ""


def test_the_spec_file(folder: Path) -> None:
    result, spec = written(), written("spec.json")
    assert list(spec) == ["format", "version", "spec", "data"]
    assert (spec["format"], spec["version"]) == ("grasp-spec", 1)
    assert spec["spec"] == result["spec"]
    assert spec["data"]["sha256"] == result["data"]["sha256"]
    assert [list(file) for file in spec["data"]["files"]] == [["name", "sha256"]] * 2


@pytest.mark.parametrize("name", ["spec.json", "result.json"])
def test_other_data_are_noted(folder: Path, capsys, name: str) -> None:
    votes = folder / "votes.csv"
    votes.write_bytes(votes.read_bytes() + b"\n")
    assert again(name) == 0
    (note,) = [line for line in capsys.readouterr().err.splitlines() if "other data" in line]
    assert note.startswith("note: the spec was recorded with other data (votes.csv, raters.csv, SHA-256 ")
    assert written("spec.json")["data"]["sha256"] in note


OPTIONS = """--layout long/--item item/--rater rater/--label label/--profile a/--categories a,b/--missing ?
--exclude race=x/--axis race/--intersect race:gender/--permutations 10000/--seed 1/--preset default
--min-raters 2/--statistics irr/--gai irr,xrr/--within race/--p-value two-sided/--cross-negentropy smooth
--ties first/--correction max-t/--family all/--no-pairs"""


@pytest.mark.parametrize("option", OPTIONS.replace("\n", "/").split("/"))
def test_options_that_say_what_to_run_are_refused(folder: Path, capsys, option: str) -> None:
    name, *value = option.split()
    said = refusal(capsys, "spec.json", name, *value)
    assert f"--spec says all of what to run: leave out {name}; beside it go only --annotations" in said


def test_every_such_option_is_named(folder: Path, capsys) -> None:
    said = refusal(capsys, "spec.json", "--seed", "1", "--axis", "race")
    assert "leave out --axis, --seed;" in said or "leave out --seed, --axis;" in said


def _damaged(change):
    def write(folder: Path) -> None:
        content = written("spec.json")
        change(content)
        (folder / "spec.json").write_text(json.dumps(content), encoding="utf-8")

    return write


def _bytes(content: bytes):
    return lambda folder: (folder / "spec.json").write_bytes(content)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda folder: (folder / "spec.json").unlink(), "cannot be read: No such file"),
        (lambda folder: ((folder / "spec.json").unlink(), (folder / "spec.json").mkdir()), "cannot be read"),
        (_bytes(b""), "is not JSON"),
        (_bytes(b"item,rater,label\n"), "is not JSON"),
        (_bytes(b"\xff\xfe\x00"), "is not JSON"),
        (_bytes(b"[" * 100_000), "is not JSON"),
        (_bytes(b"9" * 10_000), "is not JSON"),
        (_bytes(b"[]"), "neither a spec nor a result"),
        (_bytes(b'{"format": ["grasp-spec"]}'), "neither a spec nor a result"),
        (_damaged(lambda content: content.update(format="else")), "neither a spec nor a result"),
        (_damaged(lambda content: content.update(version=2)), "format version 2; this GRASP reads 1"),
        (_damaged(lambda content: content.pop("spec")), "not a run spec"),
        (_damaged(lambda content: content.pop("data")), "is damaged: KeyError at 'data'"),
        (_damaged(lambda content: content.update(data=[])), "is damaged"),
        (_damaged(lambda content: content["data"].update(sha256=5)), "is damaged"),
        (_damaged(lambda content: content["data"].update(files=[{}])), "is damaged: KeyError at 'name'"),
        (_damaged(lambda content: content["spec"].update(version=9)), "not a run spec of version 1"),
        (_damaged(lambda content: content["spec"]["analysis"].update(permutations=0)), "`permutations`"),
        (_damaged(lambda content: content["spec"]["analysis"].update(seed="1\n2")), "`seed`"),
        (_damaged(lambda content: content["spec"]["analysis"].update(axes=[["zodiac"]])), "zodiac"),
        (_damaged(lambda content: content["spec"]["analysis"].update(extra=1)), "extra"),
        (_damaged(lambda content: content["spec"]["data"].update(layout="\x1b[31m\nx")), "layout"),
    ],
)
def test_a_damaged_spec_is_one_sentence(folder: Path, capsys, damage, words: str) -> None:
    damage(folder)
    assert words in refusal(capsys, "spec.json", "--out", "again.json")
    assert not (folder / "again.json").exists()
