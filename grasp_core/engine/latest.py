"""Values that the threads of a worker share."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Generic, TypeVar

T = TypeVar("T")


class Latest(Generic[T]):
    """The latest few values by key: whoever asks first makes one, and others who want it wait for that.

    Parameters
    ----------
    most : int
        How many are kept.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: dict[Hashable, Future[T]] = {}
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The value of a key; one that could not be made is asked for anew the next time."""
        with self._lock:
            known = self._held.pop(key, None)
            found = known or Future[T]()
            self._held[key] = found  # the last is the latest
            while len(self._held) > self._most:
                del self._held[next(iter(self._held))]
        if known is None:
            try:
                found.set_result(make())
            except BaseException as error:
                found.set_exception(error)
                with self._lock:
                    self._held.pop(key, None)
        return found.result()
