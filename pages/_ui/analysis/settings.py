"""Widgets of the Analysis page; together they make an :class:`AnalysisSpec`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import streamlit as st

from grasp_core.engine.course import LONG_SECONDS, default_seconds
from grasp_core.model.annotations import Annotations
from grasp_core.model.groups import AxisSet, axis_label, one_line
from grasp_core.model.spec import (
    ADAPTIVE_PERMUTATIONS,
    CROSS_GROUP,
    IN_GROUP,
    MAX_PERMUTATIONS,
    MAX_SEED,
    PAPER_CONVENTIONS,
    AnalysisSpec,
)
from grasp_core.model.statistic import TABLE
from grasp_core.model.text import escape_markdown
from grasp_core.reading.dataset.load import Dataset
from grasp_core.report.account import MEANING
from grasp_core.report.conventions import (
    CORRECTION,
    CROSS_NEGENTROPY,
    FAMILY,
    INTERVAL,
    LEVEL,
    LEVEL_COUNTS_FOR,
    P_VALUE,
    PAPER_P,
    TAIL,
    TIES,
    VOTING_AGREEMENT,
    Choice,
)
from grasp_core.report.words.levels import Proposal, proposed_levels
from grasp_core.report.words.names import WORDS
from grasp_core.statistics.levels import possible_levels
from pages._ui.session.state import work
from pages._ui.widgets.choices import choose_shuffles

_DEFAULTS = AnalysisSpec(axes=(("any",),))
_PRESETS: Mapping[str, Mapping[str, str]] = {
    "Default": {name: getattr(_DEFAULTS, name) for name in PAPER_CONVENTIONS},
    "As in the paper": PAPER_CONVENTIONS,
}
_TRIPLES_UP_TO = 12
"""With more axes than this, intersections of three are built by hand."""
_SAFE_INTEGER = 2**53 - 1
"""Largest whole number that a browser's number field holds exactly."""


def choose_preset() -> None:
    """Which conventions; they can be changed one by one under Advanced."""
    chosen = st.segmented_control(
        "Preset",
        list(_PRESETS),
        default=_preset_of({name: getattr(_start(), name) for name in PAPER_CONVENTIONS}),
        key=_key("preset"),
        persist_state="session",
        on_change=_apply_preset,
    )
    if chosen == "As in the paper":
        st.caption(PAPER_P)


def choose_axes(names: Sequence[str], proposed: Sequence[str]) -> tuple[AxisSet, ...]:
    """Single axes and intersections of any order."""
    start = _start().axes if work().settings else tuple((name,) for name in proposed)
    known = [axes for axes in start if set(axes) <= set(names)] or [(name,) for name in proposed]
    orders = (2, 3) if len(names) <= _TRIPLES_UP_TO else (2,)
    options = [axes for order in orders for axes in combinations(names, order)]
    options += [axes for axes in known if len(axes) > 1 and axes not in options]
    singles = st.multiselect(
        "Axes",
        names,
        default=[axes[0] for axes in known if len(axes) == 1],
        format_func=lambda name: axis_label((name,)),
        key=_key("axes"),
        persist_state="session",
        help="Each value of an axis is one group of raters, compared with everybody else.",
    )
    crossed = st.multiselect(
        "Intersections",
        options,
        default=[axes for axes in known if len(axes) > 1],
        format_func=axis_label,
        key=_key("intersections"),
        persist_state="session",
        placeholder="None; choose pairs or triples of axes",
        help="Groups that share a value on each of several axes, such as one gender of one race.",
    )
    larger: list[str] = []
    if len(names) > 2:
        with st.expander("Another intersection"):
            larger = st.multiselect(
                "Axes of the intersection, in the order in which groups are named",
                names,
                format_func=lambda name: axis_label((name,)),
                key=_key("larger"),
                persist_state="session",
                help="For more than three axes, or for another order of names.",
            )
    return _distinct([*((name,) for name in singles), *crossed], tuple(larger))


