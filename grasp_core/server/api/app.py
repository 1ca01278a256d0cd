"""The API's application: its mount, its schema and reference page, and requests that it refuses unread."""

import functools
import re
from collections import Counter
from collections.abc import Callable, Mapping
from html import escape
from http import HTTPStatus
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, quote

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from jinja2 import Template
from markupsafe import Markup
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.exceptions import ExceptionMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Mount, Route, compile_path
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from grasp_core.model.errors import GraspError
from grasp_core.model.remark_codes import CODES
from grasp_core.model.text import listed, meant, printable, quoted
from grasp_core.model.turns import loads
from grasp_core.server.api import _answers, analyses, files, new_runs, people, runs, watches
from grasp_core.server.api._admission import Admission
from grasp_core.server.api.forms import Problem
from grasp_core.server.gate import UploadLedger
from grasp_core.server.identity import Identify
from grasp_core.server.problem import WHAT, ProblemError, answer_fault, base_path
from grasp_core.server.server import Server
from grasp_core.version import __version__

_REFERENCE = "#/components/schemas/{model}"
_REFUSED = {
    "description": "Why not",
    "content": {"application/problem+json": {"schema": {"$ref": _REFERENCE.format(model="Problem")}}},
}


def described(app: FastAPI) -> dict[str, Any]:
    """Return the schema of an application, which is made once."""
    if app.openapi_schema is not None:
        return app.openapi_schema
    plain = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
    problem = Problem.model_json_schema(ref_template=_REFERENCE)
    components = plain.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    schemas.update({**problem.pop("$defs", {}), "Problem": problem})
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    components["securitySchemes"] = {
        "token": {
            "type": "http",
            "scheme": "bearer",
            "description": "A personal token from Account, or to look at what was shared, a share link's.",
        }
    }
    plain["security"] = [{"token": []}]
    for operations in plain["paths"].values():
        for operation in operations.values():
            for answer in operation["responses"].values():
                content = answer.get("content", {})
                if "text/event-stream" in content:  # FastAPI has a keyword of OpenAPI 3.2 in a schema of 3.1
                    texts = {name: {"type": "string"} for name in ("event", "data")}
                    content["text/event-stream"] = {"schema": {"type": "object", "properties": texts}}
            operation["responses"].pop("422", None)
            operation["responses"]["4XX"] = operation["responses"]["5XX"] = _REFUSED
    app.openapi_schema = plain
    return plain


@functools.cache
def _template() -> Template:
    """Return the template of these pages, which the first one compiles."""
    text = Path(__file__).with_name("reference.html").read_text(encoding="utf-8")
    template: Template = Template(text, autoescape=True)
    return template


def problem_page(code: str) -> HTMLResponse:
    """Return the page on a problem code's meaning and remedy; `type` of problem documents is its address."""
    if code in WHAT:
        means = escape(WHAT[code])
    elif code in CODES:
        means = re.sub(r"\*(\w+)\*", r"<em>\1</em>", escape(CODES[code].pattern))
    else:
        raise ProblemError("not-found", "There is no problem of that code.")
    return HTMLResponse(_template().render(code=code, means=Markup(means)))  # noqa: S704 - escaped above


JSON = "application/json"
_FORMS = ("multipart/", "application/x-www-form-urlencoded")
_BESIDE = ("/", "/openapi.json", "/problems/{code}")
"""Addresses that the schema does not list."""


class Operation(NamedTuple):
    """A method of an address: parameters of its query, type of its body, and whether its answer streams."""

    parameters: frozenset[str] = frozenset()
    body: str = ""
    streams: bool = False


class RefuseUnknown:
    """ASGI middleware that admits requests that the schema knows, and answers HEAD as GET without a body."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it in one sentence."""

        async def without_body(message: Message) -> None:
            await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

        if scope["type"] == "http":
            path = scope["path"].removeprefix(scope.get("root_path", ""))
            known = (operations for place, operations in _addresses(scope["app"]) if place.match(path))
            if (operations := next(known, None)) is not None:
                try:
                    _check(operations, scope)
                except ProblemError as refused:
                    await refused.response(base_path(scope))(scope, receive, send)
                    return
                if scope["method"] == "HEAD":
                    await self.app({**scope, "method": "GET"}, receive, without_body)
                    return
        await self.app(scope, receive, send)


