"""How the data of a run were read, recoded and filtered, in words."""

from __future__ import annotations

from collections.abc import Mapping

from grasp_core.data_spec import DataSpec, Filters, Screen
from grasp_core.recode_steps import Bins, Combine, MapValues, Recode

NO_VALUE = "no value"
_SHOWN_VALUES = 8
SCREENS: Mapping[Screen, str] = {
    "random": "raters at chance",
    "constant": "raters who gave one label always",
    "duplicates": "one of each two raters who agree too closely",
}
"""Whom each screen leaves out."""


def step_sentence(step: Recode) -> str:
    """One recoding step."""
    if isinstance(step, Combine):
        order = ", else ".join(step.priority)
        return f"{step.into}: {order}, from {', '.join(step.columns)}"
    column = "labels" if step.column is None else step.column
    if isinstance(step, Bins):
        edges = ", ".join(f"{edge:g}" for edge in step.edges)
        return f"{column}: numbers cut at {edges} into {', '.join(step.labels)}"
    return f"{column}: {_changes(step)}"


def _changes(step: MapValues) -> str:
    merged: dict[str, list[str]] = {}
    for old, new in step.values:
        merged.setdefault(new or NO_VALUE, []).append(old or "(empty cell)")
    shown = [f"{', '.join(old)} → {new}" for new, old in list(merged.items())[:_SHOWN_VALUES]]
    more = len(merged) - _SHOWN_VALUES
    return "; ".join(shown) + (f"; and {more} more" if more > 0 else "")


def filter_sentences(filters: Filters) -> list[str]:
    """Sentences on what the filters leave out; ids are counted, not named."""
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
    """Everything that is left out, exclusions first."""
    excluded = [f"raters with {column} = {value or '(empty cell)'}" for column, value in data.exclude]
    screened = [SCREENS[screen] for screen in data.screens]
    return [*excluded, *filter_sentences(data.filters), *screened]
