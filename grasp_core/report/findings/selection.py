"""Findings: what holds of each group, which of it is told first, and what could have been found."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from grasp_core.model.groups import AxisSet, Group, group_labels
from grasp_core.model.outcome import Histogram, Kind, Outcome, PairResult, Significance, Verdict, VerdictCode
from grasp_core.model.result import Association, GivenResult, GroupResult, RunResult
from grasp_core.model.spec import LEVEL
from grasp_core.model.statistic import TABLE
from grasp_core.report.findings.finding import LABEL_USE, SPREAD, SYMMETRIC, Finding
from grasp_core.report.words.label_use import centre, foremost, interval_of, tested_as
from grasp_core.report.words.names import InPlaceOfGai, lead_statistic, told_of

TOLD_FIRST = (LABEL_USE, *sorted(TABLE, key=lambda name: TABLE[name].told), SPREAD)
"""What is told of a group, in the order in which people ask: what it says differently comes first."""
_OF_KIND: Mapping[Kind, tuple[str, ...]] = {
    "labels": (LABEL_USE,),
    "items": ("distance",),
    "cohesion": ("gai", "gap"),
    "spread": (SPREAD,),
}
"""What is told of each kind of difference, the first that has a value."""


def evidence(row: GroupResult, name: str) -> tuple[Finding, ...]:
    """All that has a value of one group, in the order in which it is told."""
    found = []
    for what in TOLD_FIRST:
        if what == LABEL_USE:
            one = of_labels(row, name)
            found += [] if one is None else [one]
            continue
        outcome = row.statistics.get(what) and told_of(row, what)
        if outcome is not None and outcome.value is not None and not isinstance(outcome, InPlaceOfGai):
            found.append(Finding(row, name, what, replace(outcome, null=_drawn(outcome.null))))
    return tuple(found)


def of_labels(row: GroupResult, name: str) -> Finding | None:
    """A group's label use, unless it has no value."""
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
    """The null distribution, where any shuffled value had one."""
    return None if null is None or not any(null.counts) else null


def judged(result: RunResult) -> bool:
    """Whether its groups have verdicts; those of earlier versions and of runs that go on have none."""
    return any(row.verdict is not None for row in result.groups)


def findings(result: RunResult) -> tuple[Finding, ...]:
    """Groups whose verdict is clear, strongest first: one finding a group, or for both halves of an axis."""
    if judged(result):
        return of_verdict(result, "clear")
    told = _told_once(_held(result, "corrected", leading(result)), result)
    return tuple(sorted(told, key=lambda one: (TOLD_FIRST.index(one.what), -one.size)))


def of_verdict(result: RunResult, code: VerdictCode) -> tuple[Finding, ...]:
    """The groups of one verdict, strongest first; both halves of an axis as one."""
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
                one = _together(one, half)
            else:
                first, second = sorted((one, half), key=lambda half: (_or_1(half.outcome.p), half.name))
                one = replace(first, other=second)
        found.append(one)

    def evidence_of(one: Finding) -> tuple[float, float]:
        known = one.verdict
        return (1.0, 0.0) if known is None else (_or_1(known.p), -(known.strength or 0.0))

    return tuple(sorted(found, key=evidence_of))


def by_verdict(result: RunResult) -> tuple[Finding, ...]:
    """Every group that was tested, both halves of an axis as one: clear ones first, then the strongest."""
    codes: tuple[VerdictCode, ...] = ("clear", "hint", "explained", "none")
    return tuple(one for code in codes for one in of_verdict(result, code))


def _of_kinds(row: GroupResult, name: str, verdict: Verdict) -> Finding:
    """What a group does differently: the first kind that holds, then the others."""
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
    """The same with the mark of the verdict, by whichever test it came."""
    mark: Significance = "nominal" if verdict.code == "hint" else "corrected"
    return replace(one, outcome=replace(one.outcome, significance=mark))


def standing_pair(result: RunResult) -> PairResult | None:
    """The strongest pair, where no group is clear and it holds over groups and pairs together.

    Groups and pairs are two families, each corrected by itself; where the first shows nothing, the second
    has half of the level (Holm 1979).
    """
    if not judged(result) or of_verdict(result, "clear") or of_verdict(result, "explained"):
        return None
    clear = [(one.p or 0.0, row) for row in result.pairs if (one := row.verdict) and one.code == "clear"]
    holding = [
        (p, row)
        for p, row in clear
        if row.verdict and 2 * max(_or_1(row.verdict.q), _or_1(row.verdict.bound)) < LEVEL
    ]
    return min(holding, key=lambda found: found[0])[1] if holding else None


