"""The answer in words, for people who manage annotation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grasp_core.outcome import Outcome
from grasp_core.report.findings.advice import advice
from grasp_core.report.findings.doubts import About, doubted, doubts, told
from grasp_core.report.findings.finding import Doubt, Finding, interval_note, lead
from grasp_core.report.findings.findings import beside, count_groups, nearest, stand_out
from grasp_core.report.findings.warned import Warned, warned
from grasp_core.report.tables.groups import effect
from grasp_core.report.words.names import (
    FALSE_POSITIVE_RATE,
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
from grasp_core.result import DsiResult, RunResult
from grasp_core.wording import number

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

    Only what holds after correction is called a finding; what holds nominally is listed apart, beside the
    number of groups that chance alone would mark. Of a finding its size comes first, then its test.
    """
    found, aside = told(result), [doubted(one, result) for one in beside(result)]
    near = [doubted(one, result) for one in nearest(result)]
    details = [*(one.backed for one in found[:_LISTED]), *interval_note(found[:_LISTED])]
    if len(found) > _LISTED:
        details.append(Sentence.of("After correction, too: ", *_listing(found[_LISTED:]), "."))
    if aside:
        why = "After correction, but in other statistics alone, of which each is corrected by itself: "
        details.append(Sentence.of(why, *_listing(aside), "."))
    if near:
        details.append(Sentence.of("Nominally only, so not a finding: ", *_listing(near), "."))
    details += by_chance(result)
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


def by_chance(result: RunResult) -> tuple[Sentence, ...]:
    """How many groups chance alone would mark; nothing where none was tested."""
    tested = _tested(result)
    if not tested:
        return ()
    convention = result.spec.analysis.p_value
    expected = FALSE_POSITIVE_RATE[convention] * tested
    amount = "fewer than 1" if expected < 0.95 else f"about {expected:.0f}"
    caveat = (
        ": the paper’s p-value picks its side from the data and so marks about 10 %, "
        "which the correction does not undo."
        if convention == "paper"
        else "; the correction allows for that."
    )
    tests = number(tested, "group")
    return (Sentence.of(f"By chance alone, each test would mark {amount} of {tests} at p < 0.05{caveat}"),)


def _tested(result: RunResult) -> int:
    """Groups of which something was tested."""
    return sum(
        any(outcome.p is not None for outcome in row.statistics.values())
        or (row.label_use is not None and row.label_use.p is not None)
        for row in result.groups
    )


def _no_finding(result: RunResult, near: Sequence[Finding]) -> Sentence:
    tested = _tested(result)
    if not result.groups:
        return Sentence.of("No answer: there is no group to show")
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
    """Along which axes it matters who is recruited."""
    ranked = sorted(
        (row for row in result.dsi if row.outcome.value is not None),
        key=lambda row: -(row.outcome.value or 0.0),
    )
    if not ranked:
        return ()
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
    verdict = {
        "nominal": "nominally more than the groups of chance groupings reach, but not after correction",
        "none": "no more than the groups of chance groupings may reach",
        "corrected": "",
    }[ranked[0].outcome.significance]
    if ranked[0].outcome.p is None:
        verdict = "it could not be tested"
    close = "" if watch else ". No axis is established as one to watch"
    return (
        *sentences,
        Sentence.of("The largest DSI is that of ", *_axis_parts(result, ranked[0]), f": {verdict}{close}."),
    )


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
