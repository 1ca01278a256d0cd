"""Watches over the API, for members of their project alone."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from fastapi.testclient import TestClient

from grasp_core.reading.sources import remote
from grasp_core.server.server import Server
from grasp_core.server.watches import BROUGHT
from grasp_core.store import schema
from grasp_core.store.people.projects import Member
from tests.server.api.asking import bearer, problem, token_of
from tests.server.conftest import SIGN_IN, MakeClient
from tests.server.watching import look, ran, votes, watching

MAILS = ("ann@lab.example", "bob@lab.example")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with watching(tmp_path, **SIGN_IN, analysts=MAILS) as made:
        yield made


class Ours:
    """Ann's and Bob's projects, a run in Ann's, and clients with their tokens."""

    def __init__(self, server: Server, client: MakeClient) -> None:
        self.server = server
        self.visitor = client(**SIGN_IN)
        self.tokens = [token_of(server, mail, "run") for mail in MAILS]
        self.ann, self.bob = (
            server.accounts.known(user)
            for user in map(server.accounts.acting, (server.tokens.use(token).owner for token in self.tokens))
        )
        owner = Member("person", self.ann.id, "owner")
        self.project = server.projects.create("Ours", owner=owner).id
        self.run = ran(server, by=self.ann, project=self.project, title="Votes <b>&amp;\x0b")

    def ask(self, method: str, path: str, *, who: int = 0, **what: Any) -> Any:
        return self.visitor.request(method, f"/api/v1{path}", headers=bearer(self.tokens[who]), **what)

    def watch(self) -> dict[str, Any]:
        answer = self.ask("POST", "/watches", json={"run": self.run.id, "every": "hourly"})
        assert answer.status_code == HTTPStatus.CREATED, answer.text
        return answer.json()

    def changed(self, watch: dict[str, Any], content: bytes) -> None:
        Path(self.server.settings.data_dir, "votes.csv").write_bytes(content)
        look(self.server, self.server.watches.get(watch["id"]))


@pytest.fixture
def ours(server: Server, client: MakeClient) -> Ours:
    return Ours(server, client)


def test_a_watch_is_made_followed_changed_and_deleted(ours: Ours) -> None:
    watch = ours.watch()
    assert watch["sources"] == [{"kind": "annotations", "location": "data:votes.csv"}]
    assert (watch["state"], watch["owner"]) == ("Not looked at yet.", ours.ann.id)
    ours.changed(watch, votes(apart=True))
    found = ours.ask("GET", f"/watches/{watch['id']}").json()
    latest, first = found["steps"]
    assert (latest["before"], latest["noise_alone"]) == (ours.run.id, False)
    assert "verdict changed: Man and Woman: no difference found → " in latest["headline"]
    assert any("moved further than noise explains" in one for one in latest["details"])
    assert (first["number"], first["noise_alone"]) == (0, None)
    (listed,) = ours.ask("GET", "/watches", params={"project": ours.project}).json()["watches"]
    assert listed == found["watch"]
    place = f"/watches/{watch['id']}"
    paused = ours.ask("PATCH", place, json={"paused": True, "every": "weekly"}).json()
    assert (paused["paused"], paused["every"], paused["state"]) == ("person", "weekly", "Paused.")
    assert ours.ask("PATCH", place, json={"paused": False}).json()["paused"] is None
    assert ours.ask("POST", f"{place}/look").status_code == HTTPStatus.OK
    assert ours.ask("PATCH", place, json={"every": "minutely"}).status_code == 422
    assert ours.ask("DELETE", place).status_code == HTTPStatus.NO_CONTENT
    problem(ours.ask("GET", place), HTTPStatus.NOT_FOUND)
    told = [(entry.action, entry.kind) for entry in ours.server.audit.search(object_id=watch["id"])[0]]
    assert told == [("delete", "watch"), ("watch", "watch"), ("watch", "watch"), ("watch", "watch")]


