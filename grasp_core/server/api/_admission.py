"""Callers of the API: the rights of a user, or of a stranger with a share link."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Annotated, Self
from urllib.parse import unquote
from weakref import WeakValueDictionary

from fastapi import Depends
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from grasp_core.analysis.rater_map_values import RaterMap, map_without_small_groups
from grasp_core.model.access import EVERYONE, EVERYTHING, Token, User, user_by_token
from grasp_core.model.errors import AccessError, LimitError, TooOftenError
from grasp_core.model.rates import Asker
from grasp_core.model.result import Result
from grasp_core.model.turns import ask_as, link_name
from grasp_core.report.public_view import public_view
from grasp_core.server.identity import Identify, PasswordError, Visitor, asker, bearer, same_origin, visit_of
from grasp_core.server.problem import ProblemError, again_after, problem_of
from grasp_core.server.server import Server, Stores
from grasp_core.store.links import SECONDS, Target
from grasp_core.store.people.credentials import PREFIX

MAX_JSON = 2**20
"""Most bytes of a request's JSON."""
STREAMED = frozenset({"/files", "/submissions"})
"""Paths that take larger bodies, and limit them themselves."""
WITH_LINK = "Link-Password"
"""Header with a share link's password, in percent-encoded UTF-8."""
_KEY = "grasp.caller"
_REFUSALS = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.TOO_MANY_REQUESTS})
_LOOKING = frozenset({"GET", "HEAD", "OPTIONS"})
_OWN_SITE = frozenset({"same-origin", "none"})
SIGN_IN = "Sign in, or bring a token: a personal one, or a share link's."
ENDED = "This token is unknown, withdrawn or expired; make one on Account."


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller: `user` is None for strangers, `token` may be a link's; `first`: count the link's use."""

    server: Server
    user: User | None
    token: str | None
    who: Callable[[], User | None]
    visitor: Visitor
    asker: Asker
    first: bool = True

    def again(self) -> Self:
        """Return the caller with present rights; raises ProblemError if the user is not admitted any more."""
        found = replace(self, user=self.who(), first=False)
        if self.user is not None and found.user is None:
            raise ProblemError("sign-in", SIGN_IN)
        return found

    @property
    def person(self) -> User:
        """The user; raises ProblemError if it is a stranger."""
        if self.user is None:
            raise ProblemError("sign-in", SIGN_IN)
        return self.user

    def runner(self, project: str) -> User:
        """Return the user if they may upload data to a project and run there; else raise ProblemError."""
        self.seeing(project)
        if not self.person.may_run_in(project):
            raise ProblemError(
                "forbidden",
                "This takes an analyst's sign-in, or an analyst's token with the scope run, and a project in "
                "which its person is an analyst.",
            )
        return self.person

    def seeing(self, project: str) -> User:
        """Return the user if they may see a project; else raise ProblemError."""
        if not self.person.may_see(project) or self.server.projects.get(project) is None:
            raise ProblemError("not-found", "There is no project of that id for you.")
        return self.person

    def changing(self) -> Token | None:
        """Return the personal token, if any; raises ProblemError also if its scope is only to read."""
        token = self.personal_token()
        if token is not None and token.scope == "read":
            raise ProblemError("forbidden", "This takes a token with the scope run.")
        return token

    def personal_token(self) -> Token | None:
        """Return the request's personal token, if any; raises ProblemError if the token has just ended."""
        _ = self.person
        if self.token is None or not self.token.startswith(PREFIX):
            return None
        token = self.server.tokens.use(self.token)
        if token is None:
            raise ProblemError("sign-in", ENDED)
        return token

    def stores(self, project: str = EVERYONE) -> Stores:
        """Return the stores within the caller's reach, in a project; raises AccessError if it is not theirs.

        A stranger's stores have no limit: each route checks by :func:`check_link` what the link opens.
        """
        return self.server.seen(EVERYTHING if self.user is None else self.user.reach(project))

    def manager(self, owner: str, project: str) -> User:
        """Return the user if they may change `owner`'s objects in a project; else raise ProblemError."""
        if not self.person.may_manage(owner, project):
            raise ProblemError(
                "forbidden",
                "Only the person whose this is, an owner of its project or an admin may do that; a token "
                "needs the scope run, or admin.",
            )
        return self.person


AT_ONCE = 8
"""Most requests of one caller at a time whose answers are being made, each in a thread.

Python runs one thread at a time: of sixty requests at once, all with threads, a page would get a sixtieth of
the interpreter. The others wait in order, without a thread.
"""


