"""Levels of measurement, and how data were read, in words."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from grasp_core.model.annotations import number_of
from grasp_core.model.data_spec import SCREENS, Bins, Combine, DataSpec, Filters, Recode
from grasp_core.model.spec import Level
from grasp_core.model.text import agree, listed, quoted
from grasp_core.report.words.names import TEXTS
from grasp_core.statistics.levels import one_number, possible_levels

NO_VALUE = "no value"
_SHOWN_VALUES = 8


def step_sentence(step: Recode) -> str:
    """Describe one recoding step."""
    if isinstance(step, Combine):
        order = ", else ".join(step.priority)
        return f"{step.into}: {order}, from {', '.join(step.columns)}"
    column = "labels" if step.column is None else step.column
    if isinstance(step, Bins):
        edges = ", ".join(f"{edge:g}" for edge in step.edges)
        return f"{column}: numbers cut at {edges} into {', '.join(step.labels)}"
    merged: dict[str, list[str]] = {}
    for old, new in step.values:
        merged.setdefault(new or NO_VALUE, []).append(old or "(empty cell)")
    shown = [f"{', '.join(old)} → {new}" for new, old in list(merged.items())[:_SHOWN_VALUES]]
    more = len(merged) - _SHOWN_VALUES
    return f"{column}: {'; '.join(shown)}{f'; and {more} more' if more > 0 else ''}"


def filter_sentences(filters: Filters) -> list[str]:
    """Describe the raters, items and annotations that filters leave out; ids are counted, not named."""
    said = [f"annotations with {column} = {value or '(empty cell)'}" for column, value in filters.drop]
    said += [f"{len(filters.raters):,} raters on a list"] if filters.raters else []
    said += [f"{len(filters.items):,} items on a list"] if filters.items else []
    if filters.time is not None:
        limits = (("below", filters.min_time), ("above", filters.max_time))
        words = [f"{word} {limit:g}" for word, limit in limits if limit is not None]
        said.append(f"annotations with {filters.time} {' or '.join(words)}")
    if filters.gold is not None and filters.min_gold is not None:
        said.append(f"raters with less than {filters.min_gold:.0%} of the labels in {filters.gold} right")
    if filters.min_per_rater > 1:
        said.append(f"raters with fewer than {filters.min_per_rater:,} annotations")
    if filters.min_per_item > 1:
        said.append(f"items with fewer than {filters.min_per_item:,} annotations")
    return said


def left_out(data: DataSpec) -> list[str]:
    """Describe everything that is left out, exclusions first."""
    excluded = [f"raters with {column} = {value or '(empty cell)'}" for column, value in data.exclude]
    screened = [SCREENS[screen] for screen in data.screens]
    return [*excluded, *filter_sentences(data.filters), *screened]


_MOST_STEPS = 11
"""Most steps of a ranked scale; a scale of more, such as a slider's, is rather measured."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """Levels that suit the labels better than nominal."""

    levels: tuple[Level, ...]
    reason: str


def proposed_levels(categories: Sequence[str]) -> Proposal | None:
    """Propose ordinal or interval if the labels are numbers of one scale; None for names and for codes.

    `categories`, length K: in declared order.

    Numbers are of one scale if they lie close together or are many. Few numbers far apart, such as 1, 2 and
    99, may be codes. With two labels all levels mean the same.
    """
    values = np.array([number_of(label) for label in categories], dtype=np.float64)
    if values.size < 3 or not np.isfinite(values).all() or "interval" not in possible_levels(categories):
        return None
    ascending = np.sort(values)
    even = bool(np.allclose(np.diff(ascending), np.diff(ascending)[0]))
    if not (even or values.size > _MOST_STEPS or ascending[-1] - ascending[0] < _MOST_STEPS):
        return None
    steps = np.diff(values)
    ranked = bool((steps > 0).all() or (steps < 0).all())
    few = values.size <= _MOST_STEPS
    levels: tuple[Level, ...] = ("ordinal", "interval") if few else ("interval", "ordinal")
    levels = levels if ranked else ("interval",)
    first, second, last = (f"{value:g}" for value in (ascending[0], ascending[1], ascending[-1]))
    reason = (
        f"labels are the numbers {first} to {last}: {' or '.join(levels)} takes their order into account; as "
        f"nominal, {first} and {last} differ no more than {first} and {second}"
    )
    return Proposal(levels, reason)


