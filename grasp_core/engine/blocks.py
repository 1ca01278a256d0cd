"""Permutations cut into blocks; how they are cut never changes a digit."""

from __future__ import annotations

import time
from dataclasses import dataclass

BLOCK_SECONDS = 0.2
"""Aimed length of a block: how soon a cancel takes effect and progress moves."""
FIRST_BLOCK = 8
"""Permutations in a block while the speed is unknown."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Permutations done, out of `total`, and an estimate of the seconds left."""

    done: int
    total: int
    seconds_left: float | None


class Blocks:
    """Blocks still to be computed.

    Parameters
    ----------
    total : int
        Permutations of the run.
    n_workers : int
        Blocks computed side by side.
    """

    def __init__(self, total: int, n_workers: int) -> None:
        self._total = total
        self._n_workers = n_workers
        self._next = 0
        self._returned: list[tuple[int, int]] = []
        self._done = 0
        self._size = FIRST_BLOCK
        self._first_end: tuple[float, int] | None = None

    def take(self) -> tuple[int, int] | None:
        """The next block as (start, stop), or None where none is left to hand out."""
        if self._returned:
            return self._returned.pop()
        if self._next == self._total:
            return None
        block = (self._next, min(self._next + self._size, self._total))
        self._next = block[1]
        return block

    def give_back(self, block: tuple[int, int]) -> None:
        """Hand a block back that was not computed."""
        self._returned.append(block)

    def finish(self, block: tuple[int, int]) -> Progress:
        """Count a block as computed."""
        self._done += block[1] - block[0]
        now = time.perf_counter()
        if self._first_end is None:  # speed is taken from here on: workers may have had to start first
            self._first_end = (now, self._done)
        seconds, done = now - self._first_end[0], self._done - self._first_end[1]
        if not done:
            return Progress(self._done, self._total, None)
        each = seconds / done
        self._size = max(int(BLOCK_SECONDS / (each * self._n_workers)), 1)
        return Progress(self._done, self._total, each * (self._total - self._done))
