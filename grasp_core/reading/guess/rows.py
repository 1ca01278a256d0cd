"""Rows that may not be meant to count."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, takewhile

import numpy as np

from grasp_core.model.annotations import is_number
from grasp_core.model.data_spec import DataSpec
from grasp_core.model.wording import agree, listed, number, quoted
from grasp_core.reading.dataset.votes import cell_columns
from grasp_core.reading.guess.advice import Advice, Reason
from grasp_core.reading.guess.look import Look
from grasp_core.reading.guess.values import label_cells
from grasp_core.reading.table import names
from grasp_core.reading.table.table import Table

_BESIDE = names.word_set("of in group level year years birth range bracket code id")
_OWN = 0.5
"""Share of such a row's cells that hold what no item is labelled with."""


def rows_about_raters(table: Table, spec: DataSpec) -> list[str]:
    """Ids of rows that are called like demographics, and hold other texts than the items do."""
    column = table.column(str(spec.item))
    called = [text for text in column.values if _demographic(text)]
    if not called:
        return []
    columns = cell_columns(table, spec)
    rows = {text: int(column.among([text]).argmax()) for text in called}
    cells = {text: [table.cell(name, row) for name in columns] for text, row in rows.items()}
    within = Counter(cell for row in cells.values() for cell in row if cell not in spec.missing)
    of_items = Counter(label_cells(table, spec)) - within
    return [text for text, row in cells.items() if _differs([one for one in row if one], of_items)]


def _demographic(text: str) -> bool:
    words = set(names.words(text))
    return not words.isdisjoint(names.DEMOGRAPHIC) and words <= names.DEMOGRAPHIC | _BESIDE


def _differs(row: list[str], of_items: Counter[str]) -> bool:
    return bool(row) and sum(not of_items[cell] for cell in row) > _OWN * len(row)


_OUT = names.YES | names.word_set("removed excluded rejected discarded dropped")


def guess_exclusions(
    annotations: Table, raters: Table | None, spec: DataSpec, texts: Mapping[str, Sequence[str]]
) -> tuple[list[Advice], list[Reason]]:
    """Raters whom a column says to leave out, as advice; of columns that may mean it, that they may.

    `texts`: columns about raters, and the distinct texts in each.
    """
    advice: list[Advice] = []
    reasons: list[Reason] = []
    for name, value in _excluding(texts, names.MAYBE_EXCLUDED, names.MAYBE_KEPT):
        having, of = _raters_with(annotations, raters, spec, name, value)
        reasons.append(_doubted(name, value, f"{having:,} of {number(of, 'rater')}"))
    for name, value in _excluding(texts, names.EXCLUDED, names.KEPT):
        why = _doubt(annotations, raters, spec, name, value, texts[name])
        if why is None:
            having, _ = _raters_with(annotations, raters, spec, name, value)
            said = "the column's name says who should not count"
            advice.append(Advice("exclude", name, (value,), said, having))
        else:
            reasons.append(_doubted(name, value, why))
    return advice, reasons


def _doubted(name: str, value: str, why: str) -> Reason:
    said = (
        f"{quoted(name)} = {quoted(value)} ({why}) may say who should not count; nobody is left out, unless "
        f"on Data, under Leave out, or by --exclude {name}={value}"
    )
    return Reason("exclude", said, "unsure", (name,))


def _excluding(
    texts: Mapping[str, Sequence[str]], out: frozenset[str], kept: frozenset[str]
) -> Iterator[tuple[str, str]]:
    for name, some in texts.items():
        for kinds, meant in ((out, _OUT), (kept, names.NO)):
            if names.mentions(name, kinds):
                found = next((text for text in some if text.strip().casefold() in meant), None)
                if found is not None:
                    yield name, found
                break


def _doubt(
    annotations: Table, raters: Table | None, spec: DataSpec, name: str, value: str, texts: Sequence[str]
) -> str | None:
    """Why a value may not be meant so: other numbers beside a 1 or 0 are counts, and most raters no few."""
    others = {text.strip().casefold() for text in texts} - names.YES - names.NO
    if is_number(value) and any(map(is_number, others)):
        return f"one of {number(len(texts), 'value')}, as counts have"
    having, of = _raters_with(annotations, raters, spec, name, value)
    return f"{having:,} of {number(of, 'rater')}, so many" if 2 * having >= of else None


def _raters_with(
    annotations: Table, raters: Table | None, spec: DataSpec, name: str, value: str
) -> tuple[int, int]:
    """How many raters have a value in a column about them, and how many there are."""
    rows = raters if raters is not None and name in raters.columns else annotations
    having = rows.column(name).among([value])
    if rows is raters or spec.layout != "long":
        return int(having.sum()), len(rows)
    ids = annotations.column(str(spec.rater)).codes
    return len(np.unique(ids[having])), len(np.unique(ids))


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
    table = look.whole
    if spec.layout != "long" or not {spec.item, spec.rater} <= set(table.columns):
        return
    told = {name for name, _ in spec.filters.drop}
    for name, text in maybe_withdrawn(look, spec):
        yield _counts(table, name, text, "such answers may not have been accepted")
    for name in beside(table, spec):
        texts = [text for text in table.distinct(name) if text.strip()]
        ticked = len(texts) == 1 and occurrences(table, name, texts[0]) < len(table)
        if name not in told and ticked and texts[0].strip().casefold() in _NONE:
            yield _counts(table, name, texts[0], "such answers may mean that there is none")
        elif name not in told and one_of(names.words(name), names.TRIALS):
            for text in yes_of_two(table, name):
                yield _counts(table, name, text, "such rows may be tests")
        elif name not in told:
            for text in _no_persons(look, name, spec):
                yield _counts(table, name, text, "such labels may be a model's, or made of others'")
    yield from _models(table, str(spec.rater))


def _counts(table: Table, name: str, text: str, may: str) -> Reason:
    rows = number(occurrences(table, name, text), "row")
    why = (
        f"{quoted(name)} = {quoted(text)} in {rows} of {len(table):,}: {may}; they count, unless left out on "
        f"Data, under Leave out, or by --drop {name}={text}"
    )
    return Reason("filters", why, "unsure", (name,))


def _no_persons(look: Look, name: str, spec: DataSpec) -> list[str]:
    """What a column that says who gave each label, as ``annotator_type``, calls models and the like."""
    *of, kind = names.words(name) or ("",)
    if kind not in names.KINDS or not (names.RATER | names.LABEL).intersection(map(names.singular, of)):
        return []
    texts = [text for text in look.whole.distinct(name) if text.strip()]
    found = [text for text in texts if not _NO_PERSONS.isdisjoint(names.words(text))]
    able = 0 < len(found) < len(texts) <= _MOST_KINDS
    return found if able and not of_items(look, name, str(spec.item)) else []


def _models(table: Table, rater: str) -> Iterator[Reason]:
    """That some of the raters are called like models, and the others are not."""
    ids = table.distinct(rater)
    found = [text for text in ids if _MODEL.search(text)]
    if not found or 2 * len(found) > len(ids):
        return
    why = (
        f"{listed(found, 3)} {agree(len(found), 'is', 'are')} called like "
        f"{agree(len(found), 'a model', 'models')}, not like the other raters; "
        f"{agree(len(found), 'it counts', 'they count')}, unless left out on Data, under Leave out, or by "
        f"--exclude-rater {found[0]}"
    )
    yield Reason("filters", why, "unsure")


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
