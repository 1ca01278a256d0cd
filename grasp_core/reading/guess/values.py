"""Values: missing ones, spellings, choices, known vocabularies, counts of several raters' labels."""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from grasp_core.model.annotations import is_number, number_of
from grasp_core.model.data_spec import DataSpec, Layout, MapValues
from grasp_core.model.text import agree, listed, number, quoted
from grasp_core.reading.dataset.checks import MAX_CATEGORIES
from grasp_core.reading.dataset.recoding import counts, in_order, numbers_of
from grasp_core.reading.dataset.votes import cell_columns
from grasp_core.reading.formats.shapes.list_cells import structure
from grasp_core.reading.guess.advice import Advice, Named, Reading, Reason
from grasp_core.reading.guess.look import Look
from grasp_core.reading.guess.rows import occurrences
from grasp_core.reading.table import names
from grasp_core.reading.table.columns import LIKE_MISSING, Vocabulary, spelling
from grasp_core.reading.table.parsed import form, runs
from grasp_core.reading.table.table import Table

_MOST_COLUMNS = 20  # largest number of columns whose cells may be counts of votes, shares or means
_MOSTLY = 0.5
_ROWS, _ROWS_OF_ONE = 4, 10
"""Fewest rows for comparing sums, which may agree by chance; more are needed if all cells are 0 or 1."""
_OF_CHANCE = {"items-by-raters": 0.5, "raters-by-items": 0.25}
"""Variance of row sums, as a share of the variance of unrelated cells, up to which cells are counts.

For raters who agree the share is above 1; for reversed questions it may be lower.
"""
_PER_ROW = 2.0  # deduction from that share for chance, to be divided by the number of rows
_ROUNDED, _THIRDS, _FEW = 0.01, 0.1, 50
_CHANCES = 7  # number of equal cells that unrelated columns would have, from which to have none is no chance


def no_raters(why: str, what: str = "no column looks like raters") -> str:
    """Say that no column identifies raters, `why`, and which file would do."""
    return (
        f"{what}: {why}. What would do is a file with a row per annotation and a column "
        "of who gave it, or with a column or a row per rater; aggregated labels (a majority, a mean or "
        "counts of votes) cannot be analysed"
    )


def aggregated_cells(look: Look, cells: Sequence[str], layout: Layout) -> str | None:
    """Return the refusal if columns contain counts, shares or means and not raters' labels, else None."""
    counted = [name for name in cells if names.mentions(name, names.COUNTED)]
    if counted and 2 * len(counted) > len(cells):
        return no_raters(f"{quoted(counted[0])} is named like what was counted or worked out for an item")
    plain = [name for name in cells if name not in counted]
    why = _summed(look) or _make_up(look, plain, layout) or _make_up(look, cells, layout)
    why = why or _shown_together(look, max(runs(cells), key=len, default=cells))
    if why is not None:
        return no_raters(why)
    return no_raters(why) if (why := means(look, cells, _MOSTLY)) is not None else None


def means(look: Look, cells: Sequence[str], most: float = 1.0) -> str | None:
    """Say that cells are shares or means: thirds, or a share of decimals above `most`; else None."""
    some = [numbers_of(look[name])[~look[name].among([""])] for name in cells[:_MOST_COLUMNS]]
    filled = np.concatenate(some or [np.empty(0)])
    if not filled.size or not np.isfinite(filled).all():
        return None
    decimal = float(np.mean(2 * filled % 1 != 0))  # halves may be a rater's
    thirds = np.mean(np.abs(1_000 * filled % 1 - 0.5) < 0.4) > _THIRDS and np.unique(filled).size <= _FEW
    if decimal <= most and not thirds:
        return None
    return f"{decimal:.0%} of the cells are numbers with decimals, as means are"


def _summed(look: Look) -> str | None:
    """Say which column is the sum of columns of votes beside it; None if no column is."""
    for at, name in enumerate(look.columns):
        if not names.HOW_OFTEN.issuperset(names.words(name) or ("",)):
            continue
        said = numbers_of(look[name])
        for beside in (look.columns[at + 1 :], look.columns[:at][::-1]):
            total = np.zeros_like(said)
            for width, one in enumerate(beside[:_MOST_COLUMNS], 1):
                total = total + numbers_of(look[one])
                if width > 1 and np.array_equal(total, said):
                    return f"{quoted(name)} is the sum of {listed(beside[:width], 3)}, as of votes for labels"
    return None


