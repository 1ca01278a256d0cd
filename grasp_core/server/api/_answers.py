"""Answers: once per key, with an ETag, or later, for requests that read large files."""

import hashlib
import json
import secrets
import time
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Header
from pydantic import BaseModel, RootModel
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from grasp_core.engine.service import PendingAnswer, PendingAnswers
from grasp_core.model.access import User
from grasp_core.model.errors import GraspError, RunCancelledError
from grasp_core.server.api._admission import Asking, Caller
from grasp_core.server.api.forms import Checked, Problem, StartedRun, Submission, Work
from grasp_core.server.problem import ProblemError, again_after, missing, problem_of
from grasp_core.store.api_calls import CallOutcome

PRIVATE = {"Cache-Control": "private, no-store"}
NOT_AGAIN: dict[int | str, dict[str, Any]] = {
    304: {"description": "It is the one whose ETag was sent as If-None-Match"}
}
"""Part of the schema for answers with an ETag."""
IdempotencyKey = Annotated[
    str | None,
    Header(
        min_length=1,
        max_length=200,
        pattern=r"^[\x21-\x7e]+$",
        description="Any text: a repeated request with the same key is carried out once in 24 hours.",
    ),
]
WORK_SECONDS = 2
"""Seconds after which to ask again for work that was begun."""
Done = tuple[HTTPStatus, BaseModel]
ShowStep = Callable[[str], None]


class Tagged(Response):
    """A response whose ETag is the hash of its content; a client that sends it gets 304, not modified."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.headers["ETag"] = f'"{hashlib.sha256(self.body).hexdigest()[:32]}"'

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response, or 304 if the client has it."""
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
    """Do what a request asks; if the same request was answered before, return that answer again.

    `action`: POST and the address, below which a new object is found by its id.
    `key`: the request's Idempotency-Key; without one, the request is always done.
    `do`: returns the status and the answer; an exception is not kept, as nothing was changed.
    `kept`: values that are kept in place of the answer's own, such as null for a secret.
    `place`: address below which begun work is found by its id.
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
        found = CallOutcome(int(status), answer.model_dump_json())
        if key is not None:
            outcomes.end(name, CallOutcome(int(status), answer.model_copy(update=kept).model_dump_json()))
    headers, begun = dict(PRIVATE), found.status == HTTPStatus.ACCEPTED
    if begun or found.status == HTTPStatus.CREATED:
        below = place if begun else action.removeprefix("POST ")
        where = f"{asking.server.settings.base_path}/api/v1{below}/{json.loads(found.body)['id']}"
        headers |= {"Location": where, **(again_after(WORK_SECONDS) if begun else {})}
    if known is not None:
        headers["Idempotency-Replayed"] = "true"
    return Response(found.body, found.status, headers, "application/json")


router = APIRouter(tags=["Runs"])


class JsonObject(RootModel[dict[str, object]]):
    """JSON that docs/file-formats.md describes."""


def later(
    asking: Caller, user: User, work: Callable[[ShowStep], Done], beside: PendingAnswers[Any] | None = None
) -> Done:
    """Start work in the background, by default as reading of files; return the state of the work."""
    named = secrets.token_urlsafe(15)

    def make(making: PendingAnswer[BaseModel | ProblemError]) -> BaseModel | ProblemError:
        def told(words: str) -> None:
            making.check()
            making.doing = words

        try:
            return work(told)[1]
        except RunCancelledError:
            raise
        except (GraspError, ProblemError) as error:
            return problem_of(error)

    making = (beside or asking.server.works).begin(f"{user.id} {named}", make, owner=user.id)
    return HTTPStatus.ACCEPTED, _work_form(asking, named, making)


@router.get("/work/{work_id}", response_model=Work)
def read_work(work_id: str, asking: Asking) -> Response:
    """Return the progress of work that a request of yours began, and then its outcome.

    Only the server that does the work knows of it, and only as long as that server runs.
    """
    told = _work_form(asking, work_id, _own(asking, work_id))
    again = again_after(WORK_SECONDS) if told.state == "running" else {}
    return JSONResponse(told.model_dump(mode="json"), headers={**PRIVATE, **again})


@router.delete("/work/{work_id}", status_code=HTTPStatus.NO_CONTENT)
def stop_work(work_id: str, asking: Asking) -> None:
    """Stop the work; a run that it has started continues."""
    _own(asking, work_id).cancelled = True


def _own(asking: Caller, work_id: str) -> PendingAnswer[Any]:
    key, server = f"{asking.person.id} {work_id}", asking.server
    found = server.works.find(key) or server.questions.find(key)
    if found is None or found.cancelled:
        raise missing("work")
    return found


def _work_form(asking: Caller, work_id: str, making: PendingAnswer[Any]) -> Work:
    """Return the state of work as a form."""
    found, seconds = making.found, time.monotonic() - making.began if making.took is None else making.took
    problem = found if isinstance(found, ProblemError) else None
    if making.error is not None:
        problem = ProblemError("fault", making.error)
    goes_on = problem is None and found is None
    return Work(
        id=work_id,
        state="failed" if problem is not None else "running" if goes_on else "done",
        doing=making.doing if goes_on else "",
        seconds=round(seconds, 1),
        run=found if isinstance(found, StartedRun) else None,
        checked=found if isinstance(found, Checked) else None,
        report=found.root if isinstance(found, JsonObject) else None,
        submission=found if isinstance(found, Submission) else None,
        problem=None if problem is None else Problem(**problem.document(asking.server.settings.base_path)),
    )
