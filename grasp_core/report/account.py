"""How a run came about: its rows accounted for, its assignment, when it stopped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from grasp_core.analysis.design import Unmatched
from grasp_core.analysis.teams import Team
from grasp_core.model.groups import axis_label, group_label, one_line
from grasp_core.model.outcome import Account, AssignmentCheck
from grasp_core.model.remarks.cautions import GuardCaution, LeftOutReason
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.result import Association, Result, Stopping, Undecided
from grasp_core.model.spec import AnalysisSpec
from grasp_core.model.text import listed, number, quoted
from grasp_core.permutation.testing.deviations import FEWEST
from grasp_core.report.pairs import PAIR_NAMES
from grasp_core.report.words.models import SIDE_WORDS, statistic_name
from grasp_core.report.words.names import DSI_NAME, format_p


def said_of_assignment(checks: Iterable[AssignmentCheck], *, of_models: bool = False) -> list[Remark]:
    """A warning for each axis whose groups were given other items, and for each with other workloads."""
    own_items = GuardCaution.OWN_ITEMS_WITH_MODELS if of_models else GuardCaution.OWN_ITEMS
    own_workload = GuardCaution.OWN_WORKLOAD_WITH_MODELS if of_models else GuardCaution.OWN_WORKLOAD
    found = []
    for check in checks:
        axis = axis_label(check.axes)
        if check.items is not None and check.own_items:
            met = round(100 * check.items.size)
            found.append(own_items(axis=axis, group=group_label(check.items.group), met=met))
        if check.workload is not None and check.own_workload:
            group = group_label(check.workload.group)
            found.append(own_workload(axis=axis, group=group, times=check.workload.size))
    return found


def given_other_items(warnings: Iterable[Remark]) -> bool:
    """Whether it is warned that groups were given other items, as batches, teams or vendors may be."""
    told = {GuardCaution.OWN_ITEMS, GuardCaution.OWN_ITEMS_WITH_MODELS}
    return any(one.code in told for one in warnings)


def could_hold_batches(columns: Mapping[str, int], raters: int) -> tuple[str, ...]:
    """Columns that describe raters, by how many values each has, that could hold batches of them."""
    return tuple(name for name, values in columns.items() if 2 <= values <= raters // 2)


SHUFFLES: Mapping[str, str] = {
    "cluster": "moves the profiles of whole teams",
    "within": "shuffles within the values of it",
}
"""What mends that raters work in teams, see :class:`~grasp_core.analysis.teams.Team`."""


def team_sentence(team: Team) -> str:
    """A column that looks like teams, without what mends it."""
    return (
        f"raters with one value of {quoted(team.column)} answer more alike than others with their value of "
        f"{quoted(team.axis)}, as teams do; what is found by {quoted(team.axis)} may be theirs"
    )


def said_of_associations(found: Iterable[Association]) -> list[Remark]:
    """A warning for each two axes that go together."""
    return [
        GuardCaution.AXES_TOGETHER(
            first=axis_label((one.first,)), second=axis_label((one.second,)), v=one.v, p=format_p(one.p)
        )
        for one in found
    ]


def said_of_matched(found: Iterable[Unmatched]) -> list[Remark]:
    """A warning for each group whose GAI compares different items."""
    return [
        GuardCaution.GAI_OF_OTHER_ITEMS(
            axis=axis_label(one.group.axes), group=group_label(one.group), gai=one.gai, matched=one.matched
        )
        for one in found
    ]


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


_REASONS = 6
_OF_WHOM = {
    LeftOutReason.RATERS_WITH,
    LeftOutReason.LISTED_RATERS,
    LeftOutReason.LISTED_ITEMS,
    LeftOutReason.TOO_FEW_RIGHT,
    LeftOutReason.RATERS_WITH_FEWER,
    LeftOutReason.ITEMS_WITH_FEWER,
    LeftOutReason.AT_CHANCE,
    LeftOutReason.ONE_LABEL_ALWAYS,
    LeftOutReason.TOO_CLOSE,
}
"""Reasons that name raters or items, while annotations are what is counted."""


def account_sentence(account: Account) -> str:
    """For example ``12 rows read: 11 annotations, 1 left out (1 no label)``."""
    noun = "answer" if account.unit == "answer" else "annotation"
    used = number(account.used, noun)
    gone = sum(one.count for one in account.left_out)
    said = f"{number(account.read, account.unit)} read: {used}, {gone:,} left out"
    if not gone:
        return said
    shown = []
    for one in account.left_out[:_REASONS]:
        reason = one.reason
        if reason.code is LeftOutReason.IN_QUESTION:
            inner = dict(reason.numbers)["reason"]
            reason = inner if isinstance(inner, Remark) else reason
        # Where it names raters or items, so many annotations of theirs.
        of_whom = f"{number(one.count, noun)} of" if reason.code in _OF_WHOM else f"{one.count:,}"
        shown.append(f"{of_whom} {one.reason}")
    rest = account.left_out[_REASONS:]
    if rest:
        shown.append(f"{sum(one.count for one in rest):,} for {number(len(rest), 'more reason')}")
    return f"{said} ({'; '.join(shown)})"


def unused_sentence(account: Account) -> str:
    """The columns that nothing was taken from; empty where there are none."""
    return f"columns not used: {listed(account.unused)}" if account.unused else ""


def account_sentences(account: Account | None) -> tuple[str, ...]:
    """How much was read, used and left out, and the columns that nothing was taken from, as far as known."""
    if account is None:
        return ()
    return tuple(filter(None, (account_sentence(account), unused_sentence(account))))
