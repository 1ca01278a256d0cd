"""Rows that may not be meant to count: what is left out by itself, what is advised, and what is doubted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, takewhile
from typing import Any, Literal

import numpy as np

from grasp_core.model.annotations import is_number
from grasp_core.model.data_spec import DataSpec
from grasp_core.model.text import agree, listed, number, quoted
from grasp_core.reading.dataset.votes import cell_columns
from grasp_core.reading.guess.advice import Advice, Reason
from grasp_core.reading.guess.look import Look
from grasp_core.reading.guess.values import label_cells
from grasp_core.reading.table import names
from grasp_core.reading.table.table import Table

_OUT = names.YES | names.word_set("removed excluded rejected discarded dropped")


def guess_exclusions(
    annotations: Table, raters: Table | None, spec: DataSpec, texts: Mapping[str, Sequence[str]]
) -> tuple[list[Advice], list[Reason]]:
    """Raters whom a column says to leave out, as advice; of columns that may mean it, that they may.

    - `texts`: columns about raters, and the distinct texts in each.
    """
    advice: list[Advice] = []
    reasons: list[Reason] = []
    for out, kept, sure in (
        (names.MAYBE_EXCLUDED, names.MAYBE_KEPT, False),
        (names.EXCLUDED, names.KEPT, True),
    ):
        for name, value in _excluding(texts, out, kept):
            rows = raters if raters is not None and name in raters.columns else annotations
            having = rows.column(name).among([value])
            some, of = int(having.sum()), len(rows)
            if rows is annotations and spec.layout == "long":
                ids = annotations.column(str(spec.rater)).codes
                some, of = len(np.unique(ids[having])), len(np.unique(ids))
            others = {text.strip().casefold() for text in texts[name]} - names.YES - names.NO
            doubt = None if sure else f"{some:,} of {number(of, 'rater')}"
            if sure and is_number(value) and any(map(is_number, others)):
                doubt = f"one of {number(len(texts[name]), 'value')}, as counts have"
            elif sure and 2 * some >= of:
                doubt = f"{some:,} of {number(of, 'rater')}, so many"
            if doubt is None:
                why = "the column's name says who should not count"
                advice.append(Advice("exclude", name, (value,), why, some))
                continue
            said = (
                f"{quoted(name)} = {quoted(value)} ({doubt}) may say who should not count; nobody is left "
                f"out, unless on Data, under Leave out, or by --exclude {name}={value}"
            )
            reasons.append(Reason("exclude", said, "unsure", (name,)))
    return advice, reasons


def _excluding(
    texts: Mapping[str, Sequence[str]], out: frozenset[str], kept: frozenset[str]
) -> Iterator[tuple[str, str]]:
    for name, some in texts.items():
        meant = _OUT if names.mentions(name, out) else names.NO if names.mentions(name, kept) else ()
        found = next((text for text in some if text.strip().casefold() in meant), None)
        if found is not None:
            yield name, found


Rows = Iterable[tuple[str, str]]
"""Columns and values of rows."""


@dataclass(frozen=True, slots=True)
class _File:
    """The file whose rows are looked at, and what is known of it."""

    look: Look
    raters: Table | None
    spec: DataSpec

    @property
    def table(self) -> Table:
        return self.look.whole

    @property
    def item(self) -> str:
        return str(self.spec.item)

    @property
    def rater(self) -> str:
        return str(self.spec.rater)

    def beside(self) -> Iterator[str]:
        """Columns that hold neither ids nor labels."""
        taken = (self.spec.item, self.spec.rater, self.spec.text, *self.spec.labels)
        return (name for name in self.table.columns if name not in taken)

    def of_items(self, name: str) -> bool:
        """Whether the item decides a column's value, judged in a large table by all rows of some items."""
        return self.look.of_some(self.item).depends_on(name, self.item)

    def many(self, name: str, text: str) -> bool:
        """Whether so many rows hold the text that it may be the answer to a question."""
        return occurrences(self.table, name, text) >= _MANY * len(self.table)

    def nobody_known(self, found: Iterable[str]) -> list[str]:
        """Those rater ids that no raters file knows; none if hardly another would be left."""
        tables = [] if self.raters is None else [self.raters]
        known = {text for table in tables for name in table.columns for text in table.distinct(name)}
        found = [text for text in found if text not in known]
        return found if len(found) + 1 < len(self.table.distinct(self.rater)) else []

    def against(self, name: str, out: frozenset[str], kept: frozenset[str]) -> list[str]:
        """How a column called by one of the words says that an answer does not count; else none."""
        words = names.words(name)
        if _one_of(words, out):
            return _yes_of_two(self.table, name)
        return _yes_of_two(self.table, name, names.NO) if _one_of(words, kept) else []


