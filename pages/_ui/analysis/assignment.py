"""Whether the groups that a run would compare were given the same items, told before it."""

from __future__ import annotations

import streamlit as st

from grasp_core.groups import form_groups
from grasp_core.guards.check import Seen, check_assignment
from grasp_core.guards.teams import Team, teams
from grasp_core.io.dataset.load import Dataset
from grasp_core.permutation.exchange import exchange_of
from grasp_core.report.assignment import (
    could_hold_batches,
    given_other_items,
    said_of_assignment,
    team_sentence,
)
from grasp_core.report.words.text import escape_markdown
from grasp_core.spec import AnalysisSpec
from grasp_core.wording import listed
from pages._ui.session.state import work
from pages._ui.widgets.warned import show_warned

_KEY = "assignment"
_CHOICES = {
    "cluster": "choose it for Move whole clusters, under Shuffles",
    "within": "choose it for Shuffle profiles only within, under Shuffles",
}


def say_who_rated_what(dataset: Dataset, analysis: AnalysisSpec) -> None:
    """Warn of axes that have a part in who rates which items, and how many."""
    shuffles = (analysis.strata, analysis.cluster)
    asked = (dataset.summary.sha256, work().data_spec, analysis.axes, analysis.min_raters, shuffles)
    kept = st.session_state.get(_KEY)
    if kept is None or kept[0] != asked:
        grouping = form_groups(dataset.raters, analysis.axes, min_raters=analysis.min_raters)
        exchange = exchange_of(dataset.raters, analysis)
        seen = Seen.of(dataset.annotations)
        checks = check_assignment(seen, dataset.annotations_of, grouping, analysis.axes, exchange)
        kept = st.session_state[_KEY] = (asked, said_of_assignment(checks), _teams(dataset, analysis))
    show_warned(kept[1])
    for one in kept[2]:
        st.caption(escape_markdown(f"Perhaps {team_sentence(one)}: {_CHOICES[one.by]}."))
    if given_other_items(kept[1]):
        _name_batches(dataset, analysis)


def _teams(dataset: Dataset, analysis: AnalysisSpec) -> list[Team]:
    """Columns that look like teams, where nothing says yet how profiles move."""
    if analysis.cluster is not None or analysis.strata:
        return []
    axes = dataset.raters.axes
    free = {name: axis for name, axis in axes.items() if name not in analysis.columns}
    return teams(dataset.annotations, free, {name: axes[name] for name in analysis.tested if name in axes})


def _name_batches(dataset: Dataset, analysis: AnalysisSpec) -> None:
    """Which columns could be chosen to shuffle within, where raters worked in batches."""
    axes = dataset.raters.axes.items()
    free = {name: len(axis.values) for name, axis in axes if name not in analysis.columns}
    could = could_hold_batches(free, dataset.summary.raters)
    if could:
        named = listed(could)
        st.caption(escape_markdown(f"Columns that could hold batches, to shuffle within: {named}."))
