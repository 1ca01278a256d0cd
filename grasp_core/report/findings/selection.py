"""Findings of a result: tests of each group, their order, and the groups that differ."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from grasp_core.model.groups import AxisSet, Group, group_labels
from grasp_core.model.outcome import (
    FEWEST_CLEAR,
    Histogram,
    Kind,
    Outcome,
    PairResult,
    Significance,
    Verdict,
    VerdictCode,
)
from grasp_core.model.result import Association, GivenResult, GroupResult, RunResult
from grasp_core.model.spec import LEVEL
from grasp_core.model.statistic import TABLE
from grasp_core.report.findings.finding import LABEL_USE, SPREAD, SYMMETRIC, Finding
from grasp_core.report.words.label_use import centre, foremost, interval_of, tested_as
from grasp_core.report.words.names import InPlaceOfGai, lead_statistic, shown_outcome

REPORT_ORDER = (LABEL_USE, *sorted(TABLE, key=lambda name: TABLE[name].report_position), SPREAD)
"""Statistics of a group, in the order in which people ask: label use comes first."""
_OF_KIND: Mapping[Kind, tuple[str, ...]] = {
    "labels": (LABEL_USE,),
    "items": ("distance",),
    "cohesion": ("gai", "gap"),
    "spread": (SPREAD,),
}
"""Statistics for each kind of difference; the first that has a value is reported."""


def evidence(row: GroupResult, name: str) -> tuple[Finding, ...]:
    """All statistics of one group that have a value, in the order of :data:`REPORT_ORDER`."""
    found = []
    for what in REPORT_ORDER:
        if what == LABEL_USE:
            one = of_labels(row, name)
            found += [] if one is None else [one]
            continue
        outcome = row.statistics.get(what) and shown_outcome(row, what)
        if outcome is not None and outcome.value is not None and not isinstance(outcome, InPlaceOfGai):
            found.append(Finding(row, name, what, replace(outcome, null=_drawn(outcome.null))))
    return tuple(found)


def of_labels(row: GroupResult, name: str) -> Finding | None:
    """A group's label use; None if it has no value."""
    told = None if row.label_use is None else foremost(row.label_use)
    if row.label_use is None or told is None:
        return None
    use, (label, shift) = row.label_use, told
    null = _drawn(shift.null)
    found = Outcome(
        shift.value,
        null_median=None if null is None else centre(null),
        direction="up" if (shift.value or 0.0) > 0 else "down",
        null=null,
        interval=interval_of(use, shift),
        no_interval=use.no_interval,
    )
    return Finding(row, name, LABEL_USE, tested_as(found, use), label)


def _drawn(null: Histogram | None) -> Histogram | None:
    """The null distribution; None if no shuffled value is in it."""
    return None if null is None or not any(null.counts) else null


def judged(result: RunResult) -> bool:
    """Return whether groups have verdicts; results of earlier versions and of unfinished runs have none."""
    return any(row.verdict is not None for row in result.groups)


def findings(result: RunResult) -> tuple[Finding, ...]:
    """Groups whose verdict is clear, strongest first: one finding per group, or per two halves of an axis."""
    if judged(result):
        return of_verdict(result, "clear")
    told = _told_once(_held(result, "corrected", leading(result)), result)
    return tuple(sorted(told, key=lambda one: (REPORT_ORDER.index(one.what), -one.size)))


def of_verdict(result: RunResult, code: VerdictCode) -> tuple[Finding, ...]:
    """One finding per group of this verdict, strongest first; two halves of an axis share one."""
    rows = {row.group: (name, row) for name, row in named_groups(result).items()}
    found, told = list[Finding](), set[Group]()
    for group, (name, row) in rows.items():
        verdict = row.verdict
        if verdict is None or verdict.code != code or group in told:
            continue
        one = _of_kinds(row, name, verdict)
        if verdict.other is not None and verdict.other in rows:
            told.add(verdict.other)
            other_name, other = rows[verdict.other]
            half = _of_kinds(other, other_name, verdict)
            if one.what == half.what and one.what in SYMMETRIC:
                one = _merged_halves(one, half)
            else:
                first, second = sorted((one, half), key=lambda half: (_or_1(half.outcome.p), half.name))
                one = replace(first, other=second)
            one = _less_united_first(one)
        found.append(one)

    def evidence_of(one: Finding) -> tuple[float, float]:
        known = one.verdict
        return (1.0, 0.0) if known is None else (_or_1(known.p), -(known.strength or 0.0))

    return tuple(sorted(found, key=evidence_of))


