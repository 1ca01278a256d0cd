"""Columns of labels in a matrix: recognised by their names, and by values if names do not decide."""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from grasp_core.model.annotations import BoolArray, is_number
from grasp_core.model.text import agree, listed, number, quoted
from grasp_core.reading.dataset.checks import MAX_CATEGORIES
from grasp_core.reading.formats.shapes.column_groups import product
from grasp_core.reading.guess.advice import Confidence
from grasp_core.reading.guess.look import MOST_QUESTIONS, Look, neutral
from grasp_core.reading.table import names, parsed
from grasp_core.reading.table.columns import LIKE_MISSING, Column
from grasp_core.reading.table.parsed import ITEMS, RATERS
from grasp_core.reading.table.table import Table

_LIKE_LABELS = 0.8  # share of cells with labels of other columns, from which a column may have labels too
_FEW = 0.1
"""Most columns of the same labels beside a run of like names, per column of the run, that raise no doubt."""
_MOST_CELLS, _LEAST_ROWS, _ALMOST = 50, 5, 0.95
"""Most columns compared with one of their majority; least rows of each kind, and share of them that match."""
_MANY = 20  # fewest columns that may be, by their values alone, a matrix whose rows have no ids
_DIGITS, _QUESTION = "0123456789", frozenset({"q", "item", "question"})
QUESTIONS = 3  # fewest columns that recur for each coder
QUESTION_WORDS = 5  # fewest words in the name of a column that make it a question


class LabelColumns(NamedTuple):
    """Columns of labels, and the others; `why` ends a sentence on how they were distinguished."""

    columns: tuple[str, ...]
    rest: tuple[str, ...]
    why: str
    confidence: Confidence


def label_columns(
    look: Look, others: Sequence[str], raters: Table | None, without_key: bool, by_values: bool
) -> LabelColumns | None:
    """Return the columns of labels by a raters file, by names or by values; None if none are recognised."""
    by_file = None if raters is None else named_by_raters(look, others, raters)
    if by_file is not None:
        return by_file
    found = named_alike(look, others)
    if not without_key or look.named.layout is not None:
        return found or of_like_values(look, others)
    if found is None and (by_values or len(others) >= _MANY):
        found = of_like_values(look, others)
    if found is None and all(map(neutral, others)):
        # No names at all, and the same labels everywhere; three columns may be item, rater and label.
        triple = len(others) == 3 and look.identify_rows(*others[:2])
        found = None if triple else of_like_values(look, others)
        return None if found is None or found.rest else found
    able = [name for name in others if not names.mentions(name, names.AGGREGATE)]
    if found is None or len(found.columns) < min(3, len(able)):
        return None
    if by_values and any(names.label_score(name) > 2 for name in found.columns):
        return None  # a `label` beside what it is about is nobody's column
    many = (3 if by_values else 2) * len(found.columns)
    if by_values:  # no question of several has half of the columns
        asked = {one for pattern in questions_of(look, others) for one in parsed.matching(pattern, others)}
        many = max(many, 2 * len(asked))
    return found if many >= len(able) else None  # without row ids, most columns must be labels


def named_by_raters(look: Look, others: Sequence[str], raters: Table) -> LabelColumns | None:
    """Return columns that a raters file names, and columns of like names; None if it names fewer than two."""
    id_column, hits = most_shared(raters, set(others))
    if hits < 2:
        return None
    known = set(raters.distinct(id_column))
    cells = parsed.alike(others, [name for name in others if name in known])
    more = [name for name in cells if name not in known]
    why = f"{raters.name} names {'them' if not more else 'most of them'}"
    if more:
        why += f", and {listed(more, 3)} {'is' if len(more) == 1 else 'are'} named alike"
    labels = labels_of(look, cells)
    if parsed.form(cells[0]) is None and (
        doubtful := [name for name in others_than(others, cells) if may_be_labels(look, name, labels)]
    ):
        return columns_apart(
            others, cells, f"{why}, but {listed(doubtful, 3)} hold the same labels", "unsure"
        )
    return columns_apart(others, cells, why, "sure" if 2 * len(more) < len(cells) else "unsure")


