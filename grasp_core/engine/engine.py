"""Runs in blocks: progress, time left, cancel; the same question is answered once."""

from __future__ import annotations

import functools
import logging
import secrets
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Literal

import numpy as np

from grasp_core import __version__
from grasp_core.annotations import FloatArray
from grasp_core.engine import workers
from grasp_core.engine.blocks import BLOCK_SECONDS, Blocks, Progress
from grasp_core.engine.run import Prepared, finish, prepare
from grasp_core.errors import GraspError, RunCancelledError, WorkerError
from grasp_core.io.load import Dataset
from grasp_core.result import RunResult
from grasp_core.spec import RunSpec

log = logging.getLogger(__name__)

State = Literal["queued", "running", "done", "failed", "cancelled"]

KEPT_RUNS = 64
ATTEMPTS = 3
"""How often a run whose workers die is taken up again."""


class Run:
    """A question asked of the engine, and in time its answer. Attributes may be read from any thread."""

    def __init__(self, spec: RunSpec, key: str) -> None:
        self.id = secrets.token_urlsafe(12)
        self.spec = spec
        self.key = key
        self.state: State = "queued"
        self.result: RunResult | None = None
        self.error: str | None = None
        self._progress = Progress(0, spec.analysis.permutations, None)
        self._cancelled = threading.Event()
        self._ended = threading.Event()

    @property
    def progress(self) -> Progress:
        """How far the permutations are."""
        return self._progress

    @property
    def ended(self) -> bool:
        """Whether the run is done, failed or cancelled."""
        return self._ended.is_set()

    def cancel(self) -> None:
        """Ask the run to stop; blocks in progress are finished first."""
        self._cancelled.set()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the end; False if it has not come within `timeout` seconds."""
        return self._ended.wait(timeout)

    def _end(self, state: State, *, result: RunResult | None = None, error: str | None = None) -> None:
        self.result, self.error, self.state = result, error, state
        self._ended.set()


class Engine:
    """Computes runs on an executor and remembers the latest.

    Parameters
    ----------
    make_executor : callable
        Called for the executor, and again if its processes die.
    n_workers : int
        Blocks that are in progress at one time.
    """

    def __init__(self, make_executor: Callable[[int], Executor], n_workers: int | None = None) -> None:
        self.n_workers = n_workers or workers.available_cores()
        self._make_executor = make_executor
        self._executor: Executor | None = None
        self._lock = threading.Lock()
        self._runs: OrderedDict[str, Run] = OrderedDict()
        self._conductors = ThreadPoolExecutor(max_workers=16, thread_name_prefix="grasp-run")
        self._files = tempfile.TemporaryDirectory(prefix="grasp-", ignore_cleanup_errors=True)

    def submit(self, dataset: Dataset, spec: RunSpec, *, load_s: float = 0.0) -> Run:
        """Start a run, or return the one that answers the same question.

        Two questions are the same if data, spec and version of the code are.
        """
        key = f"{dataset.summary.sha256}:{spec.sha256()}:{__version__}"
        with self._lock:
            for run in self._runs.values():
                if run.key == key and (run.state == "done" or not (run.ended or run._cancelled.is_set())):
                    return run
            run = self._remember(Run(spec, key))
        self._conductors.submit(self._conduct, run, dataset, load_s)
        return run

    def add(self, result: RunResult) -> Run:
        """Take in a result that was computed elsewhere."""
        with self._lock:
            run = self._remember(Run(result.spec, key=""))
        run._end("done", result=result)
        return run

    def get(self, run_id: str) -> Run | None:
        """The run of this id, if it is remembered."""
        with self._lock:
            return self._runs.get(run_id)

    def warm(self) -> None:
        """Start the workers now, so that the first run finds them ready."""
        executor = self._ready_executor()
        for _ in range(self.n_workers):
            executor.submit(workers.compute_nothing)

    def close(self) -> None:
        """Cancel what runs, end the workers and delete the working files."""
        with self._lock:
            runs, executor = list(self._runs.values()), self._executor
            self._executor = None
        for run in runs:
            run.cancel()
        self._conductors.shutdown(wait=True)
        if executor is not None:
            executor.shutdown(wait=True, cancel_futures=True)
        self._files.cleanup()

    def _remember(self, run: Run) -> Run:
        self._runs[run.id] = run
        for old in [known for known in self._runs.values() if known.ended][
            : max(len(self._runs) - KEPT_RUNS, 0)
        ]:
            del self._runs[old.id]
        return run

    def _ready_executor(self, broken: Executor | None = None) -> Executor:
        with self._lock:
            if self._executor is None or self._executor is broken:
                self._executor = self._make_executor(self.n_workers)
            return self._executor

    def _conduct(self, run: Run, dataset: Dataset, load_s: float) -> None:
        try:
            run.state = "running"
            prepared = prepare(dataset, run.spec)
            started = time.perf_counter()
            shuffled = self._permute(run, prepared)
            permutations_s = time.perf_counter() - started
            run._end("done", result=finish(prepared, shuffled, load_s=load_s, permutations_s=permutations_s))
        except RunCancelledError:
            run._end("cancelled")
        except GraspError as error:
            run._end("failed", error=str(error))
        except Exception as error:
            # The type alone: a message could quote rater data, which must not reach a log.
            log.error("run %s failed: %s", run.id, type(error).__name__)
            run._end(
                "failed", error="The run stopped because of an error in GRASP itself; please file a bug."
            )

    def _permute(self, run: Run, prepared: Prepared) -> FloatArray:
        """Compute all permutations, block by block; at most one block per worker waits in the queue."""
        total = run.spec.analysis.permutations
        out = np.empty((total, prepared.design.n_groups, 6))
        with tempfile.NamedTemporaryFile(dir=self._files.name, suffix=".npz") as file:
            prepared.design.save(Path(file.name))
            todo = Blocks(total, self.n_workers)
            executor = self._ready_executor()
            for _ in range(ATTEMPTS):
                try:
                    self._compute(run, executor, file.name, todo, out)
                    return out
                except BrokenProcessPool:
                    log.warning("run %s: a worker died; its blocks are computed again", run.id)
                    executor = self._ready_executor(broken=executor)
        raise WorkerError(
            f"The worker processes ended {ATTEMPTS} times before the run was complete, perhaps for want of"
            " memory; nothing is lost, run it again or on a larger machine."
        )

    def _compute(self, run: Run, executor: Executor, file: str, todo: Blocks, out: FloatArray) -> None:
        waiting: dict[Future[FloatArray], tuple[int, int]] = {}
        seed = run.spec.analysis.seed
        try:
            while True:
                if run._cancelled.is_set():
                    raise RunCancelledError
                while len(waiting) < 2 * self.n_workers and (block := todo.take()):
                    try:
                        future = executor.submit(workers.compute_block, file, seed, *block)
                    except BrokenProcessPool:  # refused: the block is in nobody's hands
                        todo.give_back(block)
                        raise
                    waiting[future] = block
                if not waiting:
                    return
                finished, _ = wait(waiting, timeout=BLOCK_SECONDS, return_when=FIRST_COMPLETED)
                for future in finished:
                    block = waiting[future]
                    out[slice(*block)] = future.result()
                    del waiting[future]
                    todo.finish(block)
                    run._progress = todo.progress
        finally:
            for future, block in waiting.items():
                future.cancel()
                todo.give_back(block)


@functools.cache
def shared() -> Engine:
    """The engine of this process."""
    return Engine(workers.processes)