SCALES: tuple[tuple[str, ...], ...] = tuple(map(tuple, TEXTS["scales"]))
"""Common scales of labels, the lowest label first: GRASP proposes their order, but never assumes it."""


def known_scale(categories: Sequence[str]) -> tuple[str, ...] | None:
    """Order the labels by a known scale that has all of them; None if there is none, or for two labels.

    Numbers beside words are ignored, as in "1 - never", and so is a last word that all labels share, such as
    "rude". Consecutive numbers, some of them with words, are a scale too: "1 (never)", "2", "3 (always)".
    """
    split = [re.split(r"[\W_]+", label.casefold().strip()) for label in categories]
    plain = {
        re.sub(r"^\d+ | \d+$", "", " ".join(filter(None, words))): label
        for words, label in zip(split, categories, strict=True)
    }
    if len(plain) < len(categories) or len(plain) < 3:
        return None
    for named in (plain, _without_shared_end(plain)):
        for scale in SCALES:
            if named.keys() <= set(scale):
                return tuple(named[one] for one in scale if one in named)
    numbered = {
        int(words[0]): label for words, label in zip(split, categories, strict=True) if words[0].isdecimal()
    }
    some = {number_of(label) == number for number, label in numbered.items()} == {True, False}
    if not some or len(categories) != len(numbered) or max(numbered) - min(numbered) >= len(categories):
        return None
    return tuple(numbered[number] for number in sorted(numbered))


def _without_shared_end(plain: Mapping[str, str]) -> dict[str, str]:
    """Return labels by their words, without a last word that all share: "very rude", "a bit rude"."""
    ends = {tuple(words.rsplit(" ", 1)[1:]) for words in plain}
    return {words.rsplit(" ", 1)[0] if len(ends) == 1 else words: label for words, label in plain.items()}


def unranked(categories: Sequence[str]) -> str | None:
    """Say why labels that nobody declared cannot be ranked, and what would help; None if they can."""
    if len(categories) < 3 or _ascend(categories):
        return None
    if (why := one_number(categories)) is not None:
        return f"ordinal ranks labels, and {why}"
    words = [label for label in categories if np.isnan(number_of(label))]
    rest = [label for label in categories if label not in words]
    named = "(on Data, under “Labels, in order”, or by --categories)"
    if len(rest) > 1 and _ascend(rest):
        are = agree(len(words), "is no number", "are no numbers")
        return (
            f"ordinal ranks labels, and {listed(words)} {are} among numbers: take them for missing "
            f"(on Data, as “no value”, or by --missing), or name all labels in their order {named}"
        )
    scale = known_scale(categories)
    proposed = "" if scale is None else f"; proposed: --categories {quoted(','.join(scale))}"
    return (
        f"ordinal ranks labels, and nothing says how {listed(sorted(categories))} rank: name them in their "
        f"order, the lowest first {named}{proposed}"
    )


def _ascend(labels: Sequence[str]) -> bool:
    """Return whether each label has a number of its own, and the numbers ascend."""
    values = np.array([number_of(label) for label in labels], dtype=np.float64)
    if np.isnan(values).any():
        found = [re.fullmatch(r"(\D*?)(-?\d+(?:\.\d+)?)(\D*)", label.strip()) for label in labels]
        alike = len({(one[1], one[3]) for one in found if one}) == 1
        leading = all(one is not None and not one[1] for one in found)
        if not all(found) or not (alike or leading):
            return False
        values = np.array([float(one[2]) for one in found if one], dtype=np.float64)
    return bool((np.diff(values) > 0).all())