def named_alike(look: Look, others: Sequence[str]) -> LabelColumns | None:
    """Return the longest run of columns with like names and labels; None if there is none."""
    if (asked := _before_what_recurs(look, others)) is not None:
        return asked
    timed = {name for name in others if names.mentions(name, names.LASTED) and look.decimals(name)}
    named = [name for name in others if not neutral(name) and name not in timed]
    able = [run for run in parsed.runs(named) if len(labels_of(look, run)) <= MAX_CATEGORIES]
    if not able or (len(labels_of(look, able[0])) < 2 and parsed.stem(able[0][0]) not in RATERS):
        return None
    if len(able[0]) < 3 and 2 * len(able[0]) <= len(others) and parsed.stem(able[0][0]) not in RATERS:
        return None
    cells, *further = able
    rest = others_than(others, cells)
    labels = labels_of(look, cells)
    why = f"{number(len(cells), 'column')} with names like {quoted(cells[0])} and {quoted(cells[-1])}"
    rivals = [
        run
        for run in further
        if 3 * len(run) >= len(cells)
        or sum(_among(look[name], labels) for name in run) / len(run) >= _LIKE_LABELS
    ]
    doubtful = [name for name in rest if may_be_labels(look, name, labels)]
    called = parsed.stem(cells[0]) in RATERS  # as raters, so that other names are none
    also = [] if called else [name for name in doubtful if not names.mentions(name, names.LABEL)]
    parts = parsed.kinds_of({name: look.texts(name) for name in cells})
    other = [part.columns for part in parts[1:] if len(part.labels) > 1]  # as those of another question
    but = None
    if rivals:
        but = f"{listed(rivals[0], 3)} are named alike too"
    elif product(cells):
        but = "they may be several questions of each"
    elif len(also) < len(cells) <= 2 * len(also):
        but = f"{listed(also, 3)} {agree(len(also), 'holds', 'hold')} the same labels and may be one of them"
        cells = [name for name in others if name in (*cells, *also)]
    elif len(doubtful) > max(1, _FEW * len(cells)):
        but = f"{listed(doubtful, 3)} hold the same labels"
    elif other:
        but = f"{listed(other[0], 3)} hold other labels than {quoted(parts[0].columns[0])}"
    if but is not None:
        return columns_apart(others, cells, f"{why}, but {but}", "unsure")
    return columns_apart(others, cells, why, "likely")


def _before_what_recurs(look: Look, others: Sequence[str]) -> LabelColumns | None:
    """Return columns before a heading that recurs, such as *How sure are you?* behind each question."""
    again = parsed.repeated(look.columns)
    before = {name: last for last, name in pairwise(look.columns) if name in again}
    by: dict[str, list[str]] = {}
    for name, last in before.items():
        by.setdefault(again[name][0], []).append(last)
    heading, cells = max(by.items(), key=lambda one: len(one[1]), default=("", []))
    if len(cells) < QUESTIONS or any(name in again or name not in others for name in cells):
        return None
    if (
        any(names.id_score(name, names.RATER) for name in cells)
        or len(labels_of(look, cells)) > MAX_CATEGORIES
    ):
        return None
    return columns_apart(
        others, cells, f"{number(len(cells), 'column')} that stand before {quoted(heading)}", "unsure"
    )


