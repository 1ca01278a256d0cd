"""What the schema does not know, refused before a route reads it: methods, parameters, kinds of bodies."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Mapping
from http import HTTPStatus
from typing import NamedTuple
from urllib.parse import parse_qsl

from fastapi import FastAPI
from starlette.datastructures import Headers
from starlette.routing import compile_path
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from grasp_core.model.text import listed, printable, quoted
from grasp_core.server.api.reference import described
from grasp_core.server.problem import ProblemError, base_path

JSON = "application/json"
_FORMS = ("multipart/", "application/x-www-form-urlencoded")
_BESIDE = ("/", "/openapi.json", "/problems/{code}")
"""Addresses that the schema does not list."""


class Operation(NamedTuple):
    """A method of an address: parameters of its query, its kind of body, and whether its answer goes on."""

    parameters: frozenset[str] = frozenset()
    body: str = ""
    streams: bool = False


class RefuseUnknown:
    """ASGI middleware that lets in what the schema knows, and answers HEAD by what GET would."""

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
        raise ProblemError(HTTPStatus.METHOD_NOT_ALLOWED, f"This address takes {allow}.", {"Allow": allow})
    given = Counter(name for name, _ in parse_qsl(scope["query_string"].decode("latin-1"), True))
    known = listed([f"`{one}`" for one in sorted(operation.parameters)]) if operation.parameters else "none"
    unknown = (
        ("unknown-parameter", f"There is no parameter {quoted(printable(name))} here; there is {known}.")
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
        raise ProblemError(HTTPStatus.BAD_REQUEST, found[0]["text"], more={"problems": found})
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
        raise ProblemError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"The body is {of}; {what}.")


@functools.lru_cache(8)
def _addresses(app: FastAPI) -> tuple[tuple[re.Pattern[str], Mapping[str, Operation]], ...]:
    """Patterns of addresses, fixed ones first, with what each of their methods takes."""
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
