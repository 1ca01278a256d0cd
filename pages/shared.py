from __future__ import annotations

import streamlit as st

from grasp_core.analysis.planner.values import of_large_groups
from grasp_core.benchmark.leaderboard import read_leaderboard
from grasp_core.model.result import Result, RunResult
from grasp_core.model.text import escape_markdown
from grasp_core.report.public_view import public_view
from grasp_core.server import server
from grasp_core.store.runs import RunRecord
from pages._ui.benchmark.leaderboard import draw_leaderboard
from pages._ui.helpers.state import exactly
from pages._ui.helpers.widgets import Shown, export
from pages._ui.models import show_answer as show_models
from pages._ui.one_run import once_known, watch
from pages._ui.plan import show_kept_plans
from pages._ui.result.answers import map_of
from pages._ui.result.whole_result import show_answer, show_facts, show_result, show_so_far
from pages._ui.share import OpenedLink, open_link

_TO_LOOK_AT = "A result that was shared with you, to look at."


def _show_run(link: OpenedLink, run: RunRecord) -> None:
    """Show a run without what could name a person or a file; while it goes on, what is found so far."""
    key = f"{run.id} for strangers{', small groups' if link.small_groups else ''}"

    def show_provisional(found: Result) -> None:
        if isinstance(found, RunResult):
            show_so_far(Shown(key, found, run.title, link.check))
        else:
            show_models(key, found, link.check)

    run = once_known(run)
    if run.state != "done":
        st.title(escape_markdown(run.title))
    if not run.ended:
        st.caption(_TO_LOOK_AT)
        watch(run, show_provisional, link.check, small_groups=link.small_groups)
        return
    if run.state != "done":
        st.info("There is no result here: its computation did not come to an end.")
        return
    result = public_view(server.shared().service.result(run.id), small_groups=link.small_groups)
    if not isinstance(result, RunResult):
        st.title(escape_markdown(run.title))
        show_facts(result)
        st.caption(_TO_LOOK_AT)
        show_models(key, result, link.check)
        return
    shown = Shown(key, result, run.title, link.check, run=run, stranger=True, small_groups=link.small_groups)
    kinds = ("csv", "xlsx", "latex", "markdown", "html")
    show_answer(shown, lambda: export(shown, lambda: map_of(shown, run), kinds))
    st.caption(_TO_LOOK_AT)
    show_result(shown, check_often=True)
    show_kept_plans(run, link.check, lambda plan: link.small_groups or of_large_groups(plan, result))


link = open_link()
if link is not None:
    if isinstance(link.opened, RunRecord):
        _show_run(link, link.opened)
    else:
        st.title(escape_markdown(link.opened.title))
        st.caption(f"{_TO_LOOK_AT} The figures are those of {exactly(link.opened.created_at)}.")
        draw_leaderboard(*read_leaderboard(link.opened.content), link.check)
