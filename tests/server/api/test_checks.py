"""What is asked beside runs: what one would read, where files may be, what is known of one that is done."""

import re
import sqlite3
from contextlib import closing
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from grasp_core.engine.reading_request import InputTables, reading_of
from grasp_core.model.data_spec import Filters
from grasp_core.model.spec import RunSpec
from grasp_core.notebook.options import Python
from grasp_core.notebook.results import Analysis
from grasp_core.reading.dataset.load import load
from grasp_core.reading.sandbox.read import read_table
from grasp_core.report.quality import quality_report
from grasp_core.server.api import new_runs as brought
from grasp_core.server.server import Server
from tests.batches import in_batches
from tests.few_items import few_items
from tests.server.api.asking import ended, problem, refused, sent, spec, upload
from tests.server.conftest import ANN, BOB, VIEWER, MakeClient


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "data"
    found.mkdir()
    for name, content in few_items().items():
        (found / name).write_bytes(content)
    return found


@pytest.fixture
def given(folder: Path) -> dict[str, str]:
    return {"data_dir": str(folder)}


def post(visitor: TestClient, path: str, **body: Any) -> Any:
    return visitor.post(f"/api/v1{path}", json=body)


def test_a_check_tells_what_a_run_would_read_and_runs_nothing(ann: TestClient, server: Server) -> None:
    files = upload(ann)
    told = post(ann, "/validate", spec=spec(), files=files).json()
    tables = [read_table(content, name) for name, content in few_items().items()]
    dataset = load(*tables, RunSpec.from_dict(told["spec"]).data, ("rater_gender",))
    assert told["runs"] is True
    assert (told["questions"], told["problems"]) == ([], [])
    assert told["data"]["raters"] == dataset.summary.raters
    assert told["data"]["annotations"] == dataset.summary.annotations
    assert sum(one["raters"] for one in told["groups"]) == dataset.summary.raters
    assert {axis for one in told["groups"] for axis in one["group"]} == {"rater_gender"}
    assert any("rows read" in one for one in told["hints"])
    assert server.runs.search() == []
    started = post(ann, "/runs", spec=spec(), files=files).json()
    assert (started["notes"], started["hints"]) == (told["notes"], told["hints"])


def marked(ann: TestClient, more: dict[str, Any], **asked: Any) -> Any:
    """A check of annotations with a rater who is marked to be left out, and with labels 0 to 5."""
    rows = [
        f"i{i},r{j},{(i * j + i + j) % 6},{'fm'[j % 2]},{'yes' if j == 3 else 'no'}"
        for i in range(24)
        for j in range(8)
    ]
    files = sent(ann, "\n".join(["item,rater,label,gender,removed", *rows]))
    data = {"layout": "long", "item": "item", "rater": "rater", "label": "label", **more}
    return post(ann, "/validate", spec={"data": data}, files=files, **asked).json()


def test_naming_nobody_to_leave_out_leaves_nobody_out_and_asks_no_more(ann: TestClient) -> None:
    assert marked(ann, {}, recommended=True)["data"]["raters"] == 7
    assert "'removed'" in marked(ann, {})["notes"][0]
    for more in ({"exclude": []}, {"ignore": ["removed"]}):
        assert marked(ann, more, recommended=True)["data"]["raters"] == 8
        assert not any("'removed'" in note for note in marked(ann, more)["notes"])
    assert not any("'removed'" in note for note in marked(ann, {"profile": ["removed"]})["notes"])


def test_a_hint_on_missing_labels_keeps_what_is_missing_already(ann: TestClient) -> None:
    assert '"missing": ["", "0"] takes it for no answer' in marked(ann, {})["notes"][0]
    assert marked(ann, {"missing": ["", "0"]})["data"]["categories"] == ["1", "2", "3", "4", "5"]


