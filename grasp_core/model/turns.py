"""Turns at work that takes a server long: limits in all and per person, and nobody waits for ever.

Each kind of work has its own turns, so that one kind does not delay another. A request that waits occupies a
thread, so only few may wait; others are refused and asked to try again. A server has threads for all of them
(:func:`most_held`) besides those that answer everybody else.
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
"""Seconds after which somebody who was refused may try again."""
_POLL = 0.25
"""Seconds between two checks whether a waiting request should give up."""
_asking: ContextVar[str | None] = ContextVar("asking", default=None)


def ask_as(person: str | None) -> None:
    """Set for whom this thread and its context ask for turns: a person, an address or a link."""
    _asking.set(person)


def link_name(token: str) -> str:
    """Return the name under which all visitors of a share link count as one."""
    return f"link {hashlib.sha256(token.encode('utf-8', 'surrogatepass')).hexdigest()}"


def asking() -> str | None:
    """Return who asks for turns here; None if nobody else uses the process, as on a terminal."""
    return _asking.get()


class Load(NamedTuple):
    """Numbers of requests at work and waiting."""

    working: int
    waiting: int


@dataclass(eq=False)
class _QueuePlace:
    """A place in the queue."""

    person: str | None


_ALL: dict[str, Turns] = {}


def loads() -> Mapping[str, Load]:
    """Return the load of this process by kind of work."""
    return {what: turns.load for what, turns in _ALL.items()}


_ending = threading.Event()


def end() -> None:
    """Refuse everybody who waits, now and later: this process is about to end."""
    _ending.set()


def check_going() -> None:
    """Raise TooOftenError once :func:`end` was called; work that takes long calls this again and again."""
    if _ending.is_set():
        raise TooOftenError(f"This server is ending; try again in {AGAIN_SECONDS} seconds.", AGAIN_SECONDS)


def most_held() -> int:
    """Return how many requests can be at work and waiting at a time, of all kinds of work together."""
    return sum(turns.most_held for turns in _ALL.values())


class Turns:
    """Turns at one kind of work.

    `what`: name of the work in messages, e.g. "reading files".
    `each`: most of them from one person.
    `waiting`, `waiting_each`: most requests that wait, and most of them from one person.
    `patience`: seconds of waiting after which a request is refused.
    """

    def __init__(
        self, what: str, *, at_once: int, each: int, waiting: int, waiting_each: int, patience: float
    ) -> None:
        self._what = what
        self._at_once, self._each = at_once, each
        self._most, self._most_each, self._patience = waiting, waiting_each, patience
        self._changed = threading.Condition()
        self._working: Counter[str | None] = Counter()
        self._begun: dict[str | None, float] = {}  # start of the last turn of those who work or wait
        self._queue: list[_QueuePlace] = []
        _ALL[what] = self

    @property
    def most_held(self) -> int:
        """The most requests that work and wait at a time."""
        return self._at_once + self._most

    @property
    def load(self) -> Load:
        """The present load."""
        with self._changed:
            return Load(self._working.total(), len(self._queue))

    @contextmanager
    def turn(self, waits: Callable[[], None] = lambda: None) -> Iterator[None]:
        """Wait for a turn, and take it for the length of the context.

        The next turn goes to the person with the fewest turns now; among equals, to the one whose last turn
        began first, then to who has waited longest. A person who neither works nor waits counts as new.

        `waits`: called several times a second while waiting; an exception that it raises ends the wait.
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

    def _queued(self, person: str | None) -> _QueuePlace:
        with self._changed:
            mine = sum(place.person == person for place in self._queue)
            if person is not None and (mine >= self._most_each or len(self._queue) >= self._most):
                raise self._busy()
            place = _QueuePlace(person)
            self._queue.append(place)
            return place

    def _wait(self, place: _QueuePlace, waits: Callable[[], None]) -> None:
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
            check_going()
            waits()
            if place.person is not None and time.monotonic() > until:
                raise self._busy()

    def _next(self) -> _QueuePlace | None:
        """Return the place in the queue that is next; None if no turn is free for any of them."""
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
