"""Hypothesis strategies for data sets."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

AWKWARD = ("007", "7", "None", "NA", "nan", "=1+1", "<script>", 'a "quoted" b', "a,b", "x;y|z", "é", "1.0")
"""Texts that careless reading changes."""

_TEXTS = st.sampled_from(AWKWARD) | st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp")), min_size=1, max_size=8
).filter(lambda text: bool(text.strip()))


@dataclass(frozen=True)
class Votes:
    """A small data set: who gave which item which label, and each rater's value on one axis."""

    items: list[str]
    raters: list[str]
    votes: list[tuple[str, str, str]]
    axis: dict[str, str]


@st.composite
def votes(draw: st.DrawFn, *, labels: tuple[str, ...] = ("No", "Yes", "NA", "007")) -> Votes:
    """At least one annotation for each item and rater; ids are any text that is not blank."""
    items = draw(st.lists(_TEXTS, min_size=2, max_size=5, unique=True))
    raters = draw(st.lists(_TEXTS, min_size=2, max_size=5, unique=True))
    pairs = [(item, rater) for item in items for rater in raters]
    some = draw(st.sets(st.sampled_from(pairs)))
    every = {(item, raters[index % len(raters)]) for index, item in enumerate(items)}
    every |= {(items[index % len(items)], rater) for index, rater in enumerate(raters)}
    chosen = [pair for pair in pairs if pair in some | every]
    given = [(item, rater, draw(st.sampled_from(labels))) for item, rater in chosen]
    axis = {rater: draw(st.sampled_from(("Woman", "Man", "None"))) for rater in raters}
    return Votes(items, raters, given, axis)
