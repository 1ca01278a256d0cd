"""`grasp.connect` and `grasp --server`: the digits of this machine, computed by a real server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import grasp_core as grasp
from grasp_core import cli
from tests.notebook.asking import few, found
from tests.notebook.test_remote import ANN, Served, served
from tests.serving import free_port

__all__ = ["served"]  # the fixture

ASKED: Any = {"axes": ["rater_gender"], "permutations": 200, "pairs": False, "progress": False}
QUIET: Any = {"progress": False}


def token(served: Served, scope: Any = "run") -> str:
    return served.server.tokens.create(owner=ANN, name="a notebook", scope=scope, days=1)


@pytest.fixture(scope="module")
def there(served: Served) -> grasp.Connection:
    served.server.service.start()
    return grasp.connect(served.url, token(served))


@pytest.fixture(scope="module")
def run(there: grasp.Connection) -> grasp.Analysis:
    return there.analyse(*few(), **ASKED)


def test_the_digits_and_notes_are_those_of_this_machine(run: grasp.Analysis) -> None:
    here = grasp.analyse(*few(), **ASKED)
    assert found(run.result.to_dict()) == found(here.result.to_dict())
    assert run.spec == here.spec
    assert set(run.notes) <= set(here.notes)
    assert run.notes


def test_files_and_saved_specs_are_sent_as_they_are(
    there: grasp.Connection, run: grasp.Analysis, tmp_path: Path
) -> None:
    for name, frame in zip(("votes.csv", "raters.csv"), few(), strict=True):
        frame.to_csv(tmp_path / name, index=False)
    run.save(tmp_path / "one.spec.json")
    places = [str(tmp_path / name) for name in ("votes.csv", "raters.csv", "one.spec.json")]
    again = there.analyse(places[0], Path(places[1]), spec=places[2], progress=False)
    assert [file.name for file in again.result.data.files] == ["votes.csv", "raters.csv"]
    assert found(again.result.to_dict())["groups"] == found(run.result.to_dict())["groups"]


def test_what_is_asked_of_a_run(there: grasp.Connection, run: grasp.Analysis) -> None:
    assert run.run in there.runs()["id"].tolist()
    opened = there.open(run)
    assert isinstance(opened, grasp.Analysis)
    assert opened == run
    other = there.analyse(*few(), **{**ASKED, "seed": 2})
    assert there.compare(run, str(other.run)).asked()["what"].tolist() == ["Seed"]
    drawn, here = there.map_raters(run), grasp.map_raters(*few(), result=run)
    assert drawn.axes().equals(here.axes())
    asked: Any = {"size": 40, "range_raters": (20, 22), "range_items": (10, 12)}
    assumed = there.plan(assumed=grasp.Assumed(labels=2, agreement=0.5), share=0.5, **asked)
    assert assumed.plan.spec.raters == (20, 22)
    assert assumed.answer()
    with pytest.raises(grasp.RemoteError, match="no group") as refused:
        there.plan(run, group={"rater_gender": "Other"}, **asked)
    assert refused.value.code == "not-found"


@pytest.mark.long
def test_a_plan_from_a_run_is_of_its_group(there: grasp.Connection, run: grasp.Analysis) -> None:
    asked: Any = {"size": 40, "range_raters": (20, 22), "range_items": (10, 12)}
    planned = there.plan(run, group={"rater_gender": "Man"}, **asked)
    assert planned.plan.group is not None
    assert planned.plan.group.values == ("Man",)


def test_quality_and_agreement_of_everybody(there: grasp.Connection) -> None:
    votes, raters = few()
    told = there.quality(votes, raters, axes=["rater_gender"])
    assert told["format"] == "grasp-quality"
    assert told["small_groups"]
    alone = there.analyse(votes, axes=(), permutations=50, **QUIET)
    assert alone.result.everybody is not None


@pytest.mark.parametrize(
    ("asked", "error", "words"),
    [
        ({"axes": ["zodiac"]}, grasp.DataError, "zodiac"),
        ({"axes": ["rater_gender"], "seed": -1}, grasp.SpecError, "`seed`"),
        ({"item": "nothing"}, grasp.DataError, "nothing"),
    ],
)
def test_what_cannot_be_asked_is_refused_as_here(
    there: grasp.Connection, asked: Any, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        there.analyse(*few(), **QUIET, **asked)


def test_what_a_server_refuses_has_a_code(served: Served, there: grasp.Connection) -> None:
    def code(call: Any) -> str:
        with pytest.raises(grasp.RemoteError) as refused:
            call()
        assert "--" not in str(refused.value)
        return refused.value.code

    assert code(lambda: grasp.connect(served.url)) == "not-admitted"
    assert code(lambda: grasp.connect(f"http://127.0.0.1:{free_port()}")) == "no-server"
    assert code(lambda: grasp.connect("http://grasp.example")) == "no-https"
    reader = grasp.connect(served.url, token(served, "read"))
    assert code(lambda: reader.analyse(*few(), **ASKED)) == "not-allowed"
    assert code(lambda: there.open("no such run")) == "not-found"
    assert code(lambda: there.map_raters(grasp.analyse(*few(), **ASKED))) == "no-run"


def test_the_command_has_runs_computed_by_a_server(
    served: Served,
    there: grasp.Connection,
    run: grasp.Analysis,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GRASP_TOKEN", token(served))
    for name, frame in zip(("votes.csv", "raters.csv"), few(), strict=True):
        frame.to_csv(name, index=False)
    command = ["run", "votes.csv", "raters.csv", "--axis", "rater_gender", "--permutations", "200"]
    command += ["--no-pairs", "-o", "result.json"]
    assert cli.main(["--server", served.url, *command]) == 0
    said = capsys.readouterr()
    assert f"note: the run is {served.url}/results?run=" in said.err
    plain = json.loads(Path("result.json").read_text(encoding="utf-8"))
    assert found(plain)["groups"] == found(run.result.to_dict())["groups"]
    for arguments, sentence in (
        ([*command, "--workers", "1"], "--workers is of runs that are computed here"),
        (["quality", "votes.csv"], "--server goes with `grasp run`"),
    ):
        assert cli.main(["--server", served.url, *arguments]) == cli.BAD_INPUT
        assert sentence in capsys.readouterr().err
    monkeypatch.delenv("GRASP_TOKEN")
    assert cli.main(["--server", served.url, *command]) == cli.BAD_INPUT
