from __future__ import annotations

import streamlit as st

from grasp_core.report.text import escape_markdown
from grasp_core.store.runs import RunRecord
from pages._ui.opened_link import CLOSED, open_link
from pages._ui.shared_result import show_shared_document, show_shared_run

link = open_link()
if link is None:
    st.title("Shared result")
    st.info(CLOSED)
    st.stop()
st.title(escape_markdown(link.opened.title))
if isinstance(link.opened, RunRecord):
    show_shared_run(link, link.opened)
else:
    show_shared_document(link, link.opened)
