"""The answer in words, for people who manage annotation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from grasp_core.outcome import Outcome
from grasp_core.report.findings.advice import advice
from grasp_core.report.findings.doubts import About, doubted, doubts, told
from grasp_core.report.findings.finding import Doubt, Finding, interval_note, lead
from grasp_core.report.findings.findings import (
    beside,
    count_groups,
    judged,
    nearest,
    of_verdict,
    stand_out,
    standing_pair,
)
from grasp_core.report.findings.warned import Warned, warned
from grasp_core.report.tables.groups import effect
from grasp_core.report.words.label_use import manner
from grasp_core.report.words.names import (
    VERDICT_NAMES,
    WORDS,
    axis_label,
    format_p,
    format_value,
    group_labels,
    lead_statistic,
    outcome_of,
    p_words,
)
from grasp_core.report.words.text import Segment, Sentence
from grasp_core.result import DsiResult, GroupResult, RunResult
from grasp_core.spec import LEVEL
from grasp_core.verdict import FEWEST_CLEAR, Untestable
from grasp_core.wording import agree, number

HOW_SURE = "In 19 of 20 studies without any difference, nothing would be called clear."
HOW_SURE_BEFORE = (
    "Each statistic was corrected by itself: of studies without any difference, about one in eight has a "
    "finding by this rule of earlier versions. A new run gives one verdict a group."
)
UNTESTABLE: Mapping[Untestable, str] = {
    "nothing-moves": "nothing is left to shuffle",
    "few-raters": "so few regroupings are left that no p can be below 0.05",
    "other-items": "other items were rated than by the others, so shuffling says nothing",
    "other-workload": "raters gave far more or fewer annotations than the others, so shuffling says nothing",
    "few-permutations": "there are too few permutations",
    "not-estimable": "nothing that is tested has a value",
}
"""Why groups have no verdict."""
_LISTED = 5
"""Groups named in one sentence before the rest is only counted."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer: one headline, what a run warns of, and the sentences that back it."""

    headline: Sentence
    warned: Warned
    details: tuple[Sentence, ...]


def answer(result: RunResult) -> Answer:
    """Say which groups see the task differently, whether it is real, and what to do.

    Only a clear verdict is called a finding; groups that another one explains and hints are listed apart,
    with how often chance alone makes a finding. Of a finding its size comes first, then its test.
    """
    found, aside = told(result), [doubted(one, result) for one in beside(result)]
    near = [doubted(one, result) for one in nearest(result)]
    details = [*(one.backed for one in found[:_LISTED]), *interval_note(found[:_LISTED])]
    if len(found) > _LISTED:
        details.append(Sentence.of("After correction, too: ", *_listing(found[_LISTED:]), "."))
    details += _explained(result)
    if near:
        why = "Hints, which are no findings: " if judged(result) else "Nominally only, so not a finding: "
        details.append(Sentence.of(why, *_listing(near), "."))
    details += _undecided(result)
    if aside:
        why = "After correction, but in other statistics alone, of which each is corrected by itself: "
        if judged(result):
            why = "Marked in a table, where each statistic is corrected by itself, so no finding: "
        details.append(Sentence.of(why, *_listing(aside), "."))
    details += how_sure(result)
    details += axes_to_watch(result)
    details += advice(result, found)
    details += _not_estimable(result)
    headline = stand_out(found, result) if found else _no_finding(result, near)
    return Answer(headline, warned(result), tuple(details))


def strength(outcome: Outcome) -> tuple[float, float, float]:
    """A key that sorts outcomes by their evidence, strongest first: by q, then p, then effect."""
    return (
        1.0 if outcome.q is None else outcome.q,
        1.0 if outcome.p is None else outcome.p,
        -(effect(outcome) or 0.0),
    )


def verdict_sentence(row: GroupResult) -> Sentence | None:
    """What all tests of a group say together; None without a verdict."""
    verdict = row.verdict
    if verdict is None:
        return None
    if verdict.why is not None:
        return Sentence.of("No verdict: ", UNTESTABLE[verdict.why], ".")
    tests = f"all tests together {format_p(verdict.p)}, {format_p(verdict.q, name='q')}"
    by: list[str | Segment] = []
    if verdict.by is not None:
        by = [
            ": without the raters of ",
            Segment(group_labels([verdict.by])[0], strong=True),
            " nothing is left",
        ]
    return Sentence.of(
        "Verdict: ", Segment(VERDICT_NAMES[verdict.code], strong=True), f" ({tests})", *by, "."
    )


