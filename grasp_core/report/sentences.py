"""The answer in words, for people who manage annotation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grasp_core.outcome import Outcome, Significance
from grasp_core.report.tables import effect
from grasp_core.report.text import Segment, Sentence
from grasp_core.report.words import (
    FALSE_POSITIVE_RATE,
    WORDS,
    arrow,
    axis_label,
    format_interval,
    format_p,
    format_value,
    group_labels,
    lead_statistic,
    outcome_of,
    reported_statistics,
)
from grasp_core.result import DsiResult, GroupResult, RunResult
from grasp_core.wording import number

_LISTED = 5
"""Groups named in one sentence before the rest is only counted."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer: one headline, and the sentences that back it."""

    headline: Sentence
    details: tuple[Sentence, ...]


@dataclass(frozen=True, slots=True)
class _Finding:
    name: str
    row: GroupResult
    outcome: Outcome


def answer(result: RunResult) -> Answer:
    """Say which groups see the task differently, and whether it is real.

    Only what holds after correction is called a finding; what holds nominally is listed apart,
    beside the number of groups that chance alone would mark.
    """
    lead = lead_statistic(result)
    findings = _findings(result, lead)
    corrected = _with(findings, "corrected")
    nominal = _with(findings, "nominal")
    details = [_group_sentence(result, lead, finding) for finding in corrected[:_LISTED]]
    if len(corrected) > _LISTED:
        details.append(
            Sentence.of("After correction, too: ", *_listing(result, lead, corrected[_LISTED:]), ".")
        )
    if nominal:
        details.append(
            Sentence.of("Nominally only, so not a finding: ", *_listing(result, lead, nominal), ".")
        )
    details += _chance(result, findings)
    details += _axes(result)
    details += _other_statistics(result, lead)
    details += _not_estimable(lead, findings)
    return Answer(_headline(result, lead, findings), tuple(details))


def by_chance(result: RunResult) -> tuple[Sentence, ...]:
    """How many groups chance alone would mark; nothing where none was tested."""
    return tuple(_chance(result, _findings(result, lead_statistic(result))))


def axes_to_watch(result: RunResult) -> tuple[Sentence, ...]:
    """Along which axes it matters who is recruited."""
    return tuple(_axes(result))


def _findings(result: RunResult, statistic: str) -> list[_Finding]:
    names = group_labels([row.group for row in result.groups])
    rows = [
        _Finding(name, row, outcome_of(row, statistic))
        for name, row in zip(names, result.groups, strict=True)
    ]
    return sorted(rows, key=lambda finding: strength(finding.outcome))


def strength(outcome: Outcome) -> tuple[float, float, float]:
    """A key that sorts outcomes by their evidence, strongest first: by q, then p, then effect."""
    return (
        1.0 if outcome.q is None else outcome.q,
        1.0 if outcome.p is None else outcome.p,
        -(effect(outcome) or 0.0),
    )


def _with(findings: Sequence[_Finding], significance: Significance) -> list[_Finding]:
    return [finding for finding in findings if finding.outcome.significance == significance]


def _headline(result: RunResult, lead: str, findings: Sequence[_Finding]) -> Sentence:
    name = WORDS[lead].name
    tested = sum(finding.outcome.p is not None for finding in findings)
    corrected = _with(findings, "corrected")
    nominal = _with(findings, "nominal")
    elsewhere = _corrected_elsewhere(result, lead)
    stand = "stands out" if elsewhere == 1 else "stand out"
    but = f"; on other statistics, {number(elsewhere, 'group')} {stand}" if elsewhere else ""
    if not findings:
        return Sentence.of("No answer: there is no group to show")
    if not tested:
        return Sentence.of(f"No answer: {name} could not be tested for any group{but}")
    if len(corrected) == 1:
        return Sentence.of(_strong(corrected[0]), f" raters stand out: they {_manner(lead, corrected[0])}")
    if corrected:
        return Sentence.of(
            f"{len(corrected)} of {number(tested, 'group')} stand out, even after correction: ",
            *_names(corrected),
        )
    if nominal:
        return Sentence.of(
            f"No group’s {name} stands out after correction for testing {number(tested, 'group')}; "
            f"{len(nominal)} nominally {'does' if len(nominal) == 1 else 'do'}{but}"
        )
    none = "the one group tested does not differ" if tested == 1 else f"none of {tested} groups differs"
    return Sentence.of(f"No group’s {name} stands out: {none} from chance groupings reliably{but}")


def _corrected_elsewhere(result: RunResult, lead: str) -> int:
    others = [name for name in reported_statistics(result) if name != lead]
    return sum(
        any(outcome_of(row, name).significance == "corrected" for name in others) for row in result.groups
    )


def _group_sentence(result: RunResult, lead: str, finding: _Finding) -> Sentence:
    return Sentence.of(
        _strong(finding),
        f" raters (n = {finding.row.n_raters}) {_manner(lead, finding)}: ",
        f"{_numbers(result, lead, finding.outcome)}.",
    )


