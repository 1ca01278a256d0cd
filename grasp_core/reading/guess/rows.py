"""Rows that may not be meant to count: some are left out, some advised to be, and some asked about."""

import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, takewhile
from typing import Any, Literal

import numpy as np

from grasp_core.model.annotations import is_number
from grasp_core.model.data_spec import DataSpec
from grasp_core.model.text import agree, listed, number, quoted
from grasp_core.reading.dataset.recoding import counts
from grasp_core.reading.dataset.votes import cell_columns
from grasp_core.reading.guess.advice import Advice, Reading, Reason
from grasp_core.reading.guess.look import Look
from grasp_core.reading.table import names
from grasp_core.reading.table.table import Table


def guess_exclusions(
    annotations: Table, raters: Table | None, spec: DataSpec, texts: Mapping[str, Sequence[str]]
) -> tuple[list[Advice], list[Reason]]:
    """Advise on raters whom a column of `texts` says to leave out, and return doubts on others that may."""
    advice: list[Advice] = []
    reasons: list[Reason] = []
    for out, kept, sure in (
        (names.MAYBE_EXCLUDED, names.MAYBE_KEPT, False),
        (names.EXCLUDED, names.KEPT, True),
    ):
        for name, own in texts.items():
            meant = names.OUT if names.mentions(name, out) else names.NO if names.mentions(name, kept) else ()
            value = next((text for text in own if _plain(text) in meant), None)
            if value is None or (not sure and names.mentions(name, names.EXCLUDED | names.KEPT)):
                continue
            rows = raters if raters is not None and name in raters.columns else annotations
            having = rows.column(name).among([value])
            some, of = int(having.sum()), len(rows)
            if rows is annotations and spec.layout == "long":
                ids = annotations.column(str(spec.rater)).codes
                some, of = len(np.unique(ids[having])), len(np.unique(ids))
            others = set(map(_plain, own)) - names.YES - names.NO
            doubt = None if sure else f"{some:,} of {number(of, 'rater')}"
            if sure and is_number(value) and any(map(is_number, others)):
                doubt = f"one of {number(len(own), 'value')}, as counts have"
            elif sure and 2 * some >= of:
                doubt = f"{some:,} of {number(of, 'rater')}, so many"
            if doubt is None:
                why = "the column's name says who should not count"
                advice.append(Advice("exclude", name, (value,), why, some))
                continue
            said = (
                f"{quoted(name)} = {quoted(value)} ({doubt}) may say who should not count; nobody is left "
                f"out, unless on Data, under Leave out, or by --exclude {shlex.quote(f'{name}={value}')}"
            )
            reasons.append(Reason("exclude", said, "unsure", (name,)))
    return advice, reasons


Rows = Iterable[tuple[str, str]]  # columns and values that select rows
_MANY = 1 / 3
_MOST_KINDS = 10
_MOST_SUMS = 5
_MOST_ANSWERS = 100
_OWN = 0.5  # share of cells with texts that are no item's label, above which a row describes raters
_ACCEPTED = frozenset({"accepted", "approved", "submitted"})
_NOT_ACCEPTED = frozenset({"rejected", "returned", "expired", "timed-out", "skipped"})
_NONE = frozenset({"na", "n/a", "not applicable", "none", "skip", "skipped", "no answer"})
_NOBODY = frozenset(
    {"nan", "null", "undefined", "<na>", "#n/a", "unknown", "anonymous", "not-logged-in", "not logged in"}
)
_MODEL = re.compile(
    r"(?<![^\W_])((chat)?gpt|llm(?!\d+[a-z])|deepseek|qwen|mixtral|((claude|llama|gemini|mistral|gemma|grok)[\W_]?\d)"
    r"|pred(icted|ictions?|s)?(?![^\W_]))",
    re.I,
)
"""Names of models that no person has."""
_MAY_CHECK = re.compile("|".join(sorted(names.CHECKS)), re.I)
"""Ids that may name checks: only these few of many ids need be split into words."""
_ANSWER_KNOWN = "GOLDEN:"
"""Start of the names of Toloka's columns of right answers, filled for control tasks only."""
_FIELDS: Mapping[str, Literal["items", "raters", "drop"]] = {
    "long": "drop", "items-by-raters": "items", "raters-by-items": "raters"
}  # fmt: skip
"""Filters, by layout, that leave rows out and can be undone."""


