"""Saved runs, computed in the background: a server's engine.

A run is a row in the database first and work second. Servers claim rows one at a time, renew their claim
while they compute and save blocks as they go; a claim that is no longer renewed is taken over, and the saved
blocks are not computed again.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, TypeVar

from grasp_core import __version__
from grasp_core.annotations import FloatArray
from grasp_core.engine.blocks import Progress
from grasp_core.engine.compute import Watcher, compute
from grasp_core.engine.pool import Pool
from grasp_core.engine.run import run_key
from grasp_core.errors import (
    FAULT,
    DataError,
    GraspError,
    LostSchedulerError,
    MissingResultError,
    RunCancelledError,
    StoreError,
)
from grasp_core.io.dataset.load import Dataset, load
from grasp_core.io.parsing.read import read_table
from grasp_core.io.sources.allowed import AllowedSources
from grasp_core.io.table.table import Table
from grasp_core.models.labels import read_models
from grasp_core.permutation.nulls.tally import Tally
from grasp_core.result import Result
from grasp_core.spec import RunSpec
from grasp_core.store import claims
from grasp_core.store.files import FileStore
from grasp_core.store.runs import LostRunError, Request, RunRecord, RunStore

log = logging.getLogger(__name__)

SIDE_BY_SIDE = 4
"""Runs that one server computes at one time; they share its workers evenly."""
SAVE_SECONDS = 2.0
"""How often computed blocks are saved: what a killed server loses at most."""
POLL_SECONDS = 2.0
"""How often a server looks for runs that another one left."""
INSIST_SECONDS = 600.0
"""How long a finished run waits for a database that is away."""
KEPT = "What was computed is kept."
_KEPT_RESULTS = 64
_KEPT_DATASETS = 8

T = TypeVar("T")


class Service:
    """Takes in questions, computes them in the background and finds their answers.

    Parameters
    ----------
    runs : RunStore
    files : FileStore
    pool : Pool
    allowed : AllowedSources, optional
        Where files may be that are not uploaded; by default there are none.
    """

    def __init__(
        self, runs: RunStore, files: FileStore, pool: Pool, allowed: AllowedSources | None = None
    ) -> None:
        self.runs = runs
        self.files = files
        self.pool = pool
        self.allowed = allowed or AllowedSources()
        self.closing = threading.Event()
        self.result = lru_cache(maxsize=_KEPT_RESULTS)(self._result)
        self._datasets: OrderedDict[str, tuple[Dataset, float]] = OrderedDict()
        self._in_hand: dict[str, _Conductor] = {}
        self._awake = threading.Event()
        self._idle = threading.Event()
        self._slots = threading.Semaphore(SIDE_BY_SIDE)
        self._conductors = ThreadPoolExecutor(SIDE_BY_SIDE, thread_name_prefix="grasp-run")
        self._dispatcher = threading.Thread(target=self._dispatch, name="grasp-dispatch", daemon=True)
        self._renewer = threading.Thread(target=self._renew, name="grasp-renew", daemon=True)

    def start(self) -> None:
        """Start the workers and begin to look for runs."""
        self.pool.warm()
        self._dispatcher.start()
        self._renewer.start()

    def submit(
        self,
        dataset: Dataset,
        spec: RunSpec,
        *,
        title: str,
        owner: str = "",
        load_s: float = 0.0,
    ) -> tuple[RunRecord, bool]:
        """Save a run and compute it in the background.

        Parameters
        ----------
        dataset : Dataset
            With the spec's models. Their files should be in the file store: another server, or this one after
            a restart, reads them there.
        spec : RunSpec
        title, owner : str
        load_s : float
            Seconds that reading took.

        Returns
        -------
        record : RunRecord
        known : bool
            Whether the same data and spec were asked before, of the same version of the code.
        """
        key = run_key(dataset.summary, spec, __version__)
        answering = self.runs.answering(key)
        if answering is not None:
            return answering, True
        stored = [(file.name, file.sha256) for file in dataset.summary.files]
        stored += [(model.source, model.sha256) for model in dataset.models if model.column is None]
        request = Request(key, title, owner, __version__, spec, dataset.summary, tuple(stored))
        self._datasets[key] = (dataset, load_s)  # before the run can be claimed
        if len(self._datasets) > _KEPT_DATASETS:
            self._datasets.popitem(last=False)
        try:
            record, known = self.runs.create(request)
        except GraspError:
            self._datasets.pop(key, None)
            raise
        self._awake.set()
        return record, known

    def refer(self, location: str, *, owner: str) -> Table:
        """Read a file that stays where it is, and note its place for the runs that will need it.

        Parameters
        ----------
        location : str
            See :meth:`grasp_core.io.sources.allowed.AllowedSources.fetch`.
        owner : str

        Raises
        ------
        DataError
            If it may not or cannot be read.
        """
        fetched = self.allowed.fetch(location)
        table = fetched.table()
        self.files.refer(table.sha256, table.bytes, fetched.location, owner=owner)
        return table

    def table(self, name: str, sha256: str, member: str | None = None) -> Table:
        """A run's file, from the file store or from where it stays.

        Parameters
        ----------
        name : str
            The file's name, for messages.
        sha256 : str
        member : str, optional
            Sheet or member that the run reads.

        Raises
        ------
        DataError
            If it is not there any more, or has changed.
        """
        content = insist(partial(self.files.get, sha256), until=self.closing)
        if content is not None:
            return read_table(content, name, member=member)
        location = insist(partial(self.files.location, sha256), until=self.closing)
        if location is None:
            raise DataError(f"{name} is no longer on this server; bring it again on Data, then run.")
        fetched = self.allowed.fetch(location)
        if fetched.sha256 != sha256:
            raise DataError(
                f"{name} has changed where it is kept since it was first read; bring it again on Data, "
                "then run."
            )
        return fetched.table(name, member)

    def progress(self, record: RunRecord) -> Progress:
        """How far a run is; the time left is known only to the server that computes it."""
        conductor = self._in_hand.get(record.id)
        known = None if conductor is None else conductor.progress
        return known or Progress(record.done, record.total, None)

    def cancel(self, run_id: str) -> None:
        """Stop a run; at once where this server computes it, else when its server next saves."""
        self.runs.request_cancel(run_id)
        conductor = self._in_hand.get(run_id)
        if conductor is not None:
            conductor.cancelled = True

    def close(self) -> None:
        """Hand running work back to the queue and end the workers."""
        self.closing.set()
        self._awake.set()
        if self._dispatcher.is_alive():
            self._dispatcher.join()
        self._conductors.shutdown(wait=True)
        self._idle.set()  # only now: claims are renewed until the last run has been handed back
        if self._renewer.is_alive():
            self._renewer.join()
        self.pool.close()

    def _result(self, run_id: str) -> Result:
        found = self.runs.result(run_id)
        if found is None:  # raised, not returned: the cache keeps what is returned
            raise MissingResultError("This result is no longer on this server: the run was deleted.")
        return found

    def _dispatch(self) -> None:
        while not self.closing.is_set():
            self._slots.acquire()
            record = None
            if not self.closing.is_set():
                try:
                    record = self.runs.claim(in_hand=tuple(self._in_hand))
                except StoreError as error:
                    log.warning("no run could be claimed: %s", error)
                except Exception as error:  # whatever it is, this thread has to live on
                    log.error("no run could be claimed: %s", type(error).__name__)
            if record is None:
                self._slots.release()
                self._awake.wait(POLL_SECONDS)
                self._awake.clear()
            else:
                conductor = self._in_hand[record.id] = _Conductor(self, record)
                self._conductors.submit(self._conduct, conductor)

    def _renew(self) -> None:
        """Renew the claims on the runs in hand, whatever they are busy with."""
        while not self._idle.wait(claims.LEASE_SECONDS / 4):
            for conductor in list(self._in_hand.values()):
                try:
                    conductor.renew()
                except Exception as error:  # whatever it is, this thread has to live on
                    log.error("a claim could not be renewed: %s", type(error).__name__)

    def _conduct(self, conductor: _Conductor) -> None:
        record = conductor.record
        try:
            end = self._outcome(conductor)
            try:
                insist(end, until=self.closing)
            except StoreError:
                raise
            except Exception as error:  # e.g. a result that cannot be written
                log.error("run %s could not be ended: %s", record.id, type(error).__name__)
                insist(partial(self.runs.finish, record, "failed", error=FAULT), until=self.closing)
            self._datasets.pop(run_key(record.summary, record.spec, __version__), None)
        except LostRunError:  # perhaps asked again, and then its data are wanted here
            log.info("run %s went on elsewhere or was deleted", record.id)
        except StoreError as error:  # its claim runs out, and whoever finds it then resumes it
            log.warning("run %s could not be saved: %s", record.id, error)
        finally:
            del self._in_hand[record.id]
            self._slots.release()
            self._awake.set()

    def _outcome(self, conductor: _Conductor) -> Callable[[], None]:
        """Compute a claimed run; returns how it is to be ended in the database."""
        record = conductor.record
        started = time.monotonic()
        try:
            result = self._compute(conductor)
        except RunCancelledError:
            if self.closing.is_set():
                return partial(self.runs.release, record)
            return partial(self.runs.finish, record, "cancelled")
        except StoreError:
            raise
        except LostSchedulerError as error:
            return partial(self.runs.finish, record, "failed", error=f"{error} {KEPT}")
        except GraspError as error:
            return partial(self.runs.finish, record, "failed", error=str(error))
        except Exception as error:
            # The type alone: a message could quote rater data, which must not reach a log.
            log.error("run %s failed: %s", record.id, type(error).__name__)
            return partial(self.runs.finish, record, "failed", error=FAULT)
        seconds = time.monotonic() - started
        return partial(self.runs.finish, record, "done", result=result, duration_s=seconds)

    def _compute(self, conductor: _Conductor) -> Result:
        record = conductor.record
        if record.cancel_requested:  # of a server that did not live to see it
            raise RunCancelledError
        if record.code_version != __version__:
            raise DataError("GRASP was upgraded while this run waited; run it again.")
        dataset, load_s = self._dataset(record)
        return compute(dataset, record.spec, self.pool, conductor, load_s=load_s)

    def _dataset(self, record: RunRecord) -> tuple[Dataset, float]:
        """From memory where this server took the question in, else from the stored files."""
        here = self._datasets.get(run_key(record.summary, record.spec, __version__))
        if here is not None:
            return here
        started = time.perf_counter()
        spec, files = record.spec, insist(lambda: self.runs.files_of(record.id), until=self.closing)
        members = (spec.data.member, spec.data.raters_member)[: len(record.summary.files)]
        tables = [
            self.table(name, sha256, member) for (name, sha256), member in zip(files, members, strict=False)
        ]
        annotations, raters = tables[0], tables[1] if len(tables) > 1 else None
        dataset = load(annotations, raters, spec.data, spec.analysis.columns)
        of_models = {sha256: self.table(name, sha256) for name, sha256 in files[len(members) :]}
        models = read_models(spec.models, of_models, annotations, dataset, spec.data)
        return replace(dataset, models=models), time.perf_counter() - started


class _Conductor(Watcher):
    """Keeps the claim on a run, saves its blocks now and then, and ends it when asked to.

    Attributes
    ----------
    record : RunRecord
        As it was claimed.
    progress : Progress or None
        Once it is known.
    cancelled : bool
        Whether somebody asked for the run to be cancelled, on this or another server.
    """

    def __init__(self, service: Service, record: RunRecord) -> None:
        self.record = record
        self.progress: Progress | None = None
        self.cancelled = False
        self._lost = False
        self._service = service
        self._unsaved: list[tuple[int, FloatArray]] = []
        self._tally: Tally | None = None
        self._counted = False  # whether something was counted that is not saved
        self._saved_at = time.monotonic()

    def counted_before(self) -> bytes | None:
        runs, record = self._service.runs, self.record
        return insist(lambda: runs.counted(record), until=self._service.closing)

    def computed_before(self, width: int) -> list[tuple[int, FloatArray]]:
        runs, record = self._service.runs, self.record
        return insist(lambda: runs.computed(record, width), until=self._service.closing)

    def begin(self, tally: Tally) -> None:
        self._tally = tally

    def computed(self, start: int, values: FloatArray) -> None:
        self._unsaved.append((start, values))
        if self._tally is not None and self._tally.counting:  # its state has them
            self._unsaved = self._unsaved[:0]
            self._counted = True

    def check(self, progress: Progress) -> None:
        """See :class:`Watcher`.

        Raises
        ------
        RunCancelledError
            If somebody cancelled the run, on this or another server, or this server is closing.
        LostRunError
            If the run is no longer ours.
        """
        self.progress = progress
        ends = self._service.closing.is_set() or self.cancelled
        if ends or time.monotonic() - self._saved_at >= SAVE_SECONDS:
            self._save(progress)
        if self._lost:
            raise LostRunError
        if ends or self.cancelled:
            raise RunCancelledError

    def renew(self) -> None:
        """Renew the claim, e.g. while data are read and nothing can be saved; called from another thread."""
        self._keep()

    def _save(self, progress: Progress) -> None:
        self._saved_at = time.monotonic()
        state = self._tally.state() if self._tally is not None and self._counted else None
        if self._keep(progress.done, self._unsaved, state):
            self._unsaved.clear()
            self._counted = False

    def _keep(self, *computed: Any) -> bool:
        """Whether the database has it."""
        try:
            if self._service.runs.keep(self.record, *computed):
                self.cancelled = True
        except LostRunError:
            self._lost = True
        except StoreError as error:  # computing goes on; the blocks are saved when the database is back
            log.warning("run %s: not saved yet: %s", self.record.id, error)
            return False
        return True


def insist(work: Callable[[], T], *, until: threading.Event) -> T:
    """Repeat what the database refuses until it is back, for `INSIST_SECONDS` at most.

    Raises
    ------
    StoreError
        If it is not back by then, or `until` is set; at once if the run is no longer ours.
    """
    started = time.monotonic()
    while True:
        try:
            return work()
        except LostRunError:
            raise
        except StoreError:
            if time.monotonic() - started > INSIST_SECONDS or until.wait(1.0):
                raise
