import logging
from dataclasses import replace
from http import HTTPStatus
from pathlib import Path

import pytest
import sqlalchemy as sa
from fastapi.testclient import TestClient

from grasp_core.analysis.rater_map_values import ANSWER, NOTHING
from grasp_core.model.access import User
from grasp_core.model.errors import MissingResultError
from grasp_core.model.json_values import to_json
from grasp_core.model.remarks.cautions import Caution, NoMap
from grasp_core.model.result import RunResult
from grasp_core.model.turns import Turns
from grasp_core.report.models import sides_csv
from grasp_core.report.saved import result_json
from grasp_core.report.tidy import table_csv
from grasp_core.report.writers import cache
from grasp_core.server.server import Server
from grasp_core.store import database as sqlite
from grasp_core.store.people.credentials import PREFIX
from grasp_core.store.runs import RunRecord
from grasp_core.store.schema import links
from tests.made_up import BOARD, telling
from tests.results import make_result, so_far
from tests.server.api.asking import bearer, failed, problem
from tests.server.conftest import ANN, SIGN_IN, VIEWER, MakeClient
from tests.store.making import change
from tests.stored import going_run


@pytest.fixture
def about_models(server: Server) -> RunRecord:
    return server.runs.add(telling(), title="Kept", owner=ANN.id)


def shared_board(server: Server, **link: float) -> tuple[str, str]:
    """A link's id, and its token."""
    token = server.links.create_leaderboard(BOARD, created_by=ANN.id, **link)
    return server.links.of_leaderboards()[0].id, token


def test_who_finds_no_place_for_a_file_is_told_when_to_come_again(client, server, monkeypatch) -> None:
    none = Turns("testing", at_once=0, each=0, waiting=0, waiting_each=0, patience=0)
    monkeypatch.setattr(cache, "EXPORTING", none)
    visitor = client(user=ANN)
    run = server.runs.add(make_result(), title="A run", owner=ANN.id)
    told = visitor.get(f"/api/v1/runs/{run.id}/exports/csv")
    problem(told, HTTPStatus.TOO_MANY_REQUESTS)
    assert int(told.headers["Retry-After"]) > 0


def test_a_file_that_was_made_needs_no_result_again(client, server, monkeypatch) -> None:
    visitor, run = client(user=ANN), server.runs.add(make_result(), title="A run", owner=ANN.id)
    token = server.links.create(run.id, created_by=ANN.id)
    stranger, path = client(), f"/api/v1/runs/{run.id}/exports/json"
    mine, theirs = visitor.get(path), stranger.get(path, headers=bearer(token))
    assert mine.content != theirs.content  # which names nobody
    monkeypatch.setattr(server.service, "result", lambda _: pytest.fail("it was loaded"))
    for before, again in ((mine, visitor.get(path)), (theirs, stranger.get(path, headers=bearer(token)))):
        assert (again.content, again.headers["ETag"]) == (before.content, before.headers["ETag"])
        assert again.headers["Content-Disposition"] == before.headers["Content-Disposition"]
    server.runs.delete(run.id)
    problem(visitor.get(path), HTTPStatus.NOT_FOUND)


@pytest.mark.parametrize(
    ("loss", "sentence"),
    [
        (lambda file: file.unlink(), "file is gone"),
        (lambda file: file.rename(f"{file}-elsewhere"), "file is gone"),
        (lambda file: (file.unlink(), file.touch()), "Another file stands"),
        (lambda file: file.write_bytes(b"something else" * 10_000), "cannot be read"),
        (lambda file: file.write_bytes(b""), "cannot be read"),
    ],
)
def test_health_says_when_the_database_file_is_not_what_it_was(client, server, loss, sentence) -> None:
    file = Path(server.database.url.database or "")
    visitor = client()
    assert visitor.get("/api/health").status_code == 200
    loss(file)
    (shown, again) = (visitor.get("/api/health") for _ in range(2))
    assert sentence in problem(shown, HTTPStatus.SERVICE_UNAVAILABLE)
    assert again.text == shown.text, "a file was made in its place"


def test_health_says_when_the_disk_is_full(client: MakeClient, monkeypatch: pytest.MonkeyPatch) -> None:
    visitor = client()
    monkeypatch.setattr(sqlite, "LEAST_ROOM", 2**62)  # more than is free on any
    told = visitor.get("/api/health")
    assert sqlite.FULL in problem(told, HTTPStatus.SERVICE_UNAVAILABLE)


