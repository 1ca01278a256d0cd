"""What the schema does not know, refused before a route reads it: methods, parameters, kinds of bodies."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
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


@dataclass(frozen=True, slots=True)
class Operation:
    """A method of an address.

    `parameters`: those of the query.
    `body`: its kind; empty where it takes none.
    `streams`: whether its answer goes on.
    """

    parameters: frozenset[str] = frozenset()
    body: str = ""
    streams: bool = False

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> Operation:
        """An operation of the schema."""
        asked = (one["name"] for one in plain.get("parameters", []) if one["in"] == "query")
        answers = (kind for answer in plain["responses"].values() for kind in answer.get("content", {}))
        body = next(iter(plain.get("requestBody", {}).get("content", {})), "")
        return cls(frozenset(asked), body, "text/event-stream" in answers)


@dataclass(frozen=True, slots=True)
class Address:
    """An address and its methods."""

    pattern: re.Pattern[str]
    operations: Mapping[str, Operation]

    @property
    def allow(self) -> str:
        """The methods, as the header Allow lists them."""
        heads = ["HEAD"] if "GET" in self.operations and not self.operations["GET"].streams else []
        return ", ".join(sorted([*self.operations, *heads]))


class RefuseUnknown:
    """ASGI middleware that lets in what the schema knows, and answers HEAD by what GET would."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it in one sentence."""
        if scope["type"] == "http":
            address = _found(scope)
            if address is not None:
                try:
                    _check(address, scope)
                except ProblemError as refused:
                    await refused.response(base_path(scope))(scope, receive, send)
                    return
                if scope["method"] == "HEAD":
                    scope, send = {**scope, "method": "GET"}, _without_body(send)
        await self.app(scope, receive, send)


def _check(address: Address, scope: Scope) -> None:
    head = scope["method"] == "HEAD"
    operation = address.operations.get("GET" if head else scope["method"])
    if operation is None or (head and operation.streams):
        raise ProblemError(
            HTTPStatus.METHOD_NOT_ALLOWED,
            f"This address takes {address.allow}.",
            {"Allow": address.allow},
        )
    _check_query(operation, scope)
    if operation.body:
        _check_body(operation, Headers(scope=scope))


def _check_query(operation: Operation, scope: Scope) -> None:
    given = Counter(name for name, _ in parse_qsl(scope["query_string"].decode("latin-1"), True))
    known = listed([f"`{one}`" for one in sorted(operation.parameters)]) if operation.parameters else "none"
    found = [
        {
            "code": "unknown-parameter",
            "text": f"There is no parameter {quoted(printable(name))} here; there is {known}.",
            "place": "query",
        }
        for name in given
        if name not in operation.parameters
    ]
    found += [
        {
            "code": "parameter-twice",
            "text": f"`{name}` is given {count} times; give it once.",
            "place": "query",
        }
        for name, count in given.items()
        if count > 1 and name in operation.parameters
    ]
    if found:
        raise ProblemError(HTTPStatus.BAD_REQUEST, found[0]["text"], more={"problems": found})


def _check_body(operation: Operation, headers: Headers) -> None:
    if headers.get("Content-Length", "0") == "0" and "Transfer-Encoding" not in headers:
        return
    kind = headers.get("Content-Type", "").partition(";")[0].strip().casefold()
    if operation.body == JSON:
        if kind != JSON:
            raise _other_kind(kind, f'send JSON, as with curl -H "Content-Type: {JSON}"')
    elif kind.startswith(_FORMS):
        raise _other_kind(
            kind,
            f'send the file itself, as with curl -H "Content-Type: {operation.body}" --data-binary @FILE',
        )


def _other_kind(kind: str, what: str) -> ProblemError:
    found = quoted(printable(kind)) if kind else "of no Content-Type"
    return ProblemError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"The body is {found}; {what}.")


def _found(scope: Scope) -> Address | None:
    path = scope["path"].removeprefix(scope.get("root_path", ""))
    return next((one for one in _addresses(scope["app"]) if one.pattern.match(path)), None)


@functools.lru_cache(8)
def _addresses(app: FastAPI) -> tuple[Address, ...]:
    listed = {
        path: {method.upper(): Operation.of(plain) for method, plain in operations.items()}
        for path, operations in described(app)["paths"].items()
    }
    every = listed | {path: {"GET": Operation()} for path in _BESIDE}
    fixed_first = sorted(every.items(), key=lambda one: "{" in one[0])
    return tuple(Address(compile_path(path)[0], operations) for path, operations in fixed_first)


def _without_body(send: Send) -> Send:
    async def without(message: Message) -> None:
        await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

    return without
