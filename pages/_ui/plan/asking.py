"""Plans on their page: asked for, watched while they are made, kept with the run that was the pilot."""

from __future__ import annotations

from functools import partial

import streamlit as st

from grasp_core import server
from grasp_core.access import EVERYONE
from grasp_core.errors import SpecError
from grasp_core.json_values import FormError, from_json, to_json
from grasp_core.planner.make import PlanTask
from grasp_core.planner.pilot import assumed_task, task_of
from grasp_core.planner.values import Plan
from grasp_core.report.words.text import escape_markdown
from grasp_core.store.runs import RunRecord
from pages._ui.plan.question import Asked
from pages._ui.plan.shown_plan import draw_plan
from pages._ui.session.permissions import may_manage, require_manage, require_run
from pages._ui.session.projects import stores_of

_EVERY_S = 1.0
PREFIX = "plan "
"""What names of kept plans begin with."""


def offer(asked: Asked) -> None:
    """A button that has the plan made; its key then stands in the address."""
    if asked.spec is None:
        st.error(escape_markdown(asked.error or ""))
        return
    if st.button("Make the plan", type="primary", icon=":material/calculate:", key="plan-make"):
        run = asked.run
        owner = require_run(None if run is None else run.project).id
        if run is None or kept_plan(run, asked.key) is None:
            keep, known = partial(_keep, run, asked.key), _known(run, asked.key)
            server.shared().plans.ask(known, partial(_task, asked), keep, owner=owner)
        st.query_params["plan"] = asked.key.removeprefix(PREFIX)


def show_asked(run: RunRecord | None) -> None:
    """The plan that the address names: as it is kept, or as far as it is made."""
    name = st.query_params.get("plan")
    if name is None:
        return
    key = PREFIX + name
    kept = None if run is None else kept_plan(run, key)
    making = server.shared().plans.find(_known(run, key))
    if kept is None and making is not None and making.ended.is_set():
        kept = making.found if making.error is None and not making.cancelled else None
    if kept is not None:
        draw_plan(key, kept)
        if run is None:
            st.caption("A plan of assumed figures is kept until this server ends; its figures make it again.")
    elif making is None:
        st.info("This plan is not on this server; choose what it was asked and make it again.")
    elif making.error is not None:
        st.error(escape_markdown(making.error))
    elif making.cancelled:
        st.info("This plan was cancelled.")
    else:
        _watch(_known(run, key), key, EVERYONE if run is None else run.project)


def kept_plan(run: RunRecord, key: str) -> Plan | None:
    """A plan that is kept with a run; None where there is none, or one of another version."""
    plain = stores_of(run).answers.find(run.id, key)
    try:
        return None if plain is None else from_json(plain, Plan)
    except FormError:
        return None


def _known(run: RunRecord | None, key: str) -> str:
    """What a plan is known under to the server that makes it: strangers to the run cannot name it."""
    return key if run is None else f"{run.id} {key}"


@st.fragment(run_every=_EVERY_S)
def _watch(known: str, key: str, project: str) -> None:
    making = server.shared().plans.find(known)
    if making is None or making.ended.is_set():
        st.rerun()
    plan = making.found
    if plan is None:
        st.progress(0.0, text="Fitting the model, and simulating the first designs")
    else:
        share = min(plan.done / plan.total, 1.0)
        st.progress(share, text=f"{plan.done:,} of about {plan.total:,} simulated data sets")
    st.caption("The plan goes on when you close this page; its address leads back to it.")
    if may_manage(making.owner, project) and st.button(
        "Cancel the plan", icon=":material/stop_circle:", key="plan-cancel"
    ):
        require_manage(making.owner, project)
        making.cancelled = True
    if plan is not None:
        draw_plan(f"{key} {plan.done}", plan, going_on=True)


def _task(asked: Asked) -> PlanTask:
    """Read the pilot's data, in the plan's own thread."""
    if asked.spec is None:
        raise SpecError(asked.error or "")
    if asked.run is None or asked.group is None:
        return assumed_task(asked.spec)
    dataset, least = server.shared().service.data_of(asked.run), asked.run.spec.analysis.min_raters
    return task_of(dataset, asked.group, asked.spec, min_raters=least, question=asked.question)


def _keep(run: RunRecord | None, key: str, plan: Plan) -> None:
    if run is not None:
        stores_of(run).answers.keep(run.id, key, to_json(plan))
