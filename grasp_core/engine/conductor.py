"""A claimed run while this server computes it: its claim is kept, its blocks saved, its end heard of."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Collection
from typing import Any

from grasp_core.engine.pools.blocks import Progress
from grasp_core.engine.watching import Checkpoints, Watcher
from grasp_core.model.annotations import FloatArray
from grasp_core.model.errors import RunCancelledError, StoreError
from grasp_core.model.result import Result
from grasp_core.permutation.testing.tally import Tally
from grasp_core.store.claims import insist
from grasp_core.store.runs import LostRunError, RunRecord, RunStore

log = logging.getLogger(__name__)

TURN_SECONDS = 3.0
"""How long a run is computed at least, once it is prepared, before it gives way to somebody else's."""
SAVE_SECONDS = 2.0
"""How often computed blocks are saved, of several runs side by side of one after the other: what a killed
server loses at most, of each run as many times that as it computes runs."""


class Conductor(Watcher, Checkpoints):
    """Keeps the claim on a run, saves its blocks now and then, and ends it when asked to.

    `record`: as it was claimed.
    `losses`: how often in a row whoever computed it was lost before it got on.
    `known`: set once there is something to see: a provisional result, or the run's end.
    `closing`: set when the server closes.
    `in_hand`: the runs that this server computes now.

    `losses`: 0 once it gets on: until then the process may be lost again, by this run's fault.
    `progress`: once it is known.
    `provisional`: what is found so far.
    `version`: tells it from what was found before, in this process or another; 0 before anything is found.
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
