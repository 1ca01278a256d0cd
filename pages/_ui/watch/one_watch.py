"""One watch: how it stands, what came of it, and what its owner may change."""

from __future__ import annotations

from functools import partial

import streamlit as st

from grasp_core import server
from grasp_core.report.comparison.changes import changes_table
from grasp_core.report.words.text import escape_markdown
from grasp_core.store.watches.records import Every, Watch
from grasp_core.watches.history import Step
from grasp_core.watches.words import EVERY, state
from pages._ui.session.identity import owner_names
from pages._ui.session.permissions import may_manage, require_manage
from pages._ui.session.projects import here
from pages._ui.session.times import told
from pages._ui.shell.links import link_to_run, link_to_two
from pages._ui.widgets.confirming import confirm
from pages._ui.widgets.sections import when_open

_SHOWN = 20


def show_watch(watch: Watch) -> None:
    """Draw a watch, its latest step in full and the earlier ones folded."""
    steps = server.shared().history.steps(here().watches, watch, limit=_SHOWN)
    with st.container(border=True, key=f"watch-{watch.id}"):
        st.header(escape_markdown(watch.title), divider=False)
        st.markdown(f":material/{_icon(watch)}: {escape_markdown(state(watch))}")
        if watch.problem:
            st.warning(escape_markdown(watch.problem))
        st.caption(escape_markdown(" · ".join(_facts(watch))))
        if may_manage(watch.owner, watch.project):
            _offer_changes(watch)
        for step in steps[:1]:
            _show_step(step)
        if steps[1:]:
            label = f"Earlier runs ({len(steps) - 1})"
            when_open(label, partial(_show_steps, steps[1:]), key=f"earlier-{watch.id}")


def _icon(watch: Watch) -> str:
    if watch.paused:
        return "pause_circle"
    if watch.failures:
        return "error"
    return "hourglass_top" if watch.going_run else "check_circle"


def _facts(watch: Watch) -> list[str]:
    owner = owner_names([watch.owner])[watch.owner]
    facts = [f"watched by {owner}"] if owner else []
    facts.append(f"looked at {EVERY[watch.every]}")
    facts.append("not yet looked at" if watch.looked_at is None else f"last {told(watch.looked_at)}")
    if watch.paused is None and watch.going_run is None:
        facts.append(f"next {told(watch.next_at)}")
    return facts


def _show_steps(steps: list[Step]) -> None:
    for step in steps:
        _show_step(step)


def _show_step(step: Step) -> None:
    with st.container(key=f"step-{step.run_id}-{step.number}", gap="xsmall"):
        st.markdown(f"**{escape_markdown(step.headline)}**")
        if step.details:
            st.markdown("\n".join(f"- {escape_markdown(one)}" for one in step.details))
        with st.container(horizontal=True):
            link_to_run(step.run_id, f"Result of {told(step.at)}")
            if step.before is not None:
                link_to_two(step.before, step.run_id, "Before and now, side by side")
        if step.found is not None and step.found.changes:
            when_open(
                "Each value, before and now",
                partial(_show_table, step),
                key=f"table-{step.run_id}-{step.number}",
            )


def _show_table(step: Step) -> None:
    table = changes_table(step.found.changes)
    columns = [name for name in ("group", "axis", "model") if name in table]
    table["moved"] = table["moved"].round(3)
    st.dataframe(
        table[[*columns, "statistic", "a", "b", "moved", "moved_interval", "significance"]],
        hide_index=True,
        column_config={
            "group": st.column_config.Column("Group", pinned=True),
            "axis": "Axis",
            "model": "Model",
            "statistic": "Statistic",
            "a": "Before",
            "b": "Now",
            "moved": st.column_config.NumberColumn("Difference", format="%+.3f"),
            "moved_interval": "95 % interval of the difference",
            "significance": "Significance",
        },
        alt="Values before and now",
    )


def _offer_changes(watch: Watch) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        key = f"every-{watch.id}"
        st.session_state[key] = watch.every
        st.selectbox(
            "Look",
            list(EVERY),
            format_func=EVERY.__getitem__,
            key=key,
            width=160,
            on_change=_set_every,
            args=(watch, key),
        )
        if watch.paused is None:
            _button(watch, "Look now", "refresh", _look_now, more="In some seconds")
            _button(watch, "Pause", "pause", _pause)
        elif watch.paused != "run":
            _button(watch, "Resume", "play_arrow", _resume)
        if st.button("Delete", key=f"delete-{watch.id}", icon=":material/delete:", help="Asks first"):
            _delete_dialog(watch)


def _button(watch: Watch, label: str, icon: str, do, more: str | None = None) -> None:
    st.button(
        label,
        key=f"{icon}-{watch.id}",
        icon=f":material/{icon}:",
        help=more,
        on_click=do,
        args=(watch,),
    )


@st.dialog("Delete this watch?", width="medium")
def _delete_dialog(watch: Watch) -> None:
    st.markdown(f"**{escape_markdown(watch.title)}**")
    st.info("The runs stay.")
    confirm(_delete, watch)


def _set_every(watch: Watch, key: str) -> None:
    every: Every = st.session_state[key]
    user = require_manage(watch.owner, watch.project)
    here().watches.set_every(watch.id, every)
    server.shared().audit.record(user.id, "watch", "watch", watch.id, {"every": every})


def _look_now(watch: Watch) -> None:
    require_manage(watch.owner, watch.project)
    here().watches.look_now(watch.id)


def _pause(watch: Watch) -> None:
    user = require_manage(watch.owner, watch.project)
    here().watches.pause(watch.id)
    server.shared().audit.record(user.id, "watch", "watch", watch.id, {"paused": True})


def _resume(watch: Watch) -> None:
    user = require_manage(watch.owner, watch.project)
    here().watches.resume(watch.id)
    server.shared().audit.record(user.id, "watch", "watch", watch.id, {"paused": False})


def _delete(watch: Watch) -> None:
    user = require_manage(watch.owner, watch.project)
    here().watches.delete(watch.id)
    server.shared().audit.record(user.id, "delete", "watch", watch.id)
