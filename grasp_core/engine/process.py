"""A process of its own that computes runs, so that people who wait for a page do not wait for runs.

Between permutations, a server takes blocks in and writes results for its runs. That needs Python's lock, as
drawing pages does. The process answers over a socket that only this user may open, with a key given at its
start. When it ends, it is started again and finds its runs in the database.
"""

import atexit
import logging
import multiprocessing
import os
import signal
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from functools import partial
from multiprocessing.managers import BaseManager, BaseProxy, RemoteError
from typing import Any, ParamSpec, TypeVar, cast

from sqlalchemy import Engine

from grasp_core.engine.compute import server_pool
from grasp_core.engine.pools import workers
from grasp_core.engine.pools.pool import Pool
from grasp_core.engine.pools.workers import LEAST_MEMORY, limit_memory
from grasp_core.engine.saved_runs import Computing
from grasp_core.engine.warm import warm_beside
from grasp_core.model.errors import GraspError
from grasp_core.model.logs import set_up_logs
from grasp_core.model.settings import Settings
from grasp_core.permutation.jit import tell_of_preparing
from grasp_core.reading.dataset.load import Dataset
from grasp_core.reading.sandbox.limits import machine_memory
from grasp_core.reading.sources.allowed import AllowedSources
from grasp_core.store.database import connect, database_url
from grasp_core.store.files import FileStore
from grasp_core.store.runs import RunStore

log = logging.getLogger(__name__)

START_SECONDS = 10.0
"""Seconds that a call waits for a process that is being started."""
WORKERS_SECONDS = 30.0
AGAIN_SECONDS = 1.0
"""Pause in seconds before an ended process is started again; it doubles each time that it did not start."""
LONGEST_SECONDS = 30.0
STAY_SECONDS = 0.5
"""Seconds between checks that the process is still there; its end is noticed at once."""
NOTICED_SECONDS = 2.0
"""Seconds that a failed call waits for the notice that the process has ended."""
NICENESS = 5
"""Niceness of the process: its priority is below that of the one that answers people, its workers' lower."""
_ASKED_THERE = ("drop", "expect", "progress", "found", "news_every", "wait", "cancel")
"""Methods of :class:`~grasp_core.engine.saved_runs.Computing` that are called in the process."""

P = ParamSpec("P")
T = TypeVar("T")


class GoneError(Exception):
    """The process has ended, or is not ready yet."""


_Outcome = tuple[Any, Exception | None]
"""The return value of a call, and the error that it raised, if any; errors of the connection are separate."""


class _Desk:
    """The process's side: it computes runs and answers calls."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._computing: Computing
        self._pool: Pool
        self._database: Engine

    def do(self, name: str, *arguments: Any) -> _Outcome:
        """Call a method of the desk, or one of :class:`~grasp_core.engine.saved_runs.Computing`."""
        try:
            method = getattr(self, name, None) or getattr(self._computing, name)
            return method(*arguments), None
        except Exception as error:  # raised again on the caller's side
            return None, error

    stay = staticmethod(time.sleep)

    def begin(self) -> None:
        """Start to compute; not part of `__init__`, whose errors reach the caller without their messages."""
        settings = self._settings
        limit_memory(settings.compute_memory_mb * 2**20 or max(machine_memory() // 2, LEAST_MEMORY))
        self._database = connect(database_url(settings))
        self._pool = server_pool(settings, workers.processes)
        allowed = AllowedSources(settings.data_dir, settings.data_urls)
        runs, files = RunStore(self._database), FileStore(self._database)
        self._computing = Computing(runs, files, self._pool, allowed)
        tell_of_preparing(log.info)
        self._warming = warm_beside()
        self._computing.start()

    def work(self, function: Callable[[Any], Any], argument: Any) -> Any:
        return next(self._pool.each(function, [argument]))

    def close(self) -> None:
        if self._warming is not None:
            with self._warming:
                self._warming.terminate()
        self._computing.close()
        self._database.dispose()


class _DeskProxy(BaseProxy):
    """The caller's side of the desk."""

    _exposed_ = ("do",)

    def do(self, name: str, *arguments: Any) -> _Outcome:
        call = cast("Callable[[str, Any], Any]", self._callmethod)  # it is typed as returning nothing
        outcome: _Outcome = call("do", (name, *arguments))
        return outcome


class _Manager(BaseManager):
    """Starts the process, and makes its desk."""


_Manager.register("desk", _Desk, _DeskProxy)


