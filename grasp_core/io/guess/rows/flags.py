"""Columns beside ids and labels that say of each annotation whether it was accepted, or withdrawn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grasp_core.data_spec import DataSpec
from grasp_core.io.guess.look import Look
from grasp_core.io.table import names
from grasp_core.io.table.table import Table

_ACCEPTED = frozenset({"accepted", "approved", "submitted"})
_MANY = 1 / 3
_NOT_ACCEPTED = frozenset({"rejected", "returned", "expired", "timed-out", "skipped"})


def withdrawn(look: Look, spec: DataSpec) -> Iterator[tuple[str, str]]:
    """Columns and values of answers that were not accepted: Toloka's status, ``is_valid`` no.

    What is the same for all answers to an item is the item's; what is the same for all of a rater is told
    by the exclusions of raters.
    """
    table = look.whole
    for name in _of_answers(table, spec):
        found: list[str] = []
        if names.words(name)[-1:] == ("status",):
            texts = table.distinct(name)
            if any(text.strip().casefold() in _ACCEPTED for text in texts):
                found = [text for text in texts if text.strip().casefold() in _NOT_ACCEPTED]
        else:
            flags = said_of_answer(table, name, names.WITHDRAWN, names.STANDING)
            found = [text for text in flags if not many(table, name, text)]
        if found and not of_items(look, name, str(spec.item)):
            yield from ((name, text) for text in found)


def maybe_withdrawn(look: Look, spec: DataSpec) -> Iterator[tuple[str, str]]:
    """Columns and values that may say so, or answer a question: ``accept`` no, ``valid`` no of most."""
    table = look.whole
    for name in _of_answers(table, spec):
        told = said_of_answer(table, name, names.WITHDRAWN, names.STANDING)
        found = [text for text in told if many(table, name, text)]
        found += said_of_answer(table, name, names.WITHDRAW, names.STAND)
        if found and not of_items(look, name, str(spec.item)):
            yield from ((name, text) for text in found)


def said_of_answer(table: Table, name: str, against: frozenset[str], kept: frozenset[str]) -> list[str]:
    """How a column called by one of the words says that an answer does not count; else none."""
    words = names.words(name)
    if one_of(words, against):
        return yes_of_two(table, name)
    return yes_of_two(table, name, names.NO) if one_of(words, kept) else []


def many(table: Table, name: str, text: str) -> bool:
    """Whether so many rows hold the text that it may be the answer to a question."""
    return occurrences(table, name, text) >= _MANY * len(table)


def occurrences(table: Table, name: str, text: str) -> int:
    """Rows with the text in a column."""
    return int(table.column(name).among([text]).sum())


def _of_answers(table: Table, spec: DataSpec) -> Iterator[str]:
    excluding = {name for name, _ in spec.exclude}
    return (name for name in beside(table, spec) if name not in excluding)


def one_of(words: Sequence[str], kinds: frozenset[str]) -> bool:
    """Whether the words are one of `kinds`, and such as may stand beside it."""
    return len(kinds.intersection(words)) == 1 and set(words) <= kinds | names.BESIDE_FLAGS


def of_items(look: Look, name: str, item: str) -> bool:
    """Whether the item decides a column's value, judged in a large table by all rows of some items."""
    return look.of_some(item).depends_on(name, item)


def beside(table: Table, spec: DataSpec) -> Iterator[str]:
    """Columns that hold neither ids nor labels."""
    taken = (spec.item, spec.rater, spec.text, *spec.labels)
    return (name for name in table.columns if name not in taken)


def yes_of_two(table: Table, name: str, meant: frozenset[str] = names.YES) -> list[str]:
    """How a column says yes (or what is `meant`) that says nothing else but yes and no; else none."""
    texts = table.distinct(name)
    said = {text.strip().casefold() for text in texts} - {""}
    if len(said) != 2 or len(said & names.YES) != 1 or len(said & names.NO) != 1:
        return []
    return [text for text in texts if text.strip().casefold() in meant]
