"""A real server: runs opened by address and token, and computed by it to the digits of this machine."""

import json
import re
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request as Asked
from starlette.responses import HTMLResponse, RedirectResponse
from starlette.routing import Route

import grasp_core as grasp
from grasp_core import cli
from grasp_core.engine.pools import workers
from grasp_core.model.settings import Settings
from grasp_core.model.text import for_python
from grasp_core.notebook.remote import Api, api_of, in_python
from grasp_core.report.saved import result_json
from grasp_core.server.api.app import mount
from grasp_core.server.gate import UploadLedger
from grasp_core.server.server import Server
from grasp_core.store.people.projects import Member
from grasp_core.store.runs import Request
from grasp_core.store.schema import people
from tests.commands import ran, refused, written
from tests.empty_store import empty_home
from tests.made_up import telling
from tests.notebook.asking import few, few_files, found
from tests.results import make_result
from tests.server.conftest import SIGN_IN
from tests.serving import free_port

# Runs of a server
ANN = "ann@lab.example"


class Served(NamedTuple):
    url: str
    port: int
    server: Server

    @property
    def token(self) -> str:
        return self.server.tokens.create(owner=ANN, name="a notebook", scope="read", days=1)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The API below /team, for people who sign in; beside it addresses that lead elsewhere, or are no API."""
    home, folder = empty_home(tmp_path_factory.mktemp("home")), tmp_path_factory.mktemp("data")
    few_files(folder)
    server = Server(Settings(home=home, data_dir=str(folder), **SIGN_IN), workers.threads)
    person = {"id": ANN, "issuer": "i", "subject": ANN, "email": ANN, "name": "Ann"}
    with server.database.begin() as connection:
        connection.execute(people.insert(), [{**person, "created_at": 0.0, "signed_in_at": 0.0}])
    port = free_port()
    app = Starlette(
        routes=[
            mount(lambda: server, lambda _: None, UploadLedger(dict, 2**20), "/team"),
            Route("/moved/api/v1/runs/{run}", lambda asked: moved(asked, "127.0.0.1", port)),
            Route("/away/api/v1/runs/{run}", lambda asked: moved(asked, "localhost", port)),
            Route("/pages/api/v1/runs/{run}", lambda _: HTMLResponse("<p>a page</p>")),
        ]
    )
    running = uvicorn.Server(uvicorn.Config(app, port=port, log_level="error"))
    thread = threading.Thread(target=running.run)
    thread.start()
    while not running.started and thread.is_alive():
        time.sleep(0.01)
    yield Served(f"http://127.0.0.1:{port}/team", port, server)
    running.should_exit = True
    thread.join()
    server.service.close()
    server.database.dispose()


def refusal(address: str, token: str | None = None, said: str | None = None) -> str:
    """The code with which opening the address is refused."""
    with pytest.raises(grasp.RemoteError, match=said) as refused:
        grasp.open(address, token=token)
    assert token is None or token not in str(refused.value)
    return refused.value.code


def moved(asked: Asked, host: str, port: int) -> RedirectResponse:
    return RedirectResponse(f"http://{host}:{port}/team/api/v1/runs/{asked.path_params['run']}", 308)


def test_a_run_is_opened_by_its_page_address_or_share_link_without_names(served: Served) -> None:
    result = make_result()
    run = served.server.runs.add(result, title="A run", owner=ANN)
    for address in (f"results?run={run.id}", f"results?view=labels&run={run.id}", f"api/v1/runs/{run.id}"):
        opened = grasp.open(f"{served.url}/{address}", token=served.token)
        assert isinstance(opened, grasp.Analysis)
        assert result_json(opened.result) == result_json(result)
    assert opened.table()["raters"].tolist() == [row.n_raters for row in result.groups]
    of_models = served.server.runs.add(telling(), title="Models", owner=ANN)
    opened = grasp.open(f"{served.url}/results?run={of_models.id}", token=served.token)
    assert isinstance(opened, grasp.ModelsAnalysis)
    assert opened.result == served.server.service.result(of_models.id)
    run = served.server.runs.add(make_result(), title="Shared", owner=ANN)
    token = served.server.links.create(run.id, created_by=ANN)
    opened = grasp.open(f"{served.url}/results?run={run.id}", token=token)
    assert isinstance(opened, grasp.Analysis)
    assert opened.result.data.files == ()
    other = served.server.runs.add(make_result(), title="Not shared", owner=ANN)
    assert refusal(f"{served.url}/results?run={other.id}", token) == "not-found"


@pytest.mark.parametrize(
    ("place", "token", "code"),
    [
        ("team/results?run=none", "", "not-admitted"),
        ("team/results?run=none", "x" * 43, "not-admitted"),
        ("team/results?run=none", "two\nlines", "no-token"),
        ("team/results", "", "no-address"),
        ("pages/results?run=none", "", "no-grasp"),
        ("nowhere/results?run=none", "", "not-found"),
    ],
)
def test_refusals_say_why(served: Served, place: str, token: str, code: str) -> None:
    assert refusal(f"http://127.0.0.1:{served.port}/{place}", token or None) == code


def test_redirects_are_followed_within_a_server_alone_and_runs_without_result_refused(served: Served) -> None:
    run = served.server.runs.add(make_result(), title="Moved", owner=ANN)
    there = f"http://127.0.0.1:{served.port}"
    assert grasp.open(f"{there}/moved/results?run={run.id}", token=served.token)
    assert refusal(f"{there}/away/results?run={run.id}", served.token) == "elsewhere"
    assert refusal(f"{served.url}/results?run=none", served.token, "no run of that id") == "not-found"
    assert refusal(f"http://127.0.0.1:{free_port()}/results?run=none") == "no-server"
    result, runs = make_result(), served.server.runs
    runs.create(Request("f" * 64, "Fails", ANN, "0.1.0", result.spec, result.data, ()))
    claimed = runs.claim()
    assert claimed is not None
    address = f"{served.url}/results?run={claimed.id}"
    assert refusal(address, served.token, "once it is done") == "not-done"
    runs.finish(claimed, "failed", error="the data are odd")
    assert refusal(address, served.token, "the data are odd") == "no-result"


@pytest.mark.parametrize(
    ("address", "asked"),
    [
        ("https://a.example/results?run=7", "https://a.example/api/v1/runs/7"),
        ("https://a.example/grasp/results?run=7", "https://a.example/grasp/api/v1/runs/7"),
        ("https://a.example/grasp/?run=7", "https://a.example/grasp/api/v1/runs/7"),
        ("https://a.example/api/v1/runs/7", "https://a.example/api/v1/runs/7"),
        ("https://a.example/grasp/api/runs/7/", "https://a.example/grasp/api/v1/runs/7"),
        ("https://a.example/results?run=../../x", "https://a.example/api/v1/runs/..%2F..%2Fx"),
        ("http://[::1]:8501/results?run=7", "http://[::1]:8501/api/v1/runs/7"),
    ],
)
def test_addresses_that_people_know_lead_to_the_api(address: str, asked: str) -> None:
    api, run = api_of(address, None)
    assert f"{api.address}/api/v1/runs/{quote(run, safe='')}" == asked


@pytest.mark.parametrize(
    ("address", "code"),
    [
        ("http://a.example/results?run=7", "no-https"),
        ("https://ann:secret@a.example/results?run=7", "no-address"),
        ("https://a.example/runs", "no-address"),
    ],
)
def test_addresses_that_would_give_a_token_away_are_refused(address: str, code: str) -> None:
    with pytest.raises(grasp.RemoteError) as refused:
        api_of(address, None)
    assert refused.value.code == code


# Runs on a server
ASKED: Any = {"axes": ["rater_gender"], "permutations": 200, "pairs": False, "progress": False}
QUIET: Any = {"progress": False}
QUICK: Any = {"permutations": 50, "pairs": False, **QUIET}


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


def hints(notes: Iterable[str], result: grasp.Analysis) -> set[str]:
    """The hints on data beside a result's warnings, without the spelling of options."""
    plain = (for_python(re.sub(r'"(\w+)"(?=:? )', r"--\1", note)).removeprefix("note: ") for note in notes)
    option = re.compile(r"(no_)?(\w+=)(: (true|false)|True|False)?")
    return {option.sub(r"\2", note) for note in plain} - set(map(str, result.warnings))


