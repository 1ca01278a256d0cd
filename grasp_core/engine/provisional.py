"""Provisional results: what a run has found while its permutations still go on."""

from __future__ import annotations

import time

from grasp_core.engine.run import Prepared, finish
from grasp_core.engine.watching import Watcher
from grasp_core.permutation.nulls.tally import Tally

EVERY_SECONDS = 1.0
"""How often a provisional result is made."""
SHARE = 10
"""However large the result, making it takes at most one part of so many of the time."""


class Showing:
    """Makes a provisional result of the tally now and then, and hands it to a watcher.

    Parameters
    ----------
    prepared : Prepared
    watcher : Watcher
    load_s : float
        Seconds that reading took, for the result's timing.
    """

    def __init__(self, prepared: Prepared, watcher: Watcher, load_s: float) -> None:
        self._prepared, self._watcher, self._load_s = prepared, watcher, load_s
        self._began = self._next = time.perf_counter()
        self._shown = -1

    def __call__(self, tally: Tally) -> None:
        """Show what is found, unless that was done a moment ago or nothing has come since."""
        now = time.perf_counter()
        if now < self._next or tally.in_null == self._shown:
            return
        self._shown = tally.in_null
        spent = now - self._began
        self._watcher.found(
            finish(self._prepared, tally, load_s=self._load_s, permutations_s=spent, provisional=True)
        )
        took = time.perf_counter() - now
        self._next = now + max(EVERY_SECONDS, SHARE * took)
