"""Identity behind a request outside the pages: by cookie, by a personal token, or by a share link."""

import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from grasp_core.model.access import LOCAL_USER, User, actor_of
from grasp_core.model.errors import AccessError, LimitError
from grasp_core.model.rates import Asker, Rates
from grasp_core.model.settings import Settings
from grasp_core.store.links import SECONDS, VISIT_HOURS, LinkStore, LinkTerms, Target, TryStore, matches
from grasp_core.store.people.audit import AuditStore
from grasp_core.store.people.credentials import PREFIX

Identify = Callable[[HTTPConnection], User | None]
"""Returns the user who has signed in, or None for a stranger."""


def bearer(connection: HTTPConnection) -> str | None:
    """Return the bearer token of a request, or None."""
    scheme, _, token = connection.headers.get("Authorization", "").partition(" ")
    return token.strip() if scheme.casefold() == "bearer" else None


def asker(connection: HTTPConnection, user: User | None) -> Asker:
    """Return whose requests are counted together: a person's, or an address's if nobody has to sign in."""
    person = "" if user is None or user == LOCAL_USER else user.id
    return Asker(person, "" if connection.client is None else connection.client.host)


def same_origin(connection: HTTPConnection, settings: Settings) -> bool:
    """Return False if another site's page makes the request; only browsers send the page's origin."""
    origin = connection.headers.get("Origin")
    host = origin and origin.partition("://")[2]
    if origin is None or (host and origin == settings.origin):
        return True
    return bool(host) and host == connection.headers.get("Host")


COOKIE = "grasp_visit"
BROWSER = "grasp_browser"
"""The cookie by which a browser finds its draft again on a server without sign-in."""
BROWSER_HOURS = 30 * 24.0
_BYTES = 32
_VALUE = re.compile(r"[\w-]{43}", re.ASCII)
_KEY = "grasp.visit"


@dataclass(eq=False)
class Visits:
    """ASGI middleware that gives browsers and programs that come by a share link a random number as a cookie.

    Scripts cannot read it, and no other site sends it. With the name :data:`BROWSER`, it recognizes a browser
    on a server without sign-in.
    """

    app: ASGIApp
    base_path: str = ""
    pages: frozenset[str] = frozenset()
    cookie: str = COOKIE
    hours: float = VISIT_HOURS

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything through, with a cookie on the response to a visitor that has none."""
        if scope["type"] != "http" or not self._by_link(HTTPConnection(scope)):
            await self.app(scope, receive, send)
            return
        carried = known(HTTPConnection(scope).cookies.get(self.cookie))
        given = carried or new_visit()
        if self.cookie == COOKIE:
            scope[_KEY] = given

        async def send_on(message: Message) -> None:
            if message["type"] == "http.response.start" and not carried:
                seconds = round(self.hours * 3600)
                add_cookie(MutableHeaders(scope=message), self.cookie, given, seconds, self.base_path)
            await send(message)

        await self.app(scope, receive, send_on)

    def _by_link(self, connection: HTTPConnection) -> bool:
        path = connection.scope["path"].removeprefix(self.base_path)
        if path.startswith("/api/") and self.cookie == COOKIE:
            token = bearer(connection)
            return token is not None and not token.startswith(PREFIX)
        return path in self.pages


def add_cookie(headers: MutableHeaders, name: str, value: str | None, seconds: int, base_path: str) -> None:
    """Add a cookie that no script can read to a response; the value None deletes the cookie."""
    answer, (age, ends) = Response(), (0, 0) if value is None else (seconds, None)
    answer.set_cookie(name, value or "", age, ends, base_path or "/", httponly=True, samesite="lax")
    headers.append("Set-Cookie", answer.headers["Set-Cookie"])


def new_visit() -> str:
    """Return a random number for a cookie, in the form that :func:`known` accepts."""
    return secrets.token_urlsafe(_BYTES)


def visit_of(connection: HTTPConnection) -> str:
    """Return the visitor's cookie of a request by a share link; "" for other requests."""
    found: str = connection.scope.get(_KEY, "")
    return found


def known(carried: object) -> str:
    """Return a cookie's value if it has the form of :func:`new_visit`, else ""."""
    return carried if isinstance(carried, str) and _VALUE.fullmatch(carried) else ""


CLOSED = (
    "This link does not work: it may be incomplete, its password may be wrong, or it has ended. Ask whoever "
    "sent it for another one."
)
"""The one sentence for links that are unknown, withdrawn, expired or used up, and for wrong passwords."""
TOO_MANY_TRIES = f"There were too many wrong passwords; try again in {SECONDS / 60:.0f} minutes."


class PasswordError(AccessError):
    """The link takes a password, and none was given, or a wrong one."""


@dataclass(frozen=True, slots=True)
class Visitor:
    """Somebody with a link; `visit` is their cookie, by which a visit that still lasts is recognized."""

    visit: str
    address: str
    password: str | None = None


@dataclass(frozen=True, slots=True)
class Visitors:
    """Visitors who come by a link; opens links to them."""

    links: LinkStore
    tries: TryStore
    audit: AuditStore
    rates: Rates

    def open(self, token: str, visitor: Visitor, only: Target | None = None) -> Target:
        """Open a link to a visitor, and count the visit once; if `only` is another target, count nothing.

        Raises PasswordError if the link's password is missing or wrong; LimitError after too many wrong ones;
        AccessError if the link opens nothing (any more); TooOftenError if too many such links were tried.
        """
        stranger = Asker("", visitor.address)
        lock = self.links.lock(token, visitor.visit)
        if lock is None:
            self.rates.guess(stranger, token)
            raise AccessError(CLOSED)
        if only is not None and lock.target != only:
            return lock.target
        if lock.password is not None:
            if visitor.password is None:
                raise PasswordError(CLOSED)
            if not self.tries.count(lock.link_id, token, visitor.address):
                raise LimitError(TOO_MANY_TRIES)
            if not matches(visitor.password, lock.password):
                self.audit.record("", "refusal", "link", lock.link_id)
                raise PasswordError(CLOSED)
            self.tries.forget(lock.link_id, token, visitor.address)
        target = self.links.use(token, visit=visitor.visit)
        if target is None:  # another visitor took the last use meanwhile
            raise AccessError(CLOSED)
        return target


def logged_terms(terms: LinkTerms) -> dict[str, str | int | float | bool | None]:
    """Return the terms of a link for the audit log, without label and password."""
    return {
        "days": terms.get("days"),
        "password": terms.get("password") is not None,
        "uses": terms.get("max_uses"),
        "small groups": terms.get("small_groups", False),
    }


def withdraw_of_run(links: LinkStore, audit: AuditStore, run_id: str, *, by: User | None) -> int:
    """Withdraw a run's links; returns how many worked. `by` may manage them; None is the command line."""
    withdrawn = links.revoke_of_run(run_id)
    audit.record(actor_of(by), "withdraw", "run's links", run_id, {"links": withdrawn})
    return withdrawn


def withdraw_of_person(links: LinkStore, audit: AuditStore, person_id: str, *, by: User | None) -> int:
    """Withdraw a person's links, as :func:`withdraw_of_run`; raises AccessError if only an admin may."""
    if by is not None and by.id != person_id and not by.may_administer:
        raise AccessError("Only an admin may withdraw links that others made.")
    withdrawn = links.revoke_of_person(person_id)
    audit.record(actor_of(by), "withdraw", "person's links", person_id, {"links": withdrawn})
    return withdrawn
