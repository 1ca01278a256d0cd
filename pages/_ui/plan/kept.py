"""Plans that are kept with a run, below its result."""

from __future__ import annotations

from collections.abc import Callable

from grasp_core.planner.values import Plan
from grasp_core.planner.words import TARGETS, named
from grasp_core.store.runs import RunRecord
from pages._ui.plan.asking import PREFIX, kept_plan
from pages._ui.plan.shown_plan import draw_plan
from pages._ui.session.projects import stores_of
from pages._ui.widgets.sections import when_open
from pages._ui.widgets.shown import always


def show_kept_plans(
    run: RunRecord, check: Callable[[], None] = always, may_see: Callable[[Plan], bool] = lambda _: True
) -> None:
    """A section for each plan that `may_see` lets through.

    `check` refuses files to whoever may not have them any more.
    """
    for key in stores_of(run).answers.names(run.id, PREFIX):
        plan = kept_plan(run, key)
        if plan is None or not may_see(plan):
            continue
        label = f"Plan: {TARGETS[plan.spec.target]} of {named(plan)}, a chance of {plan.spec.goal:.0%}"

        def draw(key: str = key) -> None:
            plan = kept_plan(run, key)
            if plan is not None:
                draw_plan(key, plan, check=check)

        when_open(label, draw, key=f"kept-{key}", icon=":material/calculate:")
