"""Planning: the question, the plan in progress, and plans stored with a run."""

import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from grasp_core.analysis.planner.simulation import PlanTask, assumed_task, task_of, usual
from grasp_core.analysis.planner.values import GOALS, MOST_LABELS, Assumed, Plan, PlanSpec, Target, plan_dict
from grasp_core.engine.service import PendingAnswer
from grasp_core.model.access import EVERYONE
from grasp_core.model.errors import SpecError
from grasp_core.model.groups import Group, group_label
from grasp_core.model.json_values import FormError, from_json, to_json
from grasp_core.model.result import RunResult
from grasp_core.model.text import escape_markdown, json_text
from grasp_core.report import plan as report
from grasp_core.report.charts.plan import plan_chart
from grasp_core.report.findings.selection import by_verdict
from grasp_core.report.plan import TARGETS
from grasp_core.report.tables import texts
from grasp_core.report.writers.spreadsheet import recruitment_xlsx
from grasp_core.server import server
from grasp_core.store.runs import RunRecord
from pages._ui.helpers import widgets as ui
from pages._ui.helpers.identity import may_manage, require_manage, require_run, stores, stores_of
from pages._ui.helpers.state import exactly
from pages._ui.result import cache

_SIZES: Mapping[Target, tuple[str, float, float]] = {
    "labels": ("Points more often", 10.0, 1.0),
    "distance": ("Distance", 0.02, 0.005),
    "gap": ("Gap", 0.05, 0.01),
    "gai": ("GAI", 1.2, 0.05),
    "dsi": ("DSI", 1.2, 0.05),
}
"""Name, first value and step of the size field, for each kind of difference."""
ASSUMED = {"share": 0.25, "raters": (20, 400), "items": (20, 1000), "each": None}


@dataclass(frozen=True, slots=True)
class PlanQuestion:
    """A planning question, about a run's group or about assumed figures."""

    spec: PlanSpec
    run: RunRecord | None = None
    group: Group | None = None
    question: int = 0

    @property
    def key(self) -> str:
        """Name under which the plan is stored: the same for the same question."""
        plain = [to_json(self.spec), self.run and self.run.id, self.group and to_json(self.group)]
        text = json.dumps([*plain, self.question], sort_keys=True)
        return f"plan {hashlib.sha256(text.encode()).hexdigest()[:16]}"


def chosen_run() -> RunRecord | None:
    """Choose a pilot among runs with groups, at first the address's run, else the latest; None if none."""
    runs = stores().runs
    found = [run for run in runs.search("", tag=None, limit=50) if _has_groups(run)]
    named = runs.get(st.query_params.get("run", ""))
    if named is not None and _has_groups(named) and named.id not in [run.id for run in found]:
        found.insert(0, named)
    if not found:
        return None
    often = Counter(run.title for run in found)
    titles = {
        run.id: run.title if often[run.title] == 1 else f"{run.title} ({exactly(run.created_at)})"
        for run in found
    }
    start = list(titles).index(named.id) if named is not None and named.id in titles else 0
    chosen = ui.pick("Pilot", titles, index=start, key="plan-run")
    run = next(run for run in found if run.id == chosen)
    st.query_params["run"] = run.id
    return run


def _has_groups(run: RunRecord) -> bool:
    return run.state == "done" and run.spec.models == () and bool(run.spec.analysis.axes)


