"""Saved runs, claimed and computed side by side: a server's engine.

A run is first saved as a row in the database and then computed. Servers claim rows one at a time; while they
compute, they renew their claims and save blocks. If a claim is no longer renewed, another server takes the
run over, and does not compute the saved blocks again.
"""

import logging
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from grasp_core.engine.compute import compute
from grasp_core.engine.inputs import CachedData, DataCache, Inputs
from grasp_core.engine.pools.pool import Pool
from grasp_core.engine.pools.schedule import Progress
from grasp_core.engine.run import run_key
from grasp_core.engine.watching import EVERY_SECONDS, Checkpoints, Watcher
from grasp_core.model import errors
from grasp_core.model.annotations import FloatArray
from grasp_core.model.errors import FAULT, DataError, GraspError, RunCancelledError, StoreError
from grasp_core.model.result import Result
from grasp_core.permutation.jit import preparing
from grasp_core.permutation.testing.tally import Tally
from grasp_core.reading.sources.allowed import AllowedSources
from grasp_core.store import claims
from grasp_core.store.claims import insist
from grasp_core.store.files import FileStore
from grasp_core.store.runs import LostRunError, RunRecord, RunStore
from grasp_core.version import __version__

log = logging.getLogger(__name__)

TURN_SECONDS = 3.0
"""Fewest seconds that a prepared run is computed before it gives way to somebody else's run."""
SAVE_SECONDS = 2.0
"""Seconds from one save of computed blocks to the next; runs side by side are saved in turn. A killed server
loses at most this time of each run, multiplied by the number of runs that it computes."""


