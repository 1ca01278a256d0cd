"""The answer in words, for people who manage annotation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grasp_core.model.groups import axis_label, group_labels
from grasp_core.model.outcome import FEWEST_CLEAR, Outcome
from grasp_core.model.result import DsiResult, GroupResult, RunResult
from grasp_core.model.spec import LEVEL
from grasp_core.model.text import Segment, Sentence, agree
from grasp_core.report.everybody import agreement_details, agreement_title
from grasp_core.report.findings.advice import About, advice, doubted, doubts, first_names, told
from grasp_core.report.findings.finding import Finding, lead
from grasp_core.report.findings.findings import judged, nearest, of_verdict
from grasp_core.report.findings.mending import Warned, warned
from grasp_core.report.findings.title import UNTESTABLE, counts, how_sure, title
from grasp_core.report.tables import effect, ordered_dsi
from grasp_core.report.words.names import (
    VERDICT_NAMES,
    WORDS,
    format_p,
    format_value,
    lead_statistic,
    outcome_of,
    p_words,
)

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

    The headline is the clearest finding in one sentence. Groups that another one explains, and those that
    may differ by luck, are listed apart. Of a finding its size comes first, then its test.
    """
    if result.of_everybody:
        return Answer(agreement_title(result), warned(result), agreement_details(result))
    found = told(result)
    near = [doubted(one, result) for one in nearest(result)]
    counted = counts(result, found)
    details = [] if counted is None else [counted]
    details += [one.backed for one in found[:_LISTED]]
    if len(found) > _LISTED:
        details.append(Sentence.of("After correction, too: ", *_listing(found[_LISTED:]), "."))
    details += _explained(result)
    if near:
        details.append(Sentence.of("May be luck: ", *_listing(near), "."))
    details += _undecided(result)
    details += how_sure(result, found)
    details += axes_to_watch(result)
    to_do = advice(result, found)
    details += [Sentence.of("What to do: ", *one.segments) for one in to_do[:1]]
    details += to_do[1:]
    details += _not_estimable(result)
    return Answer(title(result, found), warned(result), tuple(details))


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
            *first_names(names),
            f" {agree(len(names), 'differs', 'differ')} too, but no longer once the raters of ",
            Segment(by, strong=True),
            f" are left out: they explain {agree(len(names), 'it', 'them')}.",
        )
        for by, names in of.items()
    ]


def _undecided(result: RunResult) -> tuple[Sentence, ...]:
    """Why groups whose q is below the level are hints all the same."""
    near = [one for one in of_verdict(result, "hint") if one.verdict and (one.verdict.q or 0.0) < LEVEL]
    if not near:
        return ()
    names = first_names([one.title for one in near])
    if result.permutations < FEWEST_CLEAR:
        least = f"nothing is called clear with fewer than {FEWEST_CLEAR:,} permutations. Run it with more."
        return (Sentence.of("Of ", *names, " q is below 0.05, but ", least),)
    why = " q is below 0.05 by so little that other permutations may say otherwise: a hint, no finding."
    return (Sentence.of("Of ", *names, why),)


def _listing(found: Sequence[Finding]) -> list[str | Segment]:
    parts: list[str | Segment] = []
    for position, one in enumerate(found[:_LISTED]):
        parts += ["; " if position else "", Segment(one.title, strong=True), f" ({one.figures})"]
    if len(found) > _LISTED:
        parts.append(f"; and {len(found) - _LISTED} more")
    return parts


def axes_to_watch(result: RunResult) -> tuple[Sentence, ...]:
    """Along which axes it matters who is recruited: those of clear groups, with how far their GAI reaches.

    Without verdicts it is those whose DSI holds.
    """
    ranked = [row for row in ordered_dsi(result) if row.outcome.value is not None]
    if not ranked:
        return ()
    if judged(result):
        return tuple(_by_verdicts(result, ranked))
    watch = [row for row in ranked if row.outcome.significance == "corrected"]
    sentences = [
        Sentence.of(
            lead(
                of_axis := doubts(result, About(row.axes, () if row.group is None else (row.group,), "gai"))
            ),
            "Watch ",
            *_axis_parts(result, row),
            ": more than the groups of random groupings reach",
            "." if any(one.undoes for one in of_axis) else ", so who is recruited along it matters.",
        )
        for row in watch[:3]
    ]
    if ranked[0] in watch:
        return tuple(sentences)
    said = {
        "nominal": "more than the groups of random groupings reach, which may be luck",
        "none": "no more than the groups of random groupings may reach",
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
            *first_names(groups),
            " raters answer differently.",
        )
    if ranked[0].axes not in along:
        of_largest = "no group of it is clear" if along else "no group is clear, so no axis is to be watched"
        yield Sentence.of("The largest DSI is that of ", *_axis_parts(result, ranked[0]), f": {of_largest}.")


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
        Sentence.of(f"{WORDS[lead].name} is not estimable for ", *first_names(found), f": {reason}.")
        for reason, found in reasons.items()
    ]
