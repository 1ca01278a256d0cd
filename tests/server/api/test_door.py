"""What all addresses do alike: methods, parameters, kinds of bodies, problems, ETags, rates."""

from http import HTTPStatus

import pytest
from fastapi.testclient import TestClient
from httpx import Response

from grasp_core.model.remark_codes import CODES
from grasp_core.server.api.sent_specs import SentSpec
from grasp_core.server.problem import WHAT
from grasp_core.server.server import Server
from grasp_core.store.runs import RunRecord
from tests.server.api.asking import bearer, make_token, problem, sent
from tests.server.conftest import ANN, MakeClient

RUN = {"spec": {}, "files": {"annotations": {"sha256": "0" * 64, "name": "votes.csv"}}}


def test_the_schema_is_one(ann: TestClient) -> None:
    from openapi_spec_validator import OpenAPIV31SpecValidator  # takes a while to load

    schema = ann.get("/api/v1/openapi.json").json()
    assert schema["openapi"].startswith("3.1")
    assert [error.message for error in OpenAPIV31SpecValidator(schema).iter_errors()] == []


def test_head_has_what_get_has_but_the_body(ann: TestClient, done: RunRecord) -> None:
    for path in ("/", "/runs", f"/runs/{done.id}", f"/runs/{done.id}/exports/csv"):
        got, head = (ann.request(method, f"/api/v1{path}") for method in ("GET", "HEAD"))
        assert head.status_code == got.status_code == HTTPStatus.OK
        assert head.content == b""
        assert head.headers["Content-Length"] == str(len(got.content))
        assert head.headers.get("ETag") == got.headers.get("ETag")
    assert ann.head("/api/v1/runs/no-such-run").status_code == HTTPStatus.NOT_FOUND


def test_other_methods_are_refused_with_those_that_there_are(ann: TestClient) -> None:
    for method, path, allowed in (
        ("PUT", "/runs", "GET, HEAD, POST"),
        ("GET", "/validate", "POST"),
        ("HEAD", "/runs/x/events", "GET"),
        ("POST", "/openapi.json", "GET, HEAD"),
        ("PUT", "/runs/x/links", "DELETE, GET, HEAD, POST"),
    ):
        answer = ann.request(method, f"/api/v1{path}")
        assert (answer.status_code, answer.headers["Allow"]) == (HTTPStatus.METHOD_NOT_ALLOWED, allowed)


def test_unknown_and_doubled_parameters_are_refused_all_at_once(ann: TestClient) -> None:
    answer = ann.get("/api/v1/runs?limt=3&tag=a&tag=b&state=done")
    problem(answer, HTTPStatus.BAD_REQUEST)
    told = answer.json()
    assert told["code"] == "bad-request"
    assert [one["code"] for one in told["problems"]] == ["unknown-parameter", "parameter-twice"]
    assert told["detail"] == "There is no parameter 'limt' here; did you mean 'limit'?"


@pytest.mark.parametrize("kind", ["multipart/form-data; boundary=x", "application/x-www-form-urlencoded"])
def test_forms_are_refused_at_the_door_and_not_stored(ann: TestClient, server: Server, kind: str) -> None:
    for path, content in (("/files?name=a.csv", b"a,b\n1,2\n"), ("/runs", b'{"spec": {}}')):
        answer = ann.post(f"/api/v1{path}", content=content, headers={"Content-Type": kind})
        assert "Content-Type" in problem(answer, HTTPStatus.UNSUPPORTED_MEDIA_TYPE)
    assert server.files.used(ANN.id) == 0


def test_json_that_cannot_be_read_is_another_problem_than_values_that_do_not_fit(ann: TestClient) -> None:
    json = {"Content-Type": "application/json"}
    broken = ann.post("/api/v1/runs", content=b'{"files": ', headers=json)
    assert problem(broken, HTTPStatus.BAD_REQUEST).startswith("The body is no JSON: ")
    answer = ann.post("/api/v1/runs", json={"files": {"annotations": {"sha256": "x"}}, "odd": 1})
    problem(answer, HTTPStatus.UNPROCESSABLE_ENTITY)
    file = "`files.annotations.sha256"
    assert {one["text"] for one in answer.json()["problems"]} == {
        f"{file}.sha256` does not have the form that the page of the API describes",
        f"{file}.name` is missing",
        "`odd` is not known here",
    }
    told = problem(ann.get("/api/v1/runs?limit=none"), HTTPStatus.UNPROCESSABLE_ENTITY)
    assert told == "`limit` must be a valid integer."
    told = problem(ann.post("/api/v1/runs", json=[]), HTTPStatus.UNPROCESSABLE_ENTITY)
    assert told == "The body must be a JSON object."
    for kind in ("text/plain", ""):
        answer = ann.post("/api/v1/runs", content=b"{}", headers={"Content-Type": kind})
        problem(answer, HTTPStatus.UNSUPPORTED_MEDIA_TYPE)


