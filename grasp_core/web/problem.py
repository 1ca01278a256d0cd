"""Problem responses (RFC 9457)."""

from __future__ import annotations

from http import HTTPStatus

from starlette.responses import JSONResponse


class ProblemError(Exception):
    """A request that cannot be answered.

    Parameters
    ----------
    status : HTTPStatus
    detail : str
        One sentence for the person who asked.
    """

    def __init__(self, status: HTTPStatus, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail

    def response(self) -> JSONResponse:
        """The problem document."""
        headers = {"Cache-Control": "no-store"}
        if self.status == HTTPStatus.UNAUTHORIZED:
            headers["WWW-Authenticate"] = "Bearer"
        return JSONResponse(
            {
                "type": "about:blank",
                "title": self.status.phrase,
                "status": int(self.status),
                "detail": self.detail,
            },
            status_code=int(self.status),
            media_type="application/problem+json",
            headers=headers,
        )
