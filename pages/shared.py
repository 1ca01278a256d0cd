import streamlit as st

from grasp_core.benchmark.leaderboard import read_leaderboard
from grasp_core.model.text import escape_markdown
from grasp_core.store.runs import RunRecord
from pages._ui.benchmark.leaderboard import draw_leaderboard
from pages._ui.helpers.state import exactly
from pages._ui.one_run import TO_LOOK_AT, show_run
from pages._ui.share import open_link

link = open_link()
if link is not None and isinstance(link.opened, RunRecord):
    show_run(link.opened, link)
elif link is not None:
    st.title(escape_markdown(link.opened.title))
    st.caption(f"{TO_LOOK_AT} The figures are those of {exactly(link.opened.created_at)}.")
    draw_leaderboard(*read_leaderboard(link.opened.content), link.check)