def test_missing_texts_are_added_to_those_that_are_recognised(ann: TestClient) -> None:
    """As by the command; a saved spec, which names all settings of reading, stays as it is."""
    rows = [
        f"i{i},r{j},{['1', '2', '3', 'NA', '77', ''][(i * j + i + j) % 6]}"
        for i in range(24)
        for j in range(8)
    ]
    content = "\n".join(["item,rater,label", *rows])
    files = sent(ann, content)
    columns = {"item": "item", "rater": "rater", "label": "label"}
    tables = InputTables(read_table(content.encode(), "v.csv"))
    fields = {**columns, "filters": Filters(), "recode": ()}

    def missing(**data: Any) -> Any:
        told = post(ann, "/validate", spec={"data": data}, files=files).json()
        return set(told["spec"]["data"]["missing"]), told

    for more in ((), ("77",)):
        here = reading_of(tables, {**fields, "missing": ("", *more)}, Python())
        for named in ({}, columns):
            found, told = missing(**named, **({"missing": ["", *more]} if more else {}))
            assert found == {*here.spec.missing} == {"", "NA", *more}
            assert any("'NA'" in note for note in told["notes"])
    saved = {**told["spec"]["data"], "missing": ["", "77"]}
    assert missing(**saved)[0] == {"", "77"}
    named = ["1", "2", "3", "NA"]
    assert missing(**columns, missing=["", "77"], categories=named)[0] == {"", "77"}


def test_no_sentence_names_an_option_of_the_command(ann: TestClient, server: Server) -> None:
    ages = [
        f"i{i},r{j},{'abc'[(i * j + i) % 3]},{20 + 7 * j},{'xyz'[(i + j) % 3]}"
        for i in range(12)
        for j in range(9)
    ]
    head = "item,rater,label,age,mood"
    twice = [head, *ages, "i0,r0,b,20,x", "i0,r0,a,20,x"]
    nameless = [head, *ages, ",r0,a,20,x", "i1,,b,27,x"]
    unlike = [head, *ages, "i0,R0 ,a,20,x", "i99,r1,99,27,N/A"]
    said = []
    for rows in (twice, nameless, unlike, [head, *ages]):
        files = sent(ann, "\n".join(rows))
        for data, analysis in (
            ({}, {}),
            ({"label": "label"}, {"level": "ordinal"}),
            ({"label": "label"}, {"axes": [["age"]]}),
            ({"label": "label"}, {"axes": [["mood"]], "slices": ["mood"]}),
            ({"label": "nothing"}, {}),
        ):
            asked = {"spec": {"data": data, "analysis": analysis}, "files": files}
            for path in ("/validate", "/quality", "/runs"):
                answer = post(ann, path, **asked, **({"recommended": None} if path == "/runs" else {}))
                said.append(answer.text)
    assert any('\\"repeated\\"' in one for one in said)
    assert any('\\"recode\\"' in one for one in said)
    assert any('\\"categories\\"' in one for one in said)
    assert [one for one in said if re.search(r"(?<![\w-])--[a-z]", one)] == []


def test_a_recognised_axis_without_groups_is_left_out_as_elsewhere(ann: TestClient) -> None:
    sites = ("north", "south", "", "")  # of two workers alone
    rows = [f"i{i},w{j},{(i + j) % 2},{site}" for i in range(9) for j, site in enumerate(sites)]
    files = sent(ann, "\n".join(["item,worker,label,place", *rows]))
    told = post(ann, "/validate", files=files).json()
    assert told["runs"] is True
    assert told["spec"]["analysis"]["axes"] == []
    assert any("left out of the axes" in one for one in told["notes"])
    assert post(ann, "/runs", files=files).json()["title"]


def test_what_is_not_certain_is_asked_and_never_run(ann: TestClient, server: Server) -> None:
    rows = [f"{i},{j},{(i + j) % 2},{(i * j) % 3}" for i in range(6) for j in range(8)]
    files = sent(ann, "\n".join(["item,rater,toxic,polite", *rows]))
    told = post(ann, "/validate", files=files).json()
    assert told["runs"] is False
    [asked] = told["questions"]
    assert (asked["field"], set(asked["candidates"])) == ("label", {"toxic", "polite"})
    assert '"label" in "data"' in asked["text"]
    assert "polite" in refused(post(ann, "/runs", files=files))["detail"]
    assert server.runs.search() == []
    answered = post(ann, "/validate", files=files, spec={"data": {"label": "toxic"}}).json()
    assert answered["runs"] is True
    assert answered["spec"]["data"]["label"] == "toxic"


