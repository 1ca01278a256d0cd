"""Taking a system off the leaderboard, by whoever handed it in or an admin."""

from __future__ import annotations

import streamlit as st

from grasp_core import server
from grasp_core.report.words.text import escape_markdown
from grasp_core.store.submissions import SubmissionRecord
from pages._ui.benchmark.submissions import forget_scored
from pages._ui.session.identity import owner_names
from pages._ui.session.permissions import may_manage, require_manage
from pages._ui.session.projects import here
from pages._ui.session.times import told
from pages._ui.widgets.confirming import confirm

CHOSEN = "take-off"


def offer_taking_off() -> None:
    """The button that asks which; only for those who may take one off."""
    found = [one for one in here().submissions.all() if may_manage(one.owner, one.project)]
    if found and st.button("Take a system off", icon=":material/delete:", help="Asks first"):
        _dialog(found)


@st.dialog("Take a system off the leaderboard?", width="medium")
def _dialog(found: list[SubmissionRecord]) -> None:
    owners = owner_names(record.owner for record in found)
    names = {record.id: _told(record, owners[record.owner]) for record in found}
    chosen = st.selectbox("Which one", list(names), format_func=names.__getitem__, key=CHOSEN)
    record = next(one for one in found if one.id == chosen)
    st.warning(
        escape_markdown(
            f"{record.name}: its labels and scores are deleted for everybody, and cannot be brought back. "
            "Links to the leaderboard that were made before still show it, and its scorings stay counted."
        ),
        icon=":material/warning:",
    )
    confirm(take_off, found, yes="Take it off for good")


def _told(record: SubmissionRecord, owner: str) -> str:
    by = f"handed in by {owner}, " if owner else ""
    return f"{record.name} ({by}{told(record.created_at)})"


def take_off(found: list[SubmissionRecord]) -> None:
    """Delete the chosen one."""
    record = next(one for one in found if one.id == st.session_state[CHOSEN])
    user = require_manage(record.owner, record.project)
    here().submissions.delete(record.id)
    server.shared().audit.record(user.id, "delete", "submission", record.id)
    forget_scored()
