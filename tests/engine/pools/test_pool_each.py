"""Small computations beside the runs."""

import math
import signal
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from typing import Any

import pytest

from grasp_core.engine.pools import workers
from grasp_core.engine.pools.pool import AHEAD, Pool
from grasp_core.model.errors import RunCancelledError, WorkerError


class DiesOnce(ThreadPoolExecutor):
    """Its first two futures end as those of a pool whose process has died."""

    def __init__(self) -> None:
        super().__init__(2)
        self.left = 2

    def submit(self, *arguments: Any, **named: Any) -> Future[Any]:
        if not self.left:
            raise BrokenProcessPool
        self.left -= 1
        future: Future[Any] = Future()
        future.set_exception(BrokenProcessPool())
        return future


def test_results_come_in_order(threads: Pool) -> None:
    assert list(threads.each(math.factorial, range(50))) == [math.factorial(n) for n in range(50)]
    assert list(threads.each(math.factorial, [])) == []


def test_no_more_is_asked_for_than_workers_can_take_in(threads: Pool) -> None:
    begun = []
    results = threads.each(lambda number: begun.append(number) or number, range(100))
    assert next(results) == 0
    results.close()
    assert len(begun) <= 2 * AHEAD


def test_no_more_is_under_way_than_there_are_workers(threads: Pool) -> None:
    under_way, most, lock = 0, 0, threading.Lock()

    def count(_: int) -> None:
        nonlocal under_way, most
        with lock:
            under_way += 1
            most = max(most, under_way)
        time.sleep(0.002)
        with lock:
            under_way -= 1

    list(threads.each(count, range(40)))
    assert most <= 2


def test_workers_go_on_while_a_result_is_taken_in() -> None:
    second = threading.Event()
    with closing(Pool(workers.threads, 1)) as pool:
        results = pool.each(lambda number: second.set() if number else None, range(2))
        next(results)
        assert second.wait(30)  # before the first result's successor is asked for


def test_what_has_begun_is_not_waited_for_once_a_check_raises(threads: Pool) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def wait_for_it(_: int) -> None:
        begun.set()
        go_on.wait()

    def check() -> None:
        if begun.is_set():
            raise RunCancelledError

    try:
        with pytest.raises(RunCancelledError):
            list(threads.each(wait_for_it, range(9), check=check))
    finally:
        go_on.set()


def test_what_a_dead_worker_had_is_computed_again() -> None:
    made = [DiesOnce()]

    def executor(n_workers: int) -> ThreadPoolExecutor:
        return made.pop() if made else ThreadPoolExecutor(n_workers)

    with closing(Pool(executor, 2)) as pool:
        assert list(pool.each(math.factorial, range(6))) == [1, 1, 2, 6, 24, 120]
        assert not made


def test_what_kills_every_worker_is_given_up() -> None:
    with closing(Pool(workers.processes, 1)) as pool:
        with pytest.raises(WorkerError, match="ended 3 times"):
            list(pool.each(signal.raise_signal, [signal.SIGKILL]))
        assert list(pool.each(math.factorial, [3])) == [6]
