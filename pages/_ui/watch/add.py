"""The dialog on a result that begins to watch it."""

from __future__ import annotations

import streamlit as st

from grasp_core import server
from grasp_core.errors import GraspError
from grasp_core.io.sources.allowed import FOLDER
from grasp_core.report.words.text import escape_markdown
from grasp_core.store.runs import RunRecord
from grasp_core.watches.words import EVERY
from pages._ui.session.identity import current_user
from pages._ui.session.permissions import require_run
from pages._ui.shell.links import link_to

_EVERY, _PROBLEM, _MADE = "watch-every", "watch-problem", "watch-made"


def offer_watch(run: RunRecord) -> None:
    """The button that opens the dialog, where the visitor may run and the run's files have addresses."""
    watching = server.shared().watching
    may = watching.possible and current_user().may_run_in(run.project)
    if may and watching.refusal(run) is None and st.button("Watch", icon=":material/notifications:"):
        _forget()
        _dialog(run)


def _forget() -> None:
    for key in (_MADE, _PROBLEM):
        st.session_state.pop(key, None)


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
    st.segmented_control(
        "Look", list(EVERY), default="daily", required=True, format_func=EVERY.__getitem__, key=_EVERY
    )
    st.button("Watch", type="primary", icon=":material/check:", key="watch-add", on_click=_add, args=(run,))
    if problem := st.session_state.pop(_PROBLEM, None):
        st.error(escape_markdown(problem))


def _add(run: RunRecord) -> None:
    try:
        user = require_run(run.project)
        every = st.session_state[_EVERY]
        watch = server.shared().watching.add(run, every=every, by=user)
    except GraspError as error:
        st.session_state[_PROBLEM] = str(error)
        return
    server.shared().audit.record(user.id, "watch", "watch", watch.id, {"run": run.id, "every": every})
    st.session_state[_MADE] = run.id
