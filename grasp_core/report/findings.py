"""Findings: what holds of each group, which of it is told first, and what could have been found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from grasp_core.outcome import Histogram, Interval, LabelUse, Outcome, Shift, Significance
from grasp_core.report.label_use import foremost, format_points, manner
from grasp_core.report.spread import centre, spread
from grasp_core.report.text import Segment, Sentence
from grasp_core.report.words import (
    SIGNIFICANCE_NAMES,
    WORDS,
    arrow,
    format_interval,
    format_p,
    format_value,
    group_labels,
    lead_statistic,
    one_line,
    p_words,
)
from grasp_core.result import GroupResult, RunResult
from grasp_core.spec import CROSS_GROUP
from grasp_core.wording import number

LABEL_USE = "label_use"
TOLD_FIRST = (
    LABEL_USE,
    "distance",
    "gai",
    "gap",
    "irr",
    "xrr",
    "voting_agreement",
    "negentropy",
    "cross_negentropy",
    "plurality_size",
)
"""What is told of a group, in the order in which people ask: what it says differently comes first."""
CARDS = 4
"""Findings that stand at the top of a result."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing of one group, held against chance.

    `what` is a statistic, or label use: then `label` is the label that lies furthest from chance, and the
    outcome is its difference of shares (0.11 are 11 percentage points). `further` is what else holds.
    """

    row: GroupResult
    name: str
    what: str
    outcome: Outcome
    label: str | None = None
    further: tuple[Finding, ...] = ()

    @property
    def value(self) -> float:
        """The observed value."""
        return self.outcome.value or 0.0

    @property
    def sentence(self) -> Sentence:
        """The group, how it differs, by how much; and what else holds of it after correction."""
        group = Segment(self.name, strong=True)
        return Sentence.of(group, f" raters (n = {self.row.n_raters}) ", *self._said, ".")

    @property
    def short(self) -> Sentence:
        """The same where the group's name stands above it."""
        return Sentence.of(f"These {number(self.row.n_raters, 'rater')} ", *self._said, ".")

    @property
    def tested_sentence(self) -> Sentence:
        """The same of this one thing, with its test."""
        return Sentence.of(f"These {number(self.row.n_raters, 'rater')} ", *_how(self), f"; {self.tested}.")

    @property
    def _said(self) -> tuple[str | Segment, ...]:
        also = [f"; they also {_held(one)}" for one in self.further[:1]]
        return (*_how(self), *also)

    @property
    def backed(self) -> Sentence:
        """The same with its test, and all else that holds of the group after correction."""
        group = Segment(self.name, strong=True)
        others = ", ".join(one._value for one in self.further)
        also = f"; after correction also {others}" if others else ""
        return Sentence.of(
            group, f" raters (n = {self.row.n_raters}) ", *_how(self), f", {self._p_and_q}{also}."
        )

    @property
    def figures(self) -> str:
        """Value, interval and test in brief, for a list."""
        return f"{self._value}, {self._p_and_q}"

    @property
    def _value(self) -> str:
        if self.label is None:
            value = f"{WORDS[self.what].name} {format_value(self.value)} {format_interval(self.outcome)}"
            return f"{arrow(self.outcome)} {value}".strip()
        return f"“{one_line(self.label)}” {format_points(self.value)} points"

    @property
    def _p_and_q(self) -> str:
        return f"{p_words(self.outcome)}, {format_p(self.outcome.q, name='q')}"

    @property
    def apart(self) -> bool:
        """Whether the group and the others answer differently, on some items more than on others."""
        less_alike = self.what in CROSS_GROUP and self.outcome.direction == "down"
        return less_alike or self.what in (LABEL_USE, "distance")

    @property
    def size(self) -> float:
        """Distance of the value from the mean of what chance gives, in its standard deviations."""
        null = self.outcome.null
        return 0.0 if null is None else abs(self.value - centre(null)) / (spread(null) or 1.0)

    @property
    def tested(self) -> str:
        """Which test it passed, such as "p = 0.002, q = 0.035: after correction"."""
        use = self.row.label_use
        jackknifed = self.what == LABEL_USE and use is not None and use.test == "jackknife"
        how = " by leaving raters out" if jackknifed else ""
        return f"{self._p_and_q}{how}: {SIGNIFICANCE_NAMES[self.outcome.significance]}"


def _how(finding: Finding) -> tuple[str | Segment, ...]:
    use, outcome = finding.row.label_use, finding.outcome
    if finding.what == LABEL_USE and use is not None:
        return manner(use)
    value = f"{WORDS[finding.what].name} {format_value(outcome.value)}"
    return (f"{_held(finding)}: {value} {format_interval(outcome)}".rstrip(),)


def _held(finding: Finding) -> str:
    words = WORDS[finding.what]
    return f"{words.less if finding.outcome.direction == 'down' else words.more} than chance groupings would"