def _make_up(look: Look, cells: Sequence[str], layout: Layout) -> str | None:
    """Say how the cells of a row offset each other, as votes for different labels do; None if they do not."""
    if not 2 <= len(cells) <= _MOST_COLUMNS or look.n < _ROWS:
        return None
    numbers = np.array([numbers_of(look[name]) for name in cells])
    if not np.isfinite(numbers).all() or numbers.min() < 0 or not numbers.var(axis=1).sum() > 0:
        return None
    sums = numbers.sum(axis=0)
    one_of_each = set(np.unique(numbers)) <= {0, 1}
    if one_of_each and (len(cells) == 2 or look.n < _ROWS_OF_ONE):
        return None
    if np.allclose(sums, sums[0], atol=0.02):
        return f"the cells of each row add up to {sums[0]:g}, as counts of votes or shares do"
    words = 2 * sum(form(name) is None for name in cells) > len(cells)
    left = float(sums.var() / numbers.var(axis=1).sum())
    if numbers.min() == 0 and words and left <= _ROUNDED + _OF_CHANCE[layout] - _PER_ROW / look.n:
        first, last = quoted(cells[0]), quoted(cells[-1])
        return f"the more one of {first} to {last} holds, the less the others do, as votes for labels"
    return None


def _shown_together(look: Look, cells: Sequence[str]) -> str | None:
    """Say that no row of words holds one of them twice, as compared things; None if that may be chance."""
    cells = cells[:_MOST_COLUMNS]
    often = [Counter(look[name].tally) for name in cells if look.kind(name) == "words"]
    if len(often) < len(cells) or len(set().union(*often) - {""}) <= len(cells):
        return None  # a row of ranks has each once, too
    pairs = combinations(often, 2)
    by_chance = sum(one[text] * other[text] for one, other in pairs for text in one if text) / max(look.n, 1)
    if by_chance < _CHANCES:
        return None
    rows = zip(*(look[name].cells for name in cells), strict=True)
    if any(len({*row} - {""}) < len(row) - row.count("") for row in rows):
        return None
    first, last = quoted(cells[0]), quoted(cells[-1])
    return f"{first} to {last} differ from each other in every row, as things shown side by side do"


_NEVER_A_LABEL = frozenset({"nan", "#n/a", "<na>", ""})
"""Blanks, and texts that pandas and spreadsheets write for no value and nobody gives as an answer."""
_WRITTEN = frozenset({"NA", "NULL", "null"})
_UNRATED = 1 / 3
"""Share of a matrix's filled cells above which ``NA`` or ``NULL`` is no label, even among words."""
_UNANSWERED = frozenset(
    {
        *("no answer", "no response", "not answered", "unanswered", "prefer not to answer"),
        *("k.a.", "k. a.", "ka.", "keine angabe", "keine antwort", "ohne angabe", "o. a."),
        *("sans réponse", "pas de réponse", "sin respuesta", "ns/nc", "sem resposta", "geen antwoord"),
    }
)
"""Words that say that there is no answer, in the languages of the usual survey tools."""
_MARKS = frozenset({"-", "."})  # signs that are no labels if all others are words
CODE = re.compile(r"-([789])\1*|([789])\2+")  # numbers that surveys write for "no answer": -9, -99, 88, 999
_DIGITS = frozenset({6.0, 7.0, 8.0, 9.0})
_SHORTEST, _USUAL = 3, frozenset({5, 7})
"""Fewest steps of a scale that may have codes beside it, and the usual numbers of steps."""
BEYOND = 4  # factor by which a positive code must exceed the largest answer


def like_missing(text: str) -> bool:
    """Return whether the text is written like no value, as ``NA``; it may be a label all the same."""
    return text.strip().casefold() in LIKE_MISSING | _NEVER_A_LABEL


