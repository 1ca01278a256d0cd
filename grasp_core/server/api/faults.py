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
    StoreError,
    TooOftenError,
)
from grasp_core.server.problem import ProblemError, too_often

log = logging.getLogger(__name__)

_STATUS: Mapping[type[GraspError], HTTPStatus] = {
    AccessError: HTTPStatus.FORBIDDEN,
    LimitError: HTTPStatus.CONFLICT,
    StoreError: HTTPStatus.SERVICE_UNAVAILABLE,
}


def answer_fault(_: Request, error: Exception) -> Response:
    """The problem document of an exception; handlers of all the API's applications."""
    return _problem(error).response()


def _problem(error: Exception) -> ProblemError:
    if isinstance(error, ProblemError):
        return error
    if isinstance(error, HTTPException):
        status = HTTPStatus(error.status_code)
        return ProblemError(status, f"{status.description or status.phrase}.", error.headers)
    if isinstance(error, RequestValidationError):
        return _unreadable(error)
    if isinstance(error, TooOftenError):
        return too_often(error)
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
    found = [_listed(one) for one in error.problems] if isinstance(error, DataError) else []
    return ProblemError(status, _sentence(str(error)), more={"problems": found} if found else None)


def _listed(problem: Problem) -> dict[str, Any]:
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
    return ProblemError(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        _sentence(f"{first['place']}: {first['text']}"),
        more={"problems": found},
    )


def _sentence(text: str) -> str:
    return text if text.endswith((".", "?", "!")) else f"{text}."
