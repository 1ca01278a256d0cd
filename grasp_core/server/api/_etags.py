"""Answers with an ETag: whoever has one already is told so in place of being sent it again."""

from __future__ import annotations

import hashlib
from http import HTTPStatus
from typing import Any

from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

NOT_AGAIN: dict[int | str, dict[str, Any]] = {
    304: {"description": "It is the one whose ETag was sent as If-None-Match"}
}
"""What the schema says of them."""


class Tagged(Response):
    """A response whose ETag is the hash of its content."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.headers["ETag"] = f'"{hashlib.sha256(self.body).hexdigest()[:32]}"'

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it, or that it has not changed."""
        asked = Headers(scope=scope).get("If-None-Match", "")
        known = {one.strip().removeprefix("W/") for one in asked.split(",")}
        if known & {"*", self.headers["ETag"]}:
            kept = {name: self.headers[name] for name in ("ETag", "Cache-Control") if name in self.headers}
            await Response(None, HTTPStatus.NOT_MODIFIED, kept)(scope, receive, send)
        else:
            await super().__call__(scope, receive, send)


class TaggedJson(Tagged, JSONResponse):
    """JSON with an ETag."""
