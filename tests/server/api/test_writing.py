"""Uploads, runs from specs, links: what changes something."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

import pytest
from fastapi.testclient import TestClient
from httpx import ASGITransport, AsyncClient, Response

from grasp_core.reading.dataset.load import load
from grasp_core.reading.sandbox.read import read_table
from grasp_core.server.api import runs as events
from grasp_core.server.server import Server
from grasp_core.store.files import FileStore
from grasp_core.store.runs import RunRecord
from tests.computing import compute_in_threads
from tests.few_items import few_items
from tests.results import make_result
from tests.server.api.asking import SMALL, bearer, problem, refused, sent, spec, upload
from tests.server.conftest import ANN, BOB, SIGN_IN, VIEWER, MakeClient
from tests.stored import going_run


@pytest.fixture
def computing(server: Server) -> Iterator[Server]:
    server.service.start()
    yield server
    server.service.close()


def ask(visitor: TestClient, files: dict[str, Any], plain: Any = None, key: str = "") -> Response:
    headers = {"Idempotency-Key": key} if key else {}
    body = {"spec": spec() if plain is None else plain, "files": files}
    return visitor.post("/api/v1/runs", json=body, headers=headers)


def test_a_run_is_uploaded_asked_for_followed_and_taken_away(ann: TestClient, computing: Server) -> None:
    files = upload(ann)
    answer = ask(ann, files)
    assert answer.status_code == HTTPStatus.CREATED, answer.text
    run = answer.json()
    assert answer.headers["Location"] == f"/api/v1/runs/{run['id']}"
    assert (run["owner"], run["title"]) == (ANN.id, "label by gender")
    followed = ann.get(f"/api/v1/runs/{run['id']}/events")
    assert followed.headers["Content-Type"].startswith("text/event-stream")
    events = [block.splitlines() for block in followed.text.strip().split("\n\n") if "event: " in block]
    names = [next(line for line in event if line.startswith("event: "))[7:] for event in events]
    assert names[-1] == "end"
    assert set(names) <= {"progress", "provisional", "end"}
    last = json.loads(next(line for line in events[-1] if line.startswith("data: "))[6:])
    assert (last["state"], last["permutations"]["done"]) == ("done", 200)
    found = ann.get(f"/api/v1/runs/{run['id']}").json()
    full = computing.runs.get(run["id"])
    tables = [read_table(content, name) for name, content in few_items().items()]
    here = compute_in_threads(load(*tables, full.spec.data), full.spec).to_dict()
    assert found["groups"] == json.loads(json.dumps(here["groups"]))
    again = ask(ann, files)
    assert (again.status_code, again.json()["id"]) == (HTTPStatus.OK, run["id"])
    for name in ("csv", "xlsx", "latex", "markdown", "html", "json", "spec"):
        export = ann.get(f"/api/v1/runs/{run['id']}/exports/{name}")
        assert export.status_code == 200
        assert export.content
    assert ann.delete(f"/api/v1/runs/{run['id']}").status_code == 204
    problem(ann.get(f"/api/v1/runs/{run['id']}/status"), HTTPStatus.NOT_FOUND)


def test_raters_whom_the_files_mark_count_until_somebody_says_otherwise(ann, computing) -> None:
    rows = [f"i{i},r{j},{(i + j) % 2},{'fm'[j % 2]},{'ny'[j == 3]}" for i in range(6) for j in range(8)]
    content = "\n".join(["item,rater,label,gender,removed", *rows]).replace(",y", ",yes").replace(",n", ",no")
    files = sent(ann, content)
    data = {"layout": "long", "item": "item", "rater": "rater", "label": "label"}
    body = {
        "spec": {"data": data, "analysis": {"axes": [["gender"]], **SMALL}},
        "files": files,
    }
    found = []
    for answer in ({}, {"recommended": False}, {"recommended": True}):
        run = ann.post("/api/v1/runs", json={**body, **answer}).json()
        ann.get(f"/api/v1/runs/{run['id']}/events")
        result = ann.get(f"/api/v1/runs/{run['id']}").json()
        found.append((result["data"]["raters"], result["spec"]["data"]["exclude"], len(run["notes"])))
        if run["notes"]:
            assert run["notes"][0].startswith(
                "kept, though recommended to be left out: 1 rater with 'removed'"
            )
            assert '"recommended": true' in run["notes"][0]
    assert found == [(8, [], 1), (8, [], 0), (7, [["removed", "yes"]], 0)]


def test_rows_that_stop_a_reading_go_as_recommended(ann, computing) -> None:
    rows = [f"i{i},r{j},{(i + j) % 2},{'fm'[j % 2]}" for i in range(6) for j in range(8)]
    content = "\n".join(["item,rater,label,gender", *rows, "i0,r0,1,f", "i0,,1,f"])
    body = {"spec": {"analysis": SMALL}, "files": sent(ann, content)}
    refused = ann.post("/api/v1/runs", json=body)
    assert refused.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert [one["code"] for one in refused.json()["problems"]] == ["blank-id-of-row", "answered-twice"]
    run = ann.post("/api/v1/runs", json={**body, "recommended": True}).json()
    assert "left out, as recommended: 1 row without an id in 'rater'" in " ".join(run["notes"])
    ann.get(f"/api/v1/runs/{run['id']}/events")
    data = ann.get(f"/api/v1/runs/{run['id']}").json()["spec"]["data"]
    assert (data["filters"]["drop"], data["repeated"]) == ([["rater", ""]], "last")


def test_the_same_question_of_another_person_is_their_own_run(client: MakeClient, computing: Server) -> None:
    """With a title, links and a deletion of their own; it is computed once."""
    ann, bob = client(user=ANN), client(user=BOB)
    files = upload(ann)
    anns = ask(ann, files).json()
    upload(bob)
    asked = ask(bob, files)
    bobs = asked.json()
    assert (asked.status_code, bobs["owner"]) == (HTTPStatus.CREATED, BOB.id)
    assert bobs["id"] != anns["id"]
    assert "event: end" in bob.get(f"/api/v1/runs/{bobs['id']}/events").text
    assert ask(bob, files).json()["id"] == bobs["id"]
    shared = bob.post(f"/api/v1/runs/{bobs['id']}/links", json={})
    assert shared.status_code == HTTPStatus.CREATED
    problem(bob.delete(f"/api/v1/runs/{anns['id']}"), HTTPStatus.FORBIDDEN)
    assert ann.delete(f"/api/v1/runs/{anns['id']}").status_code == 204
    assert bob.get(f"/api/v1/runs/{bobs['id']}").json()["groups"]
    assert ann.get(f"/api/v1/runs/{bobs['id']}/status").json()["state"] == "done"
    assert {run.attempt for run in computing.runs.search()} <= {0, 1}


def test_what_a_spec_leaves_open_is_recognised_and_what_it_says_counts(ann, computing) -> None:
    labels = ["0|1", "1|0", "0", "nan"]
    rows = [f"i{i},r{j},{labels[(i * j + i + j) % 4]},{'fm'[j % 2]}" for i in range(12) for j in range(6)]
    files = sent(ann, "\n".join(["item,rater,label,gender", *rows]))
    data = {"layout": "long", "item": "item", "rater": "rater", "label": "label"}
    found = []
    for more in ({}, {"missing": [""], "recode": []}):
        body = {
            "spec": {"data": {**data, **more}, "analysis": {"axes": [["gender"]], **SMALL}},
            "files": files,
        }
        run = ann.post("/api/v1/runs", json=body).json()
        ann.get(f"/api/v1/runs/{run['id']}/events")
        found.append((ann.get(f"/api/v1/runs/{run['id']}").json()["data"]["categories"], len(run["notes"])))
    assert found == [(["0", "0|1"], 3), (["0", "0|1", "1|0"], 1)]


def test_what_the_page_refuses_is_refused_with_its_code_and_sentence(ann: TestClient, server: Server) -> None:
    files = upload(ann)
    plain = spec()
    wrong = refused(ask(ann, files, {**plain, "data": {**plain["data"], "label": "no_such_column"}}))
    assert "no_such_column" in wrong["detail"]
    assert wrong["problems"][0]["code"] != "text"
    assert "no_such_axis" in refused(ask(ann, files, spec(axes=[["no_such_axis"]])))["detail"]
    assert "permutations" in refused(ask(ann, files, spec(permutations=0)))["detail"]
    assert "cannot be read" in refused(ask(ann, files, {**plain, "odd": 1}))["detail"]
    refused(ask(ann, files, spec(min_raters=10_000)))
    gone = {**files, "raters": {"sha256": "0" * 64, "name": "raters.csv"}}
    assert problem(ask(ann, gone), HTTPStatus.NOT_FOUND).startswith("raters.csv is not on this server")
    assert refused(ask(ann, {"annotations": {"sha256": "x", "name": "a"}}))["problems"][0]["place"]
    assert server.runs.search() == []


def test_viewers_and_read_tokens_upload_and_ask_for_nothing(client: MakeClient, server: Server) -> None:
    visitor = client(user=VIEWER)
    problem(visitor.post("/api/v1/files", params={"name": "a.csv"}, content=b"a"), HTTPStatus.FORBIDDEN)
    file = {"sha256": "0" * 64, "name": "a.csv"}
    problem(ask(visitor, {"annotations": file}), HTTPStatus.FORBIDDEN)
    problem(visitor.delete(f"/api/v1/files/{'0' * 64}"), HTTPStatus.FORBIDDEN)
    token = server.tokens.create(owner="", name="looks", scope="read", days=1)
    answer = client().post("/api/v1/files", params={"name": "a"}, content=b"a", headers=bearer(token))
    problem(answer, HTTPStatus.FORBIDDEN)
    assert server.files.used(VIEWER.id) == 0


def test_uploads_are_cut_at_the_servers_limit_and_the_persons_quota(ann: TestClient, server: Server) -> None:
    def send(content: Any) -> Response:
        return ann.post("/api/v1/files", params={"name": "a.csv"}, content=content)

    problem(send(b""), HTTPStatus.UNPROCESSABLE_ENTITY)
    problem(send(b"x" * (2**20 + 1)), HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
    problem(send(iter([b"x" * 2**19] * 3)), HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
    assert server.files.used(ANN.id) == 0
    assert send(b"x" * 2**20).status_code == HTTPStatus.CREATED
    object.__setattr__(server.settings, "file_quota_mb", 1)
    assert "more room" in problem(send(b"y"), HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
    sha256 = hashlib.sha256(b"x" * 2**20).hexdigest()
    assert ann.delete(f"/api/v1/files/{sha256}").status_code == 204
    assert server.files.used(ANN.id) == 0


def test_a_file_sent_in_parts_is_joined_and_its_parts_go(ann: TestClient, server: Server) -> None:
    parts = [b"item,rater,label\n", b"i1,r1,yes\n", b"i2,r1,no\n"]
    ids = [ann.post("/api/v1/files", params={"name": "p"}, content=part).json()["sha256"] for part in parts]
    kept = {one["sha256"] for one in ann.get("/api/v1/files").json()["files"]}
    assert kept == set(ids)  # after a connection that broke, this says which parts are there
    away = {"name": "v.csv", "sha256s": [*ids, "0" * 64]}
    assert "There is no part 0000" in problem(
        ann.post("/api/v1/files/joined", json=away), HTTPStatus.NOT_FOUND
    )
    answer = ann.post("/api/v1/files/joined", json={"name": "v.csv", "sha256s": ids})
    assert answer.status_code == HTTPStatus.CREATED
    sha256 = hashlib.sha256(b"".join(parts)).hexdigest()
    assert answer.json() == {"sha256": sha256, "name": "v.csv", "bytes": len(b"".join(parts))}
    assert server.files.get(sha256) == b"".join(parts)
    assert [one["sha256"] for one in ann.get("/api/v1/files").json()["files"]] == [sha256]


def test_a_part_that_goes_while_it_is_joined_is_missed(ann, server, monkeypatch) -> None:
    ids = [ann.post("/api/v1/files", params={"name": "p"}, content=c).json()["sha256"] for c in (b"a", b"b")]
    get = FileStore.get
    monkeypatch.setattr(FileStore, "get", lambda self, one: None if one == ids[1] else get(self, one))
    answer = ann.post("/api/v1/files/joined", json={"name": "v.csv", "sha256s": ids})
    assert ids[1] in problem(answer, HTTPStatus.NOT_FOUND)
    assert {one["sha256"] for one in ann.get("/api/v1/files").json()["files"]} == set(ids)


def test_joined_parts_are_no_larger_than_a_file_may_be(ann: TestClient, server: Server) -> None:
    half = ann.post("/api/v1/files", params={"name": "p"}, content=b"x" * 2**19).json()["sha256"]
    body = {"name": "v.csv", "sha256s": [half] * 3}
    problem(ann.post("/api/v1/files/joined", json=body), HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
    assert server.files.used(ANN.id) == 2**19


def test_json_that_is_too_large_or_none_is_refused(ann: TestClient) -> None:
    headers = {"Content-Type": "application/json"}
    large = ann.post("/api/v1/runs", content=b" " * (2**20 + 1), headers=headers)
    assert large.status_code == HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    for content in (b"", b"{", b"[" * 100_000, b"\xff", b'{"spec": NaN}', b"null"):
        refused_or_bad = ann.post("/api/v1/runs", content=content, headers=headers)
        assert refused_or_bad.status_code in (400, 422), content[:20]
        assert refused_or_bad.headers["Content-Type"] == "application/problem+json"


def test_half_characters_are_refused_anywhere(ann: TestClient, server: Server, done: RunRecord) -> None:
    file = {"annotations": {"sha256": "0" * 64, "name": "a.csv"}}
    bodies = (
        {"spec": {"data": {"label": "\ud800"}}, "files": file},
        {"spec": {"\udfff": 1}, "files": file},
        {"spec": {"data": [["x", "a\ud800b"]]}, "files": file, "title": "t"},
        {"spec": {}, "files": file, "title": "\ud800"},
        {"spec": {}, "files": {"annotations": {"sha256": "0" * 64, "name": "\ud800"}}},
    )
    headers = {"Content-Type": "application/json", "Idempotency-Key": "k"}
    for body in bodies:
        refused(ann.post("/api/v1/runs", content=json.dumps(body), headers=headers))
    for body in ({"label": "\ud800"}, {"password": "a long one \udc00"}):
        refused(ann.post(f"/api/v1/runs/{done.id}/links", content=json.dumps(body), headers=headers))
    assert [run.id for run in server.runs.search()] == [done.id]


def test_the_same_request_is_done_once(ann: TestClient, server: Server, done: RunRecord) -> None:
    address = f"/api/v1/runs/{done.id}/links"

    def make(key: str, label: str = "reviewers") -> Response:
        return ann.post(address, json={"label": label}, headers={"Idempotency-Key": key})

    first, again = make("one"), make("one")
    assert first.status_code == again.status_code == HTTPStatus.CREATED
    assert again.headers["Idempotency-Replayed"] == "true"
    assert {one.headers["Location"] for one in (first, again)} == {f"{address}/{first.json()['id']}"}
    assert again.json() == {**first.json(), "token": None, "address": None}
    assert len(server.links.of_run(done.id)) == 1
    assert "another request" in problem(make("one", "others"), HTTPStatus.CONFLICT)
    assert make("two").json()["id"] != first.json()["id"]
    secret = first.json()["token"]
    with server.database.connect() as connection:
        rows = connection.exec_driver_sql("SELECT * FROM outcomes").all()
    assert secret not in str(rows)
    assert len(rows) == 2


def test_another_password_is_another_request(ann: TestClient, server: Server, done: RunRecord) -> None:
    address = f"/api/v1/runs/{done.id}/links"

    def make(**more: str) -> Response:
        return ann.post(address, json=more, headers={"Idempotency-Key": "one"})

    first = make(password="correct horse")
    assert first.status_code == HTTPStatus.CREATED
    assert make(password="correct horse").json()["id"] == first.json()["id"]
    for other in ({"password": "battery staple"}, {}):
        assert "another request" in problem(make(**other), HTTPStatus.CONFLICT)
    assert len(server.links.of_run(done.id)) == 1


def test_what_was_refused_may_be_asked_again(ann: TestClient, server: Server) -> None:
    files = upload(ann)
    refused(ask(ann, {**files, "raters": None}, key="a"))
    assert ask(ann, files, key="a").status_code == HTTPStatus.CREATED
    assert ask(ann, files, key="a").json()["id"] == server.runs.search()[0].id


def test_links_are_made_listed_and_withdrawn(ann: TestClient, client, server, done: RunRecord) -> None:
    address = f"/api/v1/runs/{done.id}"
    made = ann.post(f"{address}/links", json={"label": " for *Bob* ", "days": 7}).json()
    assert made["address"].endswith(f"/shared?token={made['token']}")
    assert made["label"] == "for *Bob*"
    stranger = client(**SIGN_IN)
    assert stranger.get(address, headers=bearer(made["token"])).status_code == 200
    (listed,) = ann.get(f"{address}/links").json()["links"]
    assert (listed["id"], listed["uses"], listed["works"]) == (made["id"], 1, True)
    assert "token" not in listed
    other = server.runs.add(server.service.result(done.id), title="Another", owner=ANN.id)
    problem(ann.delete(f"/api/v1/runs/{other.id}/links/{made['id']}"), HTTPStatus.NOT_FOUND)
    assert ann.delete(f"{address}/links/{made['id']}").status_code == 204
    problem(stranger.get(address, headers=bearer(made["token"])), HTTPStatus.UNAUTHORIZED)
    viewer = client(user=VIEWER)
    problem(viewer.get(f"{address}/links"), HTTPStatus.FORBIDDEN)
    problem(viewer.post(f"{address}/links", json={}), HTTPStatus.FORBIDDEN)


def test_who_must_not_see_a_run_any_more_does_not_follow_it(client, server, monkeypatch) -> None:
    monkeypatch.setattr(events, "POLL_SECONDS", 0.01)
    monkeypatch.setattr(events, "CHECK_SECONDS", 0.0)
    run = going_run(server, make_result())
    link = server.links.create(run.id, created_by=ANN.id)
    asked = iter([*[True] * 2])

    def use(token: str, **how: Any) -> Any:
        return found(token, **how) if next(asked, False) else None

    found = server.links.use
    monkeypatch.setattr(server.links, "use", use)
    followed = client(**SIGN_IN).get(f"/api/v1/runs/{run.id}/events", headers=bearer(link))
    assert followed.status_code == 200
    assert "event: progress" in followed.text
    assert "event: end" not in followed.text
    assert server.links.of_run(run.id)[0].uses == 1


def test_who_follows_many_runs_leaves_others_theirs(client: MakeClient, server: Server, monkeypatch) -> None:
    monkeypatch.setattr(events, "POLL_SECONDS", 0.01)
    run = going_run(server, make_result())
    link, other = (server.links.create(run.id, created_by=ANN.id) for _ in range(2))
    app, address = client(**SIGN_IN).app, f"/api/v1/runs/{run.id}/events"

    async def follow() -> None:
        async with AsyncClient(transport=ASGITransport(app), base_url="https://testserver") as visitor:
            followed = [
                asyncio.create_task(visitor.get(address, headers=bearer(link))) for _ in range(events.EACH)
            ]
            while len(events._open) < events.EACH:
                await asyncio.sleep(0.01)
            for token in (link, other):
                refusal = await visitor.get(address, headers=bearer(token))
                assert refusal.status_code == HTTPStatus.TOO_MANY_REQUESTS
            asked = asyncio.create_task(visitor.get(address, headers={"X-Test-User": ANN.id}))
            while len(events._open) == events.EACH and not asked.done():
                await asyncio.sleep(0.01)
            server.service.closing.set()
            answers = await asyncio.gather(*followed, asked)
            assert {answer.status_code for answer in answers} == {HTTPStatus.OK}

    asyncio.run(follow())
    assert events._open == []
