"""Permutations cut into blocks; how they are cut never changes a digit."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

Block = tuple[int, int]
"""Permutations start to stop - 1."""

BLOCK_SECONDS = 0.2
"""Aimed processor time of a block: how soon a cancel takes effect and progress moves.

By the clock a block would take longer the more runs share the workers, and be cut the smaller; what is done
for each block beside would then grow with the runs.
"""
FIRST_BLOCK = 8
"""Fewest permutations in a block while the speed is unknown."""
FIRST_LABELS = 2**23
"""Annotations counted in a first block, and in any later one at least: long enough to share its tables."""
GROWTH = 8
"""How much larger than any before it a block may be: the first ones are too short to tell the speed."""
RECENT_BLOCKS = 4
"""Blocks that tell the speed: the first ones are too short to."""
LARGEST_BLOCK = 2048
"""Most permutations in a block, however fast they are: a worker holds the statistics of all of them."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Permutations done, out of `total`, and an estimate of the seconds left.

    `of`: the later stage that they are of, such as "pairs"; None for a run's groups.
    `waiting`: the sentence that says why nothing moves yet, where that is known.
    `share`, `stages`: how much of the whole run, for which `seconds_left` is then, and which stages are done.
    """

    done: int
    total: int
    seconds_left: float | None
    of: str | None = None
    waiting: str | None = None
    share: float | None = None
    stages: str = ""


class Blocks:
    """Blocks still to be computed, but for those that an earlier attempt has `computed`.

    `most`: permutations of the run where `total` are only those of the stages so far.
    `after`: the stage before, from whose speed this one starts.
    `labels`: annotations that a permutation has to count.
    """

    def __init__(
        self,
        total: int,
        computed: Iterable[Block] = (),
        *,
        most: int | None = None,
        after: Blocks | None = None,
        labels: int = FIRST_LABELS,
    ) -> None:
        self._gaps = _gaps(total, computed)
        # However slow: on a busy machine a small block takes as long, and there would be more of them.
        self._least = min(max(FIRST_LABELS // max(labels, 1), 1), LARGEST_BLOCK)
        self._size: int = max(self._least, FIRST_BLOCK) if after is None else after._size
        self._largest: int = 0 if after is None else after._largest
        self._first_end: tuple[float, int] | None = None
        self._recent: deque[tuple[int, float]] = deque(maxlen=RECENT_BLOCKS)
        self._done = total - sum(stop - start for start, stop in self._gaps)
        self.progress = Progress(self._done, most or total, None)

    def take(self) -> Block | None:
        """The next block, of as many permutations as take a block's time; None if none is left."""
        if not self._gaps:
            return None
        start, stop = self._gaps.pop()
        if start + self._size < stop:
            self._gaps.append((start + self._size, stop))
        return start, min(start + self._size, stop)

    def give_back(self, block: Block) -> None:
        """Hand a block back that was not computed."""
        self._gaps.append(block)

    def finish(self, block: Block, worker_seconds: float) -> None:
        """Count a block as computed, which took a worker so many seconds."""
        size = block[1] - block[0]
        self._done += size
        done, total = self._done, self.progress.total
        self._largest = max(self._largest, size)
        self._recent.append((size, worker_seconds))
        computed, seconds = (sum(of) for of in zip(*self._recent, strict=True))
        fitting = int(BLOCK_SECONDS * computed / max(seconds, 1e-9))  # a clock may see no time pass
        self._size = max(min(fitting, GROWTH * self._largest, LARGEST_BLOCK), self._least)
        now = time.perf_counter()
        if self._first_end is None:  # speed is taken from here on: workers may have had to start first
            self._first_end = (now, done)
        seconds, since = now - self._first_end[0], done - self._first_end[1]
        if since == 0:
            self.progress = Progress(done, total, None)
            return
        each = max(seconds, 1e-9) / since  # two blocks may seem to end at the same instant
        self.progress = Progress(done, total, each * (total - done))


def _gaps(total: int, computed: Iterable[Block]) -> list[Block]:
    """Ranges of 0 to `total` that are left, the last first."""
    gaps: list[Block] = []
    reached = 0
    for start, stop in sorted(computed):
        if reached < start:
            gaps.append((reached, start))
        reached = max(reached, stop)
    if reached < total:
        gaps.append((reached, total))
    return gaps[::-1]
