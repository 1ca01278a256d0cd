"""Choices of the Analysis screen, which make an :class:`AnalysisSpec`, and remarks on them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Any

import streamlit as st

from grasp_core.analysis.design import Seen, check_assignment
from grasp_core.analysis.overview import Team, teams
from grasp_core.analysis.stages import check_given
from grasp_core.engine.time_left import LONG_SECONDS, default_seconds, pairs_seconds
from grasp_core.model import spec as specs
from grasp_core.model.annotations import Annotations
from grasp_core.model.errors import SpecError
from grasp_core.model.groups import AxisSet, axes_with_groups, axis_label, form_groups, one_line
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.spec import PAPER_CONVENTIONS, AnalysisSpec
from grasp_core.model.statistic import TABLE
from grasp_core.model.text import escape_markdown, listed, number
from grasp_core.permutation.draw import exchange_of
from grasp_core.permutation.testing.corrections import fewest_permutations, largest_family
from grasp_core.permutation.testing.tail import Shuffles, check_something_moves
from grasp_core.reading.dataset.load import Dataset
from grasp_core.report import account, contents
from grasp_core.report.account import boxes, few_regroupings, fewest_ways, fixed_raters
from grasp_core.report.contents import Choice
from grasp_core.report.words.levels import Proposal, proposed_levels
from grasp_core.report.words.names import TEXTS, WORDS
from grasp_core.statistics.levels import possible_levels
from pages._ui.helpers import widgets as ui
from pages._ui.helpers.screens import for_pages
from pages._ui.helpers.state import work

_DEFAULTS = AnalysisSpec(axes=(("any",),))
_PRESETS: Mapping[str, Mapping[str, str]] = {
    "Default": {name: getattr(_DEFAULTS, name) for name in PAPER_CONVENTIONS},
    "As in the paper": PAPER_CONVENTIONS,
}
_CALLED = {
    **contents.CONVENTION_NAMES,
    "correction": "Correction for many tests",
    "interval": "Intervals for",
}
_TRIPLES_UP_TO = 12
"""Most axes with which intersections of three are listed; with more, they are built by hand."""
SAFE_INTEGER = 2**53 - 1
"""Largest whole number that a browser's number field holds exactly."""
STOPS_EARLY = f"{account.MEANING} The number above is then the most there are."
_ASKED: Mapping[str, Mapping[str, str]] = {
    **TEXTS["asked"],
    "adaptive": {"label": "Stop when all marks are settled", "help": STOPS_EARLY},
    "tail": {"label": contents.TAIL.label, "help": contents.TAIL.meaning},
}
"""Label and help of each field."""


def choose(dataset: Dataset) -> dict[str, Any]:
    """Draw the choices in the order of the page; return all fields of the spec."""
    names, questions = tuple(dataset.raters.axes), dataset.questions
    proposal = proposed_levels(questions[0].categories) if len(questions) == 1 else None
    if not names:
        st.info(
            "Nothing is known of the raters, so there are no groups to compare: this tells how well all of "
            "them agree, on which labels, and who differs. Add a file with their age, gender or background "
            "on Data to compare groups."
        )
        return {"axes": (), "slices": _choose_slices(dataset), "level": _choose_level(questions, proposal)}
    start = _start()
    _choose_preset()
    st.header("Who is compared")
    known = [(name,) for name in work().proposed_axes if name in names]
    able = axes_with_groups(dataset.raters, known, start.min_raters)
    axes = _choose_axes(names, [name for (name,) in able])
    slices = _choose_slices(dataset)
    st.header("What is computed")
    reported = _several("statistics", tuple(TABLE), start.statistics, lambda name: WORDS[name].name)
    statistics = tuple(name for name in TABLE if name in reported)
    numbers = _choose_numbers(dataset, axes, slices)
    pairs = _choose_pairs(dataset, axes, numbers["min_raters"])
    level = None if proposal is None else _choose_level(questions, proposal)
    opened = bool(start.strata or start.cluster) or work().shuffles_asked
    with st.expander("Shuffles", expanded=opened):
        strata, cluster = ui.choose_shuffles(names, start, _key("shuffles"))
    given = _choose_given(names, axes, strata)
    with st.expander("Advanced"):
        chosen = _choose_conventions()
        chosen["level"] = level or _choose_level(questions, None)
    moves = {"strata": strata, "cluster": cluster, "given": given}
    return (
        {"axes": axes, "statistics": statistics, "pairs": pairs, "slices": slices} | moves | numbers | chosen
    )


