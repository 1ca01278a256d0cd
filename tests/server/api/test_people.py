"""People over the API: for admins with a token of theirs."""

import io
import json
import zipfile
from http import HTTPStatus

import pytest
from starlette.testclient import TestClient

from grasp_core.model.access import Identity
from grasp_core.server.server import Server
from tests.server.api.asking import bearer, make_token, problem
from tests.server.conftest import ANN, SIGN_IN, MakeClient

ROOT = "root@lab.example"
PERSON = f"/api/v1/people/{ANN.id}"


@pytest.fixture
def visitor(signing_in: None, client: MakeClient, server: Server) -> TestClient:
    object.__setattr__(server.settings, "admins", (ROOT,))
    return client(**SIGN_IN)


def test_an_admin_lists_takes_away_and_erases(visitor: TestClient, server: Server) -> None:
    mine, root = bearer(make_token(server, scope="admin")), bearer(make_token(server, ROOT, "admin"))
    found = visitor.get("/api/v1/people?text=ann", headers=root).json()
    assert (found["total"], found["people"][0]["id"]) == (1, ANN.id)
    taken = visitor.get(f"{PERSON}/export", headers=root)
    with zipfile.ZipFile(io.BytesIO(taken.content)) as archive:
        assert json.loads(archive.read("people.json"))[0]["id"] == ANN.id
    told = visitor.get(f"{PERSON}/erasure?handed_over=false", headers=root).json()
    assert told["does"] == ["Deleted: the person, 1 token, 1 mail address held."]
    body = {"confirm": ANN.id, "owned": "hand over", "to": "bob@lab.example"}
    for wrong, status in (
        ({"confirm": "another@lab.example"}, HTTPStatus.CONFLICT),
        ({"to": None}, HTTPStatus.UNPROCESSABLE_ENTITY),
        ({"to": ANN.id}, HTTPStatus.FORBIDDEN),
    ):
        refused = visitor.post(f"{PERSON}/erasure", json={**body, **wrong}, headers=root)
        problem(refused, status)
    assert visitor.get("/api/v1/runs", headers=mine).status_code == 200
    assert visitor.post(f"{PERSON}/erasure", json=body, headers=root).status_code == 204
    assert visitor.get("/api/v1/runs", headers=mine).status_code == 401
    assert visitor.get(f"{PERSON}/export", headers=root).status_code == 404
    assert server.audit.search(action="erase")[0][0].details == {"to": "bob@lab.example"}


def test_an_admin_assigns_an_address(visitor: TestClient, server: Server) -> None:
    root = bearer(make_token(server, ROOT, "admin"))
    address = ANN.id
    heir = server.accounts.people.sign_in(Identity("https://new.example", "4711", address, "Ann"))
    path = f"/api/v1/people/{heir.id}/address"

    def held_by() -> dict[str, str | None]:
        found = visitor.get("/api/v1/people?text=ann", headers=root).json()["people"]
        return {one["id"]: one["address_held_by"] for one in found}

    assert held_by() == {ANN.id: None, heir.id: ANN.id}
    mine = bearer(make_token(server, scope="admin"))
    problem(visitor.post(path, json={"address": address}, headers=mine), HTTPStatus.FORBIDDEN)
    problem(visitor.post(path, json={"address": ROOT}, headers=root), HTTPStatus.CONFLICT)
    gone = visitor.post("/api/v1/people/gone/address", json={"address": address}, headers=root)
    problem(gone, HTTPStatus.NOT_FOUND)
    assert held_by() == {ANN.id: None, heir.id: ANN.id}
    assert visitor.post(path, json={"address": address}, headers=root).status_code == 204
    assert held_by() == {ANN.id: heir.id, heir.id: None}


@pytest.mark.parametrize("path", ["", f"/{ANN.id}/export", f"/{ANN.id}/erasure?handed_over=true"])
def test_nobody_else_does(visitor: TestClient, server: Server, path: str) -> None:
    for headers in (bearer(make_token(server, scope="admin")), bearer(make_token(server, ROOT, "run"))):
        assert visitor.get(f"/api/v1/people{path}", headers=headers).status_code == 403
    assert visitor.get(f"/api/v1/people{path}").status_code == 401
    body = {"confirm": ANN.id, "owned": "delete"}
    erased = visitor.post(f"{PERSON}/erasure", json=body, headers=bearer(make_token(server, ROOT, "run")))
    assert erased.status_code == 403
    assert server.accounts.people.get(ANN.id) is not None
    refused = server.audit.search(action="refusal")[0]
    assert {(entry.actor, entry.kind) for entry in refused} >= {(ANN.id, "api"), ("", "api")}
    assert {entry.details["status"] for entry in refused} == {401, 403}
