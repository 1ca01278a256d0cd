"""Dialogs that rename, tag and annotate a saved run, or delete it."""

from __future__ import annotations

import streamlit as st

from grasp_core import server
from grasp_core.errors import GraspError
from grasp_core.report.words.text import escape_markdown
from grasp_core.store.runs import TAG_LENGTH, RunRecord
from pages._ui.session.permissions import may_manage, require_manage
from pages._ui.session.projects import stores_of
from pages._ui.session.state import work
from pages._ui.widgets.confirming import confirm

_TITLE_LENGTH = 200
_NOTE_LENGTH = 5000
_PROBLEM = "edit-problem"


def edit(run: RunRecord) -> None:
    """The button that opens the title, tags and note; only for those who may change them."""
    if may_manage(run.owner, run.project) and st.button(
        "Edit", key=f"edit-{run.id}", icon=":material/edit:", help="Title, tags and note"
    ):
        _edit_dialog(run)


def delete(run: RunRecord) -> None:
    """The button that asks whether to delete."""
    if may_manage(run.owner, run.project) and st.button(
        "Delete", key=f"delete-{run.id}", icon=":material/delete:", help="Asks first"
    ):
        _delete_dialog(run)


@st.dialog("Title, tags and note", width="medium")
def _edit_dialog(run: RunRecord) -> None:
    st.text_input("Title", run.title, max_chars=_TITLE_LENGTH, key=_key("title", run))
    st.multiselect(
        "Tags",
        sorted({*stores_of(run).runs.known_tags(), *run.tags}, key=str.casefold),
        default=run.tags,
        accept_new_options=True,
        placeholder="Choose or write",
        help=f"At most {TAG_LENGTH} characters each.",
        key=_key("tags", run),
    )
    st.text_area(
        "Note", run.note, max_chars=_NOTE_LENGTH, help="Strangers never see it.", key=_key("note", run)
    )
    saved = st.button("Save", type="primary", icon=":material/check:", on_click=_save, args=(run,))
    problem = st.session_state.pop(_PROBLEM, None)
    if problem:
        st.error(escape_markdown(problem))
    elif saved:
        st.rerun()


def _save(run: RunRecord) -> None:
    title, tagged, note = (st.session_state[_key(field, run)] for field in ("title", "tags", "note"))
    title = title.strip()[:_TITLE_LENGTH] or run.title  # browsers heed the limit; others may not
    words = [tag.strip() for tag in tagged if tag.strip()]
    try:
        require_manage(run.owner, run.project)
        stores_of(run).runs.describe(run.id, title=title, note=note.strip()[:_NOTE_LENGTH], tagged=words)
        work().rename(run.id, title)
    except GraspError as error:
        st.session_state[_PROBLEM] = str(error)


def _key(field: str, run: RunRecord) -> str:
    return f"edit-{field}-{run.id}"


@st.dialog("Delete this run?", width="medium")
def _delete_dialog(run: RunRecord) -> None:
    st.markdown(f"**{escape_markdown(run.title)}**")
    working = sum(link.works for link in stores_of(run).links.of_run(run.id))
    links = {0: "", 1: " One link to it stops working."}.get(working, f" {working} links to it stop working.")
    st.warning(
        f"Its result, title, tags and note are deleted for everybody, and cannot be brought back.{links} "
        "Others who asked the same keep their own. Addresses that people noted lead nowhere then.",
        icon=":material/warning:",
    )
    confirm(_delete, run)


def _delete(run: RunRecord) -> None:
    user = require_manage(run.owner, run.project)
    server.shared().service.cancel(run.id)
    stores_of(run).runs.delete(run.id)
    server.shared().audit.record(user.id, "delete", "run", run.id)
    work().forget(run.id)