def guess_missing(cells: Mapping[str, int], spec: DataSpec, axes: Mapping[str, Sequence[str]]) -> Reading:
    """Return the reading with further texts that mean "no value", and why; `cells` are counts of the labels.

    A text such as ``NA`` means so only if all other labels are numbers and no column of `axes` (distinct
    texts by name) has it as a value: there it may be a country.
    """
    labels = {text for text in cells if text not in spec.missing}
    odd = set(filter(like_missing, labels))
    if not odd or odd == labels:
        return spec, []
    numbers = all(map(is_number, labels - odd))
    wordy = all(any(map(str.isalpha, text)) for text in labels - odd)
    taken = {text for texts in axes.values() for text in set(texts) - (_words(texts) - _places(texts, 1))}
    never = {text for text in odd if text.strip().casefold() in _NEVER_A_LABEL}
    found = [text for text in cells if text in never or (text in odd and numbers and text not in taken)]
    found += [text for text in cells if text in odd and wordy and text.strip() in _MARKS]
    if spec.layout != "long":
        filled = sum(count for text, count in cells.items() if text not in spec.missing)
        often = (text for text, count in cells.items() if text in _WRITTEN and count > _UNRATED * filled)
        found += [text for text in often if text not in (*spec.missing, *taken, *found)]
    why = "the others are numbers" if numbers else "programs write it for a missing value"
    reasons = []
    for text in found:
        are = f"in {number(cells[text], 'cell')} {agree(cells[text], 'is', 'are')} no label: {why}"
        reasons.append(Reason("missing", f"{quoted(text)} {are}"))
    return replace(spec, missing=(*spec.missing, *found)), reasons


def _codes(of: Mapping[str, float], *, words: bool = False) -> set[str]:
    """Return numbers written like survey codes, far from all others; among `words` each by itself."""
    formed = {text for text, value in of.items() if CODE.fullmatch(f"{value:g}")}
    rest = {text: value for text, value in of.items() if text not in formed}
    numbers = {value for value in rest.values() if not math.isnan(value)}
    wordy = any(math.isnan(value) and text not in LIKE_MISSING for text, value in rest.items())
    if (wordy and not words) or len(rest if words else numbers) < 2 or min(numbers, default=0.0) < 0:
        return set()
    high = max(numbers, default=0.0)
    apart = {text for text in formed if of[text] < 0 or of[text] > BEYOND * high}
    return apart if words or apart == formed else set()


def advise_missing(
    cells: Mapping[str, int], table: Table, spec: DataSpec, declared: Collection[str]
) -> Iterator[Advice]:
    """Advise on numbers, signs and words among the labels that may stand for no answer; a person decides.

    Words that say so, and survey codes far from all other numbers, are recommended as no answer. A number
    beside a scale, such as 0 beside 1 to 5, and a lone sign may be either. Labels of values count as the
    numbers that they stand for, but 0 is no doubt if it has a label. Texts that are `declared` need no
    advice; `cells` are counts of the labels.
    """
    if spec.categories is not None:
        return
    there = [text for text in cells if text not in spec.missing]
    said = {text for text in there if text.strip().casefold() in _UNANSWERED}
    of = _vocabulary(table, spec)
    stands = {} if of is None else dict(zip(of.values, of.codes, strict=False))
    known = {text: stands.get(text, number_of(text)) for text in there if text not in said}
    column = str(spec.label) if spec.label is not None else "label"
    codes = _codes(known)
    rest = {text: value for text, value in known.items() if text not in codes}
    numbers = {value for value in known.values() if not math.isnan(value)}
    signs = [text for text, value in known.items() if math.isnan(value)]
    # A lone sign among numbers, as ``x`` for unrated items; -1 among numbers from 0 on, some beyond 1.
    doubtful = {text for text in signs if len(numbers) > 1 and len(signs) == 1 == len(text.strip())}
    others = {value for value in rest.values() if value != -1}
    if len(others) > 1 and all(value >= 0 for value in others) and max(others) > 1:
        doubtful |= set([text for text, value in rest.items() if value == -1][:1])
    steps = _scale(rest)
    beyond = {text: value for text, value in rest.items() if value > steps}
    if steps < _SHORTEST or not set(beyond.values()) <= _DIGITS:  # 6 to 9, with a gap above the scale
        beyond = {}
    doubtful |= {text for text in signs if text in {*_WRITTEN, "[]"} and len(signs) > 1}
    plain = {text: value for text, value in rest.items() if text not in {*beyond, *stands}}
    doubtful |= beyond.keys() | _beside_scale(plain)
    for texts, why, sure in (
        (said if known else (), "it says that there is no answer", True),
        (codes, "it lies apart from the other numbers, as codes for no answer do", True),
        (doubtful, "it may be a label, or stand for no answer", False),
    ):
        for text in (text for text in cells if text in texts and text not in declared):
            yield Advice("missing", column, (text,), why, cells[text], recommended=sure)


