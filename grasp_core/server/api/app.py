"""The API's application, and where it is mounted beside the pages."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.exceptions import ExceptionMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Mount, Route

from grasp_core.model.errors import GraspError
from grasp_core.model.turns import loads
from grasp_core.server.api import _answers, analyses, files, new_runs, people, runs, submissions, watches
from grasp_core.server.api._admission import Admission
from grasp_core.server.api.reference import RefuseUnknown, described, problem_page, reference_page
from grasp_core.server.gate import UploadLedger
from grasp_core.server.identity import Identify
from grasp_core.server.problem import ProblemError, answer_fault
from grasp_core.server.server import Server
from grasp_core.version import __version__

VERSION = "v1"
_MOVED = {
    "/runs/{id}": "runs/{}",
    "/runs/{id}/table.csv": "runs/{}/exports/csv",
    "/leaderboards/{id}": "leaderboards/{}",
}
_FAULTS: dict[Any, Any] = dict.fromkeys(
    (HTTPException, RequestValidationError, ProblemError, GraspError), answer_fault
)
_LAST = Middleware(ExceptionMiddleware, handlers={**_FAULTS, Exception: answer_fault})


def mount(
    server: Callable[[], Server], identify: Identify, uploads: UploadLedger, base_path: str = ""
) -> Mount:
    """The API's routes.

    `server`: returns the process's server; called at each request, so that importing starts nothing.
    """

    def health(_: Request) -> Response:
        """Whether the store can be read, and how many work and wait, by kind of work."""
        server().check()
        under_way = {what: load._asdict() for what, load in loads().items()}
        told = {"status": "ok", "version": __version__, "load": under_way}
        return JSONResponse(told, headers={"Cache-Control": "no-store"})

    return Mount(
        f"{base_path}/api",
        routes=[
            Route("/health", health),
            Mount(f"/{VERSION}", application(server, identify, uploads)),
            *(Route(path, _moved(there)) for path, there in _MOVED.items()),
        ],
        middleware=[_LAST],
    )


def application(server: Callable[[], Server], identify: Identify, uploads: UploadLedger) -> FastAPI:
    """The API of one version."""
    app = FastAPI(
        title="GRASP",
        version=__version__,
        description="Which groups of raters see a task differently, and is it real?",
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        middleware=[
            _LAST,
            Middleware(Admission, server=server, identify=identify),
            Middleware(RefuseUnknown),
        ],
        exception_handlers=_FAULTS,
    )
    app.state.uploads = uploads
    for router in (
        *(new_runs.router, _answers.router, runs.router, runs.sharing, files.router),
        *(analyses.of_groups, analyses.router, people.own, submissions.router),
        *(watches.webhooks, watches.router, people.router),
    ):
        app.include_router(router)

    def schema(request: Request) -> Response:
        """The schema, which says where it is served."""
        return JSONResponse({**described(app), "servers": [{"url": request.scope["root_path"]}]})

    app.get("/openapi.json", include_in_schema=False)(schema)
    app.get("/", include_in_schema=False)(lambda: reference_page(described(app)))
    app.get("/problems/{code}", include_in_schema=False)(problem_page)
    return app


def _moved(there: str) -> Callable[[Request], Response]:
    """Leads addresses of before there were versions to where they are now."""

    def lead(request: Request) -> Response:
        place = there.format(quote(request.path_params["id"], safe=""))
        return RedirectResponse(
            f"{request.scope['root_path']}/{VERSION}/{place}", HTTPStatus.PERMANENT_REDIRECT
        )

    return lead
