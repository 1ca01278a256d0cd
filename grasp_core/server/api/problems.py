"""Whatever goes wrong in the API, as problem documents."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from grasp_core.model.errors import (
    AccessError,
    DataError,
    GraspError,
    LimitError,
    Problem,
    SpecError,
    StoreError,
    TooOftenError,
)
from grasp_core.server.problem import WHAT, ProblemError, again_after, base_path, store_away, too_often

log = logging.getLogger(__name__)

_STATUS: Mapping[type[GraspError], HTTPStatus] = {
    AccessError: HTTPStatus.FORBIDDEN,
    LimitError: HTTPStatus.CONFLICT,
}


def answer_fault(request: Request, error: Exception) -> Response:
    """The problem document of an exception; handlers of all the API's applications."""
    return problem_of(error).response(base_path(request.scope))


def problem_of(error: Exception) -> ProblemError:
    """What went wrong, as it is told."""
    if isinstance(error, ProblemError):
        return error
    if isinstance(error, HTTPException):
        status = HTTPStatus(error.status_code)
        return ProblemError(status, f"{status.description or status.phrase}.", error.headers)
    if isinstance(error, RequestValidationError):
        return _unreadable(error)
    if isinstance(error, TooOftenError):
        return too_often(error)
    if isinstance(error, StoreError):
        return store_away(_sentence(str(error)))
    if isinstance(error, GraspError):
        return refusal(error)
    places = " < ".join(f"{frame.name}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__))
    log.error("unexpected %s at %s", type(error).__name__, places)  # the message could quote data
    return ProblemError(
        HTTPStatus.INTERNAL_SERVER_ERROR, "Something went wrong in GRASP itself; its log has the details."
    )


def refusal(error: GraspError) -> ProblemError:
    """What a person can mend, with the sentences and codes that pages and files give."""
    status = next(
        (status for kind, status in _STATUS.items() if isinstance(error, kind)),
        HTTPStatus.UNPROCESSABLE_ENTITY,
    )
    found = [listed(one) for one in error.problems] if isinstance(error, DataError) else []
    if isinstance(error, SpecError):
        found = [{"code": error.code, "text": text} for text in error.sentences]
    kind = next(code for one in type(error).__mro__ if (code := getattr(one, "code", "")) in WHAT)
    again = again_after(error.seconds) if isinstance(error, LimitError) and error.seconds else None
    return ProblemError(
        status, _sentence(str(error)), again, {"problems": found} if found else None, code=kind
    )


def listed(problem: Problem) -> dict[str, Any]:
    """One of several problems."""
    return {
        "code": problem.remark.code.key,
        "text": problem.message,
        "count": problem.count,
        "examples": list(problem.further_examples),
        "field": problem.field,
    }


def _unreadable(error: RequestValidationError) -> ProblemError:
    """What the request has in the wrong place or form; values are not quoted, for they may be secrets."""
    found = [
        {"code": one["type"], "text": one["msg"], "place": ".".join(map(str, one["loc"]))}
        for one in error.errors()
    ]
    first = found[0] if found else {"text": "unreadable", "place": "the request"}
    broken = any(one["code"] == "json_invalid" for one in found)
    return ProblemError(
        HTTPStatus.BAD_REQUEST if broken else HTTPStatus.UNPROCESSABLE_ENTITY,
        _sentence(f"{first['place']}: {first['text']}"),
        more={"problems": found},
    )


def _sentence(text: str) -> str:
    return text if text.endswith((".", "?", "!")) else f"{text}."