def advise_alike(
    cells: Mapping[str, int], column: str, *, group: bool = False, initials: bool = False
) -> Iterator[Advice]:
    """Advise on spellings of labels, or of a `group` of raters, that differ only in case or blanks.

    With `initials` also on a first letter that stands for one word of the column, as F for Female.
    """
    ways: dict[str, list[str]] = {}
    for text in sorted(cells, key=lambda text: (text != text.strip(), -cells[text])):
        ways.setdefault(spelling(text), []).append(text)
    into: dict[str, str] = {}
    for short, texts in ways.items():
        whole = texts[0]
        if initials and len(short) == 1:
            words = [those[0] for word, those in ways.items() if len(word) > 2 and word[0] == short]
            whole = words[0] if len(words) == 1 else whole
        if math.isnan(number_of(short)):
            into |= {text: whole for text in texts if text != whole}
    if into:
        letters = any(len(one.strip()) == 1 < len(whole) for one, whole in into.items())
        but = "case, blanks or a first letter alone" if letters else "case or blanks"
        why = f"like {listed(list(dict.fromkeys(into.values())), 3)} but for {but}"
        count = sum(cells[one] for one in into)
        yield Advice("alike", column, tuple(into), why, count, group=group, into=tuple(into.values()))


def _beside_scale(known: Mapping[str, float]) -> set[str]:
    """Return the text of a 0 below, or of the number above, a scale of 5 or of 7 steps."""
    values = {value for value in known.values() if value >= 0}
    steps = _scale(known)
    if values == set(range(steps + 1)) and steps in _USUAL:
        return {text for text, value in known.items() if value == 0}
    if values == set(range(1, steps + 1)) and steps - 1 in _USUAL:
        return {text for text, value in known.items() if value == steps}
    return set()


def _scale(known: Mapping[str, float]) -> int:
    """Count the consecutive numbers from 1 on."""
    values = set(known.values())
    steps = 0
    while steps + 1 in values:
        steps += 1
    return steps


def with_vocabulary(
    table: Table, spec: DataSpec, declared: Collection[str]
) -> tuple[DataSpec, list[Reason], bool]:
    """Return the reading with the labels that the data's types name, why, and whether they are ordered."""
    known = None if spec.categories is not None or spec.recode else _vocabulary(table, spec)
    if known is None:
        return spec, [], False
    found = {text for text in counts([table], None, spec) if text not in spec.missing}
    values = tuple(
        text for text in known.values if text not in spec.missing and (text in found or text not in declared)
    )
    unused = [text for text in values if text not in found]
    if not found <= set(values) or not 2 <= len(values) <= MAX_CATEGORIES:
        return spec, [], False
    if not known.ordered and not unused:
        return spec, [], False
    if not known.ordered:
        values = in_order(values, ())
    said = [f"{' < '.join(map(quoted, values))}, as its type has them"] if known.ordered else []
    if unused:
        has = agree(len(unused), "is a label", "are labels")
        said.append(f"{listed(unused)} {has} that no cell has, and counted; whoever names the labels decides")
    why = Reason("categories", f"{quoted(known.column)}: {'; '.join(said)}", "sure")
    return replace(spec, categories=values), [why], known.ordered


def _vocabulary(table: Table, spec: DataSpec) -> Vocabulary | None:
    """Return the type of all columns of one question's labels, if they have the same."""
    by_column = {one.column: one for one in table.vocabularies}
    of = [by_column.get(name) for name in cell_columns(table, spec)]
    return of[0] if len({one and (one.values, one.ordered) for one in of}) == 1 else None


_NUMBER = re.compile(r"([+-]?(?:0|[1-9]\d*))(?:([.,])(\d+))?")
"""Numbers without leading zeros, which codes have: ``01`` is not another way to write ``1``."""
_ROUNDED_ID = re.compile(r"\d([.,]\d+)?E\+\d{2,3}", re.I)
"""Long numbers as a spreadsheet writes them, which loses their last digits."""
_THOUSANDS = 3


