"""Everything that the schema allows, and what it does not, asked of a real store: nothing ends in a 500."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from starlette.applications import Starlette

from grasp_core.engine.service import id_of
from grasp_core.server.api.app import mount
from grasp_core.server.gate import UploadLedger
from grasp_core.server.server import Server
from grasp_core.store.runs import RunRecord
from tests.conftest import PATIENCE_MS
from tests.made_up import BOARD
from tests.results import make_result
from tests.server.api.asking import bearer, make_token
from tests.server.conftest import ANN

_server: list[Server] = []
APP = Starlette(routes=[mount(lambda: _server[0], lambda _: None, UploadLedger(dict, 2**20))])


@pytest.fixture
def asked(server: Server, signing_in: None) -> Iterator[Any]:
    """The API's schema, and the server that is asked."""
    for rate in ("api_rate", "api_change_rate"):
        object.__setattr__(server.settings, rate, "100000000/second")
    _server.append(server)
    import schemathesis  # which takes seconds to load, in each process that collects tests

    yield schemathesis.openapi.from_asgi("/api/v1/openapi.json", APP)
    _server.clear()


def test_nothing_that_may_be_asked_breaks_the_server(asked: Any, server: Server, done: RunRecord) -> None:
    """Valid and invalid requests to every address; where an id is asked for, often one that is there."""
    from schemathesis import GenerationMode
    from schemathesis.checks import CHECKS, load_all_checks

    load_all_checks()
    checks, token = CHECKS.get_all(), bearer(make_token(server))
    server.links.create_leaderboard(BOARD, created_by=ANN.id)
    known = {"link_id": server.links.of_leaderboards()[0].id}
    known["watch_id"] = server.watches.add(done.id, (), owner=ANN.id, title="A", every="daily").id
    known["items_id"] = id_of(make_result().groups[0].group, 0)
    server.answers.keep(done.id, f"items {known['items_id']}", {"format": "grasp-items"})
    operations = [found.ok() for found in asked.get_all_operations()]
    assert len(operations) > 12
    for operation in operations:

        @given(
            case=st.one_of(
                operation.as_strategy(), operation.as_strategy(generation_mode=GenerationMode.NEGATIVE)
            ),
            there=st.booleans(),
        )
        @settings(
            max_examples=settings().max_examples // 4,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        def ask(case: Any, there: bool) -> None:
            # A line's end in a path leads to no address at all: Starlette's own answer.
            assume(not any("\n" in unquote(str(value)) for value in (case.path_parameters or {}).values()))
            if there and case.path_parameters:
                if server.runs.get(known.get("run_id", "")) is None:
                    known["run_id"] = server.runs.add(make_result(), title="Another", owner=ANN.id).id
                case.path_parameters = {**case.path_parameters, **_of(case.path_parameters, known)}
            # The fields of a spec, what goes with a plan, and where the server's settings let webhooks lead:
            # JSON Schema cannot say any of it.
            told = case.body if isinstance(case.body, dict) else {}
            free = (
                told.get("webhook") is not None or told.get("spec") or case.operation.label == "POST /plans"
            )
            unsaid = CHECKS.get_by_names(["positive_data_acceptance"])
            case.call_and_validate(
                checks=checks,
                headers=token,
                timeout=PATIENCE_MS / 1000,  # the first file of a result starts a process
                excluded_checks=unsaid if free else [],
            )

        ask()


def _of(asked: Any, known: dict[str, str]) -> dict[str, str]:
    return {name: known[name] for name in asked if name in known}