@dataclass(frozen=True, slots=True)
class _File:
    """The file whose rows are examined, with the raters file and the reading."""

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

    @property
    def key(self) -> str | None:
        """Column with the ids of a matrix's rows."""
        return self.spec.item if self.spec.layout == "items-by-raters" else self.spec.rater

    def beside(self) -> Iterator[str]:
        """Return columns that are neither ids nor labels."""
        taken = (self.spec.item, self.spec.rater, self.spec.text, *self.spec.labels)
        return (name for name in self.table.columns if name not in taken)

    def of_items(self, name: str) -> bool:
        """Return whether the item determines a column's value; in a large table, for some items."""
        return self.look.of_some(self.item).depends_on(name, self.item)

    def many(self, name: str, text: str) -> bool:
        """Return whether so many rows have the text that it may be the answer to a question."""
        return occurrences(self.table, name, text) >= _MANY * len(self.table)

    def no_raters(self, is_none: Callable[[str], bool]) -> Rows:
        """Return rater ids that are none by `is_none` and in no raters file, if others are left."""
        if self.spec.rater is None:
            return []
        ids = self.table.distinct(self.rater)
        columns = () if self.raters is None else map(self.raters.distinct, self.raters.columns)
        known = {text for texts in columns for text in texts}
        found = [(self.rater, text) for text in ids if text not in known and is_none(text)]
        return found if len(found) + 1 < len(ids) else []

    def of_answers(self) -> Iterator[str]:
        """Return columns that are neither ids nor labels, and do not leave raters out."""
        excluding = {name for name, _ in self.spec.exclude}
        return (name for name in self.beside() if name not in excluding)

    def flags(self, out: frozenset[str], kept: frozenset[str]) -> Rows:
        """Yield values that mean uncounted answers, in columns named so and not determined by items."""
        for name in self.of_answers():
            words = names.words(name)
            meant = names.YES if _one_of(words, out) else names.NO if _one_of(words, kept) else None
            texts = [] if meant is None else _yes_of_two(self.table, name, meant)
            yield from ((name, text) for text in texts if not self.of_items(name))


def occurrences(table: Table, name: str, text: str) -> int:
    """Count the rows with the text in a column."""
    return int(table.column(name).among([text]).sum())


def _one_of(words: Sequence[str], kinds: frozenset[str]) -> bool:
    """Return whether one of the words is in `kinds`, and the others may stand beside it."""
    return len(kinds.intersection(words)) == 1 and set(words) <= kinds | names.BESIDE_FLAGS


def _yes_of_two(table: Table, name: str, meant: frozenset[str] = names.YES) -> list[str]:
    """Return the texts for yes (or as `meant`) of a column of only yes and no; none for other columns."""
    texts = table.distinct(name)
    said = set(map(_plain, texts)) - {""}
    if len(said) != 2 or len(said & names.YES) != 1 or len(said & names.NO) != 1:
        return []
    return [text for text in texts if _plain(text) in meant]


def _says(text: str, kinds: frozenset[str], beside: frozenset[str] = names.BESIDE_SUMS) -> bool:
    """Return whether all words of an id are in `kinds` or `beside`, and at least one in `kinds`."""
    words = set(names.words(text))
    return not words.isdisjoint(kinds) and words <= kinds | beside


# Rules for rows that are no answers


def _sums(file: _File) -> Rows:
    """Return a matrix's last rows with words for sums as ids, or with numbers below rows of words."""
    table, key = file.table, file.key
    if key is None:
        return []
    below = _numbers_below(table, file.spec)
    column = table.column(key)
    found: list[tuple[str, str]] = []
    for at, code in enumerate(column.codes[::-1][: _MOST_SUMS + 1].tolist()):
        if at >= below and not _says(column.values[code], names.SUMS):
            break
        found.append((key, column.values[code]))
    return found if len(found) <= _MOST_SUMS and 2 * len(found) < len(table) else []