class Conductor(Watcher, Checkpoints):
    """A claimed run while it is computed here: renews the claim, saves blocks, and notices when it must end.

    `losses`: number of processes lost in a row while they computed the run; 0 once the run makes progress.
    `known`: set once there is something to see: a provisional result, or the run's end.
    `version`: number of the provisional result, different in other processes too; 0 before there is one.
    """

    def __init__(
        self,
        runs: RunStore,
        record: RunRecord,
        losses: int,
        known: threading.Event,
        closing: threading.Event,
        in_hand: Collection[str],
    ) -> None:
        self.record = record
        self.losses = losses
        self.progress: Progress | None = None
        self.provisional: Result | None = None
        self.version = 0
        self.known = known
        self.cancelled = False
        self.gives_way = False
        self._started = time.monotonic()
        self._computing_since: float | None = None
        self._keeps = True  # True if the present permutations are saved for a later attempt
        self._runs, self._closing, self._in_hand = runs, closing, in_hand
        self._lost = False
        self._begun: Progress | None = None
        self._done = record.done
        self._unsaved: list[tuple[int, FloatArray]] = []
        self._tally: Tally | None = None
        self._counted = False  # True if something was counted that is not saved
        self._saved: Result | None = None  # the provisional result that others can see
        self._saved_at = time.monotonic()

    def counted_before(self) -> bytes | None:
        """See :class:`~grasp_core.engine.watching.Checkpoints`."""
        return insist(lambda: self._runs.counted(self.record), until=self._closing)

    def computed_before(self, width: int) -> list[tuple[int, FloatArray]]:
        """See :class:`~grasp_core.engine.watching.Checkpoints`."""
        return insist(lambda: self._runs.computed(self.record, width), until=self._closing)

    def begin(self, tally: Tally) -> None:
        """See :class:`~grasp_core.engine.watching.Checkpoints`."""
        self._tally = tally

    def computed(self, start: int, values: FloatArray) -> None:
        """See :class:`~grasp_core.engine.watching.Checkpoints`."""
        if self._computing_since is None:
            self._computing_since = time.monotonic()
        self._unsaved.append((start, values))
        if self._tally is not None and self._tally.counting:  # the tally's state contains them
            self._unsaved = self._unsaved[:0]
            self._counted = True

    def found(self, provisional: Result) -> None:
        """See :class:`~grasp_core.engine.watching.Watcher`."""
        self.provisional = provisional
        self.version = time.monotonic_ns()
        self.known.set()

    @property
    def side_by_side(self) -> int:
        """See :class:`~grasp_core.engine.watching.Watcher`."""
        return max(1, len(self._in_hand))

    @property
    def computed_s(self) -> float:
        """Seconds since it was prepared; 0 before, and while the present permutations would be lost."""
        return time.monotonic() - self._computing_since if self._computing_since and self._keeps else 0.0

    @property
    def has_had_a_turn(self) -> bool:
        """True if it may give way: most of its time must not be spent on preparation."""
        preparing = (self._computing_since or 0.0) - self._started
        return self.computed_s >= max(TURN_SECONDS, preparing)

    def check(self, progress: Progress) -> None:
        """See :class:`~grasp_core.engine.watching.Watcher`."""
        self.progress = progress
        if self._begun is None or self._begun.of != progress.of:  # the first progress of a stage
            self._begun = progress
        if self.losses and progress.done > self._begun.done:
            self._forget_losses()
        self._keeps = progress.of is None
        if self._keeps:
            self._done = progress.done  # later stages save nothing: only the groups' permutations count
        else:
            self.gives_way = False
        ends = self._closing.is_set() or self.cancelled or self.gives_way
        if ends or time.monotonic() - self._saved_at >= SAVE_SECONDS * self.side_by_side:
            self._save()
        if self._lost:
            raise LostRunError
        if ends or self.cancelled:
            raise RunCancelledError

    def _forget_losses(self) -> None:
        try:
            self._runs.forget_losses(self.record)
        except LostRunError:
            self._lost = True
        except StoreError:
            return  # tried again the next time
        self.losses = 0

    def _save(self) -> None:
        self._saved_at = time.monotonic()
        state = self._tally.state() if self._tally is not None and self._counted else None
        shown = self.provisional
        new = None if shown is self._saved else shown
        if self.keep(self._done, self._unsaved, state, new):
            self._unsaved.clear()
            self._counted = False
            self._saved = shown

    def keep(self, *computed: Any) -> bool:
        """Renew the claim, and save if there is anything; return whether the database has it."""
        try:
            if self._runs.keep(self.record, *computed):
                self.cancelled = True
        except LostRunError:
            self._lost = True
        except StoreError as error:  # computing continues; blocks are saved when the database is back
            log.warning("run %s: not saved yet: %s", self.record.id, error)
            return False
        return True


SIDE_BY_SIDE, FOR_EACH_WORKER = 4, 2
"""Most runs that a server computes at one time, and most per worker; they share the workers evenly."""
LOSSES = 5
"""Number of processes lost in a row, without progress of the run, after which the run fails."""
LOST = (
    f"The process that computed this run was lost {LOSSES} times before the run got on, perhaps for want of"
    " memory; run it again when the server has less to do, or on a larger one."
)
NO_MEMORY = (
    "This run takes more memory than this server gives to computing, beside other runs; run it again when the"
    " server has less to do, or with fewer groups, or have GRASP_COMPUTE_MEMORY_MB raised."
)
ROOM_SECONDS = 1.0
"""Seconds between checks, while all places are taken, for somebody who waits and has no run computed."""
POLL_SECONDS = 2.0
"""Seconds between a server's searches for runs that another one left."""
_ASKED = 64


class Provisional(NamedTuple):
    """A provisional result, and the number that distinguishes it from earlier ones."""

    version: int
    result: Result | None