def of_like_values(look: Look, others: Sequence[str]) -> LabelColumns | None:
    """Return columns that share their values with many others; None if they are too few."""
    bare = all(map(neutral, others))  # else a column without a name has row numbers
    able = [name for name in others if not names.mentions(name, names.BESIDE) and (bare or not neutral(name))]
    occurrences = Counter(text for name in able for text in look.texts(name))
    needed = max(2, len(others) // 4)
    shared = {text for text, count in occurrences.items() if count >= needed}
    if not shared or len(shared) > MAX_CATEGORIES:
        return None
    like = [name for name in able if _among(look[name], shared) >= _LIKE_LABELS]
    if len(like) < 2 or 2 * len(like) < len(others):
        return None
    cells = of_one_kind(look, able, like)
    free = others_than(others, cells)
    made = majority_column(look, cells, free)
    if made is not None and not any(
        1 < len(look.texts(name)) <= MAX_CATEGORIES for name in free if name != made and not look.unique(name)
    ):
        return columns_apart(others, cells, f"{quoted(made)} says what they agree on", "likely")
    why = "only their values are alike, and several criteria of one judgement are no raters"
    if more := others_than(cells, like):
        why += f"; {listed(more, 5)}, with other values, {agree(len(more), 'is one', 'are some')} of them"
    if left := others_than(able, cells):
        why += f"; {listed(left, 5)} {agree(len(left), 'is', 'are')} put aside, unless the label is '*'"
    return columns_apart(others, cells, why, "unsure")


def of_one_kind(look: Look, columns: Sequence[str], like: Sequence[str]) -> list[str]:
    """Return `like` with further columns that share labels with them, or have numbers of no more digits."""
    texts = {name: {one for one in look.texts(name) if one.lower() not in LIKE_MISSING} for name in columns}
    labels = set().union(*(texts[name] for name in like))
    digits = max(map(len, labels), default=0) if all(map(is_number, labels)) else 0
    same = next((kind.columns for kind in parsed.kinds_of(texts) if like[0] in kind.columns), [])
    return [
        name
        for name in columns
        if name in like
        or (all(is_number(one) and len(one) <= digits for one in texts[name]) if digits else name in same)
    ]


def questions_of(look: Look, columns: Sequence[str]) -> list[str]:
    """Return patterns of columns by kind of label, one for each question; mostly one pattern, or none."""
    able = {
        name: look.texts(name)
        for name in columns
        if 1 < len(look.texts(name)) <= MAX_CATEGORIES
        and look.kind(name) not in ("time", "link")
        and not names.mentions(name, names.DEMOGRAPHIC | names.AGGREGATE)
        and not names.is_index(name)
    }
    others = [name for name in look.columns if not settled(name)]
    found: dict[str, int] = {}
    for kind in parsed.kinds_of(able):
        like = [part for run in parsed.runs(kind.columns) for part in parsed.questions_in(run)]
        rest = [name for name in kind.columns if not any(name in run for run in like)]
        ends: dict[str, list[str]] = {}  # ends after the last underscore, as _1 of Qualtrics' sliders
        starts: dict[str, list[str]] = {}  # two questions on the same items, as solved.a and credits.a
        for name in rest:
            start, _, end = name.replace(" ", "_").rpartition("_")
            ends.setdefault(end if start else "", []).append(name)
            starts.setdefault(re.split(r"[\W_]", name)[0], []).append(name)
        crossed = product(rest)
        scales = {frozenset(labels_of(look, several)) for several in starts.values()}
        apart = starts.values() if crossed and len(scales) == len(starts) else ()
        whole = [] if crossed or any(len(run) > 2 for run in like) else [kind.columns]
        for several in (*like, *whole, *(several for end, several in ends.items() if end), *apart):
            # A name that begins all others is a label made from theirs: claim beside claim_ab, claim_cd.
            own = [one for one in several if not all(name.startswith(one) for name in several)]
            pattern = parsed.pattern_of(own, others) if len(own) > 1 else None
            if pattern is not None:
                found[pattern] = len(own)
    most = max(found.values(), default=0)
    least = 2 if most == 2 and len(found) > 1 else max(3, most / 2)  # each of two raters has one per question
    return [pattern for pattern, columns in found.items() if columns >= least]


def settled(name: str) -> bool:
    """Return whether a short name says that labels were made from others: ``label_final``."""
    return len(names.words(name)) < QUESTION_WORDS and names.mentions(name, names.DECIDED)


def majority_column(look: Look, cells: Sequence[str], rest: Sequence[str]) -> str | None:
    """Return the column of each row's majority, or of whether its cells agree: so the cells are raters'.

    Criteria have no such column. Numbers may be a judgement of their own, unless the name says how they were
    made. Yes or no may say whether any answer was given: so rows of more than one label are compared.
    """
    labels = sorted(labels_of(look, cells))
    if not 2 <= len(cells) <= _MOST_CELLS or not 2 <= len(labels) <= MOST_QUESTIONS:
        return None
    if len(cells) == 2 and not all(is_called(name, RATERS) for name in cells):
        return None  # predicted and true, or before and after, may have a column of whether they differ, too
    code = {text: at for at, text in enumerate(labels)}
    often = np.zeros((look.n, len(labels) + 1), dtype=np.int64)  # the last counts blanks
    for name in cells:
        texts = np.array([code.get(text, len(labels)) for text in look[name].values], dtype=np.int64)
        often[np.arange(look.n), texts[look[name].codes]] += 1
    often = often[:, :-1]
    filled, most, first = often.sum(axis=1), often.max(axis=1), often.argmax(axis=1)
    whole, led = filled == most, (often == most[:, None]).sum(axis=1) == 1
    kinds = [
        whole & (first == label)
        for label in np.argsort(-np.bincount(first[whole], minlength=len(labels)))[:2]
    ]
    kinds += [~whole]  # rows of the two most usual labels, and others
    numbers = all(map(is_number, labels))
    for name in rest:
        own = np.array([code.get(text, -1) for text in look[name].values], dtype=np.int64)[look[name].codes]
        told = (filled > 1) & led & (own >= 0)
        called = names.mentions(name, names.DECIDED) or (not numbers and names.label_score(name) > 1)
        if called and all(_mostly((own == first)[told & rows]) for rows in kinds):
            return name
        told = (filled > 1) & ~look[name].among([""])
        values = np.unique(look[name].codes[told])
        called = names.mentions(name, names.AGREED) or not numbers  # two scores may be those of a tie
        for value in values if called and len(values) == 2 else ():
            alike = look[name].codes == value
            if all(_mostly((alike == whole)[told & rows]) for rows in kinds):
                return name
    return None


def _mostly(right: BoolArray) -> bool:
    return right.size >= _LEAST_ROWS and bool(right.mean() >= _ALMOST)


def most_shared(raters: Table, ids: Collection[str]) -> tuple[str, int]:
    """Return the column of the raters file that shares most values with `ids`, and how many."""
    hits = raters.holding(ids)
    best = max(hits, key=lambda name: hits[name])
    return best, hits[best]


def is_called(name: str, kinds: Collection[str]) -> bool:
    """Return whether a column is named like `kinds`; ``resp.q1`` is named like questions."""
    asked = any(word.rstrip(_DIGITS) in _QUESTION for word in names.words(name)[1:])
    return (
        kinds is ITEMS
        if asked
        else parsed.stem(name) in kinds or (kinds is RATERS and parsed.ends_in_rater(name))
    )


def columns_apart(
    others: Sequence[str], cells: Sequence[str], why: str, confidence: Confidence
) -> LabelColumns:
    """Return the columns of labels and all others, in the order of the file."""
    return LabelColumns(tuple(cells), tuple(others_than(others, cells)), why, confidence)


def others_than(columns: Sequence[str], cells: Sequence[str]) -> list[str]:
    """Return the columns that are not among the cells."""
    taken = set(cells)
    return [name for name in columns if name not in taken]


def labels_of(look: Look, columns: Sequence[str]) -> set[str]:
    """Return all texts in these columns."""
    return set().union(*map(look.texts, columns))


def may_be_labels(look: Look, name: str, labels: set[str]) -> bool:
    """Return whether a column named otherwise may have labels too."""
    if names.mentions(name, names.BESIDE):
        return False
    return _among(look[name], labels) >= _LIKE_LABELS


def _among(column: Column, texts: Collection[str]) -> float:
    present = ~column.among([""])
    return float((column.among(texts) & present).sum() / max(int(present.sum()), 1))