def below_level(hint: Finding) -> bool:
    """Return whether the q of a hint's verdict is below the level."""
    return hint.verdict is not None and (hint.verdict.q or 0.0) < LEVEL


def too_few_permutations(result: RunResult) -> tuple[Finding, ...]:
    """Hints that might be clear with more permutations: their q is below the level."""
    near = of_verdict(result, "hint") if result.permutations < FEWEST_CLEAR else ()
    return tuple(one for one in near if below_level(one))


def by_verdict(result: RunResult) -> tuple[Finding, ...]:
    """One finding per tested group, by verdict, clear ones first; two halves of an axis share one."""
    codes: tuple[VerdictCode, ...] = ("clear", "hint", "explained", "none")
    return tuple(one for code in codes for one in of_verdict(result, code))


def _of_kinds(row: GroupResult, name: str, verdict: Verdict) -> Finding:
    """Finding on a group by the first kind of difference in its verdict; the other kinds are `further`."""
    known = {one.what: _marked(one, verdict) for one in evidence(row, name)}
    if verdict.spread is not None:
        ratio = verdict.spread.ratio
        outcome = Outcome(ratio, direction="up" if ratio > 1 else "down", p=verdict.spread.p)
        known[SPREAD] = _marked(Finding(row, name, SPREAD, outcome), verdict)
    held = [next((known[what] for what in _OF_KIND[kind] if what in known), None) for kind in verdict.kinds]
    named = [one for one in held if one is not None]
    if named:
        return replace(named[0], further=tuple(named[1:]), verdict=verdict)
    nearest = min(known.values(), key=lambda one: _or_1(one.outcome.p), default=None)
    one = nearest or Finding(row, name, "distance", Outcome(None))
    return replace(one, verdict=verdict, vague=True)


def _marked(one: Finding, verdict: Verdict) -> Finding:
    """Give a finding the mark of the verdict, whichever test the verdict comes from."""
    mark: Significance = "nominal" if verdict.code == "hint" else "corrected"
    return replace(one, outcome=replace(one.outcome, significance=mark))


def strongest_pair(result: RunResult) -> PairResult | None:
    """Return the strongest pair, if no group is clear and it is significant over groups and pairs together.

    Groups and pairs are two families, each corrected separately. If the first shows nothing, the second has
    half of the level (Holm 1979).
    """
    if not judged(result) or of_verdict(result, "clear") or of_verdict(result, "explained"):
        return None
    clear = [(one, row) for row in result.pairs if (one := row.verdict) and one.code == "clear"]
    holding = [(one.p or 0.0, row) for one, row in clear if 2 * max(_or_1(one.q), _or_1(one.bound)) < LEVEL]
    return min(holding, key=lambda found: found[0])[1] if holding else None


def significant_groups(result: RunResult, significance: Significance = "corrected") -> frozenset[Group]:
    """Groups that make a finding, or would without another group; for "nominal", the hints."""
    if judged(result):
        codes = ("clear", "explained") if significance == "corrected" else ("hint",)
        return frozenset(row.group for row in result.groups if row.verdict and row.verdict.code in codes)
    return frozenset(one.row.group for one in _held(result, significance, leading(result)))


def held_or_hinted(result: RunResult) -> frozenset[Group]:
    """Groups that make a finding, or would without another group, and hints."""
    return significant_groups(result) | significant_groups(result, "nominal")


def explaining_axis(result: RunResult, one: Association, axes: AxisSet) -> str | None:
    """Return the related axis that may explain the differences of groups of `axes`; None if it cannot.

    It may if its own groups are marked, since a cause differs more than its effect, or if none was tested.
    """
    inside = {one.first, one.second} & set(axes)
    if len(inside) != 1:
        return None
    other = one.second if one.first in inside else one.first
    alone = {row.group for row in result.groups if row.group.axes == (other,)}
    return other if not alone or alone & held_or_hinted(result) else None


