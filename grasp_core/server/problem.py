"""Problem responses (RFC 9457), each with a stable code and the address of the page that explains it."""

import logging
import re
import tomllib
import traceback
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Scope

from grasp_core.engine.request_fields import for_requests
from grasp_core.model.errors import DataError, GraspError, Problem, SpecError, StoreError

log = logging.getLogger(__name__)

PAGES = "/api/v1/problems"
"""Path below which each code has a page."""
STORE_SECONDS = 5
"""Seconds after which to try again if the store could not be reached."""
_CODES = tomllib.loads(Path(__file__).with_name("problems.toml").read_text(encoding="utf-8"))
WHAT: Mapping[str, str] = {code: about["means"] for code, about in _CODES.items()}
"""Meaning of each problem code, and the remedy."""
_STATUS: Mapping[str, int] = {code: about["status"] for code, about in _CODES.items() if "status" in about}
"""Status of the codes that do not have 422. Starlette's own errors get the first code of their status."""

_NOWHERE = "There is no such address; the page of the API lists them all."
_UNFIT = {
    "missing": "is missing",
    "extra_forbidden": "is not known here",
    "string_pattern_mismatch": "does not have the form that the page of the API describes",
} | dict.fromkeys(("model_attributes_type", "model_type", "dict_type"), "must be a JSON object")
_SHOULD = re.compile("^[A-Z][a-z]+ should ")


class ProblemError(Exception):
    """A request that cannot be answered; `more` are further members of the document."""

    def __init__(
        self,
        code: str,
        detail: str,
        headers: Mapping[str, str] | None = None,
        more: Mapping[str, Any] | None = None,
        *,
        status: int | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = HTTPStatus(status or _STATUS.get(code, 422))
        self.detail = detail
        self.code = code
        self.headers = {"Cache-Control": "no-store", **(headers or {})}
        self.more = more or {}
        if self.status == HTTPStatus.UNAUTHORIZED:
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
        """Return the problem document as a response; the server's addresses begin with `base_path`."""
        return JSONResponse(
            self.document(base_path),
            status_code=int(self.status),
            media_type="application/problem+json",
            headers=self.headers,
        )


def base_path(scope: Scope) -> str:
    """Return the beginning of the server's addresses, from a request to the API."""
    mounted: str = scope.get("root_path", "")
    return mounted.removesuffix("/v1").removesuffix("/api")


def missing(kind: str) -> ProblemError:
    """Return the problem that there is no object of that id."""
    return ProblemError("not-found", f"There is no {kind} of that id.")


def again_after(seconds: int) -> dict[str, str]:
    """Return the header with the seconds after which to try again."""
    return {"Retry-After": str(seconds)}


def answer_fault(request: Request, error: Exception) -> Response:
    """Return the problem document of an exception; this handles exceptions of all the API's applications."""
    return problem_of(error).response(base_path(request.scope))


def problem_of(error: Exception) -> ProblemError:
    """Return the problem that describes an exception to the client."""
    if isinstance(error, ProblemError):
        return error
    if isinstance(error, HTTPException):
        status = HTTPStatus(error.status_code)
        code = next((code for code, one in _STATUS.items() if one == status), "error")
        told = _NOWHERE if code == "not-found" else f"{status.description or status.phrase}."
        return ProblemError(code, told, error.headers, status=status)
    if isinstance(error, RequestValidationError):  # values are not quoted, for they may be secrets
        found = [
            {"code": one["type"], "text": _unfit(one), "place": ".".join(map(str, one["loc"]))}
            for one in error.errors()
        ]
        broken = any(one["code"] == "json_invalid" for one in found)
        told = _sentence(found[0]["text"])
        return ProblemError("bad-request" if broken else "invalid", told, more={"problems": found})
    if isinstance(error, GraspError):  # a person can mend it; the codes are those of pages and files
        found = [listed(one) for one in error.problems] if isinstance(error, DataError) else []
        if isinstance(error, SpecError):
            found = [{"code": error.code, "text": for_requests(text)} for text in error.sentences]
        kind = next(code for one in type(error).__mro__ if (code := getattr(one, "code", "")) in WHAT)
        seconds = STORE_SECONDS if isinstance(error, StoreError) else getattr(error, "seconds", 0)
        again, more = again_after(seconds) if seconds else None, {"problems": found} if found else None
        return ProblemError(kind, _sentence(for_requests(str(error))), again, more)
    places = " < ".join(f"{frame.name}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__))
    log.error("unexpected %s at %s", type(error).__name__, places)  # the message could quote data
    return ProblemError("fault", "Something went wrong in GRASP itself; its log has the details.")


def listed(problem: Problem) -> dict[str, Any]:
    """Return one of several problems, JSON-ready."""
    return {
        "code": problem.remark.code.key,
        "text": for_requests(problem.message),
        "count": problem.count,
        "examples": list(problem.further_examples),
        "field": problem.field,
    }


def _unfit(fault: Mapping[str, Any]) -> str:
    """Put a fault that Pydantic found in a request into GRASP's words."""
    kind, (part, *places) = fault["type"], fault["loc"]
    if kind == "json_invalid":
        return f"The body is no JSON: {fault['ctx']['error']}, at character {places[-1]}"
    name = f"`{'.'.join(map(str, places))}`" if places else f"The {part}"
    return f"{name} {_UNFIT.get(kind) or _SHOULD.sub('must ', fault['msg']).partition(', unable')[0]}"


def _sentence(text: str) -> str:
    return text if text.endswith((".", "?", "!")) else f"{text}."