def test_hints_warn_of_groups_that_were_given_other_items(ann: TestClient) -> None:
    files = {}
    for kind, frame in zip(("annotations", "raters"), in_batches(), strict=True):
        content = frame.to_csv(index=False).encode()
        files[kind] = ann.post(f"/api/v1/files?name={kind}.csv", content=content).json()
        del files[kind]["bytes"]
    asked = {"analysis": {"axes": [["gender"]]}}
    for answer in (post(ann, f"/{one}", files=files, spec=asked).json() for one in ("validate", "quality")):
        [batches] = [one for one in answer["hints"] if "could hold batches" in one]
        assert batches.endswith('\'batch\'; "strata": ["batch"] shuffles within the values of one')
        [warned] = [one for one in answer["hints"] if "were given different items" in one]
        assert "gender" in warned


def test_beside_what_is_wrong_with_a_spec_a_check_tells_of_the_data(ann: TestClient) -> None:
    files = upload(ann)
    plain = spec(axes=[["no_such_axis"]], seed="x", odd=1)
    named = {**plain["data"], "label": "no_such_column", "repeated": "perhaps"}
    told = post(ann, "/validate", files=files, spec={**plain, "data": named}).json()
    assert (told["runs"], told["spec"]) == (False, None)
    for wrong in ("`repeated`", "`seed`", "'odd'", "no_such_column", "no_such_axis"):
        assert sum(wrong in one["text"] for one in told["problems"]) == 1, wrong
    right = post(ann, "/validate", files=files, spec=spec()).json()
    told = post(ann, "/validate", files=files, spec=spec(seed="x")).json()
    assert [one["code"] for one in told["problems"]] == ["spec"]
    assert [told[name] for name in ("data", "groups", "notes", "hints")] == [
        right[name] for name in ("data", "groups", "notes", "hints")
    ]
    absent = {"annotations": {"sha256": "0" * 64, "name": "gone.csv"}}
    lacking = post(ann, "/validate", files=absent, spec=spec(seed="x"))
    assert lacking.status_code == HTTPStatus.NOT_FOUND
    assert [one["code"] for one in lacking.json()["problems"]] == ["not-found", "spec"]


def test_a_file_that_cannot_be_read_is_a_problem_beside_those_of_the_spec(ann: TestClient) -> None:
    files = sent(ann, b"\x00\x01\x02")
    told = post(ann, "/validate", files=files, spec={"analysis": {"seed": "x"}}).json()
    assert [one["code"] == "spec" for one in told["problems"]] == [True, False]
    assert "v.csv" in told["problems"][1]["text"]


def test_a_run_is_cancelled_and_stays(ann: TestClient, client: MakeClient, server: Server) -> None:
    run = post(ann, "/runs", spec=spec(), files=upload(ann)).json()["id"]
    problem(client(user=BOB).post(f"/api/v1/runs/{run}/cancel"), HTTPStatus.FORBIDDEN)
    assert ann.post(f"/api/v1/runs/{run}/cancel").json()["state"] == "cancelled"
    assert ann.post(f"/api/v1/runs/{run}/cancel").status_code == HTTPStatus.OK
    assert ann.get("/api/v1/runs").json()["runs"][0]["id"] == run


def test_title_note_and_tags_are_changed_one_by_one(ann: TestClient, client, done: Any, server) -> None:
    path = f"/api/v1/runs/{done.id}"
    assert ann.patch(path, json={"tags": ["pilot", "may"]}).json()["title"] == "A run"
    told = ann.patch(path, json={"title": " Better ", "note": "of May"}).json()
    assert (told["title"], told["note"], sorted(told["tags"])) == ("Better", "of May", ["may", "pilot"])
    assert ann.patch(path, json={"tags": []}).json()["tags"] == []
    refused(ann.patch(path, json={"title": "  "}))
    refused(ann.patch(path, json={"state": "done"}))
    problem(client(user=VIEWER).patch(path, json={"title": "Mine"}), HTTPStatus.FORBIDDEN)


