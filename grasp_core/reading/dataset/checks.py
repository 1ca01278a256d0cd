"""Specs held against columns, and sentences with what would do."""

from __future__ import annotations

import dataclasses
import math
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Literal

import numpy as np

from grasp_core.model.annotations import Annotations, BoolArray, Codes, number_of
from grasp_core.model.data_spec import DataSpec
from grasp_core.model.errors import Problem, know, stop
from grasp_core.model.remarks.problems import DataProblem
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.wording import closest, quoted
from grasp_core.reading.dataset.filters import Sieve
from grasp_core.reading.dataset.raters import DescribingColumn, Profiles
from grasp_core.reading.dataset.votes import Cells, Votes, id_columns
from grasp_core.reading.table.columns import misspelt, odd_texts
from grasp_core.reading.table.table import Table

_WRITTEN_MANY_WAYS = (
    ("Woman", {"f", "female", "w", "woman", "women", "girl"}),
    ("Man", {"m", "male", "man", "men", "boy"}),
    ("Nonbinary", {"nonbinary", "non-binary", "non binary", "nb", "enby"}),
    ("Yes", {"y", "yes"}),
    ("No", {"n", "no"}),
)
"""Words that mean the same; only proposed where at least two of them occur."""
OTHER = "Other"


def one_spelling(counts: Mapping[str, int]) -> dict[str, str]:
    """Values to write instead, where some differ only by case, spaces, Unicode form or a common short form.

    Returns from each value that should change to the most frequent of those that are alike.
    """
    alike: dict[str, list[str]] = {}
    for value in counts:
        if value.strip():
            alike.setdefault(_meaning(value), []).append(value)
    changes: dict[str, str] = {}
    for values in alike.values():
        best = max(values, key=lambda value: (counts[value], len(value.strip()), value))
        tidy = " ".join(unicodedata.normalize("NFC", best).split())
        if len(values) > 1 or tidy != best:
            changes.update({value: tidy for value in values if value != tidy})
    return changes


def merge_rare(counts: Mapping[str, int], fewer_than: int) -> dict[str, str]:
    """Values with too few cells, all into one; none if that would merge everything or a single value."""
    rare = [value for value, count in counts.items() if count < fewer_than and value.strip()]
    if len(rare) < 2 or len(rare) == len(counts):
        return {}
    return {value: OTHER for value in rare if value != OTHER}


def _meaning(value: str) -> str:
    folded = " ".join(unicodedata.normalize("NFKC", value).casefold().split())
    return next((word for word, ways in _WRITTEN_MANY_WAYS if folded in ways), folded)


def answered(questions: Sequence[Annotations]) -> tuple[Codes, Codes]:
    """Items and raters of the annotations: an answer, or several, of one rater to one item are one."""
    if len(questions) == 1:
        return questions[0].item, questions[0].rater
    n_raters = questions[0].n_raters
    pairs = [one.item.astype(np.int64) * n_raters + one.rater for one in questions]
    item, rater = np.divmod(np.unique(np.concatenate(pairs)), n_raters)
    return item, rater


def together(sieves: Sequence[Sieve]) -> Votes:
    """One entry per annotation, however many questions it answers."""
    votes = sieves[0].votes
    if len(sieves) == 1:
        return votes
    n_raters = len(votes.rater_ids)
    pairs = np.concatenate([t.votes.item.astype(np.int64) * n_raters + t.votes.rater for t in sieves])
    pairs, first = np.unique(pairs, return_index=True)
    item, rater = np.divmod(pairs, n_raters)
    row, label = (
        np.concatenate([getattr(t.votes, name) for t in sieves])[first] for name in ("row", "label")
    )
    return dataclasses.replace(votes, of_cells=Cells(item, rater, label, row), chosen=None)


MAX_CATEGORIES = 256
"""More distinct labels than this are taken for a mistake."""
MOST_NUMBERS = 25
"""Of more different numbers about raters, such as ages, bands make groups."""


def missing_columns(
    annotations: Table, raters: Table | None, spec: DataSpec, axes: Sequence[str]
) -> list[Problem]:
    """Columns that are named but do not exist, or are named for two things."""
    own = [*id_columns(spec), *spec.labels]
    problems = [no_column(name, (annotations,)) for name in own if name not in annotations.columns]
    problems += [
        stop(DataProblem.NAMED_TWICE(column=name)) for name in dict.fromkeys(own) if own.count(name) > 1
    ]
    if spec.layout == "raters-by-items":
        problems += [
            no_column(name, (annotations,)) for name in spec.profile if name not in annotations.columns
        ]
        if set(annotations.columns) <= {spec.rater, *spec.profile}:
            problems.append(stop(DataProblem.NO_ITEM_COLUMN(file=annotations.name)))
    if spec.order is not None and spec.order not in annotations.columns:
        problems.append(no_column(spec.order, (annotations,)))
    tables = (annotations,) if raters is None else (annotations, raters)
    for name in dict.fromkeys([*axes, *(column for column, _ in spec.exclude)]):
        if not any(name in columns for columns in _describing(annotations, raters, spec)):
            problems.append(_not_describing(name, annotations, spec, tables))
    return problems


