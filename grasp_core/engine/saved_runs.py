"""Saved runs, claimed and computed one beside the other: a server's engine.

A run is a row in the database first and work second. Servers claim rows one at a time, renew their claim
while they compute and save blocks as they go; a claim that is no longer renewed is taken over, and the saved
blocks are not computed again.
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
from grasp_core.engine.inputs import HeldData, Holding, Inputs
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
"""How long a run is computed at least, once it is prepared, before it gives way to somebody else's."""
SAVE_SECONDS = 2.0
"""How often computed blocks are saved, of several runs side by side of one after the other: what a killed
server loses at most, of each run as many times that as it computes runs."""


class Conductor(Watcher, Checkpoints):
    """A claimed run while it is computed here: keeps the claim, saves blocks now and then, hears of its end.

    `losses`: how often in a row whoever computed it was lost; 0 once it gets on.
    `known`: set once there is something to see: a provisional result, or the run's end.
    `version`: tells the provisional result from those before, also of other processes; 0 before there is one.
    `cancelled`: whether somebody asked for the run to be cancelled, on this or another server.
    `gives_way`: whether it is to be handed back for somebody of whom nothing is computed.
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
        self._keeps = True  # whether what is computed now is kept for a later attempt
        self._runs, self._closing, self._in_hand = runs, closing, in_hand
        self._lost = False
        self._begun: Progress | None = None
        self._done = record.done
        self._unsaved: list[tuple[int, FloatArray]] = []
        self._tally: Tally | None = None
        self._counted = False  # whether something was counted that is not saved
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
        if self._tally is not None and self._tally.counting:  # its state has them
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
        """Seconds since it was prepared; 0 before, and where what is computed now would be lost."""
        return time.monotonic() - self._computing_since if self._computing_since and self._keeps else 0.0

    @property
    def has_had_a_turn(self) -> bool:
        """Whether it may give way: most of its time must not go into being prepared."""
        preparing = (self._computing_since or 0.0) - self._started
        return self.computed_s >= max(TURN_SECONDS, preparing)

    def check(self, progress: Progress) -> None:
        """See :class:`~grasp_core.engine.watching.Watcher`."""
        self.progress = progress
        if self._begun is None or self._begun.of != progress.of:  # a stage is first heard of
            self._begun = progress
        if self.losses and progress.done > self._begun.done:
            self._forget_losses()
        self._keeps = progress.of is None
        if self._keeps:
            self._done = progress.done  # later stages keep nothing: the groups' permutations are what is done
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
            return  # the next time
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
        """Renew the claim, also while nothing can be saved, and save; whether the database has it."""
        try:
            if self._runs.keep(self.record, *computed):
                self.cancelled = True
        except LostRunError:
            self._lost = True
        except StoreError as error:  # computing goes on; the blocks are saved when the database is back
            log.warning("run %s: not saved yet: %s", self.record.id, error)
            return False
        return True


SIDE_BY_SIDE, FOR_EACH_WORKER = 4, 2
"""Runs that one server computes at one time at most, and for each of its workers, which they share evenly."""
LOSSES = 5
"""How often in a row the process that computes a run may be lost before the run gets on."""
LOST = (
    f"The process that computed this run was lost {LOSSES} times before the run got on, perhaps for want of"
    " memory; run it again when the server has less to do, or on a larger one."
)
NO_MEMORY = (
    "This run takes more memory than this server gives to computing, beside other runs; run it again when the"
    " server has less to do, or with fewer groups, or have GRASP_COMPUTE_MEMORY_MB raised."
)
ROOM_SECONDS = 1.0
"""How often it is looked whether somebody waits of whom nothing is computed, while all places are taken."""
POLL_SECONDS = 2.0
"""How often a server looks for runs that another one left."""
_ASKED = 64


class Provisional(NamedTuple):
    """A provisional result, and the number that tells it from those before."""

    version: int
    result: Result | None


class Computing:
    """Computes what is queued, in threads that wait for the workers; once `closing` is set, hands it back.

    `allowed`: where files may be that are not uploaded; by default there are none.
    """

    def __init__(
        self, runs: RunStore, files: FileStore, pool: Pool, allowed: AllowedSources | None = None
    ) -> None:
        self.closing = threading.Event()
        self._runs = runs
        self._pool = pool
        self._inputs = Inputs(runs, files, allowed or AllowedSources(), self.closing)
        self._holding = Holding()
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
        """Whether runs are claimed."""
        return self._dispatcher.is_alive()

    def start(self) -> None:
        """Start the workers and begin to look for runs."""
        self._pool.warm()
        self._dispatcher.start()
        self._renewer.start()

    def expect(self, run_id: str) -> None:
        """Look for a run that was just asked."""
        if run_id in self._in_hand:
            return
        self._asked[run_id] = threading.Event()
        if len(self._asked) > _ASKED:
            self._asked.popitem(last=False)
        self._awake.set()

    def progress(self, run_id: str) -> Progress | None:
        """How far a run is that is computed here, as far as that is known."""
        conductor = self._in_hand.get(run_id)
        if conductor is None:
            return None
        progress = conductor.progress or Progress(conductor.record.done, conductor.record.total, None)
        return progress if progress.seconds_left is not None else replace(progress, waiting=preparing())

    def found(self, run_id: str, version: int) -> Provisional | None:
        """What is found so far of a run, without a result where it is this version; None if not here."""
        conductor = self._in_hand.get(run_id)
        if conductor is None or not conductor.version:
            return None
        known = conductor.version  # before the result, which may be a newer one's
        return Provisional(known, None if known == version else conductor.provisional)

    def news_every(self, run_id: str) -> float | None:
        """Seconds from one provisional result of a run to the next, as things are now; None if not here."""
        conductor = self._in_hand.get(run_id)
        return None if conductor is None else EVERY_SECONDS * conductor.side_by_side

    def wait(self, run_id: str, seconds: float) -> None:
        """Wait until something is found of a run that was asked here or is in hand, or for so long."""
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
                except Exception as error:  # whatever it is, this thread has to live on
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
        """Have one of those who have most runs in hand give way, if somebody waits who has none."""
        in_hand = list(self._in_hand.values())
        able = [one for one in in_hand if one.has_had_a_turn]
        if not able or any(one.gives_way for one in in_hand):
            return
        try:
            if not self._runs.somebody_waits(in_hand=tuple(self._in_hand)):
                return
        except Exception as error:  # whatever it is, the dispatcher's thread has to live on
            log.warning("it is not known who waits: %s", type(error).__name__)
            return
        runs_of = Counter(one.record.owner for one in in_hand)
        max(able, key=lambda one: (runs_of[one.record.owner], one.computed_s)).gives_way = True

    def _renew(self) -> None:
        """Renew the claims on the runs in hand, whatever they are busy with."""
        while not self._idle.wait(claims.LEASE_SECONDS / 4):
            for conductor in list(self._in_hand.values()):
                try:
                    conductor.keep()
                except Exception as error:  # whatever it is, this thread has to live on
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
        except LostRunError:  # perhaps asked again, and then its data are wanted here
            log.info("run %s went on elsewhere or was deleted", record.id)
        except StoreError as error:  # its claim runs out, and whoever finds it then resumes it
            log.warning("run %s could not be saved: %s", record.id, error)
        finally:
            conductor.known.set()
            del self._in_hand[record.id]
            self._slots.release()
            self._awake.set()

    def _outcome(self, conductor: Conductor, held: HeldData | None) -> Callable[[], None]:
        """Compute a claimed run; returns how it is to be ended in the database."""
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

    def _compute(self, conductor: Conductor, held: HeldData | None) -> Result:
        record = conductor.record
        if record.cancel_requested:  # of a server that did not live to see it
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
    """What a run's data are held as."""
    return held_as(record.project, run_key(record.summary, record.spec, __version__))


def held_as(project: str, key: str) -> str:
    """What the data of a question of a project are held as."""
    return f"{project}:{key}"