def how_sure(result: RunResult) -> tuple[Sentence, ...]:
    """How often chance alone makes a finding by the rule used; nothing where no group was tested."""
    if not _tested(result):
        return ()
    if judged(result):
        return (Sentence.of(HOW_SURE),)
    return (Sentence.of(HOW_SURE_BEFORE),)


def _explained(result: RunResult) -> list[Sentence]:
    """Groups that would be clear, but for the raters of another one."""
    of: dict[str, list[str]] = {}
    for one in of_verdict(result, "explained"):
        by = None if one.verdict is None else one.verdict.by
        of.setdefault("a group that is not shown" if by is None else group_labels([by])[0], []).append(
            one.title
        )
    return [
        Sentence.of(
            *_names(names),
            f" {agree(len(names), 'differs', 'differ')} too, but no longer without the raters of ",
            Segment(by, strong=True),
            f", {agree(len(names), 'which explains it', 'which explains them')}: no finding of "
            f"{agree(len(names), 'its', 'their')} own.",
        )
        for by, names in of.items()
    ]


def _undecided(result: RunResult) -> tuple[Sentence, ...]:
    """Why groups whose q is below the level are hints all the same."""
    near = [one for one in of_verdict(result, "hint") if one.verdict and (one.verdict.q or 0.0) < LEVEL]
    if not near:
        return ()
    names = _names([one.title for one in near])
    if result.permutations < FEWEST_CLEAR:
        least = f"nothing is called clear with fewer than {FEWEST_CLEAR:,} permutations. Run it with more."
        return (Sentence.of("Of ", *names, " q is below 0.05, but ", least),)
    why = " q is below 0.05 by so little that other permutations may say otherwise: a hint, no finding."
    return (Sentence.of("Of ", *names, why),)


def _tested(result: RunResult) -> int:
    """Groups that have a verdict; without verdicts those of which something was tested."""
    if judged(result):
        return sum(row.verdict is not None and row.verdict.code != "untestable" for row in result.groups)
    return sum(
        any(outcome.p is not None for outcome in row.statistics.values())
        or (row.label_use is not None and row.label_use.p is not None)
        for row in result.groups
    )


def _no_finding(result: RunResult, near: Sequence[Finding]) -> Sentence:
    tested = _tested(result)
    if not result.groups:
        return Sentence.of("No answer: there is no group to show")
    if judged(result):
        return _nothing_clear(result, near)
    lead = lead_statistic(result)
    if not tested:
        return Sentence.of(f"No answer: {WORDS[lead].name} could not be tested for any group")
    stuck = sum(row.least_p is not None for row in result.groups)
    if stuck == len(result.groups):
        return Sentence.of("No answer: so few regroupings are left that no p can be below 0.05")
    could_not = f"; of {number(stuck, 'group')} no p could be below 0.05" if stuck else ""
    if near:
        marked = count_groups(near)
        return Sentence.of(
            f"No group stands out after correction for testing {number(tested, 'group')}; "
            f"{marked} nominally {'does' if marked == 1 else 'do'}{could_not}"
        )
    none = "the one group tested does not differ" if tested == 1 else f"none of {tested} groups differs"
    return Sentence.of(f"No group stands out: {none} from chance groupings reliably{could_not}")


def _nothing_clear(result: RunResult, near: Sequence[Finding]) -> Sentence:
    """Where no verdict is clear: two groups that are, what of it is a hint, and what could not be tested."""
    pair = standing_pair(result)
    if pair is not None:
        a, b = (Segment(name, strong=True) for name in group_labels([pair.a, pair.b]))
        labels = pair.label_use if pair.verdict and "labels" in pair.verdict.kinds else None
        said = () if labels is None else manner(labels, b)
        how = (": ", a, " ", *said) if said else ()
        return Sentence.of("No group stands out from all others, but ", a, " and ", b, " raters differ", *how)
    tested, groups = _tested(result), len(result.groups)
    why = Counter(row.verdict.why for row in result.groups if row.verdict and row.verdict.why)
    reasons = "; ".join(f"of {number(many, 'group')} {UNTESTABLE[one]}" for one, many in why.items())
    if not tested:
        return Sentence.of(f"No answer: {reasons}")
    could_not = f"; {reasons}" if reasons else ""
    if near:
        hints = number(count_groups(near), "group")
        return Sentence.of(
            f"No group stands out for certain; of {hints} of {groups} there is a hint{could_not}"
        )
    none = "the one group tested does not differ" if tested == 1 else f"none of {tested} groups differs"
    return Sentence.of(f"No group stands out: {none} from chance groupings reliably{could_not}")