def test_all_that_is_wrong_with_a_spec_is_told_at_once(ann: TestClient) -> None:
    analysis = {"axes": "a", "p_value": "q", "pairs": 0, "gai": ["irr"]}
    spec = {"data": {"item": 1, "odd": 2}, "analysis": analysis}
    files = sent(ann, "item,rater,label\n1,2,a\n")
    answer = ann.post("/api/v1/runs", json={"spec": spec, "files": files})
    problem(answer, HTTPStatus.UNPROCESSABLE_ENTITY)
    told = answer.json()
    assert told["code"] == "spec"
    texts = " ".join(one["text"] for one in told["problems"])
    assert len(told["problems"]) == 6
    assert all(name in texts for name in ("`item`", "'odd'", "`axes`", "`p_value`", "`pairs`"))
    assert "`gai` must be a list of 2; found ['irr']" in texts
    spec = {"analysis": {"permutations": -1, "min_raters": 0}}
    both = ann.post("/api/v1/runs", json={"spec": spec, "files": files}).json()["problems"]
    assert ["`min_raters` must" in both[0]["text"], "`permutations` must" in both[1]["text"]] == [True, True]


def test_a_long_spec_is_not_taken_apart() -> None:
    """Every field of it would be tried with all others."""
    wrong = {"permutations": -1}
    short, long = (
        SentSpec(
            {
                "data": {"layout": "long", "further": [{"label": f"q{n}"} for n in range(many)]},
                "analysis": wrong,
            }
        )
        for many in (2, 2000)
    )
    assert short.sound.plain["data"]["layout"] == "long"
    assert long.sound.plain == {}
    assert long.wrong


def test_what_is_unknown_is_not_found(ann: TestClient) -> None:
    site = {"Origin": "http://localhost:8501"}
    for method, path in (
        *(("GET", f"/{what}?project=missing") for what in ("runs", "files", "watches", "submissions")),
        *(("DELETE", path) for path in (f"/files/{'0' * 64}", "/tokens/missing")),
        *(("GET", path) for path in ("/work/missing", "/no/such/address", "/problems/no-such-code")),
    ):
        problem(ann.request(method, f"/api/v1{path}", headers=site), HTTPStatus.NOT_FOUND)


def test_links_of_somebody_unknown_are_not_found(client: MakeClient, server: Server) -> None:
    admin = bearer(make_token(server, "", "admin"))
    problem(client().delete("/api/v1/links?person=missing", headers=admin), HTTPStatus.NOT_FOUND)


def test_every_code_has_its_page(client: MakeClient) -> None:
    stranger = client()
    for code in [*WHAT, *list(CODES)[::7]]:
        page = stranger.get(f"/api/v1/problems/{code}")
        assert page.status_code == HTTPStatus.OK, code
        assert f"<code>{code}</code>" in page.text
    refused = stranger.get("/api/v1/runs").json()
    assert stranger.get(refused["type"]).status_code == HTTPStatus.OK


def test_the_type_of_a_problem_is_an_address_below_the_servers_path(client: MakeClient) -> None:
    stranger = client("/grasp")
    refused = stranger.get("/grasp/api/v1/runs").json()
    assert refused["type"] == "/grasp/api/v1/problems/sign-in"
    assert stranger.get(refused["type"]).status_code == HTTPStatus.OK


def test_what_one_has_is_not_sent_again(ann: TestClient, done: RunRecord) -> None:
    def ask(path: str, tag: str) -> Response:
        return ann.get(f"/api/v1/runs/{done.id}{path}", headers={"If-None-Match": tag})

    for path in ("", "/exports/csv"):
        tag = ann.get(f"/api/v1/runs/{done.id}{path}").headers["ETag"]
        for known in (tag, f"W/{tag}", f'"other", {tag}', "*"):
            again = ask(path, known)
            assert (again.status_code, again.content) == (HTTPStatus.NOT_MODIFIED, b"")
            assert again.headers["ETag"] == tag
        assert ask(path, '"other"').status_code == HTTPStatus.OK
    tags = {ann.get(f"/api/v1/runs/{done.id}{path}").headers["ETag"] for path in ("", "/exports/csv")}
    assert len(tags) == 2


def test_answers_say_what_may_be_asked_yet(ann: TestClient, server: Server) -> None:
    object.__setattr__(server.settings, "api_rate", "5/day")  # a minute may begin meanwhile
    left = []
    for _ in range(5):
        answer = ann.get("/api/v1/runs")
        assert answer.headers["RateLimit-Policy"].startswith('"requests";q=5;w=86400, "changes";q=')
        left.append(answer.headers["RateLimit"].partition(",")[0].partition(";t=")[0])
    assert left == [f'"requests";r={count}' for count in (4, 3, 2, 1, 0)]
    refused = ann.get("/api/v1/runs")
    problem(refused, HTTPStatus.TOO_MANY_REQUESTS)
    assert 1 <= int(refused.headers["Retry-After"]) <= 86400


def test_what_may_be_had_later_says_when(ann: TestClient, server: Server) -> None:
    rows = [f"{i},{j},{(i + j) % 2},{j % 2}" for i in range(6) for j in range(8)]
    files = sent(ann, "\n".join(["item,rater,label,side", *rows]))
    spec = {"data": {"item": "item", "rater": "rater", "label": "label"}, "analysis": {"axes": [["side"]]}}
    run = ann.post("/api/v1/runs", json={"spec": spec, "files": files}).json()["id"]
    assert int(ann.get(f"/api/v1/runs/{run}").headers["Retry-After"]) > 0  # nothing is computed here
    refused = ann.get(f"/api/v1/runs/{run}/exports/csv")
    problem(refused, HTTPStatus.CONFLICT)
    assert int(refused.headers["Retry-After"]) > 0
