"""Personal tokens: who they are, and what they may not."""

from http import HTTPStatus

import pytest

from grasp_core.server.server import Server
from grasp_core.store.runs import RunRecord
from tests.server.api.asking import bearer, make_token, problem
from tests.server.conftest import ANN, SIGN_IN, VIEWER, MakeClient


@pytest.mark.usefixtures("signing_in")
@pytest.mark.parametrize(
    ("owner", "scope", "status"),
    [
        (ANN.id, "read", HTTPStatus.FORBIDDEN),
        (ANN.id, "run", HTTPStatus.NO_CONTENT),
        (ANN.id, "admin", HTTPStatus.NO_CONTENT),
        ("bob@lab.example", "admin", HTTPStatus.FORBIDDEN),
        ("root@lab.example", "run", HTTPStatus.FORBIDDEN),
        ("root@lab.example", "admin", HTTPStatus.NO_CONTENT),
    ],
)
def test_a_token_does_no_more_than_its_scope_and_its_person_may(
    client: MakeClient, server: Server, done: RunRecord, owner: str, scope: str, status: HTTPStatus
) -> None:
    object.__setattr__(server.settings, "admins", ("root@lab.example",))
    answer = client(**SIGN_IN).delete(
        f"/api/v1/runs/{done.id}", headers=bearer(make_token(server, owner, scope))
    )
    assert answer.status_code == status
    assert (server.runs.get(done.id) is None) == (status == HTTPStatus.NO_CONTENT)


@pytest.mark.usefixtures("signing_in")
def test_withdrawn_tokens_and_people_who_are_not_admitted_get_nothing(client, server, done) -> None:
    visitor = client(**SIGN_IN)
    withdrawn, local = make_token(server), make_token(server, owner="")
    server.tokens.revoke(next(one.id for one in server.tokens.all() if one.owner == ANN.id))
    object.__setattr__(server.settings, "allowed_domains", ("lab.example",))
    outside = make_token(server, owner="eve@evil.example")
    answers = [
        visitor.get(f"/api/v1/runs/{done.id}", headers={**bearer(token), "X-Test-User": ANN.id})
        for token in (withdrawn, local, outside, "grasp_guessed")
    ]
    assert {problem(answer, HTTPStatus.UNAUTHORIZED) for answer in answers} == {
        "This token is unknown, withdrawn or expired; make one on Account."
    }


@pytest.mark.usefixtures("signing_in")
def test_a_cookie_reads_and_changes_only_from_our_own_pages(client, server, done: RunRecord) -> None:
    visitor, me = client(**SIGN_IN), {"X-Test-User": ANN.id}
    address = f"/api/v1/runs/{done.id}"
    assert visitor.get(address, headers=me).status_code == 200
    for foreign in (
        {},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": SIGN_IN["public_url"], "Sec-Fetch-Site": "cross-site"},
    ):
        answer = visitor.delete(address, headers={**me, **foreign})
        assert answer.status_code in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)
        assert server.runs.get(done.id) is not None
    assert visitor.delete(address, headers={**me, "Origin": SIGN_IN["public_url"]}).status_code == 204
    assert server.runs.get(done.id) is None


def test_without_sign_in_pages_of_other_sites_change_nothing(client, server, done: RunRecord) -> None:
    visitor, me = client(), {"X-Test-User": ANN.id}
    address = f"/api/v1/runs/{done.id}"
    for foreign in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        problem(visitor.delete(address, headers={**me, **foreign}), HTTPStatus.FORBIDDEN)
    assert visitor.delete(address, headers=me).status_code == 204


def test_strangers_change_nothing_and_are_told_before_they_are_read(client, server, done: RunRecord) -> None:
    visitor = client(**SIGN_IN)
    link = server.links.create(done.id, created_by=ANN.id)
    for headers in ({}, bearer(link), bearer("x")):
        for method, place in (("DELETE", done.id), ("DELETE", "guessed"), ("POST", "")):
            answer = visitor.request(method, f"/api/v1/runs/{place}", headers=headers, content=b"{")
            problem(answer, HTTPStatus.UNAUTHORIZED)
    assert server.runs.get(done.id) is not None


@pytest.mark.parametrize("headers", [{"X-Test-User": ANN.id}, {}, bearer("grasp_guessed")])
def test_whoever_asks_too_often_is_told_when_to_come_again(client, server, headers: dict[str, str]) -> None:
    object.__setattr__(server.settings, "api_rate", "5/hour")
    visitor = client()
    for _ in range(5):
        assert visitor.get("/api/v1/runs", headers=headers).status_code != 429
    answer = visitor.get("/api/v1/runs", headers=headers)
    problem(answer, HTTPStatus.TOO_MANY_REQUESTS)
    assert 1 <= int(answer.headers["Retry-After"]) <= 2 * 3600
    other = visitor.get("/api/v1/runs", headers={"X-Test-User": VIEWER.id})
    assert other.status_code == 200