def _listing(found: Sequence[Finding]) -> list[str | Segment]:
    parts: list[str | Segment] = []
    for position, one in enumerate(found[:_LISTED]):
        parts += ["; " if position else "", Segment(one.title, strong=True), f" ({one.figures})"]
    if len(found) > _LISTED:
        parts.append(f"; and {len(found) - _LISTED} more")
    return parts


def _names(names: Sequence[str]) -> list[str | Segment]:
    shown = names[:3]
    rest = len(names) - len(shown)
    parts: list[str | Segment] = []
    for position, name in enumerate(shown):
        last = position == len(shown) - 1 and not rest
        parts += ["" if not position else "; and " if last else "; ", Segment(name, strong=True)]
    return [*parts, f"; and {rest} more"] if rest else parts


def axes_to_watch(result: RunResult) -> tuple[Sentence, ...]:
    """Along which axes it matters who is recruited: those of clear groups, with how far their GAI reaches.

    Without verdicts it is those whose DSI holds.
    """
    ranked = sorted(
        (row for row in result.dsi if row.outcome.value is not None),
        key=lambda row: -(row.outcome.value or 0.0),
    )
    if not ranked:
        return ()
    if judged(result):
        return tuple(_by_verdicts(result, ranked))
    watch = [row for row in ranked if row.outcome.significance == "corrected"]
    sentences = [
        Sentence.of(
            lead(of_axis := _doubts(result, row)),
            "Watch ",
            *_axis_parts(result, row),
            ": more than the groups of chance groupings reach",
            "." if any(one.undoes for one in of_axis) else ", so who is recruited along it matters.",
        )
        for row in watch[:3]
    ]
    if ranked[0] in watch:
        return tuple(sentences)
    said = {
        "nominal": "nominally more than the groups of chance groupings reach, but not after correction",
        "none": "no more than the groups of chance groupings may reach",
        "corrected": "",
    }[ranked[0].outcome.significance]
    if ranked[0].outcome.p is None:
        said = "it could not be tested"
    close = "" if watch else ". No axis is established as one to watch"
    return (
        *sentences,
        Sentence.of("The largest DSI is that of ", *_axis_parts(result, ranked[0]), f": {said}{close}."),
    )


def _by_verdicts(result: RunResult, ranked: Sequence[DsiResult]) -> Iterator[Sentence]:
    certain = [one for one in told(result) if not one.undone]
    along = list(dict.fromkeys(one.row.group.axes for one in certain))
    known = {row.axes: row for row in ranked}
    for axes in along[:3]:
        groups = [name for one in certain if one.row.group.axes == axes for name in one.names]
        axis = _axis_parts(result, known[axes]) if axes in known else [Segment(axis_label(axes), strong=True)]
        yield Sentence.of(
            "Watch ",
            *axis,
            ": who is recruited along it matters, since ",
            *_names(groups),
            " stand",
            "s" if len(groups) == 1 else "",
            " out.",
        )
    if ranked[0].axes not in along:
        of_largest = "no group of it is clear" if along else "no group is clear, so no axis is to be watched"
        yield Sentence.of("The largest DSI is that of ", *_axis_parts(result, ranked[0]), f": {of_largest}.")


def _doubts(result: RunResult, row: DsiResult) -> tuple[Doubt, ...]:
    groups = () if row.group is None else (row.group,)
    return doubts(result, About(row.axes, groups, "gai"))


def _axis_parts(result: RunResult, row: DsiResult) -> list[str | Segment]:
    permutations = result.permutations
    group = "" if row.group is None else ", attained by "
    return [
        Segment(axis_label(row.axes), strong=True),
        f" (DSI {format_value(row.outcome.value)}{group}",
        Segment("" if row.group is None else group_labels([row.group])[0], strong=True),
        f"; {p_words(row.outcome, permutations=permutations)}, "
        f"{format_p(row.outcome.q, name='q', permutations=permutations)})",
    ]


def _not_estimable(result: RunResult) -> list[Sentence]:
    """Groups without a value of the lead statistic."""
    lead = lead_statistic(result)
    reasons: dict[str, list[str]] = {}
    names = group_labels([row.group for row in result.groups])
    for name, row in zip(names, result.groups, strict=True):
        outcome = outcome_of(row, lead)
        if outcome.value is None:
            reasons.setdefault(str(outcome.reason or "no reason given"), []).append(name)
    return [
        Sentence.of(f"{WORDS[lead].name} is not estimable for ", *_names(found), f": {reason}.")
        for reason, found in reasons.items()
    ]