@pytest.mark.parametrize("user", [ANN, VIEWER])
def test_whoever_has_signed_in_sees_every_run(client, server, done: RunRecord, user: object) -> None:
    visitor = client(**SIGN_IN, user=user)
    answer = visitor.get(f"/api/v1/runs/{done.id}")
    assert answer.status_code == 200
    assert "no-store" in answer.headers["Cache-Control"]
    read = RunResult.from_dict(answer.json())
    assert result_json(read) == result_json(server.service.result(done.id))
    table = visitor.get(f"/api/v1/runs/{done.id}/exports/csv")
    assert table.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert table.headers["Content-Disposition"].startswith("attachment; filename*=UTF-8''Q_overall%20by")
    assert table.text == table_csv(read)
    report = f"/api/v1/runs/{done.id}/exports/markdown"
    assert "Map of raters" not in visitor.get(report).text
    server.answers.keep(done.id, ANSWER, to_json(replace(NOTHING, reason=NoMap.NO_DISAGREEMENT())))
    assert "## Map of raters" in visitor.get(report).text
    assert problem(visitor.get("/api/v1/runs/unknown"), HTTPStatus.NOT_FOUND)


def test_strangers_cannot_tell_a_run_or_leaderboard_from_none(client, server, done: RunRecord) -> None:
    stranger, board = client(**SIGN_IN), shared_board(server)[0]
    answers = [
        stranger.get(f"/api/v1/{path.format(named)}", headers=headers)
        for path, there in (
            ("runs/{}", done.id),
            ("runs/{}/exports/csv", done.id),
            ("leaderboards/{}", board),
        )
        for named in (there, "guessed", "a" * 500, "%00")
        for headers in ({}, bearer("guessed"), bearer(""), {"Authorization": "Basic eDp5"})
    ]
    for answer in answers:
        problem(answer, HTTPStatus.UNAUTHORIZED)
        assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert len({answer.text for answer in answers}) == 1


def test_a_token_opens_its_own_run_without_names(client: MakeClient, server: Server, done: RunRecord) -> None:
    stranger = client(**SIGN_IN)
    token = server.links.create(done.id, created_by=ANN.id)
    other = server.runs.add(make_result(), title="Another", owner=ANN.id)
    answer = stranger.get(f"/api/v1/runs/{done.id}", headers=bearer(token))
    assert answer.status_code == 200
    assert "4711" not in answer.text
    (caution,) = answer.json()["warnings"]
    assert (caution["code"], caution["numbers"]) == ("too-few-for-p", {})
    assert caution["text"] == str(Caution.TOO_FEW_FOR_P())
    assert answer.json()["data"]["files"] == []
    assert stranger.get(f"/api/v1/runs/{done.id}/exports/csv", headers=bearer(token)).status_code == 200
    foreign = problem(stranger.get(f"/api/v1/runs/{other.id}", headers=bearer(token)), HTTPStatus.NOT_FOUND)
    unknown = problem(stranger.get("/api/v1/runs/guessed", headers=bearer(token)), HTTPStatus.NOT_FOUND)
    assert foreign == unknown
    assert server.links.of_run(done.id)[0].uses == 1, "one visit"


@pytest.mark.parametrize("user", [ANN, VIEWER])
def test_whoever_has_signed_in_sees_runs_of_models_and_leaderboards(
    client: MakeClient, server: Server, user: User, about_models: RunRecord
) -> None:
    visitor = client(**SIGN_IN, user=user)
    answer = visitor.get(f"/api/v1/runs/{about_models.id}")
    assert answer.status_code == 200
    assert "no-store" in answer.headers["Cache-Control"]
    assert answer.json() == telling().to_dict()
    table = visitor.get(f"/api/v1/runs/{about_models.id}/exports/csv")
    assert table.text == sides_csv(telling())
    board, _ = shared_board(server)
    answer = visitor.get(f"/api/v1/leaderboards/{board}")
    assert "no-store" in answer.headers["Cache-Control"]
    assert answer.json() == BOARD
    problem(visitor.get("/api/v1/leaderboards/unknown"), HTTPStatus.NOT_FOUND)


def test_a_token_opens_its_own_run_of_models_without_names(client, server, about_models: RunRecord) -> None:
    stranger = client(**SIGN_IN)
    token = server.links.create(about_models.id, created_by=ANN.id)
    for path in ("", "/exports/csv", "/exports/html"):
        answer = stranger.get(f"/api/v1/runs/{about_models.id}{path}", headers=bearer(token))
        assert answer.status_code == 200
        assert "4711" not in answer.text
        assert ANN.id not in answer.text
    assert (
        stranger.get(f"/api/v1/runs/{about_models.id}", headers=bearer(token)).json()["format"]
        == "grasp-models"
    )