_MANY = 1 / 3
_ACCEPTED = frozenset({"accepted", "approved", "submitted"})
_NOT_ACCEPTED = frozenset({"rejected", "returned", "expired", "timed-out", "skipped"})


def _withdrawn(file: _File) -> Rows:
    """Answers that were not accepted: Toloka's status, ``is_valid`` no.

    What is the same for all answers to an item is the item's; what is the same for all of a rater is told
    by the exclusions of raters.
    """
    for name in _of_answers(file):
        flags = file.against(name, names.WITHDRAWN, names.STANDING)
        found = [text for text in flags if not file.many(name, text)]
        if names.words(name)[-1:] == ("status",):
            texts = file.table.distinct(name)
            accepted = any(text.strip().casefold() in _ACCEPTED for text in texts)
            found = [text for text in texts if accepted and text.strip().casefold() in _NOT_ACCEPTED]
        if found and not file.of_items(name):
            yield from ((name, text) for text in found)


def _maybe_withdrawn(file: _File) -> Rows:
    """What may say so, or answer a question: ``accept`` no, ``valid`` no of most."""
    for name in _of_answers(file):
        flags = file.against(name, names.WITHDRAWN, names.STANDING)
        found = [text for text in flags if file.many(name, text)]
        found += file.against(name, names.WITHDRAW, names.STAND)
        if found and not file.of_items(name):
            yield from ((name, text) for text in found)


def _of_answers(file: _File) -> Iterator[str]:
    excluding = {name for name, _ in file.spec.exclude}
    return (name for name in file.beside() if name not in excluding)


def _one_of(words: Sequence[str], kinds: frozenset[str]) -> bool:
    """Whether the words are one of `kinds`, and such as may stand beside it."""
    return len(kinds.intersection(words)) == 1 and set(words) <= kinds | names.BESIDE_FLAGS


def occurrences(table: Table, name: str, text: str) -> int:
    """Rows with the text in a column."""
    return int(table.column(name).among([text]).sum())


def _yes_of_two(table: Table, name: str, meant: frozenset[str] = names.YES) -> list[str]:
    """How a column says yes (or what is `meant`) that says nothing else but yes and no; else none."""
    texts = table.distinct(name)
    said = {text.strip().casefold() for text in texts} - {""}
    if len(said) != 2 or len(said & names.YES) != 1 or len(said & names.NO) != 1:
        return []
    return [text for text in texts if text.strip().casefold() in meant]


_MOST_KINDS = 10
_NO_PERSONS = names.MODELS | names.MADE
_NONE = frozenset({"na", "n/a", "not applicable", "none", "skip", "skipped", "no answer"})
_MODEL = re.compile(
    r"(?<![^\W_])((chat)?gpt|llm(?!\d+[a-z])|deepseek|qwen|mixtral|((claude|llama|gemini|mistral|gemma|grok)[\W_]?\d))",
    re.I,
)
"""What models are called, and people are not."""


def in_doubt(look: Look, spec: DataSpec) -> Iterator[Reason]:
    """What may say of a long file's rows that they do not count; the columns are the candidates."""
    file = _File(look, None, spec)
    table = look.whole
    if spec.layout != "long" or not {spec.item, spec.rater} <= set(table.columns):
        return
    told = {name for name, _ in spec.filters.drop}
    unaccepted = "such answers may not have been accepted"
    found = [(name, text, unaccepted) for name, text in _maybe_withdrawn(file)]
    for name in (name for name in file.beside() if name not in told):
        texts = [text for text in table.distinct(name) if text.strip()]
        ticked = len(texts) == 1 and occurrences(table, name, texts[0]) < len(table)
        if ticked and texts[0].strip().casefold() in _NONE:
            found.append((name, texts[0], "such answers may mean that there is none"))
        elif _one_of(names.words(name), names.TRIALS):
            found += [(name, text, "such rows may be tests") for text in _yes_of_two(table, name)]
        else:
            why = "such labels may be a model's, or made of others'"
            found += [(name, text, why) for text in _no_persons(file, name)]
    for name, text, may in found:
        rows = number(occurrences(table, name, text), "row")
        why = (
            f"{quoted(name)} = {quoted(text)} in {rows} of {len(table):,}: {may}; they count, unless left "
            f"out on Data, under Leave out, or by --drop {name}={text}"
        )
        yield Reason("filters", why, "unsure", (name,))
    ids = table.distinct(file.rater)
    models = [text for text in ids if _MODEL.search(text)]
    if models and 2 * len(models) <= len(ids):
        why = (
            f"{listed(models, 3)} {agree(len(models), 'is', 'are')} called like "
            f"{agree(len(models), 'a model', 'models')}, not like the other raters; "
            f"{agree(len(models), 'it counts', 'they count')}, unless left out on Data, under Leave out, or "
            f"by --exclude-rater {models[0]}"
        )
        yield Reason("filters", why, "unsure")


