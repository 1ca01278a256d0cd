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
from pathlib import Path
from typing import TypeVar

from grasp_core.analysis.panel import BlockWork
from grasp_core.engine.pools import workers
from grasp_core.engine.pools.schedule import BLOCK_SECONDS, Block, Blocks
from grasp_core.engine.pools.workers import Computed, SentWork
from grasp_core.model.annotations import FloatArray
from grasp_core.model.errors import WorkerError

log = logging.getLogger(__name__)

AHEAD = 2
"""Most arguments per worker that are being computed, or whose results wait for earlier ones."""
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
        self._executor: Executor | None = None
        self._lock = threading.Lock()
        self._files = tempfile.TemporaryDirectory(prefix="grasp-", ignore_cleanup_errors=True)
        self.folder = Path(self._files.name)

    @property
    def n_workers(self) -> int:
        """Number of blocks computed side by side."""
        return self._n_workers

    def warm(self) -> None:
        """Start the workers now, so that the first run finds them ready."""
        executor = self._ready()
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

        `store` gets blocks in any order. Few blocks wait in the executor's queue at any time, so that runs
        side by side share the workers evenly, however long they are.
        """
        executor, losses = self._ready(), 0
        while losses < ATTEMPTS:
            before = blocks.progress.done
            try:
                with self._holding(work, executor) as sent:
                    self._permute_on(executor, (type(work), seed, sent), blocks, store, check)
                return
            except BrokenExecutor:
                losses = 1 if blocks.progress.done > before else losses + 1
                log.warning("a worker process ended; its blocks are computed again")
                executor = self._ready(broken=executor)
        raise WorkerError(GAVE_UP)

    def each(
        self, function: Callable[[A], B], arguments: Iterable[A], *, check: Callable[[], None] = lambda: None
    ) -> Iterator[B]:
        """Compute a function of each argument in the workers, in order; an error of `check` ends the work.

        `function`: importable by name, without effects: if a worker dies, the call is repeated. At most as
        many calls as workers run at a time; with results that wait, :data:`AHEAD` for each.
        """
        left, waiting = deque(arguments), deque[tuple[A, Future[B]]]()
        executor, attempts = self._ready(), ATTEMPTS

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
                    executor = self._ready(broken=executor)
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
            executor, self._executor = self._executor, None
        if executor is not None:
            executor.shutdown(wait=wait, cancel_futures=True)
        self._files.cleanup()

    def _ready(self, broken: Executor | None = None) -> Executor:
        with self._lock:
            if broken is not None and self._executor is broken:
                broken.shutdown(wait=False)
                self._executor = None
            if self._executor is None:
                self._executor = self._make_executor(self._n_workers)
            return self._executor

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
        executor: Executor,
        what: tuple[type[BlockWork], int, BlockWork | SentWork],
        blocks: Blocks,
        store: Callable[[Block, FloatArray], None],
        check: Callable[[], None],
    ) -> None:
        kind, seed, sent = what
        waiting: dict[Future[Computed], Block] = {}
        try:
            while True:
                check()
                while len(waiting) < 2 * self.n_workers and (block := blocks.take()):
                    try:
                        future = executor.submit(workers.compute_block, kind, seed, *block, sent=sent)
                    except BrokenExecutor:  # refused: no worker has the block
                        blocks.give_back(block)
                        raise
                    waiting[future] = block
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
