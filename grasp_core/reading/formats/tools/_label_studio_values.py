"""Answers in Label Studio's exports: their kinds and texts, and which question comes first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from grasp_core.reading.formats.shapes.rows import JOIN, Row, want_list, want_object, want_scalar
from grasp_core.reading.table import names

PLAIN = "plain"
"""The kind of an answer that its form tells no kind of: a single choice, or a text."""
_CHOSEN = frozenset({"choices", "rating", "taxonomy", "number", "selected", "datetime"})
_ANSWERS = _CHOSEN | {"text", "ranker"}
_SIZES = frozenset({"original_width", "original_height"})
_PATH, _BEFORE, _BUCKET = " / ", " > ", " | "
_SINGLE = frozenset({"choices", "selected", PLAIN})
_WRITTEN = frozenset(
    {
        *("why", "reason", "reasons", "reasoning", "rationale", "justification", "explanation", "explain"),
        *("comment", "comments", "note", "notes", "feedback", "remark", "remarks", "text"),
    }
)
_COMPLETE = 0.9
"""Share of the most answered question's answers from which a question is as complete as it."""


def kind_of(value: Any) -> str | None:
    """Which kind of answer it is; None where it is about a region of the item."""
    keys = set(value) - _SIZES if isinstance(value, dict) else set()
    return next(iter(keys)) if len(keys) == 1 and keys <= _ANSWERS else None


def texts(value: Any, kind: str, where: str) -> list[str]:
    """The texts of an answer, one for each thing chosen.

    Raises DataError.
    """
    given = value[kind]
    if kind == "ranker" and isinstance(given, dict):
        return _ranking(given, where)
    found = [_path(entry, where, kind) for entry in (given if isinstance(given, list) else [given])]
    kept = [text for text in found if text]
    return ["\n".join(kept)] if kind == "text" and kept else kept


def _path(entry: Any, where: str, kind: str) -> str:
    steps = entry if isinstance(entry, list) else [entry]
    return _PATH.join(want_scalar(step, where, f"an answer of {kind!r}") for step in steps)


def _ranking(buckets: Mapping[str, Any], where: str) -> list[str]:
    """One text: the order, or the order in each bucket."""
    orders = {
        name: _BEFORE.join(want_scalar(one, where, "a rank") for one in want_list(order, where, "a ranking"))
        for name, order in want_object(buckets, where, "a ranking").items()
    }
    shown = list(orders.values()) if len(orders) == 1 else [f"{key}: {text}" for key, text in orders.items()]
    return [_BUCKET.join(shown)] if any(orders.values()) else []


def in_order(rows: Sequence[Row], kinds: Mapping[str, set[str]]) -> list[str]:
    """Questions in the order in which they are proposed as the label, the same in every form of an export.

    What was written comes last. Otherwise, questions on which annotations of a task differ come first; of
    those, the ones about as complete as the most answered; of those, single choices, then ratings, multiple
    choices and others; then the more complete, and then by name.
    """
    answers = [(row.item, *pair) for row in rows for pair in row.answers.items() if pair[1]]
    counts = Counter(question for _, question, _ in answers)
    several = {question for _, question, answer in answers if JOIN in answer}
    disputed = _disputed(rows, answers)
    written = {question for question, found in kinds.items() if _is_written(question, found)}
    most = max((counts[question] for question in kinds if question not in written), default=0)

    def place(question: str) -> tuple[bool, bool, bool, int, int, str]:
        agreed, incomplete = question not in disputed, counts[question] < _COMPLETE * most
        rank = _rank(kinds[question], question in several)
        return question in written, agreed, incomplete, rank, -counts[question], question

    return sorted(kinds, key=place)


def _disputed(rows: Sequence[Row], answers: Sequence[tuple[str, str, str]]) -> set[str]:
    """Questions on which annotations of one task differ; no answer differs from an answer."""
    of_item = Counter(row.item for row in rows)
    return {question for (item, question, _), count in Counter(answers).items() if count < of_item[item]}


def _is_written(question: str, kinds: set[str]) -> bool:
    return "text" in kinds or (kinds == {PLAIN} and not _WRITTEN.isdisjoint(names.words(question)))


def _rank(kinds: set[str], several: bool) -> int:
    if kinds <= _SINGLE:
        return 2 if several else 0
    return 1 if kinds == {"rating"} else 3
