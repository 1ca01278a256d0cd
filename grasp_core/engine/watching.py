"""Two roles beside a run: who watches it, and who keeps what it computes for a later attempt."""

from __future__ import annotations

from grasp_core.annotations import FloatArray
from grasp_core.engine.pools.blocks import Progress
from grasp_core.permutation.nulls.tally import Tally
from grasp_core.result import Result


class Watcher:
    """Whoever watches a run; this one lets it go on."""

    @property
    def side_by_side(self) -> int:
        """Runs that share the time for provisional results with this one, itself included."""
        return 1

    @property
    def looks_on(self) -> bool:
        """Whether somebody sees provisional results; else none are made."""
        return True

    def check(self, progress: Progress) -> None:
        """Called several times a second; what this raises ends the run."""

    def found(self, provisional: Result) -> None:
        """What is found so far: the observed values at once, then about once a second with p-values."""


class Checkpoints:
    """Keeps what is computed of a run and gives it back to a later attempt; this one keeps nothing."""

    def counted_before(self) -> bytes | None:
        """The state of an earlier attempt's tally, if it had begun to count."""
        return None

    def computed_before(self, width: int) -> list[tuple[int, FloatArray]]:
        """Blocks of an earlier attempt, as (start, array of shape (block, `width`))."""
        return []

    def begin(self, tally: Tally) -> None:
        """Nothing is computed yet; once the tally counts, its state is all that was computed."""

    def computed(self, start: int, values: FloatArray) -> None:
        """A block of values (b, ...) was computed, and added to the tally."""
