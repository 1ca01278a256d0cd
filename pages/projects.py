import streamlit as st

from grasp_core.model.access import EVERYONE
from pages._ui.helpers.identity import stores
from pages._ui.projects import offer_new, show_project

st.title("Projects")
st.write(
    "Runs, files, remembered readings, links and submissions belong to a project; who does not belong to it "
    "finds nothing of it, by no address and no search."
)
offer_new()
for project in stores().projects.all():
    show_project(project, is_everyone=project.id == EVERYONE)