def _numbers_below(table: Table, spec: DataSpec) -> int:
    """Count the last rows of a matrix of words with only numbers, such as frequencies of words."""
    beside = {spec.item, spec.rater, spec.text, *spec.profile, *spec.ignore}
    cells = [name for name in table.columns if name not in beside]
    ends = ([table.cell(name, row).strip() for name in cells] for row in range(len(table) - 1, -1, -1))
    ends_of_numbers = takewhile(lambda texts: any(texts) and all(map(_is_count, filter(None, texts))), ends)
    below = sum(1 for _ in islice(ends_of_numbers, _MOST_SUMS + 1))
    if not 0 < below <= _MOST_SUMS:
        return 0
    for column in map(table.column, cells):
        numbers = np.array([_is_count(text.strip()) for text in column.values], dtype=bool)
        if numbers[column.codes[:-below]].any():
            return 0
    return below


def _is_count(text: str) -> bool:
    return is_number(text.rstrip("% "))


def _rows_about_raters(file: _File) -> Rows:
    """Return rows that are named like demographics and have other texts than the items."""
    table, spec = file.table, file.spec
    if spec.item is None:
        return []
    column, columns = table.column(spec.item), cell_columns(table, spec)
    called = [text for text in column.values if _says(text, names.DEMOGRAPHIC, names.BESIDE_DEMOGRAPHIC)]
    rows = {text: int(column.among([text]).argmax()) for text in called}
    cells = {
        text: [cell for name in columns if (cell := table.cell(name, row))] for text, row in rows.items()
    }
    within = Counter(cell for row in cells.values() for cell in row if cell not in spec.missing)
    of_items = Counter(counts([table], None, spec)) - within if called else within
    return [
        (spec.item, text)
        for text, row in cells.items()
        if row and sum(not of_items[cell] for cell in row) > _OWN * len(row)
    ]


def _totals(file: _File) -> Rows:
    """Return a long file's last rows with a label whose ids are words for sums and occur nowhere else."""
    table, label = file.table, file.spec.label
    if label not in table.columns:
        return []
    found: dict[str, list[str]] = {}
    for name in (file.item, file.rater):
        column = table.column(name)
        codes = column.codes[::-1][: 2 * _MOST_SUMS].tolist()
        cells = [table.cell(str(label), len(table) - 1 - at) for at in range(len(codes))]
        last = (column.values[code] for code, cell in zip(codes, cells, strict=True) if cell.strip())
        sums = takewhile(lambda text: _says(text, names.SUMS), last)
        found[name] = [text for text in sums if occurrences(table, name, text) == 1]
    of_items = [(file.item, text) for text in found[file.item]]
    return [*of_items, *file.no_raters(found[file.rater].__contains__)]


# Rules for rows that are recommended to be left out


def _made(file: _File) -> Rows:
    """Return rater ids that are words for labels made from others' labels."""
    return file.no_raters(lambda text: _says(text, names.DECIDED))


def _nobody(file: _File) -> Rows:
    """Return rater ids that programs and people write for unknown raters; one may stand for several."""
    return file.no_raters(lambda text: _plain(text) in _NOBODY)


def _check_items(file: _File) -> Rows:
    """Return ids of check items: ``attention_check_1``, ``catch trial 3``; a lone word may be an item."""
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
    """Yield rows that check or teach raters: ``is_attention_check`` yes, ``block`` practice."""
    for name in file.beside():
        words, texts = set(names.words(name)), file.table.distinct(name)
        if _marks_checks(file, name):
            yield from ((name, text) for text in _yes_of_two(file.table, name))
        elif not names.PHASES.isdisjoint(words):
            kinds = names.CHECKS if names.TIMES.isdisjoint(words) else names.CHECKS | names.TEACHING
            found = [text for text in texts if _says(text, kinds, names.PHASES)]
            yield from ((name, text) for text in found if len(found) < len(texts))