class ComputingProcess:
    """Has a process compute queued runs: see :class:`~grasp_core.engine.saved_runs.Computing`."""

    def __init__(self, settings: Settings) -> None:
        self.closing = threading.Event()
        self._settings = settings
        self._desk: _DeskProxy | None = None
        self._ready = threading.Event()
        self._gone = threading.Event()  # a new event for each process
        self._keeper = threading.Thread(target=self._keep, name="grasp-apart", daemon=True)

    @property
    def ready(self) -> bool:
        """True if the process is ready."""
        return self._ready.is_set()

    def start(self) -> None:
        """Start the process; it becomes ready in the background."""
        atexit.register(self.close)  # else the keeper might start another process, and Python wait for it
        self._keeper.start()

    def hold(self, key: str, dataset: Dataset, load_s: float) -> int:
        """Keep a request's data in the process; return 0 if they are not kept, but will be read again."""
        try:
            return self._asked_or_none("hold", key, dataset, load_s, patience=START_SECONDS) or 0
        except (MemoryError, RemoteError):  # too large to be sent
            return 0

    def __getattr__(self, name: str) -> Any:
        """Return a function that calls this method in the process, or returns None if that is gone."""
        if name not in _ASKED_THERE:
            raise AttributeError(name)
        return partial(self._asked_or_none, name)

    def workers(self, n_workers: int) -> Executor:
        """Return an executor of the process's workers, for work that is not a run."""
        return _Workers(n_workers, self._work)

    def close(self) -> None:
        """Have running work handed back to the queue, and end the process."""
        atexit.unregister(self.close)
        self.closing.set()
        if self._keeper.is_alive():
            self._keeper.join()
        self._ready.set()  # callers that wait for the process learn that there is none

    def _work(self, function: Callable[[Any], Any], argument: Any) -> Any:
        try:
            return self._ask("work", function, argument, patience=WORKERS_SECONDS)
        except GoneError:
            raise BrokenProcessPool from None

    def _asked_or_none(self, name: str, *arguments: Any, patience: float = 0.0) -> Any:
        """Call a method in the process; return None if the process is gone."""
        with suppress(GoneError):
            return self._ask(name, *arguments, patience=patience)
        return None

    def _ask(self, name: str, *arguments: Any, patience: float = 0.0) -> Any:
        there = self._ready.wait(patience if self._keeper.is_alive() else 0.0)
        gone, desk = self._gone, self._desk  # in this order: `gone` is never of a later process than `desk`
        if not there or desk is None:
            raise GoneError
        try:
            outcome = desk.do(name, *arguments)
        except (EOFError, OSError):  # the process ended, or only this connection: the keeper finds out
            gone.wait(NOTICED_SECONDS)  # so that a call made again waits for the next process
            raise GoneError from None
        return _value_of(outcome)

    def _keep(self) -> None:
        """Keep a process running until this one is closing."""
        pause = AGAIN_SECONDS
        while not self.closing.is_set():
            with tempfile.TemporaryDirectory(prefix="grasp-", ignore_cleanup_errors=True) as folder:
                if self._had_one(folder):
                    pause = AGAIN_SECONDS
            self.closing.wait(pause)
            pause = min(2 * pause, LONGEST_SECONDS)

    def _had_one(self, folder: str) -> bool:
        """Run a process, with its files in this folder, until it ends; return whether it began to compute."""
        # A socket's path may have about a hundred characters; a subfolder might make it too long.
        manager = _Manager(os.path.join(folder, "desk"), ctx=multiprocessing.get_context("spawn"))
        began = False
        try:
            manager.start(_get_ready, (self._settings.log_format, folder))
            desk = manager.desk(self._settings)  # type: ignore[attr-defined]
            _value_of(desk.do("begin"))
            self._desk, began = desk, True
            self._ready.set()
            while not self.closing.is_set():
                _value_of(desk.do("stay", STAY_SECONDS))
            _value_of(desk.do("close"))
        except (EOFError, OSError):
            if not self.closing.is_set():
                log.warning("the process that computes runs ended; it is started again")
        except GraspError as error:
            log.error("the process that computes runs did not start: %s", error)
        except Exception as error:  # this thread must continue after any error; a message could quote data
            log.error("the process that computes runs did not start: %s", type(error).__name__)
        finally:
            self._ready.clear()
            self._desk = None
            self._gone.set()
            self._gone = threading.Event()
            shutdown: Callable[[], None] | None = getattr(manager, "shutdown", None)
            if shutdown is not None:  # else it was never started
                shutdown()
        return began


class _Workers(ThreadPoolExecutor):
    """Threads that have functions of one argument called by workers of another process."""

    def __init__(self, n_workers: int, work: Callable[[Any, Any], Any]) -> None:
        super().__init__(n_workers, thread_name_prefix="grasp-far")
        self._work = work

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Have a worker call a function of one argument."""
        (argument,) = args
        return super().submit(self._work, fn, argument)


def _value_of(outcome: _Outcome) -> Any:
    value, error = outcome
    if error is not None:
        raise error
    return value


def _get_ready(log_format: str, folder: str) -> None:
    tempfile.tempdir = folder
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # the process that started it ends it and saves its runs
    os.nice(NICENESS)
    threading.Thread(target=workers.end_with_parent, daemon=True).start()
    set_up_logs(log_format)