def held_groups(result: RunResult, significance: Significance = "corrected") -> frozenset[Group]:
    """The groups of which something makes a finding or would, but for another one, or is a hint."""
    if judged(result):
        codes = ("clear", "explained") if significance == "corrected" else ("hint",)
        return frozenset(row.group for row in result.groups if row.verdict and row.verdict.code in codes)
    return frozenset(one.row.group for one in _held(result, significance, leading(result)))


def held_or_hinted(result: RunResult) -> frozenset[Group]:
    """The groups that make a finding or would, but for another one, and those that are hints."""
    return held_groups(result) | held_groups(result, "nominal")


def may_stand_behind(result: RunResult, one: Association, axes: AxisSet) -> str | None:
    """Which of two axes that go together may be what groups of `axes` show, which hold the other; or None.

    Groups of it are marked, since it has more of what it lends, or no group of it was tested.
    """
    inside = {one.first, one.second} & set(axes)
    if len(inside) != 1:
        return None
    other = one.second if one.first in inside else one.first
    alone = {row.group for row in result.groups if row.group.axes == (other,)}
    return other if not alone or alone & held_or_hinted(result) else None


def left_given(result: RunResult, found: GivenResult) -> frozenset[Group]:
    """The groups of which something is left given an axis: all their tests together, at p < 0.05.

    It explains what a verdict found, as leaving out raters does, so it is not corrected once more. Without
    verdicts it is what makes a finding there.
    """
    if any(row.verdict is not None for row in found.groups):
        known = ((row.group, row.verdict) for row in found.groups)
        return frozenset(
            group for group, one in known if one is not None and one.p is not None and one.p < LEVEL
        )
    return held_groups(replace(result, groups=found.groups))


def leading(result: RunResult) -> tuple[str, ...]:
    """What makes a finding: label use and the statistics that do."""
    return (LABEL_USE, "distance", lead_statistic(result))


def nearest(result: RunResult) -> tuple[Finding, ...]:
    """Hints, which are no findings, strongest first; without verdicts what may be luck."""
    if judged(result):
        return of_verdict(result, "hint")
    held = {one.row.group for one in _held(result, "corrected", TOLD_FIRST)}
    marked = [one for one in _held(result, "nominal", leading(result)) if one.row.group not in held]
    near = _told_once(marked, result)
    return tuple(sorted(near, key=lambda one: (_or_1(one.outcome.q), -one.size)))


def count_groups(found: Sequence[Finding]) -> int:
    """How many groups findings are about; both halves of an axis are two."""
    return sum(len(one.groups) for one in found)


def _or_1(value: float | None) -> float:
    return 1.0 if value is None else value


def named_groups(result: RunResult) -> dict[str, GroupResult]:
    """The groups by the names that tell them apart, in the run's order."""
    names = group_labels([row.group for row in result.groups])
    return dict(zip(names, result.groups, strict=True))


def _held(result: RunResult, significance: Significance, what: Sequence[str]) -> list[Finding]:
    """What is told first of what holds so far of each group, and makes a finding; with all else that does."""
    found = []
    for name, row in named_groups(result).items():
        held = [one for one in evidence(row, name) if one.outcome.significance == significance]
        first = next((one for one in held if one.what in what), None)
        if first is not None:
            found.append(replace(first, further=tuple(one for one in held if one is not first)))
    return found


def _told_once(found: Sequence[Finding], result: RunResult) -> list[Finding]:
    """Findings of which those that say the same of both halves of an axis are one."""
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
            told.append(_together(one, other))
    return told


def _mirrored(a: GroupResult, b: GroupResult) -> bool:
    """Whether each is all the other is compared with: what lies between them is the same from either side."""
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


def _together(one: Finding, other: Finding) -> Finding:
    """Both halves, that first which says the label more often."""
    shift = of_labels(one.row, one.name)
    first, second = (other, one) if shift is not None and shift.value < 0 else (one, other)
    own = [part for part in second.further if part.what not in SYMMETRIC]
    further = sorted((*first.further, *own), key=lambda part: TOLD_FIRST.index(part.what))
    return replace(first, further=tuple(further), other=second)
