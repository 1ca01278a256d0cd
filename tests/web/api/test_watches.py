"""Watches over the API, and their feeds, for members of their project alone."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from datetime import datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from starlette.applications import Starlette

from grasp_core.access import EVERYONE, only
from grasp_core.report.small_groups.cover import LEAST
from grasp_core.server import Server
from grasp_core.store.people.members import Member
from grasp_core.store.schema import feeds, tokens
from grasp_core.store.watches.watches import FAILURES
from grasp_core.watches.looking import BROUGHT
from grasp_core.web.api.app import mount
from grasp_core.web.uploads import UploadLedger
from tests.store.making import change, column
from tests.watches.watching import close, look, make, ran, votes
from tests.web.api.asking import bearer, problem, token_of
from tests.web.conftest import SIGN_IN, MakeClient

ATOM = "{http://www.w3.org/2005/Atom}"
MAILS = ("ann@lab.example", "bob@lab.example")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    made = make(tmp_path, **SIGN_IN, analysts=MAILS)
    yield made
    close(made)


class Ours:
    """Ann's and Bob's projects, a run in Ann's, and clients with their tokens."""

    def __init__(self, server: Server, client: MakeClient) -> None:
        self.server = server
        self.visitor = client(**SIGN_IN)
        self.tokens = [token_of(server, mail, "run") for mail in MAILS]
        self.ann, self.bob = (
            server.known(user)
            for user in map(server.accounts.acting, (self._owner(token) for token in self.tokens))
            if user is not None
        )
        owner = Member("person", self.ann.id, "owner")
        self.project = server.projects.create("Ours", owner=owner).id
        self.run = ran(server, by=self.ann, project=self.project, title="Votes <b>&amp;\x0b")

    def _owner(self, token: str) -> str:
        found = self.server.tokens.use(token)
        assert found is not None
        return found.owner

    def ask(self, method: str, path: str, *, who: int = 0, **what: Any) -> Any:
        return self.visitor.request(method, f"/api/v1{path}", headers=bearer(self.tokens[who]), **what)

    def watch(self) -> dict[str, Any]:
        answer = self.ask("POST", "/watches", json={"run": self.run.id, "every": "hourly"})
        assert answer.status_code == HTTPStatus.CREATED, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def feed(self, **of: Any) -> str:
        answer = self.ask("POST", "/feeds", json={"project": self.project, **of})
        assert answer.status_code == HTTPStatus.CREATED, answer.text
        address: str = answer.json()["address"]
        return address

    def changed(self, watch: dict[str, Any], content: bytes) -> None:
        Path(self.server.settings.data_dir, "votes.csv").write_bytes(content)
        found = self.server.watches.get(watch["id"])
        assert found is not None
        look(self.server, found)

    def read(self, address: str) -> ET.Element:
        answer = self.visitor.get(address)
        assert answer.status_code == HTTPStatus.OK, answer.text
        assert answer.headers["Content-Type"].startswith("application/atom+xml")
        return ET.fromstring(answer.content)


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
    assert "moved further than noise explains" in latest["headline"]
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


def test_an_entry_for_each_run_that_names_no_small_group(ours: Ours) -> None:
    watch = ours.watch()
    address = ours.feed(watch=watch["id"])
    ours.changed(watch, votes(few=True, apart=True))
    root = ours.read(address)
    text = ET.tostring(root, encoding="unicode")
    told = ours.ask("GET", f"/watches/{watch['id']}").json()["steps"][0]["details"]
    assert "New groups: X (gender)." in told
    assert LEAST == 5
    assert "X (gender)" not in text
    assert "IRR of Woman (gender)" in text
    assert "r23" not in text
    check_atom(root)
    entries = root.findall(f"{ATOM}entry")
    assert len(entries) == 2
    ours.changed(watch, votes())
    after = ours.read(address).findall(f"{ATOM}entry")
    ids = [one.findtext(f"{ATOM}id") for one in after]
    assert ids[1:] == [one.findtext(f"{ATOM}id") for one in entries], "ids stay the same"
    link = entries[0].find(f"{ATOM}link")
    assert link is not None
    assert link.get("href", "").startswith("https://grasp.example/results?run=")


def check_atom(root: ET.Element) -> None:
    """What RFC 4287 asks of feeds and entries that have an author above them."""
    assert root.tag == f"{ATOM}feed"
    assert {one.get("rel") for one in root.findall(f"{ATOM}link")} == {"self", "alternate"}
    assert root.findtext(f"{ATOM}author/{ATOM}name")
    entries = root.findall(f"{ATOM}entry")
    for one in (root, *entries):
        for name in ("id", "title", "updated"):
            assert len(one.findall(f"{ATOM}{name}")) == 1
        assert str(one.findtext(f"{ATOM}id")).startswith("urn:uuid:")
        assert datetime.fromisoformat(str(one.findtext(f"{ATOM}updated"))).tzinfo is not None
    for one in entries:
        assert one.find(f"{ATOM}link[@rel='alternate']") is not None
        content = one.find(f"{ATOM}content")
        assert content is not None
        assert (content.get("type"), bool(content.text)) == ("html", True)
    ids = [one.findtext(f"{ATOM}id") for one in (root, *entries)]
    assert len(set(ids)) == len(ids)


def test_a_feed_of_all_tells_when_a_watch_has_paused_but_not_of_what_is_in_files(ours: Ours) -> None:
    watch = ours.watch()
    address = ours.feed()
    for _ in range(FAILURES):
        ours.changed(watch, b"item,rater,gender,label\ni1,r4711,Woman,Perhaps\n")
    text = ET.tostring(ours.read(address), encoding="unicode")
    assert "Paused after 5 looks in a row that failed." in text
    assert "4711" not in text
    assert "Perhaps" not in text
    check_atom(ours.read(address))