def _distinct(chosen: Sequence[AxisSet], larger: AxisSet) -> tuple[AxisSet, ...]:
    if len(larger) < 2:
        return tuple(chosen)
    return (*(axes for axes in chosen if set(axes) != set(larger)), larger)


def choose_numbers(dataset: Dataset, axes: Sequence[AxisSet], slices: Sequence[str]) -> dict[str, int]:
    """Smallest group, permutations, whether they stop early, and seed."""
    start = _start()
    long = _proposed_to_stop_early(dataset, axes, start.min_raters, slices)
    left, middle, right = st.columns(3)
    chosen = {
        "min_raters": left.number_input(
            "Smallest group (raters)",
            1,
            1_000_000,
            start.min_raters,
            key=_key("min_raters"),
            persist_state="session",
            help="Smaller groups are not shown: few raters say little, and they might be recognised.",
        ),
        "permutations": middle.number_input(
            "Permutations",
            1,
            MAX_PERMUTATIONS,
            start.permutations,
            step=1000,
            key=_key("permutations"),
            persist_state="session",
            on_change=_decide_stopping,
            help="Random groupings to compare with. More give finer p-values and take longer.",
        ),
        "adaptive": middle.toggle(
            "Stop when all marks are settled",
            start.adaptive,
            key=_key("adaptive"),
            persist_state="session",
            on_change=_follow_adaptive,
            help=f"{MEANING} The number above is then the most there are.",
        ),
        "tail": middle.toggle(
            TAIL.label,
            start.tail,
            key=_key("tail"),
            persist_state="session",
            help=TAIL.meaning,
        ),
        "seed": right.number_input(
            "Seed",
            0,
            min(MAX_SEED, _SAFE_INTEGER),
            min(start.seed, _SAFE_INTEGER),
            key=_key("seed"),
            persist_state="session",
            help="The same seed gives the same result, bit for bit.",
        ),
    }
    if long is not None:
        middle.caption(
            f"{_DEFAULTS.permutations:,} permutations of these data take about {long:.0f} seconds on two "
            "cores, so shuffling stops early by default."
        )
    return chosen


def _proposed_to_stop_early(
    dataset: Dataset, axes: Sequence[AxisSet], min_raters: int, slices: Sequence[str]
) -> float | None:
    """Until somebody decides, long runs stop early, but for those as in the paper; gives their seconds."""
    if work().settings is not None or _key("stopping-decided") in st.session_state or not axes:
        return None
    paper = st.session_state.get(_key("preset")) == "As in the paper"
    seconds = default_seconds(dataset, axes, min_raters, slices)
    long = seconds > LONG_SECONDS and not paper
    st.session_state[_key("adaptive")] = long
    return seconds if long else None


def choose_statistics() -> tuple[str, ...]:
    """Statistics to report, in Table 5's order."""
    chosen = st.multiselect(
        "Statistics",
        tuple(TABLE),
        default=_start().statistics,
        format_func=_name,
        key=_key("statistics"),
        persist_state="session",
        help="What each one means is explained beside the results.",
    )
    return tuple(name for name in TABLE if name in chosen)


def choose_conventions() -> dict[str, Any]:
    """GAI's pair, p-values, ties and correction."""
    start = _start()
    left, right = st.columns(2)
    with left:
        inside = _select("GAI: agreement inside the group", "gai_inside", IN_GROUP, start.gai[0], _name)
        correction = _convention("Correction for many tests", "correction", CORRECTION, start.correction)
        ties = _convention("Tied votes", "ties", TIES, start.ties)
        interval = _convention("Intervals for", "interval", INTERVAL, start.interval)
    with right:
        across = _select("GAI: agreement across groups", "gai_across", CROSS_GROUP, start.gai[1], _name)
        p_value = _convention("p-value", "p_value", P_VALUE, start.p_value)
        family = _convention("Corrected together", "family", FAMILY, start.family)
        cross = _convention("Cross-negentropy", "cross_negentropy", CROSS_NEGENTROPY, start.cross_negentropy)
        form = start.voting_agreement
        voting = _convention("Voting agreement", "voting_agreement", VOTING_AGREEMENT, form)
    return {
        "gai": (inside, across),
        "correction": correction,
        "ties": ties,
        "interval": interval,
        "p_value": p_value,
        "family": family,
        "cross_negentropy": cross,
        "voting_agreement": voting,
    }


