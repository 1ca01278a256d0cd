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
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache, partial

from grasp_core.access import Reach
from grasp_core.engine.compute import compute
from grasp_core.engine.conductor import Conductor
from grasp_core.engine.inputs import Inputs
from grasp_core.engine.pools.blocks import Progress
from grasp_core.engine.pools.pool import Pool
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
from grasp_core.io.dataset.load import Dataset
from grasp_core.io.parts.survey import DatasetInParts
from grasp_core.io.sources.allowed import AllowedSources
from grasp_core.result import Result
from grasp_core.spec import RunSpec
from grasp_core.store import claims
from grasp_core.store.files import FileStore
from grasp_core.store.insisting import insist
from grasp_core.store.runs import LostRunError, Request, RunRecord, RunStore
from grasp_core.version import __version__

log = logging.getLogger(__name__)

SIDE_BY_SIDE, FOR_EACH_WORKER = 4, 2
"""Runs that one server computes at one time at most, and for each of its workers, which they share evenly."""
POLL_SECONDS = 2.0
"""How often a server looks for runs that another one left."""
_RESULTS = 64
_ASKED = 64


class Service:
    """Takes in questions, computes them in the background and finds their answers.

    Parameters
    ----------
    runs : RunStore
    files : FileStore
    pool : Pool
    allowed : AllowedSources, optional
        Where files may be that are not uploaded; by default there are none.

    Attributes
    ----------
    inputs : Inputs
        Where the data of runs come from.
    """

    def __init__(
        self, runs: RunStore, files: FileStore, pool: Pool, allowed: AllowedSources | None = None
    ) -> None:
        self.runs = runs
        self.files = files
        self.pool = pool
        self.closing = threading.Event()
        self.inputs = Inputs(runs, files, allowed or AllowedSources(), self.closing)
        self.result = lru_cache(maxsize=_RESULTS)(self._result)
        self._asked: OrderedDict[str, threading.Event] = OrderedDict()
        self._in_hand: dict[str, Conductor] = {}
        self._awake = threading.Event()
        self._idle = threading.Event()
        side_by_side = min(SIDE_BY_SIDE, FOR_EACH_WORKER * pool.n_workers)
        self._slots = threading.Semaphore(side_by_side)
        self._conductors = ThreadPoolExecutor(side_by_side, thread_name_prefix="grasp-run")
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
        reach: Reach,
        owner: str = "",
        load_s: float = 0.0,
    ) -> tuple[RunRecord, bool]:
        """Save a run and compute it in the background.

        Parameters
        ----------
        dataset : Dataset
            With the spec's models. Their files should be in the file store: another server, or this one after
            a restart, reads them there; parts it reads where they are.
        spec : RunSpec
        title : str
        reach : Reach
            Of whoever asks; the run belongs to their project.
        owner : str
        load_s : float
            Seconds that reading took.

        Returns
        -------
        record : RunRecord
        known : bool
            Whether the same data and spec were asked in the project before, of the same version of the code.

        Raises
        ------
        AccessError
            If nothing is added to the project any more.
        LimitError
            If the user has too many runs waiting.
        """
        key, runs = run_key(dataset.summary, spec, __version__), self.runs.within(reach)
        answering = runs.answering(key)
        if answering is not None:
            return answering, True
        stored = [(file.name, file.sha256) for file in dataset.summary.files]
        stored += [(model.source, model.sha256) for model in dataset.models if model.column is None]
        request = Request(key, title, owner, __version__, spec, dataset.summary, tuple(stored))
        self.inputs.note_parts(dataset, owner=owner, reach=reach)
        name = _held_as(reach.home, key)
        held = self.inputs.hold(name, dataset, load_s)  # before the run can be claimed
        try:
            record, known = runs.create(request)
        except GraspError:
            self.inputs.drop(name, held)
            raise
        self._asked[record.id] = threading.Event()
        if len(self._asked) > _ASKED:
            self._asked.popitem(last=False)
        self._awake.set()
        return record, known

    def progress(self, record: RunRecord) -> Progress:
        """How far a run is; the time left is known only to the server that computes it."""
        conductor = self._in_hand.get(record.id)
        known = None if conductor is None else conductor.progress
        return known or Progress(record.done, record.total, None)

    def provisional(self, run_id: str) -> Result | None:
        """What is found so far of a run that goes on; None where nothing is known yet.

        A server has about one new result a second to show, however many runs it computes and people watch.
        """
        conductor = self._in_hand.get(run_id)
        known = None if conductor is None else conductor.provisional
        return known or self.runs.provisional(run_id)

    def wait(self, run_id: str, seconds: float) -> None:
        """Wait until something is found of a run that was asked here or is in hand, or for so long."""
        event, conductor = self._asked.get(run_id), self._in_hand.get(run_id)
        if event is None and conductor is not None:
            event = conductor.known
        if event is not None:
            event.wait(seconds)
            self._asked.pop(run_id, None)  # another server may compute it: once is enough

    @contextmanager
    def data_of(self, record: RunRecord) -> Iterator[Dataset]:
        """A run's data, for further questions about it, while they are needed.

        Raises
        ------
        DataError
            If a file is not on this server any more, has changed or never was here, or if the data stay in
            parts.
        """
        if not self.runs.files_of(record.id):
            raise DataError(
                "This result was brought from elsewhere, without its data; bring them on Data and run."
            )
        with self.inputs.dataset(_key(record), record, self.pool.each) as (dataset, _):
            if isinstance(dataset, DatasetInParts):
                raise DataError("The data are read part by part, and this takes all annotations at once.")
            yield dataset

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
                known = self._asked.get(record.id) or threading.Event()
                conductor = Conductor(self.runs, record, known, self.closing, self._in_hand)
                self._in_hand[record.id] = conductor
                self._asked.pop(record.id, None)
                self._conductors.submit(self._conduct, conductor)

    def _renew(self) -> None:
        """Renew the claims on the runs in hand, whatever they are busy with."""
        while not self._idle.wait(claims.LEASE_SECONDS / 4):
            for conductor in list(self._in_hand.values()):
                try:
                    conductor.renew()
                except Exception as error:  # whatever it is, this thread has to live on
                    log.error("a claim could not be renewed: %s", type(error).__name__)

    def _conduct(self, conductor: Conductor) -> None:
        record = conductor.record
        try:
            held = self.inputs.held(_key(record))
            end = self._outcome(conductor)
            try:
                insist(end, until=self.closing)
            except StoreError:
                raise
            except Exception as error:  # e.g. a result that cannot be written
                log.error("run %s could not be ended: %s", record.id, type(error).__name__)
                insist(partial(self.runs.finish, record, "failed", error=FAULT), until=self.closing)
            self.inputs.drop(_key(record), held)
        except LostRunError:  # perhaps asked again, and then its data are wanted here
            log.info("run %s went on elsewhere or was deleted", record.id)
        except StoreError as error:  # its claim runs out, and whoever finds it then resumes it
            log.warning("run %s could not be saved: %s", record.id, error)
        finally:
            conductor.known.set()
            del self._in_hand[record.id]
            self._slots.release()
            self._awake.set()

    def _outcome(self, conductor: Conductor) -> Callable[[], None]:
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
            return partial(self.runs.finish, record, "failed", error=f"{error} What was computed is kept.")
        except GraspError as error:
            return partial(self.runs.finish, record, "failed", error=str(error))
        except Exception as error:
            # The type alone: a message could quote rater data, which must not reach a log.
            log.error("run %s failed: %s", record.id, type(error).__name__)
            return partial(self.runs.finish, record, "failed", error=FAULT)
        seconds = time.monotonic() - started
        return partial(self.runs.finish, record, "done", result=result, duration_s=seconds)

    def _compute(self, conductor: Conductor) -> Result:
        record = conductor.record
        if record.cancel_requested:  # of a server that did not live to see it
            raise RunCancelledError
        if record.code_version != __version__:
            raise DataError("GRASP was upgraded while this run waited; run it again.")
        before = Progress(record.done, record.total, None)
        each = partial(self.pool.each, check=lambda: conductor.check(before))
        with self.inputs.dataset(_key(record), record, each) as (dataset, load_s):
            return compute(dataset, record.spec, self.pool, conductor, conductor, load_s=load_s)


def _key(record: RunRecord) -> str:
    """What a run's data are held as."""
    return _held_as(record.project, run_key(record.summary, record.spec, __version__))


def _held_as(project: str, key: str) -> str:
    return f"{project}:{key}"
