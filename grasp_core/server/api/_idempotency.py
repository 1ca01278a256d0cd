"""Requests that are done once, however often they come: those with an Idempotency-Key."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Annotated

from fastapi import Header
from pydantic import BaseModel
from starlette.responses import Response

from grasp_core.server.api._admission import Caller
from grasp_core.server.problem import again_after
from grasp_core.store.calls import Outcome

IdempotencyKey = Annotated[
    str | None,
    Header(
        min_length=1,
        max_length=200,
        pattern=r"^[\x21-\x7e]+$",
        description="A text of your own: the same request with the same key is done once in 24 hours.",
    ),
]
WORK_SECONDS = 2
"""When to ask again for what was begun."""
Done = tuple[HTTPStatus, BaseModel]


def once(
    asking: Caller,
    key: str | None,
    action: str,
    asked: str,
    do: Callable[[], Done],
    kept: Mapping[str, None] | None = None,
    place: str = "/work",
) -> Response:
    """Do what is asked, unless the same request was answered before: then answer as then.

    `key`: the request's Idempotency-Key; without one it is always done.
    `action`, `asked`: the address, and what is asked there.
    `do`: returns the status and the answer; what it raises is not kept, for nothing was changed.
    `kept`: values that are kept in place of the answer's own, such as null for a secret.
    `place`: below it, what was begun is found by its id.
    """
    where = f"{asking.server.settings.base_path}/api/v1{place}"
    if key is None:
        return _answer(_outcome(*do()), where)
    outcomes, name = asking.server.outcomes, f"{asking.person.id}\n{action}\n{key}"
    known = outcomes.begin(name, asked, owner=asking.person.id)
    if known is not None:
        return _answer(known, where, again=True)
    try:
        status, answer = do()
    except BaseException:
        outcomes.forget(name)
        raise
    outcomes.end(name, _outcome(status, answer.model_copy(update=kept)))
    return _answer(_outcome(status, answer), where)


def _outcome(status: HTTPStatus, answer: BaseModel) -> Outcome:
    return Outcome(int(status), answer.model_dump_json())


def _answer(outcome: Outcome, where: str, *, again: bool = False) -> Response:
    headers = {"Cache-Control": "private, no-store"}
    if outcome.status == HTTPStatus.ACCEPTED:
        headers |= {**again_after(WORK_SECONDS), "Location": f"{where}/{json.loads(outcome.body)['id']}"}
    if again:
        headers["Idempotency-Replayed"] = "true"
    return Response(outcome.body, outcome.status, headers, "application/json")