def one_label(cells: Mapping[str, int], spec: DataSpec, declared: Collection[str]) -> Reading:
    """Return the reading with labels of one number, or one set of choices, merged, and why."""
    if spec.categories is not None:
        return spec, []
    plain = [text for text in cells if text not in spec.missing and text not in declared]
    numbers, lists = {} if spec.recode else _alike(plain), _of_lists(plain)
    reasons = []
    for why, changes in (
        (
            "one number written in two ways is one label",
            {text: value for value, ways in numbers.items() for text in ways if text != value and ways[1:]},
        ),
        (
            "the same choices in another order are one label",
            {text: first for first, *others in _of_one_set(lists) for text in others},
        ),
    ):
        if changes:
            shown = listed([f"{text} = {value}" for text, value in changes.items()], 3)
            reasons.append(Reason("recode", f"{why}: {shown}"))
            step = MapValues(None, tuple(changes.items()))
            spec = replace(spec, recode=(*spec.recode, step))
    several = [text for text, choices in lists.items() if len(choices) > 1]
    named = [one for choices in lists.values() for one in choices]
    ranks = len(set(map(len, lists.values()))) == 1
    plainly = not (ranks or any(one.startswith("{") for one in named))
    if several and plainly and len(named) >= 2 * len(set(named)):  # each answer is in two lists or more
        why = "lists several answers, and each such list is a label; a column for each answer tells more"
        reasons.append(Reason("recode", f"{quoted(several[0])} {why}"))
    return spec, reasons


def odd_ids(table: Table, spec: DataSpec, named: Named) -> Iterator[Reason]:
    """Yield doubts about ids that may be written in two ways or have lost digits, except in named columns."""
    for field, name in (("item", spec.item), ("rater", spec.rater)):
        if name is None or name not in table.columns or field in named.fields:
            continue
        ids = table.distinct(name)
        rounded = [text for text in ids if _ROUNDED_ID.fullmatch(text.strip())]
        twice = [ways for ways in _alike(ids, whole=True).values() if len(ways) > 1]
        why = None
        if len(rounded) > 1:
            why = (
                f"{quoted(rounded[0])} is a long number that a spreadsheet has rounded, so that several "
                f"{field}s may have become one; write the ids as text"
            )
        elif twice:
            why = (
                f"{listed(twice[0])} are one number written in two ways, as {number(len(twice), 'id')} "
                "may be; write them alike"
            )
        if why is not None:
            yield Reason(field, why, "unsure", (name,))


def _alike(texts: Iterable[str], *, whole: bool = False) -> dict[str, list[str]]:
    """Group texts by the number that they write, in its shortest form; if `whole`, only whole numbers."""
    found: dict[str, list[str]] = {}
    for text in texts:
        match = _NUMBER.fullmatch(text.strip())
        if match is None:
            continue
        before, sign, after = match[1], match[2], (match[3] or "").rstrip("0")
        if (whole and after) or (sign == "," and len(match[3]) == _THOUSANDS):
            continue
        found.setdefault(f"{before}.{after}" if after else before, []).append(text)
    return found


_MOST = 5_000  # largest number of distinct texts that may list choices

Choices = tuple[str, ...]


def _of_one_set(lists: Mapping[str, Choices]) -> list[list[str]]:
    """Group lists of the same choices; none if all lists have one length, as ranks, whose order counts."""
    alike: dict[Choices, list[str]] = {}
    for text, choices in lists.items():
        alike.setdefault(tuple(sorted(choices)), []).append(text)
    several = len({len(choices) for choices in alike}) > 1
    return [sorted(ways) for ways in alike.values() if several and len(ways) > 1]


def _of_lists(texts: Collection[str]) -> dict[str, Choices]:
    """Return the choices of each text, divided by the first sign that gives choices that recur, if any."""
    able = texts if len(texts) <= _MOST else ()
    return next((lists for sign in "[|;," if (lists := _lists(able, sign))), {})