def _marks_checks(file: _File, name: str) -> bool:
    """Return whether the name asks if a row is a check; a plain ``gold`` may be the right label itself."""
    first, *words = names.words(name) or ("",)
    if first != "is":
        words = [first, *words]
    if first == "is" and not names.CHECKS.isdisjoint(words):
        return True
    if "test" in words and not names.QUESTIONS.isdisjoint(words):
        return set(words) <= names.QUESTIONS | {"test"}
    if not words or not names.GOLD.issuperset(set(words) - names.QUESTIONS) or names.GOLD.isdisjoint(words):
        return False
    table = file.table  # a column that recoding will make has no labels
    able = (label for label in file.spec.labels if label in table.columns)
    labels = {text.casefold() for label in able for text in table.distinct(label)}
    told = first == "is" or name == "_golden"  # as Appen calls it
    return told or labels.isdisjoint(text.casefold() for text in table.distinct(name))


def _known_answers(file: _File) -> Rows:
    """Yield right answers of control tasks, in columns that are empty for all other tasks."""
    for name in (name for name in file.beside() if name.startswith(_ANSWER_KNOWN)):
        texts = file.table.distinct(name)
        found = [text for text in texts if text.strip()]
        if len(found) < len(texts) and len(found) <= _MOST_ANSWERS:
            yield from ((name, text) for text in found)


def _withdrawn(file: _File) -> Rows:
    """Yield values of answers that were not accepted, as ``is_valid`` no, unless they describe items."""
    yield from (pair for pair in file.flags(names.WITHDRAWN, names.STANDING) if not file.many(*pair))
    for name in file.of_answers():
        texts = file.table.distinct(name)
        if names.words(name)[-1:] == ("status",) and not _ACCEPTED.isdisjoint(map(_plain, texts)):
            found = [text for text in texts if _plain(text) in _NOT_ACCEPTED]
            yield from ((name, text) for text in found if not file.of_items(name))


# Rules for rows that may not count


def _maybe_withdrawn(file: _File) -> Rows:
    """Yield values that may mean "not accepted" or answer a question: ``accept`` no, many of ``valid`` no."""
    yield from (pair for pair in file.flags(names.WITHDRAWN, names.STANDING) if file.many(*pair))
    yield from file.flags(names.WITHDRAW, names.STAND)


def _none_ticked(file: _File) -> Rows:
    """Yield the only text of a box that means "none", or yes in a column with such a name."""
    for name in file.beside():
        if " ".join(names.words(name)) in _NONE | {"n a"}:
            yield from ((name, text) for text in _yes_of_two(file.table, name))
            continue
        texts = [text for text in file.table.distinct(name) if text.strip()]
        if len(texts) == 1 and _plain(texts[0]) in _NONE:
            yield from (
                (name, text) for text in texts if occurrences(file.table, name, text) < len(file.table)
            )


def _tests(file: _File) -> Rows:
    for name in file.beside():
        if _one_of(names.words(name), names.TRIALS):
            yield from ((name, text) for text in _yes_of_two(file.table, name))


def _no_persons(file: _File) -> Rows:
    """Yield words for models and the like, in columns on who gave each label, as ``annotator_type``."""
    for name in file.beside():
        *of, kind = names.words(name) or ("",)
        if kind not in names.KINDS or not (names.RATER | names.LABEL).intersection(map(names.singular, of)):
            continue
        texts = [text for text in file.table.distinct(name) if text.strip()]
        found = [text for text in texts if names.mentions(text, names.NO_PERSONS)]
        if 0 < len(found) < len(texts) <= _MOST_KINDS and not file.of_items(name):
            yield from ((name, text) for text in found)


def _plain(text: str) -> str:
    return text.strip().casefold()


