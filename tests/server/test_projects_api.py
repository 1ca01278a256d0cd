"""Whoever does not belong to a project gets the same answers as if it were not there."""

import re
from typing import Any

import pytest
from starlette.testclient import TestClient

from grasp_core.engine.service import id_of
from grasp_core.model.access import EVERYONE, only
from grasp_core.server.server import Server
from grasp_core.store.people.projects import Member
from tests.results import make_result
from tests.server.api.asking import bearer, token_of
from tests.server.conftest import ANN, SIGN_IN, VIEWER, MakeClient

SECRET = "Hidden business"
BOARD: dict[str, Any] = {"systems": SECRET}


class Theirs:
    """A project of somebody else, and what names what is in it."""

    def __init__(self, server: Server) -> None:
        owner = Member("address", "bob@lab.example", "owner")
        self.id = server.projects.create(SECRET, owner=owner).id
        stores = server.seen(only(self.id))
        self.run = stores.runs.add(make_result(), title=SECRET, owner="bob@lab.example").id
        stores.runs.describe(self.run, tagged=[SECRET], note=SECRET)
        stores.links.create_leaderboard(BOARD, created_by="bob@lab.example")
        self.link = stores.links.of_leaderboards()[0].id
        self.items = id_of(make_result().groups[0].group, 0)
        stores.answers.keep(self.run, f"items {self.items}", {"format": "grasp-items", "items": [SECRET]})

    def addresses(self) -> list[tuple[str, str]]:
        run, missing = f"/api/v1/runs/{self.run}", "/api/v1/runs/missing"
        places = ["", "/status", "/exports/csv", "/exports/json", "/exports/html"]
        found = [(f"{run}{place}", f"{missing}{place}") for place in places]
        found += [(f"{run}/items{one}", f"{missing}/items{one}") for one in ("", f"/{self.items}")]
        return [*found, (f"/api/v1/leaderboards/{self.link}", "/api/v1/leaderboards/missing")]


@pytest.fixture
def given() -> dict[str, str]:
    return SIGN_IN


@pytest.fixture
def theirs(server: Server) -> Theirs:
    return Theirs(server)


def operations(visitor: TestClient, theirs: Theirs) -> list[tuple[str, str, dict[str, str]]]:
    """Every operation of the API, on what is theirs, with the parameter by which it names their project."""
    ids = {"run_id": theirs.run, "link_id": theirs.link, "name": "json", "sha256": "0" * 64}
    ids["items_id"] = theirs.items
    schema = visitor.get("/api/v1/openapi.json").json()
    return [
        (
            method.upper(),
            f"/api/v1{re.sub(r'{(.*?)}', lambda found: ids.get(found[1], theirs.run), path)}",
            {one["name"]: theirs.id for one in told.get("parameters", []) if one["name"] == "project"},
        )
        for path, methods in schema["paths"].items()
        for method, told in methods.items()
    ]


def test_nobody_else_learns_or_changes_anything_by_any_operation(server, theirs: Theirs, client) -> None:
    """Each who is not of the project, by each operation; its owner shows what was asked for."""
    own_run = server.runs.add(make_result(), title="Theirs alone", owner=ANN.id).id
    withdrawn = token_of(server, "gone@lab.example", "admin")
    server.tokens.revoke(server.tokens.all()[0].id)
    disabled = token_of(server, "out@lab.example", "run")
    server.accounts.disable(server.accounts.people.search("out@")[0][0].id, by=None)
    outsiders: dict[str, dict[str, str]] = {
        "nobody": {},
        "a link's holder": bearer(server.links.create(own_run, created_by=ANN.id)),
        "a viewer": {"X-Test-User": VIEWER.id},
        "an analyst": {"X-Test-User": ANN.id},
        "an analyst's token": bearer(token_of(server, "eve@lab.example", "admin")),
        "a token to read": bearer(token_of(server, "rita@lab.example", "read")),
        "a withdrawn token": bearer(withdrawn),
        "a disabled person": bearer(disabled),
        "a signed out person": {"X-Test-User": "nobody-any-more", "Cookie": "_streamlit_user=forged"},
    }
    visitor = client(**SIGN_IN)
    asked = operations(visitor, theirs)
    assert len(asked) > 12
    assert sum("project" in named for _, _, named in asked) >= 5
    for name, headers in outsiders.items():
        for method, path, named in asked:
            answer = visitor.request(
                method, path, params=named, headers={"Origin": "https://grasp.example", **headers}
            )
            shown = f"{name}: {method} {path}: {answer.status_code}"
            assert SECRET not in answer.text, shown
            assert answer.status_code >= 400 or theirs.run not in path, shown
    assert server.runs.get(theirs.run) is not None
    assert (
        len(server.links.of_leaderboards()) + len(server.seen(only(theirs.id)).links.of_leaderboards()) == 1
    )
    bob = bearer(token_of(server, "bob@lab.example", "read"))
    seen = [visitor.get(path, params=named, headers=bob) for method, path, named in asked if method == "GET"]
    assert sum(SECRET in answer.text for answer in seen) >= 4


