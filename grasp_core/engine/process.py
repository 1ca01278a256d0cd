"""Runs computed in a process of their own, so that whoever waits for a page does not wait for them.

What a server does for its runs between permutations, taking blocks in and writing what is found, holds
Python's lock as drawing pages does. The process answers over a socket that this user alone may open, with a
key that it was started with; when it ends it is started anew, and finds its runs in the database.
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
from dataclasses import dataclass
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
"""How long a question waits for a process that is being started."""
WORKERS_SECONDS = 30.0
"""How long whoever needs a worker waits for one."""
AGAIN_SECONDS = 1.0
"""How long after its end the process is started anew; twice as long each time that it did not start."""
LONGEST_SECONDS = 30.0
"""The longest of these pauses."""
STAY_SECONDS = 0.5
"""How often the process is asked whether it is still there; its end is heard of at once."""
NOTICED_SECONDS = 2.0
"""How long a question that found no answer waits for word that the process has ended."""
NICENESS = 5
"""How far it stands back for the one that answers people; its workers further."""
_ASKED_THERE = ("drop", "expect", "progress", "found", "news_every", "wait", "cancel")
"""Methods of :class:`~grasp_core.engine.saved_runs.Computing` that are called in the process."""

P = ParamSpec("P")
T = TypeVar("T")


class GoneError(Exception):
    """The process has ended, or is not ready yet."""


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What a call returned, or raised: apart from what befell the connection."""

    value: Any = None
    error: Exception | None = None


class _Desk:
    """In the process: computes, and does what it is asked to."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._computing: Computing
        self._pool: Pool
        self._database: Engine

    def do(self, name: str, *arguments: Any) -> _Outcome:
        """Call a method of the desk, or one of :class:`~grasp_core.engine.saved_runs.Computing`."""
        try:
            method = getattr(self, name, None) or getattr(self._computing, name)
            return _Outcome(method(*arguments))
        except Exception as error:  # raised where it was asked for
            return _Outcome(error=error)

    stay = staticmethod(time.sleep)

    def begin(self) -> None:
        """Not done where the desk is made: what is raised there comes back without its words."""
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
    """The desk as it is seen from elsewhere."""

    _exposed_ = ("do",)

    def do(self, name: str, *arguments: Any) -> _Outcome:
        call = cast("Callable[[str, Any], Any]", self._callmethod)  # whose types say that it returns nothing
        outcome: _Outcome = call("do", (name, *arguments))
        return outcome


class _Manager(BaseManager):
    """Starts the process, and makes its desk."""


_Manager.register("desk", _Desk, _DeskProxy)


class ComputingProcess:
    """Has a process compute what is queued: see :class:`~grasp_core.engine.saved_runs.Computing`."""

    def __init__(self, settings: Settings) -> None:
        self.closing = threading.Event()
        self._settings = settings
        self._desk: _DeskProxy | None = None
        self._ready = threading.Event()
        self._gone = threading.Event()  # another one of each process
        self._keeper = threading.Thread(target=self._keep, name="grasp-apart", daemon=True)

    @property
    def ready(self) -> bool:
        """Whether the process is there."""
        return self._ready.is_set()

    def start(self) -> None:
        """Start the process; it gets ready by itself."""
        atexit.register(self.close)  # else the keeper might start another one that Python then waits for
        self._keeper.start()

    def hold(self, key: str, dataset: Dataset, load_s: float) -> int:
        """Hold a question's data there; 0 where they are not held, but read again."""
        try:
            return self._asked_or_none("hold", key, dataset, load_s, patience=START_SECONDS) or 0
        except (MemoryError, RemoteError):  # too large to be handed over
            return 0

    def __getattr__(self, name: str) -> Any:
        """What is asked of a run there by a method of the same name; it answers None where it is gone."""
        if name not in _ASKED_THERE:
            raise AttributeError(name)
        return partial(self._asked_or_none, name)

    def workers(self, n_workers: int) -> Executor:
        """Its workers, for what is not a run."""
        return _Workers(n_workers, self._work)

    def close(self) -> None:
        """Have running work handed back, and end the process."""
        atexit.unregister(self.close)
        self.closing.set()
        if self._keeper.is_alive():
            self._keeper.join()
        self._ready.set()  # whoever waits for the process learns that there is none

    def _work(self, function: Callable[[Any], Any], argument: Any) -> Any:
        try:
            return self._ask("work", function, argument, patience=WORKERS_SECONDS)
        except GoneError:
            raise BrokenProcessPool from None

    def _asked_or_none(self, name: str, *arguments: Any, patience: float = 0.0) -> Any:
        """What it answers; None where it is gone."""
        with suppress(GoneError):
            return self._ask(name, *arguments, patience=patience)
        return None

    def _ask(self, name: str, *arguments: Any, patience: float = 0.0) -> Any:
        there = self._ready.wait(patience if self._keeper.is_alive() else 0.0)
        gone, desk = self._gone, self._desk  # in this order: of a process that has ended its own is set
        if not there or desk is None:
            raise GoneError
        try:
            outcome = desk.do(name, *arguments)
        except (EOFError, OSError):  # or only this connection failed: that is the keeper's to know
            gone.wait(NOTICED_SECONDS)  # who asks again waits for the next one
            raise GoneError from None
        return _value_of(outcome)

    def _keep(self) -> None:
        """Have a process as long as this one is not closing."""
        pause = AGAIN_SECONDS
        while not self.closing.is_set():
            with tempfile.TemporaryDirectory(prefix="grasp-", ignore_cleanup_errors=True) as folder:
                if self._had_one(folder):
                    pause = AGAIN_SECONDS
            self.closing.wait(pause)
            pause = min(2 * pause, LONGEST_SECONDS)

    def _had_one(self, folder: str) -> bool:
        """Have a process, which has its files in this folder, until it ends; whether it began to compute."""
        # The socket's path may have some hundred characters, which a folder of its own might exceed.
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
        except Exception as error:  # whatever it is, this thread has to live on; its words could quote data
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
    """Threads that wait for workers of another process, which call functions of one argument."""

    def __init__(self, n_workers: int, work: Callable[[Any, Any], Any]) -> None:
        super().__init__(n_workers, thread_name_prefix="grasp-far")
        self._work = work

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Have a worker call a function of one argument."""
        (argument,) = args
        return super().submit(self._work, fn, argument)


def _value_of(outcome: _Outcome) -> Any:
    if outcome.error is not None:
        raise outcome.error
    return outcome.value


def _get_ready(log_format: str, folder: str) -> None:
    tempfile.tempdir = folder
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # whoever started it ends it, with runs handed back
    os.nice(NICENESS)
    threading.Thread(target=workers.end_with_parent, daemon=True).start()
    set_up_logs(log_format)
