"""What must hold of the data, and what to know about it, one check per function."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from grasp_core.annotations import BoolArray, Codes, item_order
from grasp_core.data_spec import DataSpec
from grasp_core.errors import Problem
from grasp_core.io.columns import misspelt, odd_texts
from grasp_core.io.problems import EXAMPLES, agree, closest, know, listed, number, quoted, stop
from grasp_core.io.profiles import Profile, Profiles
from grasp_core.io.tables import Table
from grasp_core.io.votes import Votes, id_columns

MAX_CATEGORIES = 256
"""More distinct labels than this are taken for a mistake."""


def missing_columns(
    annotations: Table, raters: Table | None, spec: DataSpec, axes: Sequence[str]
) -> list[Problem]:
    """Columns that are named but do not exist, or are named for two things."""
    own = [*id_columns(spec), *spec.labels]
    problems = [_no_column(name, (annotations,)) for name in own if name not in annotations.columns]
    problems += [
        stop(f"column {quoted(name)} is named for two of item, rater and label; choose one column for each")
        for name in dict.fromkeys(own)
        if own.count(name) > 1
    ]
    if spec.layout == "raters-by-items":
        problems += [
            _no_column(name, (annotations,)) for name in spec.profile if name not in annotations.columns
        ]
        if set(annotations.columns) <= {spec.rater, *spec.profile}:
            problems.append(stop(f"{annotations.name} has no item column beside the ids and the profile"))
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
        return _no_column(name, tables)
    if spec.layout == "long":
        return stop(f"{annotations.name}: column {quoted(name)} holds ids or labels, not a profile")
    holds = "a rater" if spec.layout == "items-by-raters" else "an item"
    return stop(
        f"{annotations.name}: column {quoted(name)} is taken for {holds} in this layout, "
        "so it cannot describe raters; describe them in a raters file"
        + (", or name it as a profile column" if spec.layout == "raters-by-items" else "")
    )


def _no_column(name: str, tables: Sequence[Table]) -> Problem:
    columns = [column for table in tables for column in table.columns]
    close = closest(name, columns)
    hint = f"did you mean {listed(close)}, or another of" if close else "its columns are"
    if len(tables) == 1:
        where = f"{tables[0].name} has no column {quoted(name)}"
    else:
        where = f"neither {tables[0].name} nor {tables[1].name} has a column {quoted(name)}"
        hint = hint.replace("its", "their")
    return stop(f"{where}; {hint} {listed(columns, 20)}{'?' if close else ''}", 1, close)


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
                know(
                    f"no rater was excluded by {quoted(name)} = {quoted(value)}, which does not occur; "
                    f"the column holds {listed(found) or 'no values'}",
                    0,
                    found,
                )
            )
    if n and excluded.all():
        rules = " or ".join(f"{quoted(name)} = {quoted(value)}" for name, value in spec.exclude)
        problems.append(stop(f"all {n:,} raters are excluded by {rules}; exclude fewer", n))
    return excluded, problems


def missing_labels(votes: Votes, spec: DataSpec) -> tuple[Votes, list[Problem]]:
    """Leave out the rows of a long file that have no label."""
    absent = np.array([label in spec.missing for label in votes.labels], dtype=np.bool_)[votes.label]
    if not absent.any() or votes.label_column is None:
        return votes.keep(~absent), []
    first = int(np.flatnonzero(absent)[0])
    count = int(absent.sum())
    note = know(
        f"{votes.place(first)}: the label is missing in {number(count, 'row')}, not counted",
        count,
        [votes.place(first)],
    )
    return votes.keep(~absent), [note]


def labels(votes: Votes, spec: DataSpec) -> list[Problem]:
    """Labels that are not declared, look odd, or are too many."""
    counts = np.bincount(votes.label, minlength=len(votes.labels))
    used = np.flatnonzero(counts)
    if used.size > MAX_CATEGORIES:
        return [_too_many_labels(votes, used.size)]
    where = (
        f"{votes.table.name}, labels"
        if votes.label_column is None
        else f"{votes.table.name}, column {quoted(votes.label_column)}"
    )
    named = {votes.labels[code]: int(counts[code]) for code in used}
    stray = [] if spec.categories is None else _undeclared(votes, spec.categories)
    return [*stray, *about_labels(where, named, spec)]


def about_labels(where: str, named: Mapping[str, int], spec: DataSpec) -> list[Problem]:
    """What to know of the labels and how often each was given; `where` begins a sentence."""
    problems: list[Problem] = []
    if spec.categories is None:
        problems += [*odd_texts(where, named, spec.missing), *misspelt(where, named)]
    if len(named) == 1:
        problems.append(
            know(
                f"{where}: every annotation is {quoted(next(iter(named)))}, so no agreement can be estimated"
            )
        )
    return problems


def _too_many_labels(votes: Votes, distinct: int) -> Problem:
    if votes.label_column is not None:
        return too_many_labels(votes.table.name, votes.label_column, distinct)
    codes = votes.rater if votes.columns_are == "raters" else votes.item
    pairs = np.unique(codes.astype(np.int64) * len(votes.labels) + votes.label) // max(len(votes.labels), 1)
    worst = int(np.bincount(pairs).argmax())
    ids = votes.rater_ids if votes.columns_are == "raters" else votes.item_ids
    return stop(
        f"{distinct:,} distinct labels in {votes.table.name}, most of them in column {quoted(ids[worst])}: "
        f"does it hold labels? At most {MAX_CATEGORIES} labels can be analysed",
        distinct,
    )


def too_many_labels(name: str, column: str, distinct: int) -> Problem:
    """More labels in a long file's column than can be analysed."""
    return stop(
        f"{distinct:,} distinct values in column {quoted(column)} of {name}: "
        f"is this the label column? At most {MAX_CATEGORIES} labels can be analysed",
        distinct,
    )


