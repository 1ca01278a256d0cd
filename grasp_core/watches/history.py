"""The runs of a watch, each held against the one before it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from grasp_core.engine.service import Service
from grasp_core.model.errors import MissingResultError
from grasp_core.report.comparison.since import Since, details, headline, since
from grasp_core.store.watches import Watch, WatchStore

_REMEMBERED = 256


@dataclass(frozen=True, slots=True)
class Step:
    """A run of a watch, and what changed since the one before.

    Parameters
    ----------
    number : int
        0 for the run that was watched.
    before : str or None
        Id of the run that it is held against; None for the first one that is still there.
    at : float
        Seconds since 1970.
    headline : str
        What changed, in a sentence.
    details : tuple of str
        One by one.
    found : Since or None
        The same for tables; None where there is nothing to hold against each other.
    """

    number: int
    run_id: str
    before: str | None
    at: float
    headline: str
    details: tuple[str, ...]
    found: Since | None


class History:
    """Finds the steps of watches; what two results have between them is remembered, for they never change."""

    def __init__(self, service: Service) -> None:
        self._result = service.result
        self._since = lru_cache(maxsize=_REMEMBERED)(self._compared)

    def steps(self, store: WatchStore, watch: Watch, *, limit: int = 50) -> list[Step]:
        """The latest steps, latest first.

        Parameters
        ----------
        store : WatchStore
            Within the reach of whoever asks.
        """
        runs = store.runs_of(watch.id)
        steps = []
        for before, run in list(zip([None, *runs], runs, strict=False))[-limit:]:
            found = None if before is None else self._since(before.run_id, run.run_id)
            if before is None:
                told = "The first run of this watch."
            elif found is None:
                told = "This run cannot be held against the one before."
            else:
                told = headline(found)
            one_by_one = () if found is None else details(found)
            before_id = None if before is None else before.run_id
            steps.append(Step(run.number, run.run_id, before_id, run.added_at, told, one_by_one, found))
        return steps[::-1]

    def _compared(self, before: str, now: str) -> Since | None:
        try:
            return since(self._result(before), self._result(now))
        except MissingResultError:  # deleted meanwhile
            return None
