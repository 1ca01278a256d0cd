"""Who makes a request beside the pages: by cookie, or by a token of their own."""

from __future__ import annotations

from collections.abc import Callable

from starlette.requests import HTTPConnection

from grasp_core.model.access import LOCAL_USER, User
from grasp_core.model.rates import Asker
from grasp_core.model.settings import Settings

Identify = Callable[[HTTPConnection], User | None]
"""Says who has signed in, or None for strangers."""


def bearer(connection: HTTPConnection) -> str | None:
    """The token that a request brings, or None."""
    scheme, _, token = connection.headers.get("Authorization", "").partition(" ")
    return token.strip() if scheme.casefold() == "bearer" else None


def asker(connection: HTTPConnection, user: User | None) -> Asker:
    """Whose requests are counted together; where nobody has to sign in, that is an address."""
    person = "" if user is None or user == LOCAL_USER else user.id
    return Asker(person, "" if connection.client is None else connection.client.host)


def same_origin(connection: HTTPConnection, settings: Settings) -> bool:
    """Whether no page of another site makes the request; only browsers say which does."""
    origin = connection.headers.get("Origin")
    host = origin and origin.partition("://")[2]
    if origin is None or (host and origin == settings.origin):
        return True
    return bool(host) and host == connection.headers.get("Host")