def test_files_stay_in_the_servers_folder(ann: TestClient, server: Server, folder: Path) -> None:
    files = {"annotations": {"location": "data:annotations.csv"}, "raters": {"location": "data:raters.csv"}}
    run = ended(ann, post(ann, "/runs", spec=spec(), files=files))["run"]
    assert run["state"] == "queued"
    stored = upload(ann)
    assert post(ann, "/runs", spec=spec(), files=stored).json()["id"] == run["id"]  # the same data
    listed = ann.get("/api/v1/files").json()["files"]
    told = {one["sha256"]: one["name"] for one in listed}
    assert told == {one["sha256"]: one["name"] for one in stored.values()}
    gone = {"annotations": {"location": "data:../secret.csv"}}
    told = ended(ann, post(ann, "/runs", spec=spec(), files=gone))
    assert told["state"] == "failed"
    assert told["problem"]["code"] == "data"
    assert ann.get(told["problem"]["type"]).status_code == HTTPStatus.OK
    elsewhere = {"annotations": {"location": "https://example.org/a.csv"}}
    told = ended(ann, post(ann, "/runs", spec=spec(), files=elsewhere))
    assert "reads no addresses" in told["problem"]["detail"]


def test_data_are_fetched_from_a_database(ann: TestClient, server: Server, folder: Path) -> None:
    with closing(sqlite3.connect(folder / "votes.db")) as database, database:
        database.execute("create table votes (item text, rater text, label text, side text)")
        database.executemany(
            "insert into votes values (?, ?, ?, ?)",
            [(f"i{i}", f"r{j}", "yn"[(i + j) % 2], "lr"[j % 2]) for i in range(6) for j in range(8)],
        )
    place = f"sql:sqlite:///{folder}/votes.db?table=votes"  # on one's own machine, wherever it is
    files = {"annotations": {"source": place, "token": "never-shown"}}
    answer = post(ann, "/validate", spec={"analysis": {"axes": [["side"]]}}, files=files)
    told = ended(ann, answer)
    checked = told["checked"]
    assert checked is not None, told["problem"]["detail"]
    assert checked["runs"] is True, checked
    assert checked["data"]["annotations"] == 48
    [kept] = ann.get("/api/v1/files").json()["files"]
    assert kept["source"] == place


def test_large_files_are_answered_at_once(ann: TestClient, client, server, monkeypatch) -> None:
    monkeypatch.setattr(brought, "LARGE", 1000)
    key = {"Idempotency-Key": "once"}
    body = {"spec": spec(), "files": upload(ann)}
    answer = ann.post("/api/v1/runs", json=body, headers=key)
    begun = answer.json()
    assert (begun["state"], begun["run"]) == ("running", None)
    assert answer.headers["Location"].endswith(f"/api/v1/work/{begun['id']}")
    again = ann.post("/api/v1/runs", json=body, headers=key)
    assert (again.json()["id"], again.headers["Idempotency-Replayed"]) == (begun["id"], "true")
    problem(client(user=BOB).get(f"/api/v1/work/{begun['id']}"), HTTPStatus.NOT_FOUND)
    told = ended(ann, answer)
    assert (told["state"], told["problem"]) == ("done", None)
    assert [one["id"] for one in ann.get("/api/v1/runs").json()["runs"]] == [told["run"]["id"]]
    wrong = ended(ann, post(ann, "/runs", spec=spec(axes=[["no_such_axis"]]), files=body["files"]))
    assert wrong["state"] == "failed"
    assert "no_such_axis" in wrong["problem"]["detail"]


def test_quality_is_that_of_the_other_doors(ann: TestClient) -> None:
    files = upload(ann)
    told = post(ann, "/quality", spec=spec(), files=files).json()
    tables = [read_table(content, name) for name, content in few_items().items()]
    checked = post(ann, "/validate", spec=spec(), files=files).json()
    data = load(*tables, RunSpec.from_dict(checked["spec"]).data, ("rater_gender",))
    here = quality_report(data, ["rater_gender"]).to_dict()
    assert {name: told[name] for name in ("near_duplicates", "small_groups", "axes")} == {
        name: here[name] for name in ("near_duplicates", "small_groups", "axes")
    }
    assert told["format"] == "grasp-quality"
    with_power = ended(ann, post(ann, "/quality", spec=spec(), files=files, power=True))["report"]
    assert len(with_power["power"]) == 2


