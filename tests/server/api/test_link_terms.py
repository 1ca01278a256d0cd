"""Links with a password or a number of visits, over the API, and withdrawn together."""

from dataclasses import replace
from http import HTTPStatus

from fastapi.testclient import TestClient

from grasp_core.server.server import Server
from grasp_core.store.links import BY_ADDRESS, Target
from grasp_core.store.runs import RunRecord
from tests.results import make_group, make_outcome, make_result
from tests.server.api.asking import bearer, problem
from tests.server.conftest import ANN, SIGN_IN, VIEWER, MakeClient

PASSWORD = "Grüße vom Rhein"
SENT = {"Link-Password": "Gr%C3%BC%C3%9Fe%20vom%20Rhein"}


def visiting(visitor: TestClient, address: str, token: str, visit: str, **headers: str) -> int:
    """The status that a visitor with this cookie, or with none, is answered."""
    visitor.cookies.clear()
    carried = {"Cookie": f"grasp_visit={visit}"} if visit else {}
    return visitor.get(address, headers={**bearer(token), **carried, **headers}).status_code


def test_a_link_with_a_password_opens_with_it_alone(client, server, done: RunRecord) -> None:
    token = server.links.create(done.id, created_by=ANN.id, password=PASSWORD)
    stranger, address = client(**SIGN_IN), f"/api/v1/runs/{done.id}"
    for path in (address, f"{address}/exports/csv", f"{address}/events"):
        for headers in ({}, {"Link-Password": "wrong"}):
            answer = stranger.get(path, headers={**bearer(token), **headers})
            assert "its password alone" in problem(answer, HTTPStatus.UNAUTHORIZED)
    foreign = stranger.get("/api/v1/runs/guessed", headers={**bearer(token), **SENT})
    assert foreign.status_code == HTTPStatus.NOT_FOUND
    assert server.links.of_run(done.id)[0].uses == 0
    entries, _ = server.audit.search(action="refusal")
    assert [entry.actor for entry in entries if entry.kind == "link"] == [""] * 3
    for _ in range(BY_ADDRESS - 3):
        assert visiting(stranger, address, token, "", **{"Link-Password": "wrong"}) == HTTPStatus.UNAUTHORIZED
    answer = stranger.get(address, headers={**bearer(token), **SENT})
    assert "try again in 15 minutes" in problem(answer, HTTPStatus.TOO_MANY_REQUESTS)
    assert answer.headers["Retry-After"] == "900"


def test_whoever_gave_the_password_carries_a_cookie(client, server, done: RunRecord) -> None:
    token = server.links.create(done.id, created_by=ANN.id, password=PASSWORD)
    stranger, address = client(**SIGN_IN), f"/api/v1/runs/{done.id}"
    answer = stranger.get(address, headers={**bearer(token), **SENT})
    assert answer.status_code == HTTPStatus.OK
    cookie = answer.headers["Set-Cookie"]
    for part in ("grasp_visit=", "HttpOnly", "SameSite=lax", "Secure", "Max-Age=43200"):
        assert part in cookie
    visit = cookie.partition("=")[2].partition(";")[0]
    assert visiting(stranger, f"{address}/exports/csv", token, visit) == HTTPStatus.OK
    assert visiting(stranger, address, token, "a" * 43) == HTTPStatus.UNAUTHORIZED
    assert visiting(stranger, address, token, "") == HTTPStatus.UNAUTHORIZED
    assert server.links.of_run(done.id)[0].uses == 1


def test_the_cookie_is_for_visitors_by_links_alone(client: MakeClient, server: Server) -> None:
    visitor = client(**SIGN_IN)
    assert "grasp_visit" in visitor.get("/shared").headers.get("Set-Cookie", "")
    visitor.cookies.clear()
    for headers in ({}, {"X-Test-User": ANN.id}, bearer("grasp_personal")):
        answers = [visitor.get(path, headers=headers) for path in ("/runs", "/api/v1/runs")]
        assert not any("grasp_visit" in answer.headers.get("Set-Cookie", "") for answer in answers)