def _describing(annotations: Table, raters: Table | None, spec: DataSpec) -> Iterator[Sequence[str]]:
    """Columns of each file that may describe raters."""
    if spec.layout == "long":
        yield [name for name in annotations.columns if name not in (spec.item, spec.rater, *spec.labels)]
    elif spec.layout == "raters-by-items":
        yield [name for name in annotations.columns if name in spec.profile]
    if raters is not None:
        yield raters.columns


def _not_describing(name: str, annotations: Table, spec: DataSpec, tables: Sequence[Table]) -> Problem:
    if name not in annotations.columns:
        return no_column(name, tables)
    if spec.layout == "long":
        return stop(DataProblem.NO_PROFILE(file=annotations.name, column=name))
    of_raters = spec.layout == "items-by-raters"
    taken = DataProblem.COLUMN_IS_A_RATER if of_raters else DataProblem.COLUMN_IS_AN_ITEM
    return stop(taken(file=annotations.name, column=name))


def no_column(name: str, tables: Sequence[Table]) -> Problem:
    """That none of the files has a column of that name, and which it may be meant for."""
    columns = tuple(column for table in tables for column in table.columns)
    close = closest(name, columns)
    file, *others = (table.name for table in tables)
    for other in others:
        either = DataProblem.NO_COLUMN_IN_EITHER
        return stop(either(file=file, other=other, column=name, close=close, columns=columns), 1, close)
    return stop(DataProblem.NO_COLUMN(file=file, column=name, close=close, columns=columns), 1, close)


def excluded_raters(profiles: Profiles, spec: DataSpec) -> tuple[BoolArray, list[Problem]]:
    """Which raters `spec.exclude` leaves out, shape (J,)."""
    n = len(profiles.rater_ids)
    excluded = np.zeros(n, dtype=np.bool_)
    problems: list[Problem] = []
    for name, value in spec.exclude:
        column = profiles.column(name, np.ones(n, dtype=np.bool_))
        problems += [problem for problem in column.problems if problem.stops]
        position = column.values.index(value) if value in column.values else -2
        hit = column.codes == position
        excluded |= hit
        if not hit.any():
            found = [column.values[code] for code in np.unique(column.codes) if code >= 0]
            problems.append(
                know(DataProblem.NOBODY_EXCLUDED(column=name, value=value, found=tuple(found)), 0, found)
            )
    if n and excluded.all():
        values = tuple(f"{quoted(name)} = {quoted(value)}" for name, value in spec.exclude)
        problems.append(stop(DataProblem.ALL_EXCLUDED(raters=n, values=values), n))
    return excluded, problems


def missing_labels(votes: Votes, spec: DataSpec) -> tuple[Votes, list[Problem]]:
    """Leave out the rows of a long file that have no label."""
    absent = np.array([label in spec.missing for label in votes.labels], dtype=np.bool_)[votes.label]
    if not absent.any() or votes.label_column is None:
        return votes.keep(~absent), []
    place, count = votes.place(int(np.flatnonzero(absent)[0])), int(absent.sum())
    return votes.keep(~absent), [know(DataProblem.LABEL_MISSING(place=place, rows=count), count, [place])]


def labels(votes: Votes, spec: DataSpec) -> list[Problem]:
    """Labels that are not declared, or too many."""
    used = votes.used_labels()
    if used.size > MAX_CATEGORIES:
        return [_too_many_labels(votes, used.size)]
    return [] if spec.categories is None else _undeclared(votes, spec.categories)


def about_labels(where: str, named: Mapping[str, int], spec: DataSpec) -> list[Problem]:
    """Problems of the labels and how often each was given; `where` begins a sentence."""
    problems: list[Problem] = []
    if spec.categories is None:
        problems += [*odd_texts(where, named, spec.missing), *misspelt(where, named)]
    if len(named) == 1:
        problems.append(know(DataProblem.ONE_LABEL(where=where, label=next(iter(named)))))
    return problems


def _too_many_labels(votes: Votes, distinct: int) -> Problem:
    if votes.label_column is not None:
        found = [votes.labels[code] for code in votes.used_labels()]
        return too_many_labels(votes.table.name, votes.label_column, found)
    codes = votes.rater if votes.columns_are == "raters" else votes.item
    pairs = np.unique(codes.astype(np.int64) * len(votes.labels) + votes.label) // max(len(votes.labels), 1)
    worst = int(np.bincount(pairs).argmax())
    ids = votes.rater_ids if votes.columns_are == "raters" else votes.item_ids
    limit = _at_most([votes.labels[code] for code in votes.used_labels()])
    many = DataProblem.TOO_MANY_LABELS_IN_COLUMNS
    return stop(many(labels=distinct, file=votes.table.name, column=ids[worst], limit=limit), distinct)