def _lists(texts: Collection[str], sign: str) -> dict[str, Choices]:
    """Return the choices of each text, or none if `sign` does not divide texts into choices that recur."""
    found = {text: choices for text in texts if (choices := _choices(text, sign))}
    several = [choices for choices in found.values() if len(choices) > 1]
    known = {one for choices in found.values() for one in choices}
    decimals = sign == "," and all(is_number(text) for text, choices in found.items() if len(choices) > 1)
    return found if several and len(known) <= len(found) and not decimals else {}


def _choices(text: str, sign: str) -> Choices:
    """Return the choices in a text: the text alone if nothing divides it, none if ``[`` opens no list."""
    if sign != "[":
        return tuple(part.strip() for part in text.split(sign))
    return tuple(map(str, structure(text.strip()) or ()))


_WRITTEN_OF_MISSING_PROFILES = frozenset(
    {"na", "<na>", "n/a", "#n/a", "nan", "nat", "null", "consent_revoked", "data_expired"}
)
"""Texts that stand for no value in a column about raters; not "None", which is an answer about religion."""
_CODE_OF_PLACE = re.compile("[A-Z]{2,3}")


def missing_profiles(
    tables: Sequence[Table],
    spec: DataSpec,
    labels: Collection[str],
    axes: Mapping[str, Sequence[str]],
    declared: Collection[str],
) -> Reading:
    """Return the reading with further texts that mean "no value", found in columns about raters, and why.

    - `axes`: columns about raters, and the distinct texts in each. A text that is a value in one column is
      a value in all. A text that programs write for a missing value means so among the labels too, unless
      it is `declared`.
    """
    known = set(spec.missing)
    numbers = {name: {text: number_of(text) for text in texts} for name, texts in axes.items()}
    codes = {name: _codes(of, words=True) - known for name, of in numbers.items()}
    words = {name: _words(texts) - known for name, texts in axes.items()}
    places = {name: _places(texts) & words[name] for name, texts in axes.items()}
    none = {name: (codes[name] | words[name]) - places[name] for name in axes}
    values = {text for name, texts in axes.items() for text in texts if text not in none[name]}
    kept = {*declared, *(text for texts in axes.values() for text in _places(texts, 1))}
    able = {text for found in none.values() for text in found}
    able -= values | (set(labels) - (_WRITTEN - kept))
    if not able:
        return spec, []
    for table in tables:
        for key in (spec.item, spec.rater):
            able -= set(table.distinct(key)) if key in table.columns else set()
    reasons = []
    for name in axes:
        for own, why in ((codes[name], "as codes of surveys do"), (words[name], "as programs write it")):
            if texts := sorted(own & none[name] & able):
                too = " there and among the labels" if set(texts) & set(labels) else ""
                said = f"{listed(texts)} in {quoted(name)} stands for no answer{too}, {why}"
                reasons.append(Reason("missing", said))
    missing = dict.fromkeys([*spec.missing, *(text for name in axes for text in sorted(none[name] & able))])
    return replace(spec, missing=tuple(missing)), reasons


def advise_places(
    tables: Sequence[Table], spec: DataSpec, axes: Mapping[str, Sequence[str]], declared: Collection[str]
) -> Iterator[Advice]:
    """Advise on words for no value that may be codes of places; see :func:`missing_profiles`."""
    for name, texts in axes.items():
        for text in sorted((_places(texts) & _words(texts)) - {*spec.missing, *declared}):
            cells = sum(occurrences(table, name, text) for table in tables if name in table.columns)
            why = "it may be the code of a place, or stand for no answer"
            yield Advice("missing", name, (text,), why, cells, recommended=False, group=True)


def _words(texts: Sequence[str]) -> set[str]:
    """Return words for no value, and blanks, if there is at least one value beside them."""
    found = {
        text for text in texts if text.strip().casefold() in _WRITTEN_OF_MISSING_PROFILES or not text.strip()
    }
    return found if len(found) < len(texts) else set()


def _places(texts: Sequence[str], fewest: int = 2) -> set[str]:
    """Return texts that may be codes of places, as NA of Namibia, if all others (at least `fewest`) are."""
    able = {text for text in texts if _CODE_OF_PLACE.fullmatch(text)}
    others = [text for text in texts if text.strip().casefold() not in _WRITTEN_OF_MISSING_PROFILES]
    return able if len(others) >= fewest and able.issuperset(others) else set()
