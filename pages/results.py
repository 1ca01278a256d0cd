from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from grasp_core.model.result import Result, RunResult
from grasp_core.model.text import escape_markdown
from grasp_core.server import server
from grasp_core.store.runs import RunRecord
from pages._ui.helpers.identity import here
from pages._ui.helpers.screens import link_to
from pages._ui.helpers.state import shown_run, take_away, told, work
from pages._ui.helpers.widgets import Shown, export
from pages._ui.models import show_answer as show_models
from pages._ui.one_run import (
    Saved,
    change_and_run_again,
    edit,
    move,
    offer_ways_back,
    once_known,
    say_whose,
    watch,
    way_to_mend,
)
from pages._ui.plan import show_kept_plans
from pages._ui.result.answers import kept_map
from pages._ui.result.whole_result import show_answer, show_facts, show_result, show_so_far
from pages._ui.share import share_run
from pages._ui.watch import offer_watch


def _show_found(run: RunRecord, check: Callable[[], None]) -> None:
    result = server.shared().service.result(run.id)
    saved = Saved(run)
    way = partial(way_to_mend, saved)
    if not isinstance(result, RunResult):
        _say_which(run)
        show_facts(result)
        offer_ways_back(saved)
        with st.container(horizontal=True):
            _buttons(run)
        show_models(run.id, result, check, way)
        return
    shown = Shown(run.id, result, run.title, check, run=run, way=way)
    show_answer(shown, lambda: _buttons(run, lambda: export(shown, lambda: kept_map(run))))
    say_whose(run)
    offer_ways_back(saved)
    _say_when_found(run)
    show_result(shown)
    show_kept_plans(run, check)


def _buttons(run: RunRecord, files: Callable[[], None] = lambda: None) -> None:
    share_run(run)
    files()
    change_and_run_again(run.spec)
    edit(run)
    move(run)
    offer_watch(run)


def _say_when_found(run: RunRecord) -> None:
    if work().found_again == run.id and run.finished_at is not None:
        st.info(
            "The same data and settings were run before, so nothing was computed now: this is that result, "
            f"of {told(run.finished_at)}.",
            icon=":material/history:",
        )


def _say_which(run: RunRecord) -> None:
    st.title(escape_markdown(run.title))
    say_whose(run)
    _say_when_found(run)


run = shown_run()
if run is None:
    st.title("Results")
    if "run" in st.query_params:
        st.warning(
            "This run is not on this server, or not for you: the link may be incomplete, the run may have "
            "been deleted, or its project is one that you do not belong to. Open the saved result on Start, "
            "or run the analysis again."
        )
    elif here().runs.search(limit=1):
        st.info("No result is open here. Everything that was run is under Runs.")
        link_to("runs", "Go to Runs")
    else:
        st.info("Nothing has been run yet.")
    link_to("start", "Go to Start")
    link_to("data", "Go to Data")
else:
    run = once_known(run)
    check = partial(take_away, run)
    if run.state == "done":
        _show_found(run, check)
    else:
        _say_which(run)
        if run.ended:
            st.warning(
                "This run was cancelled."
                if run.state == "cancelled"
                else escape_markdown(run.error or "This run failed.")
            )
            change_and_run_again(run.spec)
        else:

            def show_provisional(found: Result) -> None:
                if isinstance(found, RunResult):
                    show_so_far(Shown(run.id, found, run.title, check))
                else:
                    show_models(run.id, found, check)

            share_run(run)
            watch(run, show_provisional)
