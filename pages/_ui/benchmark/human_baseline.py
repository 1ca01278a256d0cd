"""How well a few raters do: the plurality of some votes per item, scored against gold or other raters."""

from __future__ import annotations

import streamlit as st

from grasp_core.benchmark.gold_column import gold_labels
from grasp_core.benchmark.jobs import HumanDraws, score_people
from grasp_core.benchmark.scoring.human import HumanScore
from grasp_core.data_spec import DataSpec
from grasp_core.errors import DataError
from grasp_core.io.dataset.votes import cell_columns, id_columns
from grasp_core.io.table.table import Table
from grasp_core.report.words.text import escape_markdown
from pages._ui.benchmark.benchmark import in_a_worker
from pages._ui.data.questions import one_question_only
from pages._ui.session.identity import current_user
from pages._ui.session.permissions import may_run, require_run, why_not_run
from pages._ui.session.state import work
from pages._ui.shell.links import link_to

_OTHERS = "The plurality of the other raters"
_NUMBERS = (("Votes per item", 1, 5), ("Items", 1, 100), ("Seed", 0, 1))
"""Label, smallest value, default."""
_SCORE = "human-score"


def show_human_baseline() -> None:
    """Votes, items, what is right, a button; then the score with its interval."""
    session = work()
    if session.dataset is None or session.data_spec is None or session.annotations is None:
        st.info("Open the annotations whose raters are to be scored first.")
        link_to("data", "Go to Data")
        return
    if not one_question_only(session.data_spec):
        return
    if not may_run():
        st.info(why_not_run(current_user()) or "")
        return
    st.write(
        "What score would a few people reach? Some votes are drawn for each of some items; their plurality, "
        "ties broken at random, is compared with the right label. RAFT's own human baseline has 5 votes on "
        "100 items."
    )
    spec = session.data_spec
    right = st.selectbox(
        "Right label",
        [_OTHERS, *_free_columns(session.annotations, spec)],
        key=session.key("human-right"),
        persist_state="session",
    )
    votes, items, seed = (
        int(place.number_input(label, least, value=value, key=f"human-{label}", persist_state="session"))
        for place, (label, least, value) in zip(st.columns(3), _NUMBERS, strict=True)
    )
    what = (session.dataset.summary.sha256, spec, right, votes, items, seed)
    if st.button("Score people", type="primary", icon=":material/groups:"):
        require_run()
        try:
            gold = None if right == _OTHERS else gold_labels(session.annotations, spec, right)
        except DataError as error:
            st.error(escape_markdown(f"{error}."))
            return
        found = in_a_worker(
            score_people, HumanDraws(session.dataset, gold, votes, items, seed), "Drawing votes"
        )
        st.session_state[_SCORE] = (what, found)
    known, score = st.session_state.get(_SCORE, (None, None))
    if score is not None and known == what:
        _show(score)


def _free_columns(annotations: Table, spec: DataSpec) -> list[str]:
    """Columns that may hold right labels: those which hold no ids, labels or texts."""
    if spec.layout == "raters-by-items":
        return []
    taken = {*id_columns(spec), *cell_columns(annotations, spec), spec.text}
    return [name for name in annotations.columns if name not in taken]


def _show(found: HumanScore) -> None:
    score, declared, mean = st.columns(3)
    score.metric("Macro-F1", f"{found.macro_f1:.3f}")
    declared.metric("Over all labels", f"{found.macro_f1_declared:.3f}")
    mean.metric(f"Mean of {found.repeats:,} draws", f"{found.mean:.3f}")
    low, high = found.ci95
    st.write(
        f"95 % interval {low:.3f} to {high:.3f}: plurality of {found.votes} on {found.n:,} of "
        f"{found.eligible:,} items that have enough votes, against {found.against}. Other draws of items and "
        f"votes differ by a standard deviation of {found.spread:.3f}."
    )
