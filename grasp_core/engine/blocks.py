"""Permutations cut into blocks; how they are cut never changes a digit."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass

Block = tuple[int, int]
"""Permutations start to stop - 1."""

BLOCK_SECONDS = 0.2
"""Aimed length of a block: how soon a cancel takes effect and progress moves."""
FIRST_BLOCK = 8
"""Permutations in a block while the speed is unknown."""
GROWTH = 4
"""How much larger than any before it a block may be: the first ones are too short to tell the speed."""


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
    computed : iterable of (start, stop)
        Blocks that an earlier attempt has computed.
    """

    def __init__(self, total: int, n_workers: int, computed: Iterable[Block] = ()) -> None:
        self._n_workers = n_workers
        self._gaps = _gaps(total, computed)
        self._size = FIRST_BLOCK
        self._largest = 0
        self._first_end: tuple[float, int] | None = None
        self.progress = Progress(total - sum(stop - start for start, stop in self._gaps), total, None)

    def take(self) -> Block | None:
        """The next block, or None where none is left to hand out."""
        if not self._gaps:
            return None
        start, stop = self._gaps.pop()
        if start + self._size < stop:
            self._gaps.append((start + self._size, stop))
        return start, min(start + self._size, stop)

    def give_back(self, block: Block) -> None:
        """Hand a block back that was not computed."""
        self._gaps.append(block)

    def finish(self, block: Block) -> None:
        """Count a block as computed."""
        done, total = self.progress.done + block[1] - block[0], self.progress.total
        self._largest = max(self._largest, block[1] - block[0])
        now = time.perf_counter()
        if self._first_end is None:  # speed is taken from here on: workers may have had to start first
            self._first_end = (now, done)
        seconds, since = now - self._first_end[0], done - self._first_end[1]
        if since == 0:
            self.progress = Progress(done, total, None)
            return
        each = max(seconds, 1e-9) / since  # two blocks may seem to end at the same instant
        fitting = int(BLOCK_SECONDS / (each * self._n_workers))
        self._size = max(min(fitting, GROWTH * self._largest), 1)
        self.progress = Progress(done, total, each * (total - done))


def _gaps(total: int, computed: Iterable[Block]) -> list[Block]:
    """What is left of 0 to `total`, last part first."""
    gaps: list[Block] = []
    reached = 0
    for start, stop in sorted(computed):
        if reached < start:
            gaps.append((reached, start))
        reached = max(reached, stop)
    if reached < total:
        gaps.append((reached, total))
    return gaps[::-1]
