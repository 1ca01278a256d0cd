"""Plans that a server computes beside its pages, each in a thread that waits for the workers."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable
from functools import partial

from grasp_core.engine.pools.pool import Pool
from grasp_core.errors import FAULT, GraspError, RunCancelledError
from grasp_core.planner.make import PlanTask, make_plan
from grasp_core.planner.values import Plan

log = logging.getLogger(__name__)

SIDE_BY_SIDE = 2
"""Plans that are computed at one time; further ones wait."""
_REMEMBERED = 32


class Making:
    """A plan on its way: what is known of it so far, and how it ended.

    Parameters
    ----------
    owner : str
        Who asked for it first.

    Attributes
    ----------
    plan : Plan or None
        As far as it is known.
    error : str or None
        Why there is none.
    ended : threading.Event
    cancelled : bool
        Set to stop it.
    """

    def __init__(self, owner: str) -> None:
        self.owner = owner
        self.plan: Plan | None = None
        self.error: str | None = None
        self.ended = threading.Event()
        self.cancelled = False

    def check(self) -> None:
        """Raise RunCancelledError if nobody wants it any more."""
        if self.cancelled:
            raise RunCancelledError

    def tell(self, plan: Plan) -> None:
        """Know the plan so far."""
        self.plan = plan


class Plans:
    """Plans by the key of what was asked; asked twice at a time, they are computed once.

    Parameters
    ----------
    pool : Pool
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._makings: OrderedDict[str, Making] = OrderedDict()
        self._lock = threading.Lock()
        self._slots = threading.Semaphore(SIDE_BY_SIDE)

    def find(self, key: str) -> Making | None:
        """What was asked under this key of this server, since it started."""
        return self._makings.get(key)

    def ask(
        self, key: str, task: Callable[[], PlanTask], keep: Callable[[Plan], None], *, owner: str
    ) -> Making:
        """Compute a plan, unless it is being computed or known.

        Parameters
        ----------
        key : str
        task : callable
            Makes the task, in the plan's own thread: it may have to read data.
        keep : callable
            Takes the whole plan.
        owner : str
            Who asks.
        """
        with self._lock:
            known = self._makings.get(key)
            if known is not None and not (known.ended.is_set() and (known.error or known.cancelled)):
                return known
            making = self._makings[key] = Making(owner)
            self._makings.move_to_end(key)
            ended = [name for name, one in self._makings.items() if one.ended.is_set()]
            for name in ended[: max(len(self._makings) - _REMEMBERED, 0)]:
                del self._makings[name]
        threading.Thread(target=self._make, args=(making, task, keep), name="grasp-plan", daemon=True).start()
        return making

    def close(self) -> None:
        """Stop what is being computed."""
        for making in list(self._makings.values()):
            making.cancelled = True

    def _make(self, making: Making, task: Callable[[], PlanTask], keep: Callable[[Plan], None]) -> None:
        try:
            with self._slots:
                making.check()
                plan = make_plan(task(), partial(self._pool.each, check=making.check), making.tell)
            making.plan = plan
            keep(plan)
        except RunCancelledError:
            making.cancelled = True
        except GraspError as error:
            making.error = str(error)
        except Exception as error:  # the type alone: a message could quote rater data
            log.error("a plan failed: %s", type(error).__name__)
            making.error = FAULT
        finally:
            making.ended.set()