def _manner(statistic: str, finding: _Finding) -> str:
    words = WORDS[statistic]
    return f"{words.less if finding.outcome.direction == 'down' else words.more} than chance groupings would"


def _numbers(result: RunResult, statistic: str, outcome: Outcome) -> str:
    permutations = result.permutations
    return ", ".join(
        [
            f"{WORDS[statistic].name} {format_value(outcome.value)} {format_interval(outcome)}".rstrip(),
            format_p(outcome.p, permutations=permutations),
            format_p(outcome.q, name="q", permutations=permutations),
        ]
    )


def _listing(result: RunResult, statistic: str, findings: Sequence[_Finding]) -> list[str | Segment]:
    parts: list[str | Segment] = []
    for position, finding in enumerate(findings[:_LISTED]):
        separator = "; " if position else ""
        parts += [
            separator,
            _strong(finding),
            f" ({arrow(finding.outcome)} {_numbers(result, statistic, finding.outcome)})",
        ]
    if len(findings) > _LISTED:
        parts.append(f"; and {len(findings) - _LISTED} more")
    return parts


def _names(findings: Sequence[_Finding]) -> list[str | Segment]:
    shown = findings[:3]
    rest = len(findings) - len(shown)
    parts: list[str | Segment] = []
    for position, finding in enumerate(shown):
        last = position == len(shown) - 1 and not rest
        parts += ["" if not position else "; and " if last else "; ", _strong(finding)]
    return [*parts, f"; and {rest} more"] if rest else parts


def _strong(finding: _Finding) -> Segment:
    return Segment(finding.name, strong=True)


def _chance(result: RunResult, findings: Sequence[_Finding]) -> list[Sentence]:
    tested = sum(finding.outcome.p is not None for finding in findings)
    if not tested:
        return []
    convention = result.spec.analysis.p_value
    rate = FALSE_POSITIVE_RATE[convention]
    expected = rate * tested
    amount = "fewer than 1" if expected < 0.95 else f"about {expected:.0f}"
    caveat = (
        ": the paper’s p-value picks its side from the data and so marks about 10 %, "
        "which the correction does not undo."
        if convention == "paper"
        else "; the correction allows for that."
    )
    tests = number(tested, "group")
    return [Sentence.of(f"By chance alone, {amount} of {tests} would be marked at p < 0.05{caveat}")]


def _axes(result: RunResult) -> list[Sentence]:
    ranked = sorted(
        (row for row in result.dsi if row.outcome.value is not None),
        key=lambda row: -(row.outcome.value or 0.0),
    )
    if not ranked:
        return []
    watch = [row for row in ranked if row.outcome.significance == "corrected"]
    sentences = [
        Sentence.of(
            "Watch ",
            *_axis_parts(result, row),
            ": more than the groups of chance groupings reach, so who is recruited along it matters.",
        )
        for row in watch[:3]
    ]
    if ranked[0] in watch:
        return sentences
    verdict = {
        "nominal": "nominally more than the groups of chance groupings reach, but not after correction",
        "none": "no more than the groups of chance groupings may reach",
        "corrected": "",
    }[ranked[0].outcome.significance]
    if ranked[0].outcome.p is None:
        verdict = "it could not be tested"
    close = "" if watch else ". No axis is established as one to watch"
    return [
        *sentences,
        Sentence.of("The largest DSI is that of ", *_axis_parts(result, ranked[0]), f": {verdict}{close}."),
    ]


def _axis_parts(result: RunResult, row: DsiResult) -> list[str | Segment]:
    permutations = result.permutations
    group = "" if row.group is None else ", attained by "
    return [
        Segment(axis_label(row.axes), strong=True),
        f" (DSI {format_value(row.outcome.value)}{group}",
        Segment("" if row.group is None else group_labels([row.group])[0], strong=True),
        f"; {format_p(row.outcome.p, permutations=permutations)}, "
        f"{format_p(row.outcome.q, name='q', permutations=permutations)})",
    ]


def _other_statistics(result: RunResult, lead: str) -> list[Sentence]:
    sentences = []
    for statistic in reported_statistics(result):
        corrected = [] if statistic == lead else _with(_findings(result, statistic), "corrected")
        if corrected:
            parts: list[str | Segment] = []
            for position, finding in enumerate(corrected[:_LISTED]):
                parts += [
                    ", " if position else "",
                    _strong(finding),
                    f" ({arrow(finding.outcome)} {format_value(finding.outcome.value)})",
                ]
            if len(corrected) > _LISTED:
                parts.append(f" and {len(corrected) - _LISTED} more")
            sentences.append(Sentence.of(f"On {WORDS[statistic].name}, after correction: ", *parts, "."))
    return sentences


def _not_estimable(lead: str, findings: Sequence[_Finding]) -> list[Sentence]:
    reasons: dict[str, list[_Finding]] = {}
    for finding in findings:
        if finding.outcome.value is None:
            reasons.setdefault(str(finding.outcome.reason or "no reason given"), []).append(finding)
    return [
        Sentence.of(f"{WORDS[lead].name} is not estimable for ", *_names(rows), f": {reason}.")
        for reason, rows in reasons.items()
    ]
