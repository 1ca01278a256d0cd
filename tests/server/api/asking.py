"""What tests of the API ask with, and hold answers against."""

import hashlib
import time
from http import HTTPStatus
from typing import Any

from fastapi.testclient import TestClient
from httpx import Response

from grasp_core.model.example import example_spec
from grasp_core.server.api.forms import Problem
from grasp_core.server.problem import WHAT
from grasp_core.server.server import Server
from grasp_core.store.runs import RunRecord
from tests.few_items import few_items
from tests.results import make_result
from tests.server.conftest import ANN
from tests.stored import going_run

SMALL = {"permutations": 200, "pairs": False}


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def problem(answer: Response, status: HTTPStatus) -> str:
    """The sentence of a problem document (RFC 9457) of the right shape."""
    assert answer.status_code == status
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.headers["Cache-Control"] == "no-store"
    body = answer.json()
    assert {"type", "title", "status", "code", "detail"} <= set(body) <= {*Problem.model_fields}
    assert (body["title"], body["status"]) == (status.phrase, int(status))
    assert body["type"].endswith(f"/api/v1/problems/{body['code']}")
    assert body["code"] in WHAT
    return str(body["detail"])


def failed(server: Server) -> RunRecord:
    """A run that ended with an error."""
    run = going_run(server, make_result(), "Fails", ANN.id)
    server.runs.finish(run, "failed", error="column secret_name is odd")
    return run


def sent(visitor: TestClient, content: bytes | str) -> dict[str, Any]:
    """How a request names annotations that were just uploaded."""
    told = visitor.post("/api/v1/files", params={"name": "v.csv"}, content=content).json()
    return {"annotations": {"sha256": told["sha256"], "name": "v.csv"}}


def upload(visitor: TestClient) -> dict[str, Any]:
    """The example's files, with few items."""
    found = {}
    for name, content in few_items().items():
        answer = visitor.post("/api/v1/files", params={"name": name}, content=content)
        assert answer.status_code == HTTPStatus.CREATED, answer.text
        told = answer.json()
        assert told["sha256"] == hashlib.sha256(content).hexdigest()
        assert told["bytes"] == len(content)
        found[name.partition(".")[0]] = {"sha256": told["sha256"], "name": name}
    return found


def spec(**analysis: Any) -> dict[str, Any]:
    """The example's spec, for few permutations."""
    plain = example_spec().to_dict()
    return {"data": plain["data"], "analysis": {"axes": [["rater_gender"]], **SMALL, **analysis}}


def refused(answer: Response) -> dict[str, Any]:
    """The problem document of a request that cannot be done as it stands."""
    assert answer.status_code == HTTPStatus.UNPROCESSABLE_ENTITY, answer.text
    assert answer.headers["Content-Type"] == "application/problem+json"
    found: dict[str, Any] = answer.json()
    return found


def token_of(server: Server, mail: str, scope: Any) -> str:
    """A token of a person who has signed in."""
    claims = {"iss": "https://id.example", "sub": mail, "email": mail, "email_verified": True}
    return server.tokens.create(owner=server.accounts.sign_in(claims).id, name="n", scope=scope, days=1)


def make_token(server: Server, owner: str = ANN.id, scope: str = "run") -> str:
    """A token of the person of an id."""
    return server.tokens.create(owner=owner, name="a script", scope=scope, days=1)  # type: ignore[arg-type]


def ended(visitor: TestClient, answer: Any) -> dict[str, Any]:
    """Work that was begun, once it has ended."""
    assert answer.status_code == HTTPStatus.ACCEPTED, answer.text
    assert int(answer.headers["Retry-After"]) > 0
    for _ in range(1200):
        told: dict[str, Any] = visitor.get(f"/api/v1/work/{answer.json()['id']}").json()
        if told["state"] != "running":
            return told
        time.sleep(0.1)
    raise AssertionError("it takes too long")
