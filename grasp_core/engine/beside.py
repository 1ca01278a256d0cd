"""Work beside the computing of runs, such as plans, in threads of its own."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from typing import Generic, TypeVar

from grasp_core.analysis.planner.make import PlanTask, make_plan
from grasp_core.analysis.planner.values import Plan
from grasp_core.engine.pools.pool import Pool
from grasp_core.model.errors import FAULT, GraspError, RunCancelledError

log = logging.getLogger(__name__)

SIDE_BY_SIDE = 2
"""Answers of a kind that are computed at one time; further ones wait."""
_REMEMBERED = 32

T = TypeVar("T")


class Making(Generic[T]):
    """An answer on its way: what is known of it so far, and how it ended.

    Parameters
    ----------
    owner : str
        Who asked for it first.

    Attributes
    ----------
    found : T or None
        As far as it is known.
    share : float
        How much of the work is done, where that is told.
    error : str or None
        Why there is none.
    ended : threading.Event
    cancelled : bool
        Set to stop it.
    """

    def __init__(self, owner: str) -> None:
        self.owner = owner
        self.found: T | None = None
        self.share = 0.0
        self.error: str | None = None
        self.ended = threading.Event()
        self.cancelled = False

    def check(self) -> None:
        """Raise RunCancelledError if nobody wants it any more."""
        if self.cancelled:
            raise RunCancelledError

    def tell(self, found: T) -> None:
        """Know the answer so far."""
        self.found = found

    def tell_share(self, share: float) -> None:
        """Know how much of the work is done."""
        self.share = share


class Makings(Generic[T]):
    """Answers by the key of what was asked; asked twice at a time, they are computed once.

    Parameters
    ----------
    kind : str
        What the log calls them.
    """

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._makings: OrderedDict[str, Making[T]] = OrderedDict()
        self._lock = threading.Lock()
        self._slots = threading.Semaphore(SIDE_BY_SIDE)

    def find(self, key: str) -> Making[T] | None:
        """What was asked under this key of this server, since it started."""
        return self._makings.get(key)

    def begin(self, key: str, make: Callable[[Making[T]], T], *, owner: str) -> Making[T]:
        """Compute an answer, unless it is being computed or known.

        Parameters
        ----------
        make : callable
            Makes the answer and keeps it, in the answer's own thread: it may have to read data.
        owner : str
            Who asks.
        """
        with self._lock:
            known = self._makings.get(key)
            if known is not None and not (known.ended.is_set() and (known.error or known.cancelled)):
                return known
            making = self._makings[key] = Making[T](owner)
            self._makings.move_to_end(key)
            ended = [name for name, one in self._makings.items() if one.ended.is_set()]
            for name in ended[: max(len(self._makings) - _REMEMBERED, 0)]:
                del self._makings[name]
        name = f"grasp-{self._kind}"
        threading.Thread(target=self._make, args=(making, make), name=name, daemon=True).start()
        return making

    def close(self) -> None:
        """Stop what is being computed."""
        for making in list(self._makings.values()):
            making.cancelled = True

    def _make(self, making: Making[T], make: Callable[[Making[T]], T]) -> None:
        try:
            with self._slots:
                making.check()
                making.found = make(making)
        except RunCancelledError:
            making.cancelled = True
        except GraspError as error:
            making.error = str(error)
        except Exception as error:  # the type alone: a message could quote rater data
            log.error("%s failed: %s", self._kind, type(error).__name__)
            making.error = FAULT
        finally:
            making.ended.set()


class Plans(Makings[Plan]):
    """Plans by the key of what was asked."""

    def __init__(self, pool: Pool) -> None:
        super().__init__("plan")
        self._pool = pool

    def ask(
        self, key: str, task: Callable[[], PlanTask], keep: Callable[[Plan], None], *, owner: str
    ) -> Making[Plan]:
        """Compute a plan, unless it is being computed or known.

        Parameters
        ----------
        task : callable
            Makes the task, in the plan's own thread: it may have to read data.
        keep : callable
            Takes the whole plan.
        owner : str
            Who asks.
        """

        def make(making: Making[Plan]) -> Plan:
            plan = make_plan(task(), partial(self._pool.each, check=making.check), making.tell)
            keep(plan)
            return plan

        return self.begin(key, make, owner=owner)