Weight = Literal["left out", "advised", "asked"]
_LONG, _BY_ITEM, _BY_RATER = "long", "items-by-raters", "raters-by-items"
_SUMMING = "it sums up the rows above it"
_CHECKING = "its name says that such rows check the rater"
_MADE = "its name says that it was made of others' labels, or is known to be right"
_RULES: Sequence[tuple[Weight, Callable[[_File], Rows], Sequence[str], str]] = (
    ("left out", _sums, (_BY_ITEM, _BY_RATER), _SUMMING),
    (
        "left out",
        _rows_about_raters,
        (_BY_ITEM,),
        "it describes the raters; what is known of them goes into a raters file",
    ),
    ("left out", _totals, (_LONG,), _SUMMING),
    ("advised", _made, (_LONG, _BY_RATER), _MADE),
    ("advised", _nobody, (_LONG,), "it names nobody"),
    ("advised", _check_items, (_LONG, _BY_ITEM), _CHECKING),
    ("advised", _checks, (_LONG,), _CHECKING),
    ("advised", _known_answers, (_LONG,), _CHECKING),
    ("advised", _withdrawn, (_LONG,), "such answers were not accepted"),
    ("asked", _maybe_withdrawn, (_LONG,), "such answers may not have been accepted"),
    ("asked", _none_ticked, (_LONG,), "such answers may mean that there is none"),
    ("asked", _tests, (_LONG,), "such rows may be tests"),
    ("asked", _no_persons, (_LONG,), "such labels may be a model's, or made of others'"),
)
"""Rules for rows that may not be meant to count: the action, the rule, its layouts, and the reason."""


def _found(weight: Weight, look: Look, raters: Table | None, spec: DataSpec) -> list[tuple[str, str, str]]:
    """Return columns and values of rows by the rules of one weight, and why, unless left out already."""
    if spec.layout == "long" and not {spec.item, spec.rater} <= set(look.whole.columns):
        return []
    file, field = _File(look, raters, spec), _FIELDS[spec.layout]
    out = set(spec.filters.drop)
    if field != "drop":
        out |= {(str(file.key), text) for text in getattr(spec.filters, field)}
    return [
        (name, text, why)
        for own, rule, layouts, why in _RULES
        if own == weight and spec.layout in layouts
        for name, text in rule(file)
        if (name, text) not in out
    ]


def guess_aside(look: Look, raters: Table | None, spec: DataSpec) -> Reading:
    """Return the reading without rows that are no answers, as sums below them; filters name their values."""
    found, field = _found("left out", look, raters, spec), _FIELDS[spec.layout]
    more = [(name, text) if field == "drop" else text for name, text, _ in found]
    kept: dict[str, Any] = {field: tuple(dict.fromkeys([*getattr(spec.filters, field), *more]))}
    return replace(spec, filters=replace(spec.filters, **kept)), [
        Reason("filters", f"{quoted(name)} = {quoted(text)} is no answer: {why}") for name, text, why in found
    ]


def advise_leaving_out(look: Look, raters: Table | None, spec: DataSpec) -> list[Advice]:
    """Advise to leave out labels that nobody gave, checks, and answers that were not accepted."""
    by_column: dict[tuple[str, str], dict[str, int]] = {}
    field = _FIELDS[spec.layout]
    for name, text, why in _found("advised", look, raters, spec):
        count = occurrences(look.whole, name, text) if field == "drop" else 1
        by_column.setdefault((name, why), {})[text] = count
    return [
        Advice(field, name, tuple(texts), why, sum(texts.values()))
        for (name, why), texts in by_column.items()
    ]


def in_doubt(look: Look, spec: DataSpec) -> Iterator[Reason]:
    """Yield doubts about values by which a long file's rows may not count; their columns are candidates."""
    table = look.whole
    for name, text, may in _found("asked", look, None, spec):
        rows = number(occurrences(table, name, text), "row")
        why = (
            f"{quoted(name)} = {quoted(text)} in {rows} of {len(table):,}: {may}; they count, unless left "
            f"out on Data, under Leave out, or by --drop {shlex.quote(f'{name}={text}')}"
        )
        yield Reason("filters", why, "unsure", (name,))
    if spec.layout == "items-by-raters":
        ids = tuple(cell_columns(table, spec))
    elif spec.rater in table.columns:
        ids = table.distinct(spec.rater)
    else:
        return
    models = [text for text in ids if _MODEL.search(text)]
    if 0 < len(models) < len(ids):
        why = (
            f"{listed(models, 3)} {agree(len(models), 'is', 'are')} called like "
            f"{agree(len(models), 'a model', 'models')}, not like the other raters; "
            f"{agree(len(models), 'it counts', 'they count')}, unless left out on Data, under Leave out, or "
            f"by --exclude-rater {shlex.quote(models[0])}"
        )
        yield Reason("filters", why, "unsure", tuple(models))