def too_many_labels(name: str, column: str, found: Collection[str]) -> Problem:
    """More labels in a long file's column than can be analysed."""
    limit = _at_most(found, column)
    remark = DataProblem.TOO_MANY_LABELS(labels=len(found), file=name, column=column, limit=limit)
    return stop(remark, len(found))


def _at_most(found: Collection[str], column: str = "") -> Remark:
    """The most labels that there may be, and what would do for numbers, as of a slider."""
    numbers = np.array([number_of(label) for label in found], dtype=np.float64)
    if not np.isfinite(numbers).all():
        return DataProblem.MOST_LABELS(most=MAX_CATEGORIES)
    low, high = float(numbers.min()), float(numbers.max())
    digits = 1 - math.floor(math.log10(high - low))
    edges = ",".join(f"{round(low + (high - low) * share, digits):.15g}" for share in (0.2, 0.4, 0.6, 0.8))
    return DataProblem.MOST_LABELS_OF_NUMBERS(
        most=MAX_CATEGORIES, low=low, high=high, column=column, edges=edges
    )


def bands(values: Collection[str]) -> str | None:
    """Two edges, as --bins takes them, that cut many numbers into like parts; None for other texts."""
    numbers = np.array([number_of(text) for text in values], dtype=np.float64)
    if numbers.size <= MOST_NUMBERS or not np.isfinite(numbers).all():
        return None
    digits = 1 - math.floor(math.log10(float(np.ptp(numbers)) or 1.0))
    low, high = (round(float(edge), digits) for edge in np.quantile(numbers, (1 / 3, 2 / 3)))
    return f"{low:.15g},{high:.15g}" if low < high else None


def _undeclared(votes: Votes, categories: Sequence[str]) -> list[Problem]:
    stray = np.array([label not in categories for label in votes.labels], dtype=np.bool_)
    entries = np.flatnonzero(stray[votes.label])
    if not entries.size:
        return []
    found = list(dict.fromkeys(votes.labels[code] for code in _in_order(votes.label[entries])))
    first = int(entries[0])
    remark = DataProblem.UNDECLARED_LABEL(
        place=votes.place(first),
        label=votes.labels[votes.label[first]],
        categories=tuple(categories),
        cells=entries.size,
        found=tuple(found),
    )
    return [stop(remark, entries.size, found)]


def _in_order(codes: Codes) -> list[int]:
    """Distinct codes in order of first appearance."""
    distinct, first = np.unique(codes, return_index=True)
    ordered: list[int] = distinct[np.argsort(first)].tolist()
    return ordered


def axis(name: str, column: DescribingColumn, counted: BoolArray) -> list[Problem]:
    """Axes that cannot tell raters apart, and raters unknown on them; `counted` are those who count, (J,)."""
    codes = column.codes[counted]
    values = np.unique(codes[codes >= 0])
    unknown = int((codes < 0).sum())
    problems: list[Problem] = []
    if values.size < 2:
        only = [DataProblem.AXIS_OF_ONE_VALUE(axis=name, value=column.values[code]) for code in values]
        problems.append(know(only[0] if only else DataProblem.AXIS_WITHOUT_VALUE(axis=name)))
    if (edges := bands([column.values[code] for code in values])) is not None:
        problems.append(know(DataProblem.AXIS_OF_NUMBERS(axis=name, values=values.size, edges=edges)))
    if unknown and values.size:
        remark = DataProblem.UNKNOWN_ON_AXIS(unknown=unknown, raters=codes.size, axis=name)
        problems.append(know(remark, unknown))
    return problems


def nothing_left(name: str) -> Problem:
    """No annotation counts."""
    return stop(DataProblem.NOTHING_LEFT(file=name))


def unanswered(name: str, column: str) -> Problem:
    """A question of several to which no answer is left."""
    return stop(DataProblem.NO_ANSWER_LEFT(file=name, column=column))


def too_small(name: str, items: int, raters: int, most_per_item: int) -> list[Problem]:
    """Too few items, raters or annotations of one item to compare."""
    return [
        *([know(DataProblem.ONE_ITEM(file=name))] if items == 1 else []),
        *([know(DataProblem.ONE_RATER(file=name))] if raters == 1 else []),
        *([know(DataProblem.NOBODY_SHARES_AN_ITEM(file=name), items)] if most_per_item < 2 else []),
    ]


def gone(what: Literal["items", "raters"], examples: list[str], count: int, name: str) -> list[Problem]:
    """Items or raters without an annotation that counts."""
    if not count:
        return []
    code = DataProblem.ITEMS_GONE if what == "items" else DataProblem.RATERS_GONE
    return [know(code(file=name, **{what: count}), count, examples)]
