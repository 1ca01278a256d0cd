"""The JSON API: saved runs, for those who may see them.

`GET /api/runs/{id}` is the result (or, before it is there, the state), `GET /api/runs/{id}/table.csv` its
table, `GET /api/health` says whether the store can be reached. Whoever has signed in on the pages, or brings
a share link's token as ``Authorization: Bearer``, may see a run; a token opens its own run only.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from grasp_core import __version__
from grasp_core.access import User
from grasp_core.errors import StoreError
from grasp_core.report.tables import table_csv
from grasp_core.server import Server
from grasp_core.store.runs import RunRecord
from grasp_core.web.problem import ProblemError

Identify = Callable[[Request], User | None]
Endpoint = Callable[[Request], Response]

_PRIVATE = {"Cache-Control": "private, no-store", "X-Robots-Tag": "noindex"}


def routes(server: Callable[[], Server], identify: Identify) -> list[Route]:
    """The API's routes.

    Parameters
    ----------
    server : callable
        Returns the process's server; called at each request, so that importing starts nothing.
    identify : callable
        Who makes a request: the one who has signed in, or None.
    """

    def run(request: Request) -> Response:
        record = _visible_run(server(), identify, request)
        if record.state != "done":
            return JSONResponse(_state(record, for_stranger=identify(request) is None), headers=_PRIVATE)
        return JSONResponse(server().service.result(record.id).to_dict(), headers=_PRIVATE)

    def table(request: Request) -> Response:
        record = _visible_run(server(), identify, request)
        if record.state != "done":
            raise ProblemError(HTTPStatus.CONFLICT, f"The run is {record.state}; it has no table.")
        return Response(
            table_csv(server().service.result(record.id)),
            media_type="text/csv; charset=utf-8",
            headers={**_PRIVATE, "Content-Disposition": 'attachment; filename="table.csv"'},
        )

    def health(_: Request) -> Response:
        server().runs.counts()
        return JSONResponse({"status": "ok", "version": __version__}, headers={"Cache-Control": "no-store"})

    return [
        Route("/api/health", _answering(health)),
        Route("/api/runs/{run_id}", _answering(run)),
        Route("/api/runs/{run_id}/table.csv", _answering(table)),
    ]


def _answering(endpoint: Endpoint) -> Endpoint:
    """Turn problems and a store that is away into problem responses."""

    @wraps(endpoint)
    def answer(request: Request) -> Response:
        try:
            return endpoint(request)
        except ProblemError as problem:
            return problem.response()
        except StoreError as error:
            return ProblemError(HTTPStatus.SERVICE_UNAVAILABLE, str(error)).response()

    return answer


def _visible_run(server: Server, identify: Identify, request: Request) -> RunRecord:
    """The run that a request names, if whoever makes it may see it.

    A stranger is told nothing about which runs there are.
    """
    run_id = request.path_params["run_id"]
    if identify(request) is None:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        opened = server.links.use(token.strip()) if scheme.casefold() == "bearer" else None
        if opened is None:
            raise ProblemError(HTTPStatus.UNAUTHORIZED, "Sign in, or bring a share link's token.")
        if opened != run_id:
            raise ProblemError(HTTPStatus.NOT_FOUND, "This link opens no run of that id.")
    record = server.runs.get(run_id)
    if record is None:
        raise ProblemError(HTTPStatus.NOT_FOUND, "There is no run of that id.")
    return record


def _state(record: RunRecord, *, for_stranger: bool) -> dict[str, object]:
    """Where a run stands; why it failed may quote data, which is not for strangers."""
    return {
        "id": record.id,
        "state": record.state,
        "permutations": {"done": record.done, "total": record.total},
        "error": None if for_stranger else record.error,
    }