def _no_persons(file: _File, name: str) -> list[str]:
    """What a column that says who gave each label, as ``annotator_type``, calls models and the like."""
    *of, kind = names.words(name) or ("",)
    if kind not in names.KINDS or not (names.RATER | names.LABEL).intersection(map(names.singular, of)):
        return []
    texts = [text for text in file.table.distinct(name) if text.strip()]
    found = [text for text in texts if not _NO_PERSONS.isdisjoint(names.words(text))]
    able = 0 < len(found) < len(texts) <= _MOST_KINDS
    return found if able and not file.of_items(name) else []


_MOST_SUMS = 5
_MAY_CHECK = re.compile("|".join(sorted(names.CHECKS)), re.I)
"""Few of many ids: no others need be taken apart into words."""
_SUMMING = "it sums up the rows above it"
_DESCRIBING = "it describes the raters; what is known of them goes into a raters file"
_ANSWER_KNOWN = "GOLDEN:"
"""What Toloka's columns of right answers begin with, filled for control tasks alone."""
_MOST_ANSWERS = 100
_NOBODY = frozenset(
    {"nan", "null", "undefined", "<na>", "#n/a", "unknown", "anonymous", "not-logged-in", "not logged in"}
)


def guess_aside(look: Look, raters: Table | None, spec: DataSpec) -> tuple[DataSpec, list[Reason]]:
    """The reading without rows that are no answers, as sums below them; such rows go by their values."""
    file, table = _File(look, raters, spec), look.whole
    found: list[tuple[str, str, str]] = []
    field: Literal["items", "raters", "drop"] = "drop"
    if spec.layout == "items-by-raters" and spec.item is not None:
        field = "items"
        found = [(spec.item, text, _SUMMING) for text in _sums(table, spec, spec.item)]
        found += [(spec.item, text, _DESCRIBING) for text in _rows_about_raters(table, spec)]
    elif spec.layout == "raters-by-items" and spec.rater is not None:
        field = "raters"
        found = [(spec.rater, text, _SUMMING) for text in _sums(table, spec, spec.rater)]
    elif spec.layout == "long" and spec.label in table.columns:
        found = [(file.item, text, _SUMMING) for text in _totals(table, file.item, str(spec.label))]
        totals = file.nobody_known(_totals(table, file.rater, str(spec.label)))
        found += [(file.rater, text, _SUMMING) for text in totals]
    more = [(name, text) if field == "drop" else text for name, text, _ in found]
    kept: dict[str, Any] = {field: tuple(dict.fromkeys([*getattr(spec.filters, field), *more]))}
    return replace(spec, filters=replace(spec.filters, **kept)), [
        Reason("filters", f"{quoted(name)} = {quoted(text)} is no answer: {why}") for name, text, why in found
    ]


def advise_aside(look: Look, raters: Table | None, spec: DataSpec) -> list[Advice]:
    """What is recommended to be left out: labels that nobody gave, checks, and answers not accepted."""
    file = _File(look, raters, spec)
    if spec.layout == "long" and not {spec.item, spec.rater} <= set(look.whole.columns):
        return []
    left_out = {*spec.filters.drop}
    if spec.layout == "raters-by-items":
        left_out |= {(file.rater, text) for text in spec.filters.raters}
    by_column: dict[tuple[str, str], dict[str, None]] = {}
    for rule, layouts, why in _RULES:
        for name, text in rule(file) if spec.layout in layouts else ():
            if (name, text) not in left_out:
                by_column.setdefault((name, why), {})[text] = None
    field: Literal["items", "raters", "drop"] = "drop"
    if spec.layout != "long":
        field = "items" if spec.layout == "items-by-raters" else "raters"
    return [
        Advice(
            field,
            name,
            tuple(texts),
            why,
            sum(occurrences(look.whole, name, text) for text in texts) if field == "drop" else len(texts),
        )
        for (name, why), texts in by_column.items()
    ]


def _sums(table: Table, spec: DataSpec, key: str) -> list[str]:
    """Ids of the last rows, as far as they are words for sums, or hold numbers below rows of words."""
    below = _numbers_below(table, spec)
    column = table.column(key)
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


_BESIDE = names.word_set("of in group level year years birth range bracket code id")
_OWN = 0.5
"""Share of such a row's cells that hold what no item is labelled with."""


