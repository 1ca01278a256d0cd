"""Advice: what to do about what was found, by what it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from grasp_core.report.findings.doubts import SAME_ITEMS, SAME_WORKLOAD
from grasp_core.report.findings.finding import Finding
from grasp_core.report.findings.findings import standing_pair
from grasp_core.report.findings.no_findings import could_have_been_found
from grasp_core.report.words.names import group_labels
from grasp_core.report.words.text import Segment, Sentence
from grasp_core.result import RunResult
from grasp_core.verdict import Untestable

_NAMED = 3
_OWN_VIEW = ("gai", "gap")
_LITTLE_AGREEMENT = ("irr", "gai", "gap", "negentropy", "plurality_size")
_RECRUIT = "recruit raters of these groups, for whom others’ labels do not stand: "
_LITTLE = "read items with these raters, who agree little with each other, and give each item more of them: "
_ITEMS = "look under Items whether single items carry it (on a command line: items)"
_FEW = "shuffle within fewer strata, or single raters in place of clusters, so that more regroupings are left"
MENDS: Mapping[Untestable, str] = {"other-items": SAME_ITEMS, "other-workload": SAME_WORKLOAD}
"""What makes groups testable, by why they are not."""
_NOTHING = "nothing for this alone. Raters who agree more than others need no further ones"


def advice(result: RunResult, found: Sequence[Finding]) -> tuple[Sentence, ...]:
    """What mends doubts, then whom to recruit or to ask; or nothing, with what could have been found."""
    if not found and result.groups and all(row.least_p is not None for row in result.groups):
        return (Sentence.of(f"What to do: {_FEW}."),)
    pair = None if found else standing_pair(result)
    if pair is not None:
        a, b = (Segment(name, strong=True) for name in group_labels([pair.a, pair.b]))
        whom = "raters as the labels are to speak for: others’ labels tell the two apart too little"
        return (Sentence.of("What to do: have as many ", a, " and ", b, f" {whom}."),)
    mended = [
        MENDS[why] for why in MENDS if any(row.verdict and row.verdict.why == why for row in result.groups)
    ]
    if not found and mended:
        return (Sentence.of(f"What to do first: {'; '.join(mended)}."),)
    if not found:
        limit = could_have_been_found(result)
        return () if limit is None else (Sentence.of("What to do: nothing. ", *limit.segments),)
    certain = [one for one in found if not one.undone]
    mends = dict.fromkeys(doubt.mend for one in found for doubt in one.doubts)
    until = "" if certain else " Until then, recruit nobody for this."
    first = [Sentence.of(f"What to do first: {'; '.join(mends)}.{until}")] if mends else []
    if not certain:
        return tuple(first)
    parts = _parts(certain) or [[_NOTHING]]
    said = [one for place, part in enumerate(parts) for one in ("; " if place else "", *part)]
    return (*first, Sentence.of("Then: " if first else "What to do: ", *said, "."))


def _parts(found: Sequence[Finding]) -> list[list[str | Segment]]:
    views = [one for one in found if _has_view(one)]
    alone = [one for one in views if one.other is None]
    little = [one for one in found if one not in views and _agrees_little(one)]
    parts: list[list[str | Segment]] = [[_RECRUIT, *names(alone)]] if alone else []
    for one in views:
        if one.other is not None:
            parts.append(["have as many ", *names([one]), " raters as the labels are to speak for"])
    if any(one.apart for one in views):
        parts.append([_ITEMS])
    if little:
        parts.append([_LITTLE, *names(little)])
    return parts


def _has_view(one: Finding) -> bool:
    """Whether the group sees items differently, or its own labels tell more of it than those of others."""
    return one.apart or one.vague or (one.what in _OWN_VIEW and one.outcome.direction == "up")


def _agrees_little(one: Finding) -> bool:
    return not one.vague and one.what in _LITTLE_AGREEMENT and one.outcome.direction == "down"


def names(found: Sequence[Finding]) -> list[str | Segment]:
    """The first three titles, and how many more there are."""
    shown = [one.title for one in found[:_NAMED]]
    rest = len(found) - len(shown)
    parts: list[str | Segment] = []
    for place, name in enumerate(shown):
        last = place == len(shown) - 1 and not rest
        parts += ["" if not place else "; and " if last else "; ", Segment(name, strong=True)]
    return [*parts, f"; and {rest} more"] if rest else parts
