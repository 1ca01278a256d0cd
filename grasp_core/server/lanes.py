"""Lanes of requests: few of one caller are answered at a time, and the others wait without a thread."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary

AT_ONCE = 8
"""Most requests of one caller at a time whose answers are being made, each in a thread."""


class Lanes:
    """Lets few requests of each caller, or address, through at a time; the others wait in order.

    Python runs one thread at a time. Of sixty requests at once, all with threads, a page would get a sixtieth
    of the interpreter.
    """

    def __init__(self) -> None:
        self._lanes: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    @asynccontextmanager
    async def lane(self, name: str) -> AsyncIterator[None]:
        """Wait for a place in this lane, and have it for the length of the context."""
        lane = self._lanes.get(name)
        if lane is None:
            lane = self._lanes[name] = asyncio.Semaphore(AT_ONCE)
        async with lane:
            yield