def test_one_analysis_by_all_doors_has_the_same_digits_and_hints(served, there, tmp_path, capsys) -> None:
    votes, raters = few()
    votes = votes.assign(label=votes["label"].map({"No": "1", "Unsure": "2", "Yes": "3"}), batch=1)
    votes.loc[votes.index[::97], "label"] = ""
    raters["removed"] = ["yes" if place % 20 == 0 else "no" for place in range(len(raters))]
    places = [str(tmp_path / name) for name in ("votes.csv", "raters.csv")]
    for frame, place in zip((votes, raters), places, strict=True):
        frame.to_csv(place, index=False)
    out = tmp_path / "result.json"
    told = ran(capsys, "run", *places, "--permutations", "50", "-o", str(out))
    progress = re.compile("Preparing the engine|permutations$")
    notes = [one for one in told.err.splitlines()[1:] if not progress.search(one)]
    lines = (*notes, *(one for one in told.out.splitlines() if one.startswith("label ")))
    command = written(out)
    python = grasp.analyse(*places, permutations=50, **QUIET)
    api = Api(served.url, token(served))
    files = {
        role: api.brought(place, grasp.read(place))
        for role, place in zip(("annotations", "raters"), places, strict=True)
    }
    asked = {"spec": {"analysis": {"permutations": 50}}, "files": files}
    computed = api.compute(asked, lambda *_: None)
    for plain in (command, python.result.to_dict(), computed.result.to_dict()):
        plain.pop("timing", None)
        assert plain == command
    by_python = hints(python.notes, python)
    assert len(by_python) > 5
    assert hints(lines, python) == by_python
    assert hints(computed.notes, python) == by_python


