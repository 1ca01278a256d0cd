"""Data sets that questions brought along, held in memory until their runs are computed."""

from __future__ import annotations

import itertools
import threading
from collections import OrderedDict
from dataclasses import dataclass

from grasp_core.io.dataset.load import Dataset

_MOST = 8


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """A data set that is held.

    Parameters
    ----------
    number : int
        Tells it from what is held later for the same question.
    dataset : Dataset
    load_s : float
        Seconds that reading it took.
    """

    number: int
    dataset: Dataset
    load_s: float


class Holding:
    """The data sets of the latest questions, by the key of their runs; for any number of threads."""

    def __init__(self) -> None:
        self._held: OrderedDict[str, Held] = OrderedDict()
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)

    def hold(self, key: str, dataset: Dataset, load_s: float) -> int:
        """Hold a question's data, which took so long to read; returns the number that they are held under."""
        with self._lock:
            held = Held(next(self._numbers), dataset, load_s)
            self._held[key] = held
            if len(self._held) > _MOST:
                self._held.popitem(last=False)
        return held.number

    def find(self, key: str) -> Held | None:
        """What is held of a question now."""
        return self._held.get(key)

    def drop(self, key: str, number: int) -> None:
        """Hold this no longer; what is held since then, for the same question asked again, stays."""
        with self._lock:
            held = self._held.get(key)
            if held is not None and held.number == number:
                del self._held[key]
