"""Watches: runs that are repeated when their files change, and what changed in their results."""

import time
from collections.abc import Sequence
from functools import partial
from typing import Literal

import streamlit as st

from grasp_core.model.text import escape_markdown
from grasp_core.reading.sources.allowed import FOLDER
from grasp_core.report.comparison import Comparison, changes_table
from grasp_core.server import server
from grasp_core.server.watches import EVERY, WatchStep, how_often, state
from grasp_core.store.runs import RunRecord
from grasp_core.store.watches import Watch
from pages._ui.helpers import identity
from pages._ui.helpers import widgets as ui
from pages._ui.helpers.screens import link_to, link_to_run, link_to_two
from pages._ui.helpers.state import in_full
from pages._ui.result.shown_tables import show_changes

_EVERY, _PROBLEM, _MADE = "watch-every", "watch-problem", "watch-made"


def offer_watch(run: RunRecord) -> None:
    """Draw the button that opens the dialog, if the visitor may run and the run's files have addresses."""
    watching = server.shared().watching
    may = watching.possible and identity.current_user().may_run_in(run.project)
    if may and watching.refusal(run) is None and ui.button("Watch", "notifications"):
        _forget()
        _dialog(run)


_forget = partial(ui.forget, _MADE, _PROBLEM)


@st.dialog("Watch this result", width="medium", on_dismiss=_forget)
def _dialog(run: RunRecord) -> None:
    if st.session_state.get(_MADE) == run.id:
        st.success("It is watched from now on.", icon=":material/check_circle:")
        link_to("watch", "Go to Watch")
        return
    st.write(
        "The server looks at these files so often. When they have changed, the same is run again in your "
        "name, and Watch says what moved further than noise explains."
    )
    places = [origin.location.removeprefix(FOLDER) for origin in server.shared().watching.origins(run)]
    st.code("\n".join(places), language=None, wrap_lines=True)
    ui.switch("Look", EVERY, default="daily", key=_EVERY)
    ui.button("Watch", "check", ui.refusals(_PROBLEM)(_add), run, type="primary", key="watch-add")
    ui.say_refusal(_PROBLEM)


def _add(run: RunRecord) -> None:
    user, every = identity.require_run(run.project), st.session_state[_EVERY]
    watch = server.shared().watching.add(run, every=every, by=user)
    server.shared().audit.record(user.id, "watch", "watch", watch.id, {"run": run.id, "every": every})
    st.session_state[_MADE] = run.id


_SOON_S = 10.0


def follow(watches: Sequence[Watch]) -> None:
    """Redraw the page when a watch that is running or due soon changes."""
    soon = time.time() + _SOON_S
    waiting = {
        watch.id: _stand(watch)
        for watch in watches
        if watch.going_run is not None or (watch.paused is None and watch.next_at <= soon)
    }
    if waiting:
        _look_after(waiting)


@st.fragment(run_every=2.0)
def _look_after(waiting: dict[str, tuple[object, ...]]) -> None:
    now = {watch.id: _stand(watch) for watch in identity.stores().watches.all() if watch.id in waiting}
    if now != waiting:
        st.rerun()
    st.caption(":material/hourglass_top: This page follows what is being looked at.")


def _stand(watch: Watch) -> tuple[object, ...]:
    return (watch.looked_at, watch.going_run, watch.last_run, watch.paused)


def show_watch(watch: Watch) -> None:
    """Draw a watch: its latest step in full, earlier ones folded."""
    steps = server.shared().history.steps(identity.stores().watches, watch, limit=20)
    with st.container(border=True, key=f"watch-{watch.id}"):
        st.header(escape_markdown(watch.title), divider=False)
        icon = "hourglass_top" if watch.going_run else "check_circle"
        if watch.paused or watch.failures:
            icon = "pause_circle" if watch.paused else "error"
        st.markdown(f":material/{icon}: {escape_markdown(state(watch))}")
        if watch.problem:
            st.warning(escape_markdown(watch.problem))
        owner = identity.owner_names([watch.owner])[watch.owner]
        facts = [f"watched by {owner}"] if owner else []
        facts.append(f"looked at {how_often(watch.every)}")
        facts.append("not yet looked at" if watch.looked_at is None else f"last {in_full(watch.looked_at)}")
        if watch.paused is None and watch.going_run is None:
            facts.append(f"next {in_full(watch.next_at)}")
        ui.caption(*facts)
        if identity.may_manage(watch.owner, watch.project):
            with st.container(horizontal=True, vertical_alignment="bottom"):
                _offer_changes(watch)
        _show_steps(steps[:1])
        if steps[1:]:
            label, earlier = f"Earlier runs ({len(steps) - 1})", partial(_show_steps, steps[1:])
            ui.when_open(label, earlier, key=f"earlier-{watch.id}")


def _show_steps(steps: Sequence[WatchStep]) -> None:
    for step in steps:
        name = f"{step.run_id}-{step.number}"
        with st.container(key=f"step-{name}", gap="xsmall"):
            st.markdown(f"**{escape_markdown(step.headline)}**")
            if step.details:
                st.markdown(ui.entries(step.details))
            with st.container(horizontal=True):
                link_to_run(step.run_id, f"Result of {in_full(step.at)}")
                if step.before is not None:
                    link_to_two(step.before, step.run_id, "Before and now, side by side")
            if step.found is not None and step.found.changes:
                show = partial(_show_table, step.found)
                ui.when_open("Each value, before and now", show, key=f"table-{name}")


def _show_table(found: Comparison) -> None:
    show_changes(changes_table(found.changes), "Values before and now", "Before", "Now")


def _offer_changes(watch: Watch) -> None:
    key = f"every-{watch.id}"
    st.session_state[key] = watch.every

    def set_every() -> None:
        _change(watch, "set_every", st.session_state[key], every=st.session_state[key])

    names = {one: how_often(one) for one in (*EVERY, watch.every)}
    ui.pick("Look", names, key=key, width=160, on_change=set_every)

    def button(label: str, icon: str, what: str, more: str | None = None, **noted: object) -> None:
        ui.button(label, icon, partial(_change, watch, what, **noted), key=f"{icon}-{watch.id}", help=more)

    if watch.paused is None:
        button("Look now", "refresh", "look_now", "In some seconds")
        button("Pause", "pause", "pause", paused=True)
    elif watch.paused != "run":
        button("Resume", "play_arrow", "resume", paused=False)

    def say() -> None:
        st.markdown(f"**{escape_markdown(watch.title)}**")
        st.info("The runs stay.")

    delete, title = partial(_change, watch, "delete"), "Delete this watch?"
    ui.ask_first("Delete", "delete", title, say, delete, key=f"delete-{watch.id}")


def _change(
    watch: Watch,
    what: Literal["set_every", "look_now", "pause", "resume", "delete"],
    *to: object,
    **noted: object,
) -> None:
    user = identity.require_manage(watch.owner, watch.project)
    getattr(identity.stores().watches, what)(watch.id, *to)
    action = "delete" if what == "delete" else "watch"
    if noted or action == "delete":
        server.shared().audit.record(user.id, action, "watch", watch.id, noted or None)
