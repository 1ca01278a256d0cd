"""Uploads on their way into memory: how much may wait there, for one person and for all.

What has arrived counts, not what an upload says that it will send: whoever sends nothing takes nobody's room.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus

from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from grasp_core.model.access import User
from grasp_core.model.errors import StoreError, TooOftenError
from grasp_core.server.gate import UPLOADS, who
from grasp_core.server.identity import Identify, asker
from grasp_core.server.problem import ProblemError, again_after, store_away, too_often
from grasp_core.server.server import Server

FOR_ONE = 1.5
"""The most that may wait of one person's, in multiples of the largest upload."""
FOR_ALL = 3.0
"""The most that may wait of everybody's, in multiples of the largest upload."""
AGAIN_SECONDS = 20
"""When to come again who finds no room now; what waits is taken up within some seconds, as a rule."""
Arrived = Callable[[int], None]
"""Told how many bytes have arrived; raises ProblemError where there is no room for them any more."""


class UploadLedger:
    """Uploads that arrive and that wait, by browser session and person.

    `waiting`: bytes that wait in memory, by session.
    `whose`: id of the person who has a session's tab open; None where there is no such tab. By default all
        tabs are everybody's, as where nobody signs in.
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
        self._arriving: Counter[str] = Counter()
        self._under_way: Counter[str] = Counter()

    def is_arriving(self, session: str) -> bool:
        """Whether an upload of the session is on its way."""
        return session in self._under_way

    @contextmanager
    def admitted(self, session: str, owner: str, size: int, *, quota: int) -> Iterator[Arrived]:
        """Count an upload of a stated size while it arrives; the person may still have `quota` bytes.

        Raises ProblemError if there is no room for it; with when to come again, where that passes.
        """
        if size > quota:
            raise _too_much("Your files would take more room than you have here; delete some on Data.")
        if size > FOR_ONE * self.largest:
            raise _too_much(f"Files of {self.largest / 2**20:,.0f} MiB at most are taken.")
        self._check_room(owner, size, quota)
        self._owners[session] = owner
        self._under_way[session] += 1
        mine = 0

        def arrived(count: int) -> None:
            nonlocal mine
            mine += count
            self._arriving[session] += count
            self._check_room(owner, 0, quota)

        try:
            yield arrived
        finally:
            self._arriving[session] -= mine
            self._under_way[session] -= 1
            if not self._under_way[session]:
                del self._under_way[session], self._arriving[session]

    def _check_room(self, owner: str, size: int, quota: int) -> None:
        """Refuse so many bytes more, for now, where there is no room for them."""
        held = self._held()
        mine = sum(held[other] for other, whose in self._owners.items() if whose == owner)
        if mine + size > min(quota, FOR_ONE * self.largest):
            raise _not_now("Other uploads of yours wait here")
        if sum(held.values()) + size > FOR_ALL * self.largest:
            raise _not_now("Too many uploads wait in this server's memory")

    def _held(self) -> Counter[str]:
        """Bytes of each session, arrived and waiting; owners of sessions without any are forgotten."""
        held = Counter(self._waiting())
        held.update(self._arriving)
        known = held.keys() | self._under_way.keys()
        self._owners = {session: owner for session, owner in self._owners.items() if session in known}
        return held


@dataclass(eq=False)
class UploadGate:
    """ASGI middleware that lets an upload in where there is room for it, and else says so.

    :class:`~grasp_core.server.gate.Gate` has refused those who may not upload.
    """

    app: ASGIApp
    ledger: UploadLedger
    server: Callable[[], Server]
    identify: Identify
    base_path: str = ""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it in one sentence."""
        below = f"{self.base_path}{UPLOADS}/"
        changes = scope["type"] == "http" and scope["method"] in ("PUT", "DELETE")
        if not changes or not scope["path"].startswith(below):
            await self.app(scope, receive, send)
            return
        connection = HTTPConnection(scope)
        session = scope["path"].removeprefix(below).partition("/")[0]
        try:
            user = await who(self.identify, connection)
            whose = self.ledger.whose  # of what waits for somebody else's tab, whose id is no secret
            if whose is not None and (user is None or await run_in_threadpool(whose, session) != user.id):
                raise ProblemError(HTTPStatus.FORBIDDEN, "This tab is not yours; load the page anew.")
            if scope["method"] == "DELETE":
                await self.app(scope, receive, send)
                return
            self.server().rates.upload(asker(connection, user))
            quota = await run_in_threadpool(room, self.server(), user)
            owner = "" if user is None else user.id
            size = stated_size(connection, self.ledger.largest)
            with self.ledger.admitted(session, owner, size, quota=quota) as arrived:

                async def counted() -> Message:
                    message = await receive()
                    arrived(len(message.get("body", b"")))
                    return message

                await self.app(scope, counted, send)
        except (ProblemError, TooOftenError, StoreError) as error:
            refused = error if isinstance(error, ProblemError) else store_away(str(error))
            refused = too_often(error) if isinstance(error, TooOftenError) else refused
            await refused.response(self.base_path)(scope, receive, send)


def room(server: Server, user: User | None) -> int:
    """Bytes that the person may still have here."""
    return server.settings.file_quota_mb * 2**20 - (0 if user is None else server.files.used(user.id))


def stated_size(connection: HTTPConnection, largest: int) -> int:
    """The size that an upload states; one that states none is taken for the largest, where it is cut."""
    said = connection.headers.get("Content-Length", "")
    return int(said) if said.isascii() and said.isdigit() else largest


def _too_much(sentence: str) -> ProblemError:
    return ProblemError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, sentence)


def _not_now(sentence: str) -> ProblemError:
    return ProblemError(
        HTTPStatus.SERVICE_UNAVAILABLE,
        f"{sentence}; try again in {AGAIN_SECONDS} seconds.",
        again_after(AGAIN_SECONDS),
    )