@pytest.mark.usefixtures("few_data_sets")
def test_runs_are_compared_mapped_and_planned_from(ann: TestClient, server: Server) -> None:
    server.service.start()
    files = upload(ann)
    runs = [post(ann, "/runs", spec=spec(seed=seed), files=files).json()["id"] for seed in (1, 2)]
    for run in runs:
        ann.get(f"/api/v1/runs/{run}/events")
    told = ann.get(f"/api/v1/runs/{runs[0]}/compare/{runs[1]}").json()
    assert [one["what"] for one in told["asked"]] == ["Seed"]
    assert told["data"] == []
    assert told["sentences"][0] == "No group's verdict changed."
    assert [(one["group"], one["a"]) for one in told["verdicts"]] == [
        ({"rater_gender": name}, one["b"])
        for name, one in zip(("Man", "Woman"), told["verdicts"], strict=True)
    ]
    irr = [one for one in told["changes"] if one["statistic"] == "irr"]
    assert [(one["moved"], one["a"]["value"] is None) for one in irr] == [(0.0, False)] * 2
    assert {one["group"]["rater_gender"] for one in told["changes"]} == {"Man", "Woman"}
    path = f"/api/v1/runs/{runs[0]}/rater-map"
    problem(ann.get(path), HTTPStatus.NOT_FOUND)
    drawn = ended(ann, ann.post(path))["report"]
    assert ann.get(path).json() == drawn
    assert drawn["format"] == "grasp-rater-map"
    assert drawn["sentences"]
    said = ann.get(f"/api/v1/runs/{runs[0]}/answer").json()
    opened = Analysis(server.service.result(runs[0]))
    assert said["headline"] == opened.answer().splitlines()[0]
    assert len([*said["mind"], *said["sentences"]]) == len(opened.answer().splitlines()) - 1
    asked = {"spec": {"raters": [20, 60], "items": [20, 60], "size": 20}}
    planned = ended(ann, post(ann, "/plans", run=runs[0], group={"rater_gender": "Man"}, **asked))
    assert planned["report"]["plan"]["spec"]["raters"] == [20, 60], planned
    assert planned["report"]["sentences"]
    gone = post(ann, "/plans", run=runs[0], group={"rater_gender": "no such"})
    assert "no such" in problem(gone, HTTPStatus.NOT_FOUND)
    assert "size" in refused(post(ann, "/plans"))["detail"]
    problem(ann.get(f"/api/v1/runs/{runs[0]}/compare/missing"), HTTPStatus.NOT_FOUND)


def test_whoever_asks_finds_themselves_their_projects_and_tokens(client, server, ann: TestClient) -> None:
    told = ann.get("/api/v1/me").json()
    assert (told["id"], told["role"], told["token"], told["file_bytes"]) == (ANN.id, "analyst", None, 0)
    server.tokens.create(owner=ANN.id, name="nightly", scope="run", days=1)
    [token] = ann.get("/api/v1/tokens").json()["tokens"]
    assert (token["name"], token["scope"], token["works"]) == ("nightly", "run", True)
    assert [(one["id"], one["role"]) for one in ann.get("/api/v1/projects").json()["projects"]] == [
        ("everyone", "analyst")
    ]
    problem(client(user=BOB).delete(f"/api/v1/tokens/{token['id']}"), HTTPStatus.NOT_FOUND)
    assert ann.delete(f"/api/v1/tokens/{token['id']}").status_code == HTTPStatus.NO_CONTENT
    assert ann.get("/api/v1/tokens").json()["tokens"][0]["works"] is False
    stranger = client()
    for path in ("/me", "/projects", "/tokens", "/files"):
        problem(stranger.get(f"/api/v1{path}"), HTTPStatus.UNAUTHORIZED)
