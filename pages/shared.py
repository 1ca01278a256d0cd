from __future__ import annotations

import streamlit as st

from grasp_core import server
from grasp_core.report.strangers import for_strangers
from grasp_core.report.text import escape_markdown
from pages._ui.answer import show_facts
from pages._ui.opened_link import CLOSED, open_link
from pages._ui.outputs import export
from pages._ui.shown import Shown
from pages._ui.whole_result import show_result

link = open_link()
if link is None:
    st.title("Shared result")
    st.info(CLOSED)
    st.stop()
st.title(escape_markdown(link.run.title))
if link.run.state != "done":
    st.info(
        "This result is not there yet; come back later."
        if not link.run.ended
        else "There is no result here: its computation did not come to an end."
    )
    st.stop()
result = for_strangers(server.shared().service.result(link.run.id))
shown = Shown(f"{link.run.id} for strangers", result, link.run.title, link.check)
show_facts(result)
st.caption("A result that was shared with you, to look at.")
export(shown, ("csv", "xlsx", "latex", "markdown", "html"))
show_result(shown, check_often=True)
