"""Requests that read large files: answered at once, and followed until their answer is there."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel, RootModel
from starlette.responses import JSONResponse, Response

from grasp_core.engine.background import Making, Makings
from grasp_core.model.access import User
from grasp_core.model.errors import GraspError, RunCancelledError
from grasp_core.server.api._admission import Asking, Caller
from grasp_core.server.api._answers import PRIVATE, WORK_SECONDS, Done
from grasp_core.server.api._reading import Bringing, Told
from grasp_core.server.api.forms import Checked, Problem, StartedRun, Work
from grasp_core.server.api.runs import missing
from grasp_core.server.problem import ProblemError, again_after, problem_of

router = APIRouter(tags=["Runs"])


class Found(RootModel[dict[str, object]]):
    """JSON that docs/file-formats.md describes."""


@dataclass(eq=False, slots=True)
class UnderWay:
    """Work of one request: what is done just now, and how it ended."""

    doing: str = "Waiting for others' work"
    began: float = field(default_factory=time.monotonic)
    seconds: float | None = None
    answer: BaseModel | None = None
    problem: ProblemError | None = None


def at_once_or_later(bringing: Bringing, work: Callable[[Told], Done], *, slow: bool = False) -> Done:
    """What work returns; of slow one, large files, or those that are fetched first, that it was begun."""
    if not (slow or bringing.takes_long):
        return work(lambda words: None)
    return later(bringing.asking, bringing.user, work)


def later(
    asking: Caller, user: User, work: Callable[[Told], Done], beside: Makings[UnderWay] | None = None
) -> Done:
    """Have work done beside the request, by default among files that are read; returns how it is followed."""
    named, asked = secrets.token_urlsafe(15), UnderWay()

    def make(making: Making[UnderWay]) -> UnderWay:
        def told(words: str) -> None:
            making.check()
            asked.doing = words

        try:
            asked.answer = work(told)[1]
        except RunCancelledError:
            raise
        except (GraspError, ProblemError) as error:
            asked.problem = problem_of(error)
        finally:
            asked.seconds = time.monotonic() - asked.began
        return asked

    making = (beside or asking.server.works).begin(f"{user.id} {named}", make, owner=user.id)
    making.tell(asked)
    return HTTPStatus.ACCEPTED, _told(asking, named, making)


@router.get("/work/{work_id}", response_model=Work)
def read_work(work_id: str, asking: Asking) -> Response:
    """How far it is with files that are read for a request of yours, and then what came of it.

    The server that reads them alone knows of it, until it ends.
    """
    told = _told(asking, work_id, _own(asking, work_id))
    again = again_after(WORK_SECONDS) if told.state == "running" else {}
    return JSONResponse(told.model_dump(mode="json"), headers={**PRIVATE, **again})


@router.delete("/work/{work_id}", status_code=HTTPStatus.NO_CONTENT)
def stop_work(work_id: str, asking: Asking) -> None:
    """Stop it; a run that was started goes on."""
    _own(asking, work_id).cancelled = True


def _own(asking: Caller, work_id: str) -> Making[UnderWay]:
    key, server = f"{asking.person.id} {work_id}", asking.server
    found: Making[UnderWay] | None = server.works.find(key) or server.questions.find(key)
    if found is None or found.cancelled:
        raise missing("work")
    return found


def _told(asking: Caller, work_id: str, making: Making[UnderWay]) -> Work:
    """The form of work under way."""
    asked = making.found or UnderWay()
    seconds = time.monotonic() - asked.began if asked.seconds is None else asked.seconds
    problem = asked.problem
    if problem is None and making.error is not None:
        problem = ProblemError(HTTPStatus.INTERNAL_SERVER_ERROR, making.error)
    state: Literal["running", "done", "failed"] = (
        "failed" if problem is not None else "running" if asked.answer is None else "done"
    )
    return Work(
        id=work_id,
        state=state,
        doing=asked.doing if state == "running" else "",
        seconds=round(seconds, 1),
        run=asked.answer if isinstance(asked.answer, StartedRun) else None,
        checked=asked.answer if isinstance(asked.answer, Checked) else None,
        report=asked.answer.root if isinstance(asked.answer, Found) else None,
        problem=None if problem is None else Problem(**problem.document(asking.server.settings.base_path)),
    )