def test_a_link_that_is_used_up_is_as_if_unknown(client: MakeClient, server: Server, done: RunRecord) -> None:
    token = server.links.create(done.id, created_by=ANN.id, max_uses=2)
    stranger, address = client(**SIGN_IN), f"/api/v1/runs/{done.id}"
    visits = ["a" * 43, "b" * 43, "c" * 43]
    statuses = [visiting(stranger, address, token, visit) for visit in (*visits, *visits)]
    assert statuses == [200, 200, 401, 200, 200, 401]
    late = stranger.get(address, headers=bearer(token))
    unknown = stranger.get(address, headers=bearer("unknown"))
    assert late.text == unknown.text


def test_a_link_shows_small_groups_if_its_maker_says_so(client: MakeClient, server: Server) -> None:
    rows = [make_group(name, raters=size, gai=make_outcome(1.0, "up")) for name, size in SIZES.items()]
    result = make_result(tuple(rows), statistics=("gai",))
    result = replace(result, data=replace(result.data, raters=sum(SIZES.values())))
    run = server.runs.add(result, title="A run", owner=ANN.id)
    ann = client(user=ANN)
    seen = {}
    for chosen in (False, True):
        made = ann.post(f"/api/v1/runs/{run.id}/links", json={"small_groups": chosen}).json()
        assert made["small_groups"] is chosen
        told = client(**SIGN_IN).get(f"/api/v1/runs/{run.id}", headers=bearer(made["token"])).json()
        seen[chosen] = [row["group"]["gender"] for row in told["groups"]]
    assert seen == {False: ["Woman"], True: ["Man", "Woman", "Few"]}


SIZES = {"Man": 40, "Woman": 30, "Few": 3}


def test_links_are_made_with_terms_and_withdrawn_together(client, server, done: RunRecord) -> None:
    ann, address = client(user=ANN), f"/api/v1/runs/{done.id}/links"
    other = server.runs.add(make_result(), title="Another", owner=ANN.id)
    made = ann.post(address, json={"password": PASSWORD, "max_uses": 3}, headers={"Idempotency-Key": "k"})
    assert made.status_code == HTTPStatus.CREATED
    assert (made.json()["has_password"], made.json()["max_uses"]) == (True, 3)
    assert PASSWORD not in made.text
    assert ann.post(address, json={"password": "short"}).status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    server.links.create(done.id, created_by="bob@lab.example")
    server.links.create(other.id, created_by=ANN.id)
    assert ann.delete(address).json() == {"withdrawn": 2}
    assert server.links.use(made.json()["token"], count=False) is None
    assert ann.delete("/api/v1/links").json() == {"withdrawn": 1}
    kept = server.links.create(other.id, created_by="bob@lab.example")
    problem(ann.delete("/api/v1/links?person=bob@lab.example"), HTTPStatus.FORBIDDEN)
    viewer = client(user=VIEWER)
    problem(viewer.delete(address), HTTPStatus.FORBIDDEN)
    problem(viewer.delete("/api/v1/links"), HTTPStatus.FORBIDDEN)
    assert server.links.use(kept) == Target("run", other.id)
    entries, _ = server.audit.search(action="withdraw")
    assert [(entry.kind, entry.object_id, entry.details) for entry in reversed(entries)] == [
        ("run's links", done.id, {"links": 2}),
        ("person's links", ANN.id, {"links": 1}),
    ]
    (shared,), _ = server.audit.search(action="share")
    assert shared.details == {"days": 30, "password": True, "uses": 3, "small groups": False}


def test_a_run_s_events_ask_once(client: MakeClient, server: Server, done: RunRecord) -> None:
    token = server.links.create(done.id, created_by=ANN.id, password=PASSWORD, max_uses=1)
    followed = client(**SIGN_IN).get(f"/api/v1/runs/{done.id}/events", headers={**bearer(token), **SENT})
    assert "event: end" in followed.text
    assert server.links.of_run(done.id)[0].uses == 1
