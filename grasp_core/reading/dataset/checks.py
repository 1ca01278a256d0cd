"""Checks of specs against columns, and problems that name a solution."""

import math
import re
from collections.abc import Collection, Sequence

import numpy as np

from grasp_core.model.annotations import BoolArray, number_of
from grasp_core.model.data_spec import DataSpec
from grasp_core.model.errors import Problem, know, stop
from grasp_core.model.remarks.problems import DataProblem
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.text import closest, quoted
from grasp_core.reading.dataset.raters import DescribingColumn, Profiles
from grasp_core.reading.dataset.votes import Votes, id_columns
from grasp_core.reading.table.table import Table

MAX_CATEGORIES = 256  # most distinct labels; more are taken for a mistake
MOST_NUMBERS = 25  # most different numbers about raters, such as ages, that are groups without bands
_NEARLY_ALL = 0.9  # share of numbers among the labels from which they may come from a slider


_NO_PROFILE = {
    "long": DataProblem.NO_PROFILE,
    "items-by-raters": DataProblem.COLUMN_IS_A_RATER,
    "raters-by-items": DataProblem.COLUMN_IS_AN_ITEM,
}
"""Problems, by layout, of a column of the annotations that does not describe raters."""

_JOINED = re.compile(r"\s*[,:+*&×]\s*|\s+x\s+")  # signs between columns that are named together


def missing_columns(
    annotations: Table, raters: Table | None, spec: DataSpec, axes: Sequence[str], made: Collection[str] = ()
) -> list[Problem]:
    """Find named columns that do not exist or have two roles; columns in `made` are still to be made."""
    own = [*id_columns(spec), *spec.labels]
    there = {*annotations.columns, *made}
    problems = [no_column(name, (annotations,)) for name in own if name not in there]
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
    columns = set(annotations.columns)
    about = columns.intersection(spec.profile) if spec.layout == "raters-by-items" else set()
    if spec.layout == "long":
        about = columns - {spec.item, spec.rater, *spec.labels}
    for name in dict.fromkeys([*axes, *(column for column, _ in spec.exclude)]):
        if name in about or (raters is not None and name in raters.columns):
            continue
        parts = _JOINED.split(name)
        if name in spec.ignore:
            rows = int(spec.layout == "raters-by-items")
            problems.append(stop(DataProblem.COLUMN_IS_ASIDE(file=annotations.name, column=name, rows=rows)))
        elif name in annotations.columns:
            problems.append(stop(_NO_PROFILE[spec.layout](file=annotations.name, column=name)))
        elif len(parts) > 1 and all(any(part in table.columns for table in tables) for part in parts):
            together = DataProblem.COLUMNS_TOGETHER(column=name, columns=tuple(parts), joined=":".join(parts))
            problems.append(stop(together))
        else:
            problems.append(no_column(name, tables))
    return problems


def no_column(name: str, tables: Sequence[Table]) -> Problem:
    """Return the problem that no file has a column of this name, with similar names."""
    columns = tuple(dict.fromkeys(column for table in tables for column in table.columns))
    close = closest(name, columns)
    file, *others = (table.name for table in tables)
    for other in others:
        either = DataProblem.NO_COLUMN_IN_EITHER
        return stop(either(file=file, other=other, column=name, close=close, columns=columns), 1, close)
    return stop(DataProblem.NO_COLUMN(file=file, column=name, close=close, columns=columns), 1, close)


def excluded_raters(profiles: Profiles, spec: DataSpec) -> tuple[BoolArray, list[Problem]]:
    """Return the raters that `spec.exclude` leaves out, shape (J,)."""
    n = len(profiles.ids)
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
    """Find labels that are not declared, or too many."""
    used = votes.used_labels()
    if used.size > MAX_CATEGORIES:
        return [_too_many_labels(votes, used.size)]
    return [] if spec.categories is None else _undeclared(votes, spec.categories)


def _too_many_labels(votes: Votes, distinct: int) -> Problem:
    found = [votes.labels[code] for code in votes.used_labels()]
    if votes.label_column is not None:
        limit, many = _at_most(found, votes.label_column), DataProblem.TOO_MANY_LABELS
        remark = many(labels=distinct, file=votes.table.name, column=votes.label_column, limit=limit)
        return stop(remark, distinct)
    ids, codes = votes.by_column
    pairs = np.unique(codes.astype(np.int64) * len(votes.labels) + votes.label) // max(len(votes.labels), 1)
    worst = int(np.bincount(pairs).argmax())
    many = DataProblem.TOO_MANY_LABELS_IN_COLUMNS
    remark = many(labels=distinct, file=votes.table.name, column=ids[worst], limit=_at_most(found))
    return stop(remark, distinct)


def _at_most(found: Collection[str], column: str = "") -> Remark:
    """Name the largest number of labels, and ranges for numbers, as of a slider."""
    numbers = np.array([number_of(label) for label in found], dtype=np.float64)
    known = np.isfinite(numbers)
    numbers = numbers[known]
    if known.mean() < _NEARLY_ALL:  # else other labels mean no answer, or show up beside ranges
        return DataProblem.MOST_LABELS(most=MAX_CATEGORIES)
    low, high = float(numbers.min()), float(numbers.max())
    digits = 1 - math.floor(math.log10(high - low))
    edges = ",".join(f"{round(low + (high - low) * share, digits):.15g}" for share in (0.2, 0.4, 0.6, 0.8))
    return DataProblem.MOST_LABELS_OF_NUMBERS(
        most=MAX_CATEGORIES, low=low, high=high, column=column, edges=edges
    )


def bands(values: Collection[str], most: int = MOST_NUMBERS) -> str | None:
    """Return two edges, as for --bins, that cut more than `most` numbers into equal parts; else None."""
    numbers = np.array([number_of(text) for text in values], dtype=np.float64)
    if numbers.size <= most or not np.isfinite(numbers).all():
        return None
    digits = 1 - math.floor(math.log10(float(np.ptp(numbers)) or 1.0))
    low, high = (round(float(edge), digits) for edge in np.quantile(numbers, (1 / 3, 2 / 3)))
    return f"{low:.15g},{high:.15g}" if low < high else None


def _undeclared(votes: Votes, categories: Sequence[str]) -> list[Problem]:
    stray = np.array([label not in categories for label in votes.labels], dtype=np.bool_)
    entries = np.flatnonzero(stray[votes.label])
    if not entries.size:
        return []
    codes, at = np.unique(votes.label[entries], return_index=True)
    found = [votes.labels[code] for code in codes[np.argsort(at)]]  # in order of first appearance
    first = int(entries[0])
    remark = DataProblem.UNDECLARED_LABEL(
        place=votes.place(first),
        label=votes.labels[votes.label[first]],
        categories=tuple(categories),
        cells=entries.size,
        found=tuple(found),
    )
    return [stop(remark, entries.size, found)]


def axis(name: str, column: DescribingColumn, counted: BoolArray) -> list[Problem]:
    """Find axes with too few or many values, and raters unknown on them; `counted`, (J,), are who count."""
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
