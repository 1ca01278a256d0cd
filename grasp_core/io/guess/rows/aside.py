"""Rows that hold nobody's answer, or none that was accepted.

Sums below a matrix, ids such as ``consensus``, checks of attention, test questions, rejected assignments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, takewhile

import numpy as np

from grasp_core.annotations import is_number
from grasp_core.data_spec import DataSpec
from grasp_core.io.guess.advice import Advice
from grasp_core.io.guess.look import Look
from grasp_core.io.guess.reasons import Reason
from grasp_core.io.guess.rows.about_raters import rows_about_raters
from grasp_core.io.guess.rows.flags import beside, occurrences, withdrawn, yes_of_two
from grasp_core.io.table import names
from grasp_core.io.table.table import Table
from grasp_core.wording import quoted

_MOST_SUMS = 5
_MAY_CHECK = re.compile("|".join(sorted(names.CHECKS)), re.I)
"""Few of many ids: no others need be taken apart into words."""
_SUMMING = "it sums up the rows above it"
_MADE = "its name says that it was made of others' labels, or is known to be right"
_CHECKING = "its name says that such rows check the rater"
_DESCRIBING = "it describes the raters; what is known of them goes into a raters file"
_ANSWER_KNOWN = "GOLDEN:"
"""What Toloka's columns of right answers begin with, filled for control tasks alone."""
_MOST_ANSWERS = 100
_NOBODY = frozenset(
    {"nan", "null", "undefined", "<na>", "#n/a", "unknown", "anonymous", "not-logged-in", "not logged in"}
)


def guess_aside(look: Look, raters: Table | None, spec: DataSpec) -> tuple[DataSpec, list[Reason]]:
    """The reading without rows that are no answers, as sums below them; such rows go by their values."""
    table, filters = look.whole, spec.filters
    found: list[tuple[str, str, str]] = []
    if spec.layout == "items-by-raters" and spec.item is not None:
        sums = _sums(table, spec.item, _numbers_below(table, spec))
        found = [(spec.item, text, _SUMMING) for text in sums]
        found += [(spec.item, text, _DESCRIBING) for text in rows_about_raters(table, spec)]
        filters = replace(filters, items=_and_more(filters.items, found))
    elif spec.layout == "raters-by-items" and spec.rater is not None:
        sums = _sums(table, spec.rater, _numbers_below(table, spec))
        found = [(spec.rater, text, _SUMMING) for text in sums]
        filters = replace(filters, raters=_and_more(filters.raters, found))
    elif spec.layout == "long" and spec.label in table.columns:
        item, rater, label = str(spec.item), str(spec.rater), str(spec.label)
        found = [(item, text, _SUMMING) for text in _totals(table, item, label)]
        totals = _unknown(table, raters, rater, _totals(table, rater, label))
        found += [(rater, text, _SUMMING) for text in totals]
        drop = dict.fromkeys([*filters.drop, *((name, text) for name, text, _ in found)])
        filters = replace(filters, drop=tuple(drop))
    return replace(spec, filters=filters), [
        Reason("filters", f"{quoted(name)} = {quoted(text)} is no answer: {why}") for name, text, why in found
    ]


def _and_more(given: tuple[str, ...], found: Sequence[tuple[str, str, str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*given, *(text for _, text, _ in found))))


def advise_aside(look: Look, raters: Table | None, spec: DataSpec) -> list[Advice]:
    """What is recommended to be left out: labels that nobody gave, checks, and answers not accepted."""
    table = look.whole
    if spec.layout == "items-by-raters" and spec.item is not None:
        checks = tuple(_check_items(table, spec.item))
        return [Advice("items", spec.item, checks, _CHECKING, len(checks))] if checks else []
    if spec.layout == "raters-by-items" and spec.rater is not None:
        made = tuple(text for text in _made(table, raters, spec.rater) if text not in spec.filters.raters)
        return [Advice("raters", spec.rater, made, _MADE, len(made))] if made else []
    if spec.layout != "long" or not {spec.item, spec.rater} <= set(table.columns):
        return []
    item, rater = str(spec.item), str(spec.rater)
    found = [(rater, text, _MADE) for text in _made(table, raters, rater)]
    found += [(rater, text, "it names nobody") for text in _nobody(table, raters, rater)]
    checks_in = [(item, text) for text in _check_items(table, item)]
    checks_in += [*_checks(table, spec), *_known_answers(table, spec)]
    found += [(name, text, _CHECKING) for name, text in checks_in]
    found += [(name, text, "such answers were not accepted") for name, text in withdrawn(look, spec)]
    by_column: dict[tuple[str, str], list[str]] = {}
    for name, text, why in found:
        texts = by_column.setdefault((name, why), [])
        if (name, text) not in spec.filters.drop and text not in texts:
            texts.append(text)
    return [
        Advice(
            "drop", name, tuple(dict.fromkeys(texts)), why, sum(occurrences(table, name, t) for t in texts)
        )
        for (name, why), texts in by_column.items()
        if texts
    ]


def _sums(table: Table, item: str, below: int) -> list[str]:
    """Ids of the last rows, as far as they are words for sums, or among the `below` last ones."""
    column = table.column(item)
    found: list[str] = []
    for at, code in enumerate(column.codes[::-1][: _MOST_SUMS + 1].tolist()):
        if at >= below and not _says(column.values[code], names.SUMS):
            break
        found.append(column.values[code])
    return found if len(found) <= _MOST_SUMS and 2 * len(found) < len(table) else []