def test_addresses_open_for_members_only(server: Server, theirs: Theirs, client: MakeClient) -> None:
    ann = client(**SIGN_IN)
    signed_in = {"X-Test-User": ANN.id}
    for address, missing in theirs.addresses():
        answers = [ann.get(one, headers=signed_in) for one in (address, missing)]
        assert [answer.status_code for answer in answers] == [404, 404]
        assert SECRET not in answers[0].text
        assert answers[0].json()["detail"] == answers[1].json()["detail"]
    server.projects.admit(theirs.id, Member("person", ANN.id, "viewer"))
    for address, _ in theirs.addresses():
        assert ann.get(address, headers=signed_in).status_code == 200, address
    refused = ann.delete(f"/api/v1/runs/{theirs.run}", headers={**signed_in, **OWN_PAGE})
    assert refused.status_code == 403
    assert server.runs.get(theirs.run) is not None


OWN_PAGE = {"Origin": "https://grasp.example", "Sec-Fetch-Site": "same-origin"}


@pytest.mark.parametrize("query", [{}, {"text": SECRET}, {"tag": SECRET}, {"owner": "bob@lab.example"}])
def test_lists_and_search_are_of_one_project(server, theirs: Theirs, client, query: dict[str, str]) -> None:
    ann, signed_in = client(**SIGN_IN), {"X-Test-User": ANN.id}
    assert ann.get("/api/v1/runs", params=query, headers=signed_in).json()["runs"] == []
    for project in (theirs.id, "missing"):
        answer = ann.get("/api/v1/runs", params={**query, "project": project}, headers=signed_in)
        assert answer.status_code == 404
        assert SECRET not in answer.text
    server.projects.admit(theirs.id, Member("person", ANN.id, "viewer"))
    [run] = ann.get("/api/v1/runs", params={**query, "project": theirs.id}, headers=signed_in).json()["runs"]
    assert (run["id"], run["project"]) == (theirs.run, theirs.id)
    assert ann.get("/api/v1/runs", params=query, headers=signed_in).json()["runs"] == []


def test_nothing_is_uploaded_or_started_elsewhere(server: Server, theirs: Theirs, client: MakeClient) -> None:
    token = token_of(server, ANN.id, "run")
    api, bearer = client(**SIGN_IN), {"Authorization": f"Bearer {token}"}
    project = {"project": theirs.id}
    asked = {"name": "votes.csv", **project}
    new = {"spec": {}, "files": {"annotations": {"name": "a", "sha256": "1" * 64}}, "project": theirs.id}
    for role, status in ((None, 404), ("viewer", 403)):
        if role is not None:
            server.projects.admit(theirs.id, Member("address", ANN.id, role))
        assert api.post("/api/v1/files", params=asked, content=b"a,b\n", headers=bearer).status_code == status
        assert api.delete(f"/api/v1/files/{'1' * 64}", params=project, headers=bearer).status_code == status
        assert api.post("/api/v1/runs", json=new, headers=bearer).status_code == status
    server.projects.admit(theirs.id, Member("address", ANN.id, "analyst"))
    answer = api.post("/api/v1/files", params=asked, content=b"a,b\n", headers=bearer)
    assert answer.status_code == 201
    sha256 = answer.json()["sha256"]
    assert server.seen(only(theirs.id)).files.get(sha256) == b"a,b\n"
    assert server.files.get(sha256) is None


def test_metrics_name_no_project(theirs: Theirs, client: MakeClient) -> None:
    text = client().get("/metrics").text
    assert 'grasp_runs{state="done"} 1.0' in text
    assert SECRET not in text
    assert theirs.id not in text
    assert EVERYONE not in text