class Computing:
    """Computes queued runs, in threads that wait for the workers; hands them back once `closing` is set."""

    def __init__(
        self, runs: RunStore, files: FileStore, pool: Pool, allowed: AllowedSources | None = None
    ) -> None:
        self.closing = threading.Event()
        self._runs = runs
        self._pool = pool
        self._inputs = Inputs(runs, files, allowed or AllowedSources(), self.closing)
        self._holding = DataCache()
        self.hold, self.drop = self._holding.hold, self._holding.drop
        self._asked: OrderedDict[str, threading.Event] = OrderedDict()
        self._in_hand: dict[str, Conductor] = {}
        self._awake = threading.Event()
        self._idle = threading.Event()
        side_by_side = min(SIDE_BY_SIDE, FOR_EACH_WORKER * pool.n_workers)
        self._slots = threading.Semaphore(side_by_side)
        self._conductors = ThreadPoolExecutor(side_by_side, thread_name_prefix="grasp-run")
        self._dispatcher = threading.Thread(target=self._dispatch, name="grasp-dispatch", daemon=True)
        self._renewer = threading.Thread(target=self._renew, name="grasp-renew", daemon=True)

    @property
    def ready(self) -> bool:
        """True if runs are claimed."""
        return self._dispatcher.is_alive()

    def start(self) -> None:
        """Start the workers and begin to look for runs."""
        self._pool.warm()
        self._dispatcher.start()
        self._renewer.start()

    def expect(self, run_id: str) -> None:
        """Look for a run that was just requested."""
        if run_id in self._in_hand:
            return
        self._asked[run_id] = threading.Event()
        if len(self._asked) > _ASKED:
            self._asked.popitem(last=False)
        self._awake.set()

    def progress(self, run_id: str) -> Progress | None:
        """Return the progress of a run that is computed here, as far as it is known."""
        conductor = self._in_hand.get(run_id)
        if conductor is None:
            return None
        progress = conductor.progress or Progress(conductor.record.done, conductor.record.total, None)
        return progress if progress.seconds_left is not None else replace(progress, waiting=preparing())

    def found(self, run_id: str, version: int) -> Provisional | None:
        """Return a run's provisional result, left out if it is of this version; None if it is not here."""
        conductor = self._in_hand.get(run_id)
        if conductor is None or not conductor.version:
            return None
        known = conductor.version  # read before the result, which may be newer
        return Provisional(known, None if known == version else conductor.provisional)

    def news_every(self, run_id: str) -> float | None:
        """Return the seconds between provisional results of a run at present; None if it is not here."""
        conductor = self._in_hand.get(run_id)
        return None if conductor is None else EVERY_SECONDS * conductor.side_by_side

    def wait(self, run_id: str, seconds: float) -> None:
        """Wait for news of a run that was requested or is computed here, at most for `seconds`."""
        conductor = self._in_hand.get(run_id)
        event = self._asked.get(run_id) if conductor is None else conductor.known
        if event is not None:
            event.wait(seconds)
            self._asked.pop(run_id, None)  # another server may compute it: once is enough

    def cancel(self, run_id: str) -> None:
        """Stop a run at once, if it is computed here."""
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
        self._pool.close()

    def _dispatch(self) -> None:
        while not self.closing.is_set():
            if not self._slots.acquire(timeout=ROOM_SECONDS):
                self._make_room()
                continue
            record, losses = None, 0
            if not (self.closing.is_set() or any(one.losses for one in list(self._in_hand.values()))):
                try:
                    record = self._runs.claim(in_hand=tuple(self._in_hand))
                    losses = self._runs.losses(record) if record is not None else 0
                except StoreError as error:
                    log.warning("no run could be claimed: %s", error)
                except Exception as error:  # this thread must continue after any error
                    log.error("no run could be claimed: %s", type(error).__name__)
            if record is None:
                self._slots.release()
                self._awake.wait(POLL_SECONDS)
                self._awake.clear()
            else:
                known = self._asked.get(record.id) or threading.Event()
                conductor = Conductor(self._runs, record, losses, known, self.closing, self._in_hand)
                self._in_hand[record.id] = conductor
                self._asked.pop(record.id, None)
                self._conductors.submit(self._conduct, conductor)

    def _make_room(self) -> None:
        """Make a run of the person with most runs here give way, if somebody waits who has none."""
        in_hand = list(self._in_hand.values())
        able = [one for one in in_hand if one.has_had_a_turn]
        if not able or any(one.gives_way for one in in_hand):
            return
        try:
            if not self._runs.somebody_waits(in_hand=tuple(self._in_hand)):
                return
        except Exception as error:  # the dispatcher's thread must continue after any error
            log.warning("it is not known who waits: %s", type(error).__name__)
            return
        runs_of = Counter(one.record.owner for one in in_hand)
        max(able, key=lambda one: (runs_of[one.record.owner], one.computed_s)).gives_way = True

    def _renew(self) -> None:
        """Renew the claims on the runs that are computed here, whatever they are doing."""
        while not self._idle.wait(claims.LEASE_SECONDS / 4):
            for conductor in list(self._in_hand.values()):
                try:
                    conductor.keep()
                except Exception as error:  # this thread must continue after any error
                    log.error("a claim could not be renewed: %s", type(error).__name__)

    def _conduct(self, conductor: Conductor) -> None:
        record = conductor.record
        try:
            held = self._holding.find(key_of(record))
            end = self._outcome(conductor, held)
            try:
                insist(end, until=self.closing)
            except StoreError:
                raise
            except Exception as error:  # e.g. a result that cannot be written
                log.error("run %s could not be ended: %s", record.id, type(error).__name__)
                insist(partial(self._runs.finish, record, "failed", error=FAULT), until=self.closing)
            if held is not None and not conductor.gives_way:
                self._holding.drop(key_of(record), held.number)
        except LostRunError:  # perhaps it was requested again, and then its data are needed here
            log.info("run %s went on elsewhere or was deleted", record.id)
        except StoreError as error:  # its claim expires, and the server that finds it then resumes it
            log.warning("run %s could not be saved: %s", record.id, error)
        finally:
            conductor.known.set()
            del self._in_hand[record.id]
            self._slots.release()
            self._awake.set()

    def _outcome(self, conductor: Conductor, held: CachedData | None) -> Callable[[], None]:
        """Compute a claimed run; return the function that ends it in the database."""
        record = conductor.record
        started = time.monotonic()
        try:
            result = self._compute(conductor, held)
        except RunCancelledError:
            if self.closing.is_set():
                return partial(self._runs.release, record)
            if conductor.gives_way and not conductor.cancelled:
                return partial(self._runs.release, record, gives_way=True)
            return partial(self._runs.finish, record, "cancelled")
        except StoreError:
            raise
        except MemoryError:
            return partial(self._runs.finish, record, "failed", error=NO_MEMORY)
        except errors.LostSchedulerError as error:
            return partial(self._runs.finish, record, "failed", error=f"{error} What was computed is kept.")
        except GraspError as error:
            return partial(self._runs.finish, record, "failed", error=str(error))
        except Exception as error:
            # The type alone: a message could quote rater data, which must not reach a log.
            log.error("run %s failed: %s", record.id, type(error).__name__)
            return partial(self._runs.finish, record, "failed", error=FAULT)
        seconds = time.monotonic() - started
        return partial(self._runs.finish, record, "done", result=result, duration_s=seconds)

    def _compute(self, conductor: Conductor, held: CachedData | None) -> Result:
        record = conductor.record
        if record.cancel_requested:  # the server that had the run ended before it noticed
            raise RunCancelledError
        if record.code_version != __version__:
            raise DataError("GRASP was upgraded while this run waited; run it again.")
        if conductor.losses >= LOSSES:
            raise errors.WorkerError(LOST)
        if held is not None:
            dataset, load_s = held.dataset, held.load_s
        else:
            started = time.perf_counter()
            dataset = self._inputs.dataset(record)
            load_s = time.perf_counter() - started
        return compute(dataset, record.spec, self._pool, conductor, conductor, load_s=load_s)


def key_of(record: RunRecord) -> str:
    """Return the key under which a run's data are kept in memory."""
    return data_key(record.project, run_key(record.summary, record.spec, __version__))


def data_key(project: str, key: str) -> str:
    """Return the key under which the data of a project's request are kept in memory."""
    return f"{project}:{key}"
