"""Permutations cut into blocks, and whose block is next; neither changes a digit of a result."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import CancelledError, Executor, Future
from dataclasses import dataclass, field
from functools import partial

from grasp_core.engine.pools.workers import Computed

Block = tuple[int, int]
"""Permutations start to stop - 1."""

BLOCK_SECONDS = 0.2
"""Target for the processor time of a block: it decides how soon a cancel takes effect and progress moves.

Clock time would make blocks smaller the more runs share the workers, and the extra work of each block would
then grow with the number of runs.
"""
FIRST_BLOCK = 8
"""Fewest permutations in a block while the speed is unknown."""
FIRST_LABELS = 2**23
"""Fewest annotations counted in any block, the first included: enough for the tables that it shares."""
GROWTH = 8
"""Largest ratio of a block to the largest before it: the first blocks are too short to show the speed."""
RECENT_BLOCKS = 4
"""Number of latest blocks that the speed is measured on: the first ones are too short."""
LARGEST_BLOCK = 2048
"""Most permutations in a block, however fast they are: a worker keeps the statistics of all of them."""

LONGEST_EVERY = 4
"""One turn in so many is that of the stage that has waited longest."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Permutations done, out of `total`, and an estimate of the seconds left.

    `of`: the later stage of these permutations, such as "pairs"; None for a run's groups.
    `waiting`: the sentence that explains why nothing moves yet, if that is known.
    `share`, `stages`: share of the whole run that is done, and its stages; `seconds_left` is then the run's.
    """

    done: int
    total: int
    seconds_left: float | None
    of: str | None = None
    waiting: str | None = None
    share: float | None = None
    stages: str = ""


class Blocks:
    """Blocks still to be computed, without blocks that an earlier attempt has `computed`.

    `most`: permutations of the whole run, if `total` is the number up to the present stage.
    `after`: blocks of the stage before, whose speed this one starts with.
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
        # However slow blocks are: on a busy machine smaller ones take as long, and there would be more.
        self._least = min(max(FIRST_LABELS // max(labels, 1), 1), LARGEST_BLOCK)
        self._size: int = max(self._least, FIRST_BLOCK) if after is None else after._size
        self._largest: int = 0 if after is None else after._largest
        self._first_end: tuple[float, int] | None = None
        self._recent: deque[tuple[int, float]] = deque(maxlen=RECENT_BLOCKS)
        self._done = total - sum(stop - start for start, stop in self._gaps)
        self.progress = Progress(self._done, most or total, None)

    def take(self) -> Block | None:
        """Return the next block, with as many permutations as take a block's time; None if none is left."""
        if not self._gaps:
            return None
        start, stop = self._gaps.pop()
        if start + self._size < stop:
            self._gaps.append((start + self._size, stop))
        return start, min(start + self._size, stop)

    def give_back(self, block: Block) -> None:
        """Take back a block that was not computed."""
        self._gaps.append(block)

    def finish(self, block: Block, worker_seconds: float) -> None:
        """Count a block as computed; `worker_seconds` is the time that a worker took for it."""
        size = block[1] - block[0]
        self._done += size
        done, total = self._done, self.progress.total
        self._largest = max(self._largest, size)
        self._recent.append((size, worker_seconds))
        computed, seconds = (sum(of) for of in zip(*self._recent, strict=True))
        fitting = int(BLOCK_SECONDS * computed / max(seconds, 1e-9))  # a clock may see no time pass
        self._size = max(min(fitting, GROWTH * self._largest, LARGEST_BLOCK), self._least)
        now = time.perf_counter()
        if self._first_end is None:  # speed is measured from here on: workers may have had to start first
            self._first_end = (now, done)
        seconds, since = now - self._first_end[0], done - self._first_end[1]
        if since == 0:
            self.progress = Progress(done, total, None)
            return
        each = max(seconds, 1e-9) / since  # two blocks may seem to end at the same instant
        self.progress = Progress(done, total, each * (total - done))


@dataclass(slots=True, eq=False)
class Share:
    """A stage's share of the workers: their seconds so far, its blocks that wait, and since which turn."""

    seconds: float = 0.0
    waiting: deque[tuple[Future[Computed], Callable[[], Future[Computed]]]] = field(default_factory=deque)
    since: int = 0


class BlockTurns:
    """Gives an executor few blocks at a time: next is the stage that has had the fewest seconds.

    So the blocks of a short run do not wait for a round of long ones. Now and then it is the stage that has
    waited longest, so that short runs, however many, do not stop a long one.
    """

    def __init__(self, executor: Executor) -> None:
        self.executor = executor
        self._lock = threading.Lock()
        self._shares: list[Share] = []  # those with blocks that wait
        self._turn = 0
        self._given = 0

    def submit(self, share: Share, places: int, begin: Callable[[], Future[Computed]]) -> Future[Computed]:
        """Have a block begun when it is its turn, and at most `places` blocks of all stages are under way."""
        promised: Future[Computed] = Future()
        with self._lock:
            if not share.waiting:
                self._shares.append(share)
                share.since = self._turn
            share.waiting.append((promised, begin))
        self._give(places)
        return promised

    def _give(self, places: int) -> None:
        while True:
            with self._lock:
                if self._given >= places or not self._shares:
                    return
                share = self._next()
                promised, begin = share.waiting.popleft()
                if not share.waiting:
                    self._shares.remove(share)
                if not promised.set_running_or_notify_cancel():
                    continue
                self._turn += 1
                self._given += 1
                share.since = self._turn
            try:
                computing = begin()
            except Exception as error:  # refused: whoever waits for the block learns why
                with self._lock:
                    self._given -= 1
                promised.set_exception(error)
            else:
                computing.add_done_callback(partial(self._end, share, places, promised))

    def _next(self) -> Share:
        if self._turn % LONGEST_EVERY == LONGEST_EVERY - 1:
            return min(self._shares, key=lambda share: share.since)
        return min(self._shares, key=lambda share: (share.seconds, share.since))

    def _end(
        self, share: Share, places: int, promised: Future[Computed], computing: Future[Computed]
    ) -> None:
        with self._lock:
            self._given -= 1
        error = CancelledError() if computing.cancelled() else computing.exception()
        if error is None:
            share.seconds += computing.result().seconds
            promised.set_result(computing.result())
        else:
            promised.set_exception(error)
        self._give(places)


def _gaps(total: int, computed: Iterable[Block]) -> list[Block]:
    """Return the ranges of 0 to `total` that are left, the last first."""
    gaps: list[Block] = []
    reached = 0
    for start, stop in sorted(computed):
        if reached < start:
            gaps.append((reached, start))
        reached = max(reached, stop)
    if reached < total:
        gaps.append((reached, total))
    return gaps[::-1]