def _choose_preset() -> None:
    def apply() -> None:
        for field, value in _PRESETS.get(st.session_state[_key("preset")], {}).items():
            st.session_state[_key(field)] = value

    start = _preset_of({name: getattr(_start(), name) for name in PAPER_CONVENTIONS})
    looks = {"default": start, "on_change": apply, **ui.for_visit(_key("preset"))}
    chosen = st.segmented_control("Preset", list(_PRESETS), **looks)
    if chosen == "As in the paper":
        st.caption(contents.PAPER_P)


def _ask(widget: Callable[..., Any], field: str, *of: Any, **looks: Any) -> Any:
    """Draw a field's widget with its label, help and key."""
    asked = _ASKED[field]
    return widget(asked["label"], *of, help=asked["help"], **ui.for_visit(_key(field)), **looks)


def _several(field: str, options: Iterable[Any], start: Sequence[Any], words: Any, none: str = "") -> Any:
    return _ask(ui.several, field, options, start, format_func=words, placeholder=none or None)


def _axis(name: str) -> str:
    return axis_label((name,))


def _choose_axes(names: Sequence[str], proposed: Sequence[str]) -> tuple[AxisSet, ...]:
    start = _start().axes if work().settings else tuple((name,) for name in proposed)
    known = [axes for axes in start if set(axes) <= set(names)] or [(name,) for name in proposed]
    orders = (2, 3) if len(names) <= _TRIPLES_UP_TO else (2,)
    options = [axes for order in orders for axes in combinations(names, order)]
    options += [axes for axes in known if len(axes) > 1 and axes not in options]
    singles = _several("axes", names, [axes[0] for axes in known if len(axes) == 1], _axis)
    crossed = _several("intersections", options, known, axis_label, "None; choose pairs or triples of axes")
    larger: tuple[str, ...] = ()
    if len(names) > 2:
        with st.expander("Another intersection"):
            larger = _several("larger", names, (), _axis)
    chosen = [*((name,) for name in singles), *crossed]
    if len(larger) < 2:
        return tuple(chosen)
    return (*(axes for axes in chosen if set(axes) != set(larger)), larger)


def _choose_slices(dataset: Dataset) -> tuple[str, ...]:
    known = dataset.attributes
    if not known:
        return ()
    named = {name: f"{one_line(name)} ({number(len(one.values), 'value')})" for name, one in known.items()}
    none = "None; choose columns that describe items"
    return _several("slices", known, _start().slices, named.__getitem__, none)


