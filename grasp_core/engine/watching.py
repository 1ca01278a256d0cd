"""What watches a run, and results shown on the way."""

from __future__ import annotations

import time
from collections.abc import Callable

from grasp_core.engine.pools.schedule import Progress
from grasp_core.model.annotations import FloatArray
from grasp_core.model.result import Result
from grasp_core.permutation.testing.tally import Tally


class Watcher:
    """Whoever watches a run; this one lets it go on."""

    @property
    def side_by_side(self) -> int:
        """Runs that share the time for provisional results with this one, itself included."""
        return 1

    @property
    def looks_on(self) -> bool:
        """Whether somebody sees provisional results; else none are made."""
        return True

    def check(self, progress: Progress) -> None:
        """Called several times a second; what this raises ends the run."""

    def found(self, provisional: Result) -> None:
        """What is found so far: the observed values at once, then about once a second with p-values."""


class Checkpoints:
    """Keeps what is computed of a run and gives it back to a later attempt; this one keeps nothing."""

    def of_stage(self, number: int) -> Checkpoints:
        """The same of a later stage, by its place among them."""
        return Checkpoints()

    def counted_before(self) -> bytes | None:
        """The state of an earlier attempt's tally, if it had begun to count."""
        return None

    def computed_before(self, width: int) -> list[tuple[int, FloatArray]]:
        """Blocks of an earlier attempt, as (start, array of shape (block, `width`))."""
        return []

    def begin(self, tally: Tally) -> None:
        """Nothing is computed yet; once the tally counts, its state is all that was computed."""

    def computed(self, start: int, values: FloatArray) -> None:
        """A block of values (b, ...) was computed, and added to the tally."""


EVERY_SECONDS = 1.0
"""How often a provisional result is made; of several runs side by side, of one after the other."""
SHARE = 10
"""However large the results, making them takes at most one part of so many of the time."""


class Showing:
    """Makes a provisional result of the tally and the seconds so far now and then, for a watcher."""

    def __init__(self, make: Callable[[Tally, float], Result], watcher: Watcher) -> None:
        self._make, self._watcher = make, watcher
        self._began = self._next = time.perf_counter()
        self._shown = -1

    def __call__(self, tally: Tally) -> None:
        """Show what is found, unless nobody looks, that was done a moment ago or nothing has come since."""
        now = time.perf_counter()
        if not self._watcher.looks_on or now < self._next or tally.in_null == self._shown:
            return
        self._shown = tally.in_null
        self._watcher.found(self._make(tally, now - self._began))
        took = time.perf_counter() - now
        self._next = now + self._watcher.side_by_side * max(EVERY_SECONDS, SHARE * took)
