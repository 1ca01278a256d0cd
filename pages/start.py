import streamlit as st

from grasp_core.server import server
from pages._ui.data.arriving import try_example
from pages._ui.data.files import drop_zone, opened_result, other_ways, say_messages
from pages._ui.helpers.identity import current_user, why_not_run
from pages._ui.helpers.screens import go
from pages._ui.result.whole_result import show_small_answer
from pages._ui.runs import show_last_runs

left, right = st.columns(2, gap="large")
with left:
    st.title("Who among your raters sees it differently?")
    st.markdown(
        "Bring the labels and what you know of the people who gave them. GRASP tells which groups answer "
        "differently, on what, how sure that is, and whom to recruit."
    )
    refusal = why_not_run(current_user())
    if refusal is not None:
        st.info(refusal)
    else:
        if drop_zone():
            go("data")
        opened = opened_result()
        if opened is not None:
            go("results", run_id=opened.id)
        say_messages()
        if st.button("Try the example", type="primary", icon=":material/play_arrow:"):
            go("results", run_id=try_example().id)
        other_ways()
        hours = f"{server.shared().settings.keep_files_hours:g}"
        st.caption(
            "CSV, Excel, JSON, Parquet, SPSS, Stata; exports of Label Studio, Argilla, Potato, Prodigy, "
            "doccano, Prolific, Qualtrics and more; results that GRASP saved. "
            f"Files stay on this server for {hours} hours after they were last used."
        )
with right:
    show_small_answer()
show_last_runs()