def _check(operations: Mapping[str, Operation], scope: Scope) -> None:
    answers_head = "GET" in operations and not operations["GET"].streams
    methods = {**operations, "HEAD": operations["GET"]} if answers_head else operations
    operation = methods.get(scope["method"])
    if operation is None:
        allow = ", ".join(sorted(methods))
        raise ProblemError("method-not-allowed", f"This address takes {allow}.", {"Allow": allow})
    given = Counter(name for name, _ in parse_qsl(scope["query_string"].decode("latin-1"), True))
    names = sorted(operation.parameters)
    known = f"there is {listed(names) if names else 'none'}."
    unknown = (
        (
            "unknown-parameter",
            f"There is no parameter {quoted(printable(name))} here; {meant(name, names, known)}",
        )
        for name in given
        if name not in operation.parameters
    )
    twice = (
        ("parameter-twice", f"`{name}` is given {count} times; give it once.")
        for name, count in given.items()
        if count > 1 and name in operation.parameters
    )
    found = [{"code": code, "text": text, "place": "query"} for code, text in (*unknown, *twice)]
    if found:
        raise ProblemError("bad-request", found[0]["text"], more={"problems": found})
    headers = Headers(scope=scope)
    empty = headers.get("Content-Length", "0") == "0" and "Transfer-Encoding" not in headers
    if not operation.body or empty:
        return
    kind = headers.get("Content-Type", "").partition(";")[0].strip().casefold()
    taken = kind == JSON if operation.body == JSON else not kind.startswith(_FORMS)
    if not taken:
        what = f'send the file itself, as with curl -H "Content-Type: {operation.body}" --data-binary @FILE'
        if operation.body == JSON:
            what = f'send JSON, as with curl -H "Content-Type: {JSON}"'
        of = quoted(printable(kind)) if kind else "of no Content-Type"
        raise ProblemError("unsupported-media-type", f"The body is {of}; {what}.")


@functools.lru_cache(8)
def _addresses(app: FastAPI) -> tuple[tuple[re.Pattern[str], Mapping[str, Operation]], ...]:
    """Return patterns of addresses, fixed ones first, each with its operations by method."""
    every: dict[str, dict[str, Operation]] = {path: {"GET": Operation()} for path in _BESIDE}
    for path, operations in described(app)["paths"].items():
        every[path] = {}
        for method, plain in operations.items():
            query = (one["name"] for one in plain.get("parameters", []) if one["in"] == "query")
            answers = (kind for answer in plain["responses"].values() for kind in answer.get("content", {}))
            body = next(iter(plain.get("requestBody", {}).get("content", {})), "")
            operation = Operation(frozenset(query), body, "text/event-stream" in answers)
            every[path][method.upper()] = operation
    fixed_first = sorted(every.items(), key=lambda one: "{" in one[0])
    return tuple((compile_path(path)[0], operations) for path, operations in fixed_first)


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
    """Return the API's routes; `server` is called at each request, so that importing starts nothing."""

    def health(_: Request) -> Response:
        """Report that the store can be read, and how many requests work and wait, by kind of work."""
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
    """Return the application of one version of the API."""
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
        *(analyses.of_groups, analyses.router, people.own, files.benchmark),
        *(watches.webhooks, watches.router, people.router),
    ):
        app.include_router(router)

    def schema(request: Request) -> Response:
        """Return the schema, with the address where it is served."""
        return JSONResponse({**described(app), "servers": [{"url": request.scope["root_path"]}]})

    app.get("/openapi.json", include_in_schema=False)(schema)
    app.get("/", include_in_schema=False)(lambda: HTMLResponse(_template().render(described(app))))
    app.get("/problems/{code}", include_in_schema=False)(problem_page)
    return app


def _moved(there: str) -> Callable[[Request], Response]:
    """Redirect an address from before there were versions to the present one."""

    def lead(request: Request) -> Response:
        place = there.format(quote(request.path_params["id"], safe=""))
        return RedirectResponse(
            f"{request.scope['root_path']}/{VERSION}/{place}", HTTPStatus.PERMANENT_REDIRECT
        )

    return lead