def test_files_and_saved_specs_are_sent_as_they_are(there, run, tmp_path) -> None:
    few_files(tmp_path)
    run.save(tmp_path / "one.spec.json")
    places = [str(tmp_path / name) for name in ("votes.csv", "raters.csv", "one.spec.json")]
    again = there.analyse(places[0], Path(places[1]), spec=places[2], progress=False)
    assert [file.name for file in again.result.data.files] == ["votes.csv", "raters.csv"]
    assert found(again.result.to_dict())["groups"] == found(run.result.to_dict())["groups"]


@pytest.mark.usefixtures("few_data_sets")
def test_what_is_asked_of_a_run(there: grasp.Connection, run: grasp.Analysis) -> None:
    assert run.run in there.runs()["id"].tolist()
    opened = there.open(run)
    assert isinstance(opened, grasp.Analysis)
    assert opened == run
    other = there.analyse(*few(), **{**ASKED, "seed": 2})
    assert there.compare(run, str(other.run)).asked()["what"].tolist() == ["Seed"]
    man = {"rater_gender": "Man"}
    looked = there.items(run, group=man)
    here_too = grasp.items(*few(), result=run, group=man, **QUIET)
    assert found(looked.result.to_dict()) == found(here_too.result.to_dict())
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
    told = there.quality(votes, raters, axes=["rater_gender", "rater_race"])
    here = grasp.quality(votes, raters, axes=["rater_gender", "rater_race"], **QUIET)
    assert isinstance(told, grasp.Quality)
    assert told.answer() == here.answer()
    assert list(told.tables()) == list(here.tables())
    assert all(table.equals(here.tables()[title]) for title, table in told.tables().items())
    alone = there.analyse(votes, raters, axes=(), permutations=50, **QUIET)
    assert alone.result.everybody is not None


