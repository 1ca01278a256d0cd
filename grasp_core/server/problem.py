"""Problem responses (RFC 9457)."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from starlette.responses import JSONResponse

from grasp_core.model.errors import TooOftenError


class ProblemError(Exception):
    """A request that cannot be answered.

    Parameters
    ----------
    detail : str
        One sentence for the person who asked.
    headers : mapping of str to str, optional
    more : mapping of str to JSON-ready values, optional
        Further members of the document, such as codes for programs.
    """

    def __init__(
        self,
        status: HTTPStatus,
        detail: str,
        headers: Mapping[str, str] | None = None,
        more: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.headers = {"Cache-Control": "no-store", **(headers or {})}
        self.more = more or {}
        if status == HTTPStatus.UNAUTHORIZED:
            self.headers["WWW-Authenticate"] = "Bearer"

    def response(self) -> JSONResponse:
        """The problem document."""
        return JSONResponse(
            {
                "type": "about:blank",
                "title": self.status.phrase,
                "status": int(self.status),
                "detail": self.detail,
                **self.more,
            },
            status_code=int(self.status),
            media_type="application/problem+json",
            headers=self.headers,
        )


def too_often(error: TooOftenError) -> ProblemError:
    """The problem that somebody asks too often; its header says after how many seconds to come again."""
    return ProblemError(HTTPStatus.TOO_MANY_REQUESTS, str(error), {"Retry-After": str(error.seconds)})
