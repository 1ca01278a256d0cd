"""Plans as people without an account may see them."""

from __future__ import annotations

from grasp_core.planner.values import Plan
from grasp_core.report.small_groups.cover import LEAST
from grasp_core.report.small_groups.hiding import some_hidden
from grasp_core.result import Result


def of_large_groups(plan: Plan, result: Result) -> bool:
    """Whether a plan, which lists all groups of its axis, tells of no small one.

    Parameters
    ----------
    plan : Plan
    result : Result
        As it is shown: without small groups.
    """
    return not some_hidden(result) and all(one.n_raters >= LEAST for one in plan.have)