def test_a_token_opens_its_own_leaderboard(client: MakeClient, server: Server) -> None:
    stranger = client(**SIGN_IN)
    other, _ = shared_board(server)
    board, token = shared_board(server)
    answer = stranger.get(f"/api/v1/leaderboards/{board}", headers=bearer(token))
    assert answer.status_code == 200
    assert answer.json()["format"] == "grasp-leaderboard"
    assert ANN.id not in answer.text
    foreign = stranger.get(f"/api/v1/leaderboards/{other}", headers=bearer(token))
    unknown = stranger.get("/api/v1/leaderboards/guessed", headers=bearer(token))
    assert problem(foreign, HTTPStatus.NOT_FOUND) == problem(unknown, HTTPStatus.NOT_FOUND)
    assert next(link for link in server.links.of_leaderboards() if link.id == board).uses == 1
    server.links.revoke(board)
    late, expired = shared_board(server, days=-1)
    for link_id, closed in ((board, token), (late, expired)):
        answer = stranger.get(f"/api/v1/leaderboards/{link_id}", headers=bearer(closed))
        problem(answer, HTTPStatus.UNAUTHORIZED)


def test_a_token_of_one_kind_opens_nothing_of_the_other(client, server, done: RunRecord) -> None:
    """Not even where a run and a link have the same id."""
    stranger = client(**SIGN_IN)
    _, of_board = shared_board(server)
    change(server.database, links, id=done.id)
    of_run = server.links.create(done.id, created_by=ANN.id)
    for path, token in (
        (f"/api/v1/runs/{done.id}", of_board),
        (f"/api/v1/runs/{done.id}/exports/csv", of_board),
        (f"/api/v1/leaderboards/{done.id}", of_run),
    ):
        problem(stranger.get(path, headers=bearer(token)), HTTPStatus.NOT_FOUND)
    assert stranger.get(f"/api/v1/runs/{done.id}", headers=bearer(of_run)).json()["format"] == "grasp-run"
    shown = stranger.get(f"/api/v1/leaderboards/{done.id}", headers=bearer(of_board)).json()
    assert shown["format"] == "grasp-leaderboard"


@pytest.mark.parametrize("settings", [{}, SIGN_IN], ids=["without sign-in", "with sign-in"])
def test_what_does_not_hold_opens_nothing(client, server, done: RunRecord, settings: dict[str, str]) -> None:
    """Not even at the server's own machine, where who brings nothing may do everything."""
    visitor = client(**settings)
    revoked = server.links.create(done.id, created_by=ANN.id)
    server.links.revoke(server.links.of_run(done.id)[0].id)
    expired = server.links.create(done.id, created_by=ANN.id, days=-1)
    locked = server.links.create(done.id, created_by=ANN.id, password="the right one")
    brought = [
        *({"Authorization": said} for said in ("Bearer", "Bearer ", "Basic", "Basic YTpi", "Token x", "")),
        *(bearer(token) for token in ("unknown", revoked, expired, f"{PREFIX}unknown", locked)),
        {**bearer(locked), "Link-Password": "a wrong one"},
    ]
    run = f"/api/v1/runs/{done.id}"
    for headers in brought:
        below = (f"{run}/{name}" for name in ("status", "exports/csv", "events", "links"))
        for path in (run, *below, "/api/v1/runs"):
            assert visitor.get(path, headers=headers).status_code == HTTPStatus.UNAUTHORIZED, (path, headers)
        assert visitor.get("/api/v1/webhooks/key", headers=headers).status_code == HTTPStatus.UNAUTHORIZED
        assert visitor.delete(run, headers=headers).status_code == HTTPStatus.UNAUTHORIZED
    right = {**bearer(locked), "Link-Password": "the right one"}
    assert visitor.get(run, headers=right).json()["format"] == "grasp-run"
    assert visitor.get(f"{run}/links", headers=right).status_code == HTTPStatus.UNAUTHORIZED
    assert visitor.delete(run, headers=right).status_code == HTTPStatus.UNAUTHORIZED
    assert server.runs.get(done.id) is not None


def test_a_wrong_token_takes_one_indexed_query(client: MakeClient, server: Server, done: RunRecord) -> None:
    stranger = client(**SIGN_IN)
    asked: list[tuple[str, object]] = []

    def listen(_connection: object, _cursor: object, statement: str, parameters: object, *_: object) -> None:
        asked.append((statement, parameters))

    sa.event.listen(server.database, "before_cursor_execute", listen)
    stranger.get(f"/api/v1/runs/{done.id}", headers=bearer("wrong"))
    sa.event.remove(server.database, "before_cursor_execute", listen)
    selects = [
        (text, values)
        for text, values in asked
        if "FROM links" in text  # others note the refusal
    ]
    assert len(selects) == 1
    with server.database.connect() as connection:
        plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {selects[0][0]}", selects[0][1]).all()
    assert "USING INDEX" in plan[0].detail
    assert "token_sha256=?" in plan[0].detail
    assert not [row.detail for row in plan if row.detail.startswith("SCAN")]


