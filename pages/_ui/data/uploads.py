"""Uploaded files: the time that they stay on the server, and a way to have them deleted at once."""

from __future__ import annotations

import streamlit as st

from grasp_core import server
from pages._ui.session.permissions import require_run
from pages._ui.session.projects import here
from pages._ui.session.state import work
from pages._ui.widgets.confirming import confirm


def offer_deletion() -> None:
    """A sentence, and the button that opens the dialog while there are files."""
    hours = server.shared().settings.keep_files_hours
    span = f"{hours:g} hour{'' if hours == 1 else 's'}"
    st.caption(
        f"Uploaded files are deleted {span} after they were last used, or when the last run that needs them "
        "has ended if that is later. Results hold no annotation and stay."
    )
    if _uploaded() and st.button("Delete the uploaded files now", icon=":material/delete:"):
        _dialog()


def _uploaded() -> list[str]:
    session = work()
    files = (session.annotations, session.raters, session.items)
    return [table.sha256 for table in files if table is not None]


@st.dialog("Delete the uploaded files now?", width="medium")
def _dialog() -> None:
    files = _uploaded()
    going = here().runs.waiting_for(files)
    st.write(
        "They leave this visit at once, and this server unless a colleague brought the same file first; "
        "finished results stay."
    )
    if going:
        runs = "One run that is" if going == 1 else f"{going} runs that are"
        st.warning(
            f"{runs} still going may need these files: a run that waits, or has to begin again after a "
            "restart of the server, then fails and says so.",
            icon=":material/warning:",
        )
    confirm(_delete, files, yes="Delete them", no="Keep them")


def _delete(files: list[str]) -> None:
    user = require_run()
    for sha256 in files:
        here().files.delete(sha256, owner=user.id)
        server.shared().audit.record(user.id, "delete", "file", sha256)
    work().use_files(None, None)
