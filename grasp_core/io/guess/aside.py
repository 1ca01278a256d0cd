"""Rows that hold nobody's answer, or none that was accepted.

Sums below a matrix, ids such as ``consensus``, checks of attention, rejected assignments.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from grasp_core.data_spec import DataSpec
from grasp_core.io.guess.look import Look
from grasp_core.io.guess.reasons import Reason
from grasp_core.io.table import names
from grasp_core.io.table.table import Table
from grasp_core.wording import quoted

_MOST_SUMS = 5
_ACCEPTED = frozenset({"accepted", "approved", "submitted"})
_NOT_ACCEPTED = frozenset({"rejected", "returned", "expired", "timed-out", "skipped"})


def guess_aside(table: Table, raters: Table | None, spec: DataSpec) -> tuple[DataSpec, list[Reason]]:
    """The reading without rows that hold nobody's answer, and why; such rows are left out by their values."""
    filters = spec.filters
    found: list[tuple[str, str, str]] = []
    if spec.layout == "items-by-raters" and spec.item is not None:
        found = [(spec.item, text, "it sums up the rows above it") for text in _sums(table, spec.item)]
        filters = replace(filters, items=tuple(text for _, text, _ in found))
    elif spec.layout == "raters-by-items" and spec.rater is not None:
        both = dict.fromkeys([*_sums(table, spec.rater), *_made(table, raters, spec.rater)])
        found = [(spec.rater, text, "its name says that nobody answered so") for text in both]
        filters = replace(filters, raters=tuple(both))
    elif spec.layout == "long":
        rater = str(spec.rater)
        why = "its name says that it was made of others' labels, or is known to be right"
        found = [(rater, text, why) for text in _made(table, raters, rater)]
        why = "its name says that such rows check the rater"
        found += [(name, text, why) for name, text in _checks(table, spec)]
        why = "such answers were not accepted"
        found += [(name, text, why) for name, text in _rejected(table, spec)]
        drop = dict.fromkeys([*filters.drop, *((name, text) for name, text, _ in found)])
        filters = replace(filters, drop=tuple(drop))
    return replace(spec, filters=filters), [
        Reason("filters", f"{quoted(name)} = {quoted(text)} is left out: {why}") for name, text, why in found
    ]


def _sums(table: Table, item: str) -> list[str]:
    """Ids of the last rows, as far as they are words for sums."""
    column = table.column(item)
    found: list[str] = []
    for code in column.codes[::-1][: _MOST_SUMS + 1].tolist():
        if not _says(column.values[code], names.SUMS):
            break
        found.append(column.values[code])
    return found if len(found) <= _MOST_SUMS and 2 * len(found) < len(table) else []


def _made(table: Table, raters: Table | None, rater: str) -> list[str]:
    """Rater ids that are words for labels made of others, and that no raters file knows."""
    ids = table.distinct(rater)
    found = [text for text in ids if _says(text, names.MADE)]
    if raters is not None and found:
        known = {text for name in raters.columns for text in raters.distinct(name)}
        found = [text for text in found if text not in known]
    return found if len(found) + 1 < len(ids) else []


def _checks(table: Table, spec: DataSpec) -> Iterator[tuple[str, str]]:
    """Columns and values of rows that check or teach: ``is_attention_check`` yes, ``block`` practice."""
    for name in _beside(table, spec):
        words = names.words(name)
        if words[:1] == ("is",) and not names.CHECKS.isdisjoint(words):
            yield from ((name, text) for text in _yes_of_two(table, name))
        elif not names.PHASES.isdisjoint(words):
            texts = table.distinct(name)
            found = [text for text in texts if _says(text, names.CHECKS, names.PHASES)]
            yield from ((name, text) for text in found if len(found) < len(texts))


def _rejected(table: Table, spec: DataSpec) -> Iterator[tuple[str, str]]:
    """Columns and values of answers that were not accepted: Toloka's status, Appen's ``_tainted``.

    A status that is the same for all answers to an item is the item's.
    """
    for name in _beside(table, spec):
        words = names.words(name)
        if words == ("tainted",):
            yield from ((name, text) for text in _yes_of_two(table, name))
        elif words[-1:] == ("status",):
            texts = table.distinct(name)
            found = [text for text in texts if text.strip().casefold() in _NOT_ACCEPTED]
            accepted = any(text.strip().casefold() in _ACCEPTED for text in texts)
            if found and accepted and not _of_items(table, name, str(spec.item)):
                yield from ((name, text) for text in found)


def _of_items(table: Table, name: str, item: str) -> bool:
    """Whether the item decides a column's value, judged in a large table by all rows of some items."""
    return Look(table).of_some(item).depends_on(name, item)


def _beside(table: Table, spec: DataSpec) -> Iterator[str]:
    """Columns that hold neither ids nor labels."""
    taken = (spec.item, spec.rater, spec.text, *spec.labels)
    return (name for name in table.columns if name not in taken)


def _yes_of_two(table: Table, name: str) -> list[str]:
    """How a column says yes that says nothing but yes and no; none where it says something else."""
    texts = table.distinct(name)
    said = {text.strip().casefold() for text in texts} - {""}
    if len(said) != 2 or len(said & names.YES) != 1 or len(said & names.NO) != 1:
        return []
    return [text for text in texts if text.strip().casefold() in names.YES]


def _says(text: str, kinds: frozenset[str], beside: frozenset[str] = names.BESIDE_SUMS) -> bool:
    """Whether all words of an id are among `kinds` or `beside`, one at least among `kinds`."""
    words = set(names.words(text))
    return not words.isdisjoint(kinds) and words <= kinds | beside
