"""Plans that a server computes beside its pages."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from grasp_core.engine.beside import Making, Makings
from grasp_core.engine.pools.pool import Pool
from grasp_core.planner.make import PlanTask, make_plan
from grasp_core.planner.values import Plan


class Plans(Makings[Plan]):
    """Plans by the key of what was asked.

    Parameters
    ----------
    pool : Pool
    """

    def __init__(self, pool: Pool) -> None:
        super().__init__("plan")
        self._pool = pool

    def ask(
        self, key: str, task: Callable[[], PlanTask], keep: Callable[[Plan], None], *, owner: str
    ) -> Making[Plan]:
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

        def make(making: Making[Plan]) -> Plan:
            plan = make_plan(task(), partial(self._pool.each, check=making.check), making.tell)
            keep(plan)
            return plan

        return self.begin(key, make, owner=owner)
