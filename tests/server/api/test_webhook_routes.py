"""Webhooks through the API: allowed addresses alone, a key of one's own."""

from http import HTTPStatus
from typing import Any

import pytest
from fastapi.testclient import TestClient

from grasp_core.server.server import Server
from grasp_core.store.schema import webhooks
from tests.server.api.asking import bearer, problem, refused, spec, upload
from tests.server.conftest import ANN, SIGN_IN, MakeClient


@pytest.fixture
def given() -> dict[str, Any]:
    secret = "a random text of 32 characters or more"
    return {"webhook_urls": ("https://hooks.example/grasp/",), "webhook_secret": secret}


def test_a_run_is_asked_for_with_an_address_that_is_told(ann: TestClient, server: Server) -> None:
    files = upload(ann)

    def ask(address: str) -> object:
        body = {"spec": spec(), "files": files, "webhook": address}
        return ann.post("/api/v1/runs", json=body)

    wrong = refused(ask("https://evil.example/"))  # type: ignore[arg-type]
    assert "https://hooks.example/grasp" in wrong["detail"]
    assert server.runs.search() == []
    assert ask("https://hooks.example/grasp/me").status_code == HTTPStatus.CREATED  # type: ignore[attr-defined]
    with server.database.connect() as connection:
        (row,) = connection.execute(webhooks.select()).all()
    assert (row.url, row.owner) == ("https://hooks.example/grasp/me", ANN.id)
    assert row.run_id == server.runs.search()[0].id


def test_everybody_has_a_key_of_their_own(ann: TestClient, client: MakeClient, server: Server) -> None:
    (key,) = server.webhooks.keys(ANN.id)
    assert ann.get("/api/v1/webhooks/key").json() == {"key": key, "previous": None}
    rolled = ann.post("/api/v1/webhooks/key").json()
    assert rolled["previous"] == key
    assert ann.get("/api/v1/webhooks/key").json() == rolled
    for scope, status in (("read", HTTPStatus.FORBIDDEN), ("run", HTTPStatus.OK)):
        token = server.tokens.create(owner="", name="n", scope=scope, days=1)
        asked = client().get("/api/v1/webhooks/key", headers=bearer(token))
        assert asked.status_code == status
    stranger = client(**SIGN_IN)
    problem(stranger.get("/api/v1/webhooks/key"), HTTPStatus.UNAUTHORIZED)
