"""Items of a run's groups: asked for and read, the same ones as on the page."""

import functools
import json
import time
from collections.abc import Iterator
from dataclasses import replace
from http import HTTPStatus
from typing import Any

import pytest
from fastapi.testclient import TestClient

from grasp_core.analysis.items.panel import ItemsRequest, look_at_items
from grasp_core.engine import service as group_items
from grasp_core.engine.service import BROUGHT, id_of
from grasp_core.model.access import EVERYTHING
from grasp_core.model.data_spec import DataSpec, Question
from grasp_core.model.groups import Group
from grasp_core.model.result import RunResult
from grasp_core.model.spec import AnalysisSpec, RunSpec
from grasp_core.reading.dataset.load import Dataset, load
from grasp_core.reading.sandbox.read import read_table
from grasp_core.server.server import Server
from grasp_core.store.runs import RunRecord
from tests.computing import compute_in_threads
from tests.results import make_result
from tests.server.api.asking import bearer, problem, refused
from tests.server.conftest import ANN, SIGN_IN, VIEWER, MakeClient
from tests.stored import stored_run

SPEC = RunSpec(
    DataSpec(item="item", rater="rater", label="label", further=(Question("tone"),)),
    AnalysisSpec(axes=(("side", "age"),), permutations=200, pairs=False),
)
GROUP = Group(("side", "age"), ("left", "old"))
ASKED = {"group": {"age": "old", "side": "left"}, "question": "tone"}
"""The axes in another order than the run has them."""


def files() -> dict[str, bytes]:
    """Sixteen raters and ten items, each with two labels."""
    votes = ["item,rater,label,tone"]
    raters = ["rater,side,age"]
    for j in range(16):
        raters.append(f"r{j},{'left' if j < 8 else 'right'},{'old' if j % 2 else 'young'}")
        votes += [f"i{i},r{j},{'YN'[(i + j) % 3 == 0]},{'ab'[(i * j) % 5 < 2]}" for i in range(10)]
    return {"votes.csv": "\n".join(votes).encode(), "raters.csv": "\n".join(raters).encode()}


def data() -> Dataset:
    tables = (read_table(content, name) for name, content in files().items())
    return load(*tables, SPEC.data, ("side", "age"))


@functools.cache
def result() -> RunResult:
    return compute_in_threads(data(), SPEC)


@pytest.fixture
def run(server: Server) -> Iterator[RunRecord]:
    """A run that is done, with its files on the server."""
    yield stored_run(server, result(), files())
    server.items.close()


def address(run: RunRecord, items_id: str = "") -> str:
    return f"/api/v1/runs/{run.id}/items" + (items_id and f"/{items_id}")


