"""What Analysis asks beside groups: pairs, slices, axes given others, who may change places."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from grasp_core.analysis.design import Seen, check_assignment
from grasp_core.analysis.stages import check_given
from grasp_core.analysis.teams import Team, teams
from grasp_core.engine.course import LONG_SECONDS, pairs_seconds
from grasp_core.model.errors import SpecError
from grasp_core.model.groups import AxisSet, Grouping, form_groups, one_line
from grasp_core.model.spec import AnalysisSpec
from grasp_core.model.text import escape_markdown
from grasp_core.model.wording import listed, number
from grasp_core.permutation.draw import exchange_of
from grasp_core.permutation.testing.corrections import fewest_permutations, largest_family
from grasp_core.permutation.testing.tail import Shuffles, check_something_moves
from grasp_core.reading.dataset.load import Dataset
from grasp_core.report.account import (
    could_hold_batches,
    given_other_items,
    said_of_assignment,
    team_sentence,
)
from grasp_core.report.shuffles import boxes, few_regroupings, fewest_ways, staying
from pages._ui.session.state import work
from pages._ui.widgets.shown import show_warned

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


def choose_given(names: Sequence[str], axes: Sequence[AxisSet], strata: Sequence[str]) -> tuple[str, ...]:
    """Axes given which the others are tested once more; offered where there is another, and no stratum."""
    possible = [name for name in names if name not in strata and any(name not in of for of in axes)]
    session = work()
    start = session.settings.given if session.settings else ()
    if not possible or len(names) < 2:
        return ()
    chosen: list[str] = st.multiselect(
        "Given another axis (optional)",
        possible,
        default=[name for name in start if name in possible],
        format_func=one_line,
        key=f"given-{session.generation}-{session.settings_generation}",
        persist_state="session",
        placeholder="None; choose axes that may stand behind the others",
        help="The other axes are tested once more, with profiles shuffled within the values of each axis "
        "chosen here: what is left of race, given age.",
    )
    return tuple(chosen)


def choose_pairs(dataset: Dataset, axes: Sequence[AxisSet], min_raters: int) -> bool:
    """Until somebody decides, pairs are compared unless that takes long."""
    session = work()
    key, decided = (
        f"{name}-{session.generation}-{session.settings_generation}" for name in ("pairs", "pairs-decided")
    )
    seconds = pairs_seconds(dataset, axes, min_raters) if axes else 0.0
    undecided = session.settings is None and decided not in st.session_state
    if undecided:
        st.session_state[key] = seconds <= LONG_SECONDS
    chosen = st.toggle(
        "Compare groups two by two",
        session.settings is not None and session.settings.pairs,
        key=key,
        persist_state="session",
        on_change=lambda: st.session_state.update({decided: True}),
        help="Holds each group of an axis against each other one: what these two say differently, whatever "
        "the others do. Profiles are shuffled among the two alone.",
    )
    if undecided and seconds > LONG_SECONDS:
        st.caption(
            f"Pairs of these groups take about {seconds:.0f} seconds on two cores, so they are left out by "
            "default."
        )
    return chosen


def choose_slices(dataset: Dataset) -> tuple[str, ...]:
    """Columns that describe items, for each of whose values the groups are computed once more."""
    session = work()
    known = dataset.attributes
    if not known:
        return ()
    start = session.settings.slices if session.settings else ()
    chosen: list[str] = st.multiselect(
        "Slices (optional)",
        list(known),
        default=[name for name in start if name in known],
        format_func=lambda name: f"{one_line(name)} ({number(len(known[name].values), 'value')})",
        key=f"slices-{session.generation}-{session.settings_generation}",
        persist_state="session",
        placeholder="None; choose columns that describe items",
        help="All groups are computed once more on the items of each value, such as each topic.",
    )
    return tuple(chosen)