def test_why_a_run_failed_is_not_for_strangers(client: MakeClient, server: Server) -> None:
    visitor = client(**SIGN_IN)
    run = failed(server)
    token = server.links.create(run.id, created_by=ANN.id)
    theirs = visitor.get(f"/api/v1/runs/{run.id}", headers=bearer(token)).json()
    ours = visitor.get(f"/api/v1/runs/{run.id}", headers={"X-Test-User": ANN.id}).json()
    assert theirs["error"] is None
    assert ours["error"] == "column secret_name is odd"
    assert ours["state"] == theirs["state"] == "failed"
    assert set(ours["permutations"]) == {"done", "total"}
    answer = visitor.get(f"/api/v1/runs/{run.id}/exports/csv", headers=bearer(token))
    assert problem(answer, HTTPStatus.CONFLICT) == "The run is failed; it has no result."


def test_a_run_that_goes_on_tells_what_is_found_so_far(client: MakeClient, server: Server) -> None:
    result = make_result()
    run = going_run(server, result)
    token, visitor = server.links.create(run.id, created_by=ANN.id), client(**SIGN_IN)
    theirs, ours = bearer(token), {"X-Test-User": ANN.id}
    assert visitor.get(f"/api/v1/runs/{run.id}", headers=ours).json()["provisional"] is None
    server.runs.keep(run, 500, (), None, so_far(result, 500))
    found = visitor.get(f"/api/v1/runs/{run.id}", headers=ours).json()
    assert (found["state"], found["permutations"]["done"]) == ("running", 500)
    assert found["provisional"] == so_far(result, 500).to_dict()
    assert found["provisional"]["permutations_done"] == 500
    public = visitor.get(f"/api/v1/runs/{run.id}", headers=theirs).json()["provisional"]
    assert public["groups"] == found["provisional"]["groups"]
    assert public["data"]["files"] == []
    assert visitor.get(f"/api/v1/runs/{run.id}/exports/csv", headers=ours).status_code == HTTPStatus.CONFLICT
    server.runs.finish(run, "done", result=result)
    assert "permutations_done" not in visitor.get(f"/api/v1/runs/{run.id}", headers=ours).json()


def test_unknown_addresses_are_problems(client: MakeClient) -> None:
    visitor = client()
    for path in (
        "/", "/nothing", "/v1/nothing", "/v1/runs/", "/v1/runs/a/b/c", "/v1/runs/a%2Fb",
        "/v1/runs/..%2f..%2fetc%2fpasswd/x", "/v1/leaderboards", "/v1/leaderboards/a/b",
        "/documents/a", "/runs", "/v2/runs/a",
    ):  # fmt: skip
        problem(visitor.get(f"/api{path}"), HTTPStatus.NOT_FOUND)


def test_odd_ids_find_nothing(ann: TestClient) -> None:
    for run_id in ("..", "%2e%2e", "..%5c..", "~root", "a;b", "'--", "%F0%9F%A6%96", "%ff"):
        problem(ann.get(f"/api/v1/runs/{run_id}/exports/csv"), HTTPStatus.NOT_FOUND)


def test_addresses_of_before_there_were_versions_lead_on(client: MakeClient) -> None:
    moved = {"runs/a/table.csv": "runs/a/exports/csv"}
    for base in ("", "/grasp"):
        visitor = client(base)
        for old in ("runs/a", "runs/a%3Fb", "runs/a/table.csv", "leaderboards/a"):
            answer = visitor.get(f"{base}/api/{old}")
            assert answer.status_code == HTTPStatus.PERMANENT_REDIRECT
            assert answer.headers["Location"] == f"{base}/api/v1/{moved.get(old, old)}"


def test_our_own_faults_are_problems_and_leave_no_data_in_the_log(
    client: MakeClient,
    server: Server,
    done: RunRecord,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(*_: object) -> None:
        raise KeyError("rater 4711 said Yes")

    monkeypatch.setattr(server.runs, "get", fail)
    with caplog.at_level(logging.ERROR):
        answer = client().get(f"/api/v1/runs/{done.id}", headers={"X-Test-User": ANN.id})
    assert "4711" not in problem(answer, HTTPStatus.INTERNAL_SERVER_ERROR)
    assert "KeyError" in caplog.text
    assert "4711" not in caplog.text
    assert "Content-Security-Policy" in answer.headers


def test_a_run_deleted_meanwhile_is_not_found(client, server, done: RunRecord, monkeypatch) -> None:
    def gone(run_id: str) -> None:
        raise MissingResultError(run_id)

    monkeypatch.setattr(server.service, "result", gone)
    answer = client().get(f"/api/v1/runs/{done.id}", headers={"X-Test-User": ANN.id})
    problem(answer, HTTPStatus.NOT_FOUND)


def test_under_a_path(client: MakeClient) -> None:
    visitor = client("/grasp")
    assert visitor.get("/grasp/api/health").status_code == 200
    problem(visitor.get("/grasp/api/nothing"), HTTPStatus.NOT_FOUND)
    assert visitor.get("/api/health").status_code == 404
