"""Sentences on a run: its rows, its assignment of items, possible regroupings, and when it stopped."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from grasp_core.analysis.design import Unmatched
from grasp_core.analysis.overview import Team
from grasp_core.model.annotations import BoolArray, Raters
from grasp_core.model.groups import Grouping, axis_label, group_label, one_line
from grasp_core.model.outcome import Account, AssignmentCheck
from grasp_core.model.remarks.cautions import Caution, GuardCaution, LeftOutReason
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.result import Association, Result, Stopping, Undecided
from grasp_core.model.spec import LEVEL, WORKLOAD, AnalysisSpec
from grasp_core.model.text import listed, number, quoted
from grasp_core.permutation.draw import clusters_of, strata_of
from grasp_core.permutation.testing.p_values import FEWEST
from grasp_core.permutation.testing.tail import Shuffles
from grasp_core.report.words import names
from grasp_core.report.words.names import DSI_NAME, PAIR_NAMES, SIDE_WORDS, format_p, format_p_value


def assignment_warnings(checks: Iterable[AssignmentCheck], *, of_models: bool = False) -> list[Remark]:
    """Warn of each axis whose groups got different items, and of each whose workloads differ."""
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
    """Return whether a warning says that groups got different items, as batches, teams or vendors may."""
    told = {GuardCaution.OWN_ITEMS, GuardCaution.OWN_ITEMS_WITH_MODELS}
    return any(one.code in told for one in warnings)


def batch_candidates(columns: Mapping[str, int], raters: int) -> tuple[str, ...]:
    """Return the columns that may name batches of raters, judged by the number of values in each column."""
    return tuple(name for name, values in columns.items() if 2 <= values <= raters // 2)


TEAM_REMEDIES: Mapping[str, str] = {
    "cluster": "moves the profiles of whole teams",
    "within": "shuffles within the values of it",
}
"""Ways to shuffle if raters work in teams, see :class:`~grasp_core.analysis.overview.Team`."""


def team_sentence(team: Team) -> str:
    """Warn that a column looks like teams, without naming the remedy."""
    return (
        f"raters with one value of {quoted(team.column)} answer more alike than others with their value of "
        f"{quoted(team.axis)}, as teams do; what is found by {quoted(team.axis)} may be theirs"
    )


def association_warnings(found: Iterable[Association]) -> list[Remark]:
    """A warning for each pair of axes that go together."""
    warnings = []
    for one in found:
        axes = {"first": axis_label((one.first,)), "second": axis_label((one.second,))}
        if one.one_split:
            warnings.append(GuardCaution.ONE_SPLIT(**axes))
        else:
            warnings.append(GuardCaution.AXES_TOGETHER(**axes, v=one.v, p=format_p(one.p)))
    return warnings


def matched_warnings(found: Iterable[Unmatched]) -> list[Remark]:
    """A warning for each group whose GAI compares different items."""
    return [
        GuardCaution.GAI_OF_OTHER_ITEMS(
            axis=axis_label(one.group.axes), group=group_label(one.group), gai=one.gai, matched=one.matched
        )
        for one in found
    ]


MEANING: str = names.TEXTS["explained"]["stopping"]
_MAX_T: str = names.TEXTS["explained"]["max_t"]


def how_it_ended(result: Result) -> tuple[str, ...]:
    """Sentences on how an adaptive run ended; none for other runs."""
    if result.stopping is None:
        return ()
    analysis = result.spec.analysis
    return ending(analysis, result.stopping), guarantee(analysis, result.stopping)


def ending(analysis: AnalysisSpec, stopping: Stopping) -> str:
    """Say how many permutations an adaptive run took."""
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
    """Sentences on how reliable settled marks are, and on the marks that are not settled."""
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
    """Name the marks that more permutations might still change."""
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
        name = PAIR_NAMES.get(mark.statistic) or names.statistic_name(mark.statistic)
        return f"{name} of {group_label(mark.group)} and {group_label(mark.other)} ({which})"
    return f"{names.statistic_name(mark.statistic)} of {group_label(mark.group)} ({which})"


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
"""Reasons that name raters or items although the account counts annotations."""


def account_sentence(account: Account) -> str:
    """Sum up an account: ``12 rows read: 11 annotations, 1 left out (1 no label)``."""
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
        # The count is of annotations, also if the reason names raters or items.
        of_whom = f"{number(one.count, noun)} of" if reason.code in _OF_WHOM else f"{one.count:,}"
        shown.append(f"{of_whom} {one.reason}")
    rest = account.left_out[_REASONS:]
    if rest:
        shown.append(f"{sum(one.count for one in rest):,} for {number(len(rest), 'more reason')}")
    return f"{said} ({'; '.join(shown)})"


def unused_sentence(account: Account) -> str:
    """Name the columns that were not used; empty if all were."""
    return f"columns not used: {listed(account.unused)}" if account.unused else ""


def account_sentences(account: Account | None) -> tuple[str, ...]:
    """Say how many rows were read, used and left out, and which columns were not used; empty if unknown."""
    if account is None:
        return ()
    return tuple(filter(None, (account_sentence(account), unused_sentence(account))))


MOST_BOXES = 8
"""Number of strata that are drawn; the others are only counted."""
TOLD = 5
"""Number of groups that are named; the others are only counted."""
_COUNTED = math.log(1e6)


def few_regroupings(grouping: Grouping, shuffles: Shuffles) -> list[str]:
    """A sentence for each group whose two-sided p can never be below the level of marks."""
    few = np.flatnonzero(shuffles.least_p > LEVEL).tolist()
    found = [
        f"{group_label(grouping.groups[g])} can be regrouped in {ways(shuffles.log_regroupings[g])}: "
        f"{least(shuffles.least_p[g], shuffles.least_of_one_tail[g])}"
        for g in few[:TOLD]
    ]
    if len(few) > TOLD:
        found.append(f"the same holds of {number(len(few) - TOLD, 'further group')}")
    return found


def least(p: float, of_one_tail: float) -> str:
    """State the smallest p that a group can have, in two-sided and in one-sided tests."""
    told = f"no p of it is below about {format_p_value(p)}"
    if of_one_tail == p:
        return told
    return f"{told}, or {format_p_value(of_one_tail)} where one tail alone counts (distance, label use)"


def least_of(p: float, spec: AnalysisSpec) -> str:
    """Call :func:`least` for the p of a result's row; the paper's p-values are one-sided already."""
    return least(p, p / 2 if spec.p_value == "two-sided" else p)


def fixed_raters(shuffles: Shuffles) -> list[str]:
    """Say how many raters keep their profiles because of their cluster, and how many are left to shuffle."""
    stay, everybody = shuffles.n_fixed, shuffles.exchange.order.size
    if not stay:
        return []
    caution = str(Caution.CLUSTERS_STAY(raters=stay, all=everybody))
    return [f"{caution}; that leaves {number(everybody - stay, 'rater')} to shuffle"]


class Stratum(NamedTuple):
    """A stratum, within which profiles are shuffled; `lines` count its raters by group and by cluster."""

    label: str
    n_raters: int
    lines: tuple[str, ...]


def boxes(raters: Raters, grouping: Grouping, spec: AnalysisSpec) -> tuple[list[Stratum], str]:
    """Return the largest strata, none smaller than the smallest group allowed, and a sentence on the rest."""
    strata = strata_of(raters, spec)
    sizes = np.bincount(strata)
    largest = [int(s) for s in np.argsort(-sizes, kind="stable") if sizes[s] >= spec.min_raters][:MOST_BOXES]
    found = []
    for s in largest:
        inside, parts = strata == s, []  # what the raters of a stratum have in common
        first = int(np.flatnonzero(inside)[0])
        for name in spec.strata:
            if name == WORKLOAD and raters.workload is not None:
                given = raters.workload[inside]
                parts.append(f"{given.min():,} to {given.max():,} annotations")
            else:
                axis = raters.axes[name]
                code = int(axis.codes[first])
                value = "unknown" if code < 0 else one_line(axis.values[code])
                parts.append(f"{axis_label((name,))} {value}")
        lines = _groups(grouping, spec, inside)
        if spec.cluster is not None:
            _, size_of = np.unique(clusters_of(raters, spec.cluster)[inside], return_counts=True)
            pairs = zip(*(one.tolist() for one in np.unique(size_of, return_counts=True)), strict=True)
            each = [f"{n:,} of {number(size, 'rater')}" for size, n in pairs]
            lines.append(f"{axis_label((spec.cluster,))}: {', '.join(each)}")
        found.append(Stratum(", ".join(parts) or "All raters", int(sizes[s]), tuple(lines)))
    left = sizes.size - len(largest)
    others = int(sizes.sum() - sizes[largest].sum())
    strata_left = number(left, "further stratum", "further strata")
    return found, f"{strata_left}: {number(others, 'rater')} in all." if left else ""


def fewest_ways(grouping: Grouping, shuffles: Shuffles) -> str:
    """Say which group has the fewest regroupings, and how many."""
    g = int(np.argmin(shuffles.log_regroupings))
    least = ways(shuffles.log_regroupings[g])
    return f"{group_label(grouping.groups[g])} can be regrouped in {least}, the fewest of all groups."


def _groups(grouping: Grouping, spec: AnalysisSpec, inside: BoolArray) -> list[str]:
    """A line for each axis: raters of each group that has enough of them; the others are added up."""
    lines = []
    for axes in spec.axes:
        counts = [
            (int(row[inside].sum()), group_label(group))
            for group, row in zip(grouping.groups, grouping.member, strict=True)
            if group.axes == axes
        ]
        told = [f"{n:,} {label}" for n, label in counts if n >= spec.min_raters]
        rest = int(inside.sum()) - sum(n for n, _ in counts if n >= spec.min_raters)
        lines.append(f"{axis_label(axes)}: {', '.join([*told, *([f'{rest:,} others'] if rest else [])])}")
    return lines


def ways(log_regroupings: float) -> str:
    """Write a number of regroupings, given its logarithm: whole up to a million, then a power of ten."""
    if log_regroupings <= _COUNTED:
        return number(round(math.exp(log_regroupings)), "way")
    return f"about 10^{log_regroupings / math.log(10):,.0f} ways"