def choose_from_run(run: RunRecord) -> PlanQuestion:
    """Choose a group and a difference, the pilot's own or another one."""
    result = server.shared().service.result(run.id)
    if not isinstance(result, RunResult) or not result.groups:
        raise SpecError("This result has no groups.")
    rows, clearest = result.groups, by_verdict(result)
    names = {place: group_label(row.group) for place, row in enumerate(rows)}
    place = ui.pick("Group", names, index=rows.index(clearest[0].row) if clearest else 0, key="plan-group")
    group, data, questions = rows[place].group, result.data, len(run.spec.data.questions)
    question = ui.pick_question(run.spec.data)
    start = usual(rows[place].n_raters, data.raters, data.items, data.annotations // questions)
    categories = data.categories if questions == 1 else ()
    first, level = report.found_target(result, group), run.spec.analysis.level
    spec = _chosen(f"{run.id}-{place}", start, categories, pilot=True, first=first, level=level)
    return PlanQuestion(spec, run, group, question)


def choose_assumed() -> PlanQuestion:
    """Choose labels and agreement of a task that has no data yet."""
    left, right = st.columns(2)
    labels = left.number_input("Labels", 2, MOST_LABELS, 2, key="plan-labels")
    looks = {"step": 0.05, "key": "plan-agreement", "help": "Krippendorff's alpha"}
    agreement = right.number_input("IRR within groups", 0.02, 0.9, 0.4, **looks)
    assumed = Assumed(int(labels), float(agreement))
    return PlanQuestion(_chosen("assumed", ASSUMED, (), pilot=False, first="labels", assumed=assumed))


def _chosen(
    key: str,
    start: Mapping[str, Any],
    categories: tuple[str, ...],
    *,
    pilot: bool,
    first: Target,
    **fixed: Any,
) -> PlanSpec:
    target: Target = ui.switch("Difference in", TARGETS, default=first, key=f"plan-target-{key}")
    found: dict[str, Any] = {}
    more = "Off: choose how large it is. A small pilot knows little of that."
    own = pilot and st.toggle("As large as in the pilot", True, key=f"plan-own-{key}", help=more)
    if target == "labels" and categories and not own:
        found["label"] = st.selectbox("Label", categories, key=f"plan-label-{key}")
    if not own:
        called, value, step = _SIZES[target]
        looks = {"step": step, "format": "%.3g", "key": f"plan-size-{target}"}
        found["size"] = st.number_input(called, value=value, **looks)
    goals = {goal: f"{goal:.0%}" for goal in GOALS}
    goal = ui.switch("Chance of finding it", goals, default=0.8, key="plan-goal")
    with st.expander("Design, range and costs"):
        design = _design(key, start)
    return PlanSpec(**fixed, target=target, **found, goal=goal, **design)


def _design(key: str, start: Mapping[str, Any]) -> dict[str, Any]:
    def figure(place: Any, label: str, least: float, value: float, name: str, **looks: Any) -> Any:
        return place.number_input(label, min_value=least, value=value, key=f"plan-{name}", **looks)

    more = "Of all raters; more than it has now where the group is recruited on purpose."
    looks = {"max_value": 99.0, "help": more}
    share = figure(st, "Share of the group, %", 1.0, 100 * start["share"], f"share-{key}", **looks)
    more = "0: every rater labels every item"
    each = figure(st, "Labels an item", 0, start["each"] or 0, f"each-{key}", help=more)
    (fewest, most), (fewest_items, most_items), (a, b, c, d) = start["raters"], start["items"], st.columns(4)
    raters = figure(a, "Fewest raters", 4, fewest, f"j0-{key}"), figure(b, "Most", 4, most, f"j1-{key}")
    items = (
        figure(c, "Fewest items", 4, fewest_items, f"i0-{key}"),
        figure(d, "Most items", 4, most_items, f"i1-{key}"),
    )
    e, f = st.columns(2)
    return {
        "share": round(share / 100, 4),
        "each": int(each) or None,
        "raters": tuple(map(int, raters)),
        "items": tuple(map(int, items)),
        "per_annotation": figure(e, "Cost of an annotation", 0.0, 1.0, "cost-a"),
        "per_rater": figure(f, "Cost of recruiting a rater", 0.0, 0.0, "cost-r"),
    }


def draw_plan(key: str, plan: Plan, *, going_on: bool = False, check: Callable[[], None] = ui.always) -> None:
    """Draw a plan."""
    for sentence in report.answer(plan):
        st.markdown(sentence.markdown)
    cache.chart(key, "plan", plan, plan_chart)
    ui.show_table(report.lines_table(plan), "Items that each number of raters takes")
    table = texts(report.RECRUITMENT, report.recruitment_rows(plan))
    if not table.empty:
        st.subheader("Whom it takes")
        ui.show_table(table, "Raters to recruit, by group")
    st.subheader("How this was found out")
    st.write(report.EXPLANATION)
    ui.bullets(report.details(plan))
    if going_on:
        return
    surface = partial(ui.show_table, report.surface_table(plan), "The chance of every design")
    ui.when_open("Every design as a table", surface, key=f"plan-table-{key}")
    ui.downloads(
        check,
        ("recruitment (CSV)", "recruitment.csv", lambda: report.recruitment_csv(plan)),
        ("recruitment (XLSX)", "recruitment.xlsx", lambda: recruitment_xlsx(plan)),
        ("surface (SVG)", "plan.svg", lambda: ui.drawn(plan_chart(plan), "svg")),
        ("plan (JSON)", "plan.json", lambda: json_text(plan_dict(plan))),
        type="tertiary",
    )


PREFIX = "plan "
"""Prefix of the names of stored plans."""


def offer(asked: PlanQuestion) -> None:
    """Draw the button that starts the plan and puts its key into the address."""
    if ui.button("Make the plan", "calculate", type="primary", key="plan-make"):
        run = asked.run
        owner = require_run(None if run is None else run.project).id
        if run is None or kept_plan(run, asked.key) is None:
            keep = partial(_keep, run, asked.key)
            server.shared().plans.ask(_known_as(run, asked.key), partial(_task, asked), keep, owner=owner)
        st.query_params["plan"] = asked.key.removeprefix(PREFIX)


def show_asked(run: RunRecord | None) -> None:
    """Draw the plan that the address names, stored or in progress."""
    name = st.query_params.get("plan")
    if name is None:
        return
    key = PREFIX + name
    kept = None if run is None else kept_plan(run, key)
    making = server.shared().plans.find(_known_as(run, key))
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
        project = EVERYONE if run is None else run.project
        if may_manage(making.owner, project):  # outside the fragment: see show_run
            ui.button("Cancel the plan", "stop_circle", _cancel, making, project, key="plan-cancel")
        _watch(_known_as(run, key), key)


def kept_plan(run: RunRecord, key: str) -> Plan | None:
    """Return a plan stored with a run; None if there is none, or one of another version."""
    plain = stores_of(run).answers.find(run.id, key)
    try:
        return None if plain is None else from_json(plain, Plan)
    except FormError:
        return None


def _known_as(run: RunRecord | None, key: str) -> str:
    """Return the server's name for a plan in the making; strangers to the run cannot guess it."""
    return key if run is None else f"{run.id} {key}"


@st.fragment(run_every=1.0)
def _watch(known: str, key: str) -> None:
    making = server.shared().plans.find(known)
    if making is None or making.ended.is_set():
        st.rerun()
    plan = making.found
    if plan is None:
        st.progress(0.0, text="Fitting the model, and simulating the first designs")
    else:
        share = min(plan.done / plan.total, 1.0)
        left = ui.time_left((time.monotonic() - making.began) * (1 - share) / share if share else None)
        st.progress(share, text=f"{plan.done:,} of about {plan.total:,} simulated data sets{left}")
    st.caption("The plan goes on when you close this page; its address leads back to it.")
    if plan is not None:
        draw_plan(f"{key} {plan.done}", plan, going_on=True)


def _cancel(making: PendingAnswer[Plan], project: str) -> None:
    require_manage(making.owner, project)
    making.cancelled = True


def _task(asked: PlanQuestion) -> PlanTask:
    """Read the pilot's data, in the plan's own thread."""
    if asked.run is None or asked.group is None:
        return assumed_task(asked.spec)
    dataset, least = server.shared().service.data_of(asked.run), asked.run.spec.analysis.min_raters
    return task_of(dataset, asked.group, asked.spec, min_raters=least, question=asked.question)


def _keep(run: RunRecord | None, key: str, plan: Plan) -> None:
    if run is not None:
        stores_of(run).answers.keep(run.id, key, to_json(plan))


def show_kept_plans(
    run: RunRecord, check: Callable[[], None] = ui.always, may_see: Callable[[Plan], bool] = lambda _: True
) -> None:
    """Draw a section for each stored plan that `may_see` accepts; `check` guards its files."""
    for key in stores_of(run).answers.names(run.id, PREFIX):
        plan = kept_plan(run, key)
        if plan is None or not may_see(plan):
            continue
        label = f"Plan: {TARGETS[plan.spec.target]} of {report.named(plan)}, a chance of {plan.spec.goal:.0%}"
        draw = partial(draw_plan, key, plan, check=check)
        ui.when_open(label, draw, key=f"kept-{key}", icon=":material/calculate:")
