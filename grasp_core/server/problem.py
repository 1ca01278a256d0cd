"""Problem responses (RFC 9457), each with a code that stays and the address of its page."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Scope

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

log = logging.getLogger(__name__)

PAGES = "/api/v1/problems"
"""Below it, the pages of codes."""
STORE_SECONDS = 5
"""When to come again where the store could not be reached."""
WHAT: Mapping[str, str] = {
    "bad-request": (
        "The request itself cannot be read: its JSON is broken, or a parameter is unknown or given "
        "twice. Compare it with the reference."
    ),
    "sign-in": (
        "Nobody is known to have asked, or the token does not work. Send a token that was made on "
        "Account as Authorization: Bearer TOKEN."
    ),
    "forbidden": (
        "The token's scope, or its person's role in the project, does not allow this. Make a token of "
        "a wider scope on Account, or ask an owner of the project."
    ),
    "not-found": (
        "There is no such address, or no such thing for whoever asks. Look into the list that it "
        "should be in."
    ),
    "method-not-allowed": "The address takes other methods; the header Allow lists them.",
    "conflict": (
        "This cannot be done as things stand, such as reading the result of a run that goes on. Where "
        "that passes, Retry-After says when to come again."
    ),
    "too-large": "The body is larger than what is taken, or than the room that its person has left.",
    "unsupported-media-type": (
        "The body is of a kind that is not taken: JSON is sent as application/json, and a file as the "
        "body itself, as application/octet-stream, never as a form."
    ),
    "invalid": (
        "Values of the request are missing, or not what their fields take. `problems` lists each with "
        "its place."
    ),
    "too-often": (
        "Too many requests in too short a time, or too many at once. Retry-After says after how many "
        "seconds to come again."
    ),
    "fault": "An error in GRASP itself. Its log has the details; please report it.",
    "unavailable": (
        "The server cannot do this just now. Retry-After says after how many seconds to come again."
    ),
    "data": (
        "The data cannot be used as they are read. `problems` lists all that has to be mended, with a "
        "code each."
    ),
    "spec": "The run spec cannot be computed. `problems` lists all that is wrong with it.",
    "limit": (
        "As much as one person may have is there or under way already. Wait until some of it has "
        "ended, or delete what is not needed."
    ),
    "access": "Whoever asks may not do this.",
    "store": "The store cannot be reached just now. Retry-After says after how many seconds to come again.",
    "missing-package": "The server lacks a package that this takes; whoever runs it can add it.",
    "missing-result": "The run has no result, or has it no more.",
    "settings": "The server's settings do not allow this; whoever runs it can change them.",
    "error": "The request could not be done; the sentence says why.",
}
"""What each code of a problem means, and what would do; codes of data stand in docs/codes.csv."""
_OF_STATUS: Mapping[HTTPStatus, str] = {
    HTTPStatus.BAD_REQUEST: "bad-request",
    HTTPStatus.UNAUTHORIZED: "sign-in",
    HTTPStatus.FORBIDDEN: "forbidden",
    HTTPStatus.NOT_FOUND: "not-found",
    HTTPStatus.METHOD_NOT_ALLOWED: "method-not-allowed",
    HTTPStatus.CONFLICT: "conflict",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "too-large",
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE: "unsupported-media-type",
    HTTPStatus.UNPROCESSABLE_ENTITY: "invalid",
    HTTPStatus.TOO_MANY_REQUESTS: "too-often",
    HTTPStatus.INTERNAL_SERVER_ERROR: "fault",
    HTTPStatus.SERVICE_UNAVAILABLE: "unavailable",
}


class ProblemError(Exception):
    """A request that cannot be answered; `more` are further members of the document."""

    def __init__(
        self,
        status: HTTPStatus,
        detail: str,
        headers: Mapping[str, str] | None = None,
        more: Mapping[str, Any] | None = None,
        *,
        code: str | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.code = code or _OF_STATUS.get(status, "error")
        self.headers = {"Cache-Control": "no-store", **(headers or {})}
        self.more = more or {}
        if status == HTTPStatus.UNAUTHORIZED:
            self.headers["WWW-Authenticate"] = "Bearer"

    def document(self, base_path: str = "") -> dict[str, Any]:
        """The problem document, JSON-ready."""
        return {
            "type": f"{base_path}{PAGES}/{self.code}",
            "title": self.status.phrase,
            "status": int(self.status),
            "code": self.code,
            "detail": self.detail,
            **self.more,
        }

    def response(self, base_path: str = "") -> JSONResponse:
        """The problem document, of a server whose addresses begin with `base_path`."""
        return JSONResponse(
            self.document(base_path),
            status_code=int(self.status),
            media_type="application/problem+json",
            headers=self.headers,
        )


def base_path(scope: Scope) -> str:
    """With what the server's addresses begin, as a request to the API has come there."""
    mounted: str = scope.get("root_path", "")
    return mounted.removesuffix("/v1").removesuffix("/api")


def missing(kind: str) -> ProblemError:
    """The problem that there is no such thing."""
    return ProblemError(HTTPStatus.NOT_FOUND, f"There is no {kind} of that id.")


def again_after(seconds: int) -> dict[str, str]:
    """The header that says after how many seconds to come again."""
    return {"Retry-After": str(seconds)}


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
    if isinstance(error, RequestValidationError):  # values are not quoted, for they may be secrets
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
    if isinstance(error, TooOftenError):
        return ProblemError(HTTPStatus.TOO_MANY_REQUESTS, str(error), again_after(error.seconds))
    if isinstance(error, StoreError):
        again = again_after(STORE_SECONDS)
        return ProblemError(HTTPStatus.SERVICE_UNAVAILABLE, _sentence(str(error)), again, code="store")
    if isinstance(error, GraspError):
        return _refusal(error)
    places = " < ".join(f"{frame.name}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__))
    log.error("unexpected %s at %s", type(error).__name__, places)  # the message could quote data
    return ProblemError(
        HTTPStatus.INTERNAL_SERVER_ERROR, "Something went wrong in GRASP itself; its log has the details."
    )


def _refusal(error: GraspError) -> ProblemError:
    """What a person can mend, with the sentences and codes that pages and files give."""
    limited = HTTPStatus.CONFLICT if isinstance(error, LimitError) else HTTPStatus.UNPROCESSABLE_ENTITY
    status = HTTPStatus.FORBIDDEN if isinstance(error, AccessError) else limited
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


def _sentence(text: str) -> str:
    return text if text.endswith((".", "?", "!")) else f"{text}."
