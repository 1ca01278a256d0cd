"""Provisional results: what a run has found while its permutations still go on."""

from __future__ import annotations

import time
from collections.abc import Callable

from grasp_core.engine.watching import Watcher
from grasp_core.permutation.nulls.tally import Tally
from grasp_core.result import Result

EVERY_SECONDS = 1.0
"""How often a provisional result is made; of several runs side by side, of one after the other."""
SHARE = 10
"""However large the results, making them takes at most one part of so many of the time."""


class Showing:
    """Makes a provisional result of the tally now and then, and hands it to a watcher.

    Parameters
    ----------
    make : callable
        Takes the tally and the seconds that permutations took so far.
    watcher : Watcher
    """

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
