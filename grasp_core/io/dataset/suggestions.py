"""Proposals for recoding; nothing is changed before a person agrees."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping

_WRITTEN_MANY_WAYS = (
    ("Woman", {"f", "female", "w", "woman", "women", "girl"}),
    ("Man", {"m", "male", "man", "men", "boy"}),
    ("Nonbinary", {"nonbinary", "non-binary", "non binary", "nb", "enby"}),
    ("Yes", {"y", "yes"}),
    ("No", {"n", "no"}),
)
"""Words that mean the same; only proposed where at least two of them occur."""
OTHER = "Other"


def one_spelling(counts: Mapping[str, int]) -> dict[str, str]:
    """Values to write instead, where some differ only by case, spaces, Unicode form or a common short form.

    Parameters
    ----------
    counts : mapping from value to cells

    Returns
    -------
    dict
        From each value that should change to the most frequent of those that are alike.
    """
    alike: dict[str, list[str]] = {}
    for value in counts:
        if value.strip():
            alike.setdefault(_meaning(value), []).append(value)
    changes: dict[str, str] = {}
    for values in alike.values():
        best = max(values, key=lambda value: (counts[value], len(value.strip()), value))
        tidy = " ".join(unicodedata.normalize("NFC", best).split())
        if len(values) > 1 or tidy != best:
            changes.update({value: tidy for value in values if value != tidy})
    return changes


def merge_rare(counts: Mapping[str, int], fewer_than: int) -> dict[str, str]:
    """Values with too few cells, all into one; none if that would merge everything or a single value."""
    rare = [value for value, count in counts.items() if count < fewer_than and value.strip()]
    if len(rare) < 2 or len(rare) == len(counts):
        return {}
    return {value: OTHER for value in rare if value != OTHER}


def _meaning(value: str) -> str:
    folded = " ".join(unicodedata.normalize("NFKC", value).casefold().split())
    return next((word for word, ways in _WRITTEN_MANY_WAYS if folded in ways), folded)
