"""Advice: what to do about what was found, by what it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from grasp_core.model.groups import group_labels
from grasp_core.model.result import RunResult
from grasp_core.model.text import Segment, Sentence
from grasp_core.model.verdict import Untestable
from grasp_core.report.findings.doubts import SAME_ITEMS, SAME_WORKLOAD
from grasp_core.report.findings.finding import Finding
from grasp_core.report.findings.findings import standing_pair

_NAMED = 3
_OWN_VIEW = ("gai", "gap")
_LITTLE_AGREEMENT = ("irr", "gai", "gap", "negentropy", "plurality_size")
_FEW = (
    "Shuffle within fewer strata, or single raters in place of clusters, so that more regroupings are left."
)
MENDS: Mapping[Untestable, str] = {"other-items": SAME_ITEMS, "other-workload": SAME_WORKLOAD}
"""What makes groups testable, by why they are not."""


def advice(result: RunResult, found: Sequence[Finding]) -> tuple[Sentence, ...]:
    """What mends doubts, then whom to recruit or to ask; or nothing, with what could have been found."""
    if not found and result.groups and all(row.least_p is not None for row in result.groups):
        return (Sentence.of(_FEW),)
    pair = None if found else standing_pair(result)
    if pair is not None:
        a, b = (Segment(name, strong=True) for name in group_labels([pair.a, pair.b]))
        return (_as_many(a, " and ", b),)
    mended = [
        MENDS[why] for why in MENDS if any(row.verdict and row.verdict.why == why for row in result.groups)
    ]
    if not found and mended:
        return (Sentence.of(f"First {'; '.join(mended)}."),)
    if not found:
        return (Sentence.of("Nothing, unless smaller differences matter."),) if result.findable else ()
    certain = [one for one in found if not one.undone]
    mends = dict.fromkeys(doubt.mend for one in found for doubt in one.doubts)
    until = "" if certain else " Until then, recruit nobody for this."
    first = (Sentence.of(f"First {'; '.join(mends)}.{until}"),) if mends else ()
    return (*first, *_of_certain(certain))


def _of_certain(found: Sequence[Finding]) -> Iterator[Sentence]:
    views = [one for one in found if _has_view(one)]
    alone = [one for one in views if one.other is None]
    little = [one for one in found if one not in views and _agrees_little(one)]
    if alone:
        yield Sentence.of(
            "Ask more ",
            *first_names([one.title for one in alone]),
            " raters: others’ answers do not stand for theirs.",
        )
    for one in views:
        if one.other is not None:
            yield _as_many(*first_names([one.title]))
    if any(one.apart for one in views):
        yield Sentence.of("See which items cause the difference.")
    if little:
        agree_little = (
            " raters agree little with each other: read items with them, and give each item more of them."
        )
        yield Sentence.of(*first_names([one.title for one in little]), agree_little)
    if found and not views and not little:
        yield Sentence.of("Nothing for this alone: raters who agree more than others need no further ones.")


def _as_many(*both: str | Segment) -> Sentence:
    return Sentence.of(
        "Have as many ",
        *both,
        " raters as the labels are to speak for: others’ answers tell them apart too little.",
    )


def _has_view(one: Finding) -> bool:
    """Whether the group sees items differently, or its own labels tell more of it than those of others."""
    return one.apart or one.vague or (one.what in _OWN_VIEW and one.outcome.direction == "up")


def _agrees_little(one: Finding) -> bool:
    return not one.vague and one.what in _LITTLE_AGREEMENT and one.outcome.direction == "down"


def first_names(titles: Sequence[str]) -> list[str | Segment]:
    """The first three, and how many more there are."""
    shown = titles[:_NAMED]
    rest = len(titles) - len(shown)
    parts: list[str | Segment] = []
    for place, name in enumerate(shown):
        last = place == len(shown) - 1 and not rest
        parts += ["" if not place else "; and " if last else "; ", Segment(name, strong=True)]
    return [*parts, f"; and {rest} more"] if rest else parts