def evidence(row: GroupResult, name: str) -> tuple[Finding, ...]:
    """All that has a value of one group, in the order in which it is told."""
    found = []
    for what in TOLD_FIRST:
        one = of_labels(row, name) if what == LABEL_USE else of_statistic(row, name, what)
        found += [] if one is None else [one]
    return tuple(found)


def of_statistic(row: GroupResult, name: str, what: str) -> Finding | None:
    """One statistic of a group, unless it has no value."""
    outcome = row.statistics.get(what)
    if outcome is None or outcome.value is None:
        return None
    return Finding(row, name, what, replace(outcome, null=_drawn(outcome.null)))


def of_labels(row: GroupResult, name: str) -> Finding | None:
    """A group's label use, unless it has no value."""
    found = None if row.label_use is None else foremost(row.label_use)
    if row.label_use is None or found is None:
        return None
    label, shift = found
    return Finding(row, name, LABEL_USE, _test_of(row.label_use, shift), label)


def _test_of(use: LabelUse, shift: Shift) -> Outcome:
    """A label's difference of shares, with the test of all labels together."""
    null = _drawn(shift.null)
    interval = None
    if shift.low is not None and shift.high is not None and use.target is not None:
        interval = Interval(shift.low, shift.high, use.target)
    return Outcome(
        shift.value,
        null_median=None if null is None else centre(null),
        direction="up" if (shift.value or 0.0) > 0 else "down",
        p=use.p,
        q=use.q,
        significance=use.significance,
        null=null,
        p_interval=use.p_interval,
        q_interval=use.q_interval,
        fit=use.fit,
        interval=interval,
        no_interval=use.no_interval,
    )


def _drawn(null: Histogram | None) -> Histogram | None:
    """The null distribution, where any shuffled value had one."""
    return None if null is None or not any(null.counts) else null


def findings(result: RunResult) -> tuple[Finding, ...]:
    """What holds after correction: one finding a group, what people ask first before the rest, then by size.

    Each carries what else holds of its group. Every statistic is corrected by itself, so the more of them
    make findings, the more often chance makes one: with all ten in a fifth of clean data sets, with label
    use, distance and the lead statistic, which are the ones that do, in a tenth (docs/results.md).
    """
    held = [_first(of_group, "corrected", leading(result)) for of_group in _all_evidence(result)]
    return _ranked([finding for finding in held if finding is not None])


def beside(result: RunResult) -> tuple[Finding, ...]:
    """What holds after correction of groups without a finding: marks of other statistics alone."""
    found = {finding.name for finding in findings(result)}
    held = [_first(of_group, "corrected", TOLD_FIRST) for of_group in _all_evidence(result)]
    return _ranked([one for one in held if one is not None and one.name not in found])


def leading(result: RunResult) -> tuple[str, ...]:
    """What makes a finding: label use and the statistics that do."""
    return (LABEL_USE, "distance", lead_statistic(result))


def stand_out(found: Sequence[Finding], result: RunResult) -> Sentence:
    """The headline of a result with findings: which groups, or what the only one does."""
    if len(found) == 1:
        only = found[0]
        said = manner(only.row.label_use) if only.what == LABEL_USE and only.row.label_use else (_held(only),)
        return Sentence.of(Segment(only.name, strong=True), " raters stand out: they ", *said)
    named = [Segment(one.name, strong=True) for one in found[:CARDS]]
    more = len(found) - len(named)
    parts: list[str | Segment] = []
    for place, name in enumerate(named):
        last = place == len(named) - 1 and not more
        parts += ["; and " if last else "; " if place else "", name]
    groups = number(len(result.groups), "group")
    tail = [f"; and {more} more"] if more else []
    return Sentence.of(f"{len(found)} of {groups} stand out, even after correction: ", *parts, *tail)


def nearest(result: RunResult) -> tuple[Finding, ...]:
    """What is marked nominally only, so no finding: one a group, smallest q first."""
    near = [_first(of_group, "nominal", leading(result)) for of_group in _all_evidence(result)]
    return tuple(
        sorted((one for one in near if one is not None), key=lambda one: (_or_1(one.outcome.q), -one.size))
    )


def _or_1(value: float | None) -> float:
    return 1.0 if value is None else value


def named_groups(result: RunResult) -> dict[str, GroupResult]:
    """The groups by the names that tell them apart, in the run's order."""
    names = group_labels([row.group for row in result.groups])
    return dict(zip(names, result.groups, strict=True))


def _all_evidence(result: RunResult) -> Iterator[tuple[Finding, ...]]:
    for name, row in named_groups(result).items():
        yield evidence(row, name)


def _first(of_group: Sequence[Finding], significance: Significance, what: Sequence[str]) -> Finding | None:
    """What is told first of what holds so far, and makes a finding; with all else that does."""
    held = [finding for finding in of_group if finding.outcome.significance == significance]
    first = next((finding for finding in held if finding.what in what), None)
    if first is None:
        return None
    return replace(first, further=tuple(one for one in held if one is not first))


def _ranked(found: Sequence[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(found, key=lambda finding: (TOLD_FIRST.index(finding.what), -finding.size)))