def test_data_that_lie_on_the_server_are_read_there(served, there, run) -> None:
    votes, raters = (there.file(f"data:{name}") for name in ("votes.csv", "raters.csv"))
    lying = there.analyse(votes, raters, **ASKED)
    assert found(lying.result.to_dict()) == found(run.result.to_dict())
    assert lying.notes
    assert there.analyse(votes, raters, spec=run.spec, **QUIET).result.groups == run.result.groups
    listed = there.files("votes")
    assert "data:votes.csv" in listed["location"].tolist()
    uploads = listed["sha256"].dropna().tolist()
    sent = {file.name: file.sha256 for file in run.result.data.files}
    assert set(sent.values()) <= set(uploads)
    assert "annotations.parquet" in listed["name"].tolist()
    both = there.analyse(there.file(sent["annotations.parquet"]), few()[1], **ASKED)
    assert both.result.groups == run.result.groups
    left = there.analyse(votes, raters, exclude=[("rater_gender", "Man")], axes=["rater_race"], **QUICK)
    assert left.result.data.raters < run.result.data.raters
    assert left.spec.data.exclude == (("rater_gender", "Man"),)
    told = there.quality(votes, raters, axes=["rater_gender"], power=True)
    assert told.report.power
    assert told.tables()["Overview"].equals(there.quality(*few(), axes=["rater_gender"]).tables()["Overview"])
    for call, error in (
        (lambda: there.analyse(there.file("data:none.csv"), **QUIET), "none.csv"),
        (lambda: there.analyse(there.file("f" * 64, name="gone.csv"), **QUIET), "gone.csv"),
        (lambda: there.analyse(there.file("sql:none"), **QUIET), "sql"),
        (lambda: there.analyse(votes, guess=False, **QUIET), "guess= is of data that are read here"),
        (lambda: there.analyse(votes, label="labl", **QUIET), "labl"),
    ):
        with pytest.raises(grasp.GraspError, match=error):
            call()


def test_runs_and_files_are_of_the_project_that_was_named(served: Served) -> None:
    project = served.server.projects.create("Ours", owner=Member("person", ANN, "owner")).id
    ours = grasp.connect(served.url, token(served), project=project)
    run = ours.analyse(*few(), **ASKED)
    assert ours.runs()["id"].tolist() == [run.run]
    assert len(ours.files()["sha256"].dropna()) == 2


@pytest.mark.parametrize(
    ("asked", "error", "words"),
    [
        ({"axes": ["zodiac"]}, grasp.DataError, "zodiac"),
        ({"axes": ["rater_gender"], "seed": -1}, grasp.SpecError, "`seed`"),
        ({"item": "nothing"}, grasp.DataError, "nothing"),
    ],
)
def test_what_cannot_be_asked_is_refused_as_here(there, asked, error, words) -> None:
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


