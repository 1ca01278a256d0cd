"""Uploads on their way into memory: how much may wait there, for one person and for all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus

from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from grasp_core.access import User
from grasp_core.errors import StoreError, TooOftenError
from grasp_core.server import Server
from grasp_core.web.gate import UPLOADS, who
from grasp_core.web.identity import Identify, asker
from grasp_core.web.problem import ProblemError, too_often

FOR_ONE = 1.5
"""The most that may wait of one person's, in multiples of the largest upload."""
FOR_ALL = 3.0
"""The most that may wait of everybody's, in multiples of the largest upload."""


class UploadLedger:
    """Uploads that arrive and that wait, by browser session and person.

    Parameters
    ----------
    waiting : callable
        Bytes that wait in memory, by session.
    largest : int
        Bytes of the largest upload.
    whose : callable, optional
        Id of the person who has a session's tab open; None where there is no such tab. By default all tabs
        are everybody's, as where nobody signs in.
    """

    def __init__(
        self,
        waiting: Callable[[], Mapping[str, int]],
        largest: int,
        whose: Callable[[str], str | None] | None = None,
    ) -> None:
        self._waiting = waiting
        self.largest = largest
        self.whose = whose
        self._owners: dict[str, str] = {}
        self._arriving: dict[str, int] = defaultdict(int)

    def is_arriving(self, session: str) -> bool:
        """Whether an upload of the session is on its way."""
        return session in self._arriving

    @contextmanager
    def admitted(self, session: str, owner: str, size: int, *, quota: int) -> Iterator[None]:
        """Count an upload while it arrives.

        Parameters
        ----------
        session, owner : str
        size : int
            Bytes, at most.
        quota : int
            Bytes that the person may still have on the server.

        Raises
        ------
        ProblemError
            If there is no room for it.
        """
        held = self._held()
        mine = sum(held[other] for other, whose in self._owners.items() if whose == owner)
        if mine + size > quota:
            raise _too_much(
                "Your files would take more room than you have here; delete some on Data, or wait"
            )
        if mine + size > FOR_ONE * self.largest or sum(held.values()) + size > FOR_ALL * self.largest:
            raise _too_much("Too many uploads wait in this server's memory; try again in a minute")
        self._owners[session] = owner
        self._arriving[session] += size
        try:
            yield
        finally:
            self._arriving[session] -= size
            if not self._arriving[session]:
                del self._arriving[session]

    def _held(self) -> defaultdict[str, int]:
        """Bytes of each session, arriving and waiting; owners of sessions without any are forgotten."""
        held = defaultdict(int, self._waiting())
        for session, size in self._arriving.items():
            held[session] += size
        self._owners = {session: owner for session, owner in self._owners.items() if session in held}
        return held


class UploadGate:
    """ASGI middleware that lets an upload in where there is room for it, and else says so.

    Parameters
    ----------
    app : ASGI application
    ledger : UploadLedger
    server : callable
        Returns the process's server, whose stored files count too.
    identify : callable
        Who makes a request; :class:`~grasp_core.web.gate.Gate` has refused those who may not upload.
    base_path : str
    """

    def __init__(
        self,
        app: ASGIApp,
        ledger: UploadLedger,
        server: Callable[[], Server],
        identify: Identify,
        base_path: str = "",
    ) -> None:
        self.app = app
        self.ledger = ledger
        self.server = server
        self.identify = identify
        self.below = f"{base_path}{UPLOADS}/"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it in one sentence."""
        changes = scope["type"] == "http" and scope["method"] in ("PUT", "DELETE")
        if not changes or not scope["path"].startswith(self.below):
            await self.app(scope, receive, send)
            return
        connection = HTTPConnection(scope)
        session = scope["path"].removeprefix(self.below).partition("/")[0]
        try:
            user = await who(self.identify, connection)
            await run_in_threadpool(self._check_tab, session, user)
            if scope["method"] == "DELETE":
                await self.app(scope, receive, send)
                return
            self.server().rates.upload(asker(connection, user))
            quota = await run_in_threadpool(room, self.server(), user)
            owner = "" if user is None else user.id
            with self.ledger.admitted(
                session, owner, stated_size(connection, self.ledger.largest), quota=quota
            ):
                await self.app(scope, receive, send)
        except ProblemError as refused:
            await refused.response()(scope, receive, send)
        except TooOftenError as often:
            await too_often(often).response()(scope, receive, send)
        except StoreError as error:
            await ProblemError(HTTPStatus.SERVICE_UNAVAILABLE, str(error)).response()(scope, receive, send)

    def _check_tab(self, session: str, user: User | None) -> None:
        """Refuse changes to what waits for somebody else's tab, whose id is no secret."""
        whose = self.ledger.whose
        if whose is not None and (user is None or whose(session) != user.id):
            raise ProblemError(HTTPStatus.FORBIDDEN, "This tab is not yours; load the page anew.")


def room(server: Server, user: User | None) -> int:
    """Bytes that the person may still have here."""
    return server.settings.file_quota_mb * 2**20 - (0 if user is None else server.files.used(user.id))


def stated_size(connection: HTTPConnection, largest: int) -> int:
    """The size that an upload states; one that states none is taken for the largest, where it is cut."""
    said = connection.headers.get("Content-Length", "")
    return int(said) if said.isascii() and said.isdigit() else largest


def _too_much(sentence: str) -> ProblemError:
    return ProblemError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"{sentence}.")
