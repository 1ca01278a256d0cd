"""Answers that are given once: an ETag says that one is known, an Idempotency-Key that a request is done."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import Header
from pydantic import BaseModel
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from grasp_core.server.api._admission import Caller
from grasp_core.server.problem import again_after
from grasp_core.store.calls import Outcome

PRIVATE = {"Cache-Control": "private, no-store"}
NOT_AGAIN: dict[int | str, dict[str, Any]] = {
    304: {"description": "It is the one whose ETag was sent as If-None-Match"}
}
"""What the schema says of answers with an ETag."""
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


class Tagged(Response):
    """A response whose ETag is the hash of its content; to whoever has that, it says that nothing changed."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.headers["ETag"] = f'"{hashlib.sha256(self.body).hexdigest()[:32]}"'

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it, or that it has not changed."""
        asked = Headers(scope=scope).get("If-None-Match", "")
        known = {one.strip().removeprefix("W/") for one in asked.split(",")}
        if known & {"*", self.headers["ETag"]}:
            kept = {name: self.headers[name] for name in ("ETag", "Cache-Control") if name in self.headers}
            await Response(None, HTTPStatus.NOT_MODIFIED, kept)(scope, receive, send)
        else:
            await super().__call__(scope, receive, send)


class TaggedJson(Tagged, JSONResponse):
    """JSON with an ETag."""


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
    outcomes, name = asking.server.outcomes, f"{asking.person.id}\n{action}\n{key}"
    known = None if key is None else outcomes.begin(name, asked, owner=asking.person.id)
    found = known
    if found is None:
        try:
            status, answer = do()
        except BaseException:
            if key is not None:
                outcomes.forget(name)
            raise
        found = Outcome(int(status), answer.model_dump_json())
        if key is not None:
            outcomes.end(name, Outcome(int(status), answer.model_copy(update=kept).model_dump_json()))
    headers = dict(PRIVATE)
    if found.status == HTTPStatus.ACCEPTED:
        where = f"{asking.server.settings.base_path}/api/v1{place}/{json.loads(found.body)['id']}"
        headers |= {**again_after(WORK_SECONDS), "Location": where}
    if known is not None:
        headers["Idempotency-Replayed"] = "true"
    return Response(found.body, found.status, headers, "application/json")