@dataclass(eq=False)
class Admission:
    """ASGI middleware that identifies the caller, and refuses requests that need not be read any further.

    A request with a token has only the token's rights, even if somebody has signed in or is at this machine.
    Changes by strangers, or from pages of other sites, are refused.
    """

    app: ASGIApp
    server: Callable[[], Server]
    identify: Identify
    places: WeakValueDictionary[str, asyncio.Semaphore] = field(default_factory=WeakValueDictionary)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it in one sentence; refusals go to the log."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        size = 0

        async def limited() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > MAX_JSON:
                raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
            return message

        async def noting(message: Message) -> None:
            if message["type"] == "http.response.start":
                await place.aclose()  # who is slow to take an answer keeps no other waiting
                # RateLimit header fields for HTTP, an Internet-Draft of the IETF.
                left = tuple(caller.server.rates.requests_left(caller.asker))
                policy = ", ".join(f'"{one.what}";q={one.most};w={one.window}' for one in left)
                limit = ", ".join(f'"{one.what}";r={one.left};t={one.seconds}' for one in left)
                MutableHeaders(scope=message).update({"RateLimit-Policy": policy, "RateLimit": limit})
                who = "" if caller.user is None else caller.user.id
                await run_in_threadpool(_note, caller.server, who, scope, message["status"])
            await send(message)

        try:
            caller = await run_in_threadpool(self._caller, HTTPConnection(scope))
        except (ProblemError, TooOftenError) as error:
            refused = problem_of(error)
            await run_in_threadpool(_note, self.server(), "", scope, refused.status)
            raise refused from None
        scope[_KEY] = caller
        by_link = caller.user is None and caller.token is not None
        name = link_name(str(caller.token)) if by_link else caller.asker.name
        ask_as(name)
        streamed = scope["path"].removeprefix(scope.get("root_path", "")) in STREAMED
        async with AsyncExitStack() as place:
            if not streamed:  # uploads take a thread only now and then, and may last
                await place.enter_async_context(self._places_of(" ".join([name, *caller.asker.place])))
            await self.app(scope, receive if streamed else limited, noting)

    def _places_of(self, name: str) -> asyncio.Semaphore:
        places = self.places.get(name)
        if places is None:
            places = self.places[name] = asyncio.Semaphore(AT_ONCE)
        return places

    def _caller(self, connection: HTTPConnection) -> Caller:
        server = self.server()
        brought, changes = bearer(connection), connection.scope["method"] not in _LOOKING
        if not brought and "Authorization" in connection.headers:
            raise ProblemError("sign-in", SIGN_IN)
        personal = brought if brought is not None and brought.startswith(PREFIX) else None

        def who() -> User | None:
            """Return the token's person, or who has signed in; with another token nobody, despite cookies."""
            if personal is not None:
                token = server.tokens.use(personal)
                owner = None if token is None else server.accounts.acting(token.owner)
                found = None if token is None else user_by_token(token, owner, server.settings)
            else:
                found = None if brought else self.identify(connection)
            return None if found is None else server.accounts.known(found)

        user = who()
        asking = asker(connection, user)
        server.rates.request(asking, changes=changes)
        if personal is not None and user is None:
            server.rates.guess(asking, personal)
            raise ProblemError("sign-in", ENDED)
        if changes and personal is None:  # a browser sends its cookie for pages of other sites too
            told = connection.headers.get("Origin") is not None or not server.settings.sign_in
            site = connection.headers.get("Sec-Fetch-Site", "none")
            if not (told and same_origin(connection, server.settings) and site in _OWN_SITE):
                raise ProblemError(
                    "sign-in" if not told else "forbidden",
                    "What changes something takes a personal token; make one on Account.",
                )
        if changes and user is None:
            raise ProblemError("sign-in", SIGN_IN)
        password = connection.headers.get(WITH_LINK)
        given = None if password is None else unquote(password)
        return Caller(
            server, user, brought, who, Visitor(visit_of(connection), asking.address, given), asking
        )


def _note(server: Server, who: str, scope: Scope, status: int) -> None:
    if status in _REFUSALS:
        server.refusals.record(who, "api", scope["path"], status=int(status), method=scope["method"])


def _found(request: Request) -> Caller:
    caller: Caller = request.scope[_KEY]
    return caller


Asking = Annotated[Caller, Depends(_found)]
"""The caller, as a parameter of routes."""
TAKES_PASSWORD = f"This link opens with its password alone: send it as {WITH_LINK}."


def check_link(asking: Caller, target: Target) -> None:
    """Raise a ProblemError if a stranger's link does not open the target; it reveals nothing that exists."""
    if asking.user is not None:
        return
    if asking.token is None or not asking.first:
        opened = _still_open(asking)
    else:
        try:
            opened = asking.server.visitors.open(asking.token, asking.visitor, target)
        except PasswordError:
            raise ProblemError("sign-in", TAKES_PASSWORD) from None
        except LimitError as error:
            raise ProblemError("too-often", str(error), again_after(int(SECONDS))) from None
        except AccessError:
            opened = None
    if opened is None:
        raise ProblemError("sign-in", SIGN_IN)
    if opened != target:
        raise ProblemError("not-found", f"This link opens no {target.kind} of that id.")


def _still_open(asking: Caller) -> Target | None:
    return None if asking.token is None else asking.server.links.use(asking.token, count=False)


def shown_to(asking: Caller, result: Result) -> Result:
    """Return the result as the caller may see it."""
    if asking.user is not None:
        return result
    return public_view(result, small_groups=shows_small_groups(asking))


def map_shown_to(asking: Caller, found: RaterMap | None, result: Result) -> RaterMap | None:
    """Return the map of raters as the caller may see it, like the result."""
    if asking.user is not None or shows_small_groups(asking):
        return found
    return map_without_small_groups(found, result)


def shows_small_groups(asking: Caller) -> bool:
    """Return whether a stranger's link shows groups of few raters."""
    target = _still_open(asking)
    return target is not None and target.small_groups