def _choose_numbers(dataset: Dataset, axes: Sequence[AxisSet], slices: Sequence[str]) -> dict[str, int]:
    start = _start()
    long = _proposed_to_stop_early(dataset, axes, start.min_raters, slices)
    left, middle, right = st.columns(3)

    def whole_number(place: Any, field: str, low: int, high: int, **looks: Any) -> int:
        return _ask(ui.whole, field, low, high, getattr(start, field), place=place, **looks)

    most, most_seed = specs.MAX_PERMUTATIONS, min(specs.MAX_SEED, SAFE_INTEGER)
    chosen = {
        "min_raters": whole_number(left, "min_raters", 1, 1_000_000),
        "permutations": whole_number(middle, "permutations", 1, most, step=1000, on_change=_decide_stopping),
        "adaptive": _ask(middle.toggle, "adaptive", start.adaptive, on_change=_follow_adaptive),
        "tail": _ask(middle.toggle, "tail", start.tail),
        "seed": whole_number(right, "seed", 0, most_seed),
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
    """Let long runs stop early until somebody decides, except as in the paper; return their seconds."""
    if work().settings is not None or _key("stopping-decided") in st.session_state or not axes:
        return None
    paper = st.session_state.get(_key("preset")) == "As in the paper"
    seconds = default_seconds(dataset, axes, min_raters, slices)
    long = seconds > LONG_SECONDS and not paper
    st.session_state[_key("adaptive")] = long
    return seconds if long else None


def _choose_pairs(dataset: Dataset, axes: Sequence[AxisSet], min_raters: int) -> bool:
    """Choose whether pairs are compared; until somebody decides, they are unless that takes long."""
    settings, decided = work().settings, _key("pairs-decided")
    seconds = pairs_seconds(dataset, axes, min_raters) if axes else 0.0
    undecided = settings is None and decided not in st.session_state
    if undecided:
        st.session_state[_key("pairs")] = seconds <= LONG_SECONDS
    decide = partial(st.session_state.update, {decided: True})
    chosen = _ask(st.toggle, "pairs", settings is not None and settings.pairs, on_change=decide)
    if undecided and seconds > LONG_SECONDS:
        st.caption(
            f"Pairs of these groups take about {seconds:.0f} seconds on two cores, so they are left out by "
            "default."
        )
    return chosen


def _choose_given(names: Sequence[str], axes: Sequence[AxisSet], strata: Sequence[str]) -> tuple[str, ...]:
    """Choose axes given which the others are tested again; offered if there are others, never for strata."""
    possible = [name for name in names if name not in strata and any(name not in of for of in axes)]
    if not possible or len(names) < 2:
        return ()
    none = "None; choose axes that may stand behind the others"
    return _several("given", possible, _start().given, one_line, none)


def _choose_conventions() -> dict[str, Any]:
    start, chosen = _start(), {}
    gai: list[str] = []
    rows = (
        ("inside the group", specs.IN_GROUP, "correction", "ties", "interval"),
        ("across groups", specs.CROSS_GROUP, "p_value", "family", "cross_negentropy", "voting_agreement"),
    )
    for column, (sides, able, *fields) in zip(st.columns(2), rows, strict=True):
        with column:
            key, value = f"gai_{sides.split()[0]}", start.gai[len(gai)]
            gai.append(_select(f"GAI: agreement {sides}", key, able, value, lambda name: WORDS[name].name))
            for field in fields:
                chosen[field] = _convention(field, contents.CHOICES[field], getattr(start, field))
    return {"gai": tuple(gai), **chosen}


def _choose_level(questions: Sequence[Annotations], proposal: Proposal | None) -> str:
    """Choose the level of measurement; proposed levels come first, with the reason."""
    several = len(questions) > 1
    possible = ("nominal",) if several else possible_levels(questions[0].categories)
    first = () if proposal is None else proposal.levels
    start = _start().level
    known = contents.CHOICES["level"]
    levels = {name: known[name] for name in (*first, *possible)}
    level = _convention("level", levels, start if start in possible else "nominal")
    if proposal is not None:
        ui.caption(f"Proposed: {proposal.reason}.")
    if level == "ordinal":
        order = ", ".join(one_line(label) for label in questions[0].categories)
        st.caption(f"{escape_markdown(f'The order is {order}.')} It can be changed on Data.")
    st.caption(contents.LEVEL_COUNTS_FOR)
    if several:
        st.caption("Other levels are offered for one question by itself.")
    elif len(possible) < len(known):
        st.caption("Interval and ratio are offered where every label is a number, for ratio none below 0.")
    return level


def _convention(field: str, choices: Mapping[str, Choice], value: str) -> str:
    chosen = _select(_CALLED[field], field, tuple(choices), value, lambda name: choices[name].label)
    st.caption(choices[chosen].meaning)
    return chosen


def _select(label: str, field: str, options: Sequence[Any], value: Any, words: Any) -> Any:
    key = _key(f"level-{work().level}" if field == "level" else field)
    follow = _follow_conventions if field in PAPER_CONVENTIONS else None
    return ui.choose_one(label, options, value, format_func=words, on_change=follow, **ui.for_visit(key))


def _follow_adaptive() -> None:
    """Adapt the number of permutations to the toggle, unless somebody chose another number."""
    _decide_stopping()
    usual = (_DEFAULTS.permutations, specs.ADAPTIVE_PERMUTATIONS)
    if st.session_state[_key("permutations")] in usual:
        st.session_state[_key("permutations")] = usual[st.session_state[_key("adaptive")]]


def _decide_stopping() -> None:
    st.session_state[_key("stopping-decided")] = True


def _follow_conventions() -> None:
    chosen = {field: st.session_state[_key(field)] for field in PAPER_CONVENTIONS}
    st.session_state[_key("preset")] = _preset_of(chosen)


def _preset_of(chosen: Mapping[str, str]) -> str | None:
    return next((name for name, fields in _PRESETS.items() if fields == chosen), None)


def _start() -> AnalysisSpec:
    return work().settings or replace(_DEFAULTS, level=work().level)


def _key(field: str) -> str:
    session = work()
    return f"{field}-{session.generation}-{session.settings_generation}"


_CHOICES = {
    "cluster": "choose it for Move whole clusters, under Shuffles",
    "within": "choose it for Shuffle profiles only within, under Shuffles",
}


def say_who_rated_what(dataset: Dataset, analysis: AnalysisSpec) -> None:
    """Warn of axes that are related to which items raters got, and how many."""
    shuffles = (analysis.strata, analysis.cluster)
    asked = (dataset.summary.sha256, work().data_spec, analysis.axes, analysis.min_raters, shuffles)

    def look() -> tuple[list[Remark], list[Team]]:
        grouping = form_groups(dataset.raters, analysis.axes, min_raters=analysis.min_raters)
        exchange, seen = exchange_of(dataset.raters, analysis), Seen.of(dataset.annotations)
        checks = check_assignment(seen, dataset.annotations_of, grouping, analysis.axes, exchange)
        found: list[Team] = []
        if analysis.cluster is None and not analysis.strata:  # else somebody has chosen how profiles move
            tested = {name: axes[name] for name in analysis.tested if name in axes}
            found = teams(dataset.annotations, free, tested)
        return account.assignment_warnings(checks), found

    axes = dataset.raters.axes
    free = {name: axis for name, axis in axes.items() if name not in analysis.columns}
    warnings, found = ui.once("assignment", asked, look)
    ui.show_warned(warnings)
    for one in found:
        ui.caption(f"Perhaps {account.team_sentence(one)}: {_CHOICES[one.by]}.")
    if account.given_other_items(warnings):
        sizes = {name: len(axis.values) for name, axis in free.items()}
        could = account.batch_candidates(sizes, dataset.summary.raters)
        if could:
            ui.caption(f"Columns that could hold batches, to shuffle within: {listed(could)}.")


def say_what_is_compared(dataset: Dataset, analysis: AnalysisSpec) -> bool:
    """Count the groups and warn of settings that cannot find anything; False if nothing can be compared."""
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
        st.error(for_pages(str(error)))
        return False
    told = [*few_regroupings(grouping, shuffles), *fixed_raters(shuffles)]
    if told:
        st.warning(ui.entries(f"{sentence}." for sentence in told))
    if analysis.strata or analysis.cluster is not None:
        st.subheader("Who may change places")
        st.markdown(f"Profiles move inside each box. {escape_markdown(fewest_ways(grouping, shuffles))}")
        found, others = boxes(dataset.raters, grouping, analysis)
        with st.container(horizontal=True):
            for box in found:
                with st.container(border=True, width=260):
                    st.markdown(f"**{escape_markdown(box.label)}** · {number(box.n_raters, 'rater')}")
                    for line in box.lines:
                        ui.caption(line)
        if others:
            st.caption(others)
    enough = fewest_permutations(largest_family(grouping.groups, analysis), analysis)
    if analysis.permutations < enough:
        st.warning(
            f"With {analysis.permutations:,} permutations and {number(kept, 'group')}, a lone effect "
            f"can never survive correction. Use at least {enough:,} permutations."
        )
    return True