def found(visitor: TestClient, run: RunRecord, items_id: str) -> dict[str, Any]:
    """The answer, once it is there."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        answer = visitor.get(address(run, items_id))
        assert answer.status_code == HTTPStatus.OK, answer.text
        told: dict[str, Any] = answer.json()
        if told.get("state") != "running":
            return told
        time.sleep(0.02)
    raise AssertionError("not found in time")


def test_items_are_asked_for_found_and_listed(ann: TestClient, run: RunRecord) -> None:
    assert ann.get(address(run)).json() == {"items": []}
    answer = ann.post(address(run), json=ASKED)
    assert answer.status_code == HTTPStatus.ACCEPTED, answer.text
    told = answer.json()
    assert told["id"] == id_of(GROUP, 1)
    assert (told["group"], told["question"], told["error"]) == (ASKED["group"], "tone", None)
    plain = found(ann, run, told["id"])
    here = look_at_items(data(), ItemsRequest(SPEC, GROUP, 200, 1), map)
    assert plain == json.loads(json.dumps(here.to_dict()))
    listed = ann.get(address(run)).json()["items"]
    assert [(one["id"], one["state"], one["share"]) for one in listed] == [(told["id"], "done", 1.0)]


def test_what_was_asked_once_is_not_computed_again(ann: TestClient, run: RunRecord, server: Server) -> None:
    """Whoever found it: what the page kept is what the API gives."""
    by_page = server.items.look(run, ItemsRequest(SPEC, GROUP, 200, 1))
    rates = server.settings.run_rate
    object.__setattr__(server.settings, "run_rate", "0/hour")  # nothing may be computed any more
    answer = ann.post(address(run), json=ASKED)
    object.__setattr__(server.settings, "run_rate", rates)
    assert (answer.status_code, answer.json()["state"]) == (HTTPStatus.OK, "done")
    assert ann.get(address(run, answer.json()["id"])).json() == json.loads(json.dumps(by_page.to_dict()))
    assert server.items.under_way(run, answer.json()["id"]) is None


def test_what_the_api_found_the_page_finds(ann: TestClient, run: RunRecord, server: Server) -> None:
    named = ann.post(address(run), json=ASKED).json()["id"]
    plain = found(ann, run, named)
    kept = server.items.find(run.id, run.project, named)
    assert json.loads(json.dumps(kept.to_dict())) == plain


def test_what_is_computed_counts_as_a_run(ann: TestClient, run: RunRecord, server: Server) -> None:
    object.__setattr__(server.settings, "run_rate", "1/hour")
    assert ann.post(address(run), json=ASKED).status_code == HTTPStatus.ACCEPTED
    found(ann, run, id_of(GROUP, 1))
    assert ann.post(address(run), json=ASKED).status_code == HTTPStatus.OK
    answer = ann.post(address(run), json={**ASKED, "question": "label"})
    assert "runs asked for" in problem(answer, HTTPStatus.TOO_MANY_REQUESTS)
    assert answer.headers["Retry-After"]


def test_what_the_run_does_not_have_is_refused(ann: TestClient, run: RunRecord) -> None:
    for asked, said in (
        ({"group": {"side": "left"}, "question": "tone"}, "no group left of side"),
        ({"group": {"side": "left", "age": "odd"}, "question": "tone"}, "no group left, odd of side x age"),
        ({"group": ASKED["group"]}, "choose one of 'label', 'tone'"),
        ({"group": ASKED["group"], "question": "odd"}, "no question 'odd'"),
        ({"group": {}, "question": "tone"}, "`group`"),
        ({**ASKED, "permutations": 10}, "`permutations`"),
    ):
        answer = ann.post(address(run), json=asked)
        assert answer.status_code == (HTTPStatus.NOT_FOUND if "no " in said else 422)
        assert said in answer.json()["detail"]
    assert ann.get(address(run)).json() == {"items": []}


def test_as_many_items_as_the_page_looks_at(ann: TestClient, run: RunRecord, monkeypatch) -> None:
    monkeypatch.setattr(group_items, "MOST_ITEMS", 9)
    assert "9 items at most" in refused(ann.post(address(run), json=ASKED))["detail"]


def test_without_the_data_it_fails_with_the_pages_sentence(ann: TestClient, server: Server) -> None:
    brought = server.runs.add(make_result(), title="Brought", owner=ANN.id)
    group = {"gender": "Man"}
    named = ann.post(address(brought), json={"group": group}).json()["id"]
    told = found(ann, brought, named)
    assert (told["state"], told["group"]) == ("failed", group)
    assert told["error"] == BROUGHT
    assert [one["state"] for one in ann.get(address(brought)).json()["items"]] == ["failed"]


def test_there_is_nothing_before_there_is_a_result(ann: TestClient, server: Server, run: RunRecord) -> None:
    problem(ann.get(address(run, id_of(GROUP, 1))), HTTPStatus.NOT_FOUND)
    problem(ann.get(address(run, "guessed")), HTTPStatus.NOT_FOUND)
    problem(ann.post("/api/v1/runs/guessed/items", json=ASKED), HTTPStatus.NOT_FOUND)
    server.service.close()
    waiting = replace(SPEC, analysis=replace(SPEC.analysis, seed=7))
    queued, _ = server.service.submit(data(), waiting, title="B", reach=EVERYTHING, owner=ANN.id)
    for answer in (ann.get(address(queued)), ann.post(address(queued), json=ASKED)):
        assert "it has no result" in problem(answer, HTTPStatus.CONFLICT)


def test_viewers_read_and_do_not_ask(client: MakeClient, server: Server, run: RunRecord) -> None:
    server.items.look(run, ItemsRequest(SPEC, GROUP, 200, 1))
    vera = client(user=VIEWER)
    assert vera.get(address(run, id_of(GROUP, 1))).json()["format"] == "grasp-items"
    problem(vera.post(address(run), json=ASKED), HTTPStatus.FORBIDDEN)


def test_links_show_no_items(client: MakeClient, server: Server, run: RunRecord) -> None:
    """Items' ids are data: a link's holder gets neither the items nor word that there are some."""
    server.items.look(run, ItemsRequest(SPEC, GROUP, 200, 1))
    stranger = client(**SIGN_IN)
    stranger.headers.update(bearer(server.links.create(run.id, created_by=ANN.id)))
    assert stranger.get(f"/api/v1/runs/{run.id}").status_code == HTTPStatus.OK
    said = {
        problem(answer, HTTPStatus.UNAUTHORIZED)
        for answer in (
            stranger.get(address(run)),
            stranger.get(address(run, id_of(GROUP, 1))),
            stranger.get(address(run, "guessed")),
            stranger.post(address(run), json=ASKED),
        )
    }
    assert said
    assert not any("i1" in one for one in said)
