"""Runs computed in a process of their own, so that whoever waits for a page does not wait for them.

What a server does for its runs between permutations, taking blocks in and writing what is found, holds
Python's lock as drawing pages does. The process answers over a socket that this user alone may open, with a
key that it was started with; when it ends it is started anew, and finds its runs in the database.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.managers import BaseManager, BaseProxy
from typing import Any, ParamSpec, TypeVar, cast

from grasp_core.engine.computing import Computing, Found
from grasp_core.engine.pools import workers
from grasp_core.engine.pools.blocks import Progress
from grasp_core.engine.pools.choose import server_pool
from grasp_core.io.dataset.load import Dataset
from grasp_core.io.parts.survey import DatasetInParts
from grasp_core.io.sources.allowed import AllowedSources
from grasp_core.logs import set_up_logs
from grasp_core.settings import Settings
from grasp_core.store.database import connect, database_url
from grasp_core.store.files import FileStore
from grasp_core.store.runs import RunStore

log = logging.getLogger(__name__)

START_SECONDS = 10.0
"""How long a question waits for a process that is being started."""
WORKERS_SECONDS = 120.0
"""How long work for its workers does."""
AGAIN_SECONDS = 1.0
"""How long after its end the process is started anew."""
NICENESS = 5
"""How far it stands back for the one that answers people; its workers further."""

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
    """In the process: computes, and does what it is asked to.

    Parameters
    ----------
    settings : Settings
    """

    def __init__(self, settings: Settings) -> None:
        self._database = connect(database_url(settings))
        self._pool = server_pool(settings, workers.processes)
        allowed = AllowedSources(settings.data_dir, settings.data_urls)
        runs, files = RunStore(self._database), FileStore(self._database)
        self._computing = Computing(runs, files, self._pool, allowed)
        self._computing.start()

    def do(self, name: str, *arguments: Any) -> _Outcome:
        """Call one of these methods, or one of :class:`~grasp_core.engine.computing.Computing`."""
        mine: dict[str, Any] = {
            "call": self._call,
            "stay": self._computing.closing.wait,
            "close": self._close,
        }
        method = mine.get(name) or getattr(self._computing, name)
        try:
            return _Outcome(method(*arguments))
        except Exception as error:  # raised where it was asked for
            return _Outcome(error=error)

    def _call(self, function: Callable[[Any], Any], argument: Any) -> Any:
        return next(self._pool.each(function, [argument]))

    def _close(self) -> None:
        self._computing.close()
        self._database.dispose()


class _DeskProxy(BaseProxy):
    """The desk as it is seen from elsewhere."""

    _exposed_ = ("do",)

    def do(self, name: str, *arguments: Any) -> _Outcome:
        told = cast("Callable[[str, Any], Any]", self._callmethod)  # whose types say that it returns nothing
        outcome: _Outcome = told("do", (name, *arguments))
        return outcome


class _Manager(BaseManager):
    """Starts the process, and makes its desk."""


_Manager.register("desk", _Desk, _DeskProxy)


class Apart:
    """Has a process compute what is queued: see :class:`~grasp_core.engine.computing.Computing`.

    Parameters
    ----------
    settings : Settings

    Attributes
    ----------
    closing : threading.Event
        Set when the server closes.
    """

    def __init__(self, settings: Settings) -> None:
        self.closing = threading.Event()
        self._settings = settings
        self._desk: _DeskProxy | None = None
        self._ready = threading.Event()
        self._keeper = threading.Thread(target=self._keep, name="grasp-apart", daemon=True)

    def start(self) -> None:
        """Start the process; it gets ready by itself."""
        self._keeper.start()

    def hold(self, key: str, dataset: Dataset, load_s: float) -> int:
        """Hold a question's data there; 0 where they are not held, but read again."""
        if isinstance(dataset, DatasetInParts):
            return 0
        return self._told("hold", key, dataset, load_s, patience=START_SECONDS) or 0

    def drop(self, key: str, number: int) -> None:
        """Hold them no longer."""
        self._told("drop", key, number)

    def expect(self, run_id: str) -> None:
        """Look for a run that was just asked."""
        self._told("expect", run_id)

    def progress(self, run_id: str) -> Progress | None:
        """How far a run is that is computed there, as far as that is known."""
        progress: Progress | None = self._told("progress", run_id)
        return progress

    def found(self, run_id: str, version: int) -> Found | None:
        """What is found so far of a run, for whoever has seen this version, again not; None if not there."""
        found: Found | None = self._told("found", run_id, version)
        return found

    def news_every(self, run_id: str) -> float | None:
        """Seconds from one provisional result of a run to the next, as things are now; None if not there."""
        seconds: float | None = self._told("news_every", run_id)
        return seconds

    def wait(self, run_id: str, seconds: float) -> None:
        """Wait until something is found of a run, or for so long."""
        self._told("wait", run_id, seconds)

    def cancel(self, run_id: str) -> None:
        """Stop a run at once, if it is computed there."""
        self._told("cancel", run_id)

    def workers(self, n_workers: int) -> Executor:
        """Its workers, for what is not a run."""
        return _Workers(n_workers, self._call)

    def close(self) -> None:
        """Have running work handed back, and end the process."""
        self.closing.set()
        if self._keeper.is_alive():
            self._told("close")
            self._keeper.join()

    def _call(self, function: Callable[[Any], Any], argument: Any) -> Any:
        try:
            return self._ask("call", function, argument, patience=WORKERS_SECONDS)
        except GoneError:
            raise BrokenProcessPool from None

    def _told(self, name: str, *arguments: Any, patience: float = 0.0) -> Any:
        """What it answers; None where it is gone."""
        with suppress(GoneError):
            return self._ask(name, *arguments, patience=patience)
        return None

    def _ask(self, name: str, *arguments: Any, patience: float = 0.0) -> Any:
        there = self._ready.wait(patience if self._keeper.is_alive() else 0.0)
        if not there or (desk := self._desk) is None:
            raise GoneError
        try:
            outcome = desk.do(name, *arguments)
        except (EOFError, OSError):
            raise GoneError from None
        if outcome.error is not None:
            raise outcome.error
        return outcome.value

    def _keep(self) -> None:
        """Have a process as long as this one is not closing."""
        while not self.closing.is_set():
            manager = _Manager(ctx=multiprocessing.get_context("spawn"))
            try:
                manager.start(_begin, (self._settings.log_format,))
                self._desk = manager.desk(self._settings)  # type: ignore[attr-defined]
                self._ready.set()
                self._ask("close" if self.closing.is_set() else "stay")  # else it was closed while it started
            except (EOFError, OSError, GoneError):
                log.warning("the process that computes runs ended; it is started again")
            except Exception as error:  # whatever it is, this thread has to live on
                log.error("the process that computes runs did not start: %s", type(error).__name__)
            finally:
                self._ready.clear()
                self._desk = None
            _end(manager)
            self.closing.wait(AGAIN_SECONDS)


class _Workers(ThreadPoolExecutor):
    """Threads that wait for workers of another process."""

    def __init__(self, n_workers: int, call: Callable[[Any, Any], Any]) -> None:
        super().__init__(n_workers, thread_name_prefix="grasp-far")
        self._call = call

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Have a worker call a function of one argument."""
        return super().submit(self._call, fn, *args)


def _begin(log_format: str) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # whoever started it ends it, with runs handed back
    os.nice(NICENESS)
    threading.Thread(target=workers.end_with_parent, daemon=True).start()
    set_up_logs(log_format)


def _end(manager: _Manager) -> None:
    end: Callable[[], None] | None = getattr(manager, "shutdown", None)
    if end is not None:  # else it was never started
        end()
