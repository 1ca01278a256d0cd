"""The groups that a run with the chosen settings would compare."""

from __future__ import annotations

import streamlit as st

from grasp_core.errors import SpecError
from grasp_core.groups import Grouping, form_groups
from grasp_core.io.dataset.load import Dataset
from grasp_core.panels.given.panel import check_given
from grasp_core.permutation.testing.attainable import Shuffles, check_something_moves
from grasp_core.permutation.testing.corrections import fewest_permutations, largest_family
from grasp_core.report.shuffles import boxes, few_regroupings, fewest_ways, staying
from grasp_core.report.words.text import escape_markdown
from grasp_core.spec import AnalysisSpec
from grasp_core.wording import number


def say_what_is_compared(dataset: Dataset, analysis: AnalysisSpec) -> bool:
    """Count the groups and warn of settings that cannot find anything; False if nothing is left."""
    grouping = form_groups(dataset.raters, analysis.axes, min_raters=analysis.min_raters)
    kept, left_out = len(grouping.groups), grouping.too_small
    if not kept:
        st.error("No group is large enough. Lower the smallest group, or choose other axes.")
        return False
    smaller = f" {number(left_out, 'group')} with fewer raters will not be shown." if left_out else ""
    st.markdown(f"**{number(kept, 'group')}** will be compared.{smaller}")
    try:
        check_something_moves(dataset.raters, grouping, analysis)
        check_given(dataset.raters, analysis)
        shuffles = Shuffles.of(dataset.raters, grouping, analysis)
    except SpecError as error:
        st.error(escape_markdown(str(error)))
        return False
    told = [*few_regroupings(grouping, shuffles), *staying(shuffles)]
    if told:
        st.warning("\n".join(f"- {escape_markdown(sentence)}." for sentence in told))
    if analysis.strata or analysis.cluster is not None:
        _draw_shuffles(dataset, grouping, shuffles, analysis)
    enough = fewest_permutations(largest_family(grouping.groups, analysis), analysis)
    if analysis.permutations < enough:
        st.warning(
            f"With {analysis.permutations:,} permutations and {number(kept, 'group')}, a lone effect "
            f"can never survive correction. Use at least {enough:,} permutations."
        )
    return True


def _draw_shuffles(dataset: Dataset, grouping: Grouping, shuffles: Shuffles, analysis: AnalysisSpec) -> None:
    """The strata as boxes; profiles move within each, by whole clusters where there are some."""
    st.subheader("Who may change places")
    st.markdown(f"Profiles move inside each box. {escape_markdown(fewest_ways(grouping, shuffles))}")
    found, others = boxes(dataset.raters, grouping, analysis)
    with st.container(horizontal=True):
        for box in found:
            with st.container(border=True, width=260):
                st.markdown(f"**{escape_markdown(box.label)}** · {number(box.n_raters, 'rater')}")
                for line in box.lines:
                    st.caption(escape_markdown(line))
    if others:
        st.caption(others)
