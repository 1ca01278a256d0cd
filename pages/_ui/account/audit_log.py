"""The audit log, for admins: filtered, by pages, and as a file."""

from __future__ import annotations

import streamlit as st

from grasp_core import server
from grasp_core.errors import StoreError
from grasp_core.people import COMMAND
from grasp_core.report.words.text import escape_markdown
from grasp_core.store.people.audit import ACTIONS
from pages._ui.session.identity import owner_names
from pages._ui.session.permissions import require_admin
from pages._ui.session.times import exactly

_PER_PAGE = 50


def show_log() -> None:
    """Widgets for what is looked for, what is found, and the whole log as a file."""
    audit = server.shared().audit
    left, right = st.columns(2)
    action = left.selectbox("What was done", ACTIONS, index=None, key="log-action", placeholder="Anything")
    object_id = right.text_input(
        "To which object", key="log-object", placeholder="Id of a run, file, link or person"
    )
    page = st.session_state.get("log-page", 1)
    found, total = audit.search(
        action=action, object_id=object_id.strip() or None, start=(page - 1) * _PER_PAGE, limit=_PER_PAGE
    )
    if not found:
        st.info("There is no such entry.")
        return
    names = owner_names(entry.actor for entry in found)
    st.dataframe(
        {
            "When": [exactly(entry.at) for entry in found],
            "Who": [_named(names[entry.actor]) for entry in found],
            "What": [entry.action for entry in found],
            "Object": [f"{entry.kind} {entry.object_id}".strip() for entry in found],
            "Details": [
                ", ".join(f"{name} {value}" for name, value in entry.details.items()) for entry in found
            ],
        },
        hide_index=True,
    )
    if total > _PER_PAGE:
        st.pagination(-(-total // _PER_PAGE), key="log-page")
    if st.button("Check it and make a file", icon=":material/fact_check:"):
        try:
            lines = "".join(audit.lines())
        except StoreError as broken:
            st.error(escape_markdown(str(broken)))
            return
        st.download_button(
            "Download the log", lines, "log.jsonl", "application/x-ndjson", on_click=_note_download
        )


def _note_download() -> None:
    server.shared().audit.record(require_admin().id, "export", "log")


def _named(name: str) -> str:
    if name == COMMAND:
        return "the command line"
    return name or "somebody unknown"