def _undeclared(votes: Votes, categories: Sequence[str]) -> list[Problem]:
    stray = np.array([label not in categories for label in votes.labels], dtype=np.bool_)
    entries = np.flatnonzero(stray[votes.label])
    if not entries.size:
        return []
    found = list(dict.fromkeys(votes.labels[code] for code in _in_order(votes.label[entries])))
    first = int(entries[0])
    return [
        stop(
            f"{votes.place(first)}: {quoted(votes.labels[votes.label[first]])} is not one of the declared "
            f"categories {listed(categories)} ({number(entries.size, 'cell')} with "
            f"{listed(found, EXAMPLES)}); declare it, count it as missing, or mend the file",
            entries.size,
            found,
        )
    ]


def _in_order(codes: Codes) -> list[int]:
    """Distinct codes in order of first appearance."""
    distinct, first = np.unique(codes, return_index=True)
    ordered: list[int] = distinct[np.argsort(first)].tolist()
    return ordered


def repeats(votes: Votes) -> tuple[Votes, list[Problem]]:
    """Keep an annotation given twice once; two different labels of one rater for one item stop."""
    in_order = item_order(votes.item, votes.rater, len(votes.item_ids), len(votes.rater_ids))
    if in_order is not None:
        return votes.keep(in_order), []  # sorted once: annotations are stored so
    key = votes.item.astype(np.int64) * len(votes.rater_ids) + votes.rater
    order = np.argsort(key, kind="stable")
    again = np.zeros(votes.size, dtype=np.bool_)
    again[1:] = key[order][1:] == key[order][:-1]
    # The position, in `order`, of the first annotation of each run of equal keys.
    start = np.maximum.accumulate(np.where(again, 0, np.arange(votes.size)))
    label = votes.label[order]
    differs = again & (label != label[start])
    equal = order[again & ~differs]
    problems: list[Problem] = []
    if differs.any():
        problems.append(_contradiction(votes, order[start[differs]], order[differs]))
    if equal.size:
        first = int(equal.min())
        problems.append(
            know(
                f"{number(equal.size, 'annotation')} of {votes.table.name} "
                f"{agree(equal.size, 'repeats', 'repeat')} an earlier one of the same rater, item and label"
                f" "
                f"(row {votes.table.row(votes.row[first])} for one); each is counted once",
                equal.size,
                [f"row {votes.table.row(votes.row[entry])}" for entry in np.sort(equal)[:EXAMPLES]],
            )
        )
    keep = np.ones(votes.size, dtype=np.bool_)
    keep[order[again]] = False
    return votes.keep(keep), problems


