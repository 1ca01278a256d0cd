"""The JSON API: saved runs and shared leaderboards, for those who may see them.

`GET /api/runs/{id}` is the result (or, before it is there, the state and what is found so far),
`GET /api/runs/{id}/table.csv` its table, `GET /api/leaderboards/{id}` the leaderboard that the link of
this id holds, `GET /api/health` says whether the store can be reached. Whoever has signed in on the pages,
or brings a share link's token as ``Authorization: Bearer``, may see them; a token opens its own run or
leaderboard only, without what could name a person or a file.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import cast

from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.exceptions import ExceptionMiddleware
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route

from grasp_core import __version__
from grasp_core.access import User
from grasp_core.errors import MissingResultError, StoreError
from grasp_core.models_as_raters.tables import sides_csv
from grasp_core.panels.models.result import ModelsResult
from grasp_core.report.public_view import public_view
from grasp_core.report.table_csv import table_csv
from grasp_core.result import Result, RunResult
from grasp_core.server import Server
from grasp_core.store.links import Target
from grasp_core.store.runs import RunRecord
from grasp_core.web.problem import ProblemError

log = logging.getLogger(__name__)

Identify = Callable[[HTTPConnection], User | None]

_PRIVATE = {"Cache-Control": "private, no-store"}


def mount(server: Callable[[], Server], identify: Identify, base_path: str = "") -> Mount:
    """The API's routes.

    Parameters
    ----------
    server : callable
        Returns the process's server; called at each request, so that importing starts nothing.
    identify : callable
        Who makes a request: the one who has signed in, or None.
    base_path : str
        Path under which everything is served, e.g. ``/grasp``.
    """
    answers = _Answers(server, identify)
    return Mount(
        f"{base_path}/api",
        routes=[
            Route("/health", answers.health),
            Route("/runs/{run_id}", answers.run),
            Route("/runs/{run_id}/table.csv", answers.table),
            Route("/leaderboards/{link_id}", answers.leaderboard),
        ],
        middleware=[Middleware(ExceptionMiddleware, handlers={Exception: _problem, HTTPException: _problem})],
    )


@dataclass(frozen=True, slots=True)
class _Answers:
    """What is answered at each address."""

    server: Callable[[], Server]
    identify: Identify

    def run(self, request: Request) -> Response:
        """The result of a run, or how far it is and what it has found so far."""
        user = self.identify(request)
        record = _visible_run(self.server(), user, request)
        if record.state != "done":
            found = None if record.ended else self.server().service.provisional(record.id)
            return JSONResponse(_state(record, found, for_stranger=user is None), headers=_PRIVATE)
        return JSONResponse(_result(self.server(), user, record).to_dict(), headers=_PRIVATE)

    def table(self, request: Request) -> Response:
        """The result's table as CSV."""
        user = self.identify(request)
        record = _visible_run(self.server(), user, request)
        if record.state != "done":
            raise ProblemError(HTTPStatus.CONFLICT, f"The run is {record.state}; it has no table.")
        return Response(
            _csv(_result(self.server(), user, record)),
            media_type="text/csv; charset=utf-8",
            headers={**_PRIVATE, "Content-Disposition": 'attachment; filename="table.csv"'},
        )

    def leaderboard(self, request: Request) -> Response:
        """What a link to a leaderboard shows."""
        link_id = request.path_params["link_id"]
        _check_link(self.server(), self.identify(request), request, Target("leaderboard", link_id))
        found = self.server().links.leaderboard(link_id)
        if found is None:
            raise _missing("leaderboard")
        return JSONResponse(found.content, headers=_PRIVATE)

    def health(self, _: Request) -> Response:
        """Whether the store can be read."""
        self.server().check()
        return JSONResponse({"status": "ok", "version": __version__}, headers={"Cache-Control": "no-store"})


def _problem(_: Request, error: Exception) -> Response:
    """Whatever goes wrong, as a problem document."""
    if isinstance(error, ProblemError):
        return error.response()
    if isinstance(error, HTTPException):
        status = HTTPStatus(error.status_code)
        return ProblemError(status, f"{status.description or status.phrase}.", error.headers).response()
    if isinstance(error, StoreError):
        return ProblemError(HTTPStatus.SERVICE_UNAVAILABLE, str(error)).response()
    places = " < ".join(f"{frame.name}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__))
    log.error("unexpected %s at %s", type(error).__name__, places)  # the message could quote data
    return ProblemError(
        HTTPStatus.INTERNAL_SERVER_ERROR, "Something went wrong in GRASP itself; its log has the details."
    ).response()


def _visible_run(server: Server, user: User | None, request: Request) -> RunRecord:
    """The run that a request names, if whoever makes it may see it."""
    run_id = request.path_params["run_id"]
    _check_link(server, user, request, Target("run", run_id))
    record = server.runs.get(run_id)
    if record is None:
        raise _missing("run")
    return record


def _check_link(server: Server, user: User | None, request: Request, target: Target) -> None:
    """Refuse a stranger whose link does not open this; they are told nothing about what there is."""
    if user is not None:
        return
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    opened = server.links.use(token.strip(), count=False) if scheme.casefold() == "bearer" else None
    if opened is None:
        raise ProblemError(HTTPStatus.UNAUTHORIZED, "Sign in, or bring a share link's token.")
    if opened != target:
        raise ProblemError(HTTPStatus.NOT_FOUND, f"This link opens no {target.kind} of that id.")
    server.links.use(token.strip())


def _missing(kind: str) -> ProblemError:
    return ProblemError(HTTPStatus.NOT_FOUND, f"There is no {kind} of that id.")


def _result(server: Server, user: User | None, record: RunRecord) -> Result:
    try:
        result = server.service.result(record.id)
    except MissingResultError:  # deleted meanwhile
        raise _missing("run") from None
    return public_view(result) if user is None else result


def _csv(result: Result) -> str:
    return sides_csv(result) if isinstance(result, ModelsResult) else table_csv(cast("RunResult", result))


def _state(record: RunRecord, found: Result | None, *, for_stranger: bool) -> dict[str, object]:
    """Where a run stands and what is found so far; why it failed may quote data, not for strangers."""
    shown = public_view(found) if found is not None and for_stranger else found
    return {
        "id": record.id,
        "state": record.state,
        "permutations": {"done": record.done, "total": record.total},
        "error": None if for_stranger else record.error,
        "provisional": None if shown is None else shown.to_dict(),
    }
