"""How an adaptive run ended, and what it then guarantees, in words."""

from __future__ import annotations

from collections.abc import Sequence

from grasp_core.permutation.nulls.tails import FEWEST
from grasp_core.report.pairs.words import PAIR_NAMES
from grasp_core.report.words.models import SIDE_WORDS, statistic_name
from grasp_core.report.words.names import DSI_NAME, axis_label, group_label, one_line
from grasp_core.result import Result, Stopping, Undecided
from grasp_core.spec import AnalysisSpec

MEANING = (
    "Shuffling stops, group by group, once all marks are settled: once further shuffles are not expected to "
    "change them. Settled marks are reported with their risk, the others by name."
)
_MAX_T = (
    " For max-T, deviations are measured in the spread that the first shuffles (up to 10,000) had, and the "
    "risk of a mark after correction is that of a nominal one."
)


def how_it_ended(result: Result) -> tuple[str, ...]:
    """Sentences on an adaptive run; none on any other."""
    if result.stopping is None:
        return ()
    analysis = result.spec.analysis
    return ending(analysis, result.stopping), guarantee(analysis, result.stopping)


def ending(analysis: AnalysisSpec, stopping: Stopping) -> str:
    """How many permutations there were."""
    if stopping.permutations < analysis.permutations:
        return (
            f"Shuffling stopped after {stopping.permutations:,} of at most {analysis.permutations:,}, for "
            "each group as soon as its marks were settled."
        )
    return (
        f"Shuffling went on to the most allowed, {stopping.permutations:,}; groups whose marks were settled "
        "before took fewer."
    )


def guarantee(analysis: AnalysisSpec, stopping: Stopping) -> str:
    """Sentences on what holds for the marks, and for which it does not."""
    if stopping.permutations < FEWEST:
        return f"Nothing is marked, and nothing settled: p-values need {FEWEST} shuffles or more."
    risk = f"{stopping.risk * 100:g} %"
    text = (
        "A settled mark at 0.05 is the one that endless shuffling would give: for each test the risk that "
        f"it is not is at most {risk}, and for all marks after correction of tests that are corrected "
        f"together at most {risk} times their number."
    )
    return text + (_MAX_T if analysis.correction == "max-t" else "") + " " + undecided(stopping.undecided)


def undecided(marks: Sequence[Undecided]) -> str:
    """The marks that more permutations might still change."""
    if not marks:
        return "All marks are settled."
    named = "; ".join(_named(mark) for mark in marks)
    return f"Too close to 0.05 to be settled by so many shuffles: {named}."


def _named(mark: Undecided) -> str:
    which = "after correction" if mark.corrected else "nominal"
    if mark.slice is not None:
        which = f"{which}, {' = '.join(map(one_line, mark.slice))}"
    if mark.group is None:
        return f"{DSI_NAME} of {axis_label(mark.axes)} ({which})"
    if mark.model is not None:
        return f"{SIDE_WORDS[mark.statistic].name} of {mark.model} and {group_label(mark.group)} ({which})"
    if mark.other is not None:
        name = PAIR_NAMES.get(mark.statistic) or statistic_name(mark.statistic)
        return f"{name} of {group_label(mark.group)} and {group_label(mark.other)} ({which})"
    return f"{statistic_name(mark.statistic)} of {group_label(mark.group)} ({which})"