def still_differing(result: RunResult, found: GivenResult) -> frozenset[Group]:
    """Groups that still differ given an axis: by all their tests together, at p < 0.05.

    This explains a verdict, as leaving out raters does, so it is not corrected again. Without verdicts, these
    are the groups that make a finding given the axis.
    """
    if any(row.verdict is not None for row in found.groups):
        return frozenset(row.group for row in found.groups if row.verdict and _or_1(row.verdict.p) < LEVEL)
    return significant_groups(replace(result, groups=found.groups))


def leading(result: RunResult) -> tuple[str, ...]:
    """Label use and the statistics that make findings."""
    return (LABEL_USE, "distance", lead_statistic(result))


def nearest(result: RunResult) -> tuple[Finding, ...]:
    """Hints, which are no findings, strongest first; without verdicts, nominal marks."""
    if judged(result):
        return of_verdict(result, "hint")
    held = {one.row.group for one in _held(result, "corrected", REPORT_ORDER)}
    marked = [one for one in _held(result, "nominal", leading(result)) if one.row.group not in held]
    near = _told_once(marked, result)
    return tuple(sorted(near, key=lambda one: (_or_1(one.outcome.q), -one.size)))


def count_groups(found: Sequence[Finding]) -> int:
    """Number of groups that findings are about; two halves of an axis are two."""
    return sum(len(one.groups) for one in found)


def _or_1(value: float | None) -> float:
    return 1.0 if value is None else value


def named_groups(result: RunResult) -> dict[str, GroupResult]:
    """The groups by unique names, in the run's order."""
    names = group_labels([row.group for row in result.groups])
    return dict(zip(names, result.groups, strict=True))


def _held(result: RunResult, significance: Significance, what: Sequence[str]) -> list[Finding]:
    """A finding per group: its first test of `what` with this mark; others with this mark are `further`."""
    found = []
    for name, row in named_groups(result).items():
        held = [one for one in evidence(row, name) if one.outcome.significance == significance]
        first = next((one for one in held if one.what in what), None)
        if first is not None:
            found.append(replace(first, further=tuple(one for one in held if one is not first)))
    return found


def _told_once(found: Sequence[Finding], result: RunResult) -> list[Finding]:
    """Merge findings that say the same about two halves of an axis."""
    of_axes: dict[AxisSet, list[str]] = defaultdict(list)
    named = named_groups(result)
    for name, row in named.items():
        of_axes[row.group.axes].append(name)
    halves: dict[str, str] = {}
    for names in of_axes.values():
        if len(names) == 2 and _mirrored(named[names[0]], named[names[1]]):
            halves |= {names[0]: names[1], names[1]: names[0]}
    by_name = {one.name: one for one in found}
    told: list[Finding] = []
    for one in found:
        other = by_name.get(halves.get(one.name, ""))
        if other is None or one.what not in SYMMETRIC or other.what != one.what:
            told.append(one)
        elif one.name < other.name:
            told.append(_merged_halves(one, other))
    return told


def _mirrored(a: GroupResult, b: GroupResult) -> bool:
    """Return whether two groups are each other's complement: equal symmetric statistics, opposite shifts."""
    names = [name for name in SYMMETRIC if name in a.statistics and name in b.statistics]
    between = [(a.statistics[name].value, b.statistics[name].value) for name in names]
    if a.label_use is not None and b.label_use is not None:
        other = b.label_use.labels
        between += [
            (shift.value, -(other[label].value or 0.0))
            for label, shift in a.label_use.labels.items()
            if label in other
        ]
    known = [(one, two) for one, two in between if one is not None and two is not None]
    return bool(known) and all(math.isclose(one, two, abs_tol=1e-9) for one, two in known)


def _less_united_first(one: Finding) -> Finding:
    """Put the half that agrees less with itself first, unless the halves use labels differently."""
    less = one.less_united
    if less is None or less is not one.other or one.what == LABEL_USE:
        return one
    further = one.further if one.what in SYMMETRIC else less.further
    return replace(less, further=further, other=replace(one, other=None))


def _merged_halves(one: Finding, other: Finding) -> Finding:
    """Merge two halves of an axis; the half that says the label more often comes first."""
    shift = of_labels(one.row, one.name)
    first, second = (other, one) if shift is not None and shift.value < 0 else (one, other)
    own = [part for part in second.further if part.what not in SYMMETRIC]
    further = sorted((*first.further, *own), key=lambda part: REPORT_ORDER.index(part.what))
    return replace(first, further=tuple(further), other=second)