def _numbers_below(table: Table, spec: DataSpec) -> int:
    """How many last rows of a matrix of words hold numbers alone, such as how often each was given."""
    beside = {spec.item, spec.rater, spec.text, *spec.profile, *spec.ignore}
    cells = [name for name in table.columns if name not in beside]
    ends = ([table.cell(name, row).strip() for name in cells] for row in range(len(table) - 1, -1, -1))
    numbers = takewhile(lambda texts: any(texts) and all(map(_is_count, filter(None, texts))), ends)
    below = sum(1 for _ in islice(numbers, _MOST_SUMS + 1))
    if not 0 < below <= _MOST_SUMS:
        return 0
    for column in map(table.column, cells):
        counts = np.array([_is_count(text.strip()) for text in column.values], dtype=bool)
        if counts[column.codes[:-below]].any():
            return 0
    return below


def _is_count(text: str) -> bool:
    return is_number(text.rstrip("% "))


def _totals(table: Table, ids: str, label: str) -> list[str]:
    """Ids of a long file's last rows with a label that are words for sums, and stand nowhere else."""
    column = table.column(ids)
    codes = column.codes[::-1][: 2 * _MOST_SUMS].tolist()
    cells = [table.cell(label, len(table) - 1 - at) for at in range(len(codes))]
    last = (column.values[code] for code, cell in zip(codes, cells, strict=True) if cell.strip())
    found = list(takewhile(lambda text: _says(text, names.SUMS), last))
    return [text for text in found if int(column.among([text]).sum()) == 1]


def _made(table: Table, raters: Table | None, rater: str) -> list[str]:
    """Rater ids that are words for labels made of others, and that no raters file knows."""
    return _unknown(
        table, raters, rater, [text for text in table.distinct(rater) if _says(text, names.DECIDED)]
    )


def _nobody(table: Table, raters: Table | None, rater: str) -> list[str]:
    """Rater ids that programs and people write where they know none: they may stand for several."""
    ids = table.distinct(rater)
    return _unknown(table, raters, rater, [text for text in ids if text.strip().casefold() in _NOBODY])


def _unknown(table: Table, raters: Table | None, rater: str, found: list[str]) -> list[str]:
    """Those ids that no raters file knows; none if hardly another would be left."""
    ids = table.distinct(rater)
    if raters is not None and found:
        known = {text for name in raters.columns for text in raters.distinct(name)}
        found = [text for text in found if text not in known]
    return found if len(found) + 1 < len(ids) else []


def _checks(table: Table, spec: DataSpec) -> Iterator[tuple[str, str]]:
    """Columns and values of rows that check or teach: ``is_attention_check`` yes, ``block`` practice."""
    for name in beside(table, spec):
        words = set(names.words(name))
        if _marks_checks(table, spec, name):
            yield from ((name, text) for text in yes_of_two(table, name))
        elif not names.PHASES.isdisjoint(words):
            kinds = names.CHECKS if names.TIMES.isdisjoint(words) else names.CHECKS | names.TEACHING
            texts = table.distinct(name)
            found = [text for text in texts if _says(text, kinds, names.PHASES)]
            yield from ((name, text) for text in found if len(found) < len(texts))


def _marks_checks(table: Table, spec: DataSpec, name: str) -> bool:
    """Whether the name asks if a row is a check; a plain ``gold`` may be the right label itself."""
    first, *words = names.words(name) or ("",)
    if first != "is":
        words = [first, *words]
    if first == "is" and not names.CHECKS.isdisjoint(words):
        return True
    if "test" in words and not names.QUESTIONS.isdisjoint(words):
        return set(words) <= names.QUESTIONS | {"test"}
    if not words or not names.GOLD.issuperset(set(words) - names.QUESTIONS) or names.GOLD.isdisjoint(words):
        return False
    labels = {text.casefold() for label in spec.labels for text in _texts(table, label)}
    told = first == "is" or name == "_golden"  # as Appen calls it
    return told or labels.isdisjoint(text.casefold() for text in table.distinct(name))


def _known_answers(table: Table, spec: DataSpec) -> Iterator[tuple[str, str]]:
    """Columns and values that tell the right answer of control tasks, and are empty for all others."""
    for name in beside(table, spec):
        if name.startswith(_ANSWER_KNOWN):
            texts = table.distinct(name)
            found = [text for text in texts if text.strip()]
            if len(found) < len(texts) and len(found) <= _MOST_ANSWERS:
                yield from ((name, text) for text in found)


def _check_items(table: Table, item: str) -> list[str]:
    """Item ids that name checks: ``attention_check_1``, ``catch trial 3``; a lone word may be the item."""
    ids = table.distinct(item)
    found = [text for text in ids if _MAY_CHECK.search(text) and _names_check(text)]
    return found if 2 * len(found) < len(ids) else []


def _names_check(text: str) -> bool:
    words = [word for word in names.words(text) if not word.isdigit()]
    beside = len(words) < len(names.words(text)) or not names.QUESTIONS.isdisjoint(words)
    checks = names.CHECKS.intersection(words)
    return set(words) <= names.CHECKS | names.QUESTIONS and (len(checks) > 1 or (bool(checks) and beside))


def _texts(table: Table, name: str) -> list[str]:
    """Distinct texts of a column; none where recoding has yet to make it."""
    return list(table.distinct(name)) if name in table.columns else []


def _says(text: str, kinds: frozenset[str], beside: frozenset[str] = names.BESIDE_SUMS) -> bool:
    """Whether all words of an id are among `kinds` or `beside`, one at least among `kinds`."""
    words = set(names.words(text))
    return not words.isdisjoint(kinds) and words <= kinds | beside
