"""Where blocks of permutations are computed: any ``concurrent.futures`` executor."""

from __future__ import annotations

import functools
import multiprocessing
import os
import signal
import threading
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

from grasp_core.annotations import FloatArray
from grasp_core.permutation import questions
from grasp_core.permutation.questions import Layout
from grasp_core.permutation.warm import warm

NICENESS = 10
"""How far worker processes stand back for the one that answers people."""


def available_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def processes(workers: int) -> Executor:
    """Spawned processes, so that a page's own process never computes."""
    return ProcessPoolExecutor(
        workers, mp_context=multiprocessing.get_context("spawn"), initializer=_start_worker
    )


def threads(workers: int) -> Executor:
    """Threads: the kernel releases the interpreter's lock. For the command line, which shows no page."""
    return ThreadPoolExecutor(workers, thread_name_prefix="grasp-worker")


def compute_block(design_file: str, seed: int, start: int, stop: int) -> FloatArray:
    """Compute permutations `start` to `stop` - 1 of a stored design, shape (stop - start, G, 6)."""
    with _one_at_a_time:
        design = _design(design_file)
    return questions.shuffled(design, seed, start, stop)


def compute_nothing() -> None:
    """Make the executor start a worker."""


# NumPy parses a file's header with `ast`, which in Python 3.11 fails now and then in two threads at once.
_one_at_a_time = threading.Lock()


@functools.lru_cache(maxsize=4)
def _design(design_file: str) -> Layout:
    return questions.load(Path(design_file))


def _start_worker() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    os.nice(NICENESS)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    warm()


def _end_with_parent() -> None:
    """A killed parent cannot end its workers: they would wait for work for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