def test_a_member_of_another_project_sees_nothing_of_it(ours: Ours) -> None:
    watch = ours.watch()
    place, missing = f"/watches/{watch['id']}", "/watches/missing"
    for method, path, body in (
        ("GET", "", None),
        ("DELETE", "", None),
        ("PATCH", "", {"paused": True}),
        ("POST", "/look", None),
    ):
        answers = [ours.ask(method, f"{one}{path}", who=1, json=body) for one in (place, missing)]
        assert [answer.status_code for answer in answers] == [HTTPStatus.NOT_FOUND] * 2
        assert answers[0].text == answers[1].text
    assert ours.ask("GET", "/watches", who=1).json() == {"watches": []}
    assert ours.ask("GET", "/watches", who=1, params={"project": ours.project}).status_code == 404
    problem(ours.ask("POST", "/watches", who=1, json={"run": ours.run.id}), HTTPStatus.NOT_FOUND)
    assert ours.ask("GET", place).json()["watch"]["paused"] is None


def test_viewers_read_and_strangers_sign_in(ours: Ours, server: Server) -> None:
    watch = ours.watch()
    server.projects.admit(ours.project, Member("person", ours.bob.id, "viewer"))
    place = f"/watches/{watch['id']}"
    assert ours.ask("GET", place, who=1).status_code == HTTPStatus.OK
    problem(ours.ask("PATCH", place, who=1, json={"paused": True}), HTTPStatus.FORBIDDEN)
    problem(ours.ask("POST", "/watches", who=1, json={"run": ours.run.id}), HTTPStatus.FORBIDDEN)
    stranger: TestClient = ours.visitor
    problem(stranger.get(f"/api/v1{place}"), HTTPStatus.UNAUTHORIZED)
    uploaded = server.runs.add(server.service.result(ours.run.id), title="Brought", owner=ours.ann.id)
    answer = ours.ask("POST", "/watches", json={"run": uploaded.id})
    assert answer.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert answer.json()["detail"] == BROUGHT
    waits = sa.update(schema.runs).where(schema.runs.c.id == uploaded.id).values(state="queued")
    with server.database.begin() as connection:
        connection.execute(waits)
    later = ours.ask("POST", "/watches", json={"run": uploaded.id})
    problem(later, HTTPStatus.CONFLICT)
    assert int(later.headers["Retry-After"]) > 0


def test_a_watch_looks_every_so_many_hours_and_tells_an_address_of_its_own(ours: Ours) -> None:
    webhooks: Any = ours.server.webhooks
    webhooks._prefixes = (remote.parse("https://hooks.example.org/"),)
    new = {"run": ours.run.id, "every": "6h", "webhook": "https://hooks.example.org/grasp"}
    watch = ours.ask("POST", "/watches", json=new).json()
    assert (watch["every"], watch["has_webhook"]) == ("6h", True)
    times = [datetime.fromisoformat(watch[name]) for name in ("created_at", "next_at")]
    assert times[1] - times[0] == timedelta(hours=6)
    ours.changed(watch, votes(apart=True))
    latest = ours.ask("GET", f"/watches/{watch['id']}").json()["steps"][0]["run"]
    with ours.server.database.connect() as connection:
        told = connection.execute(sa.select(schema.webhooks.c.run_id, schema.webhooks.c.url)).all()
    assert [tuple(row) for row in told] == [(latest, "https://hooks.example.org/grasp")]
    place = f"/watches/{watch['id']}"
    assert ours.ask("PATCH", place, json={"every": "3d"}).json()["has_webhook"] is True
    assert ours.ask("PATCH", place, json={"every": "30 6 * * 1-5"}).json()["every"] == "30 6 * * 1-5"
    refused = ours.ask("PATCH", place, json={"every": "30 25 * * *"})
    assert (refused.status_code, "bad hour" in refused.text) == (422, True)
    assert ours.ask("PATCH", place, json={"webhook": None}).json()["has_webhook"] is False
    for wrong in ({"every": "0h"}, {"every": "90m"}, {"webhook": "https://elsewhere.example/"}):
        assert ours.ask("PATCH", place, json=wrong).status_code == HTTPStatus.UNPROCESSABLE_ENTITY