def test_a_withdrawn_address_and_made_up_ones_lead_nowhere(ours: Ours, server: Server) -> None:
    watch = ours.watch()
    address, other = ours.feed(watch=watch["id"]), ours.feed()
    token = address.partition("token=")[2]
    assert token not in str(column(server.database, feeds, "token_sha256"))
    listed = ours.ask("GET", "/feeds", params={"project": ours.project}).json()["feeds"]
    assert token not in str(listed)
    (one,) = [feed for feed in listed if feed["watch"]]
    problem(ours.ask("DELETE", f"/feeds/{one['id']}", who=1), HTTPStatus.NOT_FOUND)
    assert ours.ask("DELETE", f"/feeds/{one['id']}").status_code == HTTPStatus.NO_CONTENT
    problem(ours.visitor.get(address), HTTPStatus.NOT_FOUND)
    problem(ours.visitor.get(f"{address}x"), HTTPStatus.NOT_FOUND)
    ours.read(other)
    as_bearer = ours.visitor.get("/api/v1/watches", headers=bearer(other.partition("token=")[2]))
    problem(as_bearer, HTTPStatus.UNAUTHORIZED)


def test_a_token_that_reads_makes_no_feed_and_withdraws_none(ours: Ours, server: Server) -> None:
    reading = bearer(token_of(server, MAILS[0], "read"))
    ours.feed()
    (feed,) = server.feeds.within(only(ours.project)).of(ours.ann.id)
    asked = ours.visitor.post("/api/v1/feeds", headers=reading, json={"project": ours.project})
    problem(asked, HTTPStatus.FORBIDDEN)
    problem(ours.visitor.delete(f"/api/v1/feeds/{feed.id}", headers=reading), HTTPStatus.FORBIDDEN)
    assert server.feeds.within(only(ours.project)).of(ours.ann.id) == [feed]


@pytest.mark.parametrize("how", ["withdrawn", "expired", "deleted"])
def test_a_feed_ends_with_the_token_that_made_it(ours: Ours, server: Server, how: str) -> None:
    address = ours.feed()
    ours.read(address)
    (token,) = server.tokens.of(ours.ann.id)
    if how == "expired":
        change(server.database, tokens, expires_at=0.0)
    else:
        server.tokens.revoke(token.id)
    if how == "deleted":
        assert server.tokens.delete_ended(older_than_days=-0.001) == 1
    problem(ours.visitor.get(address), HTTPStatus.NOT_FOUND)
    assert server.feeds.within(only(ours.project)).of(ours.ann.id) == []


def test_who_sees_the_project_no_more_has_no_feed_of_it_either(ours: Ours, server: Server) -> None:
    ours.watch()
    server.projects.admit(ours.project, Member("person", ours.bob.id, "viewer"))
    answer = ours.ask("POST", "/feeds", who=1, json={"project": ours.project})
    address = answer.json()["address"]
    assert ours.read(address).findall(f"{ATOM}entry") == [], "bob has no watch of his own"
    server.projects.expel(ours.project, "person", ours.bob.id)
    problem(ours.visitor.get(address), HTTPStatus.NOT_FOUND)
    of_ann = ours.feed()
    ours.read(of_ann)
    server.accounts.people.disable(ours.ann.id)
    problem(ours.visitor.get(of_ann), HTTPStatus.NOT_FOUND)


def test_a_member_of_another_project_sees_nothing_of_it(ours: Ours) -> None:
    watch = ours.watch()
    ours.feed(watch=watch["id"])
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
    assert ours.ask("GET", "/watches", who=1, params={"project": ours.project}).status_code == 403
    assert ours.ask("GET", "/feeds", who=1, params={"project": ours.project}).status_code == 403
    problem(ours.ask("POST", "/watches", who=1, json={"run": ours.run.id}), HTTPStatus.NOT_FOUND)
    body = {"project": EVERYONE, "watch": watch["id"]}
    problem(ours.ask("POST", "/feeds", who=1, json=body), HTTPStatus.NOT_FOUND)
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
    problem(stranger.get("/api/v1/feeds"), HTTPStatus.UNAUTHORIZED)
    uploaded = server.runs.add(server.service.result(ours.run.id), title="Brought", owner=ours.ann.id)
    answer = ours.ask("POST", "/watches", json={"run": uploaded.id})
    assert answer.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert answer.json()["detail"] == BROUGHT


def test_the_same_request_is_done_once(ours: Ours) -> None:
    body, headers = {"project": ours.project}, {**bearer(ours.tokens[0]), "Idempotency-Key": "one"}
    made = [ours.visitor.post("/api/v1/feeds", json=body, headers=headers).json() for _ in range(2)]
    assert made[0]["address"]
    assert made[1]["address"] is None


def test_feeds_are_read_within_the_rate_of_strangers(ours: Ours, server: Server) -> None:
    address = ours.feed()
    object.__setattr__(server.settings, "api_rate", "2/minute")
    visitor = TestClient(
        Starlette(routes=[mount(lambda: server, lambda _: None, UploadLedger(dict, 2**20))]),
        base_url="https://grasp.example",
    )
    codes = [visitor.get(address).status_code for _ in range(3)]
    assert codes == [HTTPStatus.OK, HTTPStatus.OK, HTTPStatus.TOO_MANY_REQUESTS]
