"""Watchers and checkpoints of a run, and results shown on the way."""

from __future__ import annotations

import time
from collections.abc import Callable

from grasp_core.engine.pools.schedule import Progress
from grasp_core.model.annotations import FloatArray
from grasp_core.model.result import Result
from grasp_core.permutation.testing.tally import Tally


class Watcher:
    """Watches a run; this class lets every run continue."""

    @property
    def side_by_side(self) -> int:
        """Number of runs that share the time for provisional results, this one included."""
        return 1

    @property
    def looks_on(self) -> bool:
        """True if somebody sees provisional results; else none are made."""
        return True

    def check(self, progress: Progress) -> None:
        """Take the progress, several times a second; an exception from here ends the run."""

    def found(self, provisional: Result) -> None:
        """Take a provisional result: the observed values at once, then about once a second with p-values."""


class Checkpoints:
    """Saves the computed values of a run and gives them to a later attempt; this class saves nothing."""

    def of_stage(self, number: int) -> Checkpoints:
        """Return the checkpoints of a later stage, by its place among them."""
        return Checkpoints()

    def counted_before(self) -> bytes | None:
        """Return the state of an earlier attempt's tally, if it had begun to count."""
        return None

    def computed_before(self, width: int) -> list[tuple[int, FloatArray]]:
        """Return blocks of an earlier attempt, as (start, array of shape (block, `width`))."""
        return []

    def begin(self, tally: Tally) -> None:
        """Take the tally before any block; once it counts, its state contains all that was computed."""

    def computed(self, start: int, values: FloatArray) -> None:
        """Take a block of values (b, ...) that was computed and added to the tally."""


EVERY_SECONDS = 1.0
"""Seconds from one provisional result to the next; runs side by side have them made in turn."""
SHARE = 10
"""Making provisional results takes at most one part in this number of the time, however large they are."""


class Showing:
    """Makes provisional results from the tally and the seconds so far, from time to time, for a watcher."""

    def __init__(self, make: Callable[[Tally, float], Result], watcher: Watcher) -> None:
        self._make, self._watcher = make, watcher
        self._began = self._next = time.perf_counter()
        self._shown = -1

    def __call__(self, tally: Tally) -> None:
        """Show a provisional result, unless nobody looks, the last is recent, or nothing has changed."""
        now = time.perf_counter()
        if not self._watcher.looks_on or now < self._next or tally.in_null == self._shown:
            return
        self._shown = tally.in_null
        self._watcher.found(self._make(tally, now - self._began))
        took = time.perf_counter() - now
        self._next = now + self._watcher.side_by_side * max(EVERY_SECONDS, SHARE * took)
