"""What a plan is asked: the pilot's group or assumed figures, the difference, the range, the costs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from grasp_core import server
from grasp_core.errors import SpecError
from grasp_core.groups import Group
from grasp_core.json_values import to_json
from grasp_core.planner.pilot import usual
from grasp_core.planner.values import GOALS, MOST_LABELS, Assumed, PlanSpec, Target
from grasp_core.planner.words import TARGETS
from grasp_core.report.findings.findings import by_verdict
from grasp_core.report.words.names import group_label
from grasp_core.result import RunResult
from grasp_core.store.runs import RunRecord
from pages._ui.session.projects import here

_MOST_RUNS = 50
_SIZES: Mapping[Target, tuple[str, float, float]] = {
    "labels": ("Points more often", 10.0, 1.0),
    "distance": ("Distance", 0.02, 0.005),
    "gap": ("Gap", 0.05, 0.01),
    "gai": ("GAI", 1.2, 0.05),
    "dsi": ("DSI", 1.2, 0.05),
}
"""What a size is called, what it starts from, and its step."""
ASSUMED = {"share": 0.25, "raters": (20, 400), "items": (20, 1000), "each": None}


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, of a run's group or of assumed figures; `error` says why it cannot be asked."""

    spec: PlanSpec | None
    run: RunRecord | None = None
    group: Group | None = None
    question: int = 0
    error: str | None = None

    @property
    def key(self) -> str:
        """What the plan is kept under: the same for the same question."""
        plain = [to_json(self.spec), self.run and self.run.id, self.group and to_json(self.group)]
        text = json.dumps([*plain, self.question], sort_keys=True)
        return f"plan {hashlib.sha256(text.encode()).hexdigest()[:16]}"


def chosen_run() -> RunRecord | None:
    """The run that the address names, or one of the latest that has groups."""
    runs = here().runs
    found = [run for run in runs.search("", tag=None, limit=_MOST_RUNS) if _has_groups(run)]
    named = runs.get(st.query_params.get("run", ""))
    if named is not None and _has_groups(named) and named.id not in [run.id for run in found]:
        found.insert(0, named)
    if not found:
        return None
    ids = [run.id for run in found]
    start = ids.index(named.id) if named is not None and named.id in ids else 0
    place: int = st.selectbox(
        "Pilot", range(len(found)), index=start, format_func=lambda one: found[one].title, key="plan-run"
    )
    st.query_params["run"] = ids[place]
    return found[place]


def _has_groups(run: RunRecord) -> bool:
    return run.state == "done" and run.spec.models == () and bool(run.spec.analysis.axes)


def choose_from_run(run: RunRecord) -> Asked:
    """The group, and the difference that the pilot has or another."""
    result = server.shared().service.result(run.id)
    if not isinstance(result, RunResult) or not result.groups:
        return Asked(None, error="This result has no groups.")
    rows = result.groups
    clearest = by_verdict(result)
    place: int = st.selectbox(
        "Group",
        range(len(rows)),
        index=rows.index(clearest[0].row) if clearest else 0,
        format_func=lambda one: group_label(rows[one].group),
        key="plan-group",
    )
    group, data, question = rows[place].group, result.data, 0
    labels = [str(one.label) for one in run.spec.data.questions]
    if len(labels) > 1:
        question = st.selectbox("Question", range(len(labels)), format_func=labels.__getitem__)
    start = usual(rows[place].n_raters, data.raters, data.items, data.annotations // len(labels))
    categories = data.categories if len(labels) == 1 else ()
    level = run.spec.analysis.level
    spec, error = _chosen(f"{run.id}-{place}", start, categories, {"level": level}, pilot=True)
    return Asked(spec, run, group, question, error)


def choose_assumed() -> Asked:
    """Labels and agreement of a task of which there are no data yet."""
    left, right = st.columns(2)
    labels = left.number_input("Labels", 2, MOST_LABELS, 2, key="plan-labels")
    agreement = right.number_input(
        "IRR within groups", 0.02, 0.9, 0.4, step=0.05, key="plan-agreement", help="Krippendorff's alpha"
    )
    assumed = Assumed(int(labels), float(agreement))
    spec, error = _chosen("assumed", ASSUMED, (), {"assumed": assumed}, pilot=False)
    return Asked(spec, error=error)


def _chosen(
    key: str,
    start: Mapping[str, Any],
    categories: tuple[str, ...],
    more: Mapping[str, Any],
    *,
    pilot: bool,
) -> tuple[PlanSpec | None, str | None]:
    target: Target = st.segmented_control(
        "Difference in",
        list(TARGETS),
        default="labels",
        required=True,
        format_func=TARGETS.__getitem__,
        key="plan-target",
    )
    fields = {**more, "target": target, **_size(key, target, categories, pilot=pilot)}
    fields["goal"] = st.segmented_control(
        "Chance of finding it",
        GOALS,
        default=0.8,
        required=True,
        format_func=lambda goal: f"{goal:.0%}",
        key="plan-goal",
    )
    with st.expander("Design, range and costs"):
        fields |= _design(key, start)
    try:
        return PlanSpec(**fields), None
    except SpecError as error:
        return None, str(error)


def _size(key: str, target: Target, categories: tuple[str, ...], *, pilot: bool) -> dict[str, Any]:
    found: dict[str, Any] = {}
    own = pilot and st.toggle(
        "As large as in the pilot",
        value=True,
        key=f"plan-own-{key}",
        help="Off: choose how large it is. A small pilot knows little of that.",
    )
    if target == "labels" and categories and not own:
        found["label"] = st.selectbox("Label", categories, key=f"plan-label-{key}")
    if not own:
        called, value, step = _SIZES[target]
        found["size"] = st.number_input(
            called, value=value, step=step, format="%.3g", key=f"plan-size-{target}"
        )
    return found


def _design(key: str, start: Mapping[str, Any]) -> dict[str, Any]:
    def whole(place: Any, label: str, value: int, name: str, least: int = 4) -> int:
        return int(place.number_input(label, min_value=least, value=value, key=f"plan-{name}-{key}"))

    share = st.number_input(
        "Share of the group, %",
        1.0,
        99.0,
        100 * start["share"],
        key=f"plan-share-{key}",
        help="Of all raters; more than it has now where the group is recruited on purpose.",
    )
    each = st.number_input(
        "Labels an item",
        min_value=0,
        value=start["each"] or 0,
        key=f"plan-each-{key}",
        help="0: every rater labels every item",
    )
    a, b, c, d = st.columns(4)
    raters = whole(a, "Fewest raters", start["raters"][0], "j0"), whole(b, "Most", start["raters"][1], "j1")
    items = whole(c, "Fewest items", start["items"][0], "i0"), whole(d, "Most items", start["items"][1], "i1")
    e, f = st.columns(2)
    annotation = e.number_input("Cost of an annotation", min_value=0.0, value=1.0, key="plan-cost-a")
    rater = f.number_input("Cost of recruiting a rater", min_value=0.0, value=0.0, key="plan-cost-r")
    return {
        "share": round(share / 100, 4),
        "each": int(each) or None,
        "raters": raters,
        "items": items,
        "per_annotation": annotation,
        "per_rater": rater,
    }
