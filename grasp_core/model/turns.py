"""Turns at what takes a server long: so many at a time, a share for each person, and nobody waits for ever.

Each kind of work has turns of its own, so that one kind keeps no other waiting. Who waits holds a thread, of
which a server has some 40; so few may wait, and further ones are told to come again.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import NamedTuple

from grasp_core.model.errors import TooOftenError

AGAIN_SECONDS = 5
"""When somebody may come again who found no place."""
_POLL = 0.25
"""Seconds after which whoever waits may give up."""
_asking: ContextVar[str | None] = ContextVar("asking", default=None)


def ask_as(person: str | None) -> None:
    """Say for whom this thread, and what it starts in its context, asks: a person, an address or a link."""
    _asking.set(person)


def link_name(token: str) -> str:
    """All who come by a share link, as one who asks."""
    return f"link {hashlib.sha256(token.encode('utf-8', 'surrogatepass')).hexdigest()}"


def asking() -> str | None:
    """Who asks; None where nobody shares with others, as on a terminal."""
    return _asking.get()


class Load(NamedTuple):
    """How many are at work, and how many wait."""

    working: int
    waiting: int


@dataclass(eq=False)
class _Place:
    """A place in the queue."""

    person: str | None


_ALL: dict[str, Turns] = {}


def loads() -> Mapping[str, Load]:
    """How much is under way in this process, by kind of work."""
    return {what: turns.load for what, turns in _ALL.items()}


class Turns:
    """Turns at one kind of work.

    `what`: work that is done, as messages call it, e.g. "reading files".
    `at_once`: how many may be at work.
    `each`: how many of them may be one person's.
    `waiting`, `waiting_each`: how many may wait, and how many of them may be one person's.
    `patience`: seconds after which whoever waits is told to come again.
    """

    def __init__(
        self, what: str, *, at_once: int, each: int, waiting: int, waiting_each: int, patience: float
    ) -> None:
        self._what = what
        self._at_once, self._each = at_once, each
        self._most, self._most_each, self._patience = waiting, waiting_each, patience
        self._changed = threading.Condition()
        self._working: Counter[str | None] = Counter()
        self._begun: dict[str | None, float] = {}  # when those who are here last had a turn
        self._queue: list[_Place] = []
        _ALL[what] = self

    @property
    def load(self) -> Load:
        """How much is under way."""
        with self._changed:
            return Load(self._working.total(), len(self._queue))

    @contextmanager
    def turn(self, waits: Callable[[], None] = lambda: None) -> Iterator[None]:
        """Wait for a turn, and have it.

        The next one is who has fewest turns just now, then whose last turn began first, then who has waited
        longest. Who neither works nor waits is somebody new.

        `waits`: called several times a second; what it raises gives up.

        Raises TooOftenError if too many wait, or it takes too long.
        """
        place = self._queued(asking())
        try:
            self._wait(place, waits)
        except BaseException:
            with self._changed:
                self._queue.remove(place)
                self._forget(place.person)
                self._changed.notify_all()
            raise
        try:
            yield
        finally:
            with self._changed:
                self._working[place.person] -= 1
                self._forget(place.person)
                self._changed.notify_all()

    def _queued(self, person: str | None) -> _Place:
        with self._changed:
            mine = sum(place.person == person for place in self._queue)
            if person is not None and (mine >= self._most_each or len(self._queue) >= self._most):
                raise self._busy()
            place = _Place(person)
            self._queue.append(place)
            return place

    def _wait(self, place: _Place, waits: Callable[[], None]) -> None:
        until = time.monotonic() + self._patience
        while True:
            with self._changed:
                if self._next() is place:
                    self._queue.remove(place)
                    self._working[place.person] += 1
                    self._begun[place.person] = time.monotonic()
                    self._changed.notify_all()
                    return
                self._changed.wait(_POLL)
            waits()
            if place.person is not None and time.monotonic() > until:
                raise self._busy()

    def _next(self) -> _Place | None:
        """Whose turn it is, if a place is free for one of those who wait."""
        if self._working.total() >= self._at_once:
            return None
        able = [one for one in self._queue if one.person is None or self._working[one.person] < self._each]
        return min(
            able, key=lambda one: (self._working[one.person], self._begun.get(one.person, 0.0)), default=None
        )

    def _forget(self, person: str | None) -> None:
        if not self._working[person]:
            del self._working[person]
            if all(place.person != person for place in self._queue):
                self._begun.pop(person, None)

    def _busy(self) -> TooOftenError:
        return TooOftenError(
            f"This server is busy {self._what}; try again in {AGAIN_SECONDS} seconds.", AGAIN_SECONDS
        )
