"""Computation of prepared runs' permutations, block by block, on a `concurrent.futures` executor."""

import logging
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    ThreadPoolExecutor,
    wait,
)
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar

from grasp_core.analysis.panel import BlockWork
from grasp_core.engine.pools import workers
from grasp_core.engine.pools.schedule import BLOCK_SECONDS, Block, Blocks, BlockTurns, Share
from grasp_core.engine.pools.workers import Computed, SentWork
from grasp_core.model.annotations import FloatArray
from grasp_core.model.errors import WorkerError

log = logging.getLogger(__name__)

AHEAD = 2
"""Most blocks or arguments per worker that are being computed, or whose results wait for earlier ones."""
ATTEMPTS = 3
"""Attempts in a row at work whose workers die, perhaps because of other work."""
GAVE_UP = (
    f"The worker processes ended {ATTEMPTS} times before the run got on, perhaps for want of memory;"
    " run it again, or on a larger machine."
)

A = TypeVar("A")
B = TypeVar("B")


class Pool:
    """Workers, by default one per core, started when first needed and replaced when they die."""

    def __init__(self, make_executor: Callable[[int], Executor], n_workers: int | None = None) -> None:
        self._n_workers = n_workers or workers.available_cores()
        self._make_executor = make_executor
        self._turns: BlockTurns | None = None
        self._lock = threading.Lock()
        self._files = tempfile.TemporaryDirectory(prefix="grasp-", ignore_cleanup_errors=True)
        self.folder = Path(self._files.name)

    @property
    def n_workers(self) -> int:
        """Number of blocks computed side by side."""
        return self._n_workers

    def warm(self) -> None:
        """Start the workers now, so that the first run finds them ready."""
        executor = self._ready().executor
        for _ in range(self.n_workers):
            executor.submit(workers.compute_nothing)

    def permute(
        self,
        work: BlockWork,
        seed: int,
        blocks: Blocks,
        *,
        store: Callable[[Block, FloatArray], None],
        check: Callable[[], None],
    ) -> None:
        """Compute every block that is left; an exception from `check` ends the work.

        `store` gets blocks in any order. Stages of runs side by side take turns: see
        :class:`~grasp_core.engine.pools.schedule.BlockTurns`.
        """
        turns, losses = self._ready(), 0
        while losses < ATTEMPTS:
            before = blocks.progress.done
            try:
                with self._holding(work, turns.executor) as sent:
                    self._permute_on(turns, (type(work), seed, sent), blocks, store, check)
                return
            except BrokenExecutor:
                losses = 1 if blocks.progress.done > before else losses + 1
                log.warning("a worker process ended; its blocks are computed again")
                turns = self._ready(broken=turns.executor)
        raise WorkerError(GAVE_UP)

    def each(
        self, function: Callable[[A], B], arguments: Iterable[A], *, check: Callable[[], None] = lambda: None
    ) -> Iterator[B]:
        """Compute a function of each argument in the workers, in order; an error of `check` ends the work.

        `function`: importable by name, without effects: if a worker dies, the call is repeated. At most as
        many calls as workers run at a time; with results that wait, :data:`AHEAD` for each.
        """
        left, waiting = deque(arguments), deque[tuple[A, Future[B]]]()
        executor, attempts = self._ready().executor, ATTEMPTS

        def hand_out() -> None:
            """Keep workers busy, also while the caller takes results, without computing all in advance."""
            while len(waiting) < AHEAD * self.n_workers and left:
                if sum(not future.done() for _, future in waiting) >= self.n_workers:
                    return
                future = executor.submit(function, left[0])
                waiting.append((left.popleft(), future))

        try:
            while left or waiting:
                try:
                    hand_out()
                    if not wait([waiting[0][1]], timeout=BLOCK_SECONDS).done:
                        check()
                        continue
                    result = waiting[0][1].result()
                    hand_out()
                except BrokenExecutor:
                    attempts -= 1
                    if not attempts:
                        raise WorkerError(GAVE_UP) from None
                    left.extendleft(argument for argument, _ in reversed(waiting))
                    waiting.clear()
                    executor = self._ready(broken=executor).executor
                    continue
                waiting.popleft()
                attempts = ATTEMPTS
                yield result
        finally:
            for _, future in waiting:
                future.cancel()

    def close(self, *, wait: bool = True) -> None:
        """End the workers and delete the working files; without `wait`, work may still be running."""
        with self._lock:
            turns, self._turns = self._turns, None
        if turns is not None:
            turns.executor.shutdown(wait=wait, cancel_futures=True)
        self._files.cleanup()

    def _ready(self, broken: Executor | None = None) -> BlockTurns:
        with self._lock:
            if broken is not None and self._turns is not None and self._turns.executor is broken:
                broken.shutdown(wait=False)
                self._turns = None
            if self._turns is None:
                self._turns = BlockTurns(self._make_executor(self._n_workers))
            return self._turns

    @contextmanager
    def _holding(self, work: BlockWork, executor: Executor) -> Iterator[BlockWork | SentWork]:
        """Keep the work where workers find it, meanwhile: threads share it, processes read a file."""
        if isinstance(executor, ThreadPoolExecutor):
            yield work
            return
        with tempfile.NamedTemporaryFile(dir=self.folder, suffix=".npz") as file:
            file.write(workers.pack(work))
            file.flush()
            yield SentWork(file.name)

    def _permute_on(
        self,
        turns: BlockTurns,
        what: tuple[type[BlockWork], int, BlockWork | SentWork],
        blocks: Blocks,
        store: Callable[[Block, FloatArray], None],
        check: Callable[[], None],
    ) -> None:
        kind, seed, sent = what
        waiting: dict[Future[Computed], Block] = {}
        share, submit = Share(), turns.executor.submit
        try:
            while True:
                check()
                places = AHEAD * self.n_workers
                while len(waiting) < places and (block := blocks.take()):
                    begin = partial(submit, workers.compute_block, kind, seed, *block, sent=sent)
                    waiting[turns.submit(share, places, begin)] = block
                if not waiting:
                    return
                finished, _ = wait(waiting, timeout=BLOCK_SECONDS, return_when=FIRST_COMPLETED)
                for future in finished:
                    computed = future.result()
                    block = waiting.pop(future)
                    store(block, computed.values)
                    blocks.finish(block, computed.seconds)
        finally:
            for future, block in waiting.items():
                future.cancel()
                blocks.give_back(block)