def _rows_about_raters(table: Table, spec: DataSpec) -> list[str]:
    """Ids of rows that are called like demographics, and hold other texts than the items do."""
    column, columns = table.column(str(spec.item)), cell_columns(table, spec)
    called = [text for text in column.values if _says(text, names.DEMOGRAPHIC, _BESIDE)]
    if not called:
        return []
    rows = {text: int(column.among([text]).argmax()) for text in called}
    cells = {
        text: [cell for name in columns if (cell := table.cell(name, row))] for text, row in rows.items()
    }
    within = Counter(cell for row in cells.values() for cell in row if cell not in spec.missing)
    of_items = Counter(label_cells(table, spec)) - within
    return [
        text
        for text, row in cells.items()
        if row and sum(not of_items[cell] for cell in row) > _OWN * len(row)
    ]


def _totals(table: Table, ids: str, label: str) -> list[str]:
    """Ids of a long file's last rows with a label that are words for sums, and stand nowhere else."""
    column = table.column(ids)
    codes = column.codes[::-1][: 2 * _MOST_SUMS].tolist()
    cells = [table.cell(label, len(table) - 1 - at) for at in range(len(codes))]
    last = (column.values[code] for code, cell in zip(codes, cells, strict=True) if cell.strip())
    found = list(takewhile(lambda text: _says(text, names.SUMS), last))
    return [text for text in found if int(column.among([text]).sum()) == 1]


def _made(file: _File) -> Rows:
    """Rater ids that are words for labels made of others, and that no raters file knows."""
    if file.spec.rater is None:
        return []
    found = [text for text in file.table.distinct(file.rater) if _says(text, names.DECIDED)]
    return [(file.rater, text) for text in file.nobody_known(found)]


def _nobody(file: _File) -> Rows:
    """Rater ids that programs and people write where they know none: they may stand for several."""
    ids = file.table.distinct(file.rater)
    found = file.nobody_known(text for text in ids if text.strip().casefold() in _NOBODY)
    return [(file.rater, text) for text in found]


def _check_items(file: _File) -> Rows:
    """Item ids that name checks: ``attention_check_1``, ``catch trial 3``; a lone word may be the item."""
    if file.spec.item is None:
        return []
    ids = file.table.distinct(file.item)
    found = [text for text in ids if _MAY_CHECK.search(text) and _names_check(text)]
    return [(file.item, text) for text in found] if 2 * len(found) < len(ids) else []


def _names_check(text: str) -> bool:
    words = [word for word in names.words(text) if not word.isdigit()]
    beside = len(words) < len(names.words(text)) or not names.QUESTIONS.isdisjoint(words)
    checks = names.CHECKS.intersection(words)
    return set(words) <= names.CHECKS | names.QUESTIONS and (len(checks) > 1 or (bool(checks) and beside))


def _checks(file: _File) -> Rows:
    """Rows that check or teach: ``is_attention_check`` yes, ``block`` practice."""
    for name in file.beside():
        words, texts = set(names.words(name)), file.table.distinct(name)
        if _marks_checks(file, name):
            yield from ((name, text) for text in _yes_of_two(file.table, name))
        elif not names.PHASES.isdisjoint(words):
            kinds = names.CHECKS if names.TIMES.isdisjoint(words) else names.CHECKS | names.TEACHING
            found = [text for text in texts if _says(text, kinds, names.PHASES)]
            yield from ((name, text) for text in found if len(found) < len(texts))


def _marks_checks(file: _File, name: str) -> bool:
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
    table = file.table  # a column that recoding has yet to make has no labels
    able = (label for label in file.spec.labels if label in table.columns)
    labels = {text.casefold() for label in able for text in table.distinct(label)}
    told = first == "is" or name == "_golden"  # as Appen calls it
    return told or labels.isdisjoint(text.casefold() for text in table.distinct(name))


def _known_answers(file: _File) -> Rows:
    """Right answers of control tasks, in columns that are empty for all others."""
    for name in (name for name in file.beside() if name.startswith(_ANSWER_KNOWN)):
        texts = file.table.distinct(name)
        found = [text for text in texts if text.strip()]
        if len(found) < len(texts) and len(found) <= _MOST_ANSWERS:
            yield from ((name, text) for text in found)


_CHECKING = "its name says that such rows check the rater"
_MADE = "its name says that it was made of others' labels, or is known to be right"
_RULES: Sequence[tuple[Callable[[_File], Rows], Sequence[str], str]] = (
    (_made, ("long", "raters-by-items"), _MADE),
    (_nobody, ("long",), "it names nobody"),
    (_check_items, ("long", "items-by-raters"), _CHECKING),
    (_checks, ("long",), _CHECKING),
    (_known_answers, ("long",), _CHECKING),
    (_withdrawn, ("long",), "such answers were not accepted"),
)
"""What is recommended to be left out, in which layouts, and why."""


def _says(text: str, kinds: frozenset[str], beside: frozenset[str] = names.BESIDE_SUMS) -> bool:
    """Whether all words of an id are among `kinds` or `beside`, one at least among `kinds`."""
    words = set(names.words(text))
    return not words.isdisjoint(kinds) and words <= kinds | beside