def _contradiction(votes: Votes, earlier: Codes, later: Codes) -> Problem:
    def shown(position: int) -> str:
        before, after = int(earlier[position]), int(later[position])
        rater, item = votes.rater_ids[votes.rater[after]], votes.item_ids[votes.item[after]]
        first, second = (
            f"{quoted(votes.labels[votes.label[entry]])} in row {votes.table.row(votes.row[entry])}"
            for entry in (before, after)
        )
        return f"rater {quoted(rater)} gives item {quoted(item)} the labels {first} and {second}"

    by_row = np.argsort(later)
    others = f" ({number(later.size - 1, 'more case')} like this)" if later.size > 1 else ""
    return stop(
        f"{votes.table.name}: {shown(by_row[0])}{others}; keep one of them",
        later.size,
        [shown(position) for position in by_row[:EXAMPLES]],
    )


def axis(name: str, column: Profile, counted: BoolArray) -> list[Problem]:
    """Axes that cannot tell raters apart, and raters who are unknown on them."""
    codes = column.codes[counted]
    values = np.unique(codes[codes >= 0])
    unknown = int((codes < 0).sum())
    problems: list[Problem] = []
    if values.size < 2:
        held = f"only {quoted(column.values[values[0]])}" if values.size else "no value"
        problems.append(
            know(
                f"axis {quoted(name)} has {held} among the raters who count, "
                "so it cannot form a group and a complement"
            )
        )
    if unknown and values.size:
        problems.append(
            know(
                f"{number(unknown, 'rater')} of {codes.size:,} {agree(unknown, 'is', 'are')} "
                f"unknown on axis {quoted(name)}, and in none of its groups or complements",
                unknown,
            )
        )
    return problems


def shape(votes: Votes, gone_raters: BoolArray, gone_items: BoolArray) -> list[Problem]:
    """Too little left to compare, and what dropped out beside what was left out on purpose."""
    name = votes.table.name
    if not votes.size:
        return [nothing_left(name)]
    per_item = np.bincount(votes.item, minlength=len(votes.item_ids))
    counted = np.bincount(votes.rater, minlength=len(votes.rater_ids)) > 0
    items, raters = int((per_item > 0).sum()), int(counted.sum())
    empty_items = np.flatnonzero((per_item == 0) & ~gone_items)
    empty_raters = np.flatnonzero(~counted & ~gone_raters)
    return [
        *gone("item", [votes.item_ids[i] for i in empty_items[:EXAMPLES]], empty_items.size, name),
        *gone("rater", [votes.rater_ids[j] for j in empty_raters[:EXAMPLES]], empty_raters.size, name),
        *too_small(name, items, raters, int(per_item.max())),
    ]


def nothing_left(name: str) -> Problem:
    """No annotation counts."""
    return stop(f"{name} has no annotation left; check the label column, missing tokens and exclusions")


def too_small(name: str, items: int, raters: int, most_per_item: int) -> list[Problem]:
    """Too few items, raters or annotations of one item to compare."""
    return [
        *([know(f"{name} has one item only; statistics over items mean little")] if items == 1 else []),
        *([know(f"{name} has one rater only, so there is nobody to agree with")] if raters == 1 else []),
        *(
            [know(f"no item of {name} has labels of two raters, so no agreement can be estimated", items)]
            if most_per_item < 2
            else []
        ),
    ]


def gone(what: str, examples: list[str], count: int, name: str) -> list[Problem]:
    """Items or raters without an annotation that counts."""
    if not count:
        return []
    return [
        know(
            f"{number(count, what)} of {name} {agree(count, 'has', 'have')} no annotation that counts "
            "and left the data",
            count,
            examples,
        )
    ]
