"""What a share link shows: the same words and figures, without what could name a person or a file."""

from __future__ import annotations

import streamlit as st

from grasp_core import server
from grasp_core.raft.leaderboard import read_leaderboard
from grasp_core.raft.raters.result import ModelsResult
from grasp_core.raft.strangers import document_for_strangers
from grasp_core.report.strangers import for_strangers
from grasp_core.store.documents import DocumentRecord
from grasp_core.store.runs import RunRecord
from pages._ui.answer import show_facts
from pages._ui.leaderboard import draw_leaderboard
from pages._ui.models_answer import show_answer
from pages._ui.opened_link import CLOSED, OpenedLink
from pages._ui.outputs import export
from pages._ui.shown import Shown
from pages._ui.times import exactly
from pages._ui.whole_result import show_result

_TO_LOOK_AT = "A result that was shared with you, to look at."


def show_shared_run(link: OpenedLink, run: RunRecord) -> None:
    """A run, once it is done."""
    if run.state != "done":
        st.info(
            "This result is not there yet; come back later."
            if not run.ended
            else "There is no result here: its computation did not come to an end."
        )
        return
    result = for_strangers(server.shared().service.result(run.id))
    shown = Shown(f"{run.id} for strangers", result, run.title, link.check)
    show_facts(result)
    st.caption(_TO_LOOK_AT)
    export(shown, ("csv", "xlsx", "latex", "markdown", "html"))
    show_result(shown, check_often=True)


def show_shared_document(link: OpenedLink, document: DocumentRecord) -> None:
    """An answer about models, or a leaderboard as it was when it was shared."""
    content = server.shared().documents.content(document.id)
    if content is None:  # deleted meanwhile
        st.info(CLOSED)
        return
    content = document_for_strangers(document.kind, content)
    if document.kind == "leaderboard":
        st.caption(f"{_TO_LOOK_AT} The figures are those of {exactly(document.created_at)}.")
        draw_leaderboard(*read_leaderboard(content), link.check)
        return
    result = ModelsResult.from_dict(content)
    show_facts(result)
    st.caption(_TO_LOOK_AT)
    show_answer(result, link.check)