def choose_how_profiles_move(names: Sequence[str]) -> tuple[tuple[str, ...], str | None]:
    """Strata and clusters of the shuffles."""
    start = _start()
    with st.expander("Shuffles", expanded=bool(start.strata or start.cluster)):
        return choose_shuffles(names, start, _key("shuffles"))


def proposal_of(questions: Sequence[Annotations]) -> Proposal | None:
    """Levels of measurement that the labels ask for; several questions together have but one."""
    return proposed_levels(questions[0].categories) if len(questions) == 1 else None


def choose_level(questions: Sequence[Annotations], proposal: Proposal | None) -> str:
    """The level of measurement; those proposed come first, with the reason."""
    several = len(questions) > 1
    possible = ("nominal",) if several else possible_levels(questions[0].categories)
    first = () if proposal is None else proposal.levels
    start = _start().level
    level = _convention(
        "Level of measurement",
        "level",
        {name: LEVEL[name] for name in dict.fromkeys([*first, *possible])},
        start if start in possible else "nominal",
    )
    if proposal is not None:
        st.caption(escape_markdown(f"Proposed: {proposal.reason}."))
    if level == "ordinal":
        order = ", ".join(one_line(label) for label in questions[0].categories)
        st.caption(f"{escape_markdown(f'The order is {order}.')} It can be changed on Data.")
    st.caption(LEVEL_COUNTS_FOR)
    if several:
        st.caption("Other levels are offered for one question by itself.")
    elif len(possible) < len(LEVEL):
        st.caption("Interval and ratio are offered where every label is a number, for ratio none below 0.")
    return level


def _convention(label: str, field: str, choices: Mapping[str, Choice], value: str) -> str:
    chosen = _select(label, field, tuple(choices), value, lambda name: choices[name].label)
    st.caption(choices[chosen].meaning)
    return chosen


def _select(label: str, field: str, options: Sequence[Any], value: Any, words: Any) -> Any:
    return st.selectbox(
        label,
        options,
        index=list(options).index(value),
        format_func=words,
        key=_key(f"level-{work().level}" if field == "level" else field),
        persist_state="session",
        on_change=_follow_conventions if field in PAPER_CONVENTIONS else None,
    )


def _apply_preset() -> None:
    for field, value in _PRESETS.get(st.session_state[_key("preset")], {}).items():
        st.session_state[_key(field)] = value


def _follow_adaptive() -> None:
    """A number that nobody chose follows the toggle."""
    _decide_stopping()
    usual = (_DEFAULTS.permutations, ADAPTIVE_PERMUTATIONS)
    if st.session_state[_key("permutations")] in usual:
        st.session_state[_key("permutations")] = usual[st.session_state[_key("adaptive")]]


def _decide_stopping() -> None:
    st.session_state[_key("stopping-decided")] = True


def _follow_conventions() -> None:
    chosen = {field: st.session_state[_key(field)] for field in PAPER_CONVENTIONS}
    st.session_state[_key("preset")] = _preset_of(chosen)


def _preset_of(chosen: Mapping[str, str]) -> str | None:
    return next((name for name, fields in _PRESETS.items() if dict(fields) == dict(chosen)), None)


def _start() -> AnalysisSpec:
    return work().settings or replace(_DEFAULTS, level=work().level)


def _name(statistic: str) -> str:
    return WORDS[statistic].name


def _key(field: str) -> str:
    session = work()
    return f"{field}-{session.generation}-{session.settings_generation}"