@pytest.fixture
def files_here(served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The data and a model's labels in the working folder, and a token."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GRASP_TOKEN", token(served))
    few_files(tmp_path)
    labels().to_csv("labels.csv", index=False)


def test_what_is_computed_here_alone_is_refused(served: Served, files_here, monkeypatch, capsys) -> None:
    for arguments, sentence in (
        (["run", "votes.csv", *AXIS, "--workers", "1"], "--workers is of what is computed here"),
        (["raters", "votes.csv"], "--server goes with 'run', 'quality'"),
        (["quality", "votes.csv", "--show-ids"], "--show-ids is of what is computed here"),
    ):
        assert sentence in refused(capsys, "--server", served.url, *arguments)
    monkeypatch.delenv("GRASP_TOKEN")
    assert refused(capsys, "--server", served.url, "run", "votes.csv", "raters.csv", *AXIS)


def labels() -> Any:
    first = few()[0].drop_duplicates("item_id")[["item_id", "label"]]
    return first.rename(columns={"item_id": "ID", "label": "Label"})


AXIS = ("--axis", "rater_gender")
PLAN = ("--group", "rater_gender=Man", "--size", "40", "--range-raters", "20:22", "--range-items", "10:12")


@pytest.mark.parametrize(
    ("command", "further"),
    [
        ("run", (*AXIS, "--permutations", "200", "--rater-map")),
        ("quality", AXIS),
        ("items", (*AXIS, "--permutations", "200", "--group", "rater_gender=Man")),
        ("rater-map", (*AXIS, "--permutations", "200")),
        ("models", (*AXIS, "--permutations", "200", "--model", "m=labels.csv")),
        pytest.param("plan", PLAN, marks=pytest.mark.long),
    ],
)
def test_a_server_computes_what_a_command_does(served, there, files_here, capsys, command, further) -> None:
    def plain(*before: str) -> dict[str, Any]:
        asked = [*before, command, "votes.csv", "raters.csv", *further, "--format", "json", "-q"]
        found = json.loads(ran(capsys, *asked).out)
        return {name: value for name, value in found.items() if name != "timing"}

    assert plain("--server", served.url) == plain()


def test_agreement_of_periods_is_computed_there_too(served: Served, files_here, capsys) -> None:
    votes = few()[0]
    items = list(dict.fromkeys(votes["item_id"]))
    votes["date"] = [f"2026-0{1 + items.index(item) % 2}-01" for item in votes["item_id"]]
    votes.to_csv("dated.csv", index=False)

    def plain(*before: str) -> Any:
        asked = [*before, "agreement", "dated.csv", "--over", "date", "--format", "json", "-q"]
        return json.loads(ran(capsys, *asked).out)

    found = plain("--server", served.url)
    here = plain()
    for name in ("spec", "coefficients", "everybody"):  # the file sent is a table with the periods
        assert found[name] == here[name]
    assert "date (day)" in {one["column"] for one in found["coefficients"]}


def test_commands_take_data_and_runs_of_the_server(served, there, files_here, run, capsys) -> None:
    lying, here = ("data:votes.csv", "data:raters.csv"), ("votes.csv", "raters.csv")
    told = []
    for places in (lying, here, (lying[0], here[1])):
        asked = ["run", *places, *AXIS, "--permutations", "200", "--no-pairs", "--format", "json"]
        said = ran(capsys, "--server", served.url, *asked)
        told.append(json.loads(said.out)["groups"])
        assert f"note: the run is {served.url}/results?run=" in said.err
        assert "note: recognised: items 'item_id', labels 'label', raters 'rater_id'" in said.err
    assert told[0] == told[1] == told[2] == run.result.to_dict()["groups"]
    assert cli.main(["--server", served.url, "quality", *lying, *AXIS, "--power"]) == 0
    assert "Items by number of raters" in capsys.readouterr().out
    assert cli.main(["--server", served.url, "report", run.run, "--format", "json", "-q"]) == 0
    assert json.loads(capsys.readouterr().out)["groups"] == told[0]
    run.save("kept.json")
    assert cli.main(["--server", served.url, "compare", run.run, "kept.json"]) == 0
    assert "Nothing but noise changed" in capsys.readouterr().out
    for further, sentence in (
        (("--keep", "a=b"), "--keep is of data that are read here"),
        (("--intersect", "rater_race:rater_gender"), "name the axes beside --intersect"),
    ):
        assert sentence in refused(capsys, "--server", served.url, "run", *lying, *further)


def test_models_are_sent_beside_the_data(there: grasp.Connection) -> None:
    votes, raters = few()
    votes["gold"] = votes.groupby("item_id")["label"].transform("first")
    asked: Any = {
        "axes": ["rater_gender"],
        "labels": {"first": labels()},
        "columns": {"gold": "gold"},
        "permutations": 100,
        **QUIET,
    }
    by_server, here = there.models(votes, raters, **asked), grasp.models(votes, raters, **asked)
    assert by_server.table().equals(here.table())
    assert by_server.notes


def test_options_of_requests_are_worded_whatever_their_values_hold() -> None:
    said = (
        'as "strata": ["batch [a]"] or "cluster": "team \\"A\\"" in "data"; "level" and "odd": 1, "seed": x'
    )
    assert (
        in_python(said) == "as strata=['batch [a]'] or cluster='team \"A\"'; level= and \"odd\": 1, seed=: x"
    )


def test_a_server_that_reads_the_data_is_worded_by_the_door(served, there, files_here, capsys) -> None:
    votes, raters = few()
    raters["removed"] = ["yes" if place % 20 == 0 else "no" for place in range(len(raters))]
    votes["polite"] = votes["label"].map({"No": "1", "Unsure": "2", "Yes": "1"})
    place = Path(served.server.settings.data_dir)
    raters.to_csv(place / "marked.csv", index=False)
    votes.rename(columns={"label": "toxic"}).to_csv(place / "unsure.csv", index=False)
    files = there.file("data:votes.csv"), there.file("data:marked.csv")
    told = there.analyse(*files, axes=["rater_gender"], **QUICK)
    assert "recommended=True leaves them out; recommended=False says" in told.notes[0]
    with pytest.raises(grasp.RemoteError, match="name it as label="):
        there.analyse(there.file("data:unsure.csv"), **QUIET)
    command = ["run", "data:votes.csv", "data:marked.csv", *AXIS, "--permutations", "50"]
    assert cli.main(["--server", served.url, *command]) == 0
    assert "--recommended leaves them out; --no-recommended says" in capsys.readouterr().err
    assert "name it as --label" in refused(capsys, "--server", served.url, "quality", "data:unsure.csv")
